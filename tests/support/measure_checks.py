"""Checks of the properties that every measure must have, on random rows or labels."""

import inspect
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from joblib import wrap_non_picklable_objects

from skfilterrank.metrics import get_measure, make_ranking_scorer

NO = -np.inf
LABELS = (-2, -1, 0, 1, 2.5, np.nan)
_CUT_OFFS = (None, 1, 5, 3)
_N_SEEDS = 2


@dataclass(frozen=True)
class RandomRows:
    """Random queries of different sizes in mixed order, with ties, filtered and unjudged rows.

    Attributes
    ----------
    y_true, y_score, groups : ndarray of shape (n_rows,)
        Labels, scores and query ids 0, 1, 2, ...; each query has at least one row.
    ids : ndarray of shape (n_rows,), int
        Distinct document ids.
    order : ndarray of shape (n_rows,), int
        A random permutation of the rows.
    k : int or None
        Cut-off.
    """

    y_true: np.ndarray
    y_score: np.ndarray
    groups: np.ndarray
    ids: np.ndarray
    order: np.ndarray
    k: int | None

    @classmethod
    def random(
        cls, seed: int, labels=LABELS, n_queries: int = 30, max_size: int = 9
    ) -> "RandomRows":
        """Draw rows by a seed; four consecutive seeds have different cut-offs."""
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, max_size + 1, n_queries)
        groups = rng.permutation(np.repeat(np.arange(n_queries), sizes))
        n = len(groups)
        return cls(
            y_true=rng.choice(np.asarray(labels, dtype=float), n),
            y_score=rng.choice([NO, -1.0, 0.0, 0.5, 2.0, 3.0], n),
            groups=groups,
            ids=rng.permutation(n),
            order=rng.permutation(n),
            k=_CUT_OFFS[seed % len(_CUT_OFFS)],
        )

    @property
    def n_queries(self) -> int:
        """Number of queries, whose ids are 0 to n_queries - 1."""
        return int(self.groups.max()) + 1

    def take(self, places) -> "RandomRows":
        """Return the rows at the given positions."""
        names = ("y_true", "y_score", "groups", "ids")
        return replace(self, **{name: getattr(self, name)[places] for name in names})


def score(measure, rows: RandomRows, **changes):
    """Compute one value per query, NaN if undefined.

    `changes` are other labels, scores or query ids, or options of the measure.
    """
    given = {name: getattr(rows, name) for name in ("y_true", "y_score", "groups")}
    given |= {"undefined": "drop"}
    if measure.measure.takes_k and measure.k is None:
        given["k"] = rows.k
    given |= changes
    return measure.per_query(given.pop("y_true"), given.pop("y_score"), **given)


def same(actual, expected, given: str = "", rtol: float = 1e-7) -> None:
    """Raise an AssertionError if values differ by more than rounding errors.

    `given` describes the arguments for the message.
    """
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    of_what = f"with {given}, " if given else ""
    assert actual.shape == expected.shape, (
        f"{of_what}values have the shape {actual.shape}, not {expected.shape}"
    )
    wrong = np.argwhere(~np.isclose(actual, expected, rtol=rtol, atol=1e-12, equal_nan=True))
    assert not len(wrong), (
        f"{of_what}{len(wrong)} of {expected.size} values differ, such as "
        f"{actual[tuple(wrong[0])]} where {expected[tuple(wrong[0])]} is expected"
    )


def cutoffs(measure, k) -> list[dict]:
    """Return keyword arguments with the cut-offs to try: None and `k`.

    For a measure that takes no cut-off or has its own, return only empty arguments.
    """
    takes_k = measure.measure.takes_k and measure.k is None
    return [{"k": None}, {"k": k}] if takes_k else [{}]


def check_the_same_again(measure, labels):
    """Rows that are measured again have the same values, also after other rows were measured."""
    judged = [label for label in labels if not np.isnan(label)]
    rows, long = (
        RandomRows.random(0, judged),
        RandomRows.random(1, judged, n_queries=3, max_size=40),
    )
    first = score(measure, rows)
    score(measure, long, y_score=long.y_true, **cutoffs(measure, 1)[0])
    again = score(measure, rows)
    differ = np.flatnonzero(~((first == again) | (np.isnan(first) & np.isnan(again))))
    assert not differ.size, (
        f"{differ.size} of {len(first)} values of the same rows differ in a second call, such as "
        f"{first[differ[0]]} and then {again[differ[0]]}"
    )


def check_direction(measure, labels):
    """Better documents on top, or instead of worse ones, give better values."""
    judged = [label for label in labels if not np.isnan(label)]
    n_right = n_wrong = 0
    greater = measure.measure.greater_is_better
    for seed in range(_N_SEEDS):
        rows = RandomRows.random(seed, judged)
        place = pd.Series(rows.y_true).groupby(rows.groups).rank("first").to_numpy()
        size = np.bincount(rows.groups)[rows.groups]
        for n_shown in (size, size // 2):
            best = np.where(place > size - n_shown, place, NO)
            worst = np.where(place <= n_shown, -place, NO)
            for cutoff in cutoffs(measure, 2):
                gained = score(measure, rows, y_score=best, **cutoff)
                gained = gained - score(measure, rows, y_score=worst, **cutoff)
                gained = gained if greater else -gained
                n_right += int((gained > 1e-12).sum())
                n_wrong += int((gained < -1e-12).sum())
    assert n_wrong <= n_right, (
        f"greater_is_better={greater}, but the value is {'lower' if greater else 'higher'} if the "
        f"best documents are shown first, for {n_wrong} of {n_right + n_wrong} lists"
    )


def check_scale_of_scores(measure, rows):
    """Values depend only on the order of the scores, not on their scale."""
    expected = score(measure, rows)
    finite = np.maximum(rows.y_score, -9)
    for other in (finite + 100, 2 * finite - 7, np.exp(finite), finite**3, 1e-300 * finite):
        same(score(measure, rows, y_score=np.where(rows.y_score == NO, NO, other)), expected)


def check_range(measure, rows):
    """Values lie in the declared `value_range`, for gains that `range_holds_for` allows."""
    rng = np.random.default_rng(len(rows.groups))
    labels = np.where(np.isnan(rows.y_true), 0.0, rows.y_true)
    # Gains do not exceed the highest label, because the measure may not support higher gains.
    gains = labels * rng.uniform(0, 1, len(labels))
    known = measure.measure.range_holds_for
    if known == "nonnegative gains":
        gains = np.minimum(np.abs(gains), max(labels.max(), 0.0))
    elif known == "binary gains":
        gains = (gains > 0).astype(float)
    low, high = measure.measure.value_range
    for unjudged in ("zero", "drop"):
        values = score(measure, rows, y_true=gains, unjudged=unjudged)
        values = values[~np.isnan(values)]
        outside = values[(values < low - 1e-12) | (values > high + 1e-12)]
        assert not outside.size, (
            f"{outside[0]} lies outside of the range {low}, {high}, with gains that "
            f"range_holds_for={known!r} allows"
        )


def check_order_matters(measure, labels):
    """The order of judged documents changes the values exactly if `order_matters` says so."""
    whole = measure._replace(k=None)
    in_whole_lists, in_cut_lists = (
        any(_order_changes(whole, labels, seed, cutoff) for seed in range(6))
        for cutoff in (cutoffs(whole, 2)[0], cutoffs(whole, 2)[-1])
    )
    found = "always" if in_whole_lists else "with k" if in_cut_lists else "never"
    assert found == measure.measure.order_matters


def _order_changes(measure, labels, seed, cutoff):
    """Return True if the best and the worst order of tied documents have different values."""
    rows = RandomRows.random(seed, [label for label in labels if not np.isnan(label)])
    best, worst = (
        score(measure, rows, ties=rule, undefined=0.0, **cutoff) for rule in ("best", "worst")
    )
    return bool((np.abs(best - worst) > 1e-12).any())


def check_pickle_and_repr(measure, labels):
    """The measure can be sent to other processes, and evaluating its `repr` gives it back."""
    for one in (measure, measure.measure):
        assert _sent(one) == one, f"{one!r} is not the same measure after pickling"
        assert eval(repr(one), {"get_measure": get_measure}) == one, (
            f"evaluating the repr {one!r} does not give the same measure"
        )
    scorer = make_ranking_scorer(measure)
    names = {"make_ranking_scorer": make_ranking_scorer}
    assert _sent(scorer) == eval(repr(scorer), names) == scorer


def _sent(thing):
    """Return an object as another process receives it: pickled and unpickled."""
    return pickle.loads(pickle.dumps(wrap_non_picklable_objects(thing, keep_wrapper=False)))


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]
OF_ROWS = [check for check in CHECKS if "rows" in inspect.signature(check).parameters]

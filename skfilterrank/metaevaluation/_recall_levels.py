"""Recall-level metrics: values from positions of relevant items, orientation, and ties."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike

import skfilterrank.metrics  # noqa: F401  (enters the measures)
from skfilterrank._lists.additive import RowFacts
from skfilterrank._lists.checks import (
    as_number_array,
    check_choice,
    check_count,
    check_counts,
    check_share,
)
from skfilterrank._lists.measure import Measure, ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.scoring import Scores, results_of
from skfilterrank.exceptions import InputError, brief

Values = Callable[[np.ndarray], np.ndarray]

# By theorem A.1, or because their exposure is flat, no searcher is worse off than the one who wants
# the last item alone.
_TOP_HEAVY = ("ap", "ndcg", "rbp", "tse", "rr", "r_precision", "recall")


def recall_level_metric(
    positions: ArrayLike,
    measure: str | Callable = "ap",
    *,
    exposure: str | Callable = "ap",
    persistence: float = 0.8,
) -> Scores:
    """Compute the value of a measure from the positions of the relevant items.

    Parameters
    ----------
    positions : array-like of shape (n_relevant,) or (n_rankings, n_relevant)
        Positions of all relevant items, from 1, distinct within a ranking, in any order. Items
        that were not retrieved need a position too: usually the last ones of the corpus.
    measure : str or callable, default="ap"
        A name of the measure table, with a cut-off and options where wanted, for which higher is
        better and that is a sum over the relevant items: "ap", "ndcg", "rbp", "tse", "rr",
        "r_precision", "recall@1000", "success@10", "lexirecall(scale=share,n_items=1000)" and so
        on. A callable takes positions as float64 array of shape (n_rankings, n_relevant), ascending
        in each row, and returns n_rankings numbers.
    exposure : {"ap", "ndcg", "rbp"} or callable, default="ap"
        Exposure of a position, which "tse" is the value of; the other measures have their own. A
        callable takes an array of positions and returns an array of that shape.
    persistence : float, default=0.8
        Probability of going on to the next position, in (0, 1), for "rbp" as measure or exposure.

    Returns
    -------
    float or ndarray of shape (n_rankings,), dtype float64
        The values: a float for one ranking.

    Raises
    ------
    ValueError
        If `positions` are not distinct whole numbers from 1, if `measure` or `exposure` is
        unknown or returns something else than finite numbers, one per ranking, or if
        `persistence` is out of range.

    See Also
    --------
    worst_case_searcher : The least value over the searchers who want some of the items.

    Notes
    -----
    Equation 1 of [1]_: ``sum over i of e(p_i) * z(i, m)`` for positions ``p_1 < ... < p_m``. The
    value is that of the measure of the table for a ranking with relevant items at these positions,
    none missing, in a collection without end.

    ============= =========================== ==============================
    measure       exposure e(p)               normalisation z(i, m)
    ============= =========================== ==============================
    "ap"          1 / p                       i / m
    "ndcg"        1 / log2(p + 1)             1 / (sum of e(1), ..., e(m))
    "rbp"         (1 - g) * g ** (p - 1)      1
    "rr"          1 / p                       1 if i = 1, else 0
    "tse"         `exposure`                  1 if i = m, else 0
    "recall@k"    1 if p <= k, else 0         1 / m
    "r_precision" 1 if p <= m, else 0         1 / m
    ============= =========================== ==============================

    The first five are top-heavy recall-level metrics (definition 2.1): their exposure falls
    strictly, one relevant item has normalisation 1, and dropping the highest of the wanted items
    never raises the value. In float64 the exposure of "rbp" is 0 from some position on (3,334 at
    persistence 0.8), where it stops falling.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 2.3 and 3.2.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import recall_level_metric
    >>> recall_level_metric([1, 4], "ap")  # (1/1 + 2/4) / 2
    0.75
    >>> recall_level_metric([1, 4], "tse")  # exposure of the last one, 1/4
    0.25
    >>> recall_level_metric([[1, 4], [2, 3]], "recall@2")
    array([0.5, 0.5])
    """
    checked = check_positions(positions)
    values = resolve_measure(measure, exposure=exposure, persistence=persistence)(checked)
    return as_given(values, positions)


class PositionFacts(RowFacts):
    """Facts of a query with all relevant items ranked, in an infinite collection."""

    def __init__(self, parsed: ParsedMeasure, n_relevant: int, n_others: int = 0):
        gains = np.repeat([1.0, 0.0], [n_relevant, n_others])
        super().__init__(parsed, gains, GroupIndex.from_groups([0] * len(gains)))
        self.n = np.array([np.inf])

    def by_place(self, worth):
        """Worth by place alone, 0 below the cut-off."""
        return self.in_top(lambda place, level, query: worth(place))


def resolve_measure(measure, *, exposure="ap", persistence=0.8) -> Values:
    """Return a function from sorted positions (n_rankings, n_relevant) to n_rankings values."""
    shared = {"exposure": exposure, "persistence": check_share(persistence, "persistence")}
    if _is_users(measure):
        return partial(_checked_values, function=measure, name=measure)
    parsed = parse_measure(measure)
    shared = {name: value for name, value in shared.items() if name in parsed.measure.options}
    parsed = parsed._replace(options=shared | parsed.options)

    @cache
    def form_of(n_relevant, n_others=0):
        return parsed.as_sum(PositionFacts(parsed, n_relevant, n_others))

    if not parsed.measure.greater_is_better or not _is_sum_of_positions(form_of):
        raise InputError(
            "measure must be one for which higher is better and that adds up what the position of "
            f"each relevant item is worth, such as 'ap' or 'recall@1000', got {brief(parsed.text)}."
        )

    def sums(positions):
        return _sums(positions, form_of(positions.shape[1]))

    return partial(_checked_values, function=sums, name=parsed.text)


def name_of_top_heavy(measure) -> str | None:
    """Return the measure's name if it is known to be top-heavy, else None."""
    name = None if _is_users(measure) else parse_measure(measure).measure.name
    return name if name in _TOP_HEAVY else None


def _is_users(measure):
    """Tell whether a measure is a user's function of positions."""
    return callable(measure) and not isinstance(measure, Measure | ParsedMeasure)


def _is_sum_of_positions(form_of):
    """Tell whether a measure is a sum over relevant documents, independent of others."""
    if form_of(2) is None:
        return False
    alone, among_others = (_sums(np.array([[2.0, 4.0]]), form_of(2, n)) for n in (0, 1))
    return np.array_equal(alone, among_others, equal_nan=True)


def _sums(positions, form):
    """Return the measure as a function that adds its declared terms."""
    level = np.broadcast_to(np.arange(1, positions.shape[1] + 1), positions.shape)
    query = np.zeros((1, 1), dtype=np.intp)
    with np.errstate(invalid="ignore"):
        worth = form.worth(positions, level, query)
        # Not a matrix product: equal rows must give equal values to the last bit, wherever they
        # stand.
        values = (form.weights[: positions.shape[1]] * worth).sum(axis=1) + form.offset
    return values if form.finish is None else form.finish(values, query[0])


def _checked_values(positions, function, name):
    """Wrap a measure so that its values are checked at every call."""
    values = results_of(function, positions, "measure")
    if values.shape != positions.shape[:1] or values.dtype.kind not in "fiub":
        raise InputError(
            f"measure must return one real number per ranking: {brief(name)} was given "
            f"positions of shape {positions.shape} and returned shape {values.shape}, dtype "
            f"{values.dtype}."
        )
    values = values.astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        worst = positions[~np.isfinite(values)][0]
        raise InputError(
            f"measure must be finite, but {brief(name)} is NaN or infinity for positions "
            f"{worst.astype(np.int64).tolist()}."
        )
    return values


def check_positions(positions) -> np.ndarray:
    """Check positions; return a float64 matrix (n_rankings, n_relevant), rows ascending."""
    given = as_number_array(positions, "positions")
    if given is None or given.ndim not in (1, 2) or not given.size or given.dtype == bool:
        got = brief(positions) if given is None else f"shape {given.shape}, dtype {given.dtype}"
        raise InputError(
            "positions must hold numbers in shape (n_relevant,) or (n_rankings, n_relevant) with "
            f"n_relevant >= 1, got {got}."
        )
    checked = np.sort(np.atleast_2d(given).astype(np.float64), axis=1)
    # NaN and infinity are no whole numbers either.
    bad = ~((checked >= 1) & (np.floor(checked) == checked) & (checked < np.inf))
    if bad.any():
        raise InputError(
            f"positions must be whole numbers from 1, got {checked[bad][0]}: give an item that "
            "was not retrieved a position at the end of the corpus."
        )
    twice = checked[:, 1:] == checked[:, :-1]
    if twice.any():
        raise InputError(
            "positions of one ranking must be distinct, got "
            f"{int(checked[:, 1:][twice][0])} more than once."
        )
    return checked


def as_given(values, like):
    """Return a float if a single ranking was given, else an array."""
    return values if np.ndim(like) == 2 else float(values[0])


def metric_orientation(
    measure: str | Callable,
    n_items: int,
    n_relevant: int | ArrayLike,
    *,
    kind: str = "recall",
    exposure: str | Callable = "ap",
    persistence: float = 0.8,
) -> Scores:
    """Compute how much a measure falls when its first, or its last, relevant item moves down.

    Parameters
    ----------
    measure : str or callable
        As in :func:`recall_level_metric`.
    n_items : int
        Number n of items that are ranked.
    n_relevant : int or array-like of shape (n_values,)
        Number m of relevant items, from 1 to `n_items`.
    kind : {"recall", "precision"}, default="recall"
        "recall": all relevant items stand on top, and the last of them moves from position m to
        position n. "precision": one relevant item stands first and the others at the bottom, and
        the first moves from position 1 to position ``n - m + 1``, just above the others.
    exposure : {"ap", "ndcg", "rbp"} or callable, default="ap"
        Exposure of a position, for "tse".
    persistence : float, default=0.8
        Probability of going on to the next position, in (0, 1), for "rbp".

    Returns
    -------
    float or ndarray of shape (n_values,), dtype float64
        Value before the move minus value after it; 0 where all items are relevant. At most 1 for
        the named measures.

    Raises
    ------
    ValueError
        If `n_items` or `n_relevant` is out of range, and as :func:`recall_level_metric`.

    Notes
    -----
    Section 3.1 and figures 2 and 3 of [1]_. What the text says of figure 3 (100,000 items, 1 to
    15 relevant) holds, with these exceptions and additions:

    * With one relevant item both kinds are the same move, and RR, AP, recall and R-precision are
      worth about 1, nDCG 0.94: nDCG's precision orientation is above that of AP, recall@1000 and
      R-precision from two relevant items on only.
    * AP, recall@1000 and R-precision agree to 1e-5, not exactly: AP keeps ``1 / (n - m + 1)``.
    * At persistence 0.8 the precision orientation of RBP is above AP's from 5, and above nDCG's
      from 11 relevant items on. Its recall orientation is below nDCG's throughout.
    * TSE with the exposure of AP has exactly the recall orientation of AP, ``1/m - 1/n``, and so
      falls with the number of relevant items as AP's does; with the exposure of nDCG it falls
      least. For two or more relevant items its precision orientation is 0 under any exposure.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 3.1.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import metric_orientation
    >>> metric_orientation("rr", 100, [1, 2, 5], kind="precision").round(3)
    array([0.99, 0.99, 0.99])
    >>> metric_orientation("rr", 100, [1, 2, 5], kind="recall").round(3)
    array([0.99, 0.  , 0.  ])
    >>> metric_orientation("recall@10", 100, [1, 2, 5], kind="recall")
    array([1. , 0.5, 0.2])
    """
    check_choice(kind, "kind", ("recall", "precision"))
    n_items = check_count(n_items, "n_items")
    counts = check_counts(n_relevant, "n_relevant", most=n_items)
    values = resolve_measure(measure, exposure=exposure, persistence=persistence)
    moves = _first_moves if kind == "precision" else _last_moves
    before_and_after = np.array([values(moves(n_items, count)) for count in counts])
    fall = before_and_after[:, 0] - before_and_after[:, 1]
    return fall if np.ndim(n_relevant) else float(fall[0])


def _first_moves(n_items, n_relevant):
    """Positions before and after the first relevant item moves down to the others."""
    after = np.arange(n_items - n_relevant + 1, n_items + 1, dtype=np.float64)
    before = after.copy()
    before[0] = 1
    return np.stack([before, after])


def _last_moves(n_items, n_relevant):
    """Positions before and after the last relevant item moves to the end."""
    before = np.arange(1, n_relevant + 1, dtype=np.float64)
    after = before.copy()
    after[-1] = n_items
    return np.stack([before, after])


_CHUNK = 2**20


def tie_probability(measure: str, n_items: int, n_relevant: int, *, k: int | None = None) -> float:
    """Compute the probability that two rankings drawn at random have the same value.

    Parameters
    ----------
    measure : {"tse", "recall", "r_precision", "lexirecall"} or "recall@k"
        Measure by which rankings are compared: "tse" with any exposure that falls strictly with
        position; "lexirecall" by the positions of all relevant items (as lexiprecision does).
        "recall@1000" is "recall" with ``k=1000``.
    n_items : int
        Number n of ranked items, all of them in the list.
    n_relevant : int
        Number m of relevant items, from 1 to `n_items`.
    k : int, default=None
        Depth of "recall"; not for the others.

    Returns
    -------
    float
        A probability, to 1e-11 of its value or better; 0.0 where it is below the smallest float.

    Raises
    ------
    ValueError
        If `measure` is none of these, if `k` is missing or not wanted, or if a number is out of
        range.

    Notes
    -----
    Section 5.3 and Table 2 of [1]_. Two independent uniform orders tie with the sum of the
    squares of the probabilities of each outcome, which are

    * "tse": ``C(i - 1, m - 1) / C(n, m)`` for the last position i (theorem A.9, whose statement
      drops the square; its proof and section 5.3 have it),
    * "recall": ``C(k, i) C(n - k, m - i) / C(n, m)`` for i items in the first k,
    * "r_precision": the same with k = m,
    * "lexirecall": ``1 / C(n, m)`` each, for all ``C(n, m)`` outcomes.

    They are built up from the ratios of neighbours, which needs no large number.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 5.3 and
       appendix A.4.

    Examples
    --------
    Ten relevant items among a thousand:

    >>> from skfilterrank.metaevaluation import tie_probability
    >>> round(tie_probability("r_precision", 1000, 10), 5)
    0.82566
    >>> round(tie_probability("tse", 1000, 10), 5)
    0.00529
    >>> tie_probability("lexirecall", 1000, 10)
    3.796...e-24
    """
    entry, k, _ = parse_measure(measure).with_cutoff(k)
    n_items = check_count(n_items, "n_items")
    n_relevant = check_count(n_relevant, "n_relevant", most=n_items)
    if entry.name not in _PROBABILITIES:
        raise InputError(
            f"measure must be 'tse', 'recall', 'r_precision' or 'lexirecall', got {brief(measure)}."
        )
    if entry.name == "recall" and k is None:
        raise InputError("k is missing: measure='recall' needs the depth to look at, e.g. 1000.")
    return float(_PROBABILITIES[entry.name](n_items, n_relevant, k and min(k, n_items)))


def _last_position(n_items, n_relevant, _):
    """Sum of squared probabilities of the last relevant position."""
    # P(n) = m / n, and P(i) = P(i + 1) * (i + 1 - m) / i further up.
    probability = n_relevant / n_items
    total = probability**2
    for stop in range(n_items - 1, n_relevant - 1, -_CHUNK):
        i = np.arange(stop, max(stop - _CHUNK, n_relevant - 1), -1, dtype=np.float64)
        probabilities = probability * np.cumprod((i + 1 - n_relevant) / i)
        total += np.square(probabilities).sum()
        probability = probabilities[-1]
        # They fall, so that what is left is at most this.
        if probability**2 * i[-1] < 1e-17 * total:
            break
    return total


def _number_above(n_items, n_relevant, k):
    """Sum of squared probabilities of the number of relevant items in the first k positions."""
    least, most = max(0, n_relevant + k - n_items), min(k, n_relevant)
    mode = (k + 1) * (n_relevant + 1) // (n_items + 2)
    mode = min(max(mode, least), most)
    up = np.arange(mode, most, dtype=np.float64)
    down = np.arange(mode, least, -1, dtype=np.float64)
    missing = n_items - k - n_relevant
    weights = np.concatenate(
        [
            np.cumprod(down * (missing + down) / ((k - down + 1) * (n_relevant - down + 1)))[::-1],
            [1.0],
            np.cumprod((k - up) * (n_relevant - up) / ((up + 1) * (missing + up + 1))),
        ]
    )
    return np.square(weights).sum() / weights.sum() ** 2


def _all_positions(n_items, n_relevant, _):
    """Return one over the number of sets of positions."""
    chosen = np.arange(1, min(n_relevant, n_items - n_relevant) + 1, dtype=np.float64)
    return np.prod(chosen / (n_items - chosen + 1))


_PROBABILITIES = {
    "tse": _last_position,
    "recall": _number_above,
    "r_precision": lambda n_items, n_relevant, _: _number_above(n_items, n_relevant, n_relevant),
    "lexirecall": _all_positions,
}

"""Random rows that measures are checked on."""

from dataclasses import dataclass, replace

import numpy as np

NO = -np.inf
LABELS = (-2, -1, 0, 1, 2.5, np.nan)
_CUT_OFFS = (None, 1, 5, 3)


@dataclass(frozen=True)
class Rows:
    """Ragged queries in mixed order, with ties, filtered and unjudged rows.

    Attributes
    ----------
    y_true, y_score, groups : ndarray of shape (n_rows,)
        Labels, scores and queries 0, 1, ..., each with a row.
    ids : ndarray of shape (n_rows,), int
        Document ids, all different.
    order : ndarray of shape (n_rows,), int
        Another order of the rows.
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
    def random(cls, seed: int, labels=LABELS, n_queries: int = 30, max_size: int = 9) -> "Rows":
        """Rows by a seed; four in a row have different cut-offs."""
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
        """Number of queries."""
        return int(self.groups.max()) + 1

    @property
    def without_ties(self) -> "Rows":
        """The same rows, what is shown by scores that are all different."""
        return replace(self, y_score=np.where(self.y_score == NO, NO, self.ids.astype(float)))


def score(measure, rows: Rows, **changes):
    """One value per query, NaN where undefined, of rows of which some things are changed."""
    given = {
        "y_true": rows.y_true,
        "y_score": rows.y_score,
        "groups": rows.groups,
        "undefined": "drop",
        "average": None,
    }
    if measure.measure.takes_k and measure.k is None:
        given["k"] = rows.k
    given |= changes
    return measure(given.pop("y_true"), given.pop("y_score"), **given)


def same(actual, expected, given: str = "", rtol: float = 1e-7) -> None:
    """Raise an AssertionError where values differ by more than rounding."""
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

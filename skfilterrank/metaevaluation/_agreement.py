"""Ties of a measure, and how often two measures prefer the same system, query by query."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import is_finite_number
from skfilterrank._lists.floats import merge_values, value_tolerance
from skfilterrank._lists.results import Result
from skfilterrank._lists.system_pairs import Pairs, differences, pair_blocks
from skfilterrank.comparison import SystemScores
from skfilterrank.comparison._same_systems import check_same_systems
from skfilterrank.exceptions import InputError, brief


def fraction_tied(scores, *, measure: str | None = None, tolerance: float = 0.0) -> float:
    """Share of the comparisons of two systems for a query that a measure leaves undecided.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems.
    measure : str or None, default=None
        Which measure, where `scores` has several.
    tolerance : float, default=0.0
        Values that differ by at most this much are tied, in the unit of the measure. With 0 those
        are that only rounding keeps apart.

    Returns
    -------
    float
        Tied (query, pair of systems), of all; in [0, 1].

    Raises
    ------
    ValueError
        If there are fewer than two systems, or `tolerance` is negative or not a number.

    See Also
    --------
    agreement : How often a measure agrees with what another prefers.
    label_degradation : Ties as labels are removed.

    References
    ----------
    Diaz, F. and Mitra, B. Recall, robustness, and lexicographic evaluation, section 6.2.2.

    Examples
    --------
    Of three pairs one is tied for the first query, all are for the second, none for the third: 4
    of 9.

    >>> from skfilterrank.metaevaluation import fraction_tied
    >>> fraction_tied([[0.5, 1.0, 0.9], [0.5, 1.0, 0.8], [0.2, 1.0, 0.7]])
    0.444...
    """
    scores = SystemScores.of(scores, measure, least=(2, 1))
    tolerance = check_tolerance(tolerance)
    values = np.sort(merge_values(scores.values), axis=0)
    tolerance += value_tolerance(values)
    n_tied = 0
    for column in values.T:
        last = np.searchsorted(column, column + tolerance, side="right")
        n_tied += int(last.sum()) - (len(column) * (len(column) + 1)) // 2
    return n_tied / (scores.n_queries * scores.n_systems * (scores.n_systems - 1) / 2)


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """How often one measure agrees with what another prefers.

    Attributes
    ----------
    share : float
        ``n_agree / n_compared``; NaN if the first measure prefers nothing.
    first, second : str
        Names of the measures.
    n_comparisons : int
        Number of (query, pair of systems).
    n_compared : int
        Number of those that the first measure decides.
    n_agree, n_opposite, n_undecided : int
        Of `n_compared`, how many the second measure decides in the same way, in the other way,
        and not at all.
    n_tied_first, n_tied_second, n_tied_both : int
        Number of comparisons that are tied by the first measure, by the second, and by both.
    queries : tuple
        Query ids.
    by_query : DataFrame of shape (n_queries, 6)
        What :meth:`to_frame` returns.
    """

    share: float
    first: str
    second: str
    n_comparisons: int
    n_compared: int
    n_agree: int
    n_opposite: int
    n_undecided: int
    n_tied_first: int
    n_tied_second: int
    n_tied_both: int
    queries: tuple
    by_query: pd.DataFrame

    _digits = 3

    def to_frame(self) -> pd.DataFrame:
        """A row for each query ("qid"): share, and numbers of pairs of systems."""
        return self.by_query.copy()

    def _summary(self):
        return f"{self.second} agrees on {self.share:.3f} of what {self.first} prefers"

    def _head(self):
        if not self.n_compared:
            return f"{self.first} prefers no system in any of {self.n_comparisons} comparisons."
        return (
            f"{self.second} where {self.first} prefers one of two systems: {self.n_compared} of "
            f"{self.n_comparisons} comparisons"
        )

    def _table(self):
        if not self.n_compared:
            return None
        rows = {"agrees": self.n_agree, "opposite": self.n_opposite, "undecided": self.n_undecided}
        table = pd.DataFrame({"n": pd.Series(rows)})
        return table.assign(share=table["n"] / self.n_compared)


def agreement(first, second, *, tolerance: float = 0.0) -> Agreement:
    r"""How often a measure prefers the system that another measure prefers, query by query.

    Parameters
    ----------
    first : SystemScores, or what :meth:`SystemScores.of` reads
        Values by the measure whose preferences are taken as given: only where it tells two
        systems apart for a query, the second is asked.
    second : SystemScores, or what :meth:`SystemScores.of` reads
        Values of the same systems and queries by the measure that agrees or not.
    tolerance : float, default=0.0
        Values that differ by at most this much are tied, in the unit of each measure. With 0
        those are that only rounding keeps apart.

    Returns
    -------
    Agreement

    Raises
    ------
    ValueError
        If systems or queries are not the same, there are fewer than two systems, or `tolerance`
        is negative or not a number.

    See Also
    --------
    fraction_tied : How many comparisons a measure leaves undecided.
    conflicts : The same for differences that are significant over queries.

    Notes
    -----
    With :math:`>_1` and :math:`>_2` the preferences of the two measures,

    .. math:: \frac{\sum I(\pi >_1 \pi' \wedge \pi >_2 \pi')}{\sum I(\pi >_1 \pi')}

    over all queries and pairs. A tie by the second measure counts as not agreeing.
    ``agreement(a, b)`` and ``agreement(b, a)`` differ by the denominator alone.

    References
    ----------
    Diaz, F. and Mitra, B. Recall, robustness, and lexicographic evaluation, section 6.2.1.

    Examples
    --------
    Recall prefers a to c and b to c; average precision, too, prefers a to c, but c to b.

    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.metaevaluation import agreement
    >>> recall = SystemScores([[1.0], [1.0], [0.5]], systems=["a", "b", "c"], measure="recall")
    >>> ap = SystemScores([[0.9], [0.3], [0.4]], systems=["a", "b", "c"], measure="ap")
    >>> print(agreement(recall, ap))
    ap where recall prefers one of two systems: 2 of 3 comparisons
               n  share
    agrees     1  0.500
    opposite   1  0.500
    undecided  0  0.000
    """
    first = SystemScores.of(first, least=(2, 1), name="first")
    second = SystemScores.of(second, least=(2, 1), name="second")
    second = check_same_systems(first, second)
    tolerance = check_tolerance(tolerance)
    n_agree, n_opposite, n_first, n_second, n_decided = count_signs(
        first.oriented, second.oriented, tolerance
    )
    n_pairs = first.n_systems * (first.n_systems - 1) // 2
    n_either = n_first + n_second - n_decided
    table = pd.DataFrame(
        {
            "share": share_of(n_agree, n_first),
            "n_compared": n_first,
            "n_agree": n_agree,
            "n_opposite": n_opposite,
            "n_undecided": n_first - n_decided,
            "n_tied_both": n_pairs - n_either,
        },
        index=pd.Index(first.queries, name="qid", tupleize_cols=False),
    )
    total = n_pairs * first.n_queries
    n_compared = int(n_first.sum())
    return Agreement(
        share=float(share_of(n_agree.sum(), n_first.sum())),
        first=first.measure,
        second=second.measure,
        n_comparisons=total,
        n_compared=n_compared,
        n_agree=int(n_agree.sum()),
        n_opposite=int(n_opposite.sum()),
        n_undecided=n_compared - int(n_decided.sum()),
        n_tied_first=total - n_compared,
        n_tied_second=total - int(n_second.sum()),
        n_tied_both=total - int(n_either.sum()),
        queries=first.queries,
        by_query=table,
    )


def count_signs(first, second, tolerance=0.0) -> np.ndarray:
    """Numbers of pairs of each query: same sign, opposite sign, not tied by first, second, both."""
    pairs, counts = Pairs.all(len(first)), np.zeros((5, first.shape[1]), dtype=np.int64)
    first, second = merge_values(first), merge_values(second)
    for block in pair_blocks(pairs, 4 * first.shape[1]):
        ours, theirs = (_signs(values, pairs[block], tolerance) for values in (first, second))
        product = ours * theirs
        for row, is_counted in enumerate((product > 0, product < 0, ours, theirs, product)):
            counts[row] += np.count_nonzero(is_counted, axis=0)
    return counts


def _signs(values, pairs, tolerance):
    """Signs of the differences of pairs: 1, -1, and 0 for ties."""
    # A difference of the tolerance itself is a tie, however it was rounded.
    tolerance += value_tolerance(values)
    with np.errstate(over="ignore"):
        difference = differences(values, pairs)
    return (difference > tolerance).view(np.int8) - (difference < -tolerance).view(np.int8)


def share_of(part, whole):
    """A share; NaN of nothing."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0)


def check_tolerance(tolerance) -> float:
    """A difference that still counts as a tie."""
    is_infinite = isinstance(tolerance, float) and tolerance == np.inf
    if not is_infinite and not (is_finite_number(tolerance) and tolerance >= 0):
        raise InputError(f"tolerance must be a number of at least 0, got {brief(tolerance)}.")
    return float(tolerance)

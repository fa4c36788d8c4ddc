"""Recall-level metrics: values from positions, orientation, ties, and the worst-off searcher."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import ArrayLike

import skfilterrank.metrics  # noqa: F401  (enters the measures)
from skfilterrank._base.checks import (
    as_number_array,
    check_choice,
    check_count,
    check_counts,
)
from skfilterrank._lists.additive import RowFacts
from skfilterrank._lists.measure import Measure, ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metrics import (
    average_precision_score,
    lexirecall_score,
    ndcg_score,
    r_precision_score,
    rbp_score,
    recall_at_k_score,
    reciprocal_rank_score,
    total_search_efficiency_score,
)

Values = Callable[[np.ndarray], np.ndarray]

# For these measures, the worst-off searcher is the one who wants only the last relevant document:
# by theorem A.1, or for recall and R-precision because their exposure is flat.
_TOP_HEAVY = (
    average_precision_score,
    ndcg_score,
    rbp_score,
    total_search_efficiency_score,
    reciprocal_rank_score,
    r_precision_score,
    recall_at_k_score,
)
_CHUNK = 2**20
# 20 documents have a million subsets, which take half a second. Each further document doubles the
# time.
_MOST_ENUMERATED = 20
_MOST_CELLS = 2**22


def recall_level_metric(
    positions: ArrayLike,
    measure: str | Callable = "ap",
) -> float | np.ndarray:
    """Compute the value of a measure from the positions of the relevant documents.

    Parameters
    ----------
    positions : array-like of shape (n_relevant,) or (n_rankings, n_relevant)
        Positions of all relevant documents, from 1, distinct within a ranking, in any order.
        Documents that were not retrieved also need a position, usually at the end of the corpus.
    measure : str or callable, default="ap"
        Name of a measure, with optional cut-off and options. Higher values must be better, and the
        measure must be a sum over the relevant documents. Examples are "ap", "ndcg", "rr",
        "rbp(persistence=0.9)", "tse(exposure=ndcg)", "r_precision", "recall@1000", "success@10" and
        "lexirecall(scale=share,n_items=1000)". A callable takes a float64 array of positions of
        shape (n_rankings, n_relevant), ascending in each row, and returns one number for each
        ranking.

    Returns
    -------
    float or ndarray of shape (n_rankings,), dtype float64
        Value of each ranking; a float for one ranking.

    Raises
    ------
    ValueError
        If `positions` are not distinct whole numbers from 1, or if `measure` is unknown, has bad
        options, or does not return one finite number for each ranking.

    See Also
    --------
    worst_case_searcher : Smallest value over all sets of documents that a searcher may want.

    Notes
    -----
    Let ``p_1 < ... < p_m`` be the positions of the m relevant documents. The value is ``sum over i
    of e(p_i) * z(i, m)`` (equation 1 of [1]_), with exposure e and normalisation z as in the table.
    It equals the value of the measure of the same name for a ranking with relevant documents at
    exactly these positions in an infinite collection.

    ============= =========================== ==============================
    measure       exposure e(p)               normalisation z(i, m)
    ============= =========================== ==============================
    "ap"          1 / p                       i / m
    "ndcg"        1 / log2(p + 1)             1 / (sum of e(1), ..., e(m))
    "rbp"         (1 - g) * g ** (p - 1)      1
    "rr"          1 / p                       1 if i = 1, else 0
    "tse"         of its option `exposure`    1 if i = m, else 0
    "recall@k"    1 if p <= k, else 0         1 / m
    "r_precision" 1 if p <= m, else 0         1 / m
    ============= =========================== ==============================

    Here g is the persistence. The first five are top-heavy recall-level metrics (definition 2.1):
    exposure falls strictly with the position, the normalisation is 1 for a single relevant
    document, and removing the first relevant document never raises the value. In float64, the
    exposure of "rbp" becomes 0 at some position (3,334 at persistence 0.8), and does not fall any
    further.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 2.3 and 3.2.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import recall_level_metric
    >>> recall_level_metric([1, 4], "ap")  # (1/1 + 2/4) / 2
    0.75
    >>> recall_level_metric([1, 4], "tse")  # exposure of the last item, 1/4
    0.25
    >>> recall_level_metric([[1, 4], [2, 3]], "recall@2")
    array([0.5, 0.5])
    """
    checked = check_positions(positions)
    return as_given(resolve_measure(measure)(checked), positions)


class PositionFacts(RowFacts):
    """Data about one query, for sums: all relevant documents are ranked, n is infinite."""

    def __init__(self, parsed: ParsedMeasure, n_relevant: int, n_others: int = 0):
        gains = np.repeat([1.0, 0.0], [n_relevant, n_others])
        super().__init__(parsed, gains, GroupIndex.from_groups([0] * len(gains)))
        self.n = np.array([np.inf])

    def by_place(self, worth):
        """Return a sum whose terms depend on the position only, and are 0 below the cut-off."""
        return self.in_top(lambda place, level, query: worth(place))


def resolve_measure(measure) -> Values:
    """Return the measure as a function of positions.

    The function takes positions of shape (n_rankings, n_relevant), ascending in each row, and
    returns values of shape (n_rankings,). Raises if the measure is no sum over relevant documents.
    """
    if _is_users(measure):
        return partial(_checked_values, function=measure, name=measure)
    parsed = parse_measure(measure)

    @cache
    def form_of(n_relevant, n_others=0):
        return parsed.as_sum(PositionFacts(parsed, n_relevant, n_others))

    if not parsed.measure.greater_is_better or not _is_sum_of_positions(form_of):
        raise InputError(
            "measure must be a sum over the positions of the relevant documents for which higher "
            f"is better, such as 'ap' or 'recall@1000', got {brief(parsed.text)}."
        )

    def sums(positions):
        return _sums(positions, form_of(positions.shape[1]))

    return partial(_checked_values, function=sums, name=parsed.text)


def _is_users(measure):
    """Return True if a measure is a user's function of positions."""
    return callable(measure) and not isinstance(measure, Measure | ParsedMeasure)


def _is_sum_of_positions(form_of):
    """Return True if a measure is a sum over relevant documents, whatever the others are."""
    if form_of(2) is None:
        return False
    alone, among_others = (_sums(np.array([[2.0, 4.0]]), form_of(2, n)) for n in (0, 1))
    return np.array_equal(alone, among_others, equal_nan=True)


def _sums(positions, form):
    """Compute a measure by adding its terms (`form`) for the relevant documents of each ranking."""
    level = np.broadcast_to(np.arange(1, positions.shape[1] + 1), positions.shape)
    query = np.zeros((1, 1), dtype=np.intp)
    with np.errstate(invalid="ignore"):
        worth = form.worth(positions, level, query)
        # A sum instead of a matrix product, because equal rows must give bitwise equal values.
        values = (form.weights[: positions.shape[1]] * worth).sum(axis=1) + form.offset
    return values if form.finish is None else form.finish(values, query[0])


def _checked_values(positions, function, name):
    """Apply a function to positions; raise if it does not return one finite number per ranking."""
    values = np.asarray(function(positions))
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
    """Return positions as a float64 matrix (n_rankings, n_relevant) with ascending rows.

    Raises if they are not distinct whole numbers from 1.
    """
    given = as_number_array(positions, "positions")
    if given is None or given.ndim not in (1, 2) or not given.size or given.dtype == bool:
        got = brief(positions) if given is None else f"shape {given.shape}, dtype {given.dtype}"
        raise InputError(
            "positions must hold numbers in shape (n_relevant,) or (n_rankings, n_relevant) with "
            f"n_relevant >= 1, got {got}."
        )
    checked = np.sort(np.atleast_2d(given).astype(np.float64), axis=1)
    # These conditions are also False for NaN and infinity.
    bad = ~((checked >= 1) & (np.floor(checked) == checked) & (checked < np.inf))
    if bad.any():
        raise InputError(
            f"positions must be whole numbers from 1, got {checked[bad][0]}. For a document that "
            "was not retrieved, pass a position at the end of the corpus."
        )
    twice = checked[:, 1:] == checked[:, :-1]
    if twice.any():
        raise InputError(
            "positions of one ranking must be distinct, got "
            f"{int(checked[:, 1:][twice][0])} more than once: pass one position per document."
        )
    return checked


def as_given(values, like):
    """Return a float if `like` is a single ranking, else the array of values."""
    return values if np.ndim(like) == 2 else float(values[0])


def metric_orientation(
    measure: str | Callable,
    n_items: int,
    n_relevant: int | ArrayLike,
    *,
    kind: str = "recall",
) -> float | np.ndarray:
    """Compute how much a measure falls when the last (or first) relevant document moves down.

    A large fall for the last document means that the measure rewards recall, a large fall for the
    first document that it rewards precision.

    Parameters
    ----------
    measure : str or callable
        Measure, as in :func:`recall_level_metric`.
    n_items : int
        Number n of documents that are ranked.
    n_relevant : int or array-like of shape (n_values,)
        Number m of relevant documents, from 1 to `n_items`.
    kind : {"recall", "precision"}, default="recall"
        "recall": all relevant documents are on top, and the last of them moves from position m to
        position n. "precision": one relevant document is first and the others are at the bottom,
        and the first moves from position 1 to position ``n - m + 1``, just above the others.

    Returns
    -------
    float or ndarray of shape (n_values,), dtype float64
        Value before the move minus value after the move; 0 if all documents are relevant. It is at
        most 1 for the named measures.

    Raises
    ------
    ValueError
        If `n_items` or `n_relevant` is out of range, and in the same cases as
        :func:`recall_level_metric`.

    Notes
    -----
    This is the orientation of section 3.1 and figures 2 and 3 of [1]_. The statements of the paper
    on figure 3 (100,000 documents, 1 to 15 of them relevant) hold, with these exceptions and
    additions:

    * With one relevant document, both kinds are the same move. The orientation of RR, AP, recall
      and R-precision is then about 1, and that of nDCG is 0.94. So the precision orientation of
      nDCG is above that of AP, recall@1000 and R-precision only from two relevant documents on.
    * The precision orientations of AP, recall@1000 and R-precision are equal to 1e-5, but not
      exactly: after the move, AP still gains ``1 / (n - m + 1)`` from the first document.
    * At persistence 0.8, the precision orientation of RBP is above that of AP from 5 relevant
      documents on, and above that of nDCG from 11 on. Its recall orientation is always below that
      of nDCG.
    * TSE with the exposure of AP has the same recall orientation as AP, ``1/m - 1/n``. With the
      exposure of nDCG, its recall orientation falls least with the number of relevant documents.
      For two or more relevant documents, the precision orientation of TSE is 0 for any exposure.

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
    values = resolve_measure(measure)
    moves = _first_moves if kind == "precision" else _last_moves
    before_and_after = np.array([values(moves(n_items, count)) for count in counts])
    fall = before_and_after[:, 0] - before_and_after[:, 1]
    return fall if np.ndim(n_relevant) else float(fall[0])


def _first_moves(n_items, n_relevant):
    """Return the positions before and after the first relevant document moves down to the others.

    The result has shape (2, n_relevant).
    """
    after = np.arange(n_items - n_relevant + 1, n_items + 1, dtype=np.float64)
    before = after.copy()
    before[0] = 1
    return np.stack([before, after])


def _last_moves(n_items, n_relevant):
    """Return the positions before and after the last relevant document moves to the end.

    The result has shape (2, n_relevant).
    """
    before = np.arange(1, n_relevant + 1, dtype=np.float64)
    after = before.copy()
    after[-1] = n_items
    return np.stack([before, after])


def tie_probability(measure: str, n_items: int, n_relevant: int, *, k: int | None = None) -> float:
    """Compute the probability that two rankings drawn at random have the same value.

    Parameters
    ----------
    measure : {"tse", "recall", "r_precision", "lexirecall"} or "recall@k"
        Measure that compares the rankings. "tse" stands for any exposure that falls strictly with
        the position. "lexirecall" compares the positions of all relevant documents; lexiprecision
        has the same probability. "recall@1000" is "recall" with ``k=1000``.
    n_items : int
        Number n of documents, all of which are ranked.
    n_relevant : int
        Number m of relevant documents, from 1 to `n_items`.
    k : int, default=None
        Cut-off of "recall"; None for the other measures.

    Returns
    -------
    float
        The probability, with a relative error of at most 1e-11; 0.0 if it is below the smallest
        float.

    Raises
    ------
    ValueError
        If `measure` is another measure, if `k` is missing for "recall" or given for another
        measure, or if a number is out of range.

    Notes
    -----
    Section 5.3 and Table 2 of [1]_. Two independent, uniformly random orders tie with a probability
    that is the sum, over all outcomes, of the squared probability of the outcome. The probabilities
    are, with binomial coefficients ``C(n, m)``:

    * "tse": ``C(i - 1, m - 1) / C(n, m)`` for i as the position of the last relevant document. The
      statement of theorem A.9 lacks the square, but its proof and section 5.3 have it.
    * "recall": ``C(k, i) C(n - k, m - i) / C(n, m)`` for i relevant documents in the first k
      positions.
    * "r_precision": as for "recall" with k = m.
    * "lexirecall": ``1 / C(n, m)`` for each of the ``C(n, m)`` sets of positions.

    They are computed from ratios of neighboring probabilities, which avoids large numbers.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 5.3 and
       appendix A.4.

    Examples
    --------
    Probabilities for 10 relevant documents among 1,000:

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
    if entry not in _PROBABILITIES:
        raise InputError(
            f"measure must be 'tse', 'recall', 'r_precision' or 'lexirecall', got {brief(measure)}."
        )
    if entry is recall_at_k_score and k is None:
        raise InputError("k must be a whole number for measure='recall', got None: pass k=1000.")
    return float(_PROBABILITIES[entry](n_items, n_relevant, k and min(k, n_items)))


def _last_position(n_items, n_relevant, _):
    """Sum the squared probabilities of the positions of the last relevant document."""
    # P(i) is the probability of position i: P(n) = m / n, and P(i) = P(i + 1) * (i + 1 - m) / i.
    probability = n_relevant / n_items
    total = probability**2
    for stop in range(n_items - 1, n_relevant - 1, -_CHUNK):
        i = np.arange(stop, max(stop - _CHUNK, n_relevant - 1), -1, dtype=np.float64)
        probabilities = probability * np.cumprod((i + 1 - n_relevant) / i)
        total += np.square(probabilities).sum()
        probability = probabilities[-1]
        # Probabilities fall with i, so this bounds the sum of all remaining squares.
        if probability**2 * i[-1] < 1e-17 * total:
            break
    return total


def _number_above(n_items, n_relevant, k):
    """Sum the squared probabilities of the number of relevant documents in the first k."""
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
    """Return 1 / C(n_items, n_relevant): each set of positions has this probability."""
    chosen = np.arange(1, min(n_relevant, n_items - n_relevant) + 1, dtype=np.float64)
    return np.prod(chosen / (n_items - chosen + 1))


_PROBABILITIES = {
    total_search_efficiency_score: _last_position,
    recall_at_k_score: _number_above,
    r_precision_score: lambda n_items, n_relevant, _: _number_above(
        n_items, n_relevant, n_relevant
    ),
    lexirecall_score: _all_positions,
}


def worst_case_searcher(
    positions: ArrayLike,
    measure: str | Callable = "ap",
    *,
    order: str = "fixed",
) -> float | np.ndarray:
    """Compute the smallest value of a ranking over all searchers who want some relevant documents.

    Each non-empty set of the m relevant documents may be what a searcher wants, so there are ``2 **
    m - 1`` searchers. For "ap", "ndcg", "rbp", "tse", "rr", "r_precision" and "recall@k", the
    worst-off searcher wants only the relevant document that is ranked last. For other measures all
    searchers are tried, of at most 20 relevant documents. If the relevant documents are shuffled
    for each request, every document is sometimes first, so a searcher who wants only one document
    can expect a higher value.

    Parameters
    ----------
    positions : array-like of shape (n_relevant,) or (n_rankings, n_relevant)
        Positions of all relevant documents, from 1, distinct within a ranking, in any order.
    measure : str or callable, default="ap"
        Measure, as in :func:`recall_level_metric`.
    order : {"fixed", "random"}, default="fixed"
        With "fixed", a document stands at one position. With "random", the relevant documents are
        shuffled among `positions` for each request, and the value of a searcher is the mean over
        all orders.

    Returns
    -------
    float or ndarray of shape (n_rankings,), dtype float64
        Smallest value of each ranking; a float for one ranking.

    Raises
    ------
    ValueError
        In the same cases as :func:`recall_level_metric`, and if there are more than 20 relevant
        documents, and all searchers are to be tried.

    See Also
    --------
    recall_level_metric : The value to a searcher who wants all relevant documents.

    Notes
    -----
    This is equation 4 of [1]_. For a top-heavy recall-level metric, the worst case is the exposure
    ``e(p_m)`` of the last relevant document (theorem A.1). This is total search efficiency ("tse")
    with the exposure of the measure, and covers "ap", "ndcg", "rbp", "rr" and "tse".

    "recall@k" and "r_precision" are not top-heavy by definition 2.1, because their exposure is
    flat, but the same searcher is worst off. The worst case of "recall@k" is 1 if ``p_m <= k``,
    else 0. The worst case of "r_precision" is 0, because a searcher who wants one document looks at
    one position only; it is 1 if the only relevant document is first.

    The paper also considers providers who own some of the documents (equation 6). The value of a
    ranking for a provider is the sum of the exposures of these documents. If exposure is positive
    and falls with the position, the worst-off provider owns only the last document (theorem A.2),
    so the worst case is again the value of "tse". For other exposures, pass the sum as a callable.

    A searcher who wants s of the m documents finds them, under a random order, at a uniformly drawn
    set of s of the positions, so the value is a minimum over s, not over searchers. The means of
    AP, nDCG, RBP and RR rise with s, and those of recall@k and R-precision do not fall. All are
    least at s = 1, where they are the mean of the values to who wants one document. TSE falls with
    s, is least at s = m and gains nothing: the inequality of theorem A.7 holds there as an
    equality. Section 4.1.3 and figure 5 are of the best rankings, with positions 1 to m: ``e(m)``
    for a fixed order, and ``(e(1) + ... + e(m)) / m`` for a random one.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 4.1 and 4.2
       and appendices A.1 and A.3.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import recall_level_metric, worst_case_searcher
    >>> positions = [[1, 2, 10], [3, 4, 5]]
    >>> recall_level_metric(positions, "ap")  # the first ranking is better overall
    array([0.766..., 0.477...])
    >>> worst_case_searcher(positions, "ap")  # the second is better in the worst case
    array([0.1, 0.2])

    The measure may be any function of positions, such as the negative mean position:

    >>> worst_case_searcher([1, 2, 10], lambda p: -p.mean(axis=1))
    -10.0

    The best rankings of four relevant documents, in a fixed and in a random order. The second value
    is ``(1 + 1/2 + 1/3 + 1/4) / 4``:

    >>> worst_case_searcher([1, 2, 3, 4], "ap")
    0.25
    >>> worst_case_searcher([1, 2, 3, 4], "ap", order="random")
    0.520...

    The worst case for providers, with exposure 1 / position:

    >>> worst_case_searcher([1, 2, 10], lambda p: (1 / p).sum(axis=1))
    0.1
    """
    check_choice(order, "order", ("fixed", "random"))
    checked, values = check_positions(positions), resolve_measure(measure)
    known = None if _is_users(measure) else parse_measure(measure).measure
    if known in _TOP_HEAVY:
        # Exposure falls with the position: the worst-off searcher wants a single document.
        alone = values(checked.reshape(-1, 1)).reshape(checked.shape)
        is_mean = order == "random" and known is not total_search_efficiency_score
        worst = alone.mean(axis=1) if is_mean else alone.min(axis=1)
    else:
        worst = _least_over_subsets(checked, values, means=order == "random")
    return as_given(worst, positions)


def _least_over_subsets(positions, values, means):
    """Find the least value over all non-empty subsets of each row, or least mean by their size."""
    worst = np.full(len(positions), np.inf)
    for columns in _subsets(positions.shape[1]):
        step = max(1, _MOST_CELLS // columns.size)
        for start in range(0, len(positions), step):
            rows = slice(start, start + step)
            chosen = positions[rows][:, columns]
            of_sets = values(chosen.reshape(-1, columns.shape[1])).reshape(chosen.shape[:2])
            least = of_sets.mean(axis=1) if means else of_sets.min(axis=1)
            worst[rows] = np.minimum(worst[rows], least)
    return worst


def _subsets(n_relevant):
    """Yield, for each size, all subsets of 0 to n_relevant - 1 as an array (n_subsets, size)."""
    if n_relevant > _MOST_ENUMERATED:
        raise InputError(
            f"at most {_MOST_ENUMERATED} relevant documents can be enumerated for this measure, "
            f"got {n_relevant}: use fewer relevant documents, or a measure such as 'ap'."
        )
    masks = np.arange(1, 2**n_relevant, dtype=np.uint32)
    sizes = np.bitwise_count(masks)
    for size in range(1, n_relevant + 1):
        chosen = masks[sizes == size, None] >> np.arange(n_relevant, dtype=np.uint32) & 1
        yield np.nonzero(chosen)[1].reshape(-1, size)

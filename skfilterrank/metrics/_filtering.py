"""Measures of the shown set: rates of shown and hidden documents, QWA and UDCG.

QWA rewards lists that stop in time. UDCG measures passages that a language model answers from.
"""

from functools import partial

import numpy as np

from skfilterrank._base.checks import check_number
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.lists import WHOLE_ORDERS, ListBlock, RankedLists
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.scoring import first_places, log_discount, ratio
from skfilterrank.metrics._unjudged_bounds import at_ends, at_turns


def forbidden_of_set(block: ListBlock, count):
    """Compute the share of the shown documents that is forbidden."""
    return ratio(count(block.gains < 0), count())


def forbidden_sum(facts: Facts) -> Additive:
    """Return forbidden@k as a sum: each forbidden document adds 1 / min(k, shown documents)."""
    depth = np.inf if facts.k is None else facts.k
    bad = (facts.gains < 0).astype(np.float64)
    weights = facts.over(np.minimum(facts.n, depth), bad)
    return Additive(weights, facts.by_place(np.ones_like), by_shown=True)


def any_forbidden_of_set(block: ListBlock, count):
    """Compute 1 where a forbidden document is shown."""
    return count(block.gains < 0) > 0


def false_reject_of_set(block: ListBlock, count):
    """Compute the share of the good documents that is not shown."""
    good, n_good = block.gains > 0, block.n_relevant[:, None]
    found = count(good)
    return ratio(n_good - found, np.broadcast_to(n_good, found.shape))


def empty_of_set(block: ListBlock, count):
    """Compute 1 where nothing is shown."""
    return count() == 0


def _forbidden(block: ListBlock, k):
    """Share of the shown top k that is forbidden.

    Notes
    -----
    The number of rows of negative gain among the first k of the returned list, divided by the
    number shown there: ``min(k, length of the returned list)``. "%F-docs@k" in Table 7 of [1]_.

    Hidden documents do not count. Unjudged documents count as shown and not forbidden.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.metrics import forbidden_at_k
    >>> y_true, groups = [2, -1, 1, -1], ["a"] * 4
    >>> forbidden_at_k(y_true, [0.9, 0.8, 0.7, 0.6], groups=groups, k=2)
    0.5
    >>> forbidden_at_k(y_true, [0.9, float("-inf"), 0.7, 0.6], groups=groups, k=2)
    0.0
    """
    shown = np.minimum(block.n_retained, block.depth(k))
    bad = block.ranked((block.gains < 0).astype(np.float64), k)
    return ratio(bad.sum(axis=1), shown)


forbidden_at_k = Measure(
    "forbidden",
    _forbidden,
    of_set=forbidden_of_set,
    set_of_first=True,
    zero_or_one=lambda k: k == 1,
    reads="shown",
    about="forbidden",
    as_risk="the forbidden share of the shown {top}",
    additive=forbidden_sum,
    order_matters="with k",
    deciding=at_ends,
    undefined="the returned list is empty",
    value_range=(0, 1),
    greater_is_better=False,
)


def _any_forbidden(block: ListBlock, k):
    """Share of the queries whose shown top k holds a forbidden document.

    Notes
    -----
    1 for a query with a row of negative gain, a forbidden document of [1]_, among the first k of
    the returned list, else 0. The mean over queries is the risk "any_forbidden" of
    :class:`skfilterrank.thresholds.CertifiedThreshold`.

    Hidden documents do not count. Unjudged documents count as shown and not forbidden.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.metrics import any_forbidden_at_k
    >>> y_true, groups = [2, -1, 1, -1], ["a", "a", "b", "b"]
    >>> any_forbidden_at_k(y_true, [0.9, 0.8, 0.7, 0.6], groups=groups, k=2)
    1.0
    >>> any_forbidden_at_k(y_true, [0.9, float("-inf"), 0.7, 0.6], groups=groups, k=2)
    0.5
    """
    bad = block.ranked((block.gains < 0).astype(np.float64), k)
    return (bad > 0).any(axis=1).astype(np.float64)


any_forbidden_at_k = Measure(
    "any_forbidden",
    _any_forbidden,
    of_set=any_forbidden_of_set,
    set_of_first=True,
    zero_or_one=True,
    reads="shown",
    about="forbidden",
    as_risk="the share of {queries} with a forbidden document in the shown {top}",
    order_matters="with k",
    deciding=at_ends,
    undefined="never",
    value_range=(0, 1),
    ties=WHOLE_ORDERS,
    greater_is_better=False,
)


def _false_reject_rate(block: ListBlock):
    """Share of the good documents (gain above 0) that are hidden.

    See Also
    --------
    rank_filter_report : Has ``false_reject_rate@k``, of the good ones among a ranker's first k.

    Notes
    -----
    "%filtered good docs" in Table 7 of [1]_. Hiding everything scores 1 with
    ``undefined="drop"``.

    Hidden documents count if they are good. Unjudged documents do not count.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.metrics import false_reject_rate
    >>> false_reject_rate([2, 1, -1], [0.9, float("-inf"), float("-inf")], groups=["a"] * 3)
    0.5
    """
    good = block.gains > 0
    rejected = good & (block.sort_key == np.inf)
    return ratio(np.count_nonzero(rejected, axis=1), np.count_nonzero(good, axis=1))


false_reject_rate = Measure(
    "false_reject_rate",
    _false_reject_rate,
    about="hidden",
    without_k=", which is of all good documents. rank_filter_report(rankings=) has that of the "
    "first k of the ranking",
    of_set=false_reject_of_set,
    as_risk="the share of a query's good documents that is hidden",
    order_matters="never",
    deciding=at_turns,
    undefined="no document of the query is good",
    value_range=(0, 1),
    greater_is_better=False,
)


def false_rejects_of_first(ranking: RankedLists, scores, k: int) -> np.ndarray:
    """Compute false_reject_rate@k of each query, NaN where it has no good document to lose.

    Of the good documents among the first k of a ranking, it is the share with a score of -inf. If a
    tie crosses place k, the mean numbers over the tied orders are divided.
    """
    hidden = np.isneginf(scores)

    def rejects(block):
        lost = block.relevant * ranking.index.take(hidden, block.layout, False)
        return ratio(*(block.ranked(each, k).sum(axis=1) for each in (lost, block.relevant)))

    return ranking.per_query(rejects)


def _empty_list_rate(block: ListBlock):
    """Share of the queries left with no document at all.

    Notes
    -----
    "%queries left with no docs" in Table 7 of [1]_.

    Hidden documents are not in the list. Unjudged documents are, so that a list of nothing else
    is not empty; with ``unjudged="drop"`` it is.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.metrics import empty_list_rate
    >>> empty_list_rate([1, -1, -1], [0.9, 0.1, float("-inf")], groups=["a", "a", "b"])
    0.5
    """
    return (block.n_retained == 0).astype(np.float64)


empty_list_rate = Measure(
    "empty_list_rate",
    _empty_list_rate,
    about="hidden",
    of_set=empty_of_set,
    zero_or_one=True,
    reads="none",
    as_risk="the share of queries that are shown nothing",
    order_matters="never",
    deciding=at_ends,
    undefined="never",
    value_range=(0, 1),
    greater_is_better=False,
)


def _qwa(block: ListBlock):
    """Quit While Ahead: nDCG of the returned list with a terminal document at its end.

    The gain of the terminal document grows with the number of relevant documents before it, and it
    comes earlier in shorter lists. So a list that stops in time has a higher value. Meant for
    binary labels; with graded or negative gains it is unbounded.

    See Also
    --------
    ndcg_f_score : Bounded, for graded and negative gains, and at a cut-off.

    Notes
    -----
    Let r be the number of relevant documents (gain above 0) in the pool. The terminal document's
    gain is the sum of the gains in the returned list divided by r, and 1 if r is 0.
    The extended list is measured by nDCG at its own length, one more than what was returned; the
    ideal is the r relevant documents, best first, then one terminal document of gain 1, cut at
    the same place. Section 2 of [1]_, after [2]_.

    Hidden documents make the list shorter, so that the terminal document comes sooner. Unjudged
    documents add nothing where they stand.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Liu, Moffat, Baldwin and Zhang, "Quit While Ahead: Evaluating Truncated Rankings",
       SIGIR 2016.

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> qwa_score = get_measure("qwa")
    >>> y_true, groups = [1, 1, 0], ["a"] * 3
    >>> qwa_score(y_true, [0.9, 0.8, float("-inf")], groups=groups)
    1.0
    >>> qwa_score(y_true, [0.9, 0.8, 0.7], groups=groups)  # the terminal document comes late
    0.967...
    """
    ranked = block.ranked(block.gains, None)
    positive = np.maximum(block.best_first(None), 0.0)
    n_relevant = np.count_nonzero(positive, axis=1)
    n_shown = block.n_retained
    discount = log_discount(first_places(block.width + 1))
    total = ranked.sum(axis=1)
    terminal = np.ones(len(total))
    np.divide(total, n_relevant, out=terminal, where=n_relevant > 0)
    achieved = ranked @ discount[:-1] + terminal * discount[n_shown]
    ideal_list = np.concatenate([positive, np.zeros((len(positive), 1))], axis=1)
    ideal_list[np.arange(len(positive)), n_relevant] = 1.0
    ideal_list[np.arange(block.width + 1) > n_shown[:, None]] = 0.0
    return achieved / (ideal_list @ discount)


qwa_score = Measure(
    "qwa",
    _qwa,
    undefined="never",
    value_range=(0, 1),
    range_holds_for="binary gains",
)


def _udcg(block: ListBlock, k, *, distraction: float = 1 / 3):
    """Utility and distraction of the passages that a language model answers from.

    A measure of retrieval for RAG: passages that hold the answer add their utility, and passages
    that lead to a wrong one subtract. A model reads all passages, so their order has no influence.

    Parameters
    ----------
    distraction : float, default=1/3
        Weight of the gains below 0, from 0 up.

    See Also
    --------
    ndcg_f_score : For people, who read a list from the top.
    average_precision_score : With ``normalize="found"`` the context precision of RAGAS.

    Notes
    -----
    ``UDCG@k = logistic(mean of u_i)`` over the ``n`` passages of the top k that are shown, with
    ``u_i`` the gain where it is above 0, and `distraction` times the gain where it is below. Gains
    are signed utilities from -1 to 1: the probability that the model, given this passage alone,
    answers and does not abstain, with a minus sign where the passage does not hold the answer.
    Without these probabilities, ``gains={1: 1, 0: -1}`` assumes that all of them are 1. Other gains
    give a number too, but not the measure of the paper.

    This is the form with fixed weights of [1]_, 1 and -1/3, as the authors' program computes it.
    The paper also fits a weight for each position to a model's answers; judgments do not hold
    answers, so these weights are left out. The program gives 0 where nothing is shown; here it is
    the limit, ``logistic(0) = 0.5``, so that an empty list is better than distracting passages
    alone. Of a query without any judged passage nothing is known.

    Hidden documents do not count. Unjudged documents have the utility 0 and count among the n;
    with ``unjudged="drop"`` they are removed from the list. If a tie crosses the cut-off, the mean
    utility over the tied orders replaces the mean of u_i.

    References
    ----------
    .. [1] Trappolini, Cuconasu, Filice, Maarek and Silvestri, "Redefining Retrieval Evaluation in
       the Era of LLMs", EACL 2026, https://arxiv.org/abs/2510.21440.

    Examples
    --------
    One passage holds the answer, one distracts, ``logistic((0.9 - 0.6 / 3) / 2)``:

    >>> from skfilterrank.metrics import udcg_score
    >>> y_true, groups = [0.9, -0.6], ["q"] * 2
    >>> udcg_score(y_true, [2, 1], groups=groups)
    0.586...

    The distracting one is hidden:

    >>> udcg_score(y_true, [2, float("-inf")], groups=groups)
    0.710...
    """
    from scipy.special import expit

    utility = np.where(block.gains < 0, distraction * block.gains, block.gains)
    n_shown = np.minimum(block.n_retained, block.depth(k))
    values = expit(block.ranked(utility, k).sum(axis=1) / np.maximum(n_shown, 1))
    return np.where(block.n_judged > 0, values, np.nan)


udcg_score = Measure(
    "udcg",
    _udcg,
    order_matters="with k",
    undefined="no document of the query is judged",
    value_range=(0, 1),
    ties_are_means=False,
    options={"distraction": partial(check_number, least=0)},
)

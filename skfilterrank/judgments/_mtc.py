"""Minimal test collections: judge what may change most about which run is better."""

import numpy as np

from skfilterrank._lists.checks import check_choice
from skfilterrank.judgments._active_selector import ActiveSelector

_AGGREGATES = ("sum", "max")
# Weights that differ by less, relative to the topic's largest one, are equal: they are sums of
# the same fractions in another order.
_TOLERANCE = 1e-10


class MTCSelector(ActiveSelector):
    r"""Judge the document that may change the differences in AP between runs most.

    Minimal test collections compare runs with few judgments: a document at the same rank in all
    runs says nothing about which is better, and is judged last. The strategy needs the answers one
    at a time, see :func:`judge`.

    Parameters
    ----------
    aggregate : {"sum", "max"}, default="sum"
        How the weights of all pairs of runs become that of a document: their sum, or that of the
        pair that the document tells most about.
    gains : None, "exp2", dict or callable, default=None
        Gain of each label; a document is relevant where its gain is above 0. None takes the label
        as the gain.
    n_jobs : int, default=None
        Topics that `simulate` works on at a time.
    verbose : int, default=0
        Whether `simulate` shows progress.

    Attributes
    ----------
    answers_ : ndarray of shape (n_rows,), dtype float64
        Gains of the answers, NaN where there is none.
    ranking_ : ndarray of shape (n_rows,), dtype int64
        Place of each document within its topic, from 1: those that were answered in the order of
        the answers, then the others in the order of ``next_rows(n)``.
    gains_ : ndarray of shape (n_rows,), dtype float64
        Weight of each document when it was answered, and of the others now.
    pool_ : MultiIndex of length n_rows
        Topic and document of each row, levels "qid" and "docno".

    See Also
    --------
    MoveToFrontSelector : Judge what is likely to be relevant.
    judge : The loop that asks and saves.

    Notes
    -----
    Let :math:`x_i` be 1 where document i is relevant, else 0, and :math:`r_s(i)` its rank in run s,
    infinite where s does not return it. Average precision times the number of relevant documents is

    .. math:: SP_s = \sum_{i \le j} a^s_{ij} x_i x_j, \qquad
        a^s_{ij} = 1 / \max(r_s(i), r_s(j)),

    one term for each document and each unordered pair. For two runs,
    :math:`\Delta SP = \sum_{i \le j} c_{ij} x_i x_j` with :math:`c_{ij} = a^s_{ij} - a^t_{ij}`.
    With R the documents judged relevant and U those not yet judged, an unjudged document i has two
    weights for the pair of runs:

    .. math:: w^R_i = \Big| \sum_{j \in R \cup \{i\}} c_{ij} \Big|, \qquad
        w^N_i = \Big| \sum_{j \in R \cup U} c_{ij} \Big|.

    :math:`w^R_i` is by how much :math:`\Delta SP` changes if i turns out to be relevant, where
    unjudged documents count as not relevant. :math:`w^N_i` is by how much it changes if i turns out
    to be not relevant, where unjudged documents count as relevant. Each is summed over all pairs of
    runs (``aggregate="sum"``), or taken from the pair where it is largest (``"max"``), and the
    weight of the document is the larger of the two results. For two runs this is the pairwise
    algorithm in the reading taken here: the effect of an answer is that of all its terms together,
    with their signs, and both weights leave out the factor 1 / (number of relevant documents),
    which all runs share. The aggregate over the pairs of more runs is a choice of this library.

    The stopping rule is left out: the strategy never says that enough is judged for the order of
    two runs to be certain. Where to end is up to the budget.

    Documents of equal weight are judged by row. With a single run all weights are 0.

    Both results take a sort of the runs for each document: for values :math:`v_1 \le ... \le v_m`
    the sum of the differences of all pairs is :math:`\sum_k (2k - m - 1) v_k`, and the largest one
    is :math:`v_m - v_1`. Each answer costs O(n m log m) for n documents and m runs.

    References
    ----------
    Carterette, Allan and Sitaraman, "Minimal test collections for retrieval evaluation", SIGIR
    2006.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import MTCSelector, rank_table
    >>> a = pd.DataFrame({"qid": "1", "docno": ["d1", "d2", "d3"], "score": [3.0, 2.0, 1.0]})
    >>> b = pd.DataFrame({"qid": "1", "docno": ["d1", "d4", "d2"], "score": [3.0, 2.0, 1.0]})
    >>> table = rank_table({"a": a, "b": b})
    >>> selector = MTCSelector().fit(table)
    >>> selector.ranking_
    array([4, 3, 2, 1])

    Only b returns d4, at rank 2: if all are relevant, it adds 1/2 together with d1, 1/3 with d2,
    and 1/2 by itself.

    >>> selector.gains_.round(3)
    array([0.   , 0.333, 1.   , 1.333])
    """

    def __init__(self, *, aggregate="sum", gains=None, n_jobs=None, verbose=0):
        self.aggregate = aggregate
        self.gains = gains
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self):
        check_choice(self.aggregate, "aggregate", _AGGREGATES)

    def _topic_state(self, ranks):
        """Sums of the coefficients of each document."""
        return _Effects(ranks, _PAIRS[self.aggregate])


class _Effects:
    """By how much each document of a topic changes the differences of all pairs of runs."""

    def __init__(self, ranks, of_pairs):
        self.ranks = np.where(np.isnan(ranks), np.inf, ranks)
        self.of_pairs = of_pairs
        self.is_open = np.ones(len(ranks), dtype=bool)
        # Sums of a_ij over j in R and i itself, and over j in R or U.
        self.if_relevant = 1 / self.ranks
        self.if_not = _sums_over_all(self.ranks)
        self.weights_if_relevant = of_pairs(self.if_relevant)
        self.weights_if_not = of_pairs(self.if_not)
        self.tolerance = _TOLERANCE * self.weights().max(initial=0.0)

    def weights(self):
        """Weight of each row; that of an answered row means nothing."""
        return np.maximum(self.weights_if_relevant, self.weights_if_not)

    def propose(self, n, allowed):
        """Rows of the largest weights."""
        rows = np.flatnonzero(allowed)
        weights = self.weights()[rows]
        if n == 1:
            best = int((weights >= weights.max() - self.tolerance).argmax())
            return rows[[best]], weights[[best]]
        order = _descending(weights, self.tolerance)[:n]
        return rows[order], weights[order]

    def answer(self, row, is_relevant):
        """Move a row out of U: to R, or away."""
        self.is_open[row] = False
        rows = np.flatnonzero(self.is_open)
        shared = 1 / np.maximum(self.ranks[rows], self.ranks[row])
        if is_relevant:
            sums = self.if_relevant[rows] + shared
            self.if_relevant[rows] = sums
            self.weights_if_relevant[rows] = self.of_pairs(sums)
        else:
            sums = self.if_not[rows] - shared
            self.if_not[rows] = sums
            self.weights_if_not[rows] = self.of_pairs(sums)


def _sums_over_all(ranks):
    """Sum of 1 / max(rank of i, rank of j) over all j, i among them, for each i and run."""
    order = np.argsort(ranks, axis=0, kind="stable")
    inverse = 1 / np.take_along_axis(ranks, order, axis=0)
    above = np.arange(1, len(ranks) + 1)[:, None] * inverse
    below = np.cumsum(inverse[::-1], axis=0)[::-1] - inverse
    sums = np.empty_like(inverse)
    np.put_along_axis(sums, order, above + below, axis=0)
    return sums


def _sum_of_differences(values):
    """Sum over all pairs of columns of the absolute difference, for each row."""
    n_runs = values.shape[1]
    return np.sort(values, axis=1) @ (2.0 * np.arange(n_runs) - n_runs + 1)


def _largest_difference(values):
    """Largest absolute difference of two columns, for each row."""
    return values.max(axis=1) - values.min(axis=1)


_PAIRS = {"sum": _sum_of_differences, "max": _largest_difference}


def _descending(weights, tolerance):
    """Places from the largest weight down, equal ones by place."""
    order = np.argsort(-weights, kind="stable")
    # Neighbours within the tolerance share a class, in which places ascend.
    steps = -np.diff(weights[order], prepend=weights[order[:1]]) > tolerance
    return order[np.lexsort((order, np.cumsum(steps)))]

"""Measures of passages that a language model answers from: UDCG."""

from functools import partial

import numpy as np

from skfilterrank._lists.checks import check_number
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure import declare_measure


@declare_measure(
    "udcg",
    title="UDCG",
    order_matters="with k",
    undefined="never",
    value_range=(0, 1),
    ties_are_means=False,
    options={"distraction": partial(check_number, least=0)},
)
def udcg_score(block: ListBlock, k, *, distraction: float = 1 / 3):
    """Utility and distraction of the passages that a language model answers from.

    A measure of retrieval for RAG: passages that hold the answer add their utility, and passages
    that lead to a wrong one subtract. A model reads all passages, so their order has no influence.

    Parameters
    ----------
    distraction : float, default=1/3
        Weight of the gains below 0, from 0 up.

    See Also
    --------
    ndcg_f_score : For people, who read from the top, and for passages that must not be shown.
    average_precision_score : With ``normalize="found"`` the context precision of RAGAS.

    Notes
    -----
    ``UDCG@k = logistic(mean of u_i)`` over the ``n`` passages of the top k that are shown, with
    ``u_i`` the gain where it is above 0, and `distraction` times the gain where it is below. Gains
    are signed utilities from -1 to 1: the probability that the model, given this passage alone,
    answers and does not abstain, with a minus sign where the passage does not hold the answer.
    Without these probabilities, ``gains={1: 1, 0: -1}`` takes them all for 1. Other gains have a
    value too, but not that of the paper.

    This is the form with fixed weights of [1]_, 1 and -1/3, as the authors' program computes it.
    The paper also fits weights of each position to a model's answers, which no judgments hold. The
    program gives 0 where nothing is shown; here it is the limit, ``logistic(0) = 0.5``, so that an
    empty list is better than distracting passages alone.

    Filtered documents do not count. Unjudged documents have the utility 0 and count among the n;
    with ``unjudged="drop"`` they make room for those after them. In a tie across the cut-off, the
    value is that of the mean utility over the tied orders.

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
    return expit(block.ranked(utility, k).sum(axis=1) / np.maximum(n_shown, 1))

"""Quit While Ahead: rewarding a list for stopping in time."""

import numpy as np

from skfilterrank._lists.additive import first_places, log_discount
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure import declare_measure


def qwa(block: ListBlock, k):
    """nDCG of the returned list and the terminal document after it."""
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


@declare_measure(
    "qwa",
    qwa,
    undefined="never",
    value_range=(0, 1),
    range_holds_for="binary gains",
    takes_k=False,
)
def qwa_score():
    """Quit While Ahead: nDCG of the returned list with a terminal document at its end.

    The terminal document is worth the more the more relevant documents stand before it, and
    stands the higher the less is shown: a list that stops in time wins. Meant for binary labels;
    with graded or negative gains it is unbounded.

    {parameters}

    See Also
    --------
    ndcg_f_score : Bounded, for graded and negative gains, and at a cut-off.

    Notes
    -----
    The terminal document's gain is 1 where the pool has no relevant document, else the sum of the
    gains in the returned list over the number r of relevant documents (gain above 0) in the pool.
    The extended list is measured by nDCG at its own length, one more than what was returned; the
    ideal is the r relevant documents, best first, then one terminal document of gain 1, cut at
    the same place. Section 2 of [1]_, after [2]_.

    Filtered documents make the list shorter, so that the terminal document comes sooner. Unjudged
    documents add nothing where they stand.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Liu, Moffat, Baldwin and Zhang, "Quit While Ahead: Evaluating Truncated Rankings",
       SIGIR 2016.

    Examples
    --------
    >>> from skfilterrank.metrics import qwa_score
    >>> y_true, groups = [1, 1, 0], ["a"] * 3
    >>> qwa_score(y_true, [0.9, 0.8, float("-inf")], groups=groups)
    1.0
    >>> qwa_score(y_true, [0.9, 0.8, 0.7], groups=groups)  # the terminal document comes late
    0.967...
    """

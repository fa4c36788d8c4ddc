"""Compatibility with an order of preference: rank-biased overlap with the nearest ideal list.

Clarke, Vtyurina and Smucker, "Assessing Top-k Preferences", ACM TOIS 39(3), 2021.
"""

from functools import partial

import numpy as np

from skfilterrank._lists.checks import check_number
from skfilterrank._lists.lists import WHOLE_ORDERS, ListBlock
from skfilterrank._lists.measure import declare_measure
from skfilterrank._lists.scoring import ratio


def _weights_from(width, k, persistence):
    """Compute ``p ** (i - 1) / i``, summed up from each place down without end; 0 behind k."""
    places = np.arange(1.0, width + 1)
    above = np.cumsum(persistence ** (places - 1) / places)
    endless = -np.log1p(-persistence) / persistence
    weights = np.maximum(endless - np.concatenate(([0.0], above[:-1])), 0.0)
    if k is not None:
        weights[k:] = 0.0
    return weights


def compatibility_with(block: ListBlock, k, worth, persistence):
    """Compute the compatibility of each list with the order of the worths above 0."""
    wanted = worth > 0
    place = np.empty(worth.size, dtype=np.int64)
    place[block.cells.ravel()] = np.tile(np.arange(block.width), len(worth))
    place = np.where(block.sort_key < np.inf, place.reshape(worth.shape), block.width)
    # The ideal order nearest to the list: documents of equal worth have the list's order, and
    # missing ones come last.
    ideal = np.lexsort((place, -worth), axis=1).argsort(axis=1)
    weights = np.append(_weights_from(block.width, k, persistence), 0.0)
    # A document overlaps from the first depth at which both lists contain it.
    overlap = np.where(wanted, weights[np.maximum(place, ideal)], 0.0).sum(axis=1)
    return ratio(overlap, np.where(wanted, weights[ideal], 0.0).sum(axis=1))


_COMMON = {
    "ties": WHOLE_ORDERS,
    "option_aliases": {"p": "persistence"},
}
_check_persistence = partial(check_number, least=0.01, most=0.9999)


@declare_measure(
    "compatibility",
    aliases=("Compat",),
    undefined="no document of the query has a gain other than 0, or with harm=0 none above 0",
    value_range=(-1, 1),
    options={"persistence": _check_persistence, "harm": partial(check_number, least=0, most=1)},
    **_COMMON,
)
def compatibility_score(block: ListBlock, k, *, persistence: float = 0.95, harm: float = 1.0):
    """Compatibility with the helpful order minus compatibility with the harmful order.

    The measure of the TREC health misinformation tracks. Labels are an order of preference; only
    their order matters. Without forbidden documents it is plain compatibility.

    Parameters
    ----------
    persistence : float, default=0.95
        How far down both lists are compared, from 0.01 to 0.9999: the searcher goes on to the next
        place with this probability, and sees 20 places on average with 0.95.
    harm : float, default=1.0
        Weight, from 0 to 1, of the compatibility with the harmful order. 0 is the compatibility
        with the helpful order alone.

    See Also
    --------
    harmful_compatibility : The harmful order alone.
    ndcg_f_score : Where the sizes of the gains say how much each document helps or harms.

    Notes
    -----
    The compatibility with an order of preference is the rank-biased overlap of the list L with the
    nearest ideal list I, divided by that of I with itself (sections 3.2 and 3.3 of [1]_) ::

        overlap(L, I) = sum over places i of p ** (i - 1) * |L[:i] and I[:i]| / i

    I has the documents of gain above 0, highest first. Those of equal gain stand in it as in L,
    which makes the overlap as great as it can be, and those that L lacks stand behind them. With a
    cut-off both lists end at place k. The sum has no end (the authors' program stops at place
    1,000, which changes no digit up to a persistence of 0.96). The harmful order has the documents
    of gain below 0, lowest first. A query without helpful documents, or without harmful ones, has
    compatibility 0 with that order here; the track leaves it out of the mean of that order.

    Filtered documents close up: those that are helpful stay in the ideal list. Unjudged documents
    are in no ideal list, and with ``unjudged="drop"`` make room for those after them. Forbidden
    documents are the harmful order.

    References
    ----------
    .. [1] Clarke, Vtyurina and Smucker, "Assessing Top-k Preferences", ACM Transactions on
       Information Systems 39(3), 2021, https://doi.org/10.1145/3451161.

    Examples
    --------
    A list of a very helpful, a harmful and a helpful page:

    >>> from skfilterrank.metrics import compatibility_score
    >>> y_true, groups = [12, -1, 4], ["q"] * 3
    >>> compatibility_score(y_true, [3, 2, 1], groups=groups)
    0.227...
    >>> compatibility_score(y_true, [3, 2, 1], groups=groups, harm=0)
    0.910...

    The harmful page is hidden:

    >>> compatibility_score(y_true, [3, float("-inf"), 1], groups=groups)
    1.0
    """
    helpful = compatibility_with(block, k, block.gains, persistence)
    if not harm:
        return helpful
    harmful = compatibility_with(block, k, -block.gains, persistence)
    difference = np.nan_to_num(helpful) - harm * np.nan_to_num(harmful)
    return np.where(np.isnan(helpful) & np.isnan(harmful), np.nan, difference)


@declare_measure(
    "harmful_compatibility",
    undefined="no document of the query has a gain below 0",
    value_range=(0, 1),
    greater_is_better=False,
    options={"persistence": _check_persistence},
    **_COMMON,
)
def harmful_compatibility(block: ListBlock, k, *, persistence: float = 0.95):
    """Compatibility with the harmful order: how well a list finds harmful items. Lower is better.

    The TREC health misinformation tracks report it beside the compatibility with the helpful order.

    Parameters
    ----------
    persistence : float, default=0.95
        How far down both lists are compared, as in :func:`compatibility_score`.

    See Also
    --------
    compatibility_score : Helpful less harmful; with ``harm=0`` the helpful order alone.
    any_forbidden_at_k : Whether a page has anything harmful.

    Notes
    -----
    :func:`compatibility_score` of the documents of gain below 0, the lowest most harmful [1]_.

    Filtered documents close up: those that are harmful stay in the ideal list of harm. Unjudged
    documents are not harmful, and with ``unjudged="drop"`` make room for those after them.

    References
    ----------
    .. [1] Clarke, Vtyurina and Smucker, "Assessing Top-k Preferences", ACM Transactions on
       Information Systems 39(3), 2021, https://doi.org/10.1145/3451161.

    Examples
    --------
    >>> from skfilterrank.metrics import harmful_compatibility
    >>> y_true, groups = [12, -1, 4], ["q"] * 3
    >>> harmful_compatibility(y_true, [3, 2, 1], groups=groups)
    0.682...
    >>> harmful_compatibility(y_true, [3, float("-inf"), 1], groups=groups)
    0.0
    """
    return compatibility_with(block, k, -block.gains, persistence)

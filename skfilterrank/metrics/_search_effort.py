"""Effort of a searcher who reads until all relevant documents are found.

Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 3.2.
"""

from functools import partial

import numpy as np

from skfilterrank._base.checks import check_share, one_of
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.positions import check_n_items, collection_sizes, items_of
from skfilterrank._lists.scoring import EXPOSURES


def _n_found(block):
    """Compute the number of relevant documents in each list."""
    if block.n_retained.min() == block.width:
        return block.n_relevant
    return (block.relevant * (block.sort_key < np.inf)).sum(axis=1)


def _last_positions(block, n_items):
    """Return the last possible position of a relevant document, and whether all were found.

    The position is the number of all documents where a relevant one is missing, and 0 where nothing
    is relevant.
    """
    found = _n_found(block)
    n = items_of(block, block.n_relevant - found, n_items)
    is_complete = found == block.n_relevant
    marks = block.ranked_relevant(None) > 0
    last = np.where(is_complete, block.width - marks[:, ::-1].argmax(axis=1), n)
    last[block.n_relevant == 0] = 0
    return last, is_complete


def _open_ties(block, last, is_complete):
    """Find lists whose last relevant document is tied.

    Return the numbers of these lists, the lengths of the ties, and the numbers of relevant
    documents in the ties.
    """
    ties = block.ties(None)
    if ties is None:
        return None
    rows = np.flatnonzero(is_complete[ties.lists] & (last[ties.lists] > 0))
    lists = ties.lists[rows]
    place = last[lists] - 1
    length = ties.length[rows, place]
    # Each place of a tie holds the mean relevance of the tie.
    relevant = np.rint(block.ranked_relevant(None)[lists, place] * length)
    tied = length > 1
    return lists[tied], length[tied], relevant[tied]


def _defined(block, values):
    """Return values, NaN where nothing is relevant."""
    return np.where(block.n_relevant > 0, values, np.nan)


def total_search_efficiency_sum(facts: Facts) -> Additive:
    """Return total search efficiency as a sum: exposure of the last relevant document."""
    n = collection_sizes(facts)
    exposure = partial(EXPOSURES[facts.option("exposure")], persistence=facts.option("persistence"))

    def worth(place, level, query):
        is_last = level == facts.m[query]
        return np.where(is_last, exposure(np.where(is_last, place, 1.0)), 0.0)

    return Additive(facts.relevant, worth, uses_levels=True, worth_of="labels", n_items=n)


def search_length_sum(facts: Facts) -> Additive:
    """Return search length as a sum: irrelevant documents above the last relevant one."""

    def worth(place, level, query):
        return np.where(level == facts.m[query], place - level, 0.0)

    n = collection_sizes(facts)
    return Additive(facts.relevant, worth, uses_levels=True, worth_of="labels", n_items=n)


def recall_error_sum(facts: Facts) -> Additive:
    """Return recall error as a sum: each relevant document adds place / m."""
    return Additive(
        facts.over(facts.m),
        lambda place, level, query: np.asarray(place, dtype=np.float64),
        scale="weighted",
        offset=np.where(facts.m > 0, -(facts.m + 1) / 2, 0.0),
        n_items=collection_sizes(facts),
    )


def _tse(
    block: ListBlock,
    *,
    exposure: str = "ap",
    persistence: float = 0.8,
    n_items: int | None = None,
):
    """Total search efficiency: the exposure of the last relevant document.

    The counterpart of reciprocal rank for recall. It measures how easily a searcher finds all
    relevant documents, and so how well the ranking serves the searcher, or provider, who is served
    worst. All rankings that miss a relevant document have the same value; :func:`lexirecall_score`
    tells them apart.

    Parameters
    ----------
    exposure : {"ap", "ndcg", "rbp"}, default="ap"
        Exposure of position i: ``1 / i``, ``1 / log2(i + 1)`` or
        ``(1 - persistence) * persistence ** (i - 1)``, that of the measure with this name.
    persistence : float, default=0.8
        Probability of going on to the next position, in (0, 1), for ``exposure="rbp"``.
    n_items : int or None, default=None
        Number of documents that could have been retrieved, the collection's size; None means the
        number of rows of the query plus its number of relevant documents, so that a missing
        document is behind every row.

    See Also
    --------
    search_length : Counts the irrelevant documents above the same position.
    lexirecall_score : Compares the other relevant documents, too, if the last ones tie.

    Notes
    -----
    Equation 3 of [1]_: ``exposure(p_m)``, where ``p_m`` is the last position of a relevant
    document. The ideal ranking has ``exposure(m)``, not 1.

    Where a relevant document was not retrieved, ``p_m`` is the last position of all, `n_items`.
    Hidden documents count as not retrieved. Unjudged documents take positions, as documents that
    are not relevant; with ``unjudged="drop"`` they count as not retrieved.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 3.2.

    Examples
    --------
    >>> from skfilterrank.metrics import total_search_efficiency_score
    >>> y_true, groups = [1, 0, 0, 1, 0], ["q"] * 5
    >>> total_search_efficiency_score(y_true, [5, 4, 3, 2, 1], groups=groups)  # 1 / 4
    0.25

    The second relevant document is hidden, and counts as the last of the five rows and two
    more, or of a thousand:

    >>> filtered = [5, 4, 3, float("-inf"), 1]
    >>> total_search_efficiency_score(y_true, filtered, groups=groups)
    0.142...
    >>> total_search_efficiency_score(y_true, filtered, groups=groups, n_items=1000)
    0.001
    """
    exposed = partial(EXPOSURES[exposure], persistence=persistence)
    last, is_complete = _last_positions(block, n_items)
    values = np.full(len(last), np.nan)
    some = last > 0
    values[some] = exposed(last[some].astype(np.float64))
    if (tied := _open_ties(block, last, is_complete)) is not None and len(tied[0]):
        lists, length, relevant = tied
        # Column t holds the probability that the last of c relevant documents is t places above the
        # end of a tie of L places: C(L - t - 1, c - 1) / C(L, c).
        place = length[:, None] - np.arange(int((length - relevant).max()) + 1)
        ratio = (place - relevant[:, None]) / np.maximum(place - 1, 1)
        probability = np.empty(place.shape)
        probability[:, 0] = relevant / length
        probability[:, 1:] = np.maximum(ratio[:, :-1], 0.0)
        probability = np.cumprod(probability, axis=1)
        position = (last[lists] - length)[:, None] + np.maximum(place, 1)
        values[lists] = (probability * exposed(position.astype(np.float64))).sum(axis=1)
    return values


total_search_efficiency_score = Measure(
    "tse",
    _tse,
    additive=total_search_efficiency_sum,
    undefined="nothing is relevant",
    value_range=(0, 1),
    options={
        "exposure": one_of(*EXPOSURES),
        "persistence": check_share,
        "n_items": check_n_items,
    },
)


def _search_length(block: ListBlock, *, n_items: int | None = None):
    """Search length: number of irrelevant documents read until all relevant ones are found.

    Cooper's search length of type 3. Lower is better. It measures, in documents, the extra effort
    of a searcher who needs all relevant documents.

    Parameters
    ----------
    n_items : int or None, default=None
        Number of documents that could have been retrieved, the collection's size; None means the
        number of rows of the query plus its number of relevant documents, so that a missing
        document is behind every row.

    See Also
    --------
    total_search_efficiency_score : Exposure of the same position.
    recall_error : Depends on the mean position of all relevant documents.

    Notes
    -----
    ``p_m - m``, where ``p_m`` is the last position of the m relevant documents (section 3.2 of
    [1]_): 0 for the ideal ranking, ``n_items - m`` for the worst. Queries without relevant
    documents count as 0, the best value, unless `undefined` says otherwise.

    Where a relevant document was not retrieved, ``p_m`` is the last position of all, `n_items`.
    Hidden documents count as not retrieved. Unjudged documents take positions, as documents that
    are not relevant; with ``unjudged="drop"`` they count as not retrieved.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023.
    .. [2] Cooper, "Expected search length: A single measure of retrieval effectiveness based on
       the weak ordering action of retrieval systems", American Documentation 19 (1), 1968.

    Examples
    --------
    >>> from skfilterrank.metrics import search_length
    >>> search_length([1, 0, 0, 1, 0], [5, 4, 3, 2, 1], groups=["q"] * 5)
    2.0
    """
    last, is_complete = _last_positions(block, n_items)
    last = last.astype(np.float64)
    if (tied := _open_ties(block, last.astype(np.int64), is_complete)) is not None:
        lists, length, relevant = tied
        # The last of c documents drawn for L places stands at c (L + 1) / (c + 1) on average.
        last[lists] -= length - relevant * (length + 1) / (relevant + 1)
    return _defined(block, last - block.n_relevant)


search_length = Measure(
    "search_length",
    _search_length,
    additive=search_length_sum,
    undefined="nothing is relevant",
    value_range=(0, np.inf),
    greater_is_better=False,
    options={"n_items": check_n_items},
)


def _recall_error(block: ListBlock, *, n_items: int | None = None):
    """Recall error: mean position of the relevant documents, above that of the ideal ranking.

    Rocchio's measure of recall. Lower is better. Sensitive to a few relevant documents at very
    low ranks, which large collections often have.

    Parameters
    ----------
    n_items : int or None, default=None
        Number of documents that could have been retrieved, the collection's size; None means the
        number of rows of the query plus its number of relevant documents, so that a missing
        document is behind every row.

    See Also
    --------
    search_length : Depends on the position of the last relevant document alone.

    Notes
    -----
    ``(p_1 + ... + p_m) / m - (m + 1) / 2`` for the positions of the m relevant documents (section
    3.2 of [1]_): 0 for the ideal ranking, ``n_items - m`` for the worst. Queries without relevant
    documents count as 0, the best value, unless `undefined` says otherwise.

    Relevant documents that were not retrieved are placed at the last positions of all. Hidden
    documents count as not retrieved. Unjudged documents take positions, as documents that are not
    relevant; with ``unjudged="drop"`` they count as not retrieved.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023.
    .. [2] Rocchio, "Performance Indices for Document Retrieval Systems", in Salton (ed.),
       "Information Storage and Retrieval", ISR-8, Harvard University, 1964.

    Examples
    --------
    Relevant at 1 and 4, ``(1 + 4) / 2 - 3 / 2``:

    >>> from skfilterrank.metrics import recall_error
    >>> recall_error([1, 0, 0, 1, 0], [5, 4, 3, 2, 1], groups=["q"] * 5)
    1.0
    """
    found = _n_found(block)
    n = items_of(block, block.n_relevant - found, n_items)
    m = block.n_relevant
    missing = m - found
    total = block.ranked_relevant(None) @ np.arange(1.0, block.width + 1)
    total += missing * (n - (missing - 1) / 2)
    return _defined(block, total / np.maximum(m, 1) - (m + 1) / 2)


recall_error = Measure(
    "recall_error",
    _recall_error,
    additive=recall_error_sum,
    undefined="nothing is relevant",
    value_range=(0, np.inf),
    greater_is_better=False,
    options={"n_items": check_n_items},
)

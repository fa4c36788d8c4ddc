"""Documents that stand at different places in two runs."""

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import as_list, check_choice, check_flag, check_k
from skfilterrank._lists.gains import as_gains
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io import AlignedRun, QrelsIndex, align

_COLUMNS = ["label", "gain", "first_rank", "second_rank", "effect"]


def rank_changes(
    qrels,
    first,
    second,
    *,
    k: int | None = None,
    queries=None,
    gains=None,
    unjudged: str = "zero",
    precision: str = "double",
    unmoved: bool = False,
) -> pd.DataFrame:
    """List documents that two runs rank differently, the largest effect of each query first.

    Parameters
    ----------
    qrels : DataFrame, QrelsIndex, str, PathLike, file object or None
        The judgments, as :func:`skfilterrank.io.align` takes them; None with two AlignedRuns.
    first, second : DataFrame, str, PathLike, file object or AlignedRun
        Two runs, as :func:`skfilterrank.io.align` takes them, or what it returned.
    k : int or None, default=None
        Look at documents that one of the runs has at its first `k` places; None takes all.
    queries : sequence of str or None, default=None
        Topics to look at; None takes all of the judgments.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    unjudged : {"zero", "drop"}, default="zero"
        Whether documents without a label have gain 0, or are taken out of the lists first.
    precision : {"double", "single"}, default="double"
        As in :func:`skfilterrank.io.align`; of an AlignedRun it is settled.
    unmoved : bool, default=False
        Whether documents that both runs have at the same place are listed too.

    Returns
    -------
    DataFrame of shape (n_documents, 5)
        Index levels "qid" and "docno"; topics in the order of `queries` or sorted as text, in
        each the largest effects first, equal ones by the shift in discount, then by place and id.

        label : float
            Judgment, NaN where there is none.
        gain : float
            Its gain, 0 where there is no judgment; below 0 the document is forbidden.
        first_rank, second_rank : Int64
            Place in each run, from 1; missing where the run does not retrieve the document.
        effect : float
            What the document adds to DCG at `k` of the first run more than to that of the second:
            ``gain * (1 / log2(1 + first_rank) - 1 / log2(1 + second_rank))``, where a place
            behind `k`, or none, counts 0. Above 0 it speaks for the first run.

    Raises
    ------
    ValueError, FileFormatError
        As :func:`skfilterrank.io.align`; for a `k` below 1, a topic that is not judged.

    See Also
    --------
    skfilterrank.plot.QueryDifferenceDisplay : Which topics decide between two systems.

    Notes
    -----
    Documents of equal scores stand in trec_eval's order, the greater id first, whatever tie rule
    a measure was computed with. The effect is the exact part of a difference in DCG. Of other
    measures it is a guide to the documents worth looking at.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.cli._rank_changes import rank_changes
    >>> from skfilterrank.io import QrelsIndex
    >>> qrels = pd.DataFrame({"qid": "1", "docno": ["a", "b", "c"], "label": [2, -1, 1]})
    >>> old = pd.DataFrame({"qid": "1", "docno": ["b", "a", "c"], "score": [3, 2, 1]})
    >>> new = pd.DataFrame({"qid": "1", "docno": ["a", "c"], "score": [3, 2]})
    >>> rank_changes(QrelsIndex(qrels, unjudged_label=None), new, old).round(3)
               label  gain  first_rank  second_rank  effect
    qid docno
    1   b       -1.0  -1.0        <NA>            1   1.000
        a        2.0   2.0           1            2   0.738
        c        1.0   1.0           2            3   0.131
    """
    check_choice(unjudged, "unjudged", ("zero", "drop"))
    k = check_k(k)
    check_flag(unmoved, "unmoved")
    if qrels is not None:
        qrels = QrelsIndex.of(qrels, gains=gains)
    tables = [
        _ranks(_aligned(qrels, run, precision), k, queries, unjudged) for run in (first, second)
    ]
    labels = pd.concat([table["label"] for table in tables])
    labels = labels[~labels.index.duplicated()]
    joined = pd.DataFrame(
        {
            "label": labels,
            "first_rank": tables[0]["rank"].reindex(labels.index),
            "second_rank": tables[1]["rank"].reindex(labels.index),
        }
    )
    places = joined[["first_rank", "second_rank"]].to_numpy()
    shown = np.fmin(places[:, 0], places[:, 1]) <= (np.inf if k is None else k)
    moved = places[:, 0] != places[:, 1]  # NaN, where only one has it, differs
    joined = joined[shown & (moved | unmoved)]
    judged = joined["label"].notna().to_numpy()
    joined["gain"] = 0.0
    joined.loc[judged, "gain"] = np.asarray(as_gains(joined["label"].to_numpy()[judged], gains))
    shift = _discount(joined["first_rank"], k) - _discount(joined["second_rank"], k)
    joined["effect"] = joined["gain"].to_numpy() * shift
    order = np.lexsort(
        [
            pd.factorize(joined.index.get_level_values("docno"), sort=True)[0],
            np.fmin(joined["first_rank"], joined["second_rank"]),
            -np.abs(shift),
            -joined["effect"].abs(),
            _places_of_topics(joined.index.get_level_values("qid"), queries),
        ]
    )
    ranks = {"first_rank": "Int64", "second_rank": "Int64"}
    return joined.iloc[order][_COLUMNS].astype(ranks)


def _aligned(qrels, run, precision):
    """A run joined with judgments."""
    return run if isinstance(run, AlignedRun) else align(qrels, run, precision=precision)


def _ranks(aligned, k, queries, unjudged):
    """Label and place of every retrieved document of the topics."""
    rows = np.isfinite(aligned.y_score)
    topics = aligned.groups
    if queries is not None:
        queries = [str(query) for query in as_list(queries, "queries", "topics")]
        known = set(aligned.index.query_ids) | set(aligned.missing_topics)
        if unknown := [query for query in queries if query not in known]:
            raise InputError(f"queries: topic {brief(unknown[0])} is not in the judgments.")
        rows &= np.isin(topics, np.array(queries, dtype=object))
    if unjudged == "drop":
        rows &= ~np.isnan(aligned.y_true)
    index = pd.MultiIndex.from_arrays([topics[rows], aligned.docnos[rows]], names=["qid", "docno"])
    table = pd.DataFrame({"label": aligned.y_true[rows]}, index)
    # The rows of a topic stand in the order of the run already.
    table["rank"] = table.groupby(level="qid", sort=False).cumcount().to_numpy() + 1.0
    return table


def _discount(ranks, k):
    """DCG's weight of each place; 0 behind k and for documents that are not retrieved."""
    ranks = ranks.to_numpy()
    weights = 1 / np.log2(1 + ranks)
    return np.where(ranks <= (np.inf if k is None else k), weights, 0.0)


def _places_of_topics(topics, queries):
    """A number for each row that puts topics into order."""
    order = sorted(set(topics)) if queries is None else [str(query) for query in queries]
    places = {topic: place for place, topic in reversed(list(enumerate(order)))}
    return np.array([places[topic] for topic in topics], dtype=np.int64)

"""Pairs of runs in a report: the topics behind a difference, and the documents that moved."""

import textwrap
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.cli._compare import in_order
from skfilterrank.cli._documents import read_documents, read_topics
from skfilterrank.cli._rank_changes import rank_changes
from skfilterrank.cli._report_page import draw
from skfilterrank.comparison import SystemScores
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.plot import QueryDifferenceDisplay

# Pairs in full, or systems whose pairs are.
_N_PAIRS = 10, 5
_N_TOPICS_WITH_DOCUMENTS = 6
_LONGEST = 240  # characters of a document's text


class Texts:
    """Texts of topics and documents, by their ids; those of files that a page names."""

    def __init__(self, page):
        self.topics = None if page.topics is None else read_topics(page.topics)
        self.documents = None if page.docs is None else read_documents(page.docs, text=page.text)

    def of_topic(self, topic) -> list[str]:
        """Return what is said of a topic."""
        if self.topics is None or str(topic) not in self.topics.index:
            return []
        return [text.strip() for text in self.topics.loc[str(topic)] if text.strip()]

    def of_document(self, docno) -> str:
        """Return the begin of a document's text."""
        text = self.documents.get(str(docno), "")
        return textwrap.shorten(text, _LONGEST, placeholder=" …")


def first_pairs(pairs, systems, is_first, n_pairs, n_systems) -> dict[str, Any]:
    """Return the first pairs, or those of the best systems, where there are too many; and which."""
    shown, which = pairs, ""
    if len(pairs) > n_pairs and is_first:
        shown, which = pairs.head(n_pairs), "the first"
    elif len(pairs) > n_pairs:
        best = systems[:n_systems]
        shown = pairs[pairs["first"].isin(best) & pairs["second"].isin(best)]
        which = f"those of the {len(best)} best runs"
    return {"pairs": shown, "n_pairs": len(pairs), "which": which}


def _drill_down(pairs, systems, is_first, to_open, parts_of) -> dict[str, Any]:
    """Return the pairs to open, or some of the first, with `parts_of(pair)`."""
    found = first_pairs(pairs, systems, is_first, *_N_PAIRS)
    for name in (name for pair in to_open or () for name in pair):
        if name not in systems:
            raise InputError(f"--open {brief(name)} is none of the runs: {brief_list(systems)}.")
    if to_open is not None:
        wanted = {frozenset(pair) for pair in to_open}
        is_open = [{*pair} in wanted for pair in zip(pairs["first"], pairs["second"])]
        found |= {"pairs": pairs[is_open], "which": ""}
    parts = (
        {"pair": pair, "display": None} | parts_of(pair) for pair in found["pairs"].itertuples()
    )
    return found | {"pairs": list(parts)}


def of_values(name, comparison, lists, pairs, to_open) -> dict[str, Any]:
    """Return pairs that were compared by values of topics; `lists` has the documents, or None."""
    scores = comparison.scores
    ordered = scores.select(queries=in_order(scores.queries))
    frame = comparison.to_frame()
    alike = frame.loc[frame["n_tied"] == scores.n_queries, ["first", "second"]]
    alike = {frozenset(pair) for pair in alike.itertuples(index=False)}

    # Each run is joined with the judgments once.
    @lru_cache(maxsize=10)
    def aligned(run):
        return lists.qrels.align(lists.runs[run], precision=lists.params["precision"])

    def parts_of(pair):
        if {pair.first, pair.second} in alike:
            return {}
        parts = _by_topic(ordered, pair)
        if lists is not None:
            weights = parts["topics"]["difference"]
            topics = list(weights.index[weights != 0][:_N_TOPICS_WITH_DOCUMENTS])
            places = rank_changes(
                None,
                *(aligned(pair.first), aligned(pair.second)),
                k=lists.k[name],
                queries=topics,
                unmoved=True,
                **{option: lists.params[option] for option in ("gains", "unjudged")},
            )
            by_topic = dict(list(places.groupby(level="qid", sort=False)))
            parts["documents"] = {
                topic: _moved(by_topic.get(str(topic)), lists.k[name]) for topic in topics
            }
        return parts

    is_first = comparison.baseline is not None
    return _drill_down(pairs, scores.means.index, is_first, to_open, parts_of)


def _by_topic(scores, pair) -> dict[str, Any]:
    """Return a picture and a table of two runs' values, the topics that decide first."""
    drawn = draw(lambda: QueryDifferenceDisplay.from_scores(scores, pair.first, pair.second))
    display = drawn.display
    deciding, sizes = display.deciding.index, display.differences.abs()
    rest = sizes.sort_values(ascending=False, kind="stable").index.difference(deciding, sort=False)
    differences = display.differences[[*deciding, *rest]]
    topics = _topics(scores, pair, differences).assign(decides=differences.index.isin(deciding))
    return {"display": display, "figure": drawn, "topics": topics}


def _topics(scores, pair, differences) -> pd.DataFrame:
    """Return values of two runs on topics, their difference, and the width of its bar."""
    values = scores.select(
        systems=[pair.first, pair.second], queries=list(differences.index)
    ).values
    columns = {"first": values[0], "second": values[1], "difference": differences}
    widths = 50 * differences.abs() / (differences.abs().max() or 1.0)
    return pd.DataFrame(columns, differences.index).assign(width=widths)


def _moved(places, k):
    """Return documents of a topic that moved, forbidden ones, and how many each run shows."""
    if places is None:
        return None
    ranks = {"first_rank": float, "second_rank": float}
    places = places.droplevel("qid").astype(ranks)
    first, second = places["first_rank"], places["second_rank"]
    forbidden = places[places["gain"] < 0]
    return {
        "moved": places[(first != second) & (first.notna() | second.notna())],
        "forbidden": forbidden.sort_values(["gain", *ranks]),
        "shown": [int((forbidden[rank] <= (k or np.inf)).sum()) for rank in ranks],
    }


def of_estimates(name, sampled, runs, pairs, to_open, has_baseline) -> dict[str, Any]:
    """Return pairs whose values were estimated, with what the sample says of their topics."""
    estimates, result = sampled.estimates, sampled.estimates.results[name]
    labels = sampled.sample.to_frame().dropna(subset="label")
    judged = set(labels.index.get_level_values("qid"))
    is_whole = estimates.unit == "query"
    topics = [topic for topic in estimates.queries if topic in judged or not is_whole]
    scores = SystemScores(
        result.by_query,
        systems=estimates.runs,
        queries=topics,
        measure=name,
        greater_is_better=result.greater_is_better,
    )
    scores = scores.select(queries=in_order(topics))
    k = parse_measure(name).k

    def parts_of(pair):
        moved = _moved_in_pool(sampled, labels, pair, k)
        n_judged = moved["label"].groupby(level="qid").count()
        if is_whole:
            # Every document of these topics is judged: they may decide.
            parts = _by_topic(scores, pair)
        else:
            ours, theirs = scores.select(systems=[pair.first, pair.second]).oriented
            differences = pd.Series(ours - theirs, scores.queries)
            order = np.argsort(-differences.abs(), kind="stable")
            table = _topics(scores, pair, differences.iloc[order])
            counts = {"n_judged": n_judged, "n_moved": moved.groupby(level="qid").size()}
            parts = {"topics": table.join(pd.DataFrame(counts)).fillna(0)}
        shown = [topic for topic in parts["topics"].index if n_judged.get(topic, 0)]
        parts["n_with_documents"] = len(shown)
        shown = shown[:_N_TOPICS_WITH_DOCUMENTS]
        return parts | {"documents": {topic: moved.loc[topic] for topic in shown}}

    found = _drill_down(pairs, runs.index, has_baseline, to_open, parts_of)
    labels_of = [f"label of {judge}" for judge in sampled.pool.machine]
    return found | {"k": k, "columns": labels_of + ["stands for"] * (not is_whole)}


def _moved_in_pool(sampled, judged, pair, k) -> pd.DataFrame:
    """Return documents of the pool that moved among the first k places, the largest effect first.

    Those that people did not judge have no label, and gain 0.
    """
    pool = sampled.pool
    ranks = np.full((2, len(pool)), np.nan)
    for side, run in zip(ranks, (pair.first, pair.second)):
        is_own = pool.run == pool.runs.index(run)
        side[pool.row[is_own]] = pool.place[is_own]
    rows = np.flatnonzero((np.fmin(*ranks) <= (k or np.inf)) & (ranks[0] != ranks[1]))
    ranks = ranks[:, rows]
    frame = judged[["label"]].reindex(pool.index[rows])
    known = frame["label"].notna()
    gains = np.zeros(len(frame))
    gains[known] = as_gains(frame["label"][known].to_numpy(), sampled.gains)
    first, second = np.where(ranks <= (k or np.inf), 1 / np.log2(1 + ranks), 0.0)
    columns = {f"label of {name}": labels[rows] for name, labels in pool.machine.items()}
    columns["stands for"] = 1 / judged["inclusion_probability"].reindex(frame.index)
    columns |= {"gain": gains, "first_rank": ranks[0], "second_rank": ranks[1]}
    frame = frame.assign(**columns, effect=gains * (first - second))
    return frame.iloc[np.argsort(-frame["effect"].abs(), kind="stable")]

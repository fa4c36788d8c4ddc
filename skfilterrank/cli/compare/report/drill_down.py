"""Pairs of runs, the topics that decide between them, and the documents that moved there."""

import textwrap
from functools import lru_cache
from typing import NamedTuple

import pandas as pd
from skfilterrank.cli.compare.output import in_order, number, p_value

from skfilterrank._core.results import counted
from skfilterrank.cli._documents import read_documents, read_topics
from skfilterrank.cli.compare.report.elements import (
    Html,
    element,
    isolated,
    join,
    number_cell,
    table,
)
from skfilterrank.comparison import moved_documents

_N_PAIRS = 10
_N_SYSTEMS = 5
_N_TOPICS = 60
_N_TOPICS_WITH_DOCUMENTS = 6
_N_DOCUMENTS = 12
_LONGEST = 240  # characters of a document's text


class Texts(NamedTuple):
    """Texts of topics and of documents, by their ids."""

    topics: pd.DataFrame | None
    documents: pd.Series | None

    @classmethod
    def read(cls, arguments) -> "Texts":
        """Those that are named."""
        return cls(
            None if arguments.topics is None else read_topics(arguments.topics),
            None if arguments.docs is None else read_documents(arguments.docs, text=arguments.text),
        )

    def of_topic(self, topic):
        """Paragraphs."""
        if self.topics is None or str(topic) not in self.topics.index:
            return []
        texts = (text.strip() for text in self.topics.loc[str(topic)])
        return [element("p", isolated(text)) for text in texts if text]

    def of_document(self, docno) -> str:
        """The beginning."""
        text = "" if self.documents is None else self.documents.get(str(docno), "")
        return textwrap.shorten(text, _LONGEST, placeholder=" …")


def drill_down(key, name, comparison, lists, alpha, figures, *, texts, opened):
    """What lies behind the differences of a few pairs, and what of any two."""
    every = comparison.pairs(alpha)
    pairs = every
    if opened is not None:
        in_full = [{*pair} in opened for pair in zip(every["first"], every["second"])]
        pairs = every[in_full]
    elif len(every) > _N_PAIRS:
        best = list(comparison.scores.means.index[:_N_SYSTEMS])
        if comparison.baseline is None:
            pairs = every[every["first"].isin(best) & every["second"].isin(best)]
            which = f"those of the {_N_SYSTEMS} best runs"
        else:
            pairs = every.head(_N_PAIRS)
            which = "the first ones"
        yield element(
            "p",
            f"Here are {len(pairs)} of {len(every):,} pairs, {which}. --open shows others in full.",
            class_="note",
        )
    if len(pairs) < len(every):
        note = "With scripts, any two can be chosen here, and are compared topic by topic."
        yield element("div", element("p", note, class_="note"), class_="any", data_measure=name)
    scores = comparison.scores
    scores = scores.select(queries=in_order(scores.queries))
    frame = comparison.to_frame()
    alike = frame.loc[frame["n_tied"] == scores.n_queries, ["first", "second"]]
    alike = {frozenset(pair) for pair in alike.itertuples(index=False)}
    documents = None if lists is None else _Documents(name, lists, texts)
    if documents is None:
        yield element(
            "p",
            "The values were read from a file, so that the documents behind them are not known "
            "here: give judgments and runs to see which of them moved.",
            class_="note",
        )
    parts = []
    for place, pair in enumerate(pairs.itertuples(), 1):
        content = (
            [element("p", f"The two have the same value on each of {scores.n_queries:,} topics.")]
            if {pair.first, pair.second} in alike
            else _pair(name, comparison, scores, pair, documents, figures)
        )
        head = element("h4", f"{isolated(pair.first)} against {isolated(pair.second)}")
        parts.append(element("section", head, *content, class_="pair", id=f"{key}-p{place}"))
    yield element("div", *parts, class_="pairs")


class _Documents:
    """Documents of pairs of runs, each run joined with the judgments once."""

    def __init__(self, name, lists, texts):
        self.texts = texts
        self.k, self.has_forbidden = lists.k[name], lists.has_forbidden
        self._lists = lists
        self._aligned = lru_cache(maxsize=2 * _N_SYSTEMS)(self._align)

    def of(self, first, second, topics):
        """Documents of the first k places of two runs."""
        params = {name: self._lists.params[name] for name in ("gains", "unjudged")}
        return moved_documents(
            None,
            self._aligned(first),
            self._aligned(second),
            k=self.k,
            queries=topics,
            unmoved=True,
            **params,
        )

    def _align(self, run):
        lists = self._lists
        return lists.qrels.align(lists.runs[run], precision=lists.params["precision"])


def _pair(name, comparison, scores, pair, documents, figures):
    """One pair: the picture, the table of topics, and the documents of those that decide."""
    from skfilterrank.plot import QueryDifferenceDisplay

    displays = []

    def draw():
        displays.append(QueryDifferenceDisplay.from_scores(scores, pair.first, pair.second))
        return displays[0]

    figure = figures.draw(
        draw,
        f"Difference of {isolated(pair.first)} and {isolated(pair.second)} in "
        f"{isolated(name)} on each topic, sorted.",
    )
    (display,) = displays
    largest = display.differences.abs().sort_values(ascending=False, kind="stable")
    ordered = [
        *display.deciding.index,
        *largest.index.difference(display.deciding.index, sort=False),
    ]
    yield element("p", f"{_outcome(comparison, pair)} {_who_is_ahead(display)}")
    yield figure
    yield _topics(name, scores, pair, display, ordered)
    if documents is not None:
        yield _documents(pair, display, ordered, documents)


def _outcome(comparison, pair):
    """What the test says, and where that is the opposite, what the means say."""
    is_better = "is significantly better" if pair.significant else "is not significantly better"
    said = f"{isolated(pair.first)} {is_better} than {isolated(pair.second)}: "
    if comparison.interval_of != "mean difference":
        said += f"{comparison.effect_name} {number(pair.effect_size, 2, '+')}, "
    said += (
        f"difference of the means {number(pair.difference, 4, '+')}, p {p_value(pair.p_adjusted)}."
    )
    sign = 1 if comparison.scores.greater_is_better else -1
    if sign * pair.difference < 0:
        said += " The means say the opposite."
    return said


def _who_is_ahead(display):
    """Which run is ahead over all topics, and how many of them that hangs on."""
    n_deciding, n_topics = len(display.deciding), len(display.differences)
    if display.is_preference:
        if display.leader is None:
            return "Each is ahead on as many topics as the other."
        return f"{isolated(display.leader)} is ahead on {n_deciding} of {n_topics} topics."
    if display.leader is None:
        return "Over all topics the two are equal."
    return (
        f"By the means {isolated(display.leader)} is ahead, and would not be without {n_deciding} "
        f"of the {n_topics} topics, marked in the table."
    )


def _topics(name, scores, pair, display, ordered) -> Html:
    """Values of both runs on each topic."""
    values = scores.select(systems=[pair.first, pair.second]).to_frame()
    greatest = float(display.differences.abs().max()) or 1.0
    rows = []
    for topic in ordered[:_N_TOPICS]:
        difference = float(display.differences[topic])
        side = "first" if difference > 0 else "second"
        width = 50 * abs(difference) / greatest
        bar = element("i", class_=side, style=f"width:{width:.1f}%")
        ours, theirs = values.loc[pair.first, topic], values.loc[pair.second, topic]
        rows.append(
            [
                str(topic),
                number_cell(ours, number(ours, 4)),
                number_cell(theirs, number(theirs, 4)),
                number_cell(difference, _advantage(difference, display)),
                element("span", bar, class_="bar", aria_hidden="true"),
                "decides" if topic in display.deciding.index else "",
            ]
        )
    key = element(
        "p",
        element("span", class_="key first"),
        f"{isolated(pair.first)} better  ",
        element("span", class_="key second"),
        f"{isolated(pair.second)} better",
        class_="note",
    )
    advantage = "preference" if display.is_preference else "advantage"
    head = ["topic", pair.first, pair.second, advantage, "", "decides"]
    parts = [table(f"{isolated(name)} on each topic, those that decide first", head, rows), key]
    if len(ordered) > len(rows):
        parts.append(
            element(
                "p",
                f"{len(ordered) - len(rows):,} topics with smaller differences are left out.",
                class_="note",
            )
        )
    return join(*parts)


def _documents(pair, display, ordered, documents) -> Html:
    """Documents of the topics with the largest differences."""
    topics = [topic for topic in ordered if display.differences[topic] != 0]
    topics = topics[:_N_TOPICS_WITH_DOCUMENTS]
    places = documents.of(pair.first, pair.second, topics)
    by_topic = dict(list(places.groupby(level="qid", sort=False)))
    parts = [
        _documents_of_topic(topic, by_topic.get(str(topic)), pair, display, documents)
        for topic in topics
    ]
    where = f"the first {documents.k} places" if documents.k else "the lists"
    more = len(display.differences) - len(topics)
    note = f"Documents of {where}, for the {len(topics)} topics that weigh most"
    note += f"; {more:,} left out." if more else "."
    return join(element("p", note, class_="note"), *parts)


def _documents_of_topic(topic, places, pair, display, documents) -> Html:
    """Which documents moved on one topic, and which forbidden ones were shown."""
    title = (
        f"Topic {isolated(topic)}: {_advantage(display.differences[topic], display, in_words=True)}"
    )
    said = documents.texts.of_topic(topic)
    if places is None:
        nothing = element("p", "Both lists are empty.")
        return element("details", element("summary", title), *said, nothing)
    places = places.droplevel("qid")
    forbidden = places[places["gain"] < 0]
    moved = places[_moved(places)]
    judged = moved[moved["gain"] != 0]
    title += f", {counted(len(judged), 'document')} with a gain moved"
    if documents.has_forbidden:
        first, second = (
            int((forbidden[rank] <= (documents.k or float("inf"))).sum())
            for rank in ("first_rank", "second_rank")
        )
        title += f", forbidden shown: {first} and {second}"
    parts = [element("summary", title), *said]
    texts = documents.texts
    if len(moved):
        caption = "Documents that moved, the largest effect first"
        parts.append(_list_of(caption, moved, pair, texts))
    else:
        parts.append(element("p", "No document moved."))
    if documents.has_forbidden:
        if len(forbidden):
            forbidden = forbidden.sort_values(["gain", "first_rank", "second_rank"])
            parts.append(_list_of("Forbidden documents that were shown", forbidden, pair, texts))
        else:
            parts.append(element("p", "Neither run shows a forbidden document."))
    return element("details", *parts)


def _advantage(difference, display, *, in_words=False):
    """By how much the first run is better on a topic; of preferences only which one is."""
    if not display.is_preference:
        return number(difference, 4, "+" if difference else "")
    if in_words:
        return f"{isolated(display.first if difference > 0 else display.second)} is preferred"
    return f"{difference:+.0f}" if difference else "0"


def _moved(places):
    """Documents whose places differ, or that only one of the runs has."""
    first, second = places["first_rank"], places["second_rank"]
    return (first != second).fillna(True).astype(bool) & ~(first.isna() & second.isna())


def _list_of(caption, places, pair, texts) -> Html:
    """Documents with their places in both runs."""
    rows = [
        [
            row.Index,
            number_cell(row.label, "not judged" if row.label != row.label else f"{row.label:g}"),
            number_cell(row.gain, f"{row.gain:g}"),
            _place(row.first_rank),
            _place(row.second_rank),
            number_cell(row.effect, number(row.effect, 3, "+") if row.effect else "0"),
        ]
        for row in places.head(_N_DOCUMENTS).itertuples()
    ]
    head = [
        "document",
        "label",
        "gain",
        f"place in {isolated(pair.first)}",
        f"place in {isolated(pair.second)}",
        "effect on DCG",
    ]
    if texts.documents is not None:
        head.append("text")
        shown = places.index[:_N_DOCUMENTS]
        rows = [[*row, texts.of_document(docno)] for row, docno in zip(rows, shown)]
    parts = [table(caption, head, rows)]
    if len(places) > len(rows):
        parts.append(
            element("p", f"{len(places) - len(rows):,} more documents are left out.", class_="note")
        )
    return join(*parts)


def _place(rank):
    """A place, or that there is none."""
    if pd.isna(rank):
        return number_cell(float("nan"), "–")
    return number_cell(int(rank), str(int(rank)))

"""Rows of a vector in the forms that tools take."""

import math


class NoSuchThing(Exception):
    """The tool has no such measure, option, or way to say it."""


def number(score):
    return float(str(score).replace("Infinity", "inf"))


def label_of(row):
    return math.nan if row["label"] is None else row["label"]


def columns(rows):
    """Labels, scores and query numbers; a document that is not in the list has no score to give."""
    if any(row["score"] is None for row in rows):
        raise NoSuchThing("every row has a score")
    names = sorted({row["query"] for row in rows})
    return (
        [label_of(row) for row in rows],
        [number(row["score"]) for row in rows],
        [names.index(row["query"]) for row in rows],
    )


def by_query(rows):
    """Labels and scores of each query, in the order of their ids."""
    labels, scores, queries = columns(rows)
    together = {}
    for label, score, query in zip(labels, scores, queries):
        pair = together.setdefault(query, ([], []))
        pair[0].append(label)
        pair[1].append(score)
    return [together[query] for query in sorted(together)]


def qrels_of(rows, unjudged=None):
    """Judgments by query and document."""
    qrels = {}
    for row in rows:
        label = unjudged if row["label"] is None else row["label"]
        if label is not None:
            qrels.setdefault(row["query"], {})[row["document"]] = label
    return qrels


def run_of(rows, asked):
    """Scores by query and document, and empty lists where the vector has them."""
    run = {query: {} for query in asked.get("present", ())}
    for row in rows:
        if row["score"] is not None:
            run.setdefault(row["query"], {})[row["document"]] = number(row["score"])
    return run


def only(asked, *known):
    """What is asked for beside `known` is nothing that the tool can be told."""
    for name, value in asked.items():
        if name not in known and value is not None:
            raise NoSuchThing(f"no option for {name}")


def mean(values):
    values = list(values)
    return math.fsum(values) / len(values)

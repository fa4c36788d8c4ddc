"""Documents, topics and runs to judge."""

import re

from skfilterrank.io import read_qrels

DOCS = {
    "d1": "The cat sat on the mat.",
    "d2": "Cats and dogs; a dog barks.",
    "d3": "Nothing of the kind.",
    "d4": "",
    "d5": "A long tale. " * 300,
}
RUNS = {"a": ["d1", "d2", "d3", "d4"], "b": ["d5", "d2", "d6"]}


BASE = ["judge", "--docs", "docs.jsonl", "--topics", "topics.csv", "--out", "qrels.txt"]
WITH_RUNS = [BASE[0], "a.run", "b.run", *BASE[1:]]


def changed(base, arguments):
    """Words of a command in which options of other words take the place of its own."""
    groups = []
    for word in base:
        if word.startswith("--") or not groups:
            groups.append([])
        groups[-1].append(word)
    kept = [group for group in groups if group[0] not in arguments]
    return [*(word for group in kept for word in group), *arguments]


def judged(path="qrels.txt"):
    return [tuple(row) for row in read_qrels(path).itertuples(index=False)]


def shown(text):
    """Documents in the order in which they were shown."""
    return re.findall(r"\[(d\d)\]", text)

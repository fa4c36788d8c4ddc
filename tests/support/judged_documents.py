"""Documents and runs to judge, and tables that people filled in."""

import pandas as pd

DOCS = {
    "d1": "The cat sat on the mat.",
    "d2": "Cats and dogs; a dog barks.",
    "d3": "Nothing of the kind.",
    "d4": "",
    "d5": "A long tale. " * 300,
}
RUNS = {"a": ["d1", "d2", "d3", "d4"], "b": ["d5", "d2", "d6"]}


def changed(base, arguments):
    """Words of a command in which options of other words take the place of its own."""
    groups = []
    for word in base:
        if word.startswith("--") or not groups:
            groups.append([])
        groups[-1].append(word)
    kept = [group for group in groups if group[0] not in arguments]
    return [*(word for group in kept for word in group), *arguments]


def table_of(path):
    """The cells of a CSV as texts."""
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def fill(path, labels, to="judged.csv", **how):
    """Write a table as a spreadsheet does, with labels by document, none where there are none."""
    table = table_of(path)
    pairs = list(zip(table["qid"], table["docno"]))
    table["label"] = [labels.get(pair, labels.get(pair[1], "")) for pair in pairs]
    table.to_csv(to, index=False, **how)

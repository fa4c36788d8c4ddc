"""Rows whose nDCG differs between tools, as they are pasted into docs/ndcg_differences.md."""

import io

import pandas as pd

# Query, document, label and score of each row.
TEXTS = {
    "grades": "1 a 1 3;1 b 0 2;1 c 3 1;2 d 0 2;2 e 1 1",
    "ties": "1 d4 0 1;1 d10 3 1;1 d2 1 1;1 d3 0 1;2 d1 1 .5;2 d2 0 .5;2 d3 2 .1",
    "nothing relevant": "1 a 1 3;1 b 0 2;1 c 2 1;2 d 0 2;2 e 0 1",
    "one document": "1 a 1 3;1 b 2 2;2 c 1 0;3 c 0 1",
    "negative labels": "1 a -1 3;1 b 2 2;1 c 1 1;1 d -2 1;2 d 1 2;2 e 0 1;3 a -1 2;3 b 0 1",
    "own document": "1 1 0 3;1 b 2 2;1 c 1 1;2 2 1 2;2 e 2 1;2 f 0 0;3 3 1 0",
    "close scores": "1 a 0 1.000000001;1 b 1 1;1 c 2 .999999999;2 d 1 .5;2 e 0 .500000001",
    "hidden": "1 a 1 3;1 b 2 -inf;1 c 1 1;1 d 0 -inf;2 e 1 -inf;2 f 1 -inf",
    "unjudged": "1 a 1 3;1 b nan 2;1 c 2 1;2 d nan 2;2 e nan 1",
    "fractions": "1 a .5 3;1 b 1.5 2;1 c 2.7 1;2 d .9 2;2 e 1 1",
    "large labels": "1 a 1 3;1 b 31 2;1 c 0 1",
    "larger labels": "1 a 1 3;1 b 32 2;1 c 0 1",
    "long": ";".join(f"1 d{i} {(i + 1) % 4} {40 - i // 2}" for i in range(40)),
}


def rows_of(name):
    """A table of the rows, in their order."""
    return pd.read_csv(
        io.StringIO(TEXTS[name].replace(";", "\n")),
        sep=" ",
        names=["qid", "docno", "label", "score"],
        dtype={"qid": str, "docno": str, "label": float, "score": float},
    )

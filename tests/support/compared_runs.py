"""Judgments and runs that are compared, and their comparison by the library."""

import io

import pandas as pd

from skfilterrank.comparison import compare_systems, score_systems

# Topic by topic, by reciprocal rank: good 1 1 1 1, fair 1 1 1/2 1/2, poor 1/3 1/2 1/2 1/3.
QRELS = "1 0 a 2\n1 0 b 0\n2 0 a 1\n3 0 a 1\n4 0 a 1\n4 0 c 1\n"
RUNS = {
    "good.txt": "1 Q0 a 1 9 x\n2 Q0 a 1 9 x\n3 Q0 a 1 9 x\n4 Q0 a 1 9 x\n",
    "fair": "1 Q0 a 1 9 x\n2 Q0 a 1 9 x\n3 Q0 z 1 9 x\n3 Q0 a 2 8 x\n4 Q0 z 1 9 x\n4 Q0 a 2 8 x\n",
    "poor": "1 Q0 y 1 9 x\n1 Q0 z 2 8 x\n1 Q0 a 3 7 x\n2 Q0 z 1 9 x\n2 Q0 a 2 8 x\n"
    "3 Q0 z 1 9 x\n3 Q0 a 2 8 x\n4 Q0 z 1 9 x\n4 Q0 y 2 8 x\n4 Q0 a 3 7 x\n",
}
NAMED = {"good": "good.txt", "fair": "fair", "poor": "poor"}


def library(measure="rr", runs=NAMED, **params):
    """What the library says."""
    scores = score_systems("qrels", runs, measure, n_items=1_000_000)[measure]
    return compare_systems(scores, **{"random_state": 0} | params)


def from_csv(text):
    return pd.read_csv(io.StringIO(text), dtype={"first": str, "second": str})

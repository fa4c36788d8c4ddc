"""Judgments and runs that are evaluated, and their values by the library."""

import io

import pandas as pd

from skfilterrank.metrics import evaluate_runs

# Topic 3 is in no run; topic 9 of the run good is not judged.
QRELS = """\
1 0 a 2
1 0 b 0
1 0 d 1
2 0 a 1
2 0 e 0
3 0 f 1
"""
GOOD = """\
1 Q0 a 1 0.9 tag
1 Q0 b 2 0.9 tag
1 Q0 x 3 0.5 tag
2 Q0 e 1 7 tag
2 Q0 a 2 6 tag
9 Q0 a 1 1 tag
"""
BEST = "1 Q0 a 1 9 best\n1 Q0 d 2 8 best\n2 Q0 a 1 1 best\n"
MEASURES = ["ndcg_f@2", "ap", "empty_list_rate"]

RUNS = ["good.txt", "best.gz", "short.run"]
NAMES = ["good", "best", "short.run"]


def values(measures=MEASURES, runs=RUNS, **params):
    """What the library says."""
    named = dict(zip([NAMES[RUNS.index(name)] for name in runs], runs))
    return evaluate_runs("qrels.txt", named, measures, **params).per_query


def means(*args, **params):
    found = values(*args, **params)
    names = list(found.index.unique("run"))
    frames = {name: found.loc[name].mean() for name in names}
    return pd.DataFrame(frames).T.rename_axis("run")


def from_csv(text, index):
    return pd.read_csv(io.StringIO(text), dtype=str).set_index(index).astype(float)

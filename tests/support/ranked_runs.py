"""Three runs of three topics, and their judgments."""

import pandas as pd

from pooled_runs import run_of

QRELS = pd.DataFrame(
    {
        "qid": ["1", "1", "1", "2", "2", "3"],
        "docno": ["a", "b", "c", "a", "d", "e"],
        "label": [2, 1, -1, 1, 0, 0],
    }
)


def run(*lines):
    """A run of lines such as "1 a b c": a topic and its documents, the best first."""
    return run_of({qid: docnos for qid, *docnos in map(str.split, lines)})


RUNS = {
    "good": run("1 a b c", "2 a d", "3 e"),
    "bad": run("1 c x b a", "2 d a", "3 e"),
    "half": run("1 a c", "2 d", "3 x"),
}

Y_TRUE, GROUPS = [2, 1, -1, 0, 1, 0], list("aaabbb")
SYSTEMS = {"up": [3, 2, 1, 1, 3, 2], "down": [1, 2, 3, 3, 1, 2]}

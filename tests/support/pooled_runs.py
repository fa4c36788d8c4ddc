"""Runs of several topics for tests of what works on runs."""

import numpy as np
import pandas as pd


def run_of(topics):
    """A run from the documents of each topic, best first: {"1": "abc"}."""
    rows = [
        (qid, docno, -place) for qid, docnos in topics.items() for place, docno in enumerate(docnos)
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"])


def runs_of(**lists):
    """Runs of one topic, or of several, by their names."""
    return {
        name: run_of({"1": topics} if isinstance(topics, str) else topics)
        for name, topics in lists.items()
    }


def random_runs(seed, n_runs=7, n_queries=4, n_documents=30, most=20):
    """Runs that draw from the same documents, some of them empty for a topic; as lists too."""
    rng = np.random.default_rng(seed)
    lists = {}
    for run in range(n_runs):
        topics = {}
        for topic in range(n_queries):
            size = 0 if rng.random() < 0.1 and topic else int(rng.integers(1, most + 1))
            drawn = rng.permutation(n_documents)[:size]
            topics[f"q{topic}"] = [f"d{number:02d}" for number in drawn]
        lists[f"run{run}"] = topics
    return {name: run_of(topics) for name, topics in lists.items()}, lists


def few_runs(seed, n_runs=5, n_queries=3):
    """The same, of fewer runs and topics."""
    return random_runs(seed, n_runs, n_queries)

"""Whole runs against judgments of a shallow pool."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from skfilterrank.judgments._rank_table import rank_table
from skfilterrank.metrics import evaluate


def mean_values(runs, names, labels: pd.DataFrame, measures: dict) -> pd.DataFrame:
    """Mean of each measure over topics and over the columns of labels, a row for each run.

    Runs are taken to their last document, whatever the depth of the pool: documents outside it
    are unjudged.
    """
    topics = labels.index.unique("qid")
    judged_topics = topics.get_indexer(labels.index.get_level_values("qid"))
    rows = {}
    for name, ranks in _whole_runs(runs, names):
        values = _values(ranks, labels, topics, judged_topics, measures)
        rows[name] = np.mean([value.mean().to_numpy() for value in values], axis=0)
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(measures))


def _whole_runs(runs, names) -> Iterator[tuple]:
    """Name, and rank of each document, of one run after the other."""
    for name in names:
        if isinstance(runs, pd.DataFrame):
            yield name, runs[name].dropna()
        else:
            # By itself: a table of all documents of all runs would be mostly empty.
            yield name, rank_table({name: runs[name]})[name]


def _values(ranks, labels, topics, judged_topics, measures):
    """Values of one run for every topic of the pool, for each column of labels."""
    codes = topics.get_indexer(ranks.index.get_level_values("qid"))
    ranks, codes = ranks[codes >= 0], codes[codes >= 0]
    places = labels.index.get_indexer(ranks.index)
    absent = np.ones(len(labels), dtype=bool)
    absent[places[places >= 0]] = False
    codes = np.concatenate([codes, judged_topics[absent]])
    scores = -np.concatenate([ranks.to_numpy(), np.full(absent.sum(), np.inf)])
    # In the order of the lists already, measures have nothing left to sort.
    order = np.lexsort((-scores, codes))
    codes, scores = codes[order], scores[order]
    places = np.concatenate([places, np.flatnonzero(absent)])[order]
    for trial in labels:
        y_true = np.where(places >= 0, labels[trial].to_numpy()[places], np.nan)
        yield evaluate(y_true, scores, measures, groups=codes)

"""Judgments of every document of four topics, runs over them, and orders by few labels."""

import numpy as np
import pandas as pd

from pooled_runs import random_runs
from skfilterrank.comparison import score_systems
from skfilterrank.judgments import (
    FeedbackSelector,
    MaxRepSelector,
    MTCSelector,
    PoolingSelector,
    PriorSelector,
    StatAPSelector,
    rank_table,
)
from skfilterrank.metaevaluation import judging_curve

RUNS, _ = random_runs(3)
RNG = np.random.default_rng(0)
# Every document of every topic, but for a few that nobody ever judged.
QRELS = pd.DataFrame(
    [(f"q{topic}", f"d{number:02d}") for topic in range(4) for number in range(28)],
    columns=["qid", "docno"],
)
QRELS["label"] = RNG.choice([0.0, 1.0, 2.0], len(QRELS), p=[0.6, 0.3, 0.1])
WORDS = {0.0: "soup bread", 1.0: "wing flutter", 2.0: "wing speed"}
TEXTS = {
    docno: f"{WORDS[label]} {docno}"
    for docno, label in QRELS.drop_duplicates("docno")[["docno", "label"]].to_numpy()
}
INDEX = pd.MultiIndex.from_frame(QRELS[["qid", "docno"]])
RANKS = rank_table(RUNS, depth=10).reindex(INDEX)
TOPICS = QRELS["qid"].to_numpy()


def curve(**options):
    settings = {"missing": "empty", "depth": 10, "random_state": 0} | options
    return judging_curve(QRELS, RUNS, **settings)


def means_of(qrels, measure, **options):
    """Means of the runs by what another part of the library makes of judgments."""
    scores = score_systems(qrels, RUNS, measure, missing="empty", **options)[measure]
    return scores.means[list(RUNS)].to_numpy()


def fitted(name, seed=None):
    prior = StatAPSelector().fit(RANKS).prior_
    if name == "pooling":
        return PoolingSelector().fit(RANKS)
    texts = [TEXTS[docno] for docno in QRELS["docno"]]
    if name == "feedback":
        order = FeedbackSelector().fit(texts, QRELS["label"], groups=TOPICS, prior=prior).ranking_
        return PriorSelector().fit(texts, groups=TOPICS, prior=1 / order)
    if name == "maxrep":
        return MaxRepSelector().fit(texts, groups=TOPICS, prior=prior)
    return MTCSelector().fit(RANKS).simulate(QRELS["label"])

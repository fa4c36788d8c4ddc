"""Runs for the web tracks, made from the judgments by three models.

The participants' runs are not public. What the nDCG_f paper prints of them stands here too: their
number (Table 3), how many judged documents a topic they return (Table 4).
"""

import numpy as np
import pandas as pd

from skfilterrank.io import read_qrels, read_run

MODELS = ("noise", "real", "real + spam")
YEARS = (2010, 2011, 2012, 2013, 2014)
N_RUNS = {2010: 56, 2011: 62, 2012: 48, 2013: 61, 2014: 44}
# Judged documents that a run returns a topic: mean, standard deviation, smallest.
RETURNED = {
    2010: (220.5, 57.4, 26.1),
    2011: (171.6, 47.8, 39.5),
    2012: (125.9, 42.9, 41.6),
    2013: (121.3, 59.8, 23.0),
    2014: (141.0, 62.5, 44.5),
}
FILTERS = ("none", "spam", "share", "cut", "spam and share")


def read_year(folder, year):
    """Judgments of one year, rows of a topic together."""
    path = folder / "trec-web-qrels" / f"web{year}.qrels.txt.gz"
    qrels = read_qrels(path, unjudged_label=None)
    return qrels.sort_values("qid", kind="stable", ignore_index=True)


def place_in_topic(values, topic):
    """Share of the documents of the topic that have a greater value, from 0 to below 1."""
    ranks = pd.Series(values).groupby(topic).rank(ascending=False)
    return ((ranks - 1) / ranks.groupby(topic).transform("size")).to_numpy()


def spam_scores(label, rng, n_runs):
    """What spam filters say, one row each: 1.5 standard deviations more for forbidden documents.

    Half of the variance of the noise belongs to the document and is common to all filters.
    """
    common, own = rng.normal(size=len(label)), rng.normal(size=(n_runs, len(label)))
    return 1.5 * (label < 0) + np.sqrt(0.5) * (common + own)


def noise_runs(qrels, year, rng):
    """Noise on the grade, and five kinds of filter in turn."""
    n, label = N_RUNS[year], qrels["label"].to_numpy(dtype=float)
    topic = pd.factorize(qrels["qid"])[0]
    n_topics = topic.max() + 1
    quality = rng.uniform(0.1, 1.2, size=(n, 1))
    ease = rng.lognormal(sigma=0.5, size=n_topics)
    interaction = rng.lognormal(sigma=0.4, size=(n, n_topics))
    common, own = rng.normal(size=len(label)), rng.normal(size=(n, len(label)))
    useful = np.maximum(label, 0) ** 0.7
    scores = quality * (ease * interaction)[:, topic] * useful + np.sqrt(0.5) * (common + own)
    spam = spam_scores(label, rng, n)
    size = np.bincount(topic)[topic]
    runs = {}
    for i in range(n):
        kind = FILTERS[i % len(FILTERS)]
        keep = np.ones(len(label), dtype=bool)
        if "spam" in kind:
            keep &= place_in_topic(spam[i], topic) >= rng.uniform(0.02, 0.4)
        place = place_in_topic(np.where(keep, scores[i], -np.inf), topic)
        if "share" in kind:
            keep &= place < rng.uniform(0.2, 0.9)
        if kind == "cut":
            keep &= place * size < rng.integers(50, 400)
        runs[f"{kind} {i}"] = np.where(keep, scores[i], -np.inf)
    return runs


class Donor:
    """Where real runs place judged documents: rank, inf where not returned."""

    def __init__(self, folder):
        qrels = read_qrels(folder / "trec-covid-round1" / "qrels.txt.gz")
        self.topic, self.topics = pd.factorize(qrels["qid"])
        self.grade = qrels["label"].to_numpy()
        keys = pd.MultiIndex.from_frame(qrels[["qid", "docno"]])
        ranks = []
        for path in sorted((folder / "trec-covid-round1" / "runs").iterdir()):
            run = read_run(path)
            position = run.groupby("qid").cumcount() + 1.0
            position.index = pd.MultiIndex.from_frame(run[["qid", "docno"]])
            ranks.append(position.reindex(keys).fillna(np.inf).to_numpy())
        self.ranks = np.array(ranks)
        self.popularity = np.isfinite(self.ranks).mean(axis=0)


def donors(donor, qrels, rng, power):
    """A donor's row for each row: same grade, of the topic that stands in for the web topic."""
    topic = pd.factorize(qrels["qid"])[0]
    grade = np.clip(qrels["label"].to_numpy(), 0, 2)
    n = topic.max() + 1
    stand_in = np.concatenate(
        [rng.permutation(len(donor.topics)) for _ in range(-(-n // len(donor.topics)))]
    )[:n]
    rows = np.empty(len(grade), dtype=np.int64)
    for t in range(n):
        for g in np.unique(grade[topic == t]):
            here = (topic == t) & (grade == g)
            pool = np.flatnonzero((donor.topic == stand_in[t]) & (donor.grade == g))
            weight = (donor.popularity[pool] + 0.01) ** power
            rows[here] = rng.choice(pool, size=here.sum(), p=weight / weight.sum())
    return rows


def transplanted_runs(qrels, year, rng, donor, *, spam_filters=False):
    """Real runs of TREC-COVID round 1, moved to the web topics.

    Each web document has a donor, the same for all runs. Donors are drawn in proportion to a power
    of the share of runs that return them; the power makes runs return as many documents as Table 4
    says. With `spam_filters`, each second run drops what its spam filter likes least too, and the
    documents are counted before.
    """
    chosen = rng.choice(len(donor.ranks), size=N_RUNS[year], replace=False)
    label, topic = qrels["label"].to_numpy(), pd.factorize(qrels["qid"])[0]
    target = RETURNED[year][0] / np.bincount(topic).mean()
    seed, low, high = rng.integers(2**32), -2.0, 6.0
    for _ in range(12):
        power = (low + high) / 2
        rows = donors(donor, qrels, np.random.default_rng(seed), power)
        too_few = np.isfinite(donor.ranks[np.ix_(chosen, rows)]).mean() < target
        low, high = (power, high) if too_few else (low, power)
    # Documents of one donor stand next to each other, in an order of chance.
    scores = -(donor.ranks[np.ix_(chosen, rows)] + rng.uniform(size=(len(chosen), len(rows))))
    if spam_filters:
        spam = spam_scores(label, rng, len(chosen))
        for i in range(0, len(chosen), 2):
            drop = place_in_topic(spam[i], topic) < rng.uniform(0.02, 0.4)
            scores[i, drop] = -np.inf
    return {f"run {i}": row for i, row in zip(chosen, scores)}

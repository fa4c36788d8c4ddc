"""Collections whose pools are judged: runs, labels of all documents that they return, and texts."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from skfilterrank.io import read_qrels, read_runs
from skfilterrank.judgments import (
    MaxRepSelector,
    PoolingSelector,
    RandomSelector,
    StatAPSelector,
    rank_table,
    statap_prior,
)

# Judged documents of each run and query that count, and those of a made system.
DEPTH, DEPTH_OF_MADE = 100, 50
REAL = ("trec-dl2019-llm", "trec-covid-round1", "trec-robust2003")
MADE = ("cacm", "cranfield")
KEY = ["qid", "docno"]


@dataclass(frozen=True)
class Pool:
    """Runs, and the labels of all documents that they return."""

    name: str
    runs: dict
    ranks: pd.DataFrame
    labels: pd.Series
    texts: pd.Series | None
    topics: pd.Series | None
    machines: dict

    @classmethod
    def of(cls, name, runs, labels, texts=None, topics=None, machines=None):
        """Keep the documents of the runs that are labelled."""
        ranks = rank_table(runs)
        return cls(name, runs, ranks, labels.reindex(ranks.index), texts, topics, machines or {})

    @property
    def queries(self):
        """Query of each document."""
        return self.labels.index.get_level_values("qid").to_numpy()

    @property
    def documents(self):
        """Text of each document, or None."""
        if self.texts is None:
            return None
        docnos = self.labels.index.get_level_values("docno")
        return self.texts.reindex(docnos).fillna("").to_numpy()

    def part(self, seed, *, most_queries, most_runs):
        """Draw three quarters of the queries and, where there are many, runs; not too many."""
        rng = np.random.default_rng(seed)
        queries = rng.permutation(sorted(self.labels.index.unique("qid")))
        queries = set(queries[: min(most_queries, round(0.75 * len(queries)))])
        names = sorted(rng.permutation(sorted(self.runs))[:most_runs])
        runs = {name: run[run["qid"].isin(queries)] for name, run in self.runs.items()}
        return replace(
            self.of(self.name, {name: runs[name] for name in names}, self.labels),
            texts=self.texts,
            topics=self.topics,
            machines=self.machines,
        )

    def qrels(self, judged=None, *, unjudged_rows=False):
        """Judgments: all, those of a mask, or all with the others unjudged (NaN)."""
        table = self.labels.rename("label").reset_index()
        if judged is None:
            return table
        if unjudged_rows:
            return table.assign(label=table["label"].where(judged))
        return table[judged].reset_index(drop=True)

    def judged(self, how, share, seed) -> np.ndarray:
        """Mask of the documents that a selector chooses, a share of each query's."""
        mask = np.zeros(len(self.labels), dtype=bool)
        if " and " in how:
            # Half of the labels each; what the first chose, the second does not need.
            first, second = how.split(" and ")
            mask = self.judged(first, share / 2, seed)
            place = np.where(mask, -1, self.selector(second, seed).ranking_)
            order = pd.Series(place).groupby(self.queries).rank(method="first").to_numpy()
            sizes = pd.Series(place).groupby(self.queries).transform("size").to_numpy()
            return order <= np.maximum(1, np.floor(share * sizes + 0.5))
        mask[self.selector(how, seed).select(share=share)] = True
        return mask

    def selector(self, how, seed):
        """A fitted selector by name."""
        groups = self.queries
        if how == "pooling":
            return PoolingSelector().fit(self.ranks)
        if how == "statAP":
            return StatAPSelector(random_state=seed).fit(self.ranks)
        if how == "MAXREP":
            prior = statap_prior(self.ranks).to_numpy()
            return MaxRepSelector().fit(list(self.documents), groups=groups, prior=prior)
        return RandomSelector(random_state=seed).fit(self.ranks, groups=groups)


@cache
def read_pool(name, data) -> Pool:
    """Read a collection by name: real runs, or the made systems of `_cranfield_systems.py`."""
    return (_real if name in REAL else _made)(name, data / name)


def _real(name, folder):
    labels = _labels(folder / "qrels.txt.gz")
    runs = {}
    for system, run in read_runs(sorted(folder.glob("runs/*.gz"))).items():
        run = run.astype({"qid": str, "docno": str})[[*KEY, "score"]]
        run = run[pd.MultiIndex.from_frame(run[KEY]).isin(labels.index)]
        run = run.sort_values(["qid", "score", "docno"], ascending=[True, False, False])
        runs[system] = run[run.groupby("qid").cumcount() < DEPTH].reset_index(drop=True)
    if name != "trec-dl2019-llm":
        return Pool.of(name, runs, labels)
    texts = _lines(folder / "docs.jsonl.gz").set_index("docno")["text"]
    topics = _lines(folder / "topics.jsonl").set_index("qid")["query"]
    files = sorted(folder.glob("llm-qrels/*.gz"))
    machines = {file.name.removesuffix(".txt.gz"): _labels(file) for file in files}
    return Pool.of(name, runs, labels, texts, topics, machines)


def _made(name, folder):
    import _cranfield_systems as made

    documents = _lines(folder / "docs.jsonl.gz").rename(columns={"docid": "docno"}).fillna("")
    queries = _lines(folder / "queries.jsonl")
    relevant = _labels(folder / "qrels.txt")
    relevant = relevant[relevant > 0]
    if name == "cranfield":
        relevant = 5 - relevant  # the scale runs downward
    queries = queries[queries["qid"].isin(relevant.index.unique("qid"))].reset_index(drop=True)
    made.DEPTH = DEPTH_OF_MADE
    runs = made.runs_of(made.systems(documents, queries), queries, documents)
    labels = relevant.reindex(rank_table(runs).index).fillna(0.0)
    texts, topics = documents.set_index("docno")["text"], queries.set_index("qid")["text"]
    return Pool.of(name, runs, labels, texts, topics)


def _labels(path):
    table = read_qrels(path, unjudged_label=None).astype({"qid": str, "docno": str})
    return table.set_index(KEY)["label"].astype(float).sort_index()


def _lines(path):
    return pd.read_json(path, lines=True, dtype=False)

"""
Which documents should be judged first?
=======================================

Which documents to judge first, if only 20 of each topic can be: pool, MAXREP, move-to-front.

Runs, judgments and texts of the TREC 2019 deep learning track, in the folder ``trec-dl2019-llm`` of
`get_data_home()`: ``runs/*.gz``, ``qrels.txt.gz`` and ``docs.jsonl.gz``. TREC gives runs to
participants alone, so that there is nothing to fetch.
"""
# Data: trec-dl2019-llm

import gzip
import json

import pandas as pd

from skfilterrank.comparison import kendall_tau, score_systems
from skfilterrank.datasets import get_data_home
from skfilterrank.io import read_qrels, read_runs
from skfilterrank.judgments import (
    MaxRepSelector,
    MoveToFrontSelector,
    PoolingSelector,
    rank_table,
    statap_prior,
)

folder = get_data_home() / "trec-dl2019-llm"
qrels = read_qrels(folder / "qrels.txt.gz")
qrels = qrels[qrels["qid"].isin(sorted(qrels["qid"].unique())[:5])]
labels = qrels.set_index(["qid", "docno"])["label"]
runs = read_runs(sorted((folder / "runs").glob("*.gz"))[::4])
with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
    text_of = {document["docno"]: document["text"] for document in map(json.loads, lines)}

# The pool is what the runs return, as far as it was judged.
table = rank_table(runs)
prior = statap_prior(table)
is_judged = table.index.isin(labels.index)
pool, prior = table[is_judged], prior[is_judged]
texts = pd.Series(pool.index.get_level_values("docno").map(text_of), index=pool.index)

budget = 20
chosen = {
    "pooling": PoolingSelector().fit(pool).select(n_per_query=budget),
    "MAXREP": MaxRepSelector(threshold=0.5).fit(texts, prior=prior).select(n_per_query=budget),
}
front = MoveToFrontSelector().fit(pool)
for topic in pool.index.unique("qid"):
    for _ in range(budget):
        rows = front.next_rows(query=topic)
        front.update(rows, labels[pool.index[rows]].to_numpy())
chosen["move-to-front"] = front.select(n_per_query=budget)

truth = score_systems(qrels, runs, "ap")["ap"]
for name, rows in chosen.items():
    found = labels[pool.index[rows]].reset_index()
    estimate = score_systems(found, runs, "ap")["ap"]
    n_relevant = (found["label"] > 0).sum()
    print(f"{name}: {n_relevant} of {len(found)} relevant, tau {kendall_tau(truth, estimate):.3f}")

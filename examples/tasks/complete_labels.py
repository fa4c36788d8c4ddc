"""
Predict labels that nobody gave
===============================

Predict the labels of documents that nobody judged, and measure runs by all of them.

Runs, judgments and texts of the TREC 2019 deep learning track, in the folder ``trec-dl2019-llm`` of
`get_data_home()`: ``runs/*.gz``, ``qrels.txt.gz`` and ``docs.jsonl.gz``. TREC gives runs to
participants alone, so that there is nothing to fetch.
"""
# Data: trec-dl2019-llm

import gzip
import json

import numpy as np

from skfilterrank.comparison import kendall_tau, score_systems
from skfilterrank.datasets import get_data_home
from skfilterrank.io import read_qrels, read_runs, write_qrels
from skfilterrank.judgments import LabelPredictor, complete_qrels

folder = get_data_home() / "trec-dl2019-llm"
qrels = read_qrels(folder / "qrels.txt.gz")
qrels = qrels[qrels["qid"].isin(sorted(qrels["qid"].unique())[:10])]
qrels["label"] = (qrels["label"] >= 2).astype(float)
with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
    text_of = {document["docno"]: document["text"] for document in map(json.loads, lines)}
runs = read_runs(sorted((folder / "runs").glob("*.gz"))[::4])

# As if a third had been judged.
is_judged = np.random.default_rng(0).random(len(qrels)) < 1 / 3
judged = qrels.assign(label=qrels["label"].where(is_judged))
predictor = LabelPredictor(random_state=0)
completed = complete_qrels(judged, None, text_of, predictor=predictor, random_state=0)
print(completed.precision_text())
labels = completed.qrels.merge(qrels, on=["qid", "docno"], suffixes=("", "_truth"))
says_relevant = labels[(labels["judged_by"] == "predicted") & (labels["label"] == 1)]
print(f"{says_relevant['label_truth'].mean():.0%} are")
write_qrels("completed.txt", completed.qrels)

truth = score_systems(qrels, runs, "ap")["ap"]
for name, labels in {"judged": qrels[is_judged], "completed": "completed.txt"}.items():
    estimate = score_systems(labels, runs, "ap", predicted="use")["ap"]
    print(f"{name}: tau {kendall_tau(truth, estimate):.3f}")

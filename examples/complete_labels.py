"""Predict the labels of documents that nobody judged, and measure runs by all of them.

Give the folder of the data in the variable SKFILTERRANK_DATA.
"""

import gzip
import json
import os
from pathlib import Path

import numpy as np

from skfilterrank.comparison import kendall_tau, score_systems
from skfilterrank.io import read_qrels, read_runs, write_qrels
from skfilterrank.judgments import LabelPredictor

folder = Path(os.environ["SKFILTERRANK_DATA"]) / "trec-dl2019-llm"
qrels = read_qrels(folder / "qrels.txt.gz")
qrels = qrels[qrels["qid"].isin(sorted(qrels["qid"].unique())[:10])]
qrels["label"] = (qrels["label"] >= 2).astype(float)
with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
    text_of = {document["docno"]: document["text"] for document in map(json.loads, lines)}
runs = read_runs(sorted((folder / "runs").glob("*.gz"))[::4])

# As if a third had been judged.
is_judged = np.random.default_rng(0).random(len(qrels)) < 1 / 3
table = qrels.assign(text=qrels["docno"].map(text_of), label=qrels["label"].where(is_judged))
completed = LabelPredictor(random_state=0).fit_transform(table)
agreement = (completed["label"] == qrels["label"])[~is_judged].mean()
print(f"{agreement:.0%} of the predicted labels are right")
write_qrels("completed.txt", completed)

truth = score_systems(runs, qrels, "ap")["ap"]
for name, labels in {"judged": qrels[is_judged], "completed": "completed.txt"}.items():
    print(f"{name}: tau {kendall_tau(truth, score_systems(runs, labels, 'ap')['ap']):.3f}")

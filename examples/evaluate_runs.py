"""Measure TREC runs by several measures, topic by topic and in the mean.

Give the folder of the data in the variable SKFILTERRANK_DATA.
"""

import os
from pathlib import Path

from skfilterrank.trec import evaluate_runs

folder = Path(os.environ["SKFILTERRANK_DATA"]) / "trec-covid-round1"
runs = sorted((folder / "runs").glob("*.gz"))[:6]

measures = ["ap", "ndcg@10", "precision@5", "bpref", "rr", "recall@100"]
table = evaluate_runs(runs, folder / "qrels.txt.gz", measures)
print(table.groupby("run", sort=False).mean().round(3).to_string())
print(table.loc["BERT", "ndcg@10"].head().round(3).to_string())

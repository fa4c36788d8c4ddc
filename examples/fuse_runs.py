"""Fuse runs by ranks, by scores and by learned weights; measure on topics not learned from.

Give the folder of the data in the variable SKFILTERRANK_DATA.
"""

import os
from pathlib import Path

from skfilterrank.io import read_qrels, read_runs
from skfilterrank.ranking import fuse_learned, fuse_runs
from skfilterrank.trec import evaluate_runs

folder = Path(os.environ["SKFILTERRANK_DATA"]) / "trec-covid-round1"
qrels = read_qrels(folder / "qrels.txt.gz")
runs = read_runs(sorted((folder / "runs").glob("*.gz"))[:4])
learned_from = qrels["qid"].isin(sorted(qrels["qid"].unique())[::2])

fused = {
    "rrf": fuse_runs(runs, method="rrf", rrf_k=60),
    "combmnz": fuse_runs(runs, method="combmnz", normalize="minmax"),
    "learned": fuse_learned(runs, qrels[learned_from], fusion="logistic"),
}
table = evaluate_runs(runs | fused, qrels[~learned_from], ["ap", "ndcg@10", "precision@5"])
print(table.groupby("run", sort=False).mean().round(3).to_string())

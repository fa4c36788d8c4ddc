"""
Fuse runs
=========

Fuse runs by ranks, by scores and by learned weights; measure on topics not learned from.

Runs of TREC-COVID round 1, which `fetch_trec_covid` gets.
"""
# Data: trec-covid-round1

from skfilterrank.datasets import fetch_trec_covid
from skfilterrank.io import read_runs
from skfilterrank.metrics import evaluate_runs
from skfilterrank.ranking import fuse_runs

data = fetch_trec_covid(["BBGhelani1", "BERT", "BITEM_BL", "T5R1"])
qrels, runs = data.qrels, read_runs(data.runs)
learned_from = qrels["qid"].isin(sorted(qrels["qid"].unique())[::2])

fused = {
    "rrf": fuse_runs(runs, method="rrf", rrf_k=60),
    "combmnz": fuse_runs(runs, method="combmnz", normalize="minmax"),
    "learned": fuse_runs(runs, "logistic", qrels=qrels[learned_from]),
}
values = evaluate_runs(qrels[~learned_from], runs | fused, ["ap", "ndcg@10", "precision@5"])
print(values.means.round(3).to_string())

"""
Measure runs of TREC
====================

Measure TREC runs by several measures, topic by topic and in the mean.

Runs of TREC-COVID round 1, which `fetch_trec_covid` gets.
"""
# Data: trec-covid-round1

from skfilterrank.datasets import fetch_trec_covid
from skfilterrank.metrics import evaluate_runs

data = fetch_trec_covid(["BBGhelani1", "BERT", "BITEM_BL", "BM25R2", "PL2c1.0", "T5R1"])

measures = ["ap", "ndcg@10", "precision@5", "bpref", "rr", "recall@100"]
values = evaluate_runs(data.qrels, data.runs, measures)
print(values.means.round(3).to_string())
print(values.per_query.loc["BERT", "ndcg@10"].head().round(3).to_string())

"""
Which systems differ by more than chance?
=========================================

Which of some systems differ by more than chance: two of them, all, and all against one.

Runs of TREC-COVID round 1, which `fetch_trec_covid` gets.
"""
# Data: trec-covid-round1

from skfilterrank.comparison import compare_systems
from skfilterrank.datasets import fetch_trec_covid
from skfilterrank.metrics import evaluate_runs

data = fetch_trec_covid(["BBGhelani1", "BERT", "BITEM_BL", "BM25R2", "PL2c1.0", "T5R1"])
values = evaluate_runs(data.qrels, data.runs, ["ap", "ndcg@10"])

print(compare_systems(values.per_query.loc[["BBGhelani1", "BERT"], "ap"]))
print(compare_systems(values, measure="ap", test="randomization", random_state=0))
print(compare_systems(values, measure="ndcg@10", baseline="BITEM_BL", correction="bonferroni"))

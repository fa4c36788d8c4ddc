"""
How alike do two measures order systems?
========================================

How alike two measures order systems: Kendall's tau, tau_ap and rank-biased overlap.

Runs of TREC-COVID round 1, which `fetch_trec_covid` gets.
"""
# Data: trec-covid-round1

from skfilterrank.comparison import (
    kendall_tau,
    order_systems,
    rank_biased_overlap,
    score_systems,
    tau_ap,
)
from skfilterrank.datasets import fetch_trec_covid

data = fetch_trec_covid(["BBGhelani1", "BERT", "BITEM_BL", "BM25R2", "PL2c1.0", "T5R1"])
scores = score_systems(data.qrels, data.runs, ["ap", "precision@10"])
by_ap, by_precision = (order_systems(each, random_state=0) for each in scores.values())
print(by_ap)
print("best by precision@10:", *by_precision.systems[:3])

print("tau", round(kendall_tau(by_ap, by_precision), 3))
print("tau_ap", round(tau_ap(by_ap, by_precision), 3))
print(rank_biased_overlap(by_ap, by_precision, ties="average"))
# Orders by the means, rather than by who wins against whom on which topic.
print("tau of means", round(kendall_tau(scores["ap"], scores["precision@10"]), 3))

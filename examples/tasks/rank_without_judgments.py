"""
Order systems without any judgment
==================================

Order systems without any judgment, and see how near that comes to the judged order.

Runs of TREC-COVID round 1, which `fetch_trec_covid` gets.
"""
# Data: trec-covid-round1

from skfilterrank.comparison import kendall_tau, score_systems
from skfilterrank.datasets import fetch_trec_covid
from skfilterrank.judgments import pseudo_qrels, rank_systems

names = ["BBGhelani1", "BERT", "BITEM_BL", "BM25R2", "PL2c1.0", "T5R1"]
data = fetch_trec_covid(names)
runs = data.runs
truth = score_systems(data.qrels, runs, "ap")["ap"]

order = rank_systems(runs, method="soboroff", depth=100, random_state=0)
print(order.round(3))
print("tau, random pseudo-judgments", round(kendall_tau(truth, order), 3))

pseudo = score_systems(pseudo_qrels(runs, depth=30), runs, "ap")["ap"]
print("tau, what many runs retrieve", round(kendall_tau(truth, pseudo), 3))

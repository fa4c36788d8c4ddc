"""How alike two measures order systems: Kendall's tau, tau_ap and rank-biased overlap.

Give the folder of the data in the variable SKFILTERRANK_DATA.
"""

import os
from pathlib import Path

from skfilterrank.comparison import (
    kendall_tau,
    order_systems,
    rank_biased_overlap,
    score_systems,
    tau_ap,
)

folder = Path(os.environ["SKFILTERRANK_DATA"]) / "trec-robust2003"
runs = sorted((folder / "runs").glob("*.gz"))
scores = score_systems(runs, folder / "qrels.txt.gz", ["ap", "precision@10"])
by_ap, by_precision = (order_systems(each) for each in scores.values())
print(by_ap)
print("best by precision@10:", *by_precision.systems[:3])

print("tau", round(kendall_tau(by_ap, by_precision), 3))
print("tau_ap", round(tau_ap(by_ap, by_precision), 3))
print(rank_biased_overlap(by_ap, by_precision, ties="average"))
# Orders by the means, rather than by who wins against whom on which topic.
print("tau of means", round(kendall_tau(scores["ap"], scores["precision@10"]), 3))

"""Order systems without any judgment, and see how near that comes to the judged order.

Give the folder of the data in the variable SKFILTERRANK_DATA.
"""

import os
from pathlib import Path

from skfilterrank.comparison import kendall_tau, score_systems
from skfilterrank.judgments import pseudo_qrels, rank_systems

folder = Path(os.environ["SKFILTERRANK_DATA"]) / "trec-covid-round1"
runs = sorted((folder / "runs").glob("*.gz"))[::15]
truth = score_systems(runs, folder / "qrels.txt.gz", "ap")["ap"]

order = rank_systems(runs, method="soboroff", depth=100)
print(order.round(3))
print("tau, random pseudo-judgments", round(kendall_tau(truth, order), 3))

pseudo = score_systems(runs, pseudo_qrels(runs, depth=30), "ap")["ap"]
print("tau, what many runs retrieve", round(kendall_tau(truth, pseudo), 3))

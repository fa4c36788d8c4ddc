"""When does the choice of a measure change which system is better?

On the 143 runs of TREC-COVID round 1 (https://ir.nist.gov/trec-covid/archive.html). Left: nDCG@20
does not ask what else a run shows; nDCG_f@20, with documents judged not relevant as forbidden,
does, and a run that shows fewer of them gains. Right: recall@1000 counts the relevant documents
found anywhere; lexirecall asks how deep one has to read for the last of them, then for the last
but one.

Give the folder of the data in the variable SKFILTERRANK_DATA.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
from scipy.stats import kendalltau

from skfilterrank.io import read_qrels
from skfilterrank.trec import evaluate_runs

folder = Path(os.environ.get("SKFILTERRANK_DATA", "../shared/data")) / "trec-covid-round1"
if not folder.is_dir():
    raise SystemExit(f"no runs in {folder}: set SKFILTERRANK_DATA to the folder of the data")
qrels = read_qrels(folder / "qrels.txt.gz")
runs = sorted((folder / "runs").glob("*.txt.gz"))
# Showing a document that is not relevant costs as much as showing a partially relevant one gains.
strict = {0: -1, 1: 1, 2: 2}

plain = evaluate_runs(runs, qrels, ["ndcg@20", "recall@1000", "lexirecall(scale=log)"])
filtering = evaluate_runs(runs, qrels, "ndcg_f@20", gains=strict)
means = plain.join(filtering).groupby("run").mean()

pairs = (("ndcg@20", "ndcg_f@20"), ("recall@1000", "lexirecall(scale=log)"))
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for axis, (first, second) in zip(axes, pairs):
    ranks = means[[first, second]].rank(ascending=False)
    moved = (ranks[first] - ranks[second]).sort_values()
    axis.scatter(ranks[first], ranks[second], s=14, color="0.6")
    for run, color in ((moved.index[0], "C3"), (moved.index[-1], "C0")):
        axis.scatter(*ranks.loc[run], s=40, color=color, label=f"{run}: {-moved[run]:+.0f} places")
        print(
            f"{run}: place {ranks.loc[run, first]:.0f} of {len(means)} by {first}, "
            f"{ranks.loc[run, second]:.0f} by {second}"
        )
    tau = kendalltau(means[first], means[second]).statistic
    axis.set(xlabel=f"place by {first}", ylabel=f"place by {second}", aspect="equal")
    axis.set_title(f"Kendall's tau {tau:.2f}")
    axis.legend(title="moves most", fontsize="small")
figure.savefig("measures_disagree.png", dpi=120)

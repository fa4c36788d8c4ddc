"""
When the measure decides which system is better
===============================================

Ten of twenty systems hide documents that they predict to be forbidden. Left:
nDCG_f counts forbidden documents that are shown, and nDCG does not. Right:
recall@20 counts relevant documents; lexirecall measures how deep one has to
read for the last of them, and has hardly any ties.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.comparison import kendall_tau, score_systems
from skfilterrank.datasets import make_rank_and_filter

_, label, qid, score = make_rank_and_filter(
    n_queries=50,
    documents_per_query=40,
    labels={-1: 0.3, 0: 0.4, 1: 0.2, 2: 0.1},
    random_state=0,
)
docno = [f"d{row}" for row in range(len(label))]
qrels = pd.DataFrame({"qid": qid, "docno": docno, "label": label})
rng = np.random.default_rng(0)
runs = {}
for number, noise in enumerate(np.linspace(0.1, 1, 20)):
    noisy = score + rng.normal(0, noise, len(score))
    run = qrels[["qid", "docno"]].assign(score=noisy)
    harm = 2 * (label < 0) + rng.normal(size=len(label))
    runs[f"system {number}"] = run[harm < 1.5] if number % 2 else run

pairs = [
    ("ndcg_0@10", "ndcg_f@10"),
    ("recall@20", "lexirecall(scale=preference)"),
]
names = [("nDCG@10", "nDCG_f@10"), ("recall@20", "lexirecall")]
measures = [each for pair in pairs for each in pair]
gains = {-1: -3, 0: 0, 1: 1, 2: 2}
scores = score_systems(qrels, runs, measures, gains=gains)
means = pd.DataFrame({name: each.means for name, each in scores.items()})
for measure, name in zip(pairs[1], names[1]):
    ties = scores[measure].fraction_tied(tolerance=1e-12)
    print(f"{name}: {ties:.1%} of the comparisons on a query are ties")

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
hides = np.array([int(name.split()[1]) % 2 == 1 for name in means.index])
for axis, pair, (x, y) in zip(axes, pairs, names):
    places = means[list(pair)].rank(ascending=False)
    for rows, color, words in (
        (hides, "C0", "hides documents"),
        (~hides, "C1", "shows all"),
    ):
        axis.scatter(*places[rows].to_numpy().T, s=40, color=color, label=words)
    tau = kendall_tau(means[pair[0]], means[pair[1]])
    axis.axline((10, 10), slope=1, color="0.8", zorder=0)
    axis.set(xlabel=f"place by {x}", ylabel=f"place by {y}")
    axis.set(title=f"Kendall's tau {tau:.2f}", xticks=range(1, 21, 3))
    axis.set_yticks(range(1, 21, 3))
    moved = (places[pair[0]] - places[pair[1]]).sort_values()
    print(f"{y}: {moved.index[-1]} gains {moved.iloc[-1]:.0f} places")
axes[0].legend()
plt.show()

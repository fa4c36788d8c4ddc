"""
Kendall's tau between the orders of two measures
================================================

Do two measures put systems in the same order? Kendall's tau counts swapped
pairs, and tau_ap weighs the top of the list more.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.comparison import (
    kendall_tau,
    score_systems,
    tau_ap,
)
from skfilterrank.datasets import make_rank_and_filter

# Twelve systems of which neighbours are hard to tell apart.
_, label, qid, score = make_rank_and_filter(
    n_queries=50,
    documents_per_query=40,
    labels={0: 0.7, 1: 0.2, 2: 0.1},
    random_state=0,
)
docno = [f"d{row}" for row in range(len(label))]
qrels = pd.DataFrame({"qid": qid, "docno": docno, "label": label})
rng = np.random.default_rng(0)
runs = {
    name: qrels[["qid", "docno"]].assign(
        score=score + rng.normal(0, noise, len(score))
    )
    for name, noise in zip("ABCDEFGHIJKL", np.linspace(0.08, 0.2, 12))
}
scores = score_systems(qrels, runs, ["ap", "precision@5"])
by_ap, by_precision = (each.means for each in scores.values())

# %%
order = {
    name: list(means.sort_values(ascending=False).index)
    for name, means in {"ap": by_ap, "precision@5": by_precision}.items()
}
print("by AP:  ", *order["ap"])
print("by P@5: ", *order["precision@5"])
print(f"Kendall's tau {kendall_tau(by_ap, by_precision):.3f}")
print(f"tau_ap        {tau_ap(by_ap, order['precision@5']):.3f}")

# %%
figure, axis = plt.subplots(figsize=(5, 5), layout="constrained")
for name in runs:
    places = [order[measure].index(name) + 1 for measure in order]
    moved = places[0] - places[1]
    color = "C0" if moved > 1 else "C3" if moved < -1 else "0.6"
    axis.plot([0, 1], places, "o-", color=color, linewidth=2)
    for x, place, side in (
        (-0.06, places[0], "right"),
        (1.06, places[1], "left"),
    ):
        axis.text(x, place, name, ha=side, va="center")
axis.set_xticks([0, 1], ["by AP", "by precision@5"])
axis.set(ylabel="place of the system", xlim=(-0.3, 1.3), yticks=range(1, 13))
axis.invert_yaxis()
plt.show()

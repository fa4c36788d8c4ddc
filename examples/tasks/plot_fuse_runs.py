"""
Fuse runs: reciprocal rank fusion and CombMNZ
=============================================

Fuse three runs into one by ranks, by scores, and by scores with a higher
weight for the better systems. Judgments tell what each fusion is worth.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import evaluate_runs
from skfilterrank.ranking import fuse_runs

# Three systems of unlike quality, whose errors are independent.
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
    for name, noise in {"A": 0.1, "B": 0.12, "C": 0.2}.items()
}

fused = {
    "reciprocal ranks": fuse_runs(runs, method="rrf", rrf_k=60),
    "CombMNZ": fuse_runs(runs, method="combmnz", normalize="minmax"),
    "CombMNZ, weights": fuse_runs(
        runs, method="combmnz", weights={"A": 2, "B": 2, "C": 1}
    ),
}
measures = ["ap", "ndcg@10", "precision@5"]
values = evaluate_runs(qrels, runs | fused, measures)
means = values.means.loc[[*runs, *fused]]
print(means.round(3).to_string())

# %%
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
colors = ["0.7"] * len(runs) + ["C0"] * len(fused)
bars = axis.barh(means.index, means["ndcg@10"], color=colors)
axis.bar_label(bars, fmt="%.2f", padding=3)
axis.set(xlabel="nDCG@10, mean of 50 queries", xlim=(0, 1))
axis.invert_yaxis()
plt.show()

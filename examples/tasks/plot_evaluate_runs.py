"""
Evaluate TREC runs: MAP, nDCG, precision, recall
================================================

Measure several runs by several measures at once, query by query and in the
mean. Runs and judgments are DataFrames here; paths of TREC files do as well.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import evaluate_runs

# Four runs: a good score with more and more noise.
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
    f"noise {noise}": qrels[["qid", "docno"]].assign(
        score=score + rng.normal(0, noise, len(score))
    )
    for noise in (0.02, 0.05, 0.1, 0.2)
}

measures = ["ap", "ndcg@10", "precision@5", "rr", "recall@20"]
values = evaluate_runs(qrels, runs, measures)
print(values.means.round(3).to_string())

# %%
# The mean hides how much queries differ:
ndcg = values.per_query.reset_index().pivot_table("ndcg@10", "qid", "run")
print(ndcg.describe().loc[["min", "25%", "50%", "75%", "max"]].round(3))

# %%
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4), layout="constrained"
)
names = ["MAP", "nDCG@10", "P@5", "MRR", "recall@20"]
table = values.means.loc[list(runs), measures].set_axis(names, axis=1)
table.T.plot.bar(ax=left, rot=0, width=0.8)
left.set(
    ylabel="mean over 50 queries", ylim=(0, 1.25), yticks=np.linspace(0, 1, 6)
)
left.legend(ncols=2, loc="upper center")
right.boxplot(ndcg, tick_labels=ndcg.columns)
right.set(ylabel="nDCG@10 of each query", ylim=(0, 1))
plt.show()

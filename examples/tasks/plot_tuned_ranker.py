"""
GridSearchCV with LightGBM: tune the trees, or the threshold?
=============================================================

Search LightGBM's number of leaves with and without a tuned threshold. Bars are
standard errors over the folds, and the ring marks the winner. Here the
threshold counts more than the number of leaves.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import RankAndFilter

X, y, groups, _ = make_rank_and_filter(
    n_queries=2000,
    documents_per_query={2: 0.4, 5: 0.4, 10: 0.2},
    bayes=False,
    random_state=0,
)
train = groups < 600
labels = pd.Series(y, index=pd.Index(groups, name="qid"))
leaves = [2, 8, 31]
gains = {-1: -3, 1: 1, 2: 2}  # to show a forbidden document costs 3
search = GridSearchCV(
    RankAndFilter(
        LGBMRanker(n_estimators=20, n_jobs=1, verbose=-1),
        measure="ndcg_f@3",
        gains=gains,
        cv=3,
    ),
    {"estimator__num_leaves": leaves, "threshold": ["tune", None]},
    scoring={
        "ndcg_f@3": make_ranking_scorer("ndcg_f@3", gains=gains),
        "forbidden@3": make_ranking_scorer("forbidden@3"),
    },
    refit="ndcg_f@3",
    cv=GroupKFold(4, shuffle=True, random_state=0),
).fit(X[train], labels[train], groups=groups[train])

table = pd.DataFrame(search.cv_results_)
filters = np.array(
    [params["threshold"] is not None for params in table["params"]]
)
# For scorers higher is better: the share of forbidden documents is negated.
table["forbidden@3"] = -table["mean_test_forbidden@3"]
figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
for rows, label in (
    (table[filters], "with a tuned threshold"),
    (table[~filters], "all shown"),
):
    error = rows["std_test_ndcg_f@3"] / np.sqrt(search.n_splits_ - 1)
    axis.errorbar(
        leaves,
        rows["mean_test_ndcg_f@3"],
        error,
        marker="o",
        capsize=3,
        label=label,
    )
    print(label)
    shown = rows[
        ["param_estimator__num_leaves", "mean_test_ndcg_f@3", "forbidden@3"]
    ]
    print(shown.round(3).to_string(index=False))
best = search.best_params_
axis.plot(
    best["estimator__num_leaves"],
    search.best_score_,
    "o",
    ms=14,
    mfc="none",
    mec="k",
    mew=1.5,
)
axis.set_xscale("log", base=2)
axis.set_xticks(leaves, [str(number) for number in leaves])
axis.set(xlabel="leaves of a tree", ylabel="nDCG_f@3, mean of four folds")
axis.legend()
plt.show()
best_without = (
    table[~filters].nsmallest(1, "rank_test_ndcg_f@3")["params"].iloc[0]
)
n_leaves, threshold = best["estimator__num_leaves"], best["threshold"]
print(f"best: {n_leaves} leaves, threshold {threshold}")
for name, params in (
    ("what the search takes", best),
    ("the best that shows all", best_without),
    (
        "31 leaves, with a threshold",
        {"estimator__num_leaves": 31, "threshold": "tune"},
    ),
):
    model = clone(search.estimator).set_params(**params)
    model.fit(X[train], y[train], groups=groups[train])
    reached = model.score(X[~train], y[~train], groups=groups[~train])
    print(f"held-out nDCG_f@3 of {name}: {reached:.3f}")

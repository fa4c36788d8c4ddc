"""
What is worth more to a ranker, tuned trees or a tuned threshold?
=================================================================

GridSearchCV over LightGBM's ranker inside RankAndFilter, folds by query, scored by nDCG_f@3:
LightGBM gets the group sizes it wants, and the scorer the query ids it needs. Each number of leaves
is searched with RankAndFilter's threshold, tuned anew in every fold, and without one. Bars are
standard errors over the folds, and the ring marks what the search takes. Held-out queries say what
that is worth. Here it is the threshold that counts, and the number of leaves hardly does.
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
    n_queries=3000, documents_per_query={2: 0.4, 5: 0.4, 10: 0.2}, bayes=False, random_state=0
)
train = groups < 800
labels = pd.Series(y, index=pd.Index(groups, name="qid"))
leaves = [2, 8, 31]
search = GridSearchCV(
    RankAndFilter(LGBMRanker(n_estimators=50, n_jobs=1, verbose=-1), measure="ndcg_f@3", cv=3),
    {"estimator__num_leaves": leaves, "threshold": ["tune", None]},
    scoring={
        "ndcg_f@3": make_ranking_scorer("ndcg_f@3"),
        "forbidden@3": make_ranking_scorer("forbidden@3"),
    },
    refit="ndcg_f@3",
    cv=GroupKFold(4, shuffle=True, random_state=0),
).fit(X[train], labels[train], groups=groups[train])

table = pd.DataFrame(search.cv_results_)
filters = np.array([params["threshold"] is not None for params in table["params"]])
# Scorers are "higher is better": the share of forbidden documents comes negated.
table["forbidden@3"] = -table["mean_test_forbidden@3"]
figure, axis = plt.subplots(figsize=(7, 4.5), layout="constrained")
for rows, label in ((table[filters], "with a tuned threshold"), (table[~filters], "ranking only")):
    error = rows["std_test_ndcg_f@3"] / np.sqrt(search.n_splits_ - 1)
    axis.errorbar(leaves, rows["mean_test_ndcg_f@3"], error, marker="o", capsize=3, label=label)
    print(label)
    shown = rows[["param_estimator__num_leaves", "mean_test_ndcg_f@3", "forbidden@3"]]
    print(shown.round(3).to_string(index=False))
best = search.best_params_
axis.plot(
    best["estimator__num_leaves"], search.best_score_, "o", ms=14, mfc="none", mec="k", mew=1.5
)
axis.set_xscale("log", base=2)
axis.set_xticks(leaves, [str(number) for number in leaves])
axis.set(xlabel="leaves of a tree", ylabel="nDCG_f@3, mean of four folds")
axis.legend()
plt.show()
best_without = table[~filters].nsmallest(1, "rank_test_ndcg_f@3")["params"].iloc[0]
print(f"best: {best['estimator__num_leaves']} leaves, threshold {best['threshold']}")
for name, params in (
    ("what the search takes", best),
    ("the best that only ranks", best_without),
    ("31 leaves, with a threshold", {"estimator__num_leaves": 31, "threshold": "tune"}),
):
    model = clone(search.estimator).set_params(**params)
    model.fit(X[train], y[train], groups=groups[train])
    reached = model.score(X[~train], y[~train], groups=groups[~train])
    print(f"held-out nDCG_f@3 of {name}: {reached:.3f}")

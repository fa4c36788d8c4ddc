"""
GridSearchCV over a ranker together with its threshold
======================================================

Search the parameters of a ranker while `RankAndFilter` tunes a threshold for
each candidate. Labels carry their query ids in the index, so that every split
keeps label and query id together.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer, ndcg_f_score
from skfilterrank.ranking import LambdaRankRanker, RankAndFilter

X, y, groups, _ = make_rank_and_filter(
    n_queries=300, bayes=False, random_state=0
)
train, new = groups < 150, groups >= 150

search = GridSearchCV(
    RankAndFilter(LambdaRankRanker(random_state=0), measure="ndcg_f@3", cv=3),
    {
        "estimator__n_estimators": [20, 50],
        "estimator__learning_rate": [0.02, 0.05, 0.2],
    },
    scoring=make_ranking_scorer("ndcg_f@3"),
    cv=GroupKFold(3),
)
labels = pd.Series(y[train], index=pd.Index(groups[train], name="qid"))
search.fit(X[train], labels, groups=groups[train])
for name, value in search.best_params_.items():
    print(name, value)
print(f"threshold {search.best_estimator_.threshold_:.3f}")

# %%
# New queries:
scores = search.predict(X[new])
shown = np.isfinite(scores)
ndcg_f = ndcg_f_score(y[new], scores, groups=groups[new], k=3)
forbidden = y[new] < 0
print(f"{shown.sum()} of {len(scores)} documents shown, nDCG_f@3 {ndcg_f:.3f}")
print(f"forbidden before: {forbidden.mean():.1%}")
print(f"forbidden after:  {forbidden[shown].mean():.1%}")

# %%
table = pd.DataFrame(search.cv_results_).pivot_table(
    index="param_estimator__n_estimators",
    columns="param_estimator__learning_rate",
    values="mean_test_score",
)
figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
image = axis.imshow(table, cmap="Blues", aspect="auto")
for (row, column), value in np.ndenumerate(table.to_numpy()):
    color = "white" if image.norm(value) > 0.5 else "black"
    axis.text(column, row, f"{value:.3f}", ha="center", color=color)
axis.set_xticks(range(len(table.columns)), table.columns)
axis.set_yticks(range(len(table)), table.index)
axis.set(xlabel="learning rate", ylabel="trees")
figure.colorbar(image, label="nDCG_f@3, mean of three folds")
plt.show()

"""
Compare several rankers in one grid search (Pipeline)
=====================================================

One `GridSearchCV` tries several rankers behind a scaler, each with parameters
of its own. Every candidate gets a threshold, tuned inside each fold.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import (
    LambdaRankRanker,
    OrdinalRanker,
    RankAndFilter,
    RankBoostRanker,
)

X, y, groups, _ = make_rank_and_filter(
    n_queries=80, bayes=False, random_state=0
)
labels = pd.Series(y, index=pd.Index(groups, name="qid"))

ranker = RankAndFilter(OrdinalRanker(), measure="ndcg_f@3", cv=3)
model = Pipeline([("scale", StandardScaler()), ("rank", ranker)])
grid = [
    {
        "rank__estimator": [OrdinalRanker(LogisticRegression())],
        "rank__estimator__estimator__C": [0.01, 1.0],
    },
    {
        "rank__estimator": [LambdaRankRanker(random_state=0)],
        "rank__estimator__n_estimators": [20, 50],
    },
    {
        "rank__estimator": [RankBoostRanker()],
        "rank__estimator__n_estimators": [20, 50],
    },
]
search = GridSearchCV(
    model, grid, scoring=make_ranking_scorer("ndcg_f@3"), cv=GroupKFold(4)
)
search.fit(X, labels, groups=groups)

# %%
table = pd.DataFrame(search.cv_results_).sort_values("rank_test_score")
table["ranker"] = [
    f"{type(each['rank__estimator']).__name__}, "
    + ", ".join(
        f"{name.rpartition('__')[2]}={value}"
        for name, value in each.items()
        if name != "rank__estimator"
    )
    for each in table["params"]
]
columns = ["ranker", "mean_test_score", "std_test_score"]
print(table[columns].round(3).to_string(index=False))

# %%
figure, axis = plt.subplots(figsize=(8, 3.5), layout="constrained")
axis.errorbar(
    table["mean_test_score"],
    table["ranker"],
    xerr=table["std_test_score"],
    fmt="o",
    capsize=4,
)
axis.set(xlabel="nDCG_f@3, mean and standard deviation of four folds")
axis.invert_yaxis()
plt.show()

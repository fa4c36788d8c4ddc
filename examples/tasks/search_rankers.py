"""
Search over several rankers
===========================

One grid search over several rankers, each with parameters of its own, behind a scaler.
"""

import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import LambdaRankRanker, OrdinalRanker, RankAndFilter, RankBoostRanker

X, y, groups, _ = make_rank_and_filter(n_queries=60, bayes=False, random_state=0)
labels = pd.Series(y, index=pd.Index(groups, name="qid"))

ranker = RankAndFilter(OrdinalRanker(), measure="ndcg_f@3")
model = Pipeline([("scale", StandardScaler()), ("rank", ranker)])
grid = [
    {
        "rank__estimator": [OrdinalRanker(LogisticRegression())],
        "rank__estimator__estimator__C": [0.1, 1.0],
    },
    {
        "rank__estimator": [LambdaRankRanker(random_state=0)],
        "rank__estimator__n_estimators": [20, 50],
        "rank__threshold": ["tune", 0.0],
    },
    {"rank__estimator": [RankBoostRanker()], "rank__estimator__n_estimators": [20, 50]},
]
search = GridSearchCV(model, grid, scoring=make_ranking_scorer("ndcg_f@3"), cv=GroupKFold(3))
search.fit(X, labels, groups=groups)

table = pd.DataFrame(search.cv_results_).sort_values("rank_test_score")
table["ranker"] = [type(each).__name__ for each in table["param_rank__estimator"]]
columns = ["ranker", "mean_test_score", "std_test_score"]
print(table[columns].round(3).to_string(index=False))
print(search.best_params_)

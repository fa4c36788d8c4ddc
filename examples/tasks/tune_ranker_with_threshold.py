"""
Tune a ranker together with its threshold
=========================================

Search the parameters of a ranker together with its threshold, and filter new queries.

The labels carry their query ids in their index: model selection splits the one with the other.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer, ndcg_f_score
from skfilterrank.ranking import LambdaRankRanker, RankAndFilter

X, y, groups, _ = make_rank_and_filter(n_queries=150, bayes=False, random_state=0)
train = groups < 100

search = GridSearchCV(
    RankAndFilter(LambdaRankRanker(random_state=0), measure="ndcg_f@3"),
    {"estimator__n_estimators": [20, 50], "estimator__learning_rate": [0.05, 0.2]},
    scoring=make_ranking_scorer("ndcg_f@3"),
    cv=GroupKFold(3),
)
labels = pd.Series(y[train], index=pd.Index(groups[train], name="qid"))
search.fit(X[train], labels, groups=groups[train])
print(search.best_params_, "threshold", round(search.best_estimator_.threshold_, 3))

scores = search.predict(X[~train])
kept = np.isfinite(scores)
print(f"kept {kept.sum()} of {len(scores)} documents")
print("nDCG_f@3", round(ndcg_f_score(y[~train], scores, groups=groups[~train], k=3), 3))
is_forbidden = y[~train] < 0
print(f"forbidden: {is_forbidden.mean():.1%} before, {is_forbidden[kept].mean():.1%} after")

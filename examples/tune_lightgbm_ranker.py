"""Which LightGBM ranker suits nDCG_f best?

GridSearchCV over a ranker, folds by query, scored by nDCG_f@3: LightGBM gets the group sizes it
wants and the scorer the query ids it needs.
"""

import numpy as np
import pandas as pd
from lightgbm import LGBMRanker
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import RankAndFilter

X, y, groups, _ = make_rank_and_filter(
    n_queries=800, documents_per_query={2: 0.4, 5: 0.4, 10: 0.2}, random_state=0
)
labels = pd.Series(y, index=pd.Index(groups, name="qid"))
search = GridSearchCV(
    RankAndFilter(LGBMRanker(n_estimators=50, n_jobs=1, verbose=-1), k=3, cv=3),
    {"estimator__num_leaves": [4, 8, 31], "estimator__min_child_samples": [5, 20]},
    scoring={
        "ndcg_f@3": make_ranking_scorer("ndcg_f@3"),
        "forbidden@3": make_ranking_scorer("forbidden@3"),
    },
    refit="ndcg_f@3",
    cv=GroupKFold(4),
).fit(X, labels, groups=groups)
table = pd.DataFrame(search.cv_results_)
# Scorers are "higher is better": the share of forbidden documents comes negated.
table["forbidden@3"] = -table["mean_test_forbidden@3"]
shown = table[["param_estimator__num_leaves", "param_estimator__min_child_samples"]].copy()
shown["nDCG_f@3"], shown["forbidden@3"] = table["mean_test_ndcg_f@3"], table["forbidden@3"]
print(shown.sort_values("nDCG_f@3", ascending=False).round(3).to_string(index=False))
assert np.isfinite(search.best_score_)

"""
Nested cross-validation of a ranker with a threshold
====================================================

The winner of a search was chosen because its value is the best of many, so this
value is too high for new queries. Outer folds, which the search never sees,
estimate what to expect there. All folds are made of whole queries.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import RankAndFilter

X, y, groups, _ = make_rank_and_filter(
    n_queries=150, bayes=False, random_state=0
)
# The query ids in the index reach the search, the ranker and the scorer.
labels = pd.Series(y, index=pd.Index(groups, name="qid"))
scorer = make_ranking_scorer("ndcg_f@3")
search = GridSearchCV(
    RankAndFilter(LogisticRegression(), measure="ndcg_f@3", cv=3),
    {"estimator__C": [0.01, 0.1, 1.0], "threshold": ["tune", None]},
    scoring=scorer,
    cv=GroupKFold(3),
)
found = cross_validate(
    search,
    X,
    labels,
    groups=groups,  # for the outer folds
    params={"groups": groups},  # for the search inside
    cv=GroupKFold(5),
    scoring=scorer,
    return_estimator=True,
)

# %%
table = pd.DataFrame(
    {
        "C": [each.best_params_["estimator__C"] for each in found["estimator"]],
        "threshold": [
            round(each.best_estimator_.threshold_, 3)
            for each in found["estimator"]
        ],
        "inside": [each.best_score_ for each in found["estimator"]],
        "outside": found["test_score"],
    },
    index=pd.RangeIndex(1, 6, name="outer fold"),
)
print(table.round(3).to_string())
mean, error = table["outside"].mean(), table["outside"].sem()
print(f"nDCG_f@3 on new queries: {mean:.3f}, standard error {error:.3f}")

# %%
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.plot(
    table.index, table["inside"], "s", ms=9, label="winner inside the search"
)
axis.plot(table.index, table["outside"], "o", ms=9, label="outer fold")
axis.axhspan(mean - error, mean + error, color="C1", alpha=0.15)
axis.axhline(mean, color="C1", label="mean of the outer folds, standard error")
axis.set(
    xlabel="outer fold", ylabel="nDCG_f@3", xticks=table.index, ylim=(0.7, 1)
)
axis.legend(loc="upper left")
plt.show()

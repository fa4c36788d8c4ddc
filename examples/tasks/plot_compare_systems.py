"""
Which rankers differ significantly? Critical difference diagram
===============================================================

Eight rankers are tested on the same 150 queries. Top: bars join rankers that
Tukey's test cannot tell apart. Bottom: the two best, query by query; without
the dark queries, the winner would not be ahead.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

from skfilterrank.comparison import score_predictions
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.plot import CriticalDifferenceDisplay, QueryDifferenceDisplay
from skfilterrank.ranking import FilterOnly, OrdinalRanker, RankAndFilter

X, y, groups, _ = make_rank_and_filter(
    n_queries=350, documents_per_query=4, bayes=False, random_state=0
)
train = groups < 200
logistic = LogisticRegression()
rankers = {
    "logistic": RankAndFilter(logistic, measure="ndcg_f@3"),
    "logistic, all shown": RankAndFilter(logistic, None, measure="ndcg_f@3"),
    "logistic, random order": FilterOnly(
        RankAndFilter(logistic, measure="ndcg_f@3"), random_state=0
    ),
    "ordinal": RankAndFilter(OrdinalRanker(logistic), measure="ndcg_f@3"),
    "linear": RankAndFilter(LinearRegression(), measure="ndcg_f@3"),
    "naive Bayes": RankAndFilter(GaussianNB(), measure="ndcg_f@3"),
    "forest": RankAndFilter(
        RandomForestClassifier(50, random_state=0), measure="ndcg_f@3"
    ),
    "tree": RankAndFilter(
        DecisionTreeRegressor(max_depth=4, random_state=0), measure="ndcg_f@3"
    ),
}
predictions = {
    name: ranker.fit(X[train], y[train], groups=groups[train]).predict(
        X[~train], groups=groups[~train]
    )
    for name, ranker in rankers.items()
}
scores = score_predictions(
    y[~train], predictions, "ndcg_f@3", groups=groups[~train]
)["ndcg_f@3"]
print(scores.means.round(3).to_string())

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 8), layout="constrained")
found = CriticalDifferenceDisplay.from_scores(scores, ax=top)
queries = QueryDifferenceDisplay.from_scores(scores, ax=bottom)
plt.show()

joined = found.groups[0] if found.groups else found.systems[:1]
print("not told apart from the best:", *joined, sep="\n  ")
print(f"without queries {', '.join(map(str, queries.deciding.index))}")
print(f"{queries.leader} would not be ahead of {queries.second}")

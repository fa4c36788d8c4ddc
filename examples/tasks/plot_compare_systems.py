"""
Are these rankers really better?
================================

Which of these rankers are really better, and which only had luck with the queries?

Eight rankers are tested on the same 150 queries. Their mean nDCG_f puts them in an order, but other
queries might give another one. Top: bars join rankers that Tukey's test, with queries as blocks,
cannot tell apart. Bottom: the two best, query by query. Dark are the queries on which the outcome
hangs: without them, the winner would not be ahead.
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
    "logistic unfiltered": RankAndFilter(logistic, None, measure="ndcg_f@3"),
    "logistic in random order": FilterOnly(
        RankAndFilter(logistic, measure="ndcg_f@3"), random_state=0
    ),
    "ordinal": RankAndFilter(OrdinalRanker(logistic), measure="ndcg_f@3"),
    "linear": RankAndFilter(LinearRegression(), measure="ndcg_f@3"),
    "naive Bayes": RankAndFilter(GaussianNB(), measure="ndcg_f@3"),
    "forest": RankAndFilter(RandomForestClassifier(100, random_state=0), measure="ndcg_f@3"),
    "tree": RankAndFilter(DecisionTreeRegressor(max_depth=4, random_state=0), measure="ndcg_f@3"),
}
predictions = {
    name: ranker.fit(X[train], y[train], groups=groups[train]).predict(
        X[~train], groups=groups[~train]
    )
    for name, ranker in rankers.items()
}
scores = score_predictions(y[~train], predictions, "ndcg_f@3", groups=groups[~train])["ndcg_f@3"]
print(scores)

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 8), layout="constrained")
found = CriticalDifferenceDisplay.from_scores(scores, ax=top)
queries = QueryDifferenceDisplay.from_scores(scores, ax=bottom)
plt.show()

joined = found.groups[0] if found.groups else found.systems[:1]
print(f"not told apart from the best: {', '.join(joined)}")
print(f"without queries {', '.join(map(str, queries.deciding.index))}")
print(f"{queries.leader} would not be ahead of {queries.second}")

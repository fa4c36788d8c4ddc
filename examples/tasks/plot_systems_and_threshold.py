"""
Two displays
============

What two displays show: groups of systems that do not differ, and the curve of a threshold.

Systems are rankers here, each measured on queries that it has not seen.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from skfilterrank.comparison import score_predictions
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.plot import CriticalDifferenceDisplay, ThresholdCurveDisplay
from skfilterrank.ranking import RankAndFilter

X, y, groups, _ = make_rank_and_filter(n_queries=300, bayes=False, random_state=0)
train = groups < 200
models = {
    "logistic": LogisticRegression(),
    "forest": RandomForestClassifier(50, min_samples_leaf=5, random_state=0),
    "bayes": GaussianNB(),
}
fitted = {
    name: RankAndFilter(model, k=3).fit(X[train], y[train], groups=groups[train])
    for name, model in models.items()
}
predictions = {name: model.predict(X[~train]) for name, model in fitted.items()}
scores = score_predictions(y[~train], predictions, ["ndcg_f@3"], groups=groups[~train])["ndcg_f@3"]
print(scores)

figure, axes = plt.subplots(2, figsize=(7, 6), layout="constrained")
CriticalDifferenceDisplay.from_scores(scores, ax=axes[0])
ThresholdCurveDisplay.from_estimator(fitted["logistic"], ax=axes[1])
plt.show()

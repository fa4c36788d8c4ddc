"""
Choose a score threshold: what it hides and what it shows
=========================================================

The higher the threshold, the fewer forbidden documents are shown, and the more
good ones are hidden. nDCG_f weighs the two. Top: nDCG_f at every threshold;
bottom: the shares behind it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import false_reject_rate, forbidden_at_k
from skfilterrank.plot import ThresholdCurveDisplay
from skfilterrank.ranking import RankAndFilter

X, y, groups, _ = make_rank_and_filter(n_queries=3000, random_state=0)
train = groups < 2000
model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3")
model.fit(X[train], y[train], groups=groups[train])

figure, (top, bottom) = plt.subplots(
    2, 1, sharex=True, figsize=(7, 7), layout="constrained"
)
ThresholdCurveDisplay.from_estimator(model, ax=top)

ranker = RankAndFilter(LogisticRegression(), threshold=None)
scores = ranker.fit(X[train], y[train], groups=groups[train]).predict(X[~train])
thresholds = np.quantile(scores, np.linspace(0, 0.99, 50))
for name, rate, extra in (
    ("shown in the top 3 but forbidden", forbidden_at_k, {"k": 3}),
    ("good but hidden", false_reject_rate, {}),
):
    shares = [
        rate(
            y[~train],
            np.where(scores >= t, scores, -np.inf),
            groups=groups[~train],
            **extra,
        )
        for t in thresholds
    ]
    bottom.plot(thresholds, shares, label=name)
bottom.axvline(
    model.threshold_, color="C3", linewidth=1, label="tuned threshold"
)
bottom.set_xlabel("threshold on the score")
bottom.set_ylabel("share, held-out queries")
bottom.legend()
plt.show()
reached = model.score(X[~train], y[~train], groups=groups[~train])
print(f"threshold {model.threshold_:.3f}, held-out nDCG_f@3 {reached:.3f}")

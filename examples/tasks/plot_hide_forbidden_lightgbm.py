"""
Hide forbidden documents from a LightGBM ranking (DataFrame)
============================================================

Train LightGBM's ranker on a DataFrame, and let it hide what must not be shown.
Labels below 0 are forbidden; `RankAndFilter` tunes the threshold by
cross-validation over queries.
"""

import matplotlib.pyplot as plt
import pandas as pd
from lightgbm import LGBMRanker

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import rank_filter_report
from skfilterrank.ranking import RankAndFilter

X, y, qid, _ = make_rank_and_filter(n_queries=1500, bayes=False, random_state=0)
rows = pd.DataFrame(X).add_prefix("feature_").assign(label=y, qid=qid)
train, test = rows[qid < 1000], rows[qid >= 1000].copy()
features = rows.columns[:-2]

# One thread: beside other work, LightGBM's threads wait by spinning.
ranker = LGBMRanker(n_estimators=50, num_leaves=7, n_jobs=1, verbose=-1)
gains = {-1: -3, 1: 1, 2: 2}  # to show a forbidden document costs 3
model = RankAndFilter(ranker, measure="ndcg_f@3", gains=gains)
model.fit(train[features], train["label"], groups=train["qid"])

# %%
# ``rank`` gives 1 to the top document of each query, and 0 to a hidden one:
test["place"] = model.rank(test[features], groups=test["qid"])
print(test.loc[test["qid"] == 1100, ["qid", "label", "place"]])

# %%
# New queries with the threshold, and by answers that need none. Differences to
# the threshold are paired by query, with 95 % intervals:
systems = {"threshold": model.predict(test[features])}
systems |= model.answers(test[features], groups=test["qid"])
report = rank_filter_report(
    test["label"],
    systems,
    groups=test["qid"],
    gains=gains,
    k=3,
    baseline="threshold",
    rankings={"threshold": "everything"},
)
columns = ["ndcg_f@3", "forbidden@3", "false_reject_rate"]
more = [
    "false_reject_rate@3",
    "difference",
    "difference_low",
    "difference_high",
]
print(report[columns + more].round(3).T.to_string())

# %%
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
words = [
    "nDCG_f@3",
    "share of forbidden\nin the top 3",
    "share of good\ndocuments hidden",
]
colors = ["C0", "0.5", "0.65", "0.8"]
report[columns].T.set_axis(words).plot.bar(ax=axis, rot=0, color=colors)
for bars in axis.containers:
    axis.bar_label(bars, fmt="%.2f", padding=2)
axis.set(ylabel="mean over 500 new queries", ylim=(0, 1))
plt.show()

"""
Limit forbidden documents on new queries: the cost of a certificate
===================================================================

A tuned threshold makes the best of nDCG_f and certifies nothing. A
`CertifiedThreshold` keeps a risk: at most a given share of new queries shows a
forbidden document in its top 3, with 90 % confidence. More calibration queries
make the same certificate cheaper.
"""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import forbidden_at_k, ndcg_f_score
from skfilterrank.thresholds import CertifiedThreshold, TunedThreshold

X, y, groups, _ = make_rank_and_filter(
    n_queries=9000, bayes=False, random_state=0
)
train, new = groups < 1000, groups >= 5000
model = LogisticRegression().fit(X[train], y[train] > 0)
scores = model.predict_proba(X)[:, 1]


def on_new_queries(threshold):
    """Return nDCG_f@3, and the percentage of queries that fail."""
    shown = np.where(scores[new] >= threshold, scores[new], -np.inf)
    params = {"groups": groups[new], "k": 3}
    shows_forbidden = forbidden_at_k.per_query(y[new], shown, **params) > 0
    return ndcg_f_score(y[new], shown, **params), 100 * shows_forbidden.mean()


levels = np.array(
    [0.03, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25]
)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4.5), layout="constrained"
)
for n_queries, color in ((250, "C0"), (1000, "C1"), (4000, "C2")):
    rows = (groups >= 1000) & (groups < 1000 + n_queries)
    values, shares = [], []
    for level in levels:
        safe = CertifiedThreshold(
            {"any_forbidden@3": level}, confidence_level=0.9, measure="ndcg_f@3"
        ).fit(scores[rows], y[rows], groups=groups[rows])
        if (n_queries, level) == (1000, 0.1):
            print(fill(str(safe.certificate_), 79))
        value, share = on_new_queries(safe.threshold_)
        values.append(value)
        shares.append(share)
    left.plot(
        100 * levels,
        values,
        "o-",
        color=color,
        label=f"{n_queries:,} calibration queries",
    )
    right.plot(100 * levels, shares, "o-", color=color)
tuned = TunedThreshold("ndcg_f@3").fit(
    scores[rows], y[rows], groups=groups[rows]
)
tuned_value, tuned_share = on_new_queries(tuned.threshold_)
left.axhline(
    tuned_value,
    color="0.5",
    linestyle="--",
    label="tuned threshold, no certificate",
)
right.axhline(tuned_share, color="0.5", linestyle="--")
right.plot(100 * levels, 100 * levels, color="0.7", linewidth=1)
right.annotate("limit", (24, 24.5), ha="right", color="0.5")
left.set(xlabel="certified limit (% of queries)", ylabel="nDCG_f@3")
right.set(
    xlabel="certified limit (% of queries)",
    ylabel="new queries with a forbidden document (%)",
)
left.legend()
plt.show()

# %%
# With 4,000 calibration queries:
table = pd.DataFrame(
    {
        "limit (%)": 100 * levels,
        "nDCG_f@3": values,
        "on new queries (%)": shares,
    }
)
print(table.round(3).to_string(index=False))
print(f"tuned: nDCG_f@3 {tuned_value:.3f}, {tuned_share:.1f} % of new queries")

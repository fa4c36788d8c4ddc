"""
A certified threshold behind a reranker
=======================================

A reranker scores passages. Some must not be shown, and an empty list is better
than a bad one. From the scores and labels of some hundred judged queries,
`CertifiedThreshold` finds a threshold, and certifies a limit for the share of
queries that show a bad passage.
"""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import any_forbidden_at_k, empty_list_rate
from skfilterrank.thresholds import CertifiedThreshold

# Your reranker's scores and labels: 1 and 2 are good, -1 must not be shown.
_, labels, queries, scores = make_rank_and_filter(
    n_queries=4000, random_state=0
)
judged, new = queries < 1000, queries >= 1000

cut = CertifiedThreshold({"any_forbidden@3": 0.1}, measure="ndcg_f@3")
cut.fit(scores[judged], labels[judged], groups=queries[judged])
print(fill(str(cut.certificate_), 79))

# %%
# The certificate holds on queries that it has not seen:
shown = cut.predict(scores[new], groups=queries[new])  # -inf where hidden
how = {"groups": queries[new]}
print(
    f"forbidden shown: {any_forbidden_at_k(labels[new], shown, k=3, **how):.1%}"
)
print(f"empty lists:     {empty_list_rate(labels[new], shown, **how):.1%}")

# %%
# A lower limit leaves more lists empty:
risks = np.array([0.03, 0.05, 0.075, 0.1, 0.15, 0.2])
happened, empty = [], []
for risk in risks:
    cut = CertifiedThreshold({"any_forbidden@3": risk}, measure="ndcg_f@3")
    cut.fit(scores[judged], labels[judged], groups=queries[judged])
    shown = cut.predict(scores[new], groups=queries[new])
    happened.append(100 * any_forbidden_at_k(labels[new], shown, k=3, **how))
    empty.append(100 * empty_list_rate(labels[new], shown, **how))

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.plot(100 * risks, 100 * risks, "--", color="0.6", label="certified limit")
axis.plot(
    100 * risks,
    happened,
    "o-",
    color="C3",
    label="a forbidden passage is shown",
)
axis.plot(100 * risks, empty, "s-", color="C0", label="the list is empty")
axis.set(
    xlabel="certified limit (% of queries)", ylabel="% of 3,000 new queries"
)
axis.set_ylim(bottom=0)
axis.legend()
plt.show()

"""
Carmel 2022, Table 6: queries with one document
===============================================

With one document there is nothing to rank, only to show or to hide it. nDCG_f
is then the accuracy of that decision; nDCG_min is 0 whatever a ranker does. The
paper's two sets are not at hand; the generator has their shares of forbidden
documents.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score, ndcg_min_score

PRINTED = {"PR": (0.453, 0.547), "CQA": (0.262, 0.738)}
GAINS = {-1: -10, 1: 1}

rows = {}
for name, printed in PRINTED.items():
    y, groups = make_rank_and_filter(
        n_queries=15_000,
        documents_per_query=1,
        labels={-1: printed[0], 1: printed[1]},
        bayes=False,
        random_state=0,
    )[1:3]
    for action, score, value in (
        ("hide all", -np.inf, 0),
        ("show all", 0.0, 1),
    ):
        how = {"groups": groups, "k": 3, "gains": GAINS}
        shown = np.full(len(y), score)
        rows[name, action] = {
            "nDCG_f": ndcg_f_score(y, shown, **how),
            "printed": printed[value],
            "nDCG_min": ndcg_min_score(y, shown, **how),
        }
table = pd.DataFrame(rows).T
print(table.round(3).to_string())

# %%
figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
table.index = [", ".join(each) for each in table.index]
table.plot.bar(ax=axis, rot=0)
axis.set(ylabel="mean over 15,000 queries", ylim=(0, 1))
axis.legend(loc="upper left")
plt.show()

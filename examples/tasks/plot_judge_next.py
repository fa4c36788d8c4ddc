"""
Which documents to judge next
=============================

With few judgments to spend, which documents come first? Selectors put the
pooled documents of all runs in an order; move-to-front also looks at the
answers so far.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.judgments import (
    MoveToFrontSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
    rank_table,
)

# Eight runs of 30 queries, and the labels that assessors would give.
_, label, qid, score = make_rank_and_filter(
    n_queries=30,
    documents_per_query=40,
    labels={0: 0.7, 1: 0.2, 2: 0.1},
    random_state=0,
)
docno = [f"d{row}" for row in range(len(label))]
qrels = pd.DataFrame({"qid": qid, "docno": docno, "label": label})
rng = np.random.default_rng(0)
runs = {}
for number, noise in enumerate(np.linspace(0.05, 0.4, 8)):
    run = qrels[["qid", "docno"]].assign(
        score=score + rng.normal(0, noise, len(score))
    )
    place = run.groupby("qid")["score"].rank(ascending=False)
    runs[f"run {number}"] = run[place <= 20]

# %%
# Ask for the next document of a query, answer, ask again:
pool = rank_table(runs)
answers = qrels.set_index(["qid", "docno"])["label"]
selector = MoveToFrontSelector().fit(pool)
for _ in range(3):
    rows = selector.next_rows(query=0)
    given = answers[pool.index[rows]].to_numpy()
    print(f"judge {pool.index[rows][0][1]}: label {given[0]:.0f}")
    selector.update(rows, given)

# %%
# Relevant documents found with 1 to 20 judgments for each query:
budgets = range(1, 21)
prior = StatAPSelector().fit(pool).prior_
selectors = {
    "in many runs": PriorSelector().fit(pool, prior=prior),
    "best rank": PoolingSelector().fit(pool),
    "at random": RandomSelector(random_state=0).fit(pool),
}
labels = answers[pool.index].to_numpy()
selectors["move-to-front"] = selector.simulate(labels)
found = pd.DataFrame(
    {
        name: [(labels[each.select(n_per_query=n)] > 0).sum() for n in budgets]
        for name, each in selectors.items()
    },
    index=pd.Index(budgets, name="judged per query"),
)
n_relevant = (labels > 0).sum()
print((found / n_relevant).loc[[5, 10, 20]].round(2).to_string())

# %%
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
(100 * found / n_relevant).plot(ax=axis, linewidth=2)
axis.set(
    xlabel="documents judged per query",
    ylabel="relevant documents found (%)",
    xticks=range(0, 21, 5),
    ylim=(0, 100),
)
plt.show()

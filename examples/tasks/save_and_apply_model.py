"""
Keep a model in a file
======================

Keep a model in a file, load it, rank and filter new documents, write them as a TREC run.
"""

import numpy as np

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import load_model, save_model, write_run
from skfilterrank.ranking import OrdinalRanker, RankAndFilter

X, y, groups, _ = make_rank_and_filter(n_queries=100, bayes=False, random_state=0)
train = groups < 70
model = RankAndFilter(OrdinalRanker(), measure="ndcg_f@3")
model.fit(X[train], y[train], groups=groups[train])
save_model(model, "ranker.skops")

loaded = load_model("ranker.skops")
scores = loaded.predict(X[~train], groups=groups[~train])
docnos = [f"d{row}" for row in np.flatnonzero(~train)]
counts = write_run("ordinal.txt", groups[~train], docnos=docnos, y_score=scores, name="ordinal")
print(f"{counts.written} documents kept, {counts.filtered} filtered")
with open("ordinal.txt", encoding="utf-8") as lines:
    print(*[next(lines) for _ in range(3)], sep="", end="")

"""
Save a ranking model to a file, load it and write a TREC run
============================================================

Keep a fitted ranker and its threshold in one file, load it elsewhere, and rank
and filter new documents. Hidden documents are not in the run that is written.
"""

import tempfile
from pathlib import Path

import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import write_run
from skfilterrank.ranking import OrdinalRanker, RankAndFilter

X, y, groups, _ = make_rank_and_filter(
    n_queries=300, bayes=False, random_state=0
)
train, new = groups < 150, groups >= 150
model = RankAndFilter(OrdinalRanker(), measure="ndcg_f@3")
model.fit(X[train], y[train], groups=groups[train])
folder = Path(tempfile.mkdtemp())
joblib.dump(model, folder / "ranker.joblib")

# %%
# Somewhere else, later:
loaded = joblib.load(folder / "ranker.joblib")
scores = loaded.predict(X[new], groups=groups[new])
docnos = [f"d{row}" for row in np.flatnonzero(new)]
path = folder / "ordinal.txt"
counts = write_run(
    path, groups[new], docnos=docnos, y_score=scores, name="ordinal"
)
print(f"{counts.written} documents shown, {counts.hidden} hidden")
print(*path.read_text(encoding="utf-8").splitlines()[:4], sep="\n")

# %%
# ``decision_function`` is the score minus the saved threshold:
margins = loaded.decision_function(X[new])
words = pd.Series(y[new]).map({-1: "forbidden", 1: "good", 2: "very good"})
figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
names = ["forbidden", "good", "very good"]
axis.hist(
    [margins[words == name] for name in names],
    bins=20,
    stacked=True,
    label=names,
    color=["C3", "C0", "C2"],
)
axis.axvline(0, color="k", label="threshold")
axis.set(
    xlabel="score minus threshold (hidden below 0)", ylabel="new documents"
)
axis.legend()
plt.show()

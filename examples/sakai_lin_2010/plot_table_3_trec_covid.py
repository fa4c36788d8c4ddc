"""
Sakai and Lin 2010, Table 3: systems ranked without judgments
=============================================================

The paper orders the runs of five collections by the documents that many runs
return. Counting runs ("nruns") does as well as any other method. The runs of
its collections are not public, so this page has every tenth of the 143 runs of
TREC-COVID round 1, and one trial of "soboroff" in place of ten.
"""
# Data: trec-covid-round1

import os
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from skfilterrank.comparison import kendall_tau, tau_ap
from skfilterrank.io import read_qrels, read_runs
from skfilterrank.judgments import rank_systems
from skfilterrank.metrics import evaluate_runs

# AP, column ROBUST03 (78 runs) of the paper: tau, tau_ap.
PRINTED = {
    "nruns": (0.564, 0.398),
    "sakai": (0.561, 0.402),
    "bias+condorcet": (0.458, 0.325),
    "soboroff": (0.547, 0.396),
    "aslam": (0.559, 0.377),
}
DATA = Path(
    os.environ.get("SKFILTERRANK_DATA", Path.home() / "skfilterrank_data")
)
folder = DATA / "trec-covid-round1"
qrels = read_qrels(folder / "qrels.txt.gz")
names = sorted(path.name[:-7] for path in (folder / "runs").glob("*.txt.gz"))
runs = read_runs(
    {name: folder / "runs" / f"{name}.txt.gz" for name in names[::10]}
)
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
table = pd.DataFrame(rows).T
print(table.round(3).to_string())

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

"""
When does the measure decide who is better?
===========================================

When does the choice of a measure change which system is better?

On runs of TREC-COVID round 1 (https://ir.nist.gov/trec-covid/archive.html). Left: nDCG@20
does not ask what else a run shows; nDCG_f@20, with documents judged not relevant as forbidden,
does, and a run that shows fewer of them gains. Right: recall@1000 counts the relevant documents
found; lexirecall asks how deep one has to read for the last of them, then for the last but one, and
so tells runs apart that found equally many. Its preferences make an order of the runs for each
topic, and the mean of the ranks an order over topics, in which no topic weighs more than another.

Every fourth run is drawn here; `fetch_trec_covid` gets them all.
"""
# Data: trec-covid-round1

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import kendalltau

from skfilterrank.comparison import score_systems
from skfilterrank.datasets import fetch_trec_covid
from skfilterrank.io import QrelsIndex
from skfilterrank.metrics import evaluate_runs

data = fetch_trec_covid()
qrels = QrelsIndex(data.qrels)
aligned = {name: qrels.align(path) for name, path in list(data.runs.items())[::4]}

# Showing a document that is not relevant costs as much as showing a partially relevant one gains.
strict = {0: -1, 1: 1, 2: 2}
values = evaluate_runs(None, aligned, ["ndcg@20", "recall@1000"]).per_query
filtering = evaluate_runs(None, aligned, "ndcg_f@20", gains=strict).per_query
means = values.join(filtering).groupby("run").mean()

# The share of the other runs that a run is preferred to on each topic.
lexirecall = score_systems(None, aligned, "lexirecall(scale=preference)")
(lexirecall,) = lexirecall.values()
means["lexirecall"] = lexirecall.means

recall = values["recall@1000"].to_numpy().reshape(len(aligned), -1).T
pairs = np.triu_indices(len(aligned), 1)
tied_recall = recall[:, pairs[0]] == recall[:, pairs[1]]
preferred = np.sign(lexirecall.values[pairs[0]] - lexirecall.values[pairs[1]]).T
tied_lexirecall = preferred == 0
opposite = np.sign(recall[:, pairs[0]] - recall[:, pairs[1]]) == -preferred
opposite &= ~tied_recall
print(
    f"comparisons of two runs on a topic: recall@1000 ties {tied_recall.mean():.1%}, lexirecall "
    f"{tied_lexirecall.mean():.1%}; they contradict each other in {opposite.mean():.1%}"
)

figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for axis, (first, second) in zip(axes, (("ndcg@20", "ndcg_f@20"), ("recall@1000", "lexirecall"))):
    ranks = means[[first, second]].rank(ascending=False)
    moved = (ranks[first] - ranks[second]).sort_values()
    axis.scatter(ranks[first], ranks[second], s=14, color="0.6")
    for run, color in ((moved.index[0], "C3"), (moved.index[-1], "C0")):
        axis.scatter(*ranks.loc[run], s=40, color=color, label=f"{run}: {-moved[run]:+.0f} places")
        print(
            f"{run}: place {ranks.loc[run, first]:.0f} of {len(means)} by {first}, "
            f"{ranks.loc[run, second]:.0f} by {second}"
        )
    tau = kendalltau(means[first], means[second]).statistic
    axis.set(xlabel=f"place by {first}", ylabel=f"place by {second}", aspect="equal")
    axis.set_title(f"Kendall's tau {tau:.2f}")
    axis.legend(title="moves most", fontsize="small")
plt.show()

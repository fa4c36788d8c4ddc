"""Do uninformative queries change who wins?

Six rankers on built-in data. Queries on which all of them together are hardly above a random
ranking are uninformative in the sense of Karmaker Santu and Feng ("Joint Upper & Lower Bound
Normalization for IR Evaluation", 2022): whatever a system does there scores high, or low. Ideal
queries are those on which they are the furthest above it. The lines follow each ranker from one
set of queries to the other, as differences from the mean of all six. Where lines cross, the sets
do not agree on who is better. Left, nDCG@10; right, DCG@10 between what a random and what a perfect
ranking score, by which a gain on an uninformative query is worth as much as one on an ideal query.
"""

import matplotlib.pyplot as plt
import pandas as pd

from skfilterrank.comparison import compare_systems, kendall_tau, score_predictions
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import query_informativeness
from skfilterrank.ranking import make_ranking_method

GAINS = {-1: 0, 1: 1, 2: 2}
METHODS = {
    "lambdamart": {"n_estimators": 60, "num_leaves": 7},
    "listnet": {"n_estimators": 60, "num_leaves": 7},
    "random_forest": {"n_estimators": 60},
    "rankboost": {"n_estimators": 100},
    "logistic": {},
    "coordinate_ascent": {"measure": "ndcg_f@10", "max_iter": 5},
}
X, y, groups, _ = make_rank_and_filter(
    n_queries=4000, documents_per_query={5: 0.3, 10: 0.4, 20: 0.3}, bayes=False, random_state=2
)
train = groups < 700
systems = {
    name: make_ranking_method(name, gains=GAINS, **settings)
    .fit(X[train], y[train], groups=groups[train])
    .predict(X[~train])
    for name, settings in METHODS.items()
}
y, groups = y[~train], groups[~train]

found = query_informativeness(y, systems, groups=groups, k=(5, 10), gains=GAINS, n_queries=0.25)
print(found, "\n")
sets = {"uninformative": found.uninformative, "ideal": found.ideal}
scores = score_predictions(
    y, systems, ["ndcg@10", "ul_normalized(measure=dcg)@10"], groups=groups, gains=GAINS
)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
for axis, title, (measure, values) in zip(axes, ("nDCG@10", "DCG@10, UL V2"), scores.items()):
    table = values.to_frame()
    means = pd.DataFrame({name: table.loc[:, mask].mean(axis=1) for name, mask in sets.items()})
    tau = kendall_tau(means["uninformative"], means["ideal"])
    for method, row in (means - means.mean()).iterrows():
        wins = means.columns[means.idxmax() == method]
        line = axis.plot(row.index, row, marker="o", lw=2.5 if len(wins) else 1, label=method)
        axis.plot(wins, row[wins], marker="o", ms=13, mfc="none", mew=2, color=line[0].get_color())
    axis.axhline(0, color="0.8", zorder=0)
    axis.margins(x=0.12)
    axis.set_title(f"{title}: Kendall's tau of the two orders {tau:.2f}", fontsize="medium")
    print(f"{measure}: tau {tau:.2f}")
    for name, mask in sets.items():
        best, second = means[name].nlargest(2).index
        pairs = compare_systems(table.loc[:, mask], test="t", correction="holm")
        told = pairs.significant().sum()
        print(
            f"  {name}: {best} before {second}, {means[name][best]:.4f} and "
            f"{means[name][second]:.4f}; {told} of {len(pairs.first)} pairs differ significantly"
        )
axes[0].set_ylabel("above the mean of the six rankers")
figure.legend(
    *axes[1].get_legend_handles_labels(),
    title="ringed: best of the set",
    loc="outside right center",
)
figure.savefig("uninformative_queries.png", dpi=120)

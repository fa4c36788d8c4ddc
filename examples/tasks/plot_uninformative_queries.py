"""
Do uninformative queries change which ranker wins?
==================================================

On uninformative queries (Karmaker Santu and Feng, 2022) every ranker is hardly
better than a random order; on ideal queries they are the furthest above it.
Lines join each ranker's means on the two sets, over three draws of the data;
bars are standard errors. On the right, where DCG is scaled from 0 for a random
to 1 for a perfect order, both sets count alike.
"""

import matplotlib.pyplot as plt
import pandas as pd

from skfilterrank.comparison import kendall_tau, score_predictions
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import query_informativeness
from skfilterrank.ranking import make_ranker

GAINS = {-1: 0, 1: 1, 2: 2}
METHODS = {
    "lambdamart": {"n_estimators": 40, "num_leaves": 7},
    "listnet": {"n_estimators": 40, "num_leaves": 7},
    "random_forest": {"n_estimators": 40},
    "rankboost": {"n_estimators": 60},
    "logistic": {},
}
MEASURES = {
    "ndcg@10": "nDCG@10",
    "ul_normalized(measure=dcg)@10": "DCG@10, UL V2",
}


def means_by_set(seed):
    """Average each method over each set of queries, for one draw."""
    X, y, groups, _ = make_rank_and_filter(
        n_queries=1300,
        documents_per_query={5: 0.3, 10: 0.4, 20: 0.3},
        bayes=False,
        random_state=seed,
    )
    train = groups < 300
    systems = {
        name: make_ranker(name, gains=GAINS, random_state=0, **settings)
        .fit(X[train], y[train], groups=groups[train])
        .predict(X[~train])
        for name, settings in METHODS.items()
    }
    y, groups = y[~train], groups[~train]
    found = query_informativeness(
        y, systems, groups=groups, k=(5, 10), gains=GAINS, n_queries=0.25
    )
    sets = {"uninformative": found.uninformative, "ideal": found.ideal}
    scores = score_predictions(
        y, systems, list(MEASURES), groups=groups, gains=GAINS
    )
    return {
        measure: pd.DataFrame(
            {
                name: values.to_frame().loc[:, mask].mean(axis=1)
                for name, mask in sets.items()
            }
        )
        for measure, values in scores.items()
    }


draws = [means_by_set(seed) for seed in range(3)]
figure, axes = plt.subplots(
    1, 2, figsize=(11, 4.5), sharey=True, layout="constrained"
)
for axis, (measure, title) in zip(axes, MEASURES.items()):
    tables = [draw[measure] for draw in draws]
    taus = [
        kendall_tau(table["uninformative"], table["ideal"]) for table in tables
    ]
    moved = sum(len(set(table.idxmax())) > 1 for table in tables)
    above = pd.concat(
        {seed: table - table.mean() for seed, table in enumerate(tables)}
    )
    means, errors = above.groupby(level=1).mean(), above.groupby(level=1).sem()
    for place, method in enumerate(METHODS):
        shift = 0.015 * (place - 2)
        axis.errorbar(
            [shift, 1 + shift],
            means.loc[method],
            errors.loc[method],
            marker="o",
            label=method,
        )
    axis.set_xticks([0, 1], means.columns)
    axis.axhline(0, color="0.8", zorder=0)
    axis.margins(x=0.12)
    axis.set_title(
        f"{title}: Kendall's tau {min(taus):.2f} to {max(taus):.2f}",
        fontsize="medium",
    )
    print(
        f"{title}: tau of each draw {', '.join(f'{tau:.2f}' for tau in taus)}"
    )
    print(
        f"  another winner in {moved} of {len(tables)} draws; means over draws:"
    )
    for name in means:
        best, second = means[name].nlargest(2).index
        print(
            f"  {name}: {best} {means.loc[best, name]:+.4f}, "
            f"{second} {means.loc[second, name]:+.4f} from the mean"
        )
axes[0].set_ylabel("above the mean of the five rankers")
figure.legend(*axes[1].get_legend_handles_labels(), loc="outside right center")
plt.show()

"""
Do uninformative queries change who wins?
=========================================

Six rankers on built-in data, drawn five times. Queries on which all rankers together are hardly
above a random ranking are uninformative in the sense of Karmaker Santu and Feng ("Joint Upper &
Lower Bound Normalization for IR Evaluation", 2022): whatever a system does there scores high, or
low. Ideal queries are those on which they are the furthest above it. The lines follow each ranker
from one set of queries to the other, as differences from the mean of all six; points are means
over the five draws and bars their standard errors. Where lines cross, the sets do not agree on who
is better. Left, nDCG@10; right, DCG@10 between what a random and what a perfect ranking score, by
which a gain on an uninformative query is worth as much as one on an ideal query.

In every single draw the two sets name different winners; over the draws, the same one. So much of
what one draw shows is chance. What stays is that by nDCG the weakest ranker falls behind on ideal
queries alone.
"""

import matplotlib.pyplot as plt
import pandas as pd

from skfilterrank.comparison import kendall_tau, score_predictions
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import query_informativeness
from skfilterrank.ranking import make_ranker

GAINS = {-1: 0, 1: 1, 2: 2}
METHODS = {
    "lambdamart": {"n_estimators": 60, "num_leaves": 7},
    "listnet": {"n_estimators": 60, "num_leaves": 7},
    "random_forest": {"n_estimators": 60},
    "rankboost": {"n_estimators": 100},
    "logistic": {},
    "coordinate_ascent": {"measure": "ndcg_f@10", "max_iter": 5},
}
MEASURES = {"ndcg@10": "nDCG@10", "ul_normalized(measure=dcg)@10": "DCG@10, UL V2"}


def means_by_set(seed):
    """Mean of each method over the queries of each set, by measure, for one draw of the data."""
    X, y, groups, _ = make_rank_and_filter(
        n_queries=2200,
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
    found = query_informativeness(y, systems, groups=groups, k=(5, 10), gains=GAINS, n_queries=0.25)
    sets = {"uninformative": found.uninformative, "ideal": found.ideal}
    scores = score_predictions(y, systems, list(MEASURES), groups=groups, gains=GAINS)
    return {
        measure: pd.DataFrame(
            {name: values.to_frame().loc[:, mask].mean(axis=1) for name, mask in sets.items()}
        )
        for measure, values in scores.items()
    }


draws = [means_by_set(seed) for seed in range(5)]
figure, axes = plt.subplots(1, 2, figsize=(11, 4.5), sharey=True, layout="constrained")
for axis, (measure, title) in zip(axes, MEASURES.items()):
    tables = [draw[measure] for draw in draws]
    taus = [kendall_tau(table["uninformative"], table["ideal"]) for table in tables]
    moved = sum(len(set(table.idxmax())) > 1 for table in tables)
    above = pd.concat({seed: table - table.mean() for seed, table in enumerate(tables)})
    means, errors = above.groupby(level=1).mean(), above.groupby(level=1).sem()
    for place, method in enumerate(METHODS):
        shift = 0.015 * (place - 2.5)
        axis.errorbar(
            [shift, 1 + shift], means.loc[method], errors.loc[method], marker="o", label=method
        )
    axis.set_xticks([0, 1], means.columns)
    axis.axhline(0, color="0.8", zorder=0)
    axis.margins(x=0.12)
    axis.set_title(
        f"{title}: Kendall's tau of the orders {min(taus):.2f} to {max(taus):.2f}",
        fontsize="medium",
    )
    print(f"{measure}: tau of each draw {', '.join(f'{tau:.2f}' for tau in taus)}")
    print(f"  another winner in {moved} of {len(tables)} draws; means over the draws:")
    for name in means:
        best, second = means[name].nlargest(2).index
        print(
            f"  {name}: {best} before {second}, {means.loc[best, name]:+.4f} and "
            f"{means.loc[second, name]:+.4f} from the mean of all"
        )
axes[0].set_ylabel("above the mean of the six rankers")
figure.legend(*axes[1].get_legend_handles_labels(), loc="outside right center")
plt.show()

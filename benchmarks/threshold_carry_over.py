"""Does a threshold tuned on out-of-fold scores suit the model refitted on all rows?

    python benchmarks/threshold_carry_over.py [DATA] [--repeats 2] [--cache DIR] [--only-cached]

For each loss, data set and split: the regret of several ways to carry the threshold over, that is
the held-out nDCG_f that the refitted model reaches with the best threshold in hindsight, minus
what it reaches with the threshold carried over. Writes results/threshold_carry_over.md.
"""

from collections import defaultdict

import numpy as np
import pandas as pd
from _common import provenance
from _held_out_scores import (
    RESULTS,
    arguments,
    data_sets,
    held_out_scores,
    markdown,
    names_of,
    stakes,
)
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from skfilterrank._core.gains import as_gains
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import threshold_curve


def rules(s, gains, k):
    """Threshold on the refitted model's scores by each rule; a pair (scores, threshold) where
    other scores than the refitted model's are thresholded."""
    x, fold = s.out_of_fold, s.fold
    good = gains > 0
    tune = _Tuner(gains, s.train_groups, k)
    folds = range(fold.max() + 1)
    mean = np.array([x[fold == f].mean() for f in folds])
    deviation = np.array([x[fold == f].std() for f in folds])
    standard = (x - mean[fold]) / np.where(deviation > 0, deviation, 1)[fold]
    on_standard = tune(standard)
    yield "raw", tune(x)
    yield "standardised, fold means", mean.mean() + deviation.mean() * on_standard
    centred = tune(x - mean[fold])
    yield "centred, fold means", mean.mean() + centred
    spread = tune(x / deviation[fold])
    yield "scaled, fold sds", deviation.mean() * spread
    yield (
        "standardised, training scores",
        s.refit_train.mean() + s.refit_train.std() * on_standard,
    )
    mean_own = np.nanmean(s.folds_train, axis=1)
    deviation_own = np.nanstd(s.folds_train, axis=1)
    on_own = tune((x - mean_own[fold]) / np.where(deviation_own > 0, deviation_own, 1)[fold])
    yield "each standardised by its training", s.refit_train.mean() + s.refit_train.std() * on_own
    on_own = tune(x / np.where(deviation_own > 0, deviation_own, 1)[fold])
    yield "each scaled by its training", s.refit_train.std() * on_own
    rank = np.empty(len(x))
    for f in folds:
        own = np.sort(s.folds_train[f][fold != f])
        rank[fold == f] = np.interp(x[fold == f], own, np.linspace(0, 1, len(own)))
    yield "each quantile of its training", np.quantile(s.refit_train, np.clip(tune(rank), 0, 1))
    for f in folds:
        rank[fold == f] = _ranks(x[fold == f])
    on_rank = np.clip(tune(rank), 0, 1)
    yield "quantile, training scores", np.quantile(s.refit_train, on_rank)
    yield (
        "quantile, fold means",
        np.mean([np.quantile(x[fold == f], on_rank) for f in folds]),
    )
    each = [
        np.clip(
            _Tuner(gains[fold == f], s.train_groups[fold == f], k)(x[fold == f]),
            x[fold == f].min(),
            x[fold == f].max(),
        )
        for f in folds
    ]
    yield "mean of fold optima", np.mean(each)
    yield "median of fold optima", np.median(each)
    for name, fit in (("logistic", _logistic), ("isotonic", _isotonic)):
        maps = [fit(x[fold == f], good[fold == f]) for f in folds]
        probability = np.empty(len(x))
        for f in folds:
            probability[fold == f] = maps[f](x[fold == f])
        refit = np.mean([m(s.refit_held) for m in maps], axis=0)
        yield f"{name} calibration", ((s.refit_held, refit), tune(probability))
    yield "no refit, fold models' mean", (s.folds_held.mean(axis=0), tune(x))
    aligned = (s.folds_held - mean[:, None]) / np.where(deviation > 0, deviation, 1)[:, None]
    yield "no refit, standardised mean", (aligned.mean(axis=0), on_standard)


class _Tuner:
    """Best threshold of scores."""

    def __init__(self, gains, groups, k):
        self.gains, self.groups, self.k = gains, groups, k

    def __call__(self, scores):
        return threshold_curve(self.gains, scores, groups=self.groups, k=self.k).best_threshold


def _ranks(x):
    order = pd.Series(x).rank().to_numpy() - 1
    return order / max(len(x) - 1, 1)


def _logistic(x, good):
    scale = x.std() or 1.0
    model = LogisticRegression(C=1e6).fit((x / scale)[:, None], good)
    return lambda z: model.predict_proba((z / scale)[:, None])[:, 1]


def _isotonic(x, good):
    return IsotonicRegression(out_of_bounds="clip").fit(x, good).predict


def value_of(s, held_gains, k, choice):
    """Held-out nDCG_f, one value per query, of a threshold or of (scores, threshold)."""
    scores, threshold = choice if isinstance(choice, tuple) else (s.refit_held, choice)
    ranked = scores
    if isinstance(scores, tuple):  # order by the first, filter by the second
        ranked, scores = scores
    kept = np.where(scores >= threshold, ranked, -np.inf)
    return ndcg_f_score(held_gains, kept, groups=s.held_groups, k=k, average=None)


def regrets(data_set, args, gains):
    """Regret of every rule on every split, {model: DataFrame (split x rule)}."""
    rows = defaultdict(list)
    scores_of = held_out_scores(
        data_set, names_of(data_set), args.repeats, args.cache, only_cached=args.only_cached
    )
    for name, _, s in scores_of:
        train_gains, held_gains = as_gains(s.train_labels, gains), as_gains(s.held_labels, gains)
        curve = threshold_curve(held_gains, s.refit_held, groups=s.held_groups, k=data_set.k)
        row = {"best in hindsight": curve.best_value}
        for rule, choice in rules(s, train_gains, data_set.k):
            row[rule] = curve.best_value - value_of(s, held_gains, data_set.k, choice).mean()
        rows[name].append(row)
    return {name: pd.DataFrame(values) for name, values in rows.items()}


def main():
    args = arguments(__doc__)
    lines = [
        "# How thresholds carry over to the refitted model",
        "",
        "Written by `benchmarks/threshold_carry_over.py`. Best in hindsight: held-out nDCG_f of",
        "the refitted model under the best threshold for the held-out queries. The others: mean",
        "regret in units of 1e-4 (lower is better) and, in brackets, the standard error over",
        'splits of its difference to raw. "Each ... its training" measures the scores a model',
        'gives to rows it was trained on, "fold" rules measure held-out scores. "No refit"',
        "averages the fold models and is a different, larger model; its regret can be negative.",
        "",
        provenance("xgboost-cpu", "catboost"),
        "",
    ]
    pooled = defaultdict(list)
    for data_set in data_sets(args.data):
        for title, gains in stakes(data_set):
            results = regrets(data_set, args, gains)
            if not results:
                continue
            table = {}
            for name, regret in results.items():
                column = {"splits": len(regret), "best in hindsight": ""}
                column["best in hindsight"] = f"{regret['best in hindsight'].mean():.4f}"
                for rule in regret.columns[1:]:
                    error = (regret[rule] - regret["raw"]).std() / np.sqrt(len(regret))
                    column[rule] = f"{1e4 * regret[rule].mean():.0f} ({1e4 * error:.0f})"
                table[name] = column
                pooled[_kind(name)].append(regret.iloc[:, 1:].mean())
            lines += [f"## {data_set.name}, {title}, k = {data_set.k}", ""]
            lines += [type(data_set).__doc__, ""]
            lines += [*markdown(pd.DataFrame(table)), ""]
            print(pd.DataFrame(table).to_string(), flush=True)
    table = {
        kind: (1e4 * pd.concat(values, axis=1).mean(axis=1)).round(0).astype(int)
        for kind, values in pooled.items()
    }
    lines += ["## Mean over data sets and gains", "", *markdown(pd.DataFrame(table)), ""]
    print(pd.DataFrame(table).to_string(), flush=True)
    (RESULTS / "threshold_carry_over.md").write_text("\n".join(lines) + "\n")


def _kind(name):
    if "stopped early" in name:
        return "ranker stopped early"
    is_ranker = "Rank" in name
    return "rankers" if is_ranker else "classifiers, regressors, ordinal"


if __name__ == "__main__":
    main()

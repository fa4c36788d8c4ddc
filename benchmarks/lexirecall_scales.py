"""One number for lexirecall: which scale orders systems as their exact preferences do.

    python benchmarks/lexirecall_scales.py [--data DIR]

Writes results/lexirecall_scales.md. A minute on one core.
"""

import numpy as np
from _common import arguments, write_report
from _letor_methods import load_parts
from lightgbm import LGBMRegressor
from scipy.stats import kendalltau
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, ParameterGrid, cross_val_predict

from skfilterrank._lists.positions import (
    PreferenceMatrix,
    positions_of,
    positions_of_systems,
    ranked_lists,
)
from skfilterrank.io import QrelsIndex, align
from skfilterrank.metrics import (
    evaluate,
    lexirecall_score,
)

RUNS = ("trec-covid-round1", "trec-robust2003")
FEATURES = {"mq2007": 46, "ohsumed-letor": 45}
# More than any list holds, as in `evaluate_runs`.
N_ITEMS = 10**6
GRID = ParameterGrid(
    {"num_leaves": [4, 7, 15, 31], "learning_rate": [0.02, 0.1], "n_estimators": [20, 60]}
)


def scalars(y_true, y_score, groups, **how):
    """The candidates: a value of each query that has something relevant."""
    how |= {"groups": groups, "undefined": "drop"}
    scales = {
        scale: lexirecall_score.per_query(y_true, y_score, scale=scale, **how)
        for scale in ("log_odds", "share", "log")
    }
    centred = 2 * scales["log_odds"] - 1
    scales |= {
        "root of log_odds": np.sign(centred) * np.sqrt(np.abs(centred)),
        "square of log_odds": np.sign(centred) * centred**2,
        "tanh of 2 log_odds": np.tanh(2 * centred),
        "tanh of 5 log_odds": np.tanh(5 * centred),
    }
    depth = {"undefined": "drop", "groups": groups, "ties": how["ties"]}
    scales |= dict(evaluate(y_true, y_score, ["recall@1000", "ap"], **depth).per_query.items())
    return {name: values[~np.isnan(values)] for name, values in scales.items()}


def of_runs(folder):
    """Exact order and values of the runs of a track."""
    index, positions, values = QrelsIndex(folder / "qrels.txt.gz"), {}, {}
    for path in sorted((folder / "runs").glob("*.gz")):
        run = align(index, path)
        rows = {"y_true": run.y_true, "y_score": run.y_score, "groups": run.index}
        how = {"ties": "stable", "gains": None, "unjudged": "zero"}
        positions[path.name] = positions_of(ranked_lists(**rows, **how))
        values[path.name] = scalars(**rows, ties="stable", n_items=N_ITEMS)
    return PreferenceMatrix.from_positions(positions), values


def of_models(folder, n_features):
    """The same of 18 regressors, by predictions of five folds, and of the single features."""
    parts = load_parts(folder, n_features=n_features)
    X, y, groups = (np.concatenate(column) for column in zip(*parts))
    models = [LGBMRegressor(n_jobs=1, verbose=-1, random_state=0, **each) for each in GRID]
    models += [Ridge(alpha=alpha) for alpha in (1.0, 1e4)]
    folds = GroupKFold(len(parts))
    predicted = {
        f"model {i}": cross_val_predict(model, X, y, groups=groups, cv=folds)
        for i, model in enumerate(models)
    }
    singles = {f"feature {i}": column for i, column in enumerate(X.T)}
    for scores in (predicted, singles):
        values = {name: scalars(y, each, groups, ties="worst") for name, each in scores.items()}
        how = {"ties": "worst", "gains": None, "unjudged": "zero"}
        positions = positions_of_systems(y, scores, groups=groups, **how)
        yield PreferenceMatrix.from_positions(positions), values


def rows_of(name, preferences, values):
    """For each candidate tau of its means, ties and reversals, and whom it takes for the best."""
    ranks = preferences.ranks.to_numpy()[preferences.n_relevant > 0]
    exact = -ranks.mean(axis=0)
    preferred = np.sign(ranks[:, None, :] - ranks[:, :, None])
    decided = np.count_nonzero(preferred)
    for scale in next(iter(values.values())):
        table = np.array([each[scale] for each in values.values()]).T
        sign = np.sign(table[:, :, None] - table[:, None, :])
        means = table.mean(axis=0)
        chosen = int(np.sum(exact > exact[means.argmax()])) + 1
        yield (
            f"| {name} | {scale} | {kendalltau(means, exact)[0]:.3f} | "
            f"{np.count_nonzero((sign == 0) & (preferred != 0)) / decided:.2%} | "
            f"{np.count_nonzero(sign * preferred < 0) / decided:.2%} | {chosen} | "
            f"{means.min():.3f} to {means.max():.3f} |"
        )


def main():
    options = arguments(__doc__.splitlines()[0])
    lines = []
    for name in RUNS:
        preferences, values = of_runs(options.data / name)
        lines += rows_of(f"{name}, {len(values)} runs", preferences, values)
    for name, n_features in FEATURES.items():
        for preferences, values in of_models(options.data / name, n_features):
            kind = next(iter(values)).split()[0]
            lines += rows_of(f"{name}, {len(values)} {kind}s", preferences, values)
    table = "\n".join(lines)
    write_report(
        "lexirecall_scales",
        "Lexirecall as one number",
        f"""
The exact order of some systems is that of their mean ranks by lexicographic preferences over
queries (`order_systems(..., method="win_rate")`). A number for each ranking, `lexirecall_score` on
a scale, can be averaged, and orders the systems in its own way. *tau* is Kendall's, of the two
orders; *tied* and *reversed* are shares of the decided preferences that the number does not show
or contradicts; *chosen* is the exact rank of the system with the best mean. Runs are taken from a
collection of {N_ITEMS:,} documents, as `evaluate_runs` does.

With w worse and b better placements of N, log_odds is
`1/2 + (log(1 + w) - log(1 + b)) / (2 log N)`,
share `w / (N - 1)` and log `log(1 + w) / log N`. The other candidates bend log_odds, centred at 0.

| systems | number | tau | tied | reversed | chosen | means |
|{" --- |" * 7}
{table}

The share fails on runs, of which it counts the topics found completely; log on models, whose
rankings are complete and nearly all at its end. log_odds does neither, ties least, and reads best
among those that do: 1/2 is a random ranking. Models that are nearly alike are ordered safely by the
preferences alone: `order_systems` orders models by them.
""",
    )


if __name__ == "__main__":
    main()

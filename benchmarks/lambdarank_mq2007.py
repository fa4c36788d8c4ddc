"""How close LambdaRankRanker comes to LightGBM's own lambdarank on MQ2007, and how fast it is.

    python benchmarks/lambdarank_mq2007.py [--data DIR] [--trees 100] [--repeats 7]

Both sides get the same rows, parameters and threads. Writes results/lambdarank_mq2007.md.
"""

import os

import lightgbm as lgb
import numpy as np
from _common import arguments, best_time, write_report
from sklearn.utils import shuffle

from skfilterrank._core.queries import GroupIndex
from skfilterrank.io import read_letor
from skfilterrank.metrics import ndcg_score
from skfilterrank.ranking import LambdaRankRanker

FOLDS = [([f, f + 1, f + 2], f + 3, f + 4) for f in range(1, 6)]
STOPPING_ROUNDS = 20


def join(parts, numbers):
    """The parts with these numbers, counted round from 1."""
    chosen = [parts[(number - 1) % 5] for number in numbers]
    return tuple(np.concatenate(columns) for columns in zip(*chosen))


def fit_native(train, valid=None, *, trees, threads=1):
    """LightGBM's lambdarank; MQ2007 stands in query order."""
    params = {"objective": "lambdarank", "num_threads": threads, "verbosity": -1, "eval_at": [30]}
    X, y, groups = train
    rows = lgb.Dataset(X, y, group=GroupIndex.from_groups(groups).sizes)
    if valid is None:
        return lgb.train(params, rows, trees)
    X, y, groups = valid
    held_out = rows.create_valid(X, y, group=GroupIndex.from_groups(groups).sizes)
    params["early_stopping_round"] = STOPPING_ROUNDS
    return lgb.train(params, rows, trees, valid_sets=[held_out])


def fit_ours(train, valid=None, *, trees, threads=1):
    """The same with the objective of this package."""
    ranker = LambdaRankRanker(gains="exp2", n_estimators=trees, n_jobs=threads)
    if valid is None:
        return ranker.fit(*train)
    ranker.set_params(early_stopping_rounds=STOPPING_ROUNDS)
    return ranker.fit(*train, eval_set=valid[:2], eval_groups=valid[2])


def ndcg_at_10(model, test):
    """Mean nDCG@10 of the test part."""
    X, y, groups = test
    return ndcg_score(y, model.predict(X), groups=groups, k=10, gains="exp2")


def shuffled(train, seed):
    """The rows of each query in another order, on which LightGBM's first tree depends."""
    X, y, groups = shuffle(*train, random_state=seed)
    order = np.argsort(groups, kind="stable")
    return X[order], y[order], groups[order]


def table(head, rows):
    """A Markdown table; numbers with four places."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(value):
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def compare(parts, trees, orders):
    """Rows of the tables of nDCG@10, without and with early stopping."""
    fixed, stopped = [], []
    for fold, (train_parts, valid_part, test_part) in enumerate(FOLDS, start=1):
        train, valid, test = (join(parts, p) for p in (train_parts, [valid_part], [test_part]))
        native = ndcg_at_10(fit_native(train, trees=trees), test)
        ours = ndcg_at_10(fit_ours(train, trees=trees), test)
        others = [
            ndcg_at_10(fit_native(shuffled(train, seed), trees=trees), test)
            for seed in range(orders)
        ]
        fixed.append([native, ours, ours - native, *others])
        models = [fit(train, valid, trees=5 * trees) for fit in (fit_native, fit_ours)]
        native, ours = (ndcg_at_10(model, test) for model in models)
        n_trees = [models[0].best_iteration, models[1].best_iteration_]
        stopped.append([native, ours, ours - native, *n_trees])
        print(f"Fold{fold}", fixed[-1], stopped[-1], flush=True)
    return _with_mean(fixed), _with_mean(stopped)


def _with_mean(rows):
    """Rows with the name of the fold in front, and their mean."""
    named = [[f"Fold{fold}", *row] for fold, row in enumerate(rows, start=1)]
    return [*named, ["mean", *np.mean(rows, axis=0).tolist()]]


def compare_times(train, trees, repeats):
    """Rows of the table of training times."""
    rows = []
    for threads in (1, 2):
        best = {fit_native: np.inf, fit_ours: np.inf}
        for _ in range(repeats):
            # In turn, so that a busy spell of the machine meets both.
            for fit, taken in best.items():
                again, _ = best_time(lambda f=fit, n=threads: f(train, trees=trees, threads=n), 1)
                best[fit] = min(taken, again)
        native, ours = best.values()
        rows.append([threads, *(f"{value:.2f}" for value in (native, ours, ours / native))])
    return rows


def main():
    """Measure and write the report."""
    options = arguments(__doc__.splitlines()[0], trees=100, repeats=7, orders=3)
    parts = [
        read_letor(options.data / "mq2007" / f"S{i}.txt.gz", n_features=46, sparse=False)[:3]
        for i in range(1, 6)
    ]
    fixed, stopped = compare(parts, options.trees, options.orders)
    train = join(parts, FOLDS[0][0])
    times = compare_times(train, options.trees, options.repeats)
    orders = [f"LightGBM, order {i + 1}" for i in range(options.orders)]
    write_report(
        "lambdarank_mq2007",
        "LambdaRankRanker and LightGBM's lambdarank on MQ2007",
        f"""
Mean nDCG@10 of the test queries (gains 2^label - 1) after {options.trees} trees, parameters at
their defaults on both sides, truncation 30. Before the first tree all scores are equal, and how
these ties stand is arbitrary: LightGBM takes the order of the rows. The last columns are LightGBM
on the same rows in other orders within each query, which shows how much that alone moves.

{table(["fold", "LightGBM", "ours", "difference", *orders], fixed)}

With early stopping on the validation part: at most {5 * options.trees} trees, {STOPPING_ROUNDS}
without improvement of nDCG@30.

{table(["fold", "LightGBM", "ours", "difference", "trees, LightGBM", "trees, ours"], stopped)}

Training time in seconds, data set included, on the {len(train[0])} rows of Fold1 (all five parts
have {sum(len(part[1]) for part in parts)}); best of {options.repeats} runs in turn, load average
of the machine {os.getloadavg()[0]:.1f}.

{table(["threads", "LightGBM", "ours", "ratio"], times)}
""",
    )


if __name__ == "__main__":
    main()

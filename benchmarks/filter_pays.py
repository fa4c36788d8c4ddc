"""Does a filter pay? Estimators, rules by hand, and three answers without a model.

    python benchmarks/filter_pays.py [--data DIR] [--seeds 3] [--queries 400]

Each collection is split by query, and every value is of queries that no model has seen. The best
first k is chosen on the training queries. About 30 CPU minutes on one thread. Writes
results/filter_pays.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from _common import arguments, write_report
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from sklearn.model_selection import GroupKFold

from skfilterrank import QueryRanker, RankAndFilter
from skfilterrank.datasets import fetch_semeval_cqa, make_rank_and_filter
from skfilterrank.exceptions import FitWarning
from skfilterrank.io import read_letor
from skfilterrank.metrics import evaluate
from skfilterrank.ranking import make_ranker, make_text_features

K = 10
PRICES = (0.2, 1, 10)
LIGHTGBM = {"n_estimators": 60, "num_leaves": 15, "learning_rate": 0.1, "min_child_samples": 10}
TEXT_COLUMNS = {
    "document": "comment",
    "query_text": ["question_subject", "question_body"],
    "same": [("user", "question_user")],
    "numeric": ["position"],
    "query": "qid",
    "order": "position",
}


class Split(NamedTuple):
    """Training and held-out rows of a collection; a label of -1 is forbidden."""

    X: np.ndarray
    y: np.ndarray
    groups: np.ndarray
    held_X: np.ndarray
    held_y: np.ndarray
    held_groups: np.ndarray


def five_folds(X, y, groups, seed):
    """Yield splits of rows by query."""
    folds = GroupKFold(5, shuffle=True, random_state=seed)
    for train, held in folds.split(X, groups=groups):
        yield Split(X[train], y[train], groups[train], X[held], y[held], groups[held])


def forum_answers(options, seed):
    """Yield the split of SemEval-2016: numbers from texts, fitted on train-part2."""
    parts = [fetch_semeval_cqa(name, data_home=options.data) for name in ("train-part2", "dev")]
    features = make_text_features(**TEXT_COLUMNS, output="dense", random_state=seed)
    gains = {"Bad": -1, "PotentiallyUseful": 1, "Good": 2}
    train = np.asarray(features.fit_transform(parts[0].data))
    held = np.asarray(features.transform(parts[1].data))
    labels = [part.target.map(gains).to_numpy(dtype=float) for part in parts]
    queries = [part.target.index.to_numpy() for part in parts]
    yield Split(train, labels[0], queries[0], held, labels[1], queries[1])


def letor(folder, n_features, forbid):
    """Return a function that yields five splits of some queries of LETOR data."""

    def splits(options, seed):
        paths = [options.data / folder / f"S{i}.txt.gz" for i in range(1, 6)]
        parts = [read_letor(path, n_features=n_features) for path in paths]
        X = np.vstack([part.X for part in parts])
        y = np.concatenate([part.y for part in parts]).astype(float)
        groups = np.concatenate([part.groups for part in parts])
        chosen = np.random.RandomState(seed).permutation(np.unique(groups))[: options.queries]
        rows = np.isin(groups, chosen)
        X, y = forbid(X[rows], y[rows])
        yield from five_folds(X, y, groups[rows], seed)

    return splits


def label_zero(X, y):
    """Forbid documents of label 0."""
    return X, np.where(y == 0, -1, y)


def long_pages(X, y):
    """Forbid the third of the documents whose column 20, which is taken out, is the largest."""
    column = X[:, 20]
    harmful = column > np.quantile(column, 2 / 3)
    return np.delete(X, 20, axis=1), np.where(harmful, -1, y)


def misinformation(options, seed):
    """Yield five splits of the judged documents of TREC's health misinformation track."""
    table = pd.read_parquet(options.data / "trec-misinfo-2021" / "features.parquet")
    qrels = pd.read_csv(
        options.data / "trec-misinfo-2021" / "qrels.txt.gz",
        sep=r"\s+",
        names=["qid", "zero", "docno", "label"],
        dtype={"qid": str, "docno": str},
    )
    keys = ["qid", "docno"]
    table = table.rename(columns={"query": "qid"})
    table = table.astype(dict.fromkeys(keys, str)).merge(qrels[[*keys, "label"]], on=keys)
    columns = table.drop(columns=[*keys, "label"]).select_dtypes("number")
    label = table["label"].to_numpy(dtype=float)
    y = np.where(label < 0, -1, np.minimum(label, 2))
    yield from five_folds(columns.to_numpy(float), y, table["qid"].to_numpy(), seed)


def generated(options, seed):
    """Yield a split of the generator's rows, 400 queries to learn from."""
    X, y, groups, _ = make_rank_and_filter(n_queries=800, random_state=seed)
    train = groups < 400
    rows = (X[train], y[train].astype(float), groups[train])
    yield Split(*rows, X[~train], y[~train].astype(float), groups[~train])


COLLECTIONS = {
    "SemEval-2016": forum_answers,
    "MQ2007, label 0 forbidden": letor("mq2007", 46, label_zero),
    "MQ2007, a column forbids": letor("mq2007", 46, long_pages),
    "OHSUMED, label 0 forbidden": letor("ohsumed-letor", 25, label_zero),
    "misinformation 2021": misinformation,
    "generator": generated,
}


def lightgbm(kind, seed):
    """Return a LightGBM estimator on one thread."""
    return kind(**LIGHTGBM, random_state=seed, n_jobs=1, verbose=-1)


def models(seed):
    """Return the estimators inside RankAndFilter."""
    return {
        "LGBMRanker": QueryRanker(lightgbm(LGBMRanker, seed)),
        "LGBMRegressor": lightgbm(LGBMRegressor, seed),
        "LGBMClassifier": make_ranker("bce", lightgbm(LGBMClassifier, seed)),
        "ordinal, trees": make_ranker("ordinal", lightgbm(LGBMClassifier, seed)),
        "ordinal, linear": make_ranker("ordinal", "linear"),
        "ordinal, blend": make_ranker("ordinal", "blend", random_state=seed),
    }


def by_hand(split, gains, seed):
    """Return scores of two rules that people write: hide below 0, and hide by a classifier."""
    gained = np.vectorize(gains.get)(split.y)
    regressor = lightgbm(LGBMRegressor, seed).fit(split.X, gained)
    found = regressor.predict(split.held_X)
    graded = np.maximum(split.y, 0)
    ranker = QueryRanker(lightgbm(LGBMRanker, seed)).fit(split.X, graded, groups=split.groups)
    is_harmful = lightgbm(LGBMClassifier, seed).fit(split.X, split.y < 0)
    # A document pays where its expected gain is above 0.
    mean_gain = gained[gained > 0].mean()
    chance = is_harmful.predict_proba(split.held_X)[:, 1]
    pays = (1 - chance) * mean_gain + chance * gains[-1] > 0
    ordered = ranker.predict(split.held_X)
    return {
        "regressor, hidden below 0": np.where(found > 0, found, -np.inf),
        "ranker orders, classifier hides": np.where(pays, ordered, -np.inf),
    }


def first_places(scores, groups, k):
    """Hide all but the first k documents of each query."""
    rows = pd.DataFrame({"score": scores, "query": groups})
    place = rows.groupby("query")["score"].rank(method="first", ascending=False)
    return np.where(place <= k, scores, -np.inf)


def better_of(table, scores, filtered, groups):
    """Return what keep_if="better" shows: the best answer unless the threshold beats it."""
    answers = table.drop(index="threshold")
    best = answers["value"].idxmax()
    if answers.loc[best, "difference"] > answers.loc[best, "error"]:
        return filtered
    if best == "everything":
        return scores
    k = 0 if best == "nothing" else int(best.split()[1])
    return first_places(scores, groups, k)


def shown_by(split, gains, seed, k):
    """Yield name, scores of the held-out rows and CPU seconds of each way."""
    groups = split.held_groups
    for name, estimator in models(seed).items():
        begin = time.process_time()
        model = RankAndFilter(estimator, measure=f"ndcg_f@{k}", gains=gains)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FitWarning)
            model.fit(split.X, split.y, groups=split.groups)
        seconds = time.process_time() - begin
        scores = model.decision_function(split.held_X)
        filtered = model.predict(split.held_X, groups=groups)
        yield name, filtered, seconds
        yield f"{name}: everything", scores, np.nan
        yield f"{name}: better", better_of(model.held_out_, scores, filtered, groups), np.nan
        (first,) = (row for row in model.held_out_.index if row.startswith("first"))
        yield f"{name}: first k", first_places(scores, groups, int(first.split()[1])), np.nan
    for name, scores in by_hand(split, gains, seed).items():
        yield name, scores, np.nan
    yield "nothing", np.full(len(groups), -np.inf), np.nan


def measured(splits, price, seed, k):
    """Return a row for each way and query: measures, seconds and seed."""
    found = []
    for split in splits:
        gains = {-1: -price, 0: 0, 1: 1, 2: 2}
        labels = np.unique(np.r_[split.y, split.held_y]).astype(int)
        gains = {int(label): gains[label] for label in labels}
        measures = [f"ndcg_f@{k}", f"forbidden@{k}", "false_reject_rate", "empty_list_rate"]
        for name, scores, seconds in shown_by(split, gains, seed, k):
            values = evaluate(
                split.held_y, scores, measures, groups=split.held_groups, gains=gains
            ).per_query
            values = values.rename_axis("qid").reset_index()
            values.columns = ["qid", "ndcg_f", "forbidden", "lost", "empty"]
            found.append(values.assign(way=name, seconds=seconds, seed=seed))
    return pd.concat(found)


def difference(values, first, second):
    """Return the mean difference of two ways and its standard error over queries."""
    table = values.pivot_table("ndcg_f", "qid", "way")
    each = table[first] - table[second]
    return each.mean(), each.std() / np.sqrt(len(each))


def section(values):
    """Return a table: each estimator, what it shows without a threshold, and its first k."""
    means = values.groupby("way")[["ndcg_f", "forbidden", "lost", "empty", "seconds"]].mean()
    lines = [
        "| way | everything | best first k | threshold | kept if better | threshold over the best "
        "of everything, nothing, first k (s.e.) | forbidden among the first 10: all, shown | good "
        "hidden | empty | fit, CPU s |",
        "|" + " --- |" * 10,
    ]
    for name in models(0):
        others = [f"{name}: everything", "nothing", f"{name}: first k"]
        best = means.loc[others, "ndcg_f"].idxmax()
        gain, error = difference(values, name, best)
        bare, row = means.loc[f"{name}: everything"], means.loc[name]
        cells = [means.loc[f"{name}: {other}", "ndcg_f"] for other in ("everything", "first k")]
        cells += [row["ndcg_f"], means.loc[f"{name}: better", "ndcg_f"]]
        told = best.removeprefix(f"{name}: ")
        lines.append(
            f"| {name} | {' | '.join(f'{cell:.3f}' for cell in cells)} | {gain:+.3f} ({error:.3f}; "
            f"{told}) | {100 * bare['forbidden']:.1f} %, {100 * row['forbidden']:.1f} % | "
            f"{100 * row['lost']:.1f} % | {100 * row['empty']:.1f} % | {row['seconds']:.1f} |"
        )
    for name in ("regressor, hidden below 0", "ranker orders, classifier hides", "nothing"):
        row = means.loc[name]
        lines.append(
            f"| {name} | | | {row['ndcg_f']:.3f} | | | {100 * row['forbidden']:.1f} % | "
            f"{100 * row['lost']:.1f} % | {100 * row['empty']:.1f} % | |"
        )
    return "\n".join(lines)


def summary(tables):
    """Return the mean of each estimator's loss to the best one of a table, and its worst."""
    losses = {}
    for key, values in tables.items():
        means = values.groupby("way")["ndcg_f"].mean()
        ways = [*models(0), "regressor, hidden below 0", "ranker orders, classifier hides"]
        losses[key] = means[ways] - means[ways].max()
    losses = pd.DataFrame(losses).T
    costs = []
    for values in tables.values():
        means = values.groupby("way")["ndcg_f"].mean()
        for name in models(0):
            rest = means[[f"{name}: everything", "nothing", f"{name}: first k"]].max()
            costs.append((means[f"{name}: better"] - rest, means[f"{name}: better"] - means[name]))
    below, cost = np.array(costs).T
    lines = ["| way | mean loss to the best way | largest loss |", "| --- | --- | --- |"]
    for way, column in losses.items():
        lines.append(f"| {way} | {column.mean():.4f} | {column.min():.3f} ({column.idxmin()}) |")
    return "\n".join(lines) + (
        f'\n\nkeep_if="better": of {len(below)} cells, {(below < -0.002).sum()} lie more than '
        f".002 below the best of everything, nothing and the first k (lowest {below.min():+.3f}); "
        f"against the threshold itself, {cost.mean():+.4f} on average ({cost.min():+.3f} to "
        f"{cost.max():+.3f})."
    )


def main():
    options = arguments(__doc__, seeds=3, queries=400)
    tables = {}
    for collection, splits in COLLECTIONS.items():
        for price in PRICES:
            parts = [
                measured(splits(options, seed), price, seed, K) for seed in range(options.seeds)
            ]
            tables[f"{collection}, a forbidden document costs {price}"] = pd.concat(parts)
    text = [
        f"nDCG_f@{K}, mean over held-out queries of {options.seeds} seeds; gains of good documents "
        "1 and 2. LightGBM has 60 trees of 15 leaves on one thread. Best first k: k chosen by the "
        "training queries' out-of-fold scores. Kept if better: the best of everything, nothing "
        "and the first k by these scores, unless the threshold beats it by a standard error.",
        "## Over all collections and prices",
        summary(tables),
    ]
    for title, values in tables.items():
        text += [f"## {title}", section(values)]
    write_report("filter_pays", "Does a filter pay?", "\n\n".join(text))


if __name__ == "__main__":
    main()

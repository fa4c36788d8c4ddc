"""Drawn labels beside other ways to treat unjudged documents: order, values, intervals and cost.

Five collections with all labels; some are hidden, and the systems are measured again. Each part is
kept in results/drawn_labels_PART.csv, and the report is made of all of them: `python
benchmarks/drawn_labels.py ways` makes one part anew. Needs bm25s and PyStemmer.
"""

import resource
import time
import warnings
from dataclasses import replace
from unittest import mock

import numpy as np
import pandas as pd
from _common import RESULTS, arguments
from _drawn_labels_report import write
from _judged_collections import KEY, MADE, REAL, read_pool
from scipy.stats import kendalltau, rankdata, spearmanr
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from skfilterrank.comparison import compare_systems, order_systems
from skfilterrank.exceptions import SkfilterrankWarning
from skfilterrank.io import read_letor
from skfilterrank.judgments import (
    LabelPredictor,
    _complete_qrels,
    complete_qrels,
    estimate,
    rank_systems,
)
from skfilterrank.metrics import evaluate, evaluate_runs

MEASURES = ["ap", "ndcg@10"]
SHARES = (0.05, 0.1, 0.2)
# Queries and runs of each repetition, which cost time: of the parts with many cells, and of others.
MANY_CELLS = {"most_queries": 30, "most_runs": 37}
FEW_CELLS = {"most_queries": 40, "most_runs": 50}
SELECTED = {"most_queries": 20, "most_runs": 25}
# Repetitions of all parts but `ways` and `training`.
FEW = 1
MACHINES = ("flan-t5-large_sun-decomposed", "llama3-8b_direct")
SELECTORS = (
    "pooling",
    "statAP",
    "random",
    "MAXREP",
    "pooling and random",
    "pooling and MAXREP",
    "uncertainty",
)


def values_of(qrels, pool, measures=MEASURES, **options):
    """Evaluate the runs of a pool."""
    return evaluate_runs(
        qrels, pool.runs, measures, predicted="use", unjudged_label=None, **options
    )


def drawn_values(
    pool, judged, seed, *, texts=True, machines=None, n_draws=20, runs=None, only=None
):
    """Complete the judgments of a mask, and evaluate the runs of the pool, or one of them."""
    has_texts = texts and pool.texts is not None
    completed = complete_qrels(
        pool.qrels(judged),
        pool.runs if runs is None else runs,
        pool.texts if has_texts else None,
        pool.topics if has_texts else None,
        machines,
        n_draws=n_draws,
        random_state=seed,
    )
    if only is not None:
        pool = replace(pool, runs={only: pool.runs[only]})
    return values_of(completed.to_frame(), pool)


def predicted_values(pool, judged):
    """Evaluate by the labels that the default LabelPredictor gives the unjudged documents."""
    known = pool.qrels(judged, unjudged_rows=True)
    labels = LabelPredictor().fit_transform(
        list(pool.documents), known["label"].to_numpy(), known["qid"].to_numpy()
    )
    return values_of(known.assign(label=labels).dropna(subset="label"), pool)


def estimated_values(pool, judged):
    """Estimate by the same labels, where they are a random sample."""
    sizes = pd.Series(judged).groupby(pool.queries)
    sample = pool.qrels(judged).assign(
        inclusion_probability=(sizes.transform("mean"))[judged].to_numpy()
    )
    return estimate(sample, pool.runs, MEASURES, pool=pool.qrels()[KEY]).to_frame()


def agreement(found, truth):
    """Kendall's tau and RMSE of the means of systems."""
    found, truth = np.asarray(found, dtype=float), np.asarray(truth, dtype=float)
    tau = kendalltau(found.round(12), truth.round(12)).statistic
    return {"tau": np.nan_to_num(tau), "rmse": np.sqrt(np.mean((found - truth) ** 2))}


def safe_means(values, measure):
    """Values of the safe order, in the order of the runs."""
    order = order_systems(values, measure=measure, method="safe", n_resamples=0)
    return pd.Series(order.scores, order.systems).reindex(values.means.index)


def drawn_rows(values, truth):
    """Agreement of condensed lists, drawn labels and the safe order; coverage of intervals."""
    intervals = values.intervals()
    for measure in MEASURES:
        true = truth[measure]
        condensed = values.condensed[measure].groupby("run", sort=False).mean()
        yield "condensed", measure, agreement(condensed.reindex(true.index), true)
        own = intervals.xs(measure, level="measure").reindex(true.index)
        found = agreement(values.means[measure], true)
        found["holds"] = np.mean((own["low_these"] <= true) & (true <= own["high_these"]))
        found["width"] = np.mean(own["high_these"] - own["low_these"])
        pairs = compare_systems(values, measure=measure).to_frame()
        between = true[pairs["first"]].to_numpy() - true[pairs["second"]].to_numpy()
        found["holds_differences"] = np.mean(
            (pairs["low_these"] <= between + 1e-9) & (between - 1e-9 <= pairs["high_these"])
        )
        yield "drawn", measure, found
        yield "safe", measure, agreement(safe_means(values, measure), true)


def other_rows(pool, judged, how, truth):
    """The same of all other ways."""
    table = pool.qrels(judged, unjudged_rows=True)
    zero = values_of(table, pool, [*MEASURES, "bpref", "infap"])
    for name, column, measure in (
        ("unjudged as 0", "ap", "ap"),
        ("unjudged as 0", "ndcg@10", "ndcg@10"),
        ("bpref", "bpref", "ap"),
        ("infAP", "infap", "ap"),
    ):
        yield name, measure, agreement(zero.means[column], truth[measure])
    if pool.texts is not None:
        means = predicted_values(pool, judged).means
        for measure in MEASURES:
            yield "LabelPredictor()", measure, agreement(means[measure], truth[measure])
    if how == "random":
        means = estimated_values(pool, judged)
        for measure in MEASURES:
            own = means.loc[measure].reindex(truth.index)
            found = agreement(own["value"], truth[measure])
            found["holds"] = np.mean(
                (own["low"] <= truth[measure]) & (truth[measure] <= own["high"])
            )
            found["width"] = np.mean(own["high"] - own["low"])
            yield "estimate()", measure, found


def ways(options):
    """Every way to treat unjudged documents: tau, RMSE, coverage."""
    for seed in range(options.repetitions):
        for name in (*REAL, *MADE):
            part = read_pool(name, options.data).part(seed, **MANY_CELLS)
            truth = values_of(part.qrels(), part).means
            for how in ("pooling", "random"):
                for share in SHARES:
                    judged = part.judged(how, share, seed)
                    found = [*drawn_rows(drawn_values(part, judged, seed), truth)]
                    found += other_rows(part, judged, how, truth)
                    row = {"collection": name, "seed": seed, "judged": how, "share": share}
                    for way, measure, numbers in found:
                        yield {**row, "way": way, "measure": measure, **numbers}
            progress(seed, name)


def later_runs(options):
    """Values of a run that did not contribute, less its values where it did."""
    for name in REAL:
        pool = read_pool(name, options.data)
        part = pool.part(0, **MANY_CELLS)
        truth = values_of(part.qrels(), part).means
        order = truth["ap"].sort_values().index
        chosen = order[np.linspace(0, len(order) - 1, 8).round().astype(int)]
        for share in (0.1, 0.2):
            judged = part.judged("pooling", share, 0)
            with_all = drawn_values(part, judged, 0).means
            for run in chosen:
                others = {other: own for other, own in part.runs.items() if other != run}
                rest = part.of(part.name, others, part.labels)
                mask = np.zeros(len(judged), dtype=bool)
                rows = part.labels.index.get_indexer(rest.labels.index)
                mask[rows[rest.judged("pooling", share, 0)]] = True
                columns = {"drawn anew": None, "not drawn anew": others}
                for how, runs in columns.items():
                    values = drawn_values(part, mask, 0, runs=runs, only=run).means.loc[run]
                    for measure in MEASURES:
                        yield {
                            "collection": name,
                            "share": share,
                            "run": run,
                            "labels": how,
                            "measure": measure,
                            "less": values[measure] - with_all.loc[run, measure],
                            "error": values[measure] - truth.loc[run, measure],
                            "error_with": with_all.loc[run, measure] - truth.loc[run, measure],
                        }
        progress(name)


def uncertain(pool, share, seed):
    """Half of the labels by pooling, the others where the drawn labels vary most."""
    first = pool.judged("pooling", share / 2, seed)
    has_texts = pool.texts is not None
    completed = complete_qrels(
        pool.qrels(first),
        pool.runs,
        pool.texts if has_texts else None,
        pool.topics if has_texts else None,
        n_draws=10,
        random_state=seed,
    ).to_frame()
    spread = completed.dropna(subset="draw").groupby(KEY)["label"].std()
    key = np.where(first, np.inf, spread.reindex(pool.labels.index).fillna(0).to_numpy())
    by_query = pd.Series(-key).groupby(pool.queries)
    most = np.maximum(1, np.floor(share * by_query.transform("size") + 0.5))
    return (by_query.rank(method="first") <= most).to_numpy()


def selectors(options):
    """Selectors with drawn labels and with condensed lists."""
    for name in (*REAL, *MADE):
        pool = read_pool(name, options.data)
        for seed in range(min(options.repetitions, FEW)):
            part = pool.part(seed, **SELECTED)
            truth = values_of(part.qrels(), part).means
            for how in SELECTORS:
                if "MAXREP" in how and part.texts is None:
                    continue
                for share in (0.05, 0.1, 0.2, 0.4):
                    if how == "uncertainty":
                        judged = uncertain(part, share, seed)
                    else:
                        judged = part.judged(how, share, seed)
                    values = drawn_values(part, judged, seed, n_draws=10)
                    for way, measure, numbers in drawn_rows(values, truth):
                        row = {"collection": name, "seed": seed, "judged": how, "share": share}
                        yield {**row, "way": way, "measure": measure, **numbers}
            progress(name, seed)


def few_labels(options):
    """Few labels over all queries: is the order better than without any?"""
    for name in (*REAL, "cacm"):
        pool = read_pool(name, options.data)
        for seed in range(min(options.repetitions, FEW)):
            part = pool.part(seed, **FEW_CELLS)
            truth = values_of(part.qrels(), part).means
            without = rank_systems(part.runs, measure=MEASURES, random_state=seed)
            place = part.ranks.min(axis=1).to_numpy()
            noise = np.random.default_rng(seed).random(len(place))
            for how, key in (("pooling", place + noise), ("random", noise)):
                for n_labels in (10, 20, 30, 50, 100, 200):
                    judged = np.zeros(len(key), dtype=bool)
                    judged[np.argsort(key)[:n_labels]] = True
                    labels = part.labels.to_numpy()[judged]
                    row = {
                        "collection": name,
                        "seed": seed,
                        "judged": how,
                        "labels": n_labels,
                        "relevant": np.count_nonzero(labels > 0),
                    }
                    for measure in MEASURES:
                        found = agreement(without[measure].reindex(truth.index), truth[measure])
                        yield {**row, "way": "no label", "measure": measure, **found}
                    try:
                        # The number of labels that is needed is what this part measures.
                        with mock.patch.object(_complete_qrels, "_MIN_LABELS", 0):
                            values = drawn_values(part, judged, seed)
                    except ValueError:
                        # Too few labels of a kind.
                        yield {**row, "way": "refused"}
                        continue
                    for way, measure, numbers in drawn_rows(values, truth):
                        yield {**row, "way": way, "measure": measure, **numbers}
            progress(name, seed)


def machines(options):
    """A machine's labels as a column, with texts and without."""
    pool = read_pool("trec-dl2019-llm", options.data)
    for seed in range(min(options.repetitions, FEW)):
        part = pool.part(seed, **MANY_CELLS)
        truth = values_of(part.qrels(), part).means
        for how in ("pooling", "random"):
            for share in SHARES:
                judged = part.judged(how, share, seed)
                row = {"seed": seed, "judged": how, "share": share}
                for texts in (False, True):
                    for judge in (None, *MACHINES):
                        given = (
                            None if judge is None else {judge: part.machines[judge].reset_index()}
                        )
                        values = drawn_values(part, judged, seed, texts=texts, machines=given)
                        for way, measure, numbers in drawn_rows(values, truth):
                            if way == "drawn" or (way == "condensed" and not texts and not judge):
                                kind = "texts" if texts else "ranks"
                                name = way if way == "condensed" else kind
                                yield {
                                    **row,
                                    "way": f"{name}, {judge}" if judge else name,
                                    "measure": measure,
                                    **numbers,
                                }
        progress("machines", seed)


def anchors(options):
    """So many labels of each query of trec-dl2019-llm: Spearman's correlation and tau."""
    pool = read_pool("trec-dl2019-llm", options.data)
    for seed in range(min(options.repetitions, FEW)):
        part = pool.part(seed, **FEW_CELLS)
        truth = values_of(part.qrels(), part).means
        for how in ("pooling", "random"):
            order = pd.Series(part.selector(how, seed).ranking_)
            for n_labels in (1, 2, 4, 8, 16, 32, 64, 128):
                judged = (order <= n_labels).to_numpy()
                try:
                    values = drawn_values(part, judged, seed)
                except ValueError:
                    # Too few labels of a kind.
                    continue
                for way, measure, numbers in drawn_rows(values, truth):
                    means = values.means[measure]
                    if way == "condensed":
                        means = values.condensed[measure].groupby("run", sort=False).mean()
                    if way != "safe":
                        numbers["spearman"] = spearmanr(means.reindex(truth.index), truth[measure])[
                            0
                        ]
                    yield {
                        "seed": seed,
                        "judged": how,
                        "labels": n_labels,
                        "way": way,
                        "measure": measure,
                        **numbers,
                    }
        progress("anchors", seed)


def training(options):
    """Train a ridge regression on OHSUMED's features with a share of the labels."""
    folder = options.data / "ohsumed-letor"
    parts = [read_letor(folder / f"S{number}.txt.gz") for number in range(1, 6)]
    X = pd.DataFrame(np.vstack([np.asarray(part.X) for part in parts]))
    y = np.concatenate([part.y for part in parts]).astype(float)
    groups = np.concatenate([np.asarray(part.groups).astype(str) for part in parts])
    of_part = np.repeat(np.arange(5), [len(part.y) for part in parts])
    by_query = X.groupby(groups)
    spread = by_query.transform("std").fillna(0).replace(0, 1)
    X = ((X - by_query.transform("mean")) / spread).to_numpy()
    for seed in range(options.repetitions):
        rng = np.random.default_rng(seed)
        test = of_part == seed % 5
        for how in ("random", "best"):
            # The best have the highest mean rank by all features.
            key = -rankdata(X, axis=0).mean(axis=1) if how == "best" else rng.random(len(X))
            for share in (0.05, 0.2):
                place = pd.Series(key).groupby(groups).rank(method="first")
                most = share * place.groupby(groups).transform("size")
                judged = (place <= np.maximum(1, np.floor(most + 0.5))).to_numpy()
                labels = np.where(judged, y, np.nan)[~test]
                for way, model in trained(X[~test], labels, y[~test], groups[~test]):
                    scores = model.predict(X[test])
                    value = evaluate(y[test], scores, "ndcg@10", groups=groups[test]).means
                    yield {
                        "seed": seed,
                        "judged": how,
                        "share": share,
                        "way": way,
                        "value": value["ndcg@10"],
                    }
        progress("training", seed)


def trained(X, labels, full, groups):
    """A ridge regression by each way to treat unjudged rows."""
    known = ~np.isnan(labels)
    yield "all labels", Ridge().fit(X, full)
    yield "dropped", Ridge().fit(X[known], labels[known])
    yield "unjudged as 0", Ridge().fit(X, np.nan_to_num(labels))
    for name, predictor in (
        ("LabelPredictor()", LabelPredictor(vectorizer=StandardScaler())),
        ("model='pairs'", LabelPredictor(model="pairs")),
    ):
        filled = predictor.fit_transform(X, labels, groups)
        kept = ~np.isnan(filled)
        yield name, Ridge().fit(X[kept], filled[kept])
    chances = predictor.predict_proba(X, groups) @ predictor.classes_
    yield (
        "model='pairs', expected labels",
        Ridge().fit(X, np.where(known, np.nan_to_num(labels), chances)),
    )


def cost(options):
    """CPU seconds and memory of drawing and evaluating made lists, by number of queries."""
    rng = np.random.default_rng(0)
    for n_queries in (12, 25, 50):
        runs = made_lists(rng, n_queries, n_documents=1000, n_runs=100)
        first = runs["run 0"]
        judged = first[first["document"] % 10 == 0][KEY]
        relevant = rng.random(len(judged)) < 0.2
        qrels = judged.assign(label=relevant.astype(int))
        runs = {name: run[[*KEY, "score"]] for name, run in runs.items()}
        begin = time.process_time()
        completed = complete_qrels(qrels, runs, n_draws=20, random_state=0)
        middle = time.process_time()
        evaluate_runs(completed.to_frame(), runs, MEASURES, predicted="use", unjudged_label=None)
        end = time.process_time()
        yield {
            "queries": n_queries,
            "draw": middle - begin,
            "evaluate": end - middle,
            "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        }
        progress("cost", n_queries)


def made_lists(rng, n_queries, *, n_documents, n_runs):
    """Runs that all order the same documents of each query."""
    documents = np.tile(np.arange(n_documents), n_queries)
    queries = np.repeat(np.arange(n_queries), n_documents)
    names = [f"{query}-{document}" for query, document in zip(queries, documents)]
    table = pd.DataFrame({"qid": queries.astype(str), "docno": names, "document": documents})
    quality = rng.normal(size=len(table))
    return {
        f"run {number}": table.assign(score=quality + rng.normal(size=len(table)))
        for number in range(n_runs)
    }


def progress(*what):
    """Say what is done."""
    print(*what, f"{time.process_time():.0f} s", flush=True)


PARTS = {
    "ways": ways,
    "later_runs": later_runs,
    "selectors": selectors,
    "few_labels": few_labels,
    "machines": machines,
    "anchors": anchors,
    "training": training,
    "cost": cost,
}


def main():
    options = arguments(__doc__.splitlines()[0], tuple(PARTS), repetitions=3)
    warnings.simplefilter("ignore", SkfilterrankWarning)
    for name in options.parts or PARTS:
        begin = time.process_time()
        rows, path = [], RESULTS / f"drawn_labels_{name}.csv"
        for row in PARTS[name](options):
            rows.append(row)
            if len(rows) % 100 == 0:  # what is done stays if the rest fails
                pd.DataFrame(rows).to_csv(path, index=False, float_format="%.4f")
        pd.DataFrame(rows).to_csv(path, index=False, float_format="%.4f")
        print(f"{name}: {time.process_time() - begin:.0f} seconds of processor time", flush=True)
    write()


if __name__ == "__main__":
    main()

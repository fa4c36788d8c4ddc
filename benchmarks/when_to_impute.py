"""When predicted labels help: in training, and in scoring, against leaving unjudged rows out.

Training: a ridge regression on mq2007 and ohsumed-letor, of which a share of each topic's rows is
judged. Scoring: the order of systems on cranfield, trec-dl2019-llm, trec-covid-round1, and of the
features of mq2007 and ohsumed-letor as systems, by `skfilterrank.metaevaluation.judging_curve`.
Needs bm25s and PyStemmer.

    python benchmarks/when_to_impute.py --repetitions 4

Tables are kept in results/when_to_impute_*.csv. `--only scoring_cranfield,training_mq2007` makes
these alone, and reads the others there are from their files.
"""

import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
from _common import RESULTS, arguments, write_report
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

from skfilterrank.exceptions import SkfilterrankWarning
from skfilterrank.io import read_letor, read_qrels, read_runs
from skfilterrank.judgments import LabelPredictor, StatAPSelector, rank_table
from skfilterrank.metaevaluation import judging_curve
from skfilterrank.metrics import evaluate

SHARES = (0.05, 0.2)
MEASURE = "ndcg@10"
FOLDS = {"ohsumed-letor": (0, 1), "mq2007": (0,)}
MOST_REPETITIONS = {"ohsumed-letor": 100, "mq2007": 2}  # mq2007 is 16 times as large
TRAINING_SHARES = {"ohsumed-letor": SHARES, "mq2007": SHARES[:1]}
LOGISTIC = LogisticRegression(max_iter=500)
TREES = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=15, random_state=0)
PREDICTORS = {
    "topic by topic, one_class copy": LabelPredictor(one_class="copy"),
    "topic by topic, one_class pool": LabelPredictor(one_class="pool"),
    "shared, support vectors": LabelPredictor(shared=True),
    "shared, logistic, soft": LabelPredictor(LOGISTIC, shared=True, output="soft"),
    "shared, trees, soft": LabelPredictor(TREES, shared=True, output="soft"),
}


def read_collection(folder):
    """Features, scaled within queries where they are raw, labels, queries and part of each row."""
    parts = [read_letor(folder / f"S{number}.txt.gz") for number in range(1, 6)]
    X = np.vstack([part.X.toarray() if hasattr(part.X, "toarray") else part.X for part in parts])
    y = np.concatenate([part.y for part in parts]).astype(float)
    groups = np.concatenate([np.asarray(part.groups).astype(str) for part in parts])
    if folder.name != "mq2007":
        by_query = pd.DataFrame(X).groupby(groups)
        spread = by_query.transform("std").fillna(0).replace(0, 1)
        X = ((pd.DataFrame(X) - by_query.transform("mean")) / spread).to_numpy()
    return X.astype(float), y, groups, np.repeat(np.arange(5), [len(part.y) for part in parts])


def judged_rows(X, groups, share, how, rng):
    """A share of each query's rows: drawn at random, or those of the best mean rank by features."""
    key = rng.random(len(X))
    if how == "top":
        key = -pd.DataFrame(X).groupby(groups).rank(method="average").mean(axis=1).to_numpy()
    by_query = pd.Series(key).groupby(groups)
    n_judged = np.maximum(1, np.floor(share * by_query.transform("size").to_numpy() + 0.5))
    return by_query.rank(method="first").to_numpy() <= n_judged


def trained(X, y, full, groups):
    """A ridge regression by each way to treat unjudged rows."""
    known = ~np.isnan(y)
    yield "all labels", Ridge().fit(X, full)
    yield "dropped", Ridge().fit(X[known], y[known])
    yield "unjudged as 0", Ridge().fit(X, np.nan_to_num(y))
    for name, predictor in PREDICTORS.items():
        own = clone(predictor).set_params(vectorizer=StandardScaler())
        labels = own.fit_transform(X, y, groups)
        kept = ~np.isnan(labels)
        yield name, Ridge().fit(X[kept], labels[kept])
        if name in ("topic by topic, one_class copy", "shared, trees, soft"):
            weight = np.where(known, 1.0, np.nan_to_num(own.confidence_))
            ridge = Ridge().fit(X[kept], labels[kept], sample_weight=weight[kept])
            yield f"{name}, weights by confidence", ridge


def training(name, collection, repetitions):
    """nDCG@10 of each treatment less that of dropping, by design and share."""
    X, y, groups, part = collection
    rows = []
    for how in ("random", "top"):
        for share in TRAINING_SHARES[name]:
            for seed in range(min(repetitions, MOST_REPETITIONS[name])):
                rng = np.random.default_rng(seed)
                judged = judged_rows(X, groups, share, how, rng)
                for fold in FOLDS[name]:
                    # Designs that are not random differ by the half of the queries that is taken.
                    own = part != fold
                    queries = np.unique(groups[own])
                    kept = rng.permutation(queries)[: 3 * len(queries) // 4]
                    own &= np.isin(groups, kept)
                    test = part == fold
                    labels = np.where(judged, y, np.nan)[own]
                    for treatment, model in trained(X[own], labels, y[own], groups[own]):
                        value = evaluate(
                            y[test],
                            model.predict(X[test]),
                            MEASURE,
                            groups=groups[test],
                        ).means.iloc[0]
                        rows.append((how, share, seed, fold, treatment, value))
            print(name, how, share, flush=True)
    names = ["judged", "share", "seed", "fold", "treatment", "value"]
    return pd.DataFrame(rows, columns=names)


def training_table(table):
    """Means, and differences to dropping with two standard errors over the repetitions."""
    cells = table.pivot_table("value", "treatment", ["judged", "share", "seed"], sort=False)
    less = cells - cells.loc["dropped"]
    settings = cells.columns.droplevel("seed").unique()
    head = [f"{how}, {share:.0%}" for how, share in settings]
    lines = ["| treatment | " + " | ".join(head) + " |", "| --- |" + " ---: |" * len(head)]
    for name in cells.index:
        texts = []
        for setting in settings:
            own, mean = less.loc[name, setting], cells.loc[name, setting].mean()
            text = f"{mean:.4f}"
            if name != "dropped":
                error = 2 * own.std() / np.sqrt(len(own)) if len(own) > 1 else np.nan
                text = f"{own.mean():+.4f} ± {error:.4f}"
            texts.append(text)
        lines.append(f"| {name} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def rank_features(ranks):
    """What the runs say of each document of each topic."""
    values = ranks.to_numpy()
    inverse = np.nan_to_num(1 / values)
    return pd.DataFrame(
        {
            "log_prior": np.log(StatAPSelector().fit(ranks).prior_ + 1e-9),
            "best": inverse.max(axis=1),
            "n_runs": (~np.isnan(values)).mean(axis=1),
            "mean": inverse.mean(axis=1),
        },
        index=ranks.index,
    )


RANKS = ["log_prior", "best", "n_runs", "mean"]


def of_runs(runs, qrels, texts, depth):
    """Runs, judgments and documents with features of their ranks."""
    ranks = rank_table(runs, depth=depth)
    index = pd.MultiIndex.from_frame(qrels[["qid", "docno"]].astype(str))
    documents = rank_features(ranks.reindex(index))
    if texts is not None:
        documents.insert(0, "text", texts.reindex(index.get_level_values("docno")).to_numpy())
    return runs, qrels, documents, depth


def dl2019(folder):
    """37 runs of passages, with texts."""
    texts = pd.read_json(folder / "docs.jsonl.gz", lines=True, dtype=False).set_index("docno")
    runs = read_runs(sorted(folder.glob("runs/*.gz")))
    return of_runs(runs, read_qrels(folder / "qrels.txt.gz"), texts["text"], 100)


def covid(folder):
    """143 runs, without texts."""
    runs = read_runs(sorted(folder.glob("runs/*.gz")))
    return of_runs(runs, read_qrels(folder / "qrels.txt.gz"), None, 100)


def cranfield(folder):
    """74 systems of our own over abstracts."""
    from _cranfield_systems import DEPTH, runs_of, systems
    from _cranfield_systems import read_collection as read_cranfield

    documents, queries, relevant = read_cranfield(folder)
    runs = runs_of(systems(documents, queries), queries, documents)
    qrels = rank_table(runs, depth=DEPTH).index.to_frame(index=False)
    qrels["label"] = [float(pair in relevant) for pair in zip(qrels["qid"], qrels["docno"])]
    return of_runs(runs, qrels, documents.set_index("docno")["text"], DEPTH)


def letor(folder):
    """Each feature as a system, over the queries of a part or two."""
    X, y, groups, part = read_collection(folder)
    own = part <= (0 if folder.name == "mq2007" else 1)
    pairs = pd.DataFrame({"qid": groups[own], "docno": np.arange(own.sum()).astype(str)})
    runs = {f"feature {at}": pairs.assign(score=X[own, at]) for at in range(X.shape[1])}
    documents = pd.DataFrame(X[own]).add_prefix("x").set_index(pd.MultiIndex.from_frame(pairs))
    return runs, pairs.assign(label=y[own]), documents, None


def collections(data):
    """What reads runs, judgments, documents and depth, by name."""
    readers = {"trec-dl2019-llm": dl2019, "trec-covid-round1": covid}
    readers |= dict.fromkeys(FOLDS, letor) | {"cranfield": cranfield}
    return {name: partial(read, data / name) for name, read in readers.items()}


def mitigations_of(documents):
    """Ways to treat hidden labels, by what is known of the documents."""
    found = {"unjudged as 0": "none", "condensed lists": "condensed"}
    if "text" in documents:
        found |= {
            f"texts, one_class {what}": LabelPredictor(one_class=what)
            for what in ("copy", "pool", "leave")
        }
    numbers = [name for name in documents if name != "text"]
    kind = "ranks" if numbers == RANKS else "features"
    for name in ("one_class pool", "logistic, soft", "trees, soft"):
        full = next(each for each in PREDICTORS if each.endswith(name))
        found[f"{kind}, {full}"] = partial(by_numbers, PREDICTORS[full], numbers)
    hard = LabelPredictor(LOGISTIC, shared=True)
    return found | {f"{kind}, shared, logistic, hard": partial(by_numbers, hard, numbers)}


def by_numbers(predictor, numbers, table):
    """Labels of a table by its columns of numbers, also where it has texts."""
    own = clone(predictor).set_params(vectorizer=StandardScaler())
    return own.fit_transform(table[numbers], table["label"], table["qid"])


def scoring(name, collection, repetitions):
    """Tau and RMSE of nDCG@10 by selection, mitigation and share."""
    runs, qrels, documents, depth = collection
    curve = judging_curve(
        qrels,
        runs,
        MEASURE,
        selections=("pooling", "random"),
        mitigations=mitigations_of(documents),
        shares=SHARES,
        documents=documents,
        depth=depth,
        missing="empty",
        n_samples=repetitions,
        unjudged_label=None,
        random_state=0,
    )
    print(name, curve, sep="\n", flush=True)
    return curve.to_frame().assign(setting=repr(curve).strip("<>"))


def scoring_table(table):
    """Tau / RMSE, a column for each selection and share."""
    table = table.copy()
    table["cell"] = [f"{t:.3f} / {e:.3f}" for t, e in zip(table["tau"], table["rmse"])]
    cells = table.pivot_table(
        "cell", "mitigation", ["selection", "share"], aggfunc="first", sort=False
    )
    head = [f"{selection}, {share:.0%}" for selection, share in cells.columns]
    lines = ["| hidden labels | " + " | ".join(head) + " |", "| --- |" + " ---: |" * len(head)]
    lines += [
        f"| {name} | " + " | ".join(row) + " |" for name, row in zip(cells.index, cells.values)
    ]
    return "\n".join(lines)


def kept(name, make, read, repetitions, parts):
    """A table that is made, or read from the file where only other parts are to be made."""
    path = RESULTS / f"when_to_impute_{name}.csv"
    if parts and name not in parts and not path.exists():
        return None
    if not parts or name in parts:
        make(name.partition("_")[2], read(), repetitions).to_csv(
            path, index=False, float_format="%.6f"
        )
    return pd.read_csv(path)


def main():
    options = arguments(__doc__.splitlines()[0], repetitions=4, only="")
    parts = options.only.split(",") if options.only else []
    warnings.simplefilter("ignore", SkfilterrankWarning)
    begin, text = time.process_time(), FINDINGS
    text += "\n## Training: nDCG@10 of a ridge regression\n"
    for name in FOLDS:
        read = partial(read_collection, options.data / name)
        table = kept(f"training_{name}", training, read, options.repetitions, parts)
        if table is not None:
            text += f"\n### {name}\n\n{training_table(table)}\n"
    text += "\n## Scoring: Kendall's tau / RMSE of nDCG@10\n"
    for name, read in collections(options.data).items():
        table = kept(f"scoring_{name}", scoring, read, options.repetitions, parts)
        if table is not None:
            text += f"\n### {name}\n\n{table['setting'][0]}\n\n{scoring_table(table)}\n"
    print(f"{time.process_time() - begin:.0f} seconds of processor time")
    write_report("when_to_impute", "When predicted labels help", text)


FINDINGS = """
Differences are to leaving unjudged rows out, with two standard errors over the repetitions, of
which there are few: what is within them is noise.

* **Training on rows that were selected as the best** depends on the collection. On OHSUMED a ridge
  regression of these rows alone learns nothing of the others (5 %: 0.19 of 0.49) and nearly every
  way to fill in doubles it; on MQ2007 (0.43 of 0.44) every way loses.
* **Training on a random sample: leave the others out.** Models of single topics lose, by copying
  the one label of a topic's judged rows the most (-0.025 on both; `one_class="pool"`, the default
  for columns of numbers, -0.008 on MQ2007). Weights by confidence change little but there.
* **A shared model of expected labels by trees** gains 0.005 to 0.010 from random samples of both
  collections, on OHSUMED within two standard errors. No treatment is at least as good as leaving
  out in all cells.
* **Scoring systems from few labels: texts help** where documents were selected by rank, with values
  that are nearer than those of condensed lists and mostly than with unjudged documents as 0; the
  order is better on TREC 2019 Deep Learning, and on Cranfield about that of condensed lists. After
  random judging they order systems better than either, but condensed lists give nearer values.
* **Models of ranks alone** order TREC-COVID's 143 runs better than either, at 20 % and from random
  samples, with nearer values; with the 37 and 74 runs of the others they do more harm than good:
  they order systems by how alike they are. Features help MQ2007 and mostly OHSUMED, where the
  systems are these features.
* **What becomes of topics of one label** (`one_class`) matters little for the order. With texts
  they are left by default, which also makes what is expected of the others more exact.
"""


if __name__ == "__main__":
    main()

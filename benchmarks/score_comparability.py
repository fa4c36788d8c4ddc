"""Do scores compare between queries, is the test of it right, and what pays on other list sizes?

    python benchmarks/score_comparability.py [sizes] [findings] [errors] [--data DIR]
                                             [--repeats 100] [--queries 400]

`sizes`: thresholds that are fitted on lists of one size, on lists of another; threads of SemEval-
2015 are scored by models of SemEval-2016, and lists of Robust04 are cut after their first
documents. `findings`: the test on real scores. `errors`: the test on scores whose answer is known.
About ten CPU minutes on one thread. Each part writes results/score_comparability_PART.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gzip
import warnings
from functools import cache

import numpy as np
import pandas as pd
from _common import FORUM_COLUMNS, run_parts, write_report
from _held_out_scores import Semeval, markdown
from lightgbm import LGBMClassifier, LGBMRanker
from sklearn.base import clone
from truncation import read_list

from skfilterrank._estimators.responses import document_scores
from skfilterrank.exceptions import SkfilterrankWarning
from skfilterrank.io import read_letor, read_qrels, read_run
from skfilterrank.metrics import evaluate
from skfilterrank.ranking import QueryRanker, RankAndFilter, make_ranker, make_text_features
from skfilterrank.thresholds import (
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    LearnedThreshold,
    TunedThreshold,
    score_comparability,
)

TREES = {"n_estimators": 60, "num_leaves": 15, "verbose": -1, "n_jobs": 1, "random_state": 0}
MODELS = {
    "logistic": make_ranker("logistic", random_state=0),
    "LGBMClassifier": LGBMClassifier(**TREES),
    "LGBMRanker": LGBMRanker(**TREES),
}
ONE, FIRST = "one threshold", "first k"
RULES = {
    "everything": FixedThreshold(),
    "nothing": FixedThreshold(np.inf),
    FIRST: FirstK(),
    ONE: TunedThreshold(),
    "expected": ExpectedThreshold(),
    "learned": LearnedThreshold(random_state=0),
}
SIZES = """
Thresholds are fitted on lists of one size and used on lists of another. In brackets: the standard
error of the difference to one threshold, paired by query. SemEval: models and thresholds are
fitted on 379 threads of 2016 with ten answers, and used on 300 threads of 2015 with 1 to 60;
nDCG_f of the whole thread, good answers 1 or 2. Robust04: F1; one half of the queries fits, and the
other is measured, both ways.
"""
FOUND = """
`compares` is the finding of `score_comparability`, `ratio` what a difference of scores between
lists says over what it says within a list (90 % interval), and `spread` the standard deviation of
the queries' own curves around the shared one, in log odds. Last column: F1 on held-out queries of
`ExpectedThreshold` less that of the best first k, and its standard error. Of TREC runs the first
100 documents are taken, and the number of runs with each finding is given.
"""
ERRORS = """
Share of {repeats} draws with each finding. The score is the true log odds of a good document; these
differ by 0.7 (standard deviation) between lists and by 1.2 within lists. "Unknown": lists differ by
1 more, which no score knows. "Shifted", "scaled": the score of each list is moved, or multiplied by
a random number. The models are fitted on 300 other queries with three features that are moved by a
number of the list (standard deviation 2), which is a fourth feature ("level seen") or not ("level
unseen"); a tenth of the draws.
"""


def difference(values, others):
    """Mean difference of two values of each query, and its standard error, in words."""
    found = values - others
    return f"{found.mean():+.3f} ({found.std(ddof=1) / np.sqrt(len(found)):.3f})"


def sizes_row(values):
    """One row of values by rule, with differences to one threshold."""
    row = {rule: f"{found.mean():.3f}" for rule, found in values.items()}
    for rule in ("expected", "learned"):
        row[rule] += " " + difference(values[rule], values[ONE])
    return row


def served(rule, measure, gains, train, test):
    """The measure of each test query, by a threshold that is fitted on training rows."""
    cut = clone(RULES[rule])
    cut.set_params(measure=measure, gains=gains).fit(train[0], train[1], groups=train[2])
    shown = cut.predict(test[0], groups=test[2])
    return evaluate(test[1], shown, measure, groups=test[2], gains=gains).per_query.iloc[:, 0]


@cache
def forum(data):
    """Features, labels and queries of threads of ten (2016) and of 1 to 60 answers (2015)."""
    texts = make_text_features(
        **FORUM_COLUMNS,
        output="dense",
        random_state=0,
    )
    grades = {"Bad": 0, "PotentiallyUseful": 1, "Good": 2}
    tables = [
        Semeval(data).table,
        pd.read_json(data / "semeval2015-cqa" / "dev.jsonl.gz", lines=True),
    ]
    X = np.asarray(texts.fit_transform(tables[0])), np.asarray(texts.transform(tables[1]))
    return [(x, each["label"].map(grades), each["qid"]) for x, each in zip(X, tables)]


class Kept(FirstK):
    """A threshold that keeps the out-of-fold scores, for which models are fitted once."""

    def fit_judged(self, judged):
        super().fit_judged(judged)
        self.judged_ = judged
        return self


def sizes_of_forum(options):
    """{row: values by rule} on threads of other sizes."""
    train, test = forum(options.data)
    rows = {}
    for price in (1, 10):
        gains = {0: -price, 1: 1, 2: 2}
        for name, estimator in MODELS.items():
            model = RankAndFilter(estimator, Kept(), measure="ndcg_f", gains=gains)
            model.fit(train[0], train[1], groups=train[2])
            scores = document_scores(model.estimator_, test[0], groups=test[2], gains=gains)
            judged, values = vars(model.filter_).pop("judged_"), {}
            for rule, cut in RULES.items():
                cut = clone(cut).set_params(measure="ndcg_f")
                cut.fitted_with_groups_ = True
                shown = cut.fit_judged(judged).predict(scores, groups=test[2])
                found = evaluate(test[1], shown, "ndcg_f", groups=test[2], gains=gains)
                values[rule] = found.per_query.iloc[:, 0]
            rows[f"SemEval, {name}, Bad = -{price}"] = sizes_row(values)
            print(rows, flush=True)
    return rows


def robust04(options, file):
    """Scores, labels and queries of a run, each list in falling order."""
    folder = options.data / "robust04-truncation"
    with gzip.open(folder / "qrels.txt.gz", "rt") as lines:
        relevant = {(row[0], row[2]) for row in map(str.split, lines)}
    parts = [read_list(folder, f"{file}.{part}.run.gz", relevant) for part in ("train", "test")]
    table = pd.DataFrame(dict(zip("syq", map(np.concatenate, zip(*parts)))))
    return table.sort_values(["q", "s"], ascending=[True, False], kind="stable")


def sizes_of_runs(options):
    """{row: values by rule} where thresholds of first documents are used on other lists."""
    rows = {}
    for name, file in (("BM25", "bm25"), ("DRMM-TKS", "drmm_tks")):
        table = robust04(options, file)
        place, half = table.groupby("q").cumcount(), table["q"].factorize()[0] % 2
        for fitted, used in ((20, 300), (300, 20)):
            values = {}
            for rule in RULES:
                both = []
                for side in (0, 1):
                    train = table[(half == side) & (place < fitted)]
                    test = table[(half != side) & (place < used)]
                    train, test = ([each[c].to_numpy() for c in "syq"] for each in (train, test))
                    both.append(served(rule, "f", None, train, test))
                values[rule] = pd.concat(both)
            rows[f"Robust04, {name}, {fitted} to {used}"] = sizes_row(values)
            print(rows, flush=True)
    return rows


def found_row(found, held_out):
    """One row about the finding on some scores."""
    own = held_out.iloc[3]
    return {
        "queries": found.n_queries,
        "compares": {True: "yes", False: "no", None: "cannot tell"}[found.compares],
        "ratio": f"{found.ratio:.2f} ({found.lower:.2f} to {found.upper:.2f})",
        "spread": f"{found.spread:.2f}",
        "expected less first k": f"{own['difference']:+.3f} ({own['error']:.3f})",
    }


def findings(options):
    """{row: finding} on real scores."""
    rows = {}
    data = {"SemEval-2016": forum(options.data)[0]}
    for name, folder in (("MQ2007", "mq2007"), ("Ohsumed", "ohsumed-letor")):
        parts = [read_letor(options.data / folder / f"S{i}.txt.gz") for i in range(1, 6)]
        X, y, groups = (np.concatenate([part[i] for part in parts]) for i in range(3))
        chosen = np.random.RandomState(0).permutation(np.unique(groups))[: options.queries]
        kept = np.isin(groups, chosen)
        data[name] = X[kept], y[kept], groups[kept]
    for name, (X, y, groups) in data.items():
        for kind, estimator in MODELS.items():
            model = RankAndFilter(estimator, ExpectedThreshold(), measure="f")
            model.fit(X, y, groups=groups)
            rows[f"{name}, {kind}"] = found_row(model.comparability_, model.held_out_)
            print(rows, flush=True)
    for name, file in (("BM25", "bm25"), ("DRMM-TKS", "drmm_tks")):
        table = robust04(options, file)
        cut = ExpectedThreshold("f").fit(table["s"], table["y"], groups=table["q"])
        rows[f"Robust04, {name}"] = found_row(cut.comparability_, cut.held_out_)
    return rows


def runs_found(options):
    """{collection: number of runs with each finding}."""
    rows = {}
    places = {"DL 2019": "trec-dl2019-llm", "Robust 2003": "trec-robust2003"}
    places["COVID round 1"] = "trec-covid-round1"
    for name, folder in places.items():
        qrels = read_qrels(options.data / folder / "qrels.txt.gz", unjudged_label=None)
        labels = qrels.set_index(["qid", "docno"])["label"]
        found = []
        for path in sorted((options.data / folder / "runs").iterdir()):
            run = read_run(path)
            run = run[run["qid"].isin(qrels["qid"])].sort_values("score", ascending=False)
            run = run[run.groupby("qid").cumcount() < 100]
            y = labels.reindex(pd.MultiIndex.from_frame(run[["qid", "docno"]])).to_numpy(float)
            y = np.where(np.isnan(y), np.nan, y >= (2 if name == "DL 2019" else 1))
            result = score_comparability(y, run["score"].to_numpy(), groups=run["qid"].to_numpy())
            found.append({True: "yes", False: "no", None: "cannot tell"}[result.compares])
        counts = pd.Series(found).value_counts()
        rows[name] = {each: int(counts.get(each, 0)) for each in ("yes", "no", "cannot tell")}
        print(rows, flush=True)
    return rows


def chance(log_odds):
    return 1 / (1 + np.exp(-log_odds))


def drawn(kind, n_queries, rng):
    """Scores, labels and queries of a kind."""
    groups = np.repeat(np.arange(n_queries), 10)
    level, own, other = rng.normal(scale=[[0.7], [1.0], [1.0]], size=(3, n_queries))
    true = level[groups] + rng.normal(scale=1.2, size=len(groups)) - 0.5
    scores = {
        "true": true,
        "true, unknown": true,
        "shifted by 0.3": true + 0.3 * own[groups],
        "shifted by 1": true + own[groups],
        "shifted by 2": true + 2 * own[groups],
        "probabilities, scaled": chance(true) * np.exp(own[groups]),
        "shifted by 2, unknown": true + 2 * own[groups],
        "less the mean of the list": true - np.bincount(groups, true)[groups] / 10,
        "noise": rng.normal(size=len(groups)),
    }[kind]
    if kind.endswith("unknown"):
        true = true + other[groups]
    return scores, (rng.random(len(groups)) < chance(true)).astype(float), groups


def of_model(name, n_queries, rng):
    """Scores of new queries by a model whose features are moved by a number of the list."""
    name, level_is = name.split(", level ")
    total = n_queries + 300
    groups = np.repeat(np.arange(total), 10)
    level, moved = rng.normal(scale=[[0.7], [2.0]], size=(2, total))
    true = level[groups] + rng.normal(scale=1.2, size=len(groups)) - 0.5
    X = true[:, None] + moved[groups][:, None] + rng.normal(scale=0.5, size=(len(groups), 3))
    if level_is == "seen":
        X = np.column_stack([X, moved[groups]])
    y = (rng.random(len(groups)) < chance(true)).astype(int)
    new = groups >= 300
    model = QueryRanker(MODELS[name]).fit(X[~new], y[~new], groups=groups[~new])
    return model.predict(X[new], groups=groups[new]), y[new], groups[new]


def errors(options):
    """{row: share of draws with each finding}."""
    kinds = (
        "true",
        "true, unknown",
        "shifted by 0.3",
        "shifted by 1",
        "shifted by 2",
        "shifted by 2, unknown",
        "probabilities, scaled",
        "less the mean of the list",
        "noise",
    )
    makers = {kind: lambda n, rng, kind=kind: drawn(kind, n, rng) for kind in kinds}
    for name in ("LGBMClassifier", "LGBMRanker"):
        for level in ("seen", "unseen"):
            kind = f"{name}, level {level}"
            makers[kind] = lambda n, rng, kind=kind: of_model(kind, n, rng)
    rows = {}
    for n_queries in (20, 50, 100, 300):
        for kind, make in makers.items():
            rng = np.random.default_rng(n_queries)
            n = options.repeats if "level" not in kind else max(options.repeats // 10, 2)
            found = []
            for _ in range(n):
                scores, y, groups = make(n_queries, rng)
                found.append(score_comparability(y, scores, groups=groups).compares)
            shares = [found.count(each) / n for each in (True, False, None)]
            rows.setdefault(kind, {})[f"{n_queries} queries: yes / no / cannot tell"] = " / ".join(
                f"{share:.2f}" for share in shares
            )
    return rows


def report(part, title, notes, *tables):
    """Write the tables of a part."""
    text = [notes.strip()]
    for rows in tables:
        text.append("\n".join(markdown(pd.DataFrame(rows).T)))
    write_report(f"score_comparability_{part}", title, "\n\n".join(text))


def report_sizes(options):
    rows = sizes_of_forum(options), sizes_of_runs(options)
    report("sizes", "Thresholds on lists of other sizes than those of the fit", SIZES, *rows)


def report_findings(options):
    rows = findings(options), runs_found(options)
    report("findings", "Whether scores compare between queries", FOUND, *rows)


def report_errors(options):
    notes = ERRORS.format(repeats=options.repeats)
    report("errors", "How often score_comparability is wrong", notes, errors(options))


if __name__ == "__main__":
    warnings.simplefilter("ignore", SkfilterrankWarning)
    parts = {"sizes": report_sizes, "findings": report_findings, "errors": report_errors}
    run_parts(__doc__, parts, repeats=100, queries=400)

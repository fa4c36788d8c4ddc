"""Rankers on MQ2007: how good the library's own are, how fast they train, and a grid search.

    python benchmarks/rankers_mq2007.py [boosting] [lambdarank] [ascent] [ascent_forum] [search]

LETOR's five folds. `boosting`: AdaRank and RankBoost; `lambdarank`: how close LambdaRankRanker
comes to LightGBM's own, on the same rows, parameters and threads; `ascent`: CoordinateAscentRanker,
and `ascent_forum`: the same with a threshold of its own on the forum answers of SemEval-2016.
`search`: LightGBM's ranker tuned for nDCG_f@10 by query, with this library and without, by the same
settings on the same folds. Each writes results/ of its own.
"""

import inspect
import os
import time

import lightgbm as lgb
import numpy as np
import pandas as pd
from _common import FORUM_COLUMNS, best_time, run_parts, write_report
from _letor_methods import load_parts
from main_job import read
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, ParameterGrid
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle

from skfilterrank._lists.queries import GroupIndex
from skfilterrank.metrics import evaluate, make_ranking_scorer, ndcg_f_score, ndcg_score
from skfilterrank.ranking import (
    AdaRankRanker,
    CoordinateAscentRanker,
    LambdaRankRanker,
    QueryRanker,
    RankAndFilter,
    RankBoostRanker,
    make_text_features,
)

# Tables 3 and 13 of Karmaker & Feng, at 10, and the names that the measures have here.
MEASURES = {
    "nDCG@10": "ndcg@10",
    "AP@10, over k": "ap(normalize=k)@10",
    "AP@10, over min(k, R)": "ap(normalize=min)@10",
    "AP": "ap",
}
PRINTED = {"AdaRank": (0.4156, 0.2923), "RankBoost": (0.4140, 0.3366)}


def methods(rounds):
    """Name, ranker, and whether it stops by the validation part."""
    return [
        ("AdaRank", AdaRankRanker(gains="exp2"), False),
        ("AdaRank, validated", AdaRankRanker(gains="exp2", early_stopping_rounds=10), True),
        (
            "AdaRank, both directions",
            AdaRankRanker(gains="exp2", both_directions=True),
            False,
        ),
        ("AdaRank for AP", AdaRankRanker(measure="ap"), False),
        ("RankBoost", RankBoostRanker(n_estimators=rounds), False),
        (
            "RankBoost, validated",
            RankBoostRanker(n_estimators=rounds, early_stopping_rounds=50),
            True,
        ),
    ]


def join(parts, numbers):
    """The parts with these numbers, counted round from 1."""
    chosen = [parts[(number - 1) % 5] for number in numbers]
    return tuple(np.concatenate(columns) for columns in zip(*chosen))


def run_fold(parts, fold, rounds):
    """One line of figures per method: the measures, rounds that predict, seconds."""
    train = join(parts, range(fold, fold + 3))
    X_valid, y_valid, groups_valid = join(parts, [fold + 3])
    X_test, y_test, groups_test = join(parts, [fold + 4])
    lines = {}
    for name, ranker, validated in methods(rounds):
        held_out = (
            {"eval_set": (X_valid, y_valid), "eval_groups": groups_valid} if validated else {}
        )
        begin = time.perf_counter()
        ranker.fit(*train, **held_out)
        seconds = time.perf_counter() - begin
        values = evaluate(
            y_test,
            ranker.predict(X_test),
            list(MEASURES.values()),
            groups=groups_test,
            gains="exp2",
        ).means
        lines[name] = [*values, ranker.best_iteration_, seconds]
        print(f"Fold{fold}", name, np.round(lines[name], 4), flush=True)
    return lines


def boosting(options):
    """Measure and write the report."""
    parts = load_parts(options.data / "mq2007", n_features=46)
    folds = [run_fold(parts, fold, options.rounds) for fold in range(1, 6)]
    head = "| method | " + " | ".join(MEASURES) + " | printed nDCG@10, MAP@10 | rounds | seconds |"
    rows = [head, "| --- |" + " --- |" * (len(MEASURES) + 3)]
    for name in folds[0]:
        figures = np.array([fold[name] for fold in folds])
        mean, spread = figures.mean(axis=0), figures.std(axis=0, ddof=1)
        n = len(MEASURES)
        cells = [f"{mean[0]:.4f} ± {spread[0]:.3f}", *(f"{value:.4f}" for value in mean[1:n])]
        printed = ", ".join(f"{value:.4f}" for value in PRINTED.get(name, ()))
        seconds = f"{mean[-1]:.1f} (at most {figures[:, -1].max():.1f})"
        rows.append(f"| {name} | {' | '.join(cells)} | {printed} | {mean[n]:.0f} | {seconds} |")
    n_rows = [len(join(parts, range(fold, fold + 3))[1]) for fold in range(1, 6)]
    table = "\n".join(rows)
    write_report(
        "boosting_mq2007",
        "AdaRankRanker and RankBoostRanker on MQ2007",
        f"""
LETOR's five folds, {min(n_rows):,} to {max(n_rows):,} training rows of 46 features, means of the
five test parts (for nDCG@10 ± the standard deviation of the five). Gains 2^label - 1 in nDCG,
label above 0 relevant in AP. "Validated" stops by nDCG_f@10 of the validation part and includes
the time of measuring it. AdaRank is given 500 rounds and ends by itself; RankBoost takes
{options.rounds}. Printed: Tables 3 and 13 of Karmaker & Feng, who sampled 1,000 of the 1,692
queries.

{table}

Seconds are of one fit, mean of the folds, on one thread; load average of the machine at the end
{os.getloadavg()[0]:.1f}.
""",
    )


FOLDS = [([f, f + 1, f + 2], f + 3, f + 4) for f in range(1, 6)]
STOPPING_ROUNDS = 20


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


def compare_losses(parts, trees):
    """Rows of the table of LambdaRank and LambdaLoss, on gains from 0 up and with some below 0."""
    rows = []
    for fold, (train_parts, _, test_part) in enumerate(FOLDS, start=1):
        train, (X, y, groups) = join(parts, train_parts), join(parts, [test_part])
        found = [f"Fold{fold}"]
        for gains in ("exp2", PRICED):
            for loss in ("lambdarank", "lambdaloss"):
                ranker = LambdaRankRanker(gains=gains, loss=loss, n_estimators=trees, n_jobs=1)
                scores = ranker.fit(*train).predict(X)
                found.append(ndcg_f_score(y, scores, groups=groups, k=10, gains=gains))
        rows.append(found)
    return [*rows, ["mean", *np.mean([row[1:] for row in rows], axis=0).tolist()]]


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


def lambdarank(options):
    """Measure and write the report."""
    parts = load_parts(options.data / "mq2007", n_features=46)
    fixed, stopped = compare(parts, options.trees, options.orders)
    train = join(parts, FOLDS[0][0])
    times = compare_times(train, options.trees, options.repeats)
    orders = [f"LightGBM, order {i + 1}" for i in range(options.orders)]
    of_losses = [
        f"{loss}, {how}"
        for how in ("2^label - 1", "price")
        for loss in ("LambdaRank", "LambdaLoss")
    ]
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

LambdaRank and LambdaLoss (NDCG-Loss2++), {options.trees} trees: nDCG@10 with gains 2^label - 1, and
nDCG_f@10 with a price: label 0 has the gain {PRICED[0]}, 1 and 2 have their label.

{table(["fold", *of_losses], compare_losses(parts, options.trees))}

Training time in seconds, data set included, on the {len(train[0])} rows of Fold1 (all five parts
have {sum(len(part[1]) for part in parts)}); best of {options.repeats} runs in turn, load average
of the machine {os.getloadavg()[0]:.1f}.

{table(["threads", "LightGBM", "ours", "ratio"], times)}
""",
    )


PRICED = {0: -0.5, 1: 1.0, 2: 2.0}
ASCENT_PRINTED = 0.4207  # nDCG@10 of coordinate ascent, Table 3 of the paper
K = 3
GAINS = {"Bad": -1, "PotentiallyUseful": 1, "Good": 2}
RECIPE = 10.0  # alpha of make_ranker('mse', learner='linear')
ALPHAS = (RECIPE, 100.0, 300.0, 1000.0, 3000.0, 10000.0)
STARTS = (300.0, 1000.0, 3000.0)
PENALTIES = (0.0, 0.03, 0.1)


def letor_rows(folder):
    """Lines of the table on MQ2007."""
    parts = load_parts(folder, n_features=46)
    settings = [(gains, init) for gains in ("exp2", None) for init in ("least_squares", "uniform")]
    for gains, init in settings:
        train_values, values, linear, seconds = [], [], [], []
        for train_parts, _, test_part in FOLDS:
            X, y, groups = join(parts, train_parts)
            X_test, y_test, groups_test = join(parts, [test_part])
            ranker = CoordinateAscentRanker(
                measure="ndcg@10", gains=gains, init=init, random_state=0
            )
            begin = time.perf_counter()
            ranker.fit(X, y, groups=groups)
            seconds.append(time.perf_counter() - begin)
            scores = ranker.predict(X_test)
            train_values.append(ranker.best_score_)
            values.append(ndcg_score(y_test, scores, groups=groups_test, k=10, gains="exp2"))
            linear.append(ndcg_score(y_test, scores, groups=groups_test, k=10))
        half = stats.t.ppf(0.975, 4) * np.std(values, ddof=1) / np.sqrt(5)
        yield (
            f"| {gains or 'the label'} | {init} | {np.mean(train_values):.4f} | "
            f"{np.mean(values):.4f} | {np.mean(values) - half:.3f} to {np.mean(values) + half:.3f}"
            f" | {np.mean(linear):.4f} | {np.mean(seconds):.1f} s, {np.max(seconds):.1f} s |"
        )


class Regression:
    """Ridge regression of the gains, and the threshold from out-of-fold scores."""

    def __init__(self, alpha):
        self.model = RankAndFilter(Ridge(alpha=alpha), gains=GAINS, measure=f"ndcg_f@{K}")

    def fit_predict(self, X, y, groups, X_test):
        """Scores of the test rows, -inf where hidden."""
        return self.model.fit(X, y, groups=groups).predict(X_test)


class Ascent:
    """Coordinate ascent from the same regression, with a threshold of its own."""

    def __init__(self, alpha, **settings):
        self.model = CoordinateAscentRanker(
            gains=GAINS, filter=True, init_alpha=alpha, random_state=0, **settings
        )

    def fit_predict(self, X, y, groups, X_test):
        """Scores of the test rows, -inf where hidden."""
        scores = self.model.fit(X, y, groups=groups).predict(X_test)
        return np.where(scores >= 0, scores, -np.inf)


def per_query(data, scores):
    """nDCG_f@3 of each question."""
    return ndcg_f_score.per_query(data["y"], scores, groups=data["groups"], k=K, gains=GAINS)


def measured(make, train, dev):
    """Per-question values on held-out folds of the training part and on dev, and seconds."""
    scores = np.empty(len(train["y"]))
    folds = GroupKFold(5, shuffle=True, random_state=0).split(train["X"], groups=train["groups"])
    for known, held in folds:
        scores[held] = make().fit_predict(
            train["X"][known], train["y"][known], train["groups"][known], train["X"][held]
        )
    begin = time.perf_counter()
    dev_scores = make().fit_predict(train["X"], train["y"], train["groups"], dev["X"])
    seconds = time.perf_counter() - begin
    return per_query(train, scores), per_query(dev, dev_scores), seconds


def forum_data(folder):
    """Standardized features, labels and questions of the two parts."""
    parts = [read(folder / f"{name}.jsonl.gz") for name in ("train-part2", "dev")]
    features = make_text_features(**FORUM_COLUMNS, output="dense", random_state=0).fit(parts[0][0])
    matrices = [features.transform(part[0]) for part in parts]
    scaler = StandardScaler().fit(matrices[0])
    return [
        {"X": scaler.transform(X), "y": np.asarray(y), "groups": np.asarray(groups)}
        for X, (_, y, groups) in zip(matrices, parts)
    ]


def forum_section(folder):
    """The table on forum answers, and who beats whom."""
    train, dev = forum_data(folder)
    models = {f"ridge, alpha {alpha:g}": lambda alpha=alpha: Regression(alpha) for alpha in ALPHAS}
    for alpha in STARTS:
        for penalty in PENALTIES:
            name = f"coordinate ascent, alpha {alpha:g}, penalty {penalty:g}"
            models[name] = lambda alpha=alpha, penalty=penalty: Ascent(
                alpha, measure=f"ndcg_f@{K}", penalty=penalty, max_iter=4
            )
    results = {name: measured(make, train, dev) for name, make in models.items()}
    lines = [
        "| model | CV on train | dev | fit |",
        "| --- | --- | --- | --- |",
        *(
            f"| {name} | {held.mean():.4f} | {on_dev.mean():.4f} | {seconds:.1f} s |"
            for name, (held, on_dev, seconds) in results.items()
        ),
        "",
    ]
    best = {
        kind: max(
            (name for name in results if name.startswith(kind)),
            key=lambda name: results[name][0].mean(),
        )
        for kind in ("ridge", "coordinate ascent")
    }
    pairs = [tuple(best.values()), (f"ridge, alpha {RECIPE:g}", best["coordinate ascent"])]
    pairs += [
        (f"ridge, alpha {alpha:g}", f"coordinate ascent, alpha {alpha:g}, penalty {penalty:g}")
        for alpha in STARTS
        for penalty in PENALTIES
    ]
    lines += [
        "| coordinate ascent | over | CV on train | dev |",
        "| --- | --- | --- | --- |",
    ]
    for ridge, ascent in pairs:
        cells = []
        for part in (0, 1):
            difference = results[ascent][part] - results[ridge][part]
            p = stats.ttest_1samp(difference, 0).pvalue
            cells.append(f"{difference.mean():+.4f} (p {p:.2f})")
        lines.append(f"| {ascent} | {ridge} | {cells[0]} | {cells[1]} |")
    lines.append("")
    lines.append(
        f"Of each kind, cross-validation on train chooses: {best['ridge']}; "
        f"{best['coordinate ascent']} (first line of the second table; "
        "the second is over make_ranker's own regression). p: paired t test over "
        "questions."
    )
    table = "\n".join(lines)
    headline = _headline(results, *best.values())
    return headline, table, len(train["y"]), len(dev["y"]), train["X"].shape[1]


def _headline(results, ridge, ascent):
    """Who wins when cross-validation on train chooses the settings of both."""

    def versus(other):
        differences = [results[ascent][part] - results[other][part] for part in (0, 1)]
        verb = "beats" if min(each.mean() for each in differences) > 0 else "does not beat"
        held, on_dev = (
            f"{each.mean():+.4f} (p {stats.ttest_1samp(each, 0).pvalue:.2f})"
            for each in differences
        )
        return verb, f"{held} in cross-validation on train, {on_dev} on dev"

    recipe = f"ridge, alpha {RECIPE:g}"
    verb, numbers = versus(recipe)
    fair_verb, fair_numbers = versus(ridge)
    joint = "but" if verb != fair_verb else "and"
    return (
        f"The ranker tuned for nDCG_f@{K} ({ascent}, chosen by cross-validation) {verb} "
        f"`make_ranker`'s ridge of alpha {RECIPE:g}, by {numbers}, {joint} {fair_verb} a ridge "
        f"whose alpha is chosen by cross-validation too ({ridge}): {fair_numbers}."
    )


def ascent_letor(options):
    """Report on coordinate ascent on MQ2007."""
    letor = [
        "| gains trained on | start | training nDCG@10 | test nDCG@10, gains 2^label - 1 | "
        "95 % interval of the folds | test nDCG@10, gain = label | fit: mean, longest |",
        "|" + " --- |" * 7,
        *letor_rows(options.data / "mq2007"),
    ]
    text = (
        "LETOR's five folds, three parts to train (about 42,000 rows, 46 features) and one to "
        "test; the validation part is not used. Trained for nDCG@10, all settings at their "
        f"defaults, one thread. The paper prints {ASCENT_PRINTED} for coordinate ascent.\n\n"
    )
    write_report("coordinate_ascent_mq2007", "Coordinate ascent on MQ2007", text + "\n".join(letor))


def ascent_forum(options):
    """Report on coordinate ascent with a threshold of its own."""
    headline, forum, n_train, n_dev, n_features = forum_section(options.data / "semeval2016-cqa")
    text = (
        f"**{headline}**\n\n"
        f"semeval2016-cqa, train-part2 ({n_train:,} comments) to dev ({n_dev:,}), gains Bad: "
        f"-1, PotentiallyUseful: 1, Good: 2; {n_features} standardized features of "
        "`make_text_features`. The regression's threshold is RankAndFilter's, from "
        "out-of-fold scores; coordinate ascent starts from the same regression and optimizes "
        "weights and threshold together on the training rows (4 sweeps at most).\n\n"
    )
    write_report(
        "coordinate_ascent_semeval",
        "Coordinate ascent on forum answers: nDCG_f@3 with a threshold of its own",
        text + forum,
    )


SEARCH_GAINS = {0: -1, 1: 1, 2: 2}
SETTINGS = {"num_leaves": [7, 15, 31], "learning_rate": [0.05, 0.1]}
ONE_THREAD = {"n_jobs": 1, "verbose": -1, "deterministic": True, "force_row_wise": True}


def with_skfilterrank(X, y, groups, n_estimators):
    y = pd.Series(y, index=pd.Index(groups, name="qid"))
    search = GridSearchCV(
        QueryRanker(lgb.LGBMRanker(n_estimators=n_estimators, **ONE_THREAD)),
        {f"estimator__{name}": values for name, values in SETTINGS.items()},
        scoring=make_ranking_scorer("ndcg_f@10", gains=SEARCH_GAINS),
        cv=GroupKFold(5),
    ).fit(X, y, groups=groups)
    return search.cv_results_["mean_test_score"], search.best_estimator_


def without_skfilterrank(X, y, groups, n_estimators):
    # LightGBM wants the rows of each query together, and how many there are.
    order = np.argsort(groups, kind="stable")
    X, y, groups = X[order], y[order], groups[order]
    gains = np.vectorize(SEARCH_GAINS.get)(y).astype(float)

    def dcg(values, k=10):
        top = values[:k]
        return np.sum(top / np.log2(np.arange(2, len(top) + 2)))

    def ndcg_f(gains, scores):
        # Documents of equal score share their mean gain, so that no order favours any of them.
        _, block = np.unique(-scores, return_inverse=True)
        shared = (np.bincount(block, gains) / np.bincount(block))[np.sort(block)]
        best = dcg(np.sort(gains[gains > 0])[::-1])
        worst = dcg(np.sort(gains[gains < 0]))
        if best == worst:
            return 0.0
        return (dcg(shared) - worst) / (best - worst)

    def fit(rows, params):
        sizes = np.unique(groups[rows], return_counts=True)[1]
        ranker = lgb.LGBMRanker(n_estimators=n_estimators, **ONE_THREAD, **params)
        return ranker.fit(X[rows], y[rows].astype(int), group=sizes)

    means = []
    folds = list(GroupKFold(5).split(X, y, groups))
    settings = list(ParameterGrid(SETTINGS))
    for params in settings:
        fold_means = []
        for train, test in folds:
            scores = fit(train, params).predict(X[test])
            values = []
            for query in np.unique(groups[test]):
                rows = groups[test] == query
                values.append(ndcg_f(gains[test][rows], scores[rows]))
            fold_means.append(np.mean(values))
        means.append(np.mean(fold_means))
    return np.array(means), fit(np.arange(len(y)), settings[int(np.argmax(means))])


def lines_of(function):
    """Lines of code, without the first, blank lines and comments."""
    lines = [line.strip() for line in inspect.getsource(function).splitlines()[1:]]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def search(options):
    """Report on the same search with the library and without."""
    parts = load_parts(options.data / "mq2007", n_features=46)
    X, y, groups = (np.concatenate(column) for column in zip(*parts))
    rows, found = [], []
    for name, function in (
        ("with skfilterrank", with_skfilterrank),
        ("without", without_skfilterrank),
    ):
        # CPU time of the one thread: the clock on the wall also counts what others run.
        begin = time.process_time()
        means, _ = function(X, y, groups, options.searched_trees)
        seconds = time.process_time() - begin
        found.append(means)
        rows.append(
            f"| {name} | {lines_of(function)} | {seconds:.1f} | {means.max():.6f} | "
            f"{ParameterGrid(SETTINGS)[int(np.argmax(means))]} |"
        )
    np.testing.assert_allclose(*found, rtol=0, atol=1e-9)
    write_report(
        "gridsearch_mq2007",
        "Tuning LightGBM's ranker by nDCG_f@10 on MQ2007",
        f"""
{len(y):,} rows of {len(np.unique(groups)):,} queries, label 0 forbidden (gains 0: -1, 1: 1, 2: 2);
{len(ParameterGrid(SETTINGS))} settings of `LGBMRanker` with {options.searched_trees} trees, five
folds by query, and a last fit on all rows. Without the library, what is by hand is the sorting of
rows, the sizes of queries in every fold, the measure with its ties and its bounds, and the loop.

| | lines of code | CPU seconds | best mean nDCG_f@10 | best setting |
| --- | --- | --- | --- | --- |
{rows[0]}
{rows[1]}

The mean scores of the settings differ by at most {np.abs(found[0] - found[1]).max():.1g}. By hand
it is one loop that does this one thing: with the library any measure of the table, any other search
(randomised, halving), parallel folds, Pipelines and unsorted rows come with the same lines.

```python
{inspect.getsource(with_skfilterrank).strip()}
```
""",
    )


if __name__ == "__main__":
    parts = {"boosting": boosting, "lambdarank": lambdarank}
    parts |= {"ascent": ascent_letor, "ascent_forum": ascent_forum, "search": search}
    run_parts(__doc__, parts, rounds=300, trees=100, repeats=3, orders=2, searched_trees=30)

"""Lexirecall and recall as robustness: one number for it, its analyses on runs, its theory.

    python benchmarks/recall.py [scales] [analyses] [theory] [--data DIR]

`scales`: which scale of lexirecall orders systems as their exact preferences do; a minute. Writes
results/lexirecall_scales.md. `analyses`: figures 9 to 13 of Diaz and Mitra on runs of TREC-COVID
round 1 and of TREC 2003 Robust: agreement, ties, discriminative power, and what becomes of them
with fewer labels. The paper sorts collections by how many documents runs return; here runs are cut.
Needs matplotlib; four minutes. Writes results/recall_analyses.md. `theory`: the paper's tables and
figures of the theory, beside the printed numbers. Writes results/robustness_tables.md.
"""

import time
from functools import partial

import numpy as np
import pandas as pd
from _common import best_time, markdown_table, run_parts, write_report
from _letor_methods import load_parts
from _random_rankings import SIZES, TABLE_1, simulate_agreement, simulate_ties
from _recall_analyses_figures import figures
from _recall_analyses_report import report_text
from lightgbm import LGBMRegressor
from scipy.stats import kendalltau, rankdata
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, ParameterGrid, cross_val_predict

from skfilterrank._lists.positions import (
    PreferenceMatrix,
    positions_of,
    positions_of_systems,
    ranked_lists,
)
from skfilterrank.comparison import SystemScores, score_systems
from skfilterrank.io import QrelsIndex, align, read_qrels, read_run
from skfilterrank.metaevaluation import (
    agreement,
    discriminative_power,
    label_degradation,
    metric_orientation,
    tie_probability,
    worst_case_searcher,
)
from skfilterrank.metrics import evaluate, lexirecall_score

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


def report_scales(options):
    """Report on candidates for a number."""
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


MEASURES = {
    "lexirecall": "lexirecall(scale=preference)",
    "R@1000": "recall@1000",
    "R-precision": "r_precision",
    "AP": "ap",
    "nDCG": "ndcg_0",
    "nDCG@10": "ndcg_0@10",
    "RR": "rr",
}
DEPTHS = (1000, 100, 10)
DEGRADED = (1000, 100)
SAMPLING = ("uniform", "frequency")
# Sums of the same gains in another order are ties.
ROUNDING = 1e-12


def cut(run, depth):
    """The first documents of each topic; scores are the official ranks turned round."""
    run = run.sort_values(["qid", "score"], ascending=[True, False], kind="stable")
    return run[run.groupby("qid").cumcount() < depth]


def mid_ranks(scores):
    """Only the order of the systems for each topic, as of a preference."""
    values = rankdata(np.round(scores.values, 12), axis=0)
    return SystemScores(
        values, systems=scores.systems, queries=scores.queries, measure=scores.measure
    )


def with_all_labels(runs, index):
    """Figures 9 to 11: a row for each measure."""
    found = score_systems(index, runs, list(MEASURES.values()), missing="empty")
    scores = dict(zip(MEASURES, found.values(), strict=True))
    assert all(each.queries == scores["AP"].queries for each in scores.values())
    recall = scores["lexirecall"]
    assert recall.is_preference
    rows = {}
    for name, each in scores.items():
        power = partial(discriminative_power, each)
        order = mid_ranks(each)
        rows[name] = {
            "agreement": agreement(each, recall, tolerance=ROUNDING).share,
            "tied": each.fraction_tied(tolerance=ROUNDING),
            # "sign" for preferences, else "t".
            "holm": power(correction="holm").share,
            "hsd": power(test="tukey").share,
            "sign": discriminative_power(order, test="sign", correction="holm").share,
            "hsd of ranks": discriminative_power(order, test="tukey").share,
        }
    # Lexirecall is what it was: an order, tested by signs and ranks.
    assert rows["lexirecall"]["agreement"] == 1
    for plain, ranked in (("holm", "sign"), ("hsd", "hsd of ranks")):
        assert rows["lexirecall"][plain] == rows["lexirecall"][ranked]
    return pd.DataFrame(rows).T


def with_fewer_labels(runs, index, sampling, n_samples, n_jobs):
    """Figures 12 and 13: a row for each measure and share of labels removed."""
    found = label_degradation(
        index,
        runs,
        list(MEASURES.values()),
        sampling=sampling,
        n_samples=n_samples,
        missing="empty",
        tolerance=ROUNDING,
        n_jobs=n_jobs,
        random_state=0,
    )
    assert not found.dropped_queries
    names = {text: name for name, text in MEASURES.items()}
    table = found.to_frame()
    table["measure"] = table["measure"].map(names)
    return table.set_index(["measure", "share"])


def report_analyses(options):
    """Report on agreement, ties and power."""
    begin = time.perf_counter()
    facts, full, less = {}, {}, {}
    for data in RUNS:
        folder = options.data / data
        qrels = read_qrels(folder / "qrels.txt.gz")
        index = QrelsIndex(qrels)
        paths = sorted(folder.glob("runs/*.txt.gz"))
        runs = {path.name.removesuffix(".txt.gz"): read_run(path) for path in paths}
        n_relevant = int((qrels["label"] > 0).sum())
        for depth in DEPTHS:
            # The runs hold a thousand documents a topic at most.
            cuts = {name: cut(run, depth) for name, run in runs.items()}
            n_lists = len(runs) * len(index.queries)
            returned = sum(map(len, cuts.values())) / n_lists
            facts[data, depth] = (len(runs), len(index.queries), n_relevant, returned)
            full[data, depth] = with_all_labels(cuts, index)
            for sampling in SAMPLING if depth in DEGRADED else ():
                less[data, depth, sampling] = with_fewer_labels(
                    cuts, index, sampling, options.samples, options.n_jobs
                )
            print(data, depth, f"{time.perf_counter() - begin:.0f} s", flush=True)
    figures(full, less)
    text = report_text(facts, full, less)
    write_report("recall_analyses", "Lexirecall beside other measures on TREC runs", text)


TABLE_2 = {
    "tse": ["0.00529", "0.00053", "0.00005", "0.00001"],
    "recall@1000": ["1.00000", "0.31267", "0.82626", "0.98029"],
    "r_precision": ["0.82566", "0.98028", "0.99800", "0.99980"],
    "lexirecall": ["0.00000", "0.00000", "0.00000", "0.00000"],
}
ORIENTED = ["rr", "ndcg", "ap", "recall@1000", "r_precision", "rbp", "tse"]
PLACES = [10, 100, 1_000, 10_000, 100_000, 250_000]
FIGURE_7 = ["lexirecall", "tse", "recall@1000", "r_precision", "ap", "ndcg"]
TOP_HEAVY = ["ap", "ndcg", "rbp"]


def table_1_of(n_queries):
    """Table 1 and its time."""
    seconds, ours = best_time(
        lambda: simulate_agreement(SIZES, list(TABLE_1)[1:], n_queries=n_queries), repeats=2
    )
    rows = [
        [f"{size:,}", *(f"{ours.loc[size, name]:.3f} ({TABLE_1[name][i]:.3f})" for name in TABLE_1)]
        for i, size in enumerate(SIZES)
    ]
    worst = max(abs(ours[name] - TABLE_1[name]).max() for name in TABLE_1)
    return markdown_table(["items", *TABLE_1], rows), seconds, worst


def ties():
    """Table 2 and whether every digit is the printed one."""
    ours = {name: [f"{tie_probability(name, n, 10):.5f}" for n in SIZES] for name in TABLE_2}
    rows = [
        [f"{size:,}", *(f"{ours[name][i]} ({TABLE_2[name][i]})" for name in TABLE_2)]
        for i, size in enumerate(SIZES)
    ]
    return markdown_table(["items", *TABLE_2], rows), ours == TABLE_2


def orientation(kind):
    """Figure 3, by number of relevant items."""
    counts = np.array([1, 2, 3, 5, 8, 11, 15])
    columns = {name: metric_orientation(name, 10**5, counts, kind=kind) for name in ORIENTED}
    columns["tse, nDCG's exposure"] = metric_orientation(
        "tse(exposure=ndcg)", 10**5, counts, kind=kind
    )
    rows = [
        [count, *(f"{values[i]:.4f}" for values in columns.values())]
        for i, count in enumerate(counts)
    ]
    return markdown_table(["relevant", *columns], rows)


def optimal():
    """Figure 5, by number of relevant items."""
    counts = np.array([1, 2, 3, 5, 10, 15, 20, 25])
    columns = {
        f"{name}, {ranking}": [
            worst_case_searcher(np.arange(1, count + 1), name, order=order) for count in counts
        ]
        for name in TOP_HEAVY
        for ranking, order in (("deterministic", "fixed"), ("stochastic", "random"))
    }
    rows = [
        [count, *(f"{values[i]:.4f}" for values in columns.values())]
        for i, count in enumerate(counts)
    ]
    return markdown_table(["relevant", *columns], rows)


def depths(n_queries):
    """Figure 7, by number of places returned."""
    ours = simulate_ties(250_000, PLACES, FIGURE_7, n_queries=n_queries)
    rows = [[f"{depth:,}", *(f"{value:.4f}" for value in row)] for depth, *row in ours.itertuples()]
    return markdown_table(["places returned", *ours.columns], rows)


def report_theory(options):
    """Report on the tables and figures of the theory."""
    table_1, seconds, worst = table_1_of(options.queries)
    table_2, equal = ties()
    tie_seconds, _ = best_time(lambda: tie_probability("tse", 10**6, 5000))
    text = f"""
In brackets the numbers printed in "Recall as a Measure of Ranking Robustness".

## Table 1: agreement with the worst case

{options.queries:,} pairs of random rankings per size, 5 to 50 relevant items, seed 0;
{seconds:.2f} s in all. The largest difference from a printed number is {worst:.3f}. Pairs tied in
the worst case do not count; a measure that finds a pair equal does not agree.

{table_1}

## Table 2: probability of a tie

10 relevant items. {"All" if equal else "NOT all"} printed digits agree. TSE among 1,000,000 items
of which 5,000 are relevant takes {1e3 * tie_seconds:.1f} ms.

{table_2}

## Figure 3: orientation

100,000 items, RBP at persistence 0.8, TSE with the exposure of AP where nothing else is said.
Precision orientation:

{orientation("precision")}

Recall orientation:

{orientation("recall")}

## Figure 5: worst case of optimal rankings

{optimal()}

## Figure 7: tied rankings when only the first places are returned

250,000 items, 5 to 50 of them relevant, {options.queries:,} pairs, seed 0; what is not returned
takes the last positions.

{depths(options.queries)}
"""
    write_report("robustness_tables", "Recall as robustness: the paper's tables and figures", text)


if __name__ == "__main__":
    parts = {"scales": report_scales, "analyses": report_analyses, "theory": report_theory}
    run_parts(__doc__, parts, n_jobs=1, samples=10, queries=10_000)

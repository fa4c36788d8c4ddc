"""How fast: measures, nDCG_f and its threshold curve, fit, a page, and comparing systems.

    python benchmarks/speed.py [measures] [ndcg_f] [fit] [serving] [comparison] [--rows 2000000]

`measures`: all of them on two million rows, beside lexirecall of 10,000 relevant documents
(results/measure_speed.md). `ndcg_f`: its time, memory and threshold curve (metric_speed.md). `fit`:
what RankAndFilter.fit costs beyond the fits it makes, on a million rows (fit_overhead.md).
`serving`: a page by a model with a threshold and by the model alone (serving.md). `comparison`:
time and memory of all pairs of the 143 runs of TREC-COVID round 1, by average precision of 30
topics as `score_systems` gives it (comparison_speed.md). Times are processor time, which a busy
machine does not stretch.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
import tracemalloc
from functools import partial
from importlib.metadata import version

import numpy as np
from _common import best_time, markdown_table, run_parts, write_report
from lightgbm import LGBMRanker, LGBMRegressor
from scipy import stats
from sklearn.linear_model import LogisticRegression, SGDRegressor
from sklearn.metrics import ndcg_score
from threadpoolctl import threadpool_info

from skfilterrank._lists.measure import MEASURES
from skfilterrank.comparison import compare_systems, score_systems
from skfilterrank.comparison._system_tests import studentized_range
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metaevaluation import reliability, sensitivity_curve, stability_curve
from skfilterrank.metrics import lexicographic_preference, lexirecall_score, ndcg_f_score
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    LearnedThreshold,
    PerQueryThreshold,
    TunedThreshold,
    threshold_curve,
)

K = 10


def ragged_sizes(rng, mean, n_rows, kind):
    """Documents per query with the given mean, at least 2 of them (scikit-learn needs 2)."""
    draw = {
        "uniform": lambda n: rng.integers(mean // 2, mean + mean // 2 + 1, size=n),
        "Poisson": lambda n: np.maximum(rng.poisson(mean, size=n), 2),
        "geometric": lambda n: 1 + rng.geometric(1 / (mean - 1), size=n),
    }[kind]
    return draw(n_rows // mean)


def ndcg_f_row(rng, mean, n_rows, kind):
    """One row of the table."""
    sizes = ragged_sizes(rng, mean, n_rows, kind)
    n_rows = int(sizes.sum())
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y_score = rng.normal(size=n_rows)
    y_true = rng.choice([-1.0, 0.0, 1.0, 2.0], size=n_rows, p=[0.2, 0.4, 0.3, 0.1])
    width = int(sizes.max())
    argsort = argsort_time(y_score, sizes, width)
    ours, _ = best_time(lambda: ndcg_f_score(y_true, y_score, groups=groups, k=K))
    curve, _ = best_time(
        lambda: threshold_curve(y_true, y_score, groups=groups, measure=f"ndcg_f@{K}")
    )
    tracemalloc.start()
    ndcg_f_score(y_true, y_score, groups=groups, k=K)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    shuffled = rng.permutation(n_rows)
    mixed = [array[shuffled] for array in (y_true, y_score, groups)]
    mixed_time, _ = best_time(
        lambda: ndcg_f_score(mixed[0], mixed[1], groups=mixed[2], k=K), repeats=2
    )
    tracemalloc.start()
    ndcg_f_score(mixed[0], mixed[1], groups=mixed[2], k=K)
    mixed_peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    loop = loop_time(y_true, y_score, sizes)
    size = y_true.nbytes + y_score.nbytes + groups.nbytes
    return (
        f"| {kind}, mean {mean} | {n_rows:,} | {width} | {argsort:.2f} s | {ours:.2f} s | "
        f"{ours / argsort:.1f} | {loop / ours:,.0f} | {curve / ours:.1f} | "
        f"{peak / size:.2f} | {mixed_time / argsort:.1f} | {mixed_peak / size:.2f} |"
    )


def argsort_time(y_score, sizes, width):
    """Seconds of one argsort of the scores, one padded row per query."""
    padded = np.full((len(sizes), width), -np.inf)
    padded[np.arange(width) < sizes[:, None]] = y_score
    return best_time(lambda: np.argsort(padded, axis=1))[0]


def loop_time(y_true, y_score, sizes, n_sample=2000):
    """Seconds of a loop over queries with scikit-learn, from a sample of them."""
    starts = np.cumsum(sizes) - sizes
    sample = range(0, len(sizes), max(1, len(sizes) // n_sample))
    gains = np.maximum(y_true, 0)

    def loop():
        for i in sample:
            rows = slice(starts[i], starts[i] + sizes[i])
            ndcg_score(gains[None, rows], y_score[None, rows], k=K)

    seconds, _ = best_time(loop)
    return seconds * len(sizes) / len(sample)


def ndcg_f(options):
    """Report on nDCG_f, its threshold curve and its memory."""
    rng = np.random.default_rng(0)
    lines = [
        ndcg_f_row(rng, mean, options.rows, kind)
        for mean in (100, 10)
        for kind in ("Poisson", "geometric", "uniform")
    ]
    head = (
        "| documents per query | rows | padded width | one padded argsort | ndcg_f_score(k=10) | "
        "ratio | times faster than a loop over scikit-learn | threshold_curve / ndcg_f_score | "
        "extra memory / input | shuffled rows: ratio | shuffled rows: extra memory / input |"
    )
    text = f"""
CPU seconds, best of 3 in one run. *One padded argsort* is `np.argsort(axis=1)` of the scores as a
matrix with one row per query, padded to the longest. The loop over queries with scikit-learn's
`ndcg_score` is timed on 2,000 of them and multiplied. Extra memory is the peak that Python traces
above the input arrays. *Shuffled* rows come in random order, so that each query's rows are first
brought together.

{head}
|{" --- |" * 11}
{chr(10).join(lines)}
"""
    write_report("metric_speed", "Speed of nDCG_f and of its threshold curve", text)


# Measures that are not to be computed for all rows at a time as the others are.
SLOWER = {"ul_normalized": {"k": 10}}


def measures():
    """Pairs (text, function, parameters) of what is timed."""
    for name, measure in MEASURES.items():
        params = dict(SLOWER.get(name, {}))
        yield (f"{name}@{params['k']}" if params else name), measure, params
        if measure.takes_k and not params:
            yield f"{name}@10", measure, {"k": 10}


def rows_of(rng, mean, n_rows):
    """Three arrays, with queries of Poisson sizes."""
    sizes = ragged_sizes(rng, mean, n_rows, "Poisson")
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y_score = rng.normal(size=len(groups))
    y_true = rng.choice([0.0, 1.0, 2.0], size=len(groups), p=[0.7, 0.2, 0.1])
    return sizes, y_true, y_score, groups


def table(rng, means, n_rows, repeats):
    """Ratio of each measure to one argsort, for each mean size; and the argsorts."""
    ratios, argsorts = {}, []
    for mean in means:
        sizes, y_true, y_score, groups = rows_of(rng, mean, n_rows)
        argsort = argsort_time(y_score, sizes, int(sizes.max()))
        argsorts.append(argsort)
        for text, function, params in measures():
            call = partial(function, y_true, y_score, groups=groups, **params)
            seconds, _ = best_time(call, repeats)
            ratios.setdefault(text, []).append(seconds / argsort)
    return ratios, argsorts


def long_query(rng, n_relevant=10_000, n_rows=200_000, n_items=10_000_000):
    """Rankings of one query that differ in the place of one document: how many are told apart."""
    y_true = np.zeros(n_rows)
    y_true[rng.permutation(n_rows)[:n_relevant]] = 1
    y_score = rng.permutation(n_rows).astype(float)
    groups = np.zeros(n_rows, dtype=int)
    order = np.argsort(-y_score)
    relevant = np.flatnonzero(y_true[order] > 0)
    pairs, right, scored, wrong = 0, 0, 0, 0
    first = lexirecall_score(y_true, y_score, groups=groups, n_items=n_items, scale="log")
    begin = time.perf_counter()
    for level in range(0, n_relevant, n_relevant // 100):
        place = relevant[level]
        if place == 0 or y_true[order[place - 1]] > 0:
            continue
        # The document of this level moves one place up, everything else stays.
        better = y_score.copy()
        better[order[[place - 1, place]]] = y_score[order[[place, place - 1]]]
        value = lexirecall_score(y_true, better, groups=groups, n_items=n_items, scale="log")
        pairs += 1
        right += lexicographic_preference(y_true, better, y_score, groups=groups)[0] == 1
        scored += value > first
        wrong += value < first
    return pairs, right, scored, wrong, (time.perf_counter() - begin) / max(pairs, 1)


def every_measure(options):
    """Report on all measures."""
    rng = np.random.default_rng(0)
    means = (100, 10)
    ratios, argsorts = table(rng, means, options.rows, options.repeats)
    pairs, right, scored, wrong, seconds = long_query(rng)
    lines = "\n".join(
        f"| {text} | {' | '.join(f'{ratio:.1f}' for ratio in row)} |"
        for text, row in ratios.items()
    )
    text = f"""
{options.rows:,} rows, sizes of queries from a Poisson distribution. CPU seconds,
best of {options.repeats}; in multiples of one `np.argsort(axis=1)` of the scores as a matrix
padded to the longest query, which took
{" and ".join(f"{seconds:.2f} s" for seconds in argsorts)}. Labels 0, 1 and 2, no ties.

| measure | {" | ".join(f"{mean} documents per query" for mean in means)} |
|{" --- |" * (1 + len(means))}
{lines}

## Lexirecall of one query with 10,000 relevant among 200,000 documents

{pairs} pairs of rankings that differ in that one relevant document stands one place higher, at
levels 1 to 10,000: `lexicographic_preference` tells the better one in {right}. The score (log
scale, 10,000,000 documents in the collection) tells it in {scored}, and in {wrong} it says the
opposite; {1e3 * seconds:.0f} ms a pair for both.
"""
    write_report("measure_speed", "Speed of all measures", text)


class Clocked:
    """Adds up the processor time that `fit` and `predict` of an estimator take."""

    seconds = 0.0

    def fit(self, X, y):
        begin = time.process_time()
        super().fit(X, y)
        Clocked.seconds += time.process_time() - begin
        return self

    def predict(self, X):
        begin = time.process_time()
        result = super().predict(X)
        Clocked.seconds += time.process_time() - begin
        return result


class ClockedTrees(Clocked, LGBMRegressor):
    """LightGBM with a clock."""


class ClockedSGD(Clocked, SGDRegressor):
    """A fast linear model with a clock."""


def overhead(name, estimator, X, y, groups, repeats=3):
    """Of several fits the one with the least overhead; one row of the table."""
    found = []
    for _ in range(repeats):
        Clocked.seconds = 0.0
        begin = time.process_time()
        RankAndFilter(estimator, measure="ndcg_f@3").fit(X, y, groups=groups)
        total = time.process_time() - begin
        found.append((total - Clocked.seconds, Clocked.seconds))
    more, inner = min(found)
    return f"| {name} | {inner + more:.1f} s | {inner:.1f} s | {more:.1f} s | {more / inner:.0%} |"


def fit(options):
    """Report on what fitting costs."""
    X, y, groups, _ = make_rank_and_filter(
        options.fitted_rows // 2,
        documents_per_query={1: 0.5, 2: 0.25, 3: 0.15, 5: 0.1},
        bayes=False,
        random_state=0,
    )
    X = np.ascontiguousarray(X)
    trees = ClockedTrees(n_estimators=100, n_jobs=2, verbose=-1)
    linear = ClockedSGD(random_state=0)
    texts = np.char.add("query ", groups.astype(str)).astype(object)
    lines = [
        overhead("LGBMRegressor, 100 trees", trees, X, y, groups),
        overhead("SGDRegressor (linear)", linear, X, y, groups),
        overhead("SGDRegressor, query ids that are texts", linear, X, y, texts),
    ]
    text = f"""
{len(y):,} rows of {X.shape[1]} features, {len(np.unique(groups)):,} queries; 5 folds and the final
fit, so 6 fits and 5 predictions. Processor time, best of 3. *Inside* is the time in the estimator's
own `fit` and `predict`; the rest is cutting the folds, the exact threshold, its comparison with
answers that need no model, and the results of each fold.

| estimator | RankAndFilter.fit | inside | rest | rest / inside |
| --- | --- | --- | --- | --- |
{chr(10).join(lines)}
"""
    write_report("fit_overhead", "What RankAndFilter.fit costs beyond the fits it makes", text)


N_DOCUMENTS, REPEATS, ROUNDS = 40, 300, 9


def milliseconds(functions):
    """Best mean of several rounds for each function, which take turns."""
    best = dict.fromkeys(functions, np.inf)
    for _ in range(ROUNDS):
        for name, function in functions.items():
            begin = time.process_time()
            for _ in range(REPEATS):
                function()
            best[name] = min(best[name], 1000 * (time.process_time() - begin) / REPEATS)
    return best


def models(X, y, groups):
    """Time a page of documents by the two kinds of models, with and without a threshold."""
    page, rows = X[:N_DOCUMENTS], []
    estimators = {
        "LGBMRanker, 100 trees": LGBMRanker(n_jobs=1, verbose=-1),
        "LogisticRegression": LogisticRegression(),
    }
    for name, estimator in estimators.items():
        model = RankAndFilter(estimator, measure="ndcg_f@3").fit(X, y, groups=groups)
        inner = model.estimator_
        alone = inner.predict if name.startswith("LGBM") else inner.predict_proba
        times = milliseconds({"alone": partial(alone, page), "whole": partial(model.predict, page)})
        rows.append([name, *(f"{times[each]:.2f}" for each in ("alone", "whole"))])
    return rows


def thresholds(y, groups, scores):
    """Time a page whose scores are known."""
    rng, query, calls = np.random.default_rng(0), np.zeros(N_DOCUMENTS), {}
    page = rng.permutation(len(scores))[:N_DOCUMENTS]
    two = np.column_stack([scores, rng.normal(size=len(scores)) - y])
    for name, threshold, given in (
        ("FixedThreshold", FixedThreshold(0.0), scores),
        ("TunedThreshold", TunedThreshold("ndcg_f@3"), scores),
        ("TunedThreshold, at most 3 shown", TunedThreshold("ndcg_f@3", max_shown=3), scores),
        ("TunedThreshold, two scores", TunedThreshold("ndcg_f@3"), two),
        ("FirstK", FirstK("ndcg_f@3"), scores),
        ("CertifiedThreshold", CertifiedThreshold({"any_forbidden@3": 0.5}), scores),
        ("PerQueryThreshold", PerQueryThreshold("ndcg_f@3"), scores),
        ("ExpectedThreshold", ExpectedThreshold("ndcg_f@3"), scores),
        ("LearnedThreshold", LearnedThreshold("ndcg_f@3", random_state=0), scores),
    ):
        fitted = threshold.fit(given, y, groups=groups)
        calls[name] = partial(fitted.predict, given[page], groups=query)
    return [[name, f"{best:.2f}"] for name, best in milliseconds(calls).items()]


def serving(options):
    """Report on the time of a page."""
    X, y, groups, scores = make_rank_and_filter(n_queries=2000, random_state=0)
    text = [
        f"A page is one query with {N_DOCUMENTS} documents of {X.shape[1]} features. CPU time, the "
        f"best of {ROUNDS} means over {REPEATS} calls, in turns.",
        markdown_table(["model", "alone, ms", "RankAndFilter.predict, ms"], models(X, y, groups)),
        f"Scores that are known, {N_DOCUMENTS} of one query:",
        markdown_table(["threshold", "predict, ms"], thresholds(y, groups, scores)),
    ]
    write_report("serving", "Time to serve a page", "\n\n".join(text))


N_RESAMPLES = 10_000
TESTS = ("t", "sign", "randomization", "bootstrap", "tukey")
# Pairs that scipy is timed on, and systems for the two libraries' Tukey tests.
N_TIMED, N_AT_ONCE, N_TUKEY = 10, 500, 20
LARGE = 1000


def mean_difference(x, y, axis=-1):
    return np.mean(x - y, axis=axis)


def compare_afresh(scores, test):
    """As for the first time, without the distribution that Tukey's HSD keeps."""
    studentized_range.cache_clear()
    return compare_systems(scores, test=test, random_state=0)


def one_by_one(values, first, second, vectorized):
    """scipy's permutation test in a loop over pairs."""
    statistic = mean_difference if vectorized else lambda x, y: np.mean(x - y)
    return np.array(
        [
            stats.permutation_test(
                (values[i], values[j]),
                statistic,
                permutation_type="samples",
                vectorized=vectorized,
                n_resamples=N_RESAMPLES,
                rng=0,
            ).pvalue
            for i, j in zip(first, second)
        ]
    )


def all_at_once(values, first, second):
    """scipy's permutation test with pairs as rows; batches of 100 are faster than of 1,000."""
    return stats.permutation_test(
        (values[first], values[second]),
        mean_difference,
        permutation_type="samples",
        vectorized=True,
        axis=1,
        batch=100,
        n_resamples=N_RESAMPLES,
        rng=0,
    ).pvalue


def scipy_times(values, ours):
    """Seconds for each pair of the three ways to use scipy; their p values must be ours."""
    picked = np.random.default_rng(0).choice(len(ours.first), N_AT_ONCE, replace=False)
    ways = {
        "`permutation_test` in a loop, a Python statistic": (
            N_TIMED,
            lambda i, j: one_by_one(values, i, j, False),
        ),
        "`permutation_test` in a loop, `vectorized=True`": (
            N_TIMED,
            lambda i, j: one_by_one(values, i, j, True),
        ),
        "`permutation_test` with pairs as rows, `batch=100`": (
            N_AT_ONCE,
            lambda i, j: all_at_once(values, i, j),
        ),
    }
    found = {}
    for name, (n_pairs, function) in ways.items():
        some = picked[:n_pairs]
        pairs = ours.first[some], ours.second[some]
        seconds, p_values = best_time(lambda: function(*pairs), repeats=2)  # noqa: B023
        # Five standard errors of the difference. scipy doubles the smaller tail, which errs more.
        p = ours.p_value[some]
        assert (np.abs(p_values - p) <= 5 * np.sqrt(p * (3 - 2 * p) / N_RESAMPLES) + 1e-3).all()
        found[name] = (n_pairs, seconds / n_pairs)
    return found


def tukey_times(values):
    """Seconds for each pair of the one-way tests of the two libraries."""
    from statsmodels.stats.multicomp import pairwise_tukeyhsd

    some = values[:N_TUKEY]
    n_pairs = N_TUKEY * (N_TUKEY - 1) // 2
    names = np.repeat(np.arange(N_TUKEY), some.shape[1])
    by_scipy, _ = best_time(lambda: stats.tukey_hsd(*some), repeats=1)
    by_statsmodels, _ = best_time(lambda: pairwise_tukeyhsd(some.ravel(), names), repeats=1)
    return by_scipy / n_pairs, by_statsmodels / n_pairs


def many_systems(values, n_systems):
    """More systems: means of two of these at a time, drawn at random."""
    rng = np.random.default_rng(1)
    first, second = rng.integers(len(values), size=(2, n_systems))
    weight = rng.random((n_systems, 1))
    return weight * values[first] + (1 - weight) * values[second]


def peak(function):
    """Processor seconds, most memory at a time, and what the result keeps, in MB."""
    tracemalloc.start()
    begin = time.process_time()
    result = function()
    seconds = time.process_time() - begin
    kept, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return seconds, most / 2**20, kept / 2**20


def verdict(seconds, bound):
    return "held" if seconds < bound else "missed"


def comparison(options):
    """Report on comparing systems."""
    folder = options.data / "trec-covid-round1"
    paths = sorted(folder.glob("runs/*.txt.gz"))
    begin = time.process_time()
    scores = score_systems(folder / "qrels.txt.gz", paths, "ap")["ap"]
    scoring = time.process_time() - begin
    values = scores.values
    n_systems, n_queries = values.shape
    n_pairs = n_systems * (n_systems - 1) // 2
    assert (n_systems, n_queries, n_pairs) == (143, 30, 10_153)

    seconds, results = {}, {}
    for test in TESTS:
        seconds[test], results[test] = best_time(lambda: compare_afresh(scores, test))  # noqa: B023
    rows = "\n".join(
        f"| {test} | {seconds[test]:.2f} | {1e6 * seconds[test] / n_pairs:.0f} | "
        f"{results[test].significant().sum():,} |"
        for test in TESTS
    )
    by_scipy = scipy_times(values, results["randomization"])
    scipy_rows = "\n".join(
        f"| {name} | {n_timed} | {1e3 * each:.2f} | {each * n_pairs:.0f} | "
        f"{each * n_pairs / seconds['randomization']:.0f} |"
        for name, (n_timed, each) in by_scipy.items()
    )
    loop = by_scipy["`permutation_test` in a loop, `vectorized=True`"][1] * n_pairs
    ratio = loop / seconds["randomization"]
    tukey_scipy, tukey_statsmodels = tukey_times(values)

    curves = {
        "stability_curve, 200 samples of 2 to 30 topics": lambda: stability_curve(
            scores, random_state=0
        ),
        'sensitivity_curve, 1,000 resamples, method="paper"': lambda: sensitivity_curve(
            scores, method="paper", random_state=0
        ),
        'sensitivity_curve, 1,000 resamples, method="sakai"': lambda: sensitivity_curve(
            scores, method="sakai", random_state=0
        ),
        "reliability": lambda: reliability(scores),
    }
    curve_seconds = {name: best_time(function)[0] for name, function in curves.items()}
    curve_rows = "\n".join(f"| {name} | {each:.2f} |" for name, each in curve_seconds.items())
    together = sum(curve_seconds.values())

    large = many_systems(values, LARGE)
    # Blocks of pairs are as large whatever the number of resamples; so many more take minutes.
    fewer = {"bootstrap": {"n_resamples": 1000}}
    jobs = {test: partial(compare_systems, test=test, **fewer.get(test, {})) for test in TESTS}
    jobs |= {"stability_curve": stability_curve, "sensitivity_curve": sensitivity_curve}
    memory = {}
    for name, function in jobs.items():
        small_peak = peak(lambda: function(values))  # noqa: B023
        memory[name] = (small_peak, peak(lambda: function(large)))  # noqa: B023
        print(name, memory[name], flush=True)
    memory_rows = "\n".join(
        f"| {name} | {few[1]:.0f} | {few[2]:.1f} | {many[0]:.1f} | {many[1]:.0f} | {many[2]:.0f} |"
        for name, (few, many) in memory.items()
    )
    beyond = max(many[1] - many[2] for _, many in memory.values())
    n_large = LARGE * (LARGE - 1) // 2
    whole = n_large * N_RESAMPLES * 8 / 2**30
    # A bound whatever the number of systems: what is not the result itself.
    assert beyond < 256
    threads = max((each["num_threads"] for each in threadpool_info()), default=1)

    text = f"""
Average precision of {n_systems} systems for {n_queries} topics, {n_pairs:,} pairs; reading and
scoring the runs took {scoring:.1f} s and is not in the times below. Times are processor seconds
(which a busy machine does not stretch as it does wall-clock time), best of 3, {threads} thread(s)
of the linear algebra library. statsmodels {version("statsmodels")}.

## All pairs, each test

`compare_systems(scores, test=...)` with corrections and intervals, {N_RESAMPLES:,} resamples for
"randomization" and "bootstrap".

| test | seconds | microseconds per pair | significant at 0.05 (Holm or HSD) |
| --- | --- | --- | --- |
{rows}

The randomization test of all pairs takes **{seconds["randomization"]:.2f} s** (bound 20 s:
{verdict(seconds["randomization"], 20)}), Tukey's HSD **{seconds["tukey"]:.2f} s** (bound 1 s:
{verdict(seconds["tukey"], 1)}). With {N_RESAMPLES:,} resamples no p value of the randomization
test and the bootstrap test is below {results["randomization"].smallest_p:.1e}, and Holm's
correction for {n_pairs:,} pairs leaves {results["randomization"].significant().sum()} and
{results["bootstrap"].significant().sum()} significant, as their documentation warns.

## Beside scipy

The same randomization tests by scipy, timed on a few pairs and multiplied to all {n_pairs:,}; the
p values agree with ours within five standard errors.

| way | pairs timed | ms per pair | seconds for all, extrapolated | times ours |
| --- | --- | --- | --- | --- |
{scipy_rows}

In a loop, with the vectorized statistic: **{ratio:.0f} times** (bound 50:
{"held" if ratio >= 50 else "missed"}). Handing scipy all pairs as rows of one array is its best
use, where permutations are shared, as they are here.

`scipy.stats.tukey_hsd` and statsmodels' `pairwise_tukeyhsd`, timed on {N_TUKEY} systems and
extrapolated by pairs, need {tukey_scipy * n_pairs:.0f} s and {tukey_statsmodels * n_pairs:.0f} s;
both are one-way tests, without topics as blocks, and integrate for every pair anew.

## Curves

| function | seconds |
| --- | --- |
{curve_rows}

All together {together:.1f} s (bound a minute: {verdict(together, 60)}).

## Memory

Most that is allocated at a time beyond the values (tracemalloc, in MB), and what the result keeps
of it, for {n_systems} systems and for {LARGE:,} ({n_large:,} pairs; weighted means of two of the
systems at random), with the seconds there, tracing included. "bootstrap" with 1,000
resamples here.

| function | {n_systems}: peak | result | {LARGE:,}: seconds | peak | result |
| --- | --- | --- | --- | --- | --- |
{memory_rows}

Beyond the result itself no function takes more than {beyond:.0f} MB at {LARGE:,} systems, where
{N_RESAMPLES:,} resampled differences of every pair would be {whole:.0f} GB. What grows with the
pairs are the result's columns and copies of them.
"""
    write_report("comparison_speed", "Speed and memory of comparing systems", text)


if __name__ == "__main__":
    parts = {"measures": every_measure, "ndcg_f": ndcg_f, "fit": fit, "serving": serving}
    parts |= {"comparison": comparison}
    run_parts(__doc__, parts, rows=2_000_000, fitted_rows=1_000_000, repeats=2)

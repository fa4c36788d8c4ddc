"""Time and memory of comparing systems: all pairs of the 143 runs of TREC-COVID round 1.

Average precision of 30 topics, as `score_systems` gives it. Times are processor time, which a busy
machine does not stretch; run with OMP_NUM_THREADS=1, so that it is the time of one core.
"""

import time
import tracemalloc
from functools import partial
from importlib.metadata import version

import numpy as np
from _common import arguments, write_report
from scipy import stats
from statsmodels.stats.multicomp import pairwise_tukeyhsd
from threadpoolctl import threadpool_info

from skfilterrank.comparison import compare_systems, score_systems
from skfilterrank.comparison._system_tests import studentized_range
from skfilterrank.metaevaluation import reliability, sensitivity_curve, stability_curve

N_RESAMPLES = 10_000
TESTS = ("t", "sign", "randomization", "bootstrap", "tukey")
# Pairs that scipy is timed on, and systems for the two libraries' Tukey tests.
N_TIMED, N_AT_ONCE, N_TUKEY = 10, 500, 20
LARGE = 1000


def best_time(function, repeats=3):
    """Least processor time of several runs, in seconds, and the last result."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.process_time()
        result = function()
        best = min(best, time.process_time() - begin)
    return best, result


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


def main():
    options = arguments(__doc__)
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
    main()

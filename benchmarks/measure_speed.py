"""Speed of every measure on ten million rows, and memory of nDCG_f and of its threshold curve.

    python benchmarks/measure_speed.py [all] [ndcg_f] [--rows 10000000]

`all` measures, beside lexirecall of 10,000 relevant documents, go into results/measure_speed.md;
`ndcg_f`, its threshold curve and its memory into results/metric_speed.md.
"""

import time
import tracemalloc
from functools import partial

import numpy as np
from _common import best_time, run_parts, write_report
from sklearn.metrics import ndcg_score

from skfilterrank._lists.measure import MEASURES
from skfilterrank.metrics import lexicographic_preference, lexirecall_score, ndcg_f_score
from skfilterrank.thresholds import threshold_curve

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


if __name__ == "__main__":
    run_parts(__doc__, {"all": every_measure, "ndcg_f": ndcg_f}, rows=10_000_000, repeats=2)

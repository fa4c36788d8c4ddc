"""Speed and memory of ndcg_f_score and threshold_curve on ten million rows."""

import tracemalloc

import numpy as np
from _common import arguments, best_time, write_report
from sklearn.metrics import ndcg_score

from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import threshold_curve

K = 10


def ragged_sizes(rng, mean, n_rows, kind):
    """Documents per query with the given mean, at least 2 of them (scikit-learn needs 2)."""
    draw = {
        "uniform": lambda n: rng.integers(mean // 2, mean + mean // 2 + 1, size=n),
        "Poisson": lambda n: np.maximum(rng.poisson(mean, size=n), 2),
        "geometric": lambda n: 1 + rng.geometric(1 / (mean - 1), size=n),
    }[kind]
    return draw(n_rows // mean)


def measure(rng, mean, n_rows, kind):
    """One row of the table."""
    sizes = ragged_sizes(rng, mean, n_rows, kind)
    n_rows = int(sizes.sum())
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y_score = rng.normal(size=n_rows)
    y_true = rng.choice([-1.0, 0.0, 1.0, 2.0], size=n_rows, p=[0.2, 0.4, 0.3, 0.1])
    width = int(sizes.max())
    argsort = argsort_time(y_score, sizes, width)
    ours, _ = best_time(lambda: ndcg_f_score(y_true, y_score, groups=groups, k=K))
    curve, _ = best_time(lambda: threshold_curve(y_true, y_score, groups=groups, k=K))
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


def main():
    options = arguments(__doc__, rows=10_000_000)
    rng = np.random.default_rng(0)
    lines = [
        measure(rng, mean, options.rows, kind)
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


if __name__ == "__main__":
    main()

"""Speed of every measure on ten million rows, and lexirecall with 10,000 relevant documents."""

import time
from functools import partial

import numpy as np
from _common import arguments, best_time, write_report
from metric_speed import argsort_time, ragged_sizes

from skfilterrank._core.measure import MEASURES
from skfilterrank.metrics import lexicographic_preference, lexirecall_score

# Measures that are not to be computed for all rows at a time as the others are.
SLOWER = {"ul_normalized": {"k": 10}}


def measures():
    """Pairs (text, function, parameters) of what is timed."""
    for name, measure in MEASURES.items():
        params = dict(SLOWER.get(name, {}))
        yield (f"{name}@{params['k']}" if params else name), measure.function, params
        if measure.takes_k and not params:
            yield f"{name}@10", measure.function, {"k": 10}


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


def main():
    options = arguments(__doc__, rows=10_000_000, repeats=2)
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
    main()

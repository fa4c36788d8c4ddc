"""The tables and figures of Diaz & Mitra's theory, beside the printed numbers."""

import numpy as np
from _common import arguments, best_time, write_report
from _random_rankings import simulate_agreement, simulate_ties

from skfilterrank.metaevaluation import (
    metric_orientation,
    tie_probability,
    worst_case_searcher,
)

SIZES = [10**3, 10**4, 10**5, 10**6]
TABLE_1 = {
    "tied": [0.012, 0.001, 0.000, 0.000],
    "tse": [1.000, 1.000, 1.000, 1.000],
    "recall@1000": [0.000, 0.420, 0.179, 0.026],
    "r_precision": [0.285, 0.077, 0.008, 0.001],
    "ap": [0.541, 0.552, 0.554, 0.547],
    "ndcg": [0.535, 0.549, 0.555, 0.554],
    "random": [0.492, 0.497, 0.498, 0.499],
}
TABLE_2 = {
    "tse": ["0.00529", "0.00053", "0.00005", "0.00001"],
    "recall@1000": ["1.00000", "0.31267", "0.82626", "0.98029"],
    "r_precision": ["0.82566", "0.98028", "0.99800", "0.99980"],
    "lexirecall": ["0.00000", "0.00000", "0.00000", "0.00000"],
}
ORIENTED = ["rr", "ndcg", "ap", "recall@1000", "r_precision", "rbp", "tse"]
DEPTHS = [10, 100, 1_000, 10_000, 100_000, 250_000]
FIGURE_7 = ["lexirecall", "tse", "recall@1000", "r_precision", "ap", "ndcg"]
TOP_HEAVY = ["ap", "ndcg", "rbp"]


def table(head, rows):
    """A Markdown table."""
    return "\n".join(
        ["| " + " | ".join(map(str, row)) + " |" for row in (head, ["---"] * len(head), *rows)]
    )


def agreement(n_queries):
    """Table 1 and its time."""
    seconds, ours = best_time(
        lambda: simulate_agreement(SIZES, list(TABLE_1)[1:], n_queries=n_queries), repeats=2
    )
    rows = [
        [f"{size:,}", *(f"{ours.loc[size, name]:.3f} ({TABLE_1[name][i]:.3f})" for name in TABLE_1)]
        for i, size in enumerate(SIZES)
    ]
    worst = max(abs(ours[name] - TABLE_1[name]).max() for name in TABLE_1)
    return table(["items", *TABLE_1], rows), seconds, worst


def ties():
    """Table 2 and whether every digit is the printed one."""
    ours = {name: [f"{tie_probability(name, n, 10):.5f}" for n in SIZES] for name in TABLE_2}
    rows = [
        [f"{size:,}", *(f"{ours[name][i]} ({TABLE_2[name][i]})" for name in TABLE_2)]
        for i, size in enumerate(SIZES)
    ]
    return table(["items", *TABLE_2], rows), ours == TABLE_2


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
    return table(["relevant", *columns], rows)


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
    return table(["relevant", *columns], rows)


def depths(n_queries):
    """Figure 7, by number of places returned."""
    ours = simulate_ties(250_000, DEPTHS, FIGURE_7, n_queries=n_queries)
    rows = [[f"{depth:,}", *(f"{value:.4f}" for value in row)] for depth, *row in ours.itertuples()]
    return table(["places returned", *ours.columns], rows)


def main():
    options = arguments(__doc__, queries=10_000)
    table_1, seconds, worst = agreement(options.queries)
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
    main()

"""Pairs of random rankings, and how often measures agree with the worst case or find them equal."""

import numpy as np
import pandas as pd

from skfilterrank.metaevaluation import recall_level_metric

# Table 1 of Diaz and Mitra (2023), as printed: a value for each number of items.
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


def simulate_agreement(sizes, measures, *, n_queries, n_relevant=(5, 50), seed=0):
    """Simulate how often a measure prefers the ranking with the better worst case.

    Column "tied" is the share of pairs with equal worst cases, which no other column counts. The
    worst case of a ranking is decided by its last relevant item (theorem A.1).
    """
    rng, rows = np.random.RandomState(seed), []
    for size in sizes:
        signs, preferred = [], {name: [] for name in measures}
        for first, second in random_pairs(rng, size, n_queries, n_relevant):
            signs.append(np.sign(second[:, -1] - first[:, -1]))
            for name, found in preferred.items():
                found.append(preference(name, first, second, rng))
        worst = np.concatenate(signs)
        decided = worst != 0
        shares = {
            name: (np.concatenate(found) == worst)[decided].mean()
            for name, found in preferred.items()
        }
        rows.append({"tied": 1 - decided.mean(), **shares})
    return pd.DataFrame(rows, index=pd.Index(sizes, name="n_items"))


def simulate_ties(n_items, depths, measures, *, n_queries, n_relevant=(5, 50), seed=0):
    """Simulate how often two rankings are equal when only their first places are returned.

    Relevant items further down take the last positions of the corpus.
    """
    rng, ties = np.random.RandomState(seed), np.zeros((len(depths), len(measures)))
    for pair in random_pairs(rng, n_items, n_queries, n_relevant):
        last = np.arange(n_items - pair[0].shape[1] + 1.0, n_items + 1)
        for row, depth in zip(ties, depths, strict=True):
            first, second = (np.where(positions > depth, last, positions) for positions in pair)
            row += [np.sum(preference(name, first, second, rng) == 0) for name in measures]
    index = pd.Index(depths, name="depth")
    return pd.DataFrame(ties / n_queries, index=index, columns=list(measures))


def preference(name, first, second, rng):
    """Compare pairs of positions: 1 where the first is better, -1, or 0."""
    if name == "random":
        return 2.0 * rng.randint(2, size=len(first)) - 1
    if name == "lexirecall":
        # The last position that differs decides.
        column = (first != second)[:, ::-1].argmax(axis=1)[:, None]
        return np.sign(np.take_along_axis((second - first)[:, ::-1], column, 1)[:, 0])
    return np.sign(recall_level_metric(first, name) - recall_level_metric(second, name))


def random_pairs(rng, n_items, n_queries, bounds):
    """Yield pairs of random sorted positions, the queries of one number of relevant items each."""
    numbers = rng.randint(bounds[0], bounds[1] + 1, size=n_queries)
    for n_relevant, n_pairs in zip(*np.unique(numbers, return_counts=True), strict=True):
        # Floyd's algorithm draws without replacement in all rows at once.
        both = np.empty((2 * n_pairs, n_relevant))
        for column in range(n_relevant):
            last = n_items - n_relevant + column + 1
            drawn = rng.randint(1, last + 1, size=len(both), dtype=np.int64)
            taken = (both[:, :column] == drawn[:, None]).any(axis=1)
            both[:, column] = np.where(taken, last, drawn)
        both.sort(axis=1)
        yield both[:n_pairs], both[n_pairs:]

"""Small collections with people's and machines' labels of every document."""

from itertools import combinations

import numpy as np
import pandas as pd

from skfilterrank.judgments._sample import inclusion_probabilities


def collection(n_queries=12, n_documents=40, n_runs=4, seed=0, noise=1.0):
    """Labels by people (0 to 3), by a machine that praises too much, and runs of some quality."""
    rng = np.random.RandomState(seed)
    rows = pd.DataFrame(
        {
            "qid": np.repeat([f"t{i:02d}" for i in range(n_queries)], n_documents),
            "docno": [f"d{i}" for i in range(n_documents)] * n_queries,
        }
    )
    n = len(rows)
    quality = rng.normal(size=n) + np.repeat(rng.normal(scale=0.7, size=n_queries), n_documents)
    people = rows.assign(label=np.digitize(quality, [0.3, 1.0, 1.8]))
    machine = rows.assign(
        label=np.digitize(quality + rng.normal(scale=0.7, size=n), [-0.3, 0.4, 1.2])
    )
    runs = {
        f"run{i}": rows.assign(score=quality + rng.normal(scale=noise * (1 + 0.5 * i), size=n))
        for i in range(n_runs)
    }
    return people, machine, runs


def with_labels(sample, people):
    """The sample with people's labels filled in."""
    labels = people.set_index(["qid", "docno"])["label"]
    pairs = pd.MultiIndex.from_frame(sample[["qid", "docno"]])
    return sample.assign(label=labels.reindex(pairs).to_numpy(dtype=float))


def elimination_design(sizes, n):
    """Probability of every sample of n, by Tillé's rule: {tuple of rows: probability}."""
    sizes = np.asarray(sizes, dtype=float)
    left = {tuple(range(len(sizes))): 1.0}
    for size in range(len(sizes) - 1, n - 1, -1):
        now = inclusion_probabilities(sizes, size)
        before = inclusion_probabilities(sizes, size + 1)
        smaller = dict.fromkeys(combinations(range(len(sizes)), size), 0.0)
        for rows, probability in left.items():
            for row in rows:
                rest = tuple(other for other in rows if other != row)
                smaller[rest] += probability * (1 - now[row] / before[row])
        left = smaller
    return left

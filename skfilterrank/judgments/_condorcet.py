"""Documents of a pool by their wins over one another."""

import numpy as np
import pandas as pd


def condorcet_counts(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Wins and losses of each document of a rank table against all others of its topic.

    A run that returns n of the N documents of a topic's pool has its p-th document win against
    the N - p that it ranks below or not at all, and lose against the p - 1 above; each document
    that it does not return loses against all n. So the sums over pairs need no pairs.
    """
    ranks = table.to_numpy()
    topics = pd.factorize(table.index.get_level_values("qid"))[0]
    pool_sizes = np.bincount(topics)
    is_returned = ~np.isnan(ranks)
    # Places among what is left of a run: those of a table that lost rows have gaps.
    places = table.groupby(topics).rank().to_numpy()
    starts = np.flatnonzero(np.diff(topics, prepend=-1))
    n_returned = np.add.reduceat(is_returned, starts, axis=0, dtype=np.int64)
    wins = np.where(is_returned, pool_sizes[topics][:, None] - places, 0)
    losses = np.where(is_returned, places - 1, n_returned[topics])
    return wins.sum(axis=1).astype(np.int64), losses.sum(axis=1).astype(np.int64)

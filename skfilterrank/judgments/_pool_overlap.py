"""Runs by how much of what they return other runs return too."""

import numpy as np
import pandas as pd

# Runs that are compared in one trial of Spoerri's method.
N_COMPARED = 5


def mean_overlap(table: pd.DataFrame) -> np.ndarray:
    """Mean Jaccard coefficient of each run with every other, over topics (Aslam and Savell).

    Coefficients with a run that returns nothing for the topic are 0, and so are all of its own.
    """
    is_returned, starts = _incidence(table)
    n_runs = is_returned.shape[1]
    total = np.zeros(n_runs)
    for rows in np.split(is_returned, starts[1:]):
        rows = rows.astype(np.float64)
        both = rows.T @ rows
        sizes = both.diagonal().copy()
        either = sizes[:, None] + sizes - both
        jaccard = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
        np.fill_diagonal(jaccard, 0)
        total += jaccard.sum(axis=1)
    return total / (len(starts) * (n_runs - 1))


def mean_uniqueness(table: pd.DataFrame, random_state: np.random.RandomState) -> np.ndarray:
    """Minus the mean share of each run's documents that no other run of a trial returns (Spoerri).

    Each of as many trials as there are runs compares five of them; every run is in five. The runs
    are laid out on a circle at random, and a trial takes five neighbours.
    """
    is_returned, starts = _incidence(table)
    sizes = np.add.reduceat(is_returned, starts, axis=0, dtype=np.int64)
    n_runs = is_returned.shape[1]
    circle = random_state.permutation(n_runs)
    total = np.zeros(n_runs)
    for trial in range(n_runs):
        chosen = circle[(trial + np.arange(N_COMPARED)) % n_runs]
        rows = is_returned[:, chosen]
        alone = rows & (rows.sum(axis=1) == 1)[:, None]
        n_alone = np.add.reduceat(alone, starts, axis=0, dtype=np.int64)
        total[chosen] += (n_alone / (1 + sizes[:, chosen])).mean(axis=0)
    return -total / N_COMPARED


def _incidence(table):
    """Which run returns which document, and the first row of each topic."""
    topics = pd.factorize(table.index.get_level_values("qid"))[0]
    return table.notna().to_numpy(), np.flatnonzero(np.diff(topics, prepend=-1))

"""Positions of relevant documents from rows, and the order of systems by them."""

import numpy as np

from skfilterrank._lists.positions import (
    PreferenceMatrix,
    check_n_items,
    positions_of,
    positions_of_systems,
    ranked_lists,
)

DEFAULTS = {"groups": None, "gains": None, "ties": "worst", "unjudged": "zero"}


def relevant_positions(y_true, y_score, n_items=None, **how):
    """RelevantPositions of rows."""
    return positions_of(ranked_lists(y_true, y_score, **DEFAULTS | how), check_n_items(n_items))


def by_query(found, positions=None):
    """Positions of each query."""
    return np.split(found.positions if positions is None else positions, found.starts[1:])


def preference_matrix(y_true, y_scores, kind="recall", **how):
    """PreferenceMatrix of systems that rank the same rows."""
    positions = positions_of_systems(y_true, y_scores, **DEFAULTS | how)
    return PreferenceMatrix.from_positions(positions, kind=kind)


def preferences(matrix):
    """1 where the first system is preferred to the second, -1 the other way round, else 0."""
    ranks = matrix.ranks.to_numpy()
    return np.sign(ranks[:, None, :] - ranks[:, :, None]).astype(int)

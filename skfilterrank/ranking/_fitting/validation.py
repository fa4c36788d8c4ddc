"""Held-out queries that a ranker takes from its own training rows, to stop early by."""

import numpy as np

from skfilterrank._core.checks import check_share
from skfilterrank.exceptions import InputError


def check_no_sets(eval_set) -> None:
    """Raise where there are held-out sets already."""
    if eval_set is not None:
        raise InputError(
            "validation_fraction holds out queries of its own, and eval_set was given too: use one "
            "of the two."
        )


def held_out_rows(fraction, codes, judged=True) -> np.ndarray:
    """Mask of the judged rows of the queries that are held out, always the same ones.

    `codes` numbers the query of each row. Unjudged rows stay behind, to be counted there.
    """
    check_share(fraction, "validation_fraction")
    judged = np.broadcast_to(judged, codes.shape)
    # Of these alone something can be measured.
    queries = np.unique(codes[judged])
    n_held = max(1, round(fraction * len(queries)))
    if n_held >= len(queries):
        raise InputError(
            f"validation_fraction={fraction:g} holds out {n_held} of {len(queries)} judged queries "
            "and leaves none to learn from: lower it, or give more queries."
        )
    drawn = np.random.RandomState(0).permutation(queries)[:n_held]
    return judged & np.isin(codes, drawn)

"""Folds and random numbers of documents that go by what is known of them, and not by names.

Documents stand in an order that their places in the runs and their machine labels give. No label of
people enters: folds that depended on the sample would make estimates biased.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Folding(NamedTuple):
    """How documents are dealt to folds.

    Attributes
    ----------
    order : ndarray of shape (n_rows,), int
        The documents in their order.
    folds : ndarray of shape (n_rows,), int
        Fold of each document.
    luck : ndarray of shape (n_rows,)
        A number in [0, 1) for each document, evenly spread, by which labels are drawn.
    topics : ndarray of shape (n_topics,), int
        Place of each topic in the order.
    """

    order: np.ndarray
    folds: np.ndarray
    luck: np.ndarray
    topics: np.ndarray


def fold_documents(pool) -> Folding:
    """Deal the documents of a pool to folds by turns, in an order that no name gives.

    Of documents that are equal to all runs and machines, those of smaller ids come first.
    """
    order, topics = _ordered(pool)
    folds, luck = np.empty(len(pool), dtype=np.int64), np.empty(len(pool))
    folds[order] = np.arange(len(pool)) % pool.n_folds
    luck[order] = (np.random.RandomState(0).permutation(len(pool)) + 0.5) / len(pool)
    return Folding(order, folds, luck, topics)


def _ordered(pool):
    """Rows in their order, topic by topic, and the place of each topic."""
    places = np.zeros((len(pool), len(pool.runs)), dtype=np.int64)
    places[pool.row, pool.run] = pool.place
    machine = [np.unique(labels, return_inverse=True)[1] for labels in pool.machine.values()]
    # Sorted places first, which do not depend on the order of the runs.
    keys = np.column_stack([np.sort(places, axis=1), *machine, places])
    rows = np.ascontiguousarray(keys, dtype=">i8").view(f"V{8 * keys.shape[1]}").ravel()
    kinds = np.unique(rows, return_inverse=True)[1].ravel()
    # Topics by the kinds of their documents.
    by_topic = np.lexsort((kinds, pool.codes))
    ends = np.cumsum(np.bincount(pool.codes, minlength=len(pool.topics)))[:-1]
    contents = [part.tobytes() for part in np.split(kinds[by_topic].astype(">i8"), ends)]
    topics = np.empty(len(contents), dtype=np.int64)
    topics[sorted(range(len(contents)), key=contents.__getitem__)] = np.arange(len(contents))
    return np.lexsort((kinds, topics[pool.codes])), topics

"""Weights of queries, however they are given."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._lists.checks import check_numbers, query_ids_of_index
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief

# By query id, or one per row.
QueryWeight = Mapping | ArrayLike | None

_HOW = (
    "give a dict or a Series of weights by query id, or one weight per row, the same for all rows "
    "of a query"
)


def query_weights(query_weight, index: GroupIndex) -> np.ndarray | None:
    """Return the weight of each query for means: the largest is 1; None if all are alike."""
    return scaled(given_weights(query_weight, index))


def scaled(weights: np.ndarray | None) -> np.ndarray | None:
    """Divide weights by the largest; None if all are alike."""
    if weights is None:
        return None
    largest = weights.max()
    return None if (weights == largest).all() else weights / largest


def given_weights(query_weight, index: GroupIndex) -> np.ndarray | None:
    """Return the weight of each query as it was given, in the order of the query ids."""
    if query_weight is None:
        return None
    weights = _per_query(query_weight, index).astype(np.float64)
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        raise InputError(
            f"query_weight of query {_first(index, bad)} is {weights[bad][0]:g}: a weight must be "
            "a finite number from 0 up."
        )
    if weights.max() == 0:
        raise InputError(
            f"query_weight is 0 for each of the {index.n_queries} queries: at least one must count."
        )
    return weights


def _first(index, queries):
    """The first id of some queries, as errors show it."""
    return brief(index.query_ids[queries].tolist()[0])


def _per_query(query_weight, index):
    """One weight for each query, unchecked."""
    if isinstance(query_weight, Mapping):
        return _by_id(pd.Series(dict(query_weight), dtype=object), index)
    if isinstance(query_weight, pd.Series):
        ids = query_ids_of_index(query_weight)
        by_id = query_weight if ids is None else query_weight.set_axis(ids)
        n_given = len(query_weight)
        if n_given != index.n_rows or (by_id.index.is_unique and ids is not None):
            return _by_id(by_id, index)
        if n_given == index.n_queries and set(by_id.index) == set(index.query_ids):
            # As many rows as queries: by place or by id?
            by_row, by_query = _by_row(query_weight, index), _by_id(by_id, index)
            if not np.array_equal(by_row, by_query):
                raise InputError(
                    "query_weight is a Series with one entry per query and per row, whose index "
                    "has the query ids in another order than the rows: name the index 'qid' if "
                    "weights go by it, or pass an array if they go by row."
                )
    return _by_row(query_weight, index)


def _by_id(weights, index):
    """Weights by query id; those of other queries are not needed."""
    if not weights.index.is_unique:
        twice = weights.index[weights.index.duplicated()][0]
        raise InputError(
            f"query_weight has several weights for query {brief(twice)}, and {len(weights)} for "
            f"{index.n_rows} rows: {_HOW}."
        )
    places = weights.index.get_indexer(index.labels)
    if (places < 0).any():
        n_missing = int(np.count_nonzero(places < 0))
        raise InputError(
            f"query_weight has no weight for {n_missing} of {index.n_queries} queries, such as "
            f"{_first(index, places < 0)}: {_HOW}."
        )
    return check_numbers(weights.to_numpy()[places], "query_weight", entry="weight")


def _by_row(weights, index):
    """Weights by row, which must be constant within a query."""
    weights = check_numbers(weights, "query_weight", entry="weight", hint=f" Or {_HOW}.")
    if len(weights) != index.n_rows:
        raise InputError(
            f"query_weight has {len(weights)} entries for {index.n_rows} rows of "
            f"{index.n_queries} queries: {_HOW}."
        )
    in_order = weights[index.row_order()]
    first = in_order[np.cumsum(index.sizes) - index.sizes]
    differs = in_order != np.repeat(first, index.sizes)
    differs &= ~np.isnan(in_order) | ~np.isnan(np.repeat(first, index.sizes))
    if differs.any():
        place = int(differs.argmax())
        query = int(np.searchsorted(np.cumsum(index.sizes), place, side="right"))
        raise InputError(
            f"query_weight has weights {first[query]:g} and {in_order[place]:g} for rows of query "
            f"{_first(index, [query])}: a weight is that of a query, so {_HOW}."
        )
    return first

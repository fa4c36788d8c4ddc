"""Scores, margins and places of the rows of a Dask DataFrame, and how good they are."""

import functools
from collections.abc import Callable
from typing import TypeVar, cast

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfilterrank._files.dask_frames import (
    check_series,
    check_types,
    check_whole,
    find_query_ids,
    fold_partitions,
    numbered_partitions,
    plain_ids,
)
from skfilterrank._lists.arrays import is_dask
from skfilterrank._lists.checks import find_groups
from skfilterrank._lists.scoring import Moments
from skfilterrank.ranking._fitting.partitioned_rows import GAIN, QUERY, Folds, PartitionedRows

_Method = TypeVar("_Method", bound=Callable)


def over_partitions(method: _Method) -> _Method:
    """Let a method of X and groups take Dask's, of which each partition is served by itself."""

    @functools.wraps(method)
    def of_partitions(self, X, groups=None):
        if not is_dask(X):
            return method(self, X, groups)
        check_is_fitted(self)
        return serve_partitions(self, method.__name__, X, groups)

    return cast(_Method, of_partitions)


def serve_partitions(model, method: str, X, groups):
    """A Dask Series of what a method of a fitted RankAndFilter says of each row.

    Only where that depends on whole lists, partitions must hold whole queries.
    """
    import dask

    others, group_type = [], None
    if method == "rank" or model.filter_._looks_at_lists():
        groups = find_query_ids(groups, X)
        check_series(groups, "groups", X)
        check_whole(groups)
        others, group_type = [groups], groups.dtype
    return numbered_partitions(
        _serve,
        X,
        *others,
        meta=pd.Series([], dtype="int64" if method == "rank" else "float64", name=method),
        model=dask.delayed(model),
        method=method,
        types=X._meta,
        group_type=group_type,
    )


def _serve(number, X, groups=None, *, model, method, types, group_type):
    check_types(number, X, types, "X")
    if groups is None:
        groups = find_groups(None, X)
    else:
        groups = plain_ids(number, groups, group_type, "groups").to_numpy()
    served = getattr(model, method)(X, groups=groups) if len(X) else []
    dtype = "int64" if method == "rank" else "float64"
    return pd.Series(served, index=X.index, name=method, dtype=dtype)


def score_partitions(model, X, y, groups) -> float:
    """Mean of the tuned measure over the queries of Dask's rows, which stay where they are."""
    parsed = model._score_measure()
    rows = PartitionedRows(
        X,
        y,
        find_query_ids(groups, y, X),
        gains=model.gains,
        kind="gain",
        folds=Folds(1, 0.0),
        with_levels=False,
    )
    return fold_partitions(rows.frame, _values, model, parsed, rows.features).mean


def _values(part, number, model, parsed, features):
    if not len(part):
        return None
    ids = part[QUERY].to_numpy()
    scores = model.predict(part[features], groups=ids)
    return Moments.of(parsed.utility(part[GAIN].to_numpy(), scores, groups=ids, average=None))

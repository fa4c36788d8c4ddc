"""Scores, margins and places of the rows of a Dask DataFrame, and how good they are."""

import pandas as pd

from skfilterrank._core.checks import find_groups
from skfilterrank._core.moments import Moments
from skfilterrank._dask.fold import fold_partitions
from skfilterrank._dask.frames import check_series, check_types, numbered_partitions
from skfilterrank._dask.whole_queries import check_whole, find_query_ids, plain_ids
from skfilterrank.ranking._fitting.partitioned_rows import GAIN, QUERY, Folds, PartitionedRows


def serve_partitions(model, method: str, X, groups):
    """A Dask Series of what a method of a fitted RankAndFilter says of each row.

    Only where that depends on whole lists, partitions must hold whole queries.
    """
    import dask

    others, group_type = [], None
    if method == "rank" or hasattr(model, "query_threshold_"):
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

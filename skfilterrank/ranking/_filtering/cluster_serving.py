"""Scores, margins and places of the rows of a Dask DataFrame."""

import pandas as pd

from skfilterrank._core.checks import find_groups
from skfilterrank._dask.frames import check_series, check_types, numbered_partitions
from skfilterrank._dask.whole_queries import check_whole, find_query_ids, plain_ids


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
    return pd.Series(getattr(model, method)(X, groups=groups), index=X.index, name=method)

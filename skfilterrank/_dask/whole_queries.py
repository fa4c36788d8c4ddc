"""Bring the rows of each query into one partition."""

import numpy as np
import pandas as pd

from skfilterrank._core.checks import QID
from skfilterrank._core.queries import GroupIndex
from skfilterrank._dask.frames import check_type, numbered_partitions
from skfilterrank.exceptions import InputError, brief


def hash_queries(ids: pd.Series) -> np.ndarray:
    """A number below 2**64 for each query id, whatever the partition."""
    return pd.util.hash_pandas_object(ids, index=False, categorize=False).to_numpy()


def plain_ids(number: int, ids, dtype, name: str) -> pd.Series:
    """Query ids of a partition without categories, which differ between partitions."""
    ids = pd.Series(ids)
    if isinstance(ids.dtype, pd.CategoricalDtype):
        ids = ids.astype(ids.cat.categories.dtype)
    elif not isinstance(dtype, pd.CategoricalDtype):
        check_type(number, ids.dtype, dtype, name, are_numbers=False)
    missing = ids.isna().to_numpy()
    if missing.any():
        raise InputError(
            f"{name} holds {np.count_nonzero(missing)} null(s) in partition {number}, the first at "
            f"its row {missing.argmax()}: every row needs a query id."
        )
    return ids.reset_index(drop=True)


def cut_query(groups, name: str = "groups"):
    """A query with rows in several partitions: (id, first partition, last), or None.

    What comes together on one worker are 8 bytes for each query, and on the client none.
    """
    import dask

    hashes = numbered_partitions(
        _distinct, groups, meta=pd.Series([0], dtype=np.uint64), dtype=groups.dtype, name=name
    )
    found = dask.delayed(_first_repeated)(hashes.to_delayed()).compute()
    if found is None:
        return None
    repeated, numbers = found
    first = groups.partitions[numbers[0]].compute()
    ids = plain_ids(numbers[0], first, groups.dtype, name)
    return ids[hash_queries(ids) == repeated].iloc[0], *numbers


def _distinct(number, ids, dtype, name):
    return pd.Series(np.unique(hash_queries(plain_ids(number, ids, dtype, name))))


def _first_repeated(partitions):
    """The lowest hash that occurs in two partitions, and the first two of these."""
    hashes = np.concatenate([each.to_numpy() for each in partitions])
    ordered = np.sort(hashes)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(repeated):
        return None
    holders = [i for i, each in enumerate(partitions) if repeated[0] in each.to_numpy()]
    return repeated[0], holders[:2]


def check_whole(groups, name: str = "groups") -> None:
    """Raise where a partition cuts a query, which is named."""
    refuse_cut(cut_query(groups, name))


def refuse_cut(cut) -> None:
    """Raise for a query that partitions cut, as :func:`cut_query` says it."""
    if cut is not None:
        query, first, second = cut
        query = getattr(query, "item", lambda: query)()
        raise InputError(
            f"query {brief(query)} has rows in partitions {first} and {second}: expected whole "
            "queries in each partition, as frame.shuffle(on=...) of the query ids gives."
        )


def in_query_order(part: pd.DataFrame, column: str, row: str) -> pd.DataFrame:
    """The rows of each query together, as they came, whatever a shuffle made of their order."""
    if not len(part):
        return part
    codes = GroupIndex.from_groups(part[column].to_numpy()).codes()
    order = np.lexsort((part[row].to_numpy(), codes))
    return part.iloc[order]


def find_query_ids(groups, *carriers):
    """Query ids of Dask frames: given, or of an index named "qid"."""
    if groups is not None:
        return groups
    for carrier in carriers:
        if getattr(getattr(carrier, "index", None), "name", None) == QID:
            return carrier.index.to_series()
    raise InputError(
        "groups is missing: pass groups=, a Dask Series with the query id of each row, or a frame "
        "whose index is named 'qid'."
    )

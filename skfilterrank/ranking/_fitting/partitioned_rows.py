"""The rows that an estimator is fitted on, in the partitions of a Dask DataFrame."""

from dataclasses import dataclass

import numpy as np

from skfilterrank._files.dask_frames import (
    check_rows,
    check_series,
    check_type,
    check_types,
    cut_query,
    hash_queries,
    in_query_order,
    numbered_partitions,
    plain_ids,
    row_numbers,
)
from skfilterrank._lists.checks import is_number, is_whole_number
from skfilterrank._lists.gains import as_gains
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._fitting.cluster_estimators import fit_on_cluster
from skfilterrank.ranking._fitting.out_of_fold import DEFAULT_FOLDS
from skfilterrank.ranking._fitting.training_rows import TargetEncoder

# Columns beside the features.
GAIN, TARGET, QUERY, NUMBER, ROW = (
    f"skfilterrank {name}" for name in ("gain", "target", "query", "number", "row")
)


@dataclass(frozen=True)
class Folds:
    """Which queries each fold holds out, by a hash of the query id, whatever the partitions.

    `share` is what a single split holds out, None where each query is held out once.
    """

    n: int
    share: float | None = None

    @classmethod
    def of(cls, cv) -> "Folds":
        """Folds as `cv` says: None, a number of folds, or a share of the queries."""
        if cv is None:
            return cls(DEFAULT_FOLDS)
        if is_whole_number(cv):
            return cls(int(cv))
        if is_number(cv):
            return cls(1, float(cv))
        raise InputError(
            "cv must be None, a number of folds, a share of the queries or 'prefit' where X is a "
            f"Dask DataFrame, whose rows have no numbers, got {brief(cv)}."
        )

    def of_rows(self, ids) -> np.ndarray:
        """The fold that holds out each row, -1 where none does."""
        # The low bits decide over the partition in Dask's shuffle.
        high = hash_queries(ids) >> np.uint64(32)
        if self.share is None:
            return (high % np.uint64(self.n)).astype(np.int64)
        return np.where(high < self.share * 2.0**32, 0, -1)


@dataclass(frozen=True)
class PartitionCounts:
    """What is counted in a partition; adds up."""

    n_rows: int
    n_judged: int
    n_good: int
    n_queries: int
    judged_of_fold: np.ndarray
    levels: np.ndarray


class PartitionedRows:
    """Checked rows on the cluster, whole queries in each partition, in query order.

    Parameters
    ----------
    X : dask DataFrame
    y, groups : dask Series
    gains : None, "exp2", dict or callable
    kind : str
        Target that is learned.
    folds : Folds
    with_levels : bool
        Whether the distinct gains are looked for.
    """

    def __init__(self, X, y, groups, *, gains, kind, folds, with_levels):
        if not getattr(X, "ndim", 0) == 2:
            raise InputError("X must be a Dask DataFrame, got a Dask Series.")
        check_series(y, "y", X)
        check_series(groups, "groups", X)
        self.features = list(X.columns)
        self.folds = folds
        meta = X._meta.assign(
            **{
                GAIN: np.float64(),
                QUERY: plain_ids(0, groups._meta, groups.dtype, "groups"),
                ROW: np.int64(),
            }
        ).reset_index(drop=True)
        joined = numbered_partitions(
            _joined,
            X,
            y,
            groups,
            meta=meta,
            gains=gains,
            types=X._meta,
            group_type=groups.dtype,
            label_type=y.dtype,
        )
        if cut_query(groups) is not None:
            joined = joined.shuffle(on=QUERY, ignore_index=True)
        ordered = joined.map_partitions(in_query_order, QUERY, ROW, meta=meta)
        self.frame = ordered.persist()
        self.counts = self.of_partitions(_counts, folds, with_levels)
        if not self.total("n_rows"):
            raise InputError("X has no rows: expected at least one.")
        self.encoder = TargetEncoder(kind, self.found("levels"))
        n_queries = [count.n_queries for count in self.counts]
        self.first_numbers = np.cumsum(n_queries) - n_queries

    def total(self, name):
        """A sum over the partitions."""
        return sum(getattr(count, name) for count in self.counts)

    def found(self, name) -> np.ndarray:
        """The distinct values of all partitions."""
        return np.unique(np.concatenate([getattr(count, name) for count in self.counts]))

    def of_partitions(self, function, *arguments) -> list:
        """What a function says of each partition; only this comes to the client."""
        import dask

        call = dask.delayed(function)
        shared = [dask.delayed(argument) for argument in arguments]
        parts = self.frame.to_delayed()
        return list(dask.compute(*(call(part, *shared) for part in parts)))

    def fit(self, estimator, fit_params, *, without=None):
        """Fit a clone on the judged rows, but for those that a fold holds out."""
        n_rows = [
            count.n_judged - (0 if without is None else count.judged_of_fold[without])
            for count in self.counts
        ]
        if not sum(n_rows):
            raise InputError(
                "y has no judged row among those that a fold of the cross-validation learns from: "
                "lower cv, or give more labels."
            )
        meta = self.frame._meta[self.features].assign(
            **{TARGET: self.encoder.encode(np.empty(0), None), NUMBER: np.int64()}
        )
        rows = numbered_partitions(
            _training_rows,
            self.frame,
            meta=meta,
            features=self.features,
            encoder=self.encoder,
            folds=self.folds,
            without=without,
            first_numbers=self.first_numbers,
        )
        # LightGBM and XGBoost stumble over empty partitions.
        rows = rows.partitions[[i for i, n in enumerate(n_rows) if n]].persist()
        return fit_on_cluster(estimator, rows, self.features, TARGET, NUMBER, fit_params)


def _joined(number, X, y, groups, *, gains, types, group_type, label_type):
    """A partition with the gain, the query and the number of each row."""
    check_types(number, X, types, "X")
    check_rows(number, y, len(X), "y")
    check_rows(number, groups, len(X), "groups")
    check_type(number, y.dtype, label_type, "y")
    try:
        row_gains = as_gains(y, gains, name="y")
    except InputError as error:
        error.add_note(f"This came up in partition {number}.")
        raise
    return X.reset_index(drop=True).assign(
        **{
            GAIN: row_gains.astype(np.float64),
            QUERY: plain_ids(number, groups, group_type, "groups"),
            ROW: row_numbers(number, len(X)),
        }
    )


def _counts(part, folds, with_levels):
    gains = part[GAIN].to_numpy()
    fold = folds.of_rows(part[QUERY])
    judged, first = ~np.isnan(gains), starts_of_queries(part)
    return PartitionCounts(
        n_rows=len(part),
        n_judged=int(judged.sum()),
        n_good=int((gains > 0).sum()),
        n_queries=int(first.sum()),
        judged_of_fold=np.bincount(fold[judged & (fold >= 0)], minlength=folds.n),
        levels=np.unique(gains[judged]) if with_levels else gains[:0],
    )


def starts_of_queries(part) -> np.ndarray:
    """A mask of the first row of each query of a partition, whose rows are together."""
    ids = part[QUERY].to_numpy()
    return np.append(True, ids[1:] != ids[:-1])[: len(ids)]


def _training_rows(number, part, *, features, encoder, folds, without, first_numbers):
    """The judged rows of a partition that a fold learns from, with target and query number."""
    gains = part[GAIN].to_numpy()
    kept = ~np.isnan(gains)
    if without is not None:
        kept &= folds.of_rows(part[QUERY]) != without
    numbers = np.cumsum(starts_of_queries(part)) - 1 + first_numbers[number]
    return part.loc[kept, features].assign(
        **{TARGET: encoder.encode(gains[kept], None), NUMBER: numbers[kept]}
    )

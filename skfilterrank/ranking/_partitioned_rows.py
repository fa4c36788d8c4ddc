"""Fitting, scoring and measuring of Dask partitions on their workers."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from skfilterrank._estimators.responses import document_scores
from skfilterrank._estimators.wrapping import group_parameter
from skfilterrank._files.dask_frames import (
    check_rows,
    check_series,
    check_type,
    check_types,
    check_whole,
    cut_query,
    find_query_ids,
    fold_partitions,
    hash_queries,
    in_query_order,
    numbered_partitions,
    plain_ids,
    row_numbers,
)
from skfilterrank._files.rows import whole_partitions
from skfilterrank._lists.checks import is_number, is_whole_number
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.queries import find_groups, refuse_query_column
from skfilterrank._lists.row_blocks import ByKey, Pieces, merged
from skfilterrank._lists.scoring import Moments
from skfilterrank._lists.sklearn_compat import final_step
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._fit_with_groups import (
    check_cluster_estimator,
    check_grades,
    fit_on_cluster,
)
from skfilterrank.ranking._out_of_fold import (
    DEFAULT_FOLDS,
    SAMPLE_ROWS,
    check_single,
    to_scale,
)
from skfilterrank.ranking._training_rows import (
    TargetEncoder,
    check_two_kinds,
    resolve_target,
    tell_unjudged,
)
from skfilterrank.thresholds import (
    FixedThreshold,
    TunedThreshold,
    threshold_curve,
    warn_unless_filter_pays,
)

# Names of the columns that are added to those of the features.
GAIN, TARGET, QUERY, NUMBER, ROW, SCORE, FOLD = (
    f"skfilterrank {name}" for name in ("gain", "target", "query", "number", "row", "score", "fold")
)
_MOMENTS = ("filtered", "plain", "gained")


class HashedFolds(NamedTuple):
    """Folds by a hash of the query id, independent of partitions.

    `share` is the share of the queries that a single split holds out; None if each query is held
    out once.
    """

    n: int
    share: float | None = None

    @classmethod
    def of(cls, cv) -> "HashedFolds":
        """Make folds of `cv`: None, a number of folds, or a share of the queries."""
        if cv is None or cv == "prefit":
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
        """Find the fold that holds out each row, -1 where none does."""
        # The low bits determine the partition in Dask's shuffle.
        high = hash_queries(ids) >> np.uint64(32)
        if self.share is None:
            return (high % np.uint64(self.n)).astype(np.int64)
        return np.where(high < self.share * 2.0**32, 0, -1)


class PartitionCounts(NamedTuple):
    """Counts of the rows of a partition."""

    n_rows: int
    n_judged: int
    n_good: int
    n_queries: int
    judged_of_fold: np.ndarray
    levels: np.ndarray


class PartitionedRows:
    """Reader of rows on a cluster: whole queries in each partition, in query order.

    It has the methods of TrainingRows.

    Parameters
    ----------
    model : RankAndFilter
        Its parameters are checked.
    threshold : BaseThreshold
        The unfitted threshold.
    X : dask DataFrame
    y, groups : dask Series
    fit_params : dict
        Further parameters of `fit`.
    **given
        Parameters of the model's `fit` that only rows in memory can have.
    """

    are_in_memory = False

    def __init__(self, model, threshold, X, y, groups, fit_params, **given):
        estimator, is_prefit = model.estimator, model._is_prefit
        _check_supported(model, threshold, fit_params, given)
        if not is_prefit:
            check_cluster_estimator(estimator)
        groups = find_query_ids(groups, y, X)
        model.fitted_with_groups_ = True
        model._remember_columns(X._meta)
        refuse_query_column(vars(model).get("feature_names_in_"))
        kind = "gain" if is_prefit else resolve_target(estimator, model.target)
        wanted = None if is_prefit else group_parameter(estimator)
        self.features, self.fit_params = list(X.columns), fit_params
        self.folds = HashedFolds.of(model.cv)
        self.frame = whole_queries(X, y, groups, model.gains).persist()
        with_levels = kind == "grade" or wanted is not None
        self.counts = fold_partitions(self.frame, _counts, self.folds, with_levels)
        self.n_rows, n_judged = self._total("n_rows"), self._total("n_judged")
        if not self.n_rows:
            raise _without_rows()
        self.n_unjudged = tell_unjudged(self.n_rows - n_judged, self.n_rows)
        levels = np.concatenate([count.levels for count in self.counts])
        self.encoder = TargetEncoder(kind, levels)
        if kind == "binary" and not is_prefit:
            check_two_kinds(estimator, self._total("n_good"), n_judged)
        if wanted is not None:
            check_grades(estimator, self.encoder.encode(self.encoder.levels, None), wanted)

    def _total(self, name):
        return sum(getattr(count, name) for count in self.counts)

    def split(self, model, **_) -> range:
        """Number the folds."""
        if model.refit is False and self.folds.share is None:
            check_single(self.folds.n)
        return range(self.folds.n)

    def fit(self, estimator, split=None):
        """Fit a clone on the judged rows, without those that a fold holds out (None: all)."""
        n_rows = [
            count.n_judged - (0 if split is None else count.judged_of_fold[split])
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
        n_queries = [count.n_queries for count in self.counts]
        rows = numbered_partitions(
            _training_rows,
            self.frame,
            meta=meta,
            features=self.features,
            encoder=self.encoder,
            folds=self.folds,
            without=split,
            first_numbers=np.cumsum(n_queries) - n_queries,
        )
        # LightGBM and XGBoost fail on empty partitions.
        rows = rows.partitions[[i for i, n in enumerate(n_rows) if n]].persist()
        return fit_on_cluster(estimator, rows, self.features, TARGET, NUMBER, self.fit_params)

    def score_fold(self, fitted, split, score_gains) -> None:
        """Return None: `held_out` scores all folds in one pass."""

    def scales(self, models, splits, score_gains) -> list[tuple[float, float]]:
        """Compute mean and deviation of each model's scores of rows that it was trained on.

        The last model is fitted on all rows. A hash chooses the queries.
        """
        score = partial(_scores, features=self.features, score_gains=score_gains)
        share = min(1.0, SAMPLE_ROWS / self.n_rows)
        found = fold_partitions(self.frame, _moments, models, score, self.folds, share)
        moments = [found[number] for number in range(len(models))]
        # The deviation of equal scores must be exactly 0.
        return [
            (m.mean, np.sqrt(m.squares_about_mean / m.n)) if m.n else (0.0, 0.0) for m in moments
        ]

    def held_out(self, folds, score_gains, splits=None, scales=None) -> "ScoredPartitions":
        """Score the held-out rows on the cluster; without splits, score all rows by one model."""
        import dask

        meta = {GAIN: np.empty(0), SCORE: np.empty(0), QUERY: self.frame._meta[QUERY]}
        scored = numbered_partitions(
            _scored,
            self.frame,
            meta=pd.DataFrame(meta | {FOLD: np.int64()}),
            models=dask.delayed([fold.estimator for fold in folds]),
            score=partial(_scores, features=self.features, score_gains=score_gains),
            folds=None if splits is None else self.folds,
            scales=scales,
        )
        return ScoredPartitions(scored.persist(), 0 if splits is None else len(splits))

    def tears_queries(self, splits) -> bool:
        """Return False: no split divides a query."""
        return False


class ScoredPartitions(NamedTuple):
    """Gain, score, query and fold of held-out rows on the cluster, in query order."""

    frame: Any
    n_folds: int

    def fit_threshold(self, threshold) -> dict:
        """Fit a threshold on the scores; return what it finds in each fold."""
        threshold._fit_rows(_rows_of(self.frame), gains=None)
        if not self.n_folds:
            return {}
        parsed, numbers = threshold._parsed(), range(self.n_folds)
        levels = dict.fromkeys(numbers, threshold.threshold_)
        values = fold_partitions(self.frame, _values_of_folds, parsed, levels)
        of_folds = [values[fold, "filtered"] for fold in numbers]
        if self.n_folds > 1:
            for fold in numbers:
                others = _rows_of(self.frame[self.frame[FOLD] != fold])
                levels[fold] = threshold_curve(others, measure=threshold.measure).best_threshold
            values = fold_partitions(self.frame, _values_of_folds, parsed, levels)
            filtered, plain, gained = (
                merged(values[fold, name] for fold in numbers) for name in _MOMENTS
            )
            threshold.held_out_score_ = filtered.mean
            threshold.held_out_score_unfiltered_ = plain.mean
            warn_unless_filter_pays(
                filtered.mean,
                plain.mean,
                gained.mean,
                np.sqrt(gained.squares_about_mean / gained.n / max(gained.n - 1, 1)),
                instead="threshold=None to show every document",
            )
        return {
            "n_queries": np.array([each.n for each in of_folds]),
            "test_score": np.array([each.mean for each in of_folds]),
        }


def _check_supported(model, threshold, fit_params, given):
    """Raise for options that are supported only for rows in memory."""
    if not isinstance(threshold, TunedThreshold | FixedThreshold):
        raise InputError(
            f"{type(threshold).__name__} needs whole lists in memory. Where X is a Dask DataFrame, "
            "threshold must be 'tune', a number, None, TunedThreshold or FixedThreshold."
        )
    threshold._refuse_with_rows("rule", "max_shown", "min_shown")
    given |= {"filter_estimator": model.filter_estimator}
    given |= {"target='label'": True if model.target == "label" else None}
    refuse_for_dask(given)
    if isinstance(model.estimator, Pipeline):
        raise InputError(
            "estimator is a Pipeline, whose steps do not learn from Dask DataFrames: transform X "
            f"first, and give {brief(final_step(model.estimator))} alone."
        )
    for name, value in fit_params.items():
        if np.ndim(value) or hasattr(value, "npartitions"):
            raise InputError(
                f"{name} has one entry per row, which cannot be moved together with the rows of "
                "a Dask DataFrame: leave it out, or fit on rows in memory."
            )


def refuse_for_dask(given: dict) -> None:
    """Raise if a parameter for rows in memory only is not None."""
    for name in (name for name, value in given.items() if value is not None):
        raise InputError(
            f"{name} is not possible where X is a Dask DataFrame. Leave it out, or give rows in "
            "memory."
        )


def whole_queries(X, y, groups, gains):
    """Join the columns of Dask's rows, with gains; whole queries in each partition, in order."""
    if not getattr(X, "ndim", 0) == 2:
        raise InputError("X must be a Dask DataFrame, got a Dask Series.")
    check_series(y, "y", X)
    check_series(groups, "groups", X)
    ids = plain_ids(0, groups._meta, groups.dtype, "groups")
    meta = X._meta.assign(**{GAIN: np.float64(), QUERY: ids, ROW: np.int64()})
    meta = meta.reset_index(drop=True)
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
    return joined.map_partitions(in_query_order, QUERY, ROW, meta=meta)


def _without_rows():
    return InputError("X has no rows: expected at least one.")


def _rows_of(scored):
    """Return scored partitions as Rows for thresholds."""
    return whole_partitions(scored, query=QUERY, label=GAIN, score=SCORE)


# The following functions run on workers, for one partition.


def _joined(number, X, y, groups, *, gains, types, group_type, label_type):
    """Join a partition with the gain, the query and the number of each row."""
    check_types(number, X, types, "X")
    check_rows(number, y, len(X), "y")
    check_rows(number, groups, len(X), "groups")
    check_type(number, y.dtype, label_type, "y")
    try:
        row_gains = as_gains(y, gains, name="y")
    except InputError as error:
        error.add_note(f"The error occurred in partition {number}.")
        raise
    return X.reset_index(drop=True).assign(
        **{
            GAIN: row_gains.astype(np.float64),
            QUERY: plain_ids(number, groups, group_type, "groups"),
            ROW: row_numbers(number, len(X)),
        }
    )


def _counts(part, number, folds, with_levels):
    gains = part[GAIN].to_numpy()
    fold = folds.of_rows(part[QUERY])
    judged = ~np.isnan(gains)
    counts = PartitionCounts(
        n_rows=len(part),
        n_judged=int(judged.sum()),
        n_good=int((gains > 0).sum()),
        n_queries=int(_starts_of_queries(part).sum()),
        judged_of_fold=np.bincount(fold[judged & (fold >= 0)], minlength=folds.n),
        levels=np.unique(gains[judged]) if with_levels else gains[:0],
    )
    return Pieces([counts])


def _starts_of_queries(part) -> np.ndarray:
    """Return a mask of the first row of each query; rows of a query are consecutive."""
    ids = part[QUERY].to_numpy()
    return np.append(True, ids[1:] != ids[:-1])[: len(ids)]


def _training_rows(number, part, *, features, encoder, folds, without, first_numbers):
    """Return the judged training rows of a fold, with target and query number."""
    gains = part[GAIN].to_numpy()
    kept = ~np.isnan(gains)
    if without is not None:
        kept &= folds.of_rows(part[QUERY]) != without
    numbers = np.cumsum(_starts_of_queries(part)) - 1 + first_numbers[number]
    return part.loc[kept, features].assign(
        **{TARGET: encoder.encode(gains[kept], None), NUMBER: numbers[kept]}
    )


def _scores(fitted, part, *, features, score_gains):
    ids = part[QUERY].to_numpy()
    return document_scores(fitted, part[features], groups=ids, gains=score_gains).astype(np.float64)


def _moments(part, number, models, score, folds, share):
    """Compute moments of each model's scores on some of its training queries."""
    low = hash_queries(part[QUERY]) & np.uint64(2**32 - 1)
    part = part[low < share * 2.0**32]
    fold, judged = folds.of_rows(part[QUERY]), ~np.isnan(part[GAIN].to_numpy())
    found = ByKey()
    for i, fitted in enumerate(models):
        chosen = part[judged & (fold != i)]
        scores = score(fitted, chosen) if len(chosen) else np.empty(0)
        found[i] = Moments.of(scores[np.isfinite(scores)])
    return found


def _scored(number, part, *, models, score, folds, scales):
    """Score the held-out rows with the models of their folds."""
    fold = np.zeros(len(part), dtype=np.int64) if folds is None else folds.of_rows(part[QUERY])
    scores = np.empty(len(part))
    for i, fitted in enumerate(models):
        held_out = fold == i
        if held_out.any():
            scores[held_out] = score(fitted, part[held_out])
            if scales is not None:
                scores[held_out] = to_scale(scores[held_out], scales[i], scales[-1])
    columns = {GAIN: part[GAIN], SCORE: scores, QUERY: part[QUERY], FOLD: fold}
    kept = fold >= 0
    return pd.DataFrame({name: np.asarray(column)[kept] for name, column in columns.items()})


def _values_of_folds(part, number, parsed, levels):
    """Measure the queries of a partition, with a separate level for each fold.

    The result has moments with the filter, without it, and of the differences.
    """
    found = ByKey()
    for fold, own in part.groupby(FOLD):
        scores = own[SCORE].to_numpy()
        filtered, plain = (
            parsed.utility(
                own[GAIN].to_numpy(),
                np.where(scores >= level, scores, -np.inf),
                groups=own[QUERY].to_numpy(),
                average=None,
            )
            for level in (levels[fold], -np.inf)
        )
        for name, values in zip(_MOMENTS, (filtered, plain, filtered - plain)):
            found[fold, name] = Moments.of(values)
    return found


# Serving.


def serve_partitions(model, method: str, X, groups):
    """Make a Dask Series of the results of a method of a fitted RankAndFilter.

    Partitions must hold whole queries only if the results depend on whole lists.
    """
    import dask

    others, group_type = [], None
    if method == "rank" or model.filter_._looks_at_lists():
        groups = find_query_ids(groups, X)
        check_series(groups, "groups", X)
        check_whole(groups)
        others, group_type = [groups], groups.dtype
    dtype = "int64" if method == "rank" else "float64"
    return numbered_partitions(
        _serve,
        X,
        *others,
        meta=pd.Series([], dtype=dtype, name=method),
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
    """Compute the mean of the measure over the queries of Dask's rows; only sums are collected."""
    frame = whole_queries(X, y, find_query_ids(groups, y, X), model.gains)
    found = fold_partitions(frame, _values, model, model._score_measure(), list(X.columns))
    if found is None:
        raise _without_rows()
    return found.mean


def _values(part, number, model, parsed, features):
    if not len(part):
        return None
    ids = part[QUERY].to_numpy()
    scores = model.predict(part[features], groups=ids)
    return Moments.of(parsed.utility(part[GAIN].to_numpy(), scores, groups=ids, average=None))

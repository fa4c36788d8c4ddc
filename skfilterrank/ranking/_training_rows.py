"""Checked training rows for a ranker's inner estimator, and their targets."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import indexable

from skfilterrank._base.checks import cached_property, check_numbers, count_rows, label_array
from skfilterrank._base.sklearn_compat import final_step, safe_indexing
from skfilterrank._base.words import counted, warn_user
from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.responses import document_scores
from skfilterrank._estimators.wrapping import (
    OTHER_EVAL_GROUPS,
    OTHER_GROUPS,
    estimators_inside,
    group_parameter,
    needs_groups,
    needs_own_form,
    raise_for_bad_columns,
    reads_queries,
)
from skfilterrank._lists.content import by_content, hash_rows
from skfilterrank._lists.gains import LabelsNotNumbers, as_gains
from skfilterrank._lists.queries import GroupIndex, check_groups, check_one_order
from skfilterrank.exceptions import FitWarning, InputError, UnjudgedWarning
from skfilterrank.ranking._fit_with_groups import (
    clone_inside,
    cut_rows,
    fit_with_groups,
)
from skfilterrank.ranking._held_out_sets import (
    OF_ROWS_OF_SETS,
    EvalSet,
    read_eval_set,
    refuse_own_scores,
)


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Checked rows; gains are NaN where unjudged.

    `groups` holds the number of each row's query, from 0 in the order of content, and `index` the
    queries as they were given. Estimators inside get `ids`, since the index of X may hold the same
    ids, which the numbers would contradict. Splitters of users get the numbers of queries in the
    order of their ids. `documents` are hashes of the rows of each query. `carriers` are `y` and
    `X` as they were given: their index may hold times.
    """

    X: Any
    target: np.ndarray
    gains: np.ndarray
    labels: np.ndarray
    groups: np.ndarray
    index: GroupIndex
    judged: np.ndarray
    documents: np.ndarray
    fit_params: dict
    eval_sets: list[EvalSet]
    carriers: dict

    @cached_property
    def ids(self) -> np.ndarray:
        """Given query id of each row."""
        return self.index.row_ids()

    @property
    def n_unjudged(self) -> int:
        """Number of rows without a label."""
        return int(np.count_nonzero(~self.judged))

    def with_held_out(self, rows) -> "TrainingRows":
        """Return these rows with a mask of rows as the held-out set."""
        rows = np.flatnonzero(rows)
        refuse_own_scores(self.fit_params)
        X, target, ids, _ = cut_rows(rows, self.X, self.target, self.ids, {})
        return replace(self, eval_sets=[EvalSet(X, target, ids, self.gains[rows])])

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return int(self.groups.max()) + 1

    def scores(self, fitted, score_gains, rows=None) -> np.ndarray:
        """Score some rows by a fitted estimator (None: all)."""
        X, ids = self.X, self.ids if reads_queries(fitted) else None
        if rows is not None:
            X, ids = safe_indexing(X, rows), None if ids is None else ids[rows]
        return document_scores(fitted, X, groups=ids, gains=score_gains)

    def fit_on(self, estimator, rows=None, *, stop_by=None):
        """Fit a clone on some rows (None: all); unjudged rows are left out.

        Estimators of other libraries stop early by the measure `stop_by`, if there is one.
        """
        estimator = clone_inside(estimator)
        ids = self.ids if reads_queries(estimator) else None
        if rows is None and self.judged.all():
            X, target, params = self.X, self.target, self.fit_params
        else:
            if rows is None:
                rows = np.flatnonzero(self.judged)
            elif not self.judged.all():
                rows = rows[self.judged[rows]]
            X, target, ids, params = cut_rows(rows, self.X, self.target, ids, self.fit_params)
        try:
            fit_with_groups(
                estimator,
                X,
                target,
                ids,
                held_out=self.eval_sets,
                fit_params=params,
                stop_by=stop_by,
            )
        except (TypeError, ValueError) as error:
            for each in (X, *(held_out.X for held_out in self.eval_sets)):
                raise_for_bad_columns(each, estimator, error)
            raise
        return estimator


def prepare_rows(
    estimator,
    X,
    y,
    groups,
    *,
    gains,
    target="auto",
    prefit=False,
    eval_set=None,
    eval_groups=None,
    fit_params=None,
    needs_eval_groups=False,
    without_groups=None,
    taught=None,
) -> TrainingRows:
    """Check all arguments of `fit`.

    With `needs_eval_groups` the queries of held-out sets must be known where those of the rows are.
    `taught` is as in `tell_unjudged`. If `groups` is None, each row is a separate query, with the
    warning `without_groups`, or an error if the estimator needs query ids.
    """
    kind = resolve_target(estimator, target)
    row_gains = _gains_of_rows(estimator, y, gains, given_labels=prefit or kind == "label")
    # Sparse formats without rows (COO, DIA, BSR) become CSR.
    (X,) = indexable(X)
    n_rows = count_rows(X)
    if len(row_gains) != n_rows:
        raise InputError(f"y has {len(row_gains)} labels but X has {n_rows} rows.")
    _refuse_rankers_in_ensembles(estimator)
    judged = ~np.isnan(row_gains)
    n_judged = n_rows - tell_unjudged(judged, taught)
    if kind == "binary" and not prefit:
        check_two_kinds(estimator, int((row_gains > 0).sum()), n_judged)
    known_gains = row_gains[judged]
    if not prefit and (known_gains == known_gains[0]).all():
        text = (
            f"all {n_judged} judged rows have the gain {known_gains[0]:g}: "
            f"{type(final_step(estimator)).__name__} has no order to learn. "
            "Check the labels and gains=."
        )
        if needs_own_form(estimators_inside(estimator)[-1]):
            raise InputError(text)
        warn_user(text, FitWarning)
    encoder = TargetEncoder(kind, row_gains)
    fit_params = fit_params or {}
    _check_fit_params(fit_params, judged)
    check_one_order(y=y, X=X, **fit_params)
    eval_sets = []
    if eval_set is not None:
        refuse_own_scores(fit_params)
        uses_groups = groups is not None and (
            needs_eval_groups or group_parameter(final_step(estimator)) is not None
        )
        eval_sets = [
            each._replace(target=encoder.encode(each.gains, each.target))
            for each in read_eval_set(eval_set, eval_groups, gains, needs_groups=uses_groups)
        ]
    labels = label_array(y)
    hashes = hash_rows(X)
    index = _index_queries(estimator, groups, n_rows, without_groups)
    known = encoder.encode(row_gains[judged], labels[judged])
    # Targets of unjudged rows are never read.
    row_targets = np.zeros(n_rows, dtype=known.dtype)
    row_targets[judged] = known
    return TrainingRows(
        X=X,
        target=row_targets,
        gains=row_gains,
        labels=labels,
        groups=by_content(index, np.where(judged, hashes, 0), hashes, row_gains)[0].codes(),
        index=index,
        judged=judged,
        documents=index.sums(hashes),
        fit_params=fit_params,
        eval_sets=eval_sets,
        carriers={"y": y, "X": X},
    )


def _check_fit_params(fit_params, judged):
    """Raise for parameters of `fit` that are not passed on, and for bad weights."""
    for name in fit_params:
        if name.rpartition("__")[2] in OF_ROWS_OF_SETS:
            raise InputError(
                f"fit() got {name}, but rows of eval_set have no weights or scores of their own: "
                "leave it out."
            )
    for name in sorted(OTHER_EVAL_GROUPS & fit_params.keys()):
        raise InputError(
            f"fit() got {name}, but expects the queries of held-out sets as eval_groups=, the "
            "query id of each row of each set in eval_set=[(X, y), ...]."
        )
    for name in sorted(OTHER_GROUPS & fit_params.keys()):
        remedy = f"pass them as groups= instead of {name}="
        if name == "group":
            remedy = "of sizes of consecutive queries, np.repeat(np.arange(len(sizes)), sizes)"
        raise InputError(
            f"fit() got {name}, but expects queries as groups=, the query id of each row: {remedy}."
        )
    for name, values in fit_params.items():
        if name.rpartition("__")[2] != "sample_weight" or values is None:
            continue
        n_entries = count_rows(values, name)
        if n_entries != len(judged):
            raise InputError(f"{name} has {n_entries} entries but X has {len(judged)} rows.")
        weights = check_numbers(values, name, entry="weight")[judged]
        bad = ~(np.isfinite(weights) & (weights >= 0))
        if bad.any():
            raise InputError(
                f"{name} must hold numbers from 0 up, got {weights[bad][0]:g} for "
                f"{counted(bad.sum(), 'judged row')}."
            )


def _refuse_rankers_in_ensembles(estimator):
    """Raise for stacking and voting of rankers, which scikit-learn does not support."""
    final = estimators_inside(estimator)[-1]
    members = getattr(final, "estimators", None)
    if not isinstance(members, list):
        return
    for member in members:
        inner = final_step(member[1]) if isinstance(member, tuple) else None
        if isinstance(inner, RankerMixin) or (hasattr(inner, "fit") and needs_own_form(inner)):
            name, outer = type(inner).__name__, type(final).__name__
            raise InputError(
                f"{outer} cannot pass query ids to {name}: scikit-learn's stacking and voting "
                "support classifiers and regressors. Use these inside, or combine the scores of "
                "rankers by fuse_runs."
            )


def _gains_of_rows(estimator, y, gains, *, given_labels):
    """Compute gains of rows; raise if the inner estimator would map them again."""
    name = None
    if not given_labels:
        for each in estimators_inside(estimator):
            if getattr(each, "gains", None) is not None:
                name = type(each).__name__
                break
    if name is None:
        return as_gains(y, gains, name="y")
    given = f"{name} inside is given the gains to learn, not the labels"
    if gains is not None:
        raise InputError(
            f"gains is set twice, and {given}: it would map them once more. Keep gains on the "
            f"estimator around it, and leave it out of {name}."
        )
    try:
        return as_gains(y, None, name="y")
    except LabelsNotNumbers as error:
        raise InputError(
            f"{error} gains is set on {name} alone, but {given}: set it on the estimator around "
            "it instead."
        ) from None


def _index_queries(estimator, groups, n_rows, without_groups) -> GroupIndex:
    """Index the query of each row; without query ids, each row is one."""
    if groups is not None:
        return check_groups(groups, n_rows=n_rows)
    if needs_groups(estimator):
        name = type(estimators_inside(estimator)[-1]).__name__
        raise InputError(
            f"{name} needs queries: pass groups=, the query id of each row, or give y as a "
            "Series with an index level named 'qid'. Inside scikit-learn's model selection, "
            "groups= is used for the folds only; the index level is used by the ranker too, "
            "except in tools that make an array of y, such as RFECV and BaggingRegressor. With "
            "sklearn.set_config(enable_metadata_routing=True), groups= is always used for both."
        )
    if without_groups is not None:
        warn_user(
            f"{without_groups} Pass groups=, the query id of each row, or give y as a Series with "
            "an index level named 'qid'.",
            FitWarning,
        )
    return GroupIndex.from_groups(np.arange(n_rows))


def check_two_kinds(estimator, n_good: int, n_judged: int) -> None:
    """Raise if a classifier would get only one class."""
    if n_good in (0, n_judged):
        which = "no gain is" if n_good == 0 else "every gain is"
        raise InputError(
            f"{which} above 0, so {type(final_step(estimator)).__name__} gets only one class: "
            "check y and {gains=}, or use a regressor or a ranker.",
            argument="gains=",
        )


def resolve_target(estimator, target: str) -> str:
    """Return the target; "auto" is resolved for the estimator."""
    if target != "auto":
        return target
    final = final_step(estimator)
    if is_classifier(final):
        return "binary"
    if isinstance(final, RankerMixin):
        return final.ranking_target
    # Rankers of other libraries need grades from 0 up: LightGBM's silently learns nothing from a
    # negative grade.
    return "gain" if group_parameter(final) in (None, "groups") else "grade"


def learns_labels(estimator, target: str, *, prefit: bool) -> bool:
    """Tell if a classifier's classes are labels rather than 1 for a gain above 0."""
    if prefit and is_classifier(estimator):
        return not set(estimator.classes_) <= {0, 1}
    return resolve_target(estimator, target) == "label"


class TargetEncoder:
    """Encoder from gains or labels to targets; the encoding is the same in every fold."""

    def __init__(self, kind: str, gains):
        self.kind = kind
        self.levels = np.unique(gains[~np.isnan(gains)]) if kind == "grade" else None

    def encode(self, gains, labels):
        """Compute the target of judged rows."""
        if self.kind == "binary":
            return (gains > 0).astype(np.int64)
        if self.kind == "gain":
            return gains
        if self.kind == "label":
            return labels
        grades = np.searchsorted(self.levels, gains)
        unknown = ~np.isin(gains, self.levels)
        if unknown.any():
            raise InputError(
                f"eval_set holds the gain {gains[unknown][0]:g}, which does not occur in y: its "
                "grade is unknown. Known gains: "
                f"{', '.join(f'{level:g}' for level in self.levels[:10])}."
            )
        return grades


def tell_unjudged(judged, taught: tuple[str, str] | None = None) -> int:
    """Count rows without a label, with a warning; raise if no row has one.

    `taught` names one of several labels, and the argument of the model that learns it.
    """
    n_rows, n_unjudged = len(judged), len(judged) - int(np.count_nonzero(judged))
    label, model = taught or ("label", None)
    if n_unjudged == n_rows:
        row = "row" if model is None else label
        raise InputError(f"y holds no judged {row}: expected at least one {label} that is not NaN.")
    if n_unjudged:
        learns = "they are not learned from" if model is None else f"{model} skips them"
        warn_user(
            f"{n_unjudged} of {n_rows} rows are unjudged (NaN {label}): {learns}.", UnjudgedWarning
        )
    return n_unjudged

"""Base classes of estimators around other estimators: columns of X and shared attributes.

This file also finds out how an estimator expects query ids.
"""

import inspect
import re
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_string_dtype
from scipy import sparse
from sklearn.base import MetaEstimatorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_container
from skfilterrank._base.sklearn_compat import (
    BaseSearchCV,
    check_feature_names,
    check_n_features,
    feature_names,
    final_step,
    first_step,
    fitted_end,
    metadata_routing_enabled,
    without_groups,
)
from skfilterrank._base.words import counted
from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.responses import document_scores, has_method, warn_of_lost_zeros
from skfilterrank._lists.cut_queries import warn_of_cut_queries
from skfilterrank._lists.queries import find_groups, refuse_query_column
from skfilterrank.exceptions import InputError, SkfilterrankError, brief


def inner_attribute(owner, name, *, last=False):
    """Return an attribute of the fitted inner estimator, or of its last step."""
    inner = owner._fitted_inner()
    if inner is None:
        raise AttributeError(
            f"{type(owner).__name__} is not fitted: no fitted estimator has {name}."
        )
    return getattr(fitted_end(inner) if last else inner, name)


class WrapsFitted:
    """Mixin with the feature attributes of the fitted inner estimator."""

    @property
    def n_features_in_(self) -> int:
        """Number of features the estimator was fitted on."""
        return inner_attribute(self, "n_features_in_")

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features the estimator was fitted on."""
        return inner_attribute(self, "feature_names_in_")


class WrappingRanker(RankerMixin, MetaEstimatorMixin):
    """Base class of rankers that fit an inner estimator."""

    takes_unjudged = True
    estimator_: Any
    n_unjudged_: int
    n_features_in_: int
    feature_names_in_: np.ndarray

    def _remember_columns(self, X):
        """Store the number and the names of the columns in `fit`."""
        vars(self).pop("n_features_in_", None)
        if _takes_one_column(self._unfitted_inner()):
            return
        if not self._chooses_columns():
            refuse_dates(X)
        check_feature_names(self, X, reset=True)
        check_n_features(self, X, reset=True)
        self._unnamed_columns = _unnamed_columns(X)
        self._was_sparse = sparse.issparse(X)
        if "n_features_in_" not in vars(self):
            _refuse_numbers(X)

    def _chooses_columns(self):
        """Tell if the first step is a transformer, which checks columns itself."""
        return hasattr(_first_step(self._unfitted_inner()), "transform")

    def _check_columns(self, X):
        """Raise if X has other columns than in `fit`."""
        check_container(X)
        if not self._chooses_columns() and not _takes_one_column(self._unfitted_inner()):
            refuse_dates(X)
            check_feature_names(self, X, reset=False)
            _check_unnamed_columns(getattr(self, "_unnamed_columns", None), _unnamed_columns(X))
            if hasattr(self, "n_features_in_"):
                _refuse_numbers(X)
            check_n_features(self, X, reset=False)
            was_sparse = vars(self).get("_was_sparse", sparse.issparse(X))
            warn_of_lost_zeros(self._fitted_inner(), X, was_sparse=was_sparse)

    def _unfitted_inner(self):
        """Return the estimator that is cloned and fitted."""
        return self.estimator

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importances of the features, if the last inner step has them."""
        importances = inner_attribute(self, "feature_importances_", last=True)
        if not np.ndim(importances):
            # CatBoost's default importances for a ranking loss need the training rows; this kind
            # does not.
            measure = inner_attribute(self, "get_feature_importance", last=True)
            importances = measure(type="PredictionValuesChange")
        return importances

    @property
    def coef_(self) -> np.ndarray:
        """Weights of the features of the last inner step, if it is linear."""
        return np.ravel(inner_attribute(self, "coef_", last=True))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of `groups` and fit parameters.

        Returns
        -------
        MetadataRouter
            Routing of this estimator and of the inner estimator.
        """
        # This ranker passes `groups` itself.
        inside = without_groups(get_routing_for_object(self._unfitted_inner()))
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(
                estimator=inside,
                method_mapping=MethodMapping().add(caller="fit", callee="fit"),
            )
        )

    @property
    def needs_groups(self) -> bool:  # type: ignore[override]  # depends on the inner estimator
        """True if the estimator cannot learn without query ids."""
        return needs_groups(self._unfitted_inner())

    def _find_groups(self, X, y, groups):
        """Index the query ids of the rows of `fit`, and store its columns."""
        check_learner(self._unfitted_inner())
        groups = super()._find_groups(X, y, groups)
        self._remember_columns(X)
        if not self._chooses_columns():
            refuse_query_column(vars(self).get("feature_names_in_"))
        return groups

    def _scores_inside(self, X, groups, gains=None):
        """Score rows with the fitted inner estimator, as float64."""
        check_is_fitted(self)
        self._check_columns(X)
        groups = find_groups(groups, X)
        warn_of_cut_queries(self, groups)
        try:
            scores = document_scores(self.estimator_, X, groups=groups, gains=gains, checked=True)
        except ValueError as error:
            raise_for_bad_columns(X, self.estimator_, error)
            raise
        return scores.astype(np.float64, copy=False)

    def _inside_parameters(self, fit_params):
        """Select the parameters of `fit` that are passed to the inner estimator."""
        if metadata_routing_enabled():
            return process_routing(self, "fit", **fit_params).estimator.fit
        return fit_params

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self._unfitted_inner())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.string = inner.input_tags.string
        tags.input_tags.allow_nan = allows_nan(self._unfitted_inner())
        tags.non_deterministic = inner.non_deterministic
        return tags

    def _fitted_inner(self):
        """Return the fitted estimator inside, or None."""
        return getattr(self, "estimator_", None)


# Possible parameters of `fit` for queries; the first that exists is used.
_GROUP_PARAMETERS = ("groups", "qid", "group_id", "group")
# Names in rankers of other libraries, which cannot learn without queries.
OTHER_GROUPS = {"qid", "group_id", "group"}
OTHER_EVAL_GROUPS = {"eval_qid", "eval_group"}


def check_learner(estimator) -> None:
    """Raise if an estimator cannot learn and predict."""
    final = final_step(estimator)
    if isinstance(final, type) or not (hasattr(final, "fit") and has_method(final, "predict")):
        raise InputError(
            "estimator must be a classifier, a regressor, a ranker or a Pipeline that ends in one, "
            f"got {brief(final)}."
        )


def group_parameter(final) -> str | None:
    """Return the name of the parameter of `fit` for query ids, or None."""
    if isinstance(final, BaseSearchCV):
        return "groups"
    parameters = inspect.signature(final.fit).parameters
    for name in _GROUP_PARAMETERS:
        if name in parameters:
            return name
    if metadata_routing_enabled() and hasattr(final, "get_metadata_routing"):
        # An ensemble passes query ids on to its estimators.
        return "groups" if get_routing_for_object(final).consumes("fit", ["groups"]) else None
    return None


def reads_queries(estimator) -> bool:
    """Tell if `fit` or `predict` of the estimator, or of one inside, may take query ids."""
    if isinstance(estimator, Pipeline | BaseSearchCV | FrozenEstimator):
        return True
    if metadata_routing_enabled() or group_parameter(estimator) is not None:
        return True
    predict = getattr(estimator, "predict", None)
    return predict is not None and "groups" in inspect.signature(predict).parameters


def needs_own_form(estimator):
    """Tell if `fit` of the estimator needs queries in another form than one id per row."""
    return group_parameter(final_step(estimator)) in OTHER_GROUPS


def estimators_inside(estimator) -> list:
    """List the estimator and the estimators it wraps, from the outermost to the innermost."""
    inside = [final_step(estimator)]
    while isinstance(inside[-1], BaseSearchCV | WrappingRanker):
        inner = inside[-1].estimator
        if not hasattr(inner, "fit"):
            break
        inside.append(final_step(inner))
    return inside


def needs_groups(estimator) -> bool:
    """Tell if the estimator cannot learn without query ids."""
    learner = estimators_inside(estimator)[-1]
    if isinstance(learner, WrappingRanker):
        # Its estimator is None: the default decides.
        return needs_groups(learner._unfitted_inner())
    return learner.needs_groups if isinstance(learner, RankerMixin) else needs_own_form(learner)


def takes_unjudged(estimator) -> bool:
    """Tell if `fit` of the estimator, or of a search's inner estimator, accepts NaN labels."""
    inside = estimators_inside(estimator)
    fitted = next((each for each in inside if not isinstance(each, BaseSearchCV)), inside[-1])
    return isinstance(fitted, RankerMixin) and fitted.takes_unjudged


def allows_nan(estimator) -> bool:
    """Tell if an estimator accepts NaN; a Pipeline does where a step fills it in before others.

    A voting ensemble accepts NaN if all its members do.
    """
    if type(estimator).__name__ in ("VotingClassifier", "VotingRegressor"):
        return all(each == "drop" or allows_nan(each) for _, each in estimator.estimators)
    if not isinstance(estimator, Pipeline):
        return get_tags(estimator).input_tags.allow_nan
    for _, step in estimator.steps:
        if step is None or step == "passthrough":
            continue
        if not allows_nan(step):
            return False
        if type(step).__module__.startswith("sklearn.impute"):
            return True
    return True


def _first_step(estimator):
    """Return the inner estimator that gets X first."""
    while isinstance(first := first_step(estimator), WrappingRanker):
        estimator = first._unfitted_inner()
    return first


def _takes_one_column(estimator):
    """Tell if the first inner estimator expects one number per document, and checks it itself."""
    first = _first_step(estimator)
    return hasattr(first, "__sklearn_tags__") and get_tags(first).input_tags.one_d_array


def _unnamed_columns(X):
    """Return the column labels of a table that are not texts, such as numbers."""
    columns = getattr(X, "columns", None)
    return None if columns is None or feature_names(X) is not None else list(columns)


def _check_unnamed_columns(fitted, given):
    """Raise if column labels or their order differ from `fit`."""
    if fitted is None or given is None or len(fitted) != len(given):
        return
    if fitted != given:
        raise InputError(
            f"X must have the columns of fit, in their order, which are {brief(fitted)}; got "
            f"{brief(given)}."
        )


def _refuse_numbers(X):
    """Raise if X is a 1-D array of numbers: only texts and similar documents may be 1-D."""
    values = np.asarray(X) if len(getattr(X, "shape", (0,))) == 1 else None
    if values is not None and values.ndim == 1 and values.dtype.kind in "biufc":
        raise InputError(
            "X must be 2-D, one row for each document and one column for each feature: Expected "
            "2D array, got 1D array instead. Reshape your data either using X.reshape(-1, 1) if "
            "there is one feature or X.reshape(1, -1) if there is one document."
        )


_FILL_IN = (
    "fill missing values in, for example with SimpleImputer in a Pipeline, or drop the column"
)
# Words of errors of other libraries about numbers that they cannot learn from.
_OF_NUMBERS = re.compile(r"\bnan\b|infinit|finite|`inf`|too large", re.IGNORECASE)
_NOT_FINITE = (
    ("NaN", np.isnan, _FILL_IN),
    ("infinity", np.isinf, "replace it by a finite number"),
)


def refuse_dates(X) -> None:
    """Raise an error that names the columns of X that hold dates or durations."""
    is_table = isinstance(X, pd.DataFrame)
    dtypes = dict(enumerate(X.dtypes)) if is_table else {0: getattr(X, "dtype", None)}
    found = {place: dtype for place, dtype in dtypes.items() if _is_of_dates(dtype)}
    if not found:
        return
    place, dtype = next(iter(found.items()))
    what = "dates or durations"
    if is_table:
        name = brief(X.columns[place])
        what = f"{counted(len(found), 'column')} of {what}, such as {name}"
    raise InputError(
        f"X has {what} of dtype {dtype}, but features must be numbers: convert them, for example "
        "to days since a date, or leave them out."
    )


def _is_of_dates(dtype):
    return getattr(dtype, "kind", "") in ("m", "M") or isinstance(dtype, pd.PeriodDtype)


def check_finite_columns(X, *, owner: str, names=None, allow_nan: bool = False) -> None:
    """Raise a ValueError that names the first column of X with NaN or infinite values.

    `X` is a checked float matrix, dense or sparse, for the estimator called `owner`; `names` are
    those of its columns, if any. With `allow_nan` only infinite values are refused.
    """
    values = X.data if sparse.issparse(X) else X
    # If the sum is finite, all values are finite. A sum of finite values is infinite on overflow
    # only.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return
    for kind, is_bad, remedy in _NOT_FINITE[allow_nan:]:
        bad = is_bad(values)
        if not bad.any():
            continue
        places = X.tocoo() if sparse.issparse(X) else None
        rows, columns = np.nonzero(bad) if places is None else (places.row[bad], places.col[bad])
        first = rows.argmin()
        column = columns[first]
        named = f"column {column}" + ("" if names is None else f" ({brief(names[column])})")
        others = " and others" * bool((columns != column).any())
        raise InputError(
            f"X contains {kind} in {named}{others} ({counted(len(rows), 'value')}, the first at "
            f"row {rows[first]}): {owner} needs finite numbers; {remedy}."
        )


def raise_for_bad_columns(X, estimator, error):
    """Raise an error that names unsupported columns of X, if they may have caused `error`."""
    # An error of ours says what is wrong, unless it repeats that of another library.
    if isinstance(error, SkfilterrankError) and error.__cause__ is None:
        return
    owner = type(final_step(estimator)).__name__
    try:
        values = check_array(X, dtype=np.float64, accept_sparse=True, ensure_all_finite=False)
    except (TypeError, ValueError):
        if not hasattr(first_step(estimator), "transform"):
            raise_for_text(X, owner, error)
        return
    if not _OF_NUMBERS.search(str(error)):
        return
    allow_nan = allows_nan(estimator)
    try:
        check_finite_columns(values, owner=owner, names=feature_names(X), allow_nan=allow_nan)
    except InputError as named:
        raise named from error
    largest = np.finfo(np.float32).max
    numbers = values.data if sparse.issparse(values) else values
    if (np.abs(numbers) > largest).any():
        raise InputError(
            f"X, or an X of eval_set, contains a number beyond {largest:.3g}, the largest of "
            "float32, in which the model learns: replace it by a smaller one."
        ) from error


def raise_for_text(X, owner, error):
    """Raise an error that names columns without numbers, if there are any."""
    refuse_dates(X)
    # Some models support categories of texts.
    are_refused = "could not convert string" in str(error)
    dtypes = X.dtypes.items() if isinstance(X, pd.DataFrame) else ()
    found = [
        (name, dtype)
        for name, dtype in dtypes
        if is_string_dtype(dtype.categories if are_refused and dtype == "category" else dtype)
    ]
    if found:
        name, dtype = found[0]
        raise InputError(
            f"X has {counted(len(found), 'column')} that {owner} does not support, such as "
            f"{brief(name)} of dtype {dtype}: convert them to numbers, for example by "
            "OrdinalEncoder in a Pipeline, or to categories if it supports these."
        ) from error

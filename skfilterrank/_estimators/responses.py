"""Scores of documents from any fitted estimator, and conversion of X for other libraries."""

import inspect
import sys
from contextlib import contextmanager
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from skfilterrank._base.checks import check_container, check_scores, count_rows
from skfilterrank._base.sklearn_compat import BaseSearchCV, feature_names, final_step, first_step
from skfilterrank._base.words import warn_user
from skfilterrank._lists.cut_queries import unwatched
from skfilterrank._lists.gains import as_gains
from skfilterrank.exceptions import DataWarning, InputError, brief


def document_scores(estimator, X, *, groups=None, gains=None, checked=False) -> np.ndarray:
    """Score the rows of X: higher is better, -inf where hidden.

    The score of a classifier is the probability that the gain is above 0, or else its decision
    function; the score of another estimator is its prediction. Query ids are passed if `predict`
    has a parameter for them. `checked` tells that the columns of X are already checked.
    """
    if not checked:
        check_columns(estimator, X)
    if not count_rows(X):
        # Most estimators raise for X without rows, each with another message.
        return np.empty(0)
    if groups is not None:
        estimator, X = last_step(estimator, X, groups)
    X = in_library_form(estimator, X)
    if is_classifier(estimator):
        name, predicted = "the classifier's scores", _classifier_scores(estimator, X, gains)
    else:
        name = f"what {type(estimator).__name__} predicts"
        with unwatched():
            predicted = estimator.predict(X, **_queries_for(estimator.predict, groups))
    scores = check_scores(predicted, name=name)
    if len(scores) != (n_rows := count_rows(X)):
        raise InputError(
            f"{name} must be one score per row, got {len(scores)} scores for {n_rows} rows of X."
        )
    return scores


def check_columns(estimator, X) -> None:
    """Raise if LightGBM or CatBoost would score other columns than those it was fitted on.

    scikit-learn and XGBoost check this themselves. LightGBM accepts any table with the right number
    of columns, and CatBoost ignores surplus columns.
    """
    check_container(X)
    estimator = first_step(estimator)
    name = type(estimator).__name__
    if is_model(estimator, "catboost", "CatBoost") and getattr(X, "ndim", 0) == 2:
        n_fitted = len(estimator.feature_names_)
        if X.shape[1] != n_fitted:
            raise InputError(
                f"X has {X.shape[1]} features, but {name} is expecting {n_fitted} features as "
                "input."
            )
    if not is_model(estimator, "lightgbm", "LGBMModel"):
        return
    # Before 4.6, LightGBM has only its own names, even if columns had no names.
    fitted = getattr(estimator, "feature_names_in_", estimator.feature_name_)
    columns = column_labels(X)
    if columns is None or list(fitted) == [f"Column_{place}" for place in range(len(fitted))]:
        return
    # LightGBM replaces spaces in names by underscores, and column numbers by names.
    names, known = [str(column).replace(" ", "_") for column in columns], list(fitted)
    are_named = feature_names(X) is not None or set(names) == set(known)
    if are_named and names != known:
        raise InputError(
            f"X must have the columns that {name} was fitted on, in their order, which are "
            f"{brief(list(map(str, fitted)))}; got {brief(list(map(str, columns)))}."
        )


def column_labels(X):
    """Return the labels of the columns of a table, or None."""
    # The attribute `columns` of a pyarrow table holds values, not names.
    return getattr(X, "column_names", getattr(X, "columns", None))


def last_step(estimator, X, groups=None):
    """Return the last fitted estimator of a Pipeline or a search, and X transformed for it."""
    while isinstance(estimator, Pipeline | BaseSearchCV | FrozenEstimator):
        if isinstance(estimator, BaseSearchCV):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, FrozenEstimator):
            estimator = estimator.estimator
        else:
            X = before_last(estimator, X, groups)
            estimator = estimator.steps[-1][1]
    return estimator, X


def before_last(pipeline, X, groups=None):
    """Transform X for the last step; steps with a parameter `groups` get query ids."""
    for _, step in pipeline.steps[:-1]:
        if step not in (None, "passthrough"):
            X = step.transform(X, **_queries_for(step.transform, groups))
    return X


def _queries_for(method, groups):
    """Return {"groups": ids} if a method has a parameter `groups`, else an empty dict."""
    if groups is None or not _takes_groups(getattr(method, "__func__", method)):
        return {}
    return {"groups": groups}


@lru_cache(maxsize=256)
def _takes_groups(function):
    """Tell if a function has a parameter `groups`; cached, because inspection is slow."""
    return "groups" in inspect.signature(function).parameters


def has_method(estimator, name) -> bool:
    """Tell if an estimator has a method, or will have it after `fit`."""
    # An unfitted stacking estimator cannot tell the methods of its default final estimator.
    is_default = getattr(estimator, "final_estimator", "given") is None
    return hasattr(estimator, name) or (is_default and hasattr(type(estimator), name))


def _classifier_scores(estimator, X, gains):
    """Compute P(gain > 0), or the decision function of two classes."""
    classes = estimator.classes_
    is_good = as_gains(classes, gains, name="the classifier's classes") > 0
    if hasattr(estimator, "predict_proba"):
        probabilities = np.asarray(estimator.predict_proba(X), dtype=np.float64)
        # LightGBM returns two columns for a single class.
        return probabilities[:, : len(classes)][:, is_good].sum(axis=1)
    if len(classes) == 2 and is_good.sum() == 1 and hasattr(estimator, "decision_function"):
        margins = np.asarray(estimator.decision_function(X), dtype=np.float64)
        # decision_function is positive for classes_[1]: with "good" and "spam" that is "spam".
        return margins if is_good[1] else -margins
    raise InputError(
        f"{type(final_step(estimator)).__name__} has neither predict_proba nor a decision "
        "function of two classes, so it cannot rank documents: enable its probabilities, or wrap "
        "it in CalibratedClassifierCV."
    )


def is_model(estimator, library, base) -> bool:
    """Tell if an estimator comes from a library, without importing the library."""
    module = sys.modules.get(library)
    return module is not None and isinstance(estimator, getattr(module, base))


def warn_of_lost_zeros(estimator, X, *, was_sparse: bool, name: str = "X") -> None:
    """Warn if XGBoost takes the zeros of X for missing values, and not those of `fit`, or not."""
    is_sparse = sparse.issparse(X)
    if is_sparse != was_sparse and is_model(estimator, "xgboost", "XGBModel"):
        forms = ("sparse", "dense") if is_sparse else ("dense", "sparse")
        warn_user(
            f"{name} is {forms[0]}, but X of fit is {forms[1]}: {type(estimator).__name__} takes "
            "the zeros of a sparse X for missing values. Give both in the same form.",
            DataWarning,
        )


def in_library_form(estimator, X):
    """Convert X to a container that the estimator takes."""
    X = in_native_order(estimator, X)
    if sparse.issparse(X):
        # CatBoost and LightGBM's predict do not accept sparse arrays or the COO format.
        return X if sparse.isspmatrix_csr(X) else sparse.csr_matrix(X)
    if is_model(estimator, "catboost", "CatBoost"):
        return _without_dictionaries(X)
    if not is_model(estimator, "lightgbm", "LGBMModel"):
        return X
    if isinstance(X, pd.DataFrame):
        return _with_numpy_numbers(X)
    _refuse_dictionaries(estimator, X)
    return X


def in_native_order(estimator, values):
    """Convert numbers of another byte order for XGBoost, which would read other numbers."""
    if not is_model(estimator, "xgboost", "XGBModel"):
        return values
    is_table = isinstance(values, pd.DataFrame)
    dtypes = dict(values.dtypes) if is_table else {0: getattr(values, "dtype", None)}
    native = {
        name: dtype.newbyteorder("=")
        for name, dtype in dtypes.items()
        if isinstance(dtype, np.dtype) and not dtype.isnative
    }
    if not native:
        return values
    return values.astype(native if is_table else native[0])


def _without_dictionaries(X):
    """Convert an Arrow table to pandas, and categories of polars, which CatBoost may not read."""
    if _is_arrow(X):
        return X.to_pandas()
    polars = sys.modules.get("polars")
    is_polars = polars is not None and isinstance(X, polars.DataFrame)
    return X.cast({polars.Categorical: polars.String}) if is_polars else X


def _is_arrow(X):
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(X, pyarrow.Table)


def _with_numpy_numbers(frame):
    """Convert columns of Arrow numbers to numpy; NaN where missing."""
    types = {
        column: "float64" if frame[column].isna().any() else dtype.numpy_dtype
        for column, dtype in frame.dtypes.items()
        if isinstance(dtype, pd.ArrowDtype) and dtype.kind in "fiub"
    }
    return frame.astype(types) if types else frame


def _refuse_dictionaries(estimator, X):
    """Raise for Arrow dictionary columns, which crash LightGBM."""
    polars = sys.modules.get("polars")
    names = []
    if _is_arrow(X):
        names = [each.name for each in X.schema if str(each.type).startswith("dictionary")]
    elif polars is not None and isinstance(X, polars.DataFrame):
        kinds = (polars.Categorical, polars.Enum)
        names = [name for name, dtype in X.schema.items() if isinstance(dtype, kinds)]
    if names:
        raise InputError(
            f"{type(estimator).__name__} takes no categories of {type(X).__module__.split('.')[0]}"
            f", such as column {brief(names[0])}: give X as a pandas DataFrame with columns of "
            "dtype 'category', or their codes as numbers."
        )


@contextmanager
def library_errors(estimator):
    """Turn other libraries' errors into a ValueError that names the estimator."""
    kinds: tuple[type[Exception], ...] = ()
    for module, name in (
        ("catboost", "CatBoostError"),
        ("lightgbm.basic", "LightGBMError"),
        ("xgboost.core", "XGBoostError"),
    ):
        if module in sys.modules:
            kinds += (getattr(sys.modules[module], name),)
    try:
        yield
    except kinds as error:
        # XGBoost appends addresses of machine code.
        what = str(error).partition("\nStack trace")[0]
        raise InputError(f"{type(estimator).__name__} cannot learn from this: {what}") from error

"""Which columns of X an estimator could not take."""

import numpy as np
import pandas as pd
from pandas.api.types import is_string_dtype
from scipy import sparse
from sklearn.utils import check_array, get_tags

from skfilterrank._estimators.wrapping import check_finite_columns, refuse_dates
from skfilterrank._lists.results import counted
from skfilterrank._lists.sklearn_compat import feature_names, final_step, first_step
from skfilterrank.exceptions import InputError, brief


def raise_for_bad_columns(X, estimator, error):
    """Raise an error that names the columns of X which the estimator cannot take, if any."""
    owner = type(final_step(estimator)).__name__
    try:
        values = check_array(X, dtype=np.float64, accept_sparse=True, ensure_all_finite=False)
    except (TypeError, ValueError):
        if not hasattr(first_step(estimator), "transform"):
            _raise_for_text(X, owner, error)
        return
    allow_nan = get_tags(estimator).input_tags.allow_nan
    try:
        check_finite_columns(values, owner=owner, names=feature_names(X), allow_nan=allow_nan)
    except InputError as named:
        raise named from error
    largest = np.finfo(np.float32).max
    numbers = values.data if sparse.issparse(values) else values
    if (np.abs(numbers) > largest).any():
        raise InputError(
            f"X, or an X of eval_set, contains a number beyond {largest:.3g}, which is the largest "
            f"that {owner} takes: replace it by a smaller one."
        ) from error


def _raise_for_text(X, owner, error):
    """Raise an error that names the columns of a table which hold no numbers, if any."""
    refuse_dates(X)
    if isinstance(X, pd.DataFrame):
        names = [name for name, dtype in X.dtypes.items() if is_string_dtype(dtype)]
        if names:
            raise InputError(
                f"X has {counted(len(names), 'column')} that {owner} does not take as they are, "
                f"such as {brief(names[0])} of dtype {X[names[0]].dtype}: make numbers of them, "
                "as by OrdinalEncoder in a Pipeline, or categories where it takes these."
            ) from error

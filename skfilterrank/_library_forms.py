"""Features and errors of LightGBM, XGBoost and CatBoost: what they take, and what they meant."""

import sys
from contextlib import contextmanager

import pandas as pd
from scipy import sparse

from skfilterrank.exceptions import InputError, brief


def is_model(estimator, library, base) -> bool:
    """Whether an estimator is of a library, which is not imported for that."""
    module = sys.modules.get(library)
    return module is not None and isinstance(estimator, getattr(module, base))


def in_library_form(estimator, X):
    """X in a form that the estimator takes, where what holds it is no matter."""
    if sparse.issparse(X):
        # CatBoost takes no sparse arrays, nor does LightGBM's predict, and neither COO.
        return X if sparse.isspmatrix_csr(X) else sparse.csr_matrix(X)
    if is_model(estimator, "catboost", "CatBoost") and _is_arrow(X):
        return X.to_pandas()
    if not is_model(estimator, "lightgbm", "LGBMModel"):
        return X
    if isinstance(X, pd.DataFrame):
        return _with_numpy_numbers(X)
    _refuse_dictionaries(estimator, X)
    return X


def _is_arrow(X):
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(X, pyarrow.Table)


def _with_numpy_numbers(frame):
    """A table whose numbers of Arrow's types are numpy's; NaN where missing."""
    types = {
        column: "float64" if frame[column].isna().any() else dtype.numpy_dtype
        for column, dtype in frame.dtypes.items()
        if isinstance(dtype, pd.ArrowDtype) and dtype.kind in "fiub"
    }
    return frame.astype(types) if types else frame


def _refuse_dictionaries(estimator, X):
    """Raise for columns of Arrow at which LightGBM ends the process."""
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
    """Errors of libraries that are no ValueError, as one that names the estimator."""
    kinds = [
        getattr(sys.modules[module], name)
        for module, name in (("catboost", "CatBoostError"), ("lightgbm.basic", "LightGBMError"))
        if module in sys.modules
    ]
    try:
        yield
    except tuple(kinds) as error:
        raise InputError(f"{type(estimator).__name__} cannot learn from this: {error}") from error

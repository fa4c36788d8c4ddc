"""Checks of arguments, and conversion of any container with one entry per row to an array."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from decimal import Decimal
from functools import cached_property as _locking
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, overload

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from skfilterrank.exceptions import InputError, InputTypeError, brief

Column = np.ndarray | ExtensionArray


_NUMBERS = "biuf"
# Largest value up to which float64 holds every whole number.
LARGEST_INTEGER = 2**53
_MISSING = (type(None), type(pd.NA), type(pd.NaT), type(np.ma.masked))


def as_column(values, name: str, entry: str = "entry", *, hint: str = "") -> Column:
    """Convert a container to an array with one entry per row.

    Parameters
    ----------
    values : array-like of shape (n_rows,) or (n_rows, 1)
        A list, a numpy array (masked or mapped from a file too), a column of pandas, polars or
        pyarrow, or another object that numpy converts to an array.
    name, entry : str
        Name of the argument and of one entry of it, for messages.
    hint : str, default=""
        Text that is added to the message about a wrong shape.

    Returns
    -------
    ndarray or ExtensionArray of shape (n_rows,)
        Numbers become a numpy array of native byte order, except integers of which some are
        missing. The input itself is returned if it is such an array already. The result is never
        masked or complex.
    """
    if type(values) is not np.ndarray:
        values = _known_container(values, name, entry)
    if isinstance(values, np.ma.MaskedArray):
        values = _unmasked(values)
    if isinstance(values, ExtensionArray):
        values = _of_pandas(values)
    if not isinstance(values, np.ndarray):
        return values
    if values.ndim == 2 and values.shape[1] == 1:
        values = np.asarray(values).reshape(-1)
    if values.ndim == 0:
        raise InputError(
            f"{name} must hold one {entry} per row, got {brief(values.item())}: pass a list or a "
            "1-D array."
        )
    if values.ndim != 1:
        shape = values.shape
        raise InputError(f"{name} must hold one {entry} per row (1-D), got shape {shape}.{hint}")
    return _plain(np.asarray(values), name, entry)


def as_numbers(column: Column, name: str) -> np.ndarray | None:
    """Return the numbers of a column, NaN where missing; None if some entry is not a number.

    Digits in text, dates and durations are not numbers.
    """
    if isinstance(column, pd.Categorical):
        column = as_column(np.asarray(column), name)
    if isinstance(column, ExtensionArray):
        is_number = pd.api.types.is_any_real_numeric_dtype(column.dtype)
        if not is_number and not pd.api.types.is_bool_dtype(column.dtype):
            return None
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.dtype.kind in _NUMBERS:
        return column
    return _numbers_of_objects(column, name) if column.dtype == object else None


def as_number_array(values, name: str) -> np.ndarray | None:
    """Return a table or an array of any shape as numbers; None if some entry is not a number."""
    if isinstance(values, pd.DataFrame):
        dtypes = set(values.dtypes)
        # Converting column by column would take a hundred times as long for a thousand columns.
        dtype = dtypes.pop() if len(dtypes) == 1 else None
        if isinstance(dtype, np.dtype) and dtype.kind in _NUMBERS:
            values = values.to_numpy()
    if isinstance(values, pd.DataFrame) or hasattr(values, "get_column"):
        by_place = values.iloc if isinstance(values, pd.DataFrame) else values
        columns = [
            as_numbers(as_column(by_place[:, place], name), name)
            for place in range(len(values.columns))
        ]
        numbers = [column for column in columns if column is not None]
        if len(numbers) < len(columns):
            return None
        return np.column_stack(numbers) if numbers else np.empty((len(values), 0))
    if isinstance(values, pd.Series | pd.Index | ExtensionArray):
        return as_numbers(as_column(values, name), name)
    if is_sparse(values):
        raise InputError(f"{name} is a sparse matrix: pass a dense array, such as its toarray().")
    if not isinstance(values, np.ndarray):
        values = _nested(values, name)
    flat = as_numbers(as_column(values.reshape(-1), name), name)
    return None if flat is None else flat.reshape(values.shape)


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a view of the array that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def is_sparse(values) -> bool:
    """Tell whether this is a sparse matrix, without importing scipy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and sparse.issparse(values)


def label_array(y) -> np.ndarray:
    """Return labels as scikit-learn takes them, NaN where missing."""
    column = as_column(y, "y", "label")
    numbers = as_numbers(column, "y")
    return np.asarray(column) if numbers is None else numbers


def is_missing(column: Column, name: str) -> np.ndarray:
    """Tell which entries of a column are missing."""
    try:
        return np.asarray(pd.isna(column), dtype=bool)
    except Exception as error:
        raise InputError(
            f"{name} holds entries that cannot be read ({brief(str(error))}): make them all text "
            "or all numbers."
        ) from error


def entry_types(column: Column) -> set[type]:
    """Return the Python types of the entries of an object column; else an empty set."""
    is_object = isinstance(column, np.ndarray) and column.dtype == object
    return set(map(type, column)) if is_object else set()


def is_dask(data) -> bool:
    """Tell whether data is a Dask DataFrame or Series, without importing Dask."""
    module = sys.modules.get("dask.dataframe")
    return module is not None and isinstance(data, module.DataFrame | module.Series)


def refuse_lazy(values, name: str) -> None:
    """Raise if data is a Dask object or a LazyFrame: converting it would load all its rows."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(values, polars.LazyFrame):
        raise InputTypeError(
            f"{name} is a polars LazyFrame, whose rows are not loaded yet: pass .collect()."
        )
    array = sys.modules.get("dask.array")
    if is_dask(values) or (array is not None and isinstance(values, array.Array)):
        raise InputTypeError(
            f"{name} is a Dask {type(values).__name__}, whose rows would all be loaded into this "
            "process: measure it by skfilterrank.io.Rows, learn from it as the page 'More rows "
            "than fit into memory' shows, or pass .compute() if it fits into memory."
        )


def _known_container(values, name, entry):
    """Return a numpy or pandas array of the entries of a container."""
    if isinstance(values, np.ndarray | ExtensionArray):
        return values
    if isinstance(values, pd.DataFrame) and values.shape[1] == 1:
        values = values.iloc[:, 0]
    if isinstance(values, pd.MultiIndex):
        raise InputError(
            f"{name} has several levels: expected one {entry} per row; pass one level, e.g. "
            f"{name}=index.get_level_values('qid')."
        )
    no_rows = isinstance(values, str | bytes | Mapping | Set | Iterator | type)
    if isinstance(values, pd.Series | pd.Index) and not no_rows:
        return values.array
    if isinstance(values, list | tuple | range):
        return _of_sequence(values, name)
    refuse_lazy(values, name)
    found = _of_other_library(values)
    if found is not None:
        return found
    is_array = hasattr(values, "to_numpy") or hasattr(values, "__array__")
    if no_rows or is_sparse(values) or not (is_array or hasattr(values, "__len__")):
        raise InputError(
            f"{name} must hold one {entry} per row, got {brief(values)}: pass a list "
            "or a 1-D array."
        )
    try:
        if not is_array:
            return _of_sequence(list(values), name)
        return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
    except Exception as error:  # the conversion of a foreign object may raise anything
        raise InputError(
            f"{name} must hold one {entry} per row, and {type(values).__name__} does not turn into "
            f"an array ({brief(str(error))}): pass a numpy array."
        ) from error


def _of_other_library(values):
    """Return the entries of a column of polars or pyarrow; None for anything else."""
    # If the package is not imported yet, the values cannot come from it.
    polars, pyarrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars is not None:
        if isinstance(values, polars.DataFrame) and values.width == 1:
            values = values.to_series()
        if isinstance(values, polars.Series):
            return _of_polars(values)
    if pyarrow is not None:
        if isinstance(values, pyarrow.Table | pyarrow.RecordBatch) and values.num_columns == 1:
            values = values.column(0)
        if isinstance(values, pyarrow.Array | pyarrow.ChunkedArray):
            return pd.arrays.ArrowExtensionArray(values)
    return None


def no_unicode(name: str, error: UnicodeEncodeError) -> InputError:
    """Return an error for a text with half of a surrogate pair, which pandas refuses."""
    return InputError(
        f"{name} holds {brief(error.object)}, which is no Unicode text: it has half of a surrogate "
        "pair. Decode the text again, such as by errors='replace'."
    )


def _of_sequence(values, name):
    """Convert a list through pandas, because numpy would turn ["a", nan] into text."""
    if not len(values):
        return np.zeros(0)
    if {type(value) for value in values} <= {list, np.ndarray}:
        return _nested(values, name)
    try:
        column = pd.Series(values)
    except UnicodeEncodeError as error:
        raise no_unicode(name, error) from None
    except OverflowError:  # pandas 2 raises this for whole numbers beyond float64
        return pd.Series(values, dtype=object).array
    if column.dtype == np.float64:
        # pandas rounds large whole numbers if the same list has fractions.
        large = np.flatnonzero(column.abs() >= LARGEST_INTEGER).tolist()
        if any(isinstance(values[row], int | np.integer) for row in large):
            return pd.Series(values, dtype=object).array
    return column.array


def _nested(values, name):
    """Convert nested sequences to a numpy array."""
    try:
        return np.asarray(values)
    except Exception as error:
        raise InputError(
            f"{name} must hold numbers, in rows of one length where rows are wanted, got "
            f"{brief(values)}."
        ) from error


def _of_polars(series):
    """Convert a polars column; null becomes NaN among floats, else None."""
    if series.null_count() and not series.dtype.is_float():
        return _objects(series.to_list())
    return series.to_numpy()


def _objects(values):
    """Return Python objects as a 1-D array, also lists, of which numpy would make a table."""
    return np.array([*values, None], dtype=object)[:-1]


def _unmasked(values):
    """Return a masked array without its mask: masked entries are missing."""
    mask = np.ma.getmaskarray(values)
    data = np.ma.getdata(values, subok=False)
    if data.dtype.kind == "V" or not mask.any():
        return data
    if data.dtype.kind == "f":
        return np.where(mask, np.array(np.nan, dtype=data.dtype), data)
    objects = data.astype(object)
    objects[mask] = None
    return objects


def _of_pandas(values):
    """Return a pandas column as a numpy array if that keeps missing entries and integers."""
    dtype = values.dtype
    if isinstance(values, pd.arrays.NumpyExtensionArray | pd.arrays.SparseArray):
        return np.asarray(values)
    is_arrow = isinstance(dtype, pd.ArrowDtype)
    if is_arrow and (str(dtype).startswith("dictionary") or dtype.kind == "O"):
        # numpy has no type but object for dictionaries, nulls, lists and the like.
        return _objects(values.astype(object))
    if dtype.kind not in _NUMBERS or not hasattr(dtype, "numpy_dtype"):
        return values
    if dtype.kind == "f":
        return values.to_numpy(dtype=dtype.numpy_dtype, na_value=np.nan)
    return values if values.isna().any() else values.to_numpy(dtype=dtype.numpy_dtype)


def _plain(values, name, entry):
    """Return a column in native byte order, without masked entries; refuse complex numbers."""
    kind = values.dtype.kind
    if kind in "cV":
        raise InputError(
            f"Complex data not supported: {name} must hold real numbers or texts, one {entry} per "
            f"row, got dtype {brief(values.dtype)}."
        )
    if kind == "T":
        return values.astype(object)
    if type(np.ma.masked) in entry_types(values):
        values = values.copy()
        values[[value is np.ma.masked for value in values]] = None
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def _numbers_of_objects(values, name):
    """Return Python objects as an array of numbers; None if some are not numbers."""
    types = entry_types(values)
    given = types - set(_MISSING)
    if not all(
        issubclass(kind, Real | Decimal | np.bool_) and not issubclass(kind, np.timedelta64)
        for kind in given
    ):
        return _numbers_of_arrays(values)
    if given == types:
        plain = _nested(values.tolist(), name)
        if plain.dtype.kind in "iu":
            return plain
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            numbers[row] = np.nan if isinstance(value, _MISSING) else value
        except OverflowError:
            numbers[row] = np.inf
        except ValueError:  # a signalling NaN of decimal
            return None
        if np.isinf(numbers[row]) and value not in (np.inf, -np.inf):
            raise InputError(
                f"{name} holds {brief(value)} at row {row}, which float64 cannot hold: expected "
                "numbers up to 1.8e308."
            )
    seen: dict = {}
    for value, number in zip(values, numbers.tolist()):
        # NaN is not equal to itself: skip it.
        if number == number and (first := seen.setdefault(number, value)) != value:
            raise _merged(first, value, name)
    return numbers


def as_floats(numbers: np.ndarray, name: str) -> np.ndarray:
    """Return numbers as float64; raise where this makes different whole numbers equal."""
    floats = numbers.astype(np.float64, copy=False)
    # Comparing with the floats would round the numbers again.
    if numbers.dtype.kind in "iu" and np.abs(floats).max(initial=0) >= LARGEST_INTEGER:
        order = np.argsort(numbers, kind="stable")
        exact, rounded = numbers[order], floats[order]
        merged = (exact[1:] != exact[:-1]) & (rounded[1:] == rounded[:-1])
        if merged.any():
            row = int(merged.argmax())
            raise _merged(exact[row].item(), exact[row + 1].item(), name)
    return floats


def _merged(one, other, name):
    """Return the error for two different numbers that float64 would make equal."""
    return InputError(
        f"{name} holds {brief(one)} and {brief(other)}, which float64 rounds to one number: pass "
        "numbers of at most 15 digits, such as their ranks."
    )


def _numbers_of_arrays(values):
    """Return the numbers of arrays or tensors that hold one number each; else None."""
    if not all(hasattr(kind, "__array__") for kind in entry_types(values)):
        return None
    try:
        plain = np.array(values.tolist())
    except Exception:
        return None
    return plain if plain.ndim == 1 and plain.dtype.kind in _NUMBERS else None


if TYPE_CHECKING:
    cached_property = _locking
else:

    class cached_property:
        """A `functools.cached_property` without the lock that it has in Python 3.11.

        A process that is forked while another thread holds that lock would wait for it forever.

        Parameters
        ----------
        function : callable
            The getter.
        """

        def __init__(self, function: Callable):
            self.func, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            found = instance.__dict__[self._name] = self.func(instance)
            return found


def check_numbers(
    values, name: str, *, n_rows: int | None = None, entry: str = "number", hint: str = ""
) -> np.ndarray:
    """Check a column of one number per row, in any container; NaN where missing."""
    column = as_column(values, name, entry, hint=hint)
    numbers = as_numbers(column, name)
    if numbers is None:
        raise InputError(f"{name} must hold numbers, got dtype {column.dtype}.")
    if n_rows is not None and len(numbers) != n_rows:
        raise InputError(f"{name} has {len(numbers)} entries but there are {n_rows} rows.")
    return numbers


def check_scores(y_score, *, n_rows: int | None = None, name: str = "y_score") -> np.ndarray:
    """Check one score per row: a finite number, or -inf for a hidden document."""
    scores = check_numbers(
        y_score,
        name,
        entry="score",
        hint=" From a classifier's predict_proba, pass one column: the probability that a "
        "document is good.",
    )
    if n_rows is not None and len(scores) != n_rows:
        raise InputError(f"{name} has {len(scores)} entries but y_true has {n_rows}.")
    if scores.dtype.kind == "f" and len(scores):
        highest = scores.max()
        if np.isnan(highest):
            bad = np.isnan(scores)
            raise InputError(
                f"{name} holds {bad.sum()} NaN, the first at row {bad.argmax()}: a score must be "
                "a number, or -inf for a document that is hidden or not retrieved."
            )
        if highest == np.inf:
            bad = scores == np.inf
            raise InputError(
                f"{name} holds {bad.sum()} +inf, the first at row {bad.argmax()}: a score must "
                "be finite, or -inf for a document that is hidden or not retrieved."
            )
        if scores.itemsize > 8:
            # Narrower dtypes cannot overflow float64.
            beyond = np.abs(scores) > np.finfo(np.float64).max
            beyond &= np.isfinite(scores)
            if beyond.any():
                raise InputError(
                    f"{name} holds {beyond.sum()} number(s) beyond float64, the first at row "
                    f"{beyond.argmax()}: a score must be a float64, or -inf."
                )
    return scores


def check_level_scores(y_score, *, name: str = "y_score") -> np.ndarray:
    """Check scores as :func:`check_scores` does, and that float64 tells whole numbers apart."""
    scores = check_scores(y_score, name=name)
    # Squares of float16 overflow.
    return scores if scores.dtype in (bool, np.float32) else as_floats(scores, name)


def as_list(values, name: str, what: str) -> list:
    """Return the entries of a list, set or array; they may be of any type."""
    try:
        return list(values)
    except Exception as error:
        raise InputError(f"{name} must be a list of {what}, got {brief(values)}.") from error


def is_hashable(value) -> bool:
    """Tell whether a value can be a key of a dict."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def columns_of(table, name: str) -> dict:
    """Return the scores of each system from a dict, a data frame or a 2-D array."""
    if isinstance(table, Mapping):
        return dict(table)
    if isinstance(table, pd.DataFrame) or hasattr(table, "get_column"):
        columns = list(table.columns)
        if len(set(columns)) < len(columns):
            raise InputError(f"{name} has several columns of one name: {brief(columns)}.")
        return {column: table[column] for column in columns}
    values = as_number_array(table, name)
    if values is None or values.ndim != 2:
        shape = "other entries" if values is None else f"shape {values.shape}"
        raise InputError(
            f"{name} must be a dict {{system: scores}}, a DataFrame, or a 2-D array of numbers "
            f"with a column for each system, got {type(table).__name__} of {shape}."
        )
    return dict(enumerate(values.T))


def check_container(values, name: str = "X") -> None:
    """Raise for lazy data, complex numbers, and a masked array: masked values would be read."""
    refuse_lazy(values, name)
    first = values
    while isinstance(first, list | tuple) and len(first):
        first = first[0]
    dtypes = values.dtypes if isinstance(values, pd.DataFrame) else [getattr(first, "dtype", None)]
    if isinstance(first, complex) or any(getattr(each, "kind", "") == "c" for each in dtypes):
        # The first words are those of scikit-learn, whose checks expect them.
        raise InputError(f"Complex data not supported: {name} must hold real numbers or texts.")
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(
            f"{name} is a masked array, of which estimators would read the masked values too: fill "
            f"them in, such as by {name}.filled(np.nan)."
        )


def count_rows(X, name: str = "X") -> int:
    """Return the number of rows of X, which must be in memory and not masked."""
    from skfilterrank._base.sklearn_compat import num_samples

    check_container(X, name)
    try:
        return num_samples(X)
    except TypeError as error:
        raise InputTypeError(f"{name} must have rows and is {brief(X)}: {error}") from error


def check_flag(value, name: str) -> None:
    """Raise if a value is not True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {brief(value)}.")


# Python takes booleans for numbers, and numpy takes durations for numbers.
_NO_NUMBERS = (bool, np.bool_, np.timedelta64)


def is_whole_number(value) -> bool:
    """Tell whether a value is a whole number; True and False do not count."""
    return isinstance(value, Integral) and not isinstance(value, _NO_NUMBERS)


def is_number(value) -> bool:
    """Tell whether a value is a real number, NaN and infinity included, True and False not."""
    return isinstance(value, Real) and not isinstance(value, _NO_NUMBERS)


def is_finite_number(value) -> bool:
    """Tell whether a value is a real number that float64 can hold."""
    try:
        return is_number(value) and math.isfinite(float(value))
    except OverflowError:  # a whole number or fraction that is too large
        return False


def is_level(value) -> bool:
    """Tell whether a value is a real number or infinite, but not NaN."""
    return is_finite_number(value) or (is_number(value) and abs(value) == np.inf)


def check_share(value, name: str) -> float:
    """Check a number between 0 and 1, both excluded, and return it as float."""
    if not is_finite_number(value) or not 0 < value < 1:
        raise InputError(
            f"{{{name}}} must be a number between 0 and 1, both excluded, got {brief(value)}.",
            argument=name,
        )
    return float(value)


def check_number(
    value, name: str, *, least: float = -np.inf, above: float = -np.inf, most: float = np.inf
) -> float:
    """Check a finite number within bounds (greater than `above`), and return it as float."""
    if not is_finite_number(value) or not (least <= value <= most and value > above):
        bounds = {
            f" from {least:g} up": least,
            f" above {above:g}": above,
            f" up to {most:g}": most,
        }
        wanted = " and".join(text for text, bound in bounds.items() if np.isfinite(bound))
        raise InputError(
            f"{{{name}}} must be a finite number{wanted}, got {brief(value)}.", argument=name
        )
    return float(value)


def check_each(values, name: str, **bounds) -> np.ndarray:
    """Check one number or several within bounds, and return them as float64."""
    given = [values] if np.isscalar(values) else as_list(values, name, "numbers")
    if not given:
        raise InputError(f"{name} is empty: give at least one number.")
    return np.array([check_number(each, name, **bounds) for each in given])


def check_random_state(random_state) -> np.random.RandomState:
    """Return a random generator from any value that scikit-learn accepts as random_state."""
    import sklearn.utils

    try:
        return sklearn.utils.check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise InputError(
            "random_state must be None, a whole number from 0 to 4294967295 or a RandomState, got "
            f"{brief(random_state)}."
        ) from error


def check_k(k, name: str = "k") -> int | None:
    """Check None or a positive whole number of positions."""
    if k is None:
        return None
    if not is_whole_number(k) or k < 1:
        raise InputError(
            f"{name} must be None (the whole list) or a positive integer, got {brief(k)}."
        )
    # A larger k has the same effect: no list is longer, and numpy cannot compare larger integers.
    return min(int(k), sys.maxsize)


def check_choice(value, name: str, choices):
    """Return the choice that a value is; the type counts, but a text of NumPy is a text."""
    for choice in choices:
        is_text = isinstance(value, str) and isinstance(choice, str)
        if value is choice or ((is_text or type(value) is type(choice)) and value == choice):
            return choice
    allowed = ", ".join(map(repr, choices))
    raise InputError(f"{{{name}}} must be one of {allowed}, got {brief(value)}.", argument=name)


def one_of(*choices):
    """Return a function of a value and its name that checks it against choices."""
    return partial(check_choice, choices=choices)


@overload
def check_count(value, name: str, least: int = 1, *, most: int = LARGEST_INTEGER) -> int: ...


@overload
def check_count(
    value, name: str, least: int = 1, *, most: int = LARGEST_INTEGER, or_none: bool
) -> int | None: ...


def check_count(
    value, name: str, least: int = 1, *, most: int = LARGEST_INTEGER, or_none: bool = False
) -> int | None:
    """Check a whole number within bounds, or None where that is allowed."""
    if or_none and value is None:
        return None
    if not is_whole_number(value) or not least <= value <= most:
        bounds = f"from {least} up" if most == LARGEST_INTEGER else f"from {least} to {most}"
        none = "None or " if or_none else ""
        raise InputError(
            f"{{{name}}} must be {none}a whole number {bounds}, got {brief(value)}.", argument=name
        )
    return int(value)


def check_verbose(verbose) -> bool:
    """Tell whether `verbose` asks for a progress bar; raise if it is no whole number or bool."""
    if not isinstance(verbose, bool | np.bool_):
        check_count(verbose, "verbose", 0)
    return bool(verbose)


def check_counts(value, name: str, *, most: int = LARGEST_INTEGER) -> np.ndarray:
    """Check one whole number from 1, or several in a 1-D array."""
    counts = [value] if np.isscalar(value) else as_column(value, name, "count").tolist()
    if not counts:
        raise InputError(f"{name} is empty: expected a whole number or a 1-D array of them.")
    checked = [check_count(count, name, most=most) for count in counts]
    return np.array(checked, dtype=np.int64)


def check_teams(names, teams) -> dict:
    """Check that each run has a team, and return the teams."""
    if not isinstance(teams, Mapping | pd.Series):
        raise InputError(
            f"teams must be a dict or Series {{run: team}}, or None, got {type(teams).__name__}."
        )
    teams = dict(teams)
    absent = [name for name in names if name not in teams or pd.isna(teams[name])]
    if absent:
        shown = ", ".join(map(brief, absent[:3])) + (", ..." if len(absent) > 3 else "")
        raise InputError(
            f"teams has no team for {len(absent)} of {len(names)} runs ({shown}): name the team "
            "of every run; a run that shares its team with no other run is a team of its own."
        )
    return {name: teams[name] for name in names}

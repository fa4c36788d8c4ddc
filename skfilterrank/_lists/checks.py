"""Checks of the arrays and parameters that the measures and estimators share."""

import math
import sys
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from numbers import Integral, Real
from typing import overload

import numpy as np
import pandas as pd

from skfilterrank._lists.arrays import as_column, as_number_array, as_numbers, refuse_dask
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, InputTypeError, brief

QID = "qid"
# Beyond it, not every whole number is a float64.
_LARGEST_COUNT = 2**53


def query_ids_of_index(data):
    """The index level named "qid" of a pandas object, or None."""
    index = data if isinstance(data, pd.Index) else getattr(data, "index", None)
    if isinstance(index, pd.Index) and QID in index.names:
        return index.get_level_values(QID)
    return None


def find_groups(groups, *carriers, names=("y", "X")):
    """Find the query ids of the rows: those given, else those an index holds, else None.

    Ids that come from several places must agree row by row. Other names for the same queries,
    such as codes, are allowed in `groups`: they must put the same rows together. `names` are
    those of the carriers.
    """
    held = []
    for each, name in zip(carriers, names):
        if (ids := query_ids_of_index(each)) is not None:
            index = each if isinstance(each, pd.Index) else each.index
            held.append((ids, index, f"the index level 'qid' of {name}"))
    for (left, index, name), (right, other, where) in pairwise(held):
        _check_same_rows(left, right, name, where, one_naming=True)
        _check_same_labels(index, other)
    if groups is None:
        return held[0][0] if held else None
    for ids, _, where in held[:1]:
        _check_same_rows(groups, ids, "groups", where)
    return groups


def _check_same_rows(left, right, name, where, *, one_naming=False):
    """Raise where two arrays of query ids do not agree on the rows of queries."""
    try:
        is_index = isinstance(left, GroupIndex)
        values = None if is_index else np.asarray(left)
        # The caller compares lengths with the number of rows.
        if not is_index and (
            values.shape != right.shape or bool((values == np.asarray(right)).all())
        ):
            return
        left = left if is_index else GroupIndex.from_groups(values)
        right = GroupIndex.from_groups(right)
    except (InputError, TypeError, ValueError):
        # The caller refuses arrays that hold no query ids.
        return
    if left.n_rows != right.n_rows:
        return
    left_codes, right_codes = left.codes(), right.codes()
    left_ids, right_ids = left.query_ids, right.query_ids
    if is_one_set := np.array_equal(left_ids, right_ids):
        differs = left_codes != right_codes
    elif one_naming and _kind(left_ids) == _kind(right_ids):
        is_one_set = True
        differs = left_ids[left_codes] != right_ids[right_codes]
    else:
        # Files give 1 or "1" by their format.
        left_ids, right_ids = _texts(left_ids), _texts(right_ids)
        is_one_set = np.array_equal(np.sort(left_ids), np.sort(right_ids))
        differs = left_ids[left_codes] != right_ids[right_codes] if is_one_set else None
    if is_one_set:
        if differs.any():
            row = int(differs.argmax())
            ids = (
                brief(index.query_ids[codes[row : row + 1]].tolist()[0])
                for index, codes in ((left, left_codes), (right, right_codes))
            )
            raise InputError(
                f"{name} and {where} name different queries in {np.count_nonzero(differs)} of "
                f"{len(differs)} rows, the first {' and '.join(ids)} at row {row}: rows are "
                "matched by position, so bring all arguments into one order first."
            )
        return
    pairs = left_codes * np.int64(right.n_queries) + right_codes
    if not left.n_queries == right.n_queries == len(np.unique(pairs)):
        raise InputError(
            f"{name} and {where} name different queries: give query "
            "ids in one place, such as y.to_numpy() with groups=. Groups that rows are split "
            "by, such as segments, are for the splitter alone; where metadata routing hands "
            "them on, .set_fit_request(groups='qid') of the estimator and "
            ".set_score_request(groups='qid') of the scorer take the query ids from "
            "params={'groups': segments, 'qid': query_ids}."
        )


def _texts(ids):
    """Return query ids as texts, whole numbers without a point."""
    with np.errstate(invalid="ignore"):
        whole = ids.astype(np.int64) if ids.dtype.kind == "f" else ids
    return (whole if np.array_equal(whole, ids) else ids).astype(str)


def _kind(ids):
    """Name the kind of query ids; ids of one kind can be compared."""
    return "number" if ids.dtype.kind in "biuf" else type(ids.tolist()[0])


def _check_same_labels(left, right):
    """Raise where two indexes hold the same labels in different orders."""
    if left.nlevels == 1 or left.names != right.names or left.equals(right):
        return
    if left.is_unique and right.is_unique and right.isin(left).all():
        row = int(np.asarray(left != right).argmax())
        raise InputError(
            "two arguments with an index level 'qid' hold the same labels in different orders, "
            f"the first {brief(left[row])} and {brief(right[row])} at row {row}: rows are matched "
            "by position, so bring them into one order first, as by y = y.loc[X.index]."
        )


def check_groups(
    groups, *carriers, n_rows: int, name: str = "groups", carrier: str = "y_true as a pandas Series"
) -> GroupIndex:
    """Index the query of each row; a missing query id is an error."""
    query_ids = find_groups(groups, *carriers)
    if query_ids is None:
        text = (
            f"{name} is missing: pass {name}=, the query id of each row, or give {carrier} whose "
            "index has a level named 'qid'."
        )
        if carrier.startswith("y_true"):
            text += (
                " Inside scikit-learn's model selection, such a Series keeps its query ids "
                "through every split, but not in tools that make an array of y, such as RFECV; "
                "with sklearn.set_config(enable_metadata_routing=True), groups can be passed "
                "instead, there too."
            )
        raise InputError(text)
    is_index = isinstance(query_ids, GroupIndex)
    index = query_ids if is_index else GroupIndex.from_groups(query_ids, name)
    if index.n_rows != n_rows:
        remedy = ""
        if index.query_ids.dtype.kind in "iu" and index.query_ids @ index.sizes == n_rows:
            remedy = (
                f" If {name} holds the sizes of consecutive queries, pass "
                "np.repeat(np.arange(len(sizes)), sizes)."
            )
        raise InputError(
            f"{name} has {index.n_rows} entries but there are {n_rows} rows: expected one query "
            f"id per row.{remedy}"
        )
    return index


def check_numbers(
    values, name: str, *, n_rows: int | None = None, entry: str = "number", hint: str = ""
) -> np.ndarray:
    """One number per row, whatever container holds them; NaN where missing."""
    column = as_column(values, name, entry, hint=hint)
    numbers = as_numbers(column, name)
    if numbers is None:
        raise InputError(f"{name} must hold numbers, got dtype {column.dtype}.")
    if n_rows is not None and len(numbers) != n_rows:
        raise InputError(f"{name} has {len(numbers)} entries but there are {n_rows} rows.")
    return numbers


def check_scores(y_score, *, n_rows: int | None = None, name: str = "y_score") -> np.ndarray:
    """One number per row, -inf where filtered, never NaN or +inf."""
    scores = check_numbers(
        y_score,
        name,
        entry="score",
        hint=" Of a classifier's predict_proba take the column that says how good a document is.",
    )
    if n_rows is not None and len(scores) != n_rows:
        raise InputError(f"{name} has {len(scores)} entries but y_true has {n_rows}.")
    if scores.dtype.kind == "f" and len(scores):
        highest = scores.max()
        if np.isnan(highest):
            bad = np.isnan(scores)
            raise InputError(
                f"{name} holds {bad.sum()} NaN, the first at row {bad.argmax()}: a score must be "
                "a number, or -inf for a document that is filtered out or not retrieved."
            )
        if highest == np.inf:
            bad = scores == np.inf
            raise InputError(
                f"{name} holds {bad.sum()} +inf, the first at row {bad.argmax()}: a score must "
                "be finite, or -inf for a document that is filtered out or not retrieved."
            )
        if scores.itemsize > 8:
            # What is narrower than float64 in range leaves it nowhere.
            beyond = np.abs(scores) > np.finfo(np.float64).max
            beyond &= np.isfinite(scores)
            if beyond.any():
                raise InputError(
                    f"{name} holds {beyond.sum()} number(s) beyond float64, the first at row "
                    f"{beyond.argmax()}: a score must be a float64, or -inf."
                )
    return scores


def check_level_scores(y_score, *, name: str = "y_score") -> np.ndarray:
    """Scores as of :func:`check_scores`, which a level divides as float64."""
    scores = check_scores(y_score, name=name)
    is_whole = scores.dtype.kind in "iu" and len(scores)
    if not is_whole or (scores.max() <= _LARGEST_COUNT and scores.min() >= -_LARGEST_COUNT):
        return scores
    as_floats = scores.astype(np.float64)
    if len(np.unique(as_floats)) < len(np.unique(scores)):
        raise InputError(
            f"{name} has whole numbers beyond 2**53, which float64 does not tell apart: divide "
            "them."
        )
    return as_floats


def as_list(values, name: str, what: str) -> list:
    """The entries of a list, set or array, which need be no numbers."""
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
    """Scores by system, of a dict, a data frame or a 2-D array."""
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
    """Raise for a masked array, of which estimators would read what is masked, and for Dask's."""
    refuse_dask(values, name)
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(
            f"{name} is a masked array, of which estimators would read the masked values too: fill "
            f"them in, such as by {name}.filled(np.nan)."
        )


def refuse_query_column(names) -> None:
    """Raise where a column of features holds the query ids."""
    if names is not None and QID in names:
        raise InputError(
            "X has a column 'qid', which would be learned from as a feature: pass "
            "groups=X['qid'] and X.drop(columns='qid'), or X.set_index('qid')."
        )


def count_rows(X, name: str = "X") -> int:
    """Number of rows of X, which must be in memory and not masked."""
    from skfilterrank._lists.sklearn_compat import num_samples

    check_container(X, name)
    try:
        return num_samples(X)
    except TypeError as error:
        raise InputTypeError(f"{name} must have rows and is {brief(X)}: {error}") from error


def check_same_index(y_true, y_score, groups=None) -> None:
    """Two Series that both carry query ids must carry the same ones, in the same order."""
    if groups is not None:
        find_groups(groups, y_score, names=("y_score",))
    left, right = query_ids_of_index(y_true), query_ids_of_index(y_score)
    if left is not None and right is not None and not y_true.index.equals(y_score.index):
        raise InputError(
            "y_true and y_score have different indexes: rows are compared by position, so align "
            "them first, e.g. y_score = y_score.reindex(y_true.index)."
        )


def check_flag(value, name: str) -> None:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {brief(value)}.")


# Booleans are numbers to Python, and durations to numpy.
_NO_NUMBERS = (bool, np.bool_, np.timedelta64)


def is_whole_number(value) -> bool:
    """Tell whether a value is a whole number; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, _NO_NUMBERS)


def is_number(value) -> bool:
    """Tell whether a value is a real number, or NaN or infinite; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, _NO_NUMBERS)


def is_finite_number(value) -> bool:
    """Tell whether a value is a real number that float64 can hold."""
    try:
        return is_number(value) and math.isfinite(float(value))
    except OverflowError:  # a whole number or fraction that is too large
        return False


def is_level(value) -> bool:
    """Tell whether a value is a real number that numbers can be compared with, or infinite."""
    return is_finite_number(value) or (is_number(value) and abs(value) == np.inf)


def check_share(value, name: str) -> float:
    """A number between 0 and 1, both excluded, as float."""
    if not is_finite_number(value) or not 0 < value < 1:
        raise InputError(
            f"{name} must be a number between 0 and 1, both excluded, got {brief(value)}."
        )
    return float(value)


def check_number(
    value, name: str, *, least: float = -np.inf, above: float = -np.inf, most: float = np.inf
) -> float:
    """A finite number within bounds, `above` excluded, as float."""
    if not is_finite_number(value) or not (least <= value <= most and value > above):
        bounds = {
            f" from {least:g} up": least,
            f" above {above:g}": above,
            f" up to {most:g}": most,
        }
        wanted = " and".join(text for text, bound in bounds.items() if np.isfinite(bound))
        raise InputError(f"{name} must be a finite number{wanted}, got {brief(value)}.")
    return float(value)


def check_random_state(random_state) -> np.random.RandomState:
    """A generator of random numbers, of whatever scikit-learn takes as random_state."""
    import sklearn.utils

    try:
        return sklearn.utils.check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise InputError(
            "random_state must be None, a whole number from 0 to 4294967295 or a RandomState, got "
            f"{brief(random_state)}."
        ) from error


def check_k(k, name: str = "k") -> int | None:
    """None, or a positive whole number of positions."""
    if k is None:
        return None
    if not is_whole_number(k) or k < 1:
        raise InputError(
            f"{name} must be None (the whole list) or a positive integer, got {brief(k)}."
        )
    # No list is longer, and numpy compares its numbers with no greater ones.
    return min(int(k), sys.maxsize)


def check_choice(value, name: str, choices):
    """One of the choices, of its type."""
    for choice in choices:
        if value is choice or (type(value) is type(choice) and value == choice):
            return value
    allowed = ", ".join(map(repr, choices))
    raise InputError(f"{name} must be one of {allowed}, got {brief(value)}.")


def one_of(*choices):
    """A function of a value and its name that checks it against choices."""
    return partial(check_choice, choices=choices)


@overload
def check_count(value, name: str, least: int = 1, *, most: int = _LARGEST_COUNT) -> int: ...
@overload
def check_count(
    value, name: str, least: int = 1, *, most: int = _LARGEST_COUNT, or_none: bool
) -> int | None: ...
def check_count(
    value, name: str, least: int = 1, *, most: int = _LARGEST_COUNT, or_none: bool = False
) -> int | None:
    """A whole number within bounds, or None where that is allowed."""
    if or_none and value is None:
        return None
    if not is_whole_number(value) or not least <= value <= most:
        bounds = f"from {least} up" if most == _LARGEST_COUNT else f"from {least} to {most}"
        none = "None or " if or_none else ""
        raise InputError(f"{name} must be {none}a whole number {bounds}, got {brief(value)}.")
    return int(value)


def check_counts(value, name: str, *, most: int = _LARGEST_COUNT) -> np.ndarray:
    """One whole number from 1, or several in a 1-D array."""
    counts = [value] if np.isscalar(value) else as_column(value, name, "count").tolist()
    if not counts:
        raise InputError(f"{name} is empty: expected a whole number or a 1-D array of them.")
    checked = [check_count(count, name, most=most) for count in counts]
    return np.array(checked, dtype=np.int64)

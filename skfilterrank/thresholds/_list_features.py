"""Features of a document from the scores of its whole list, for models of where lists end."""

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import as_number_array, check_scores
from skfilterrank._lists.queries import GroupIndex, check_groups
from skfilterrank.exceptions import InputError, brief

# Places below a document to which the difference of the scores is a feature.
GAPS = (1, 5, 20, 60)
_OF_DOCUMENT = ("score", "z", "min_max", "log_place", "ratio_to_first", "below_first")
_OF_LIST = ("first", "tenth", "hundredth", "last", "mean", "std", "log_size")
FEATURES = (*_OF_DOCUMENT, "running_mean", *(f"gap_{gap}" for gap in GAPS), *_OF_LIST)


def list_features(scores, *, groups=None, columns=None) -> pd.DataFrame:
    """Compute features of each document from the scores of its list.

    Parameters
    ----------
    scores : array-like of shape (n_rows,)
        Score of each row, higher is better; -inf where a document is hidden. A Series may carry
        the query ids in an index level named "qid".
    groups : array-like of shape (n_rows,), default=None
        Query id of each row.
    columns : DataFrame or array-like of shape (n_rows, n_columns), default=None
        Own features of the rows, which are appended as they are.

    Returns
    -------
    DataFrame of shape (n_rows, 18 + n_columns), float64
        One row for each row of `scores`, with its index where it has one. Hidden rows are no part
        of their list, and their features are NaN but for own columns. The notes of
        :class:`~skfilterrank.thresholds.LearnedThreshold` describe the features.

    Raises
    ------
    ValueError
        If scores are NaN or +inf, or if lengths differ.

    See Also
    --------
    skfilterrank.thresholds.LearnedThreshold : Learns from these features where lists end.

    Examples
    --------
    >>> from skfilterrank.thresholds._list_features import list_features
    >>> features = list_features([3.0, 1.0, 2.0, 5.0], groups=["a", "a", "a", "b"])
    >>> features[["score", "min_max", "below_first", "gap_1", "running_mean"]]
       score  min_max  below_first  gap_1  running_mean
    0    3.0      1.0          0.0    1.0           3.0
    1    1.0      0.0         -2.0    0.0           2.0
    2    2.0      0.5         -1.0    1.0           2.5
    3    5.0      0.0          0.0    0.0           5.0
    """
    row_index = scores.index if isinstance(scores, pd.Series) else None
    carrier = scores
    scores = check_scores(scores, name="scores").astype(np.float64)
    if not len(scores):
        raise InputError("scores is empty: expected at least one row.")
    index = check_groups(groups, carrier, n_rows=len(scores), carrier="scores as a pandas Series")
    names, own = own_columns(columns, len(scores))
    values = np.column_stack([feature_matrix(scores, index), own])
    return pd.DataFrame(values, columns=[*FEATURES, *names], index=row_index)


def own_columns(columns, n_rows) -> tuple[list, np.ndarray]:
    """Return names and checked float64 values of own columns; none where `columns` is None."""
    if columns is None:
        return [], np.empty((n_rows, 0))
    values = as_number_array(columns, "columns")
    if values is None:
        raise InputError("columns must hold numbers: encode text and categories as numbers first.")
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) != n_rows:
        raise InputError(
            f"columns has shape {values.shape}: expected one row for each of the {n_rows} scores."
        )
    given = getattr(columns, "columns", None)
    if given is None:
        names = [f"column_{place}" for place in range(values.shape[1])]
    else:
        names = [str(name) for name in given]
    known = [*FEATURES, *names]
    if twice := [name for place, name in enumerate(known) if name in known[:place]]:
        raise InputError(
            f"columns has the name {brief(twice[0])} twice, or as a feature of the list is "
            "named: rename it."
        )
    return names, values


def feature_matrix(scores: np.ndarray, index: GroupIndex) -> np.ndarray:
    """Compute the features of checked scores; NaN where a row scores -inf."""
    result = np.full((len(scores), len(FEATURES)), np.nan)
    for block in index.blocks():
        padded = index.take(scores, block, -np.inf)
        for column, values in enumerate(_of_block(padded)):
            # Columns of a matrix are written in place.
            index.put(result[:, column], block, values)
    return result


def _of_block(scores):
    """Yield each feature of some lists, shape (n_lists, width); NaN where the score is -inf.

    Sums run down each list, so that they do not depend on the lists beside it.
    """
    n_lists, width = scores.shape
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    places = np.arange(width)
    listed = ranked > -np.inf
    size = listed.sum(axis=1, keepdims=True)
    last = np.maximum(size - 1, 0)
    # An empty list has only NaN to give.
    ranked = np.where(listed, ranked, np.where(size > 0, np.take_along_axis(ranked, last, 1), 0.0))
    is_new = np.ones((n_lists, width), dtype=bool)
    is_new[:, 1:] = (ranked[:, 1:] != ranked[:, :-1]) | (places[1:] == size)
    above = np.maximum.accumulate(np.where(is_new, places, 0), axis=1)
    ends = np.append(is_new[:, 1:], np.ones((n_lists, 1), dtype=bool), axis=1)
    end = np.minimum.accumulate(np.where(ends, places, width)[:, ::-1], axis=1)[:, ::-1]

    def at(place):
        return np.take_along_axis(ranked, np.minimum(place, last), axis=1)

    def divided(values, by):
        return np.divide(values, by, out=np.zeros_like(ranked), where=by != 0)

    first = ranked[:, :1]
    # Differences to the first score keep sums of equal scores exact.
    with np.errstate(over="ignore", invalid="ignore"):
        below = ranked - first
        sums = np.cumsum(np.where(listed, below, 0.0), axis=1)
        n = np.maximum(size, 1)
        mean = sums[:, -1:] / n
        deviation = np.where(listed, below - mean, 0.0)
        std = np.sqrt(np.cumsum(deviation**2, axis=1)[:, -1:] / n)
        lowest = -below[np.arange(n_lists)[:, None], last]
        in_order = [
            ranked,
            divided(deviation, std),
            divided(below + lowest, lowest),
            np.log1p(above),
            divided(ranked, first),
            below,
            first + np.take_along_axis(sums, end, axis=1) / (end + 1.0),
            *(ranked - at(end + gap) for gap in GAPS),
            *(at(np.full((n_lists, 1), place)) for place in (0, 9, 99, width)),
            first + mean,
            std,
            np.log(n),
        ]
    for values in in_order:
        values = np.where(listed, values, np.nan)
        result = np.empty_like(values)
        np.put_along_axis(result, order, values, axis=1)
        yield result

"""Features of a document from the scores of its whole list, for models of where lists end."""

import numpy as np

from skfilterrank._lists.queries import GroupIndex

# Places below a document to which the difference of the scores is a feature.
GAPS = (1, 5, 20, 60)
_OF_DOCUMENT = ("score", "z", "min_max", "log_place", "ratio_to_first", "below_first")
_OF_LIST = ("first", "tenth", "hundredth", "last", "mean", "std", "log_size")
FEATURES = (*_OF_DOCUMENT, "running_mean", *(f"gap_{gap}" for gap in GAPS), *_OF_LIST)


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

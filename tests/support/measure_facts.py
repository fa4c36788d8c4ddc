"""Facts that the library keeps for every measure, whatever its function is: for random rows."""

import numpy as np
import pandas as pd

from measure_checks import same, score
from skfilterrank._lists.scoring import OVER_QUERIES


def check_names_of_queries(measure, rows):
    """Queries may have any names, numbers or texts; values come in the order of the names."""
    expected = score(measure, rows)
    # "q0", "q1", "q10", ...: sorted as text they come in another order.
    for names in (np.array([f"q{query}" for query in rows.groups]), -1000 - 7 * rows.groups):
        _, first = np.unique(names, return_index=True)
        for given in (names, names.tolist()):
            same(score(measure, rows, groups=given), expected[rows.groups[first]])


def check_names_of_documents(measure, rows):
    """Document ids break ties by their order alone, numbers or texts."""
    expected = score(measure, rows, ties=rows.ids)
    same(score(measure, rows, ties=3 * rows.ids - 50), expected)
    same(score(measure, rows, ties=[f"d{document:05d}" for document in rows.ids]), expected)


def check_query_ids_in_the_index(measure, rows):
    """Query ids may stand in an index level "qid"."""
    expected = score(measure, rows)
    y_true = pd.Series(rows.y_true, index=pd.Index(rows.groups, name="qid"))
    same(score(measure, rows, y_true=y_true, groups=None), expected)
    both = pd.MultiIndex.from_arrays([rows.ids, rows.groups], names=["docno", "qid"])
    joined = {"y_true": y_true.set_axis(both), "y_score": pd.Series(rows.y_score, index=both)}
    same(score(measure, rows, **joined, groups=None), expected)


def check_types_of_scores(measure, rows):
    """Scores may be of any type of numbers, in any container."""
    expected = score(measure, rows)
    for dtype in (np.float16, np.float32, np.longdouble, object):
        same(score(measure, rows, y_score=rows.y_score.astype(dtype)), expected)
    for container in (list, tuple, pd.Series, lambda scores: np.array(scores)[:, None]):
        same(score(measure, rows, y_score=container(rows.y_score)), expected)
    # Without -inf; the shorter lists of a block must not be padded with a real score.
    whole = rows.y_score > 0
    expected = score(measure, rows, y_score=whole.astype(float))
    for dtype in (np.int8, np.uint8, np.int64, bool):
        same(score(measure, rows, y_score=whole.astype(dtype)), expected)


def check_mean(measure, rows):
    """The mean, or what the table says there is instead, is that of the values per query."""
    values = score(measure, rows)
    over_queries = OVER_QUERIES[measure.measure.over_queries]
    given = {"groups": rows.groups, "undefined": "drop"}
    if measure.measure.takes_k and measure.k is None:
        given["k"] = rows.k
    mean = measure(rows.y_true, rows.y_score, **given)
    assert isinstance(mean, float), f"the mean must be a float, got {type(mean).__name__}"
    same(mean, over_queries(values))
    filled = np.where(np.isnan(values), 0.25, values)
    same(score(measure, rows, undefined=0.25), filled)
    mean = measure(rows.y_true, rows.y_score, **given | {"undefined": 0.25})
    same(mean, over_queries(filled))


def check_gains_of_labels(measure, rows):
    """Labels may be words that have gains, and gains a function of labels."""
    expected = score(measure, rows)
    words = {label: f"label {label}" for label in np.unique(rows.y_true[~np.isnan(rows.y_true)])}
    labels = pd.Series(rows.y_true).map(words)
    same(score(measure, rows, y_true=labels, gains={words[x]: x for x in words}), expected)
    exp2 = np.where(rows.y_true > 0, 2**rows.y_true - 1, rows.y_true)
    same(score(measure, rows, gains="exp2"), score(measure, rows, y_true=exp2))


def check_nothing_is_written_to(measure, rows):
    """Arrays of the caller stay as they are, and may be read-only."""
    arrays = [array.copy() for array in (rows.y_true, rows.y_score, rows.groups, rows.ids)]
    for array in arrays:
        array.flags.writeable = False
    given = dict(zip(("y_true", "y_score", "groups", "ties"), arrays))
    for unjudged in ("zero", "drop"):
        score(measure, rows, unjudged=unjudged, **given)
    for array, before in zip(arrays, (rows.y_true, rows.y_score, rows.groups, rows.ids)):
        np.testing.assert_array_equal(array, before)


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]

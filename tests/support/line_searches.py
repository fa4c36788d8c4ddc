"""Line searches of coordinate ascent, checked against the measures themselves."""

import numpy as np
import pytest
from hypothesis import strategies as st

from skfilterrank._lists.queries import GroupIndex
from skfilterrank.metrics import get_measure
from skfilterrank.ranking._coordinate_ascent import Objective
from skfilterrank.ranking._line_search import LineSearch

ANY_GAINS = ["dcg", "dcg@2", "ndcg_f", "ndcg_f@2", "ndcg_min@3", "ndcg@2", "ndcg_0@2"]
RELEVANT = [
    "ap",
    "ap@2",
    "ap(normalize=min)@2",
    "ap(normalize=k)@3",
    "sp@3",
    "rr",
    "rr@2",
    "success@2",
    "precision@2",
    "recall@3",
    "r_precision",
    "rbp",
    "rbp(persistence=0.5)@3",
    "forbidden@2",
    "bpref",
    "bpref(variant=buckley2004)",
    "bpref(variant=printed)",
    "induced_ap",
    "induced_ap@2",
    "inferred_ap",
    "tse",
    "f@3",
    "f(beta=2)@5",
    "tse(exposure=rbp,persistence=0.7)",
    "search_length",
    "recall_error",
    "lexirecall(scale=share)",
    "lexirecall(n_items=30,scale=share)",
    "lexiprecision(scale=share)",
    "lexiprecision(n_items=30,scale=share)",
    "metric_lexirecall",
    "metric_lexirecall(n_items=30,epsilon=0.2)",
]
NOT_NEGATIVE = [
    "ul_normalized@2",
    "ul_normalized(variant=v1)@3",
    "ul_normalized(measure=ap)",
    "ul_normalized(measure=sp)@2",
    "ul_normalized(measure=sp,expectation=paper,variant=v1)@2",
    "ul_normalized(measure=rr)",
    "ul_normalized(measure=ndcg)@2",
]
GRADED = ["rbp(relevance=graded)@3"]
EXACT = ANY_GAINS + RELEVANT + NOT_NEGATIVE + GRADED
THRESHOLDED = [
    *ANY_GAINS,
    *("precision@2", "recall@3", "r_precision", "rbp", "rbp(persistence=0.5)@3"),
]


def allowed_gains(name):
    if name in NOT_NEGATIVE:
        return [0.0, 1.0, 3.0]
    return [-0.5, 0.0, 0.25, 1.0] if name in GRADED else [-2.0, -0.5, 0.0, 1.0, 3.0]


def draw_lists(data, name):
    """Some queries whose documents often share score, feature, or both."""
    n = data.draw(st.integers(1, 12))
    column = st.lists(st.integers(-3, 3), min_size=n, max_size=n).map(
        lambda values: np.array(values, dtype=float)
    )
    gains = data.draw(
        st.lists(st.sampled_from(allowed_gains(name)), min_size=n, max_size=n).map(np.array)
    )
    groups = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return gains, data.draw(column), data.draw(column), GroupIndex.from_groups(groups)


def make_search(gains, index, name):
    objective = Objective(get_measure(name), gains, index)
    terms = objective.as_sum()
    return objective, LineSearch(terms, gains, index, objective.sign)


def points_between(crossings):
    """A point between any two neighbouring crossings, and beyond the outermost."""
    crossings = np.unique(crossings)
    if not len(crossings):
        return np.array([1.0])
    middle = (crossings[1:] + crossings[:-1])[np.diff(crossings) > 1e-9] / 2
    return np.concatenate([[crossings[0] - 1], middle, [crossings[-1] + 1]])


def all_crossings(scores, feature, index, threshold):
    """Every t at which two documents of a query, or a document and the threshold, are equal."""
    codes, found = index.codes(), []
    for i in range(len(scores)):
        if threshold is not None and feature[i]:
            found.append((threshold - scores[i]) / feature[i])
        for j in range(i):
            if codes[i] == codes[j] and feature[i] != feature[j]:
                found.append((scores[i] - scores[j]) / (feature[j] - feature[i]))
    return np.array(found)


def at_all(name, gains, index, scores, threshold):
    """The objective of each row of scores: in one call, in which each has its own queries."""
    n = len(scores)
    apart = np.add.outer(np.arange(n) * index.n_queries, index.codes()).ravel()
    objective = Objective(get_measure(name), np.tile(gains, n), GroupIndex.from_groups(apart))
    values = objective.per_query(scores.ravel(), threshold).reshape(n, -1)
    return objective.sign * np.nan_to_num(values, nan=0.0).mean(axis=1)


def check_steps(data, name, threshold):
    gains, scores, feature, index = draw_lists(data, name)
    objective, search = make_search(gains, index, name)
    if threshold is not None:
        threshold = data.draw(st.integers(-3, 3)) + data.draw(st.sampled_from([0.0, 0.5]))
    points = points_between(all_crossings(scores, feature, index, threshold))
    expected = at_all(name, gains, index, scores + np.outer(points, feature), threshold)
    steps = search.steps(scores, feature, threshold)
    assert (np.diff(steps.times) >= 0).all()
    reached = np.append(0.0, np.cumsum(steps.changes))[np.searchsorted(steps.times, points)]
    np.testing.assert_allclose(reached - reached[0], expected - expected[0], atol=1e-9)
    check_best(objective, search, (scores, feature, threshold), expected.max())


def check_best(objective, search, line, best_of_points):
    """The best of all points is found; t = 0 stands for the two intervals beside it as well.

    Documents that are equal at 0 may be apart beside it, in any direction, so that the value there
    is higher. Where it is the same on both sides the search sees no step, and stays.
    """
    scores, feature, threshold = line
    t = search.best(scores, feature, threshold, 1.0)
    now = objective(scores, threshold)
    # Of whole numbers up to 3, and thresholds between, no crossing is nearer to 0 than 1 / 6.
    beside = [t] if t else [-0.1, 0.1]
    found = max(now, *(objective(scores + each * feature, threshold) for each in beside))
    assert found == pytest.approx(max(best_of_points, now), abs=1e-9)

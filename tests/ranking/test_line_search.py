"""The line search of coordinate ascent: steps of the measure, and the best of them."""

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from feature_rankers import history
from line_searches import (
    EXACT,
    THRESHOLDED,
    all_crossings,
    check_steps,
    make_search,
    points_between,
)
from profiles import times
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.metrics import err_score
from skfilterrank.ranking import CoordinateAscentRanker
from skfilterrank.ranking import _line_search as line_search
from skfilterrank.ranking._coordinate_ascent import Objective
from skfilterrank.ranking._line_search import CandidateSearch, LineSteps, best_time, between
from thinned import thinned


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(EXACT))
@times(1 / 3)  # of each of many measures
@given(data=st.data())
def test_steps_are_those_of_the_measure(name, data):
    check_steps(data, name, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", THRESHOLDED)
@times(1 / 3)  # of each of many measures
@given(data=st.data())
def test_steps_with_a_threshold(name, data):
    check_steps(data, name, "drawn")


def test_steps_by_hand():
    # Gains 1 and 0 with scores 0 and 1, features 1 and 0: they cross at t = 1.
    index = GroupIndex.from_groups(["q", "q"])
    _, search = make_search(np.array([1.0, 0.0]), index, "ndcg_f")
    steps = search.steps(np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    np.testing.assert_allclose(steps.times, [1.0])
    np.testing.assert_allclose(steps.changes, [1 - 1 / log2(3)])
    assert search.best(np.array([0.0, 1.0]), np.array([1.0, 0.0]), None, 0.5) == pytest.approx(1.5)
    # With a threshold of 0.5 the good document appears, in second place, at t = 0.5.
    steps = search.steps(np.array([0.0, 1.0]), np.array([1.0, 0.0]), 0.5)
    np.testing.assert_allclose(steps.times, [0.5, 1.0])
    np.testing.assert_allclose(steps.changes, [1 / log2(3), 1 - 1 / log2(3)])


@pytest.mark.parametrize("name", ["ndcg_f@3", "ap", "ul_normalized@3"])
def test_blocks_do_not_matter(name, monkeypatch):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 20, 300)
    gains = rng.choice([0.0, 1.0, 2.0], 300)
    scores, feature = rng.normal(size=(2, 300)).round(1)
    index = GroupIndex.from_groups(groups)
    whole = make_search(gains, index, name)[1].steps(scores, feature)
    monkeypatch.setattr(line_search, "_BLOCK_CELLS", 40)
    monkeypatch.setattr(line_search, "_CROSSING_CELLS", 50)
    small = make_search(gains, index, name)[1].steps(scores, feature)
    np.testing.assert_array_equal(small.times, whole.times)
    np.testing.assert_allclose(np.cumsum(small.changes), np.cumsum(whole.changes), atol=1e-12)


def test_best_time():
    def best(times, changes, penalty=0.0):
        return best_time(LineSteps(np.array(times), np.array(changes)), 0.5, penalty)

    assert best([], []) == 0
    assert best([1.0, 3.0], [1.0, -1.0]) == 2
    assert best([-3.0, -1.0], [1.0, -1.0]) == -2
    assert best([1.0], [1.0]) == 1.5
    assert best([-1.0], [-1.0]) == -1.5
    # As good where it is.
    assert best([-1.0, 1.0, 3.0, 5.0], [1.0, -1.0, 1.0, -1.0]) == 0
    # The nearer of two.
    assert best([1.0, 2.0, 3.0, 5.0], [1.0, -1.0, 1.0, -1.0]) == 1.5
    assert best([-5.0, -3.0, -2.0, -1.0], [1.0, -1.0, 1.0, -1.0]) == -1.5
    # 0.1 for each 0.5, and steps of 1.5 and 4: the first gains 1 - 0.3, the other 1.3 - 0.8.
    assert best([1.0, 2.0, 3.0, 5.0], [1.0, -1.0, 1.3, -1.3], 0.1) == 1.5
    assert best([1.0, 2.0, 3.0, 5.0], [1.0, -1.0, 1.3, -1.3], 0.01) == 4
    # Too short for rounding.
    assert best([1.0, 1.0 + 1e-13, 2.0, 4.0], [9.0, -9.0, 1.0, -1.0]) == 3
    np.testing.assert_array_equal(
        between(np.array([1.0, 2.0, 5.0]), np.arange(4), 7.0), [-6, 1.5, 3.5, 12]
    )


@pytest.mark.parametrize("side", [1, -1])
def test_the_penalty_is_that_of_the_step_taken(side):
    def best(times, changes, penalty):
        changes = np.array(changes)
        steps = LineSteps(np.array(times), changes)
        if side < 0:
            steps = LineSteps(-steps.times[::-1], -changes[::-1])
        return side * best_time(steps, 1.0, penalty)

    # The middle, 2.55, costs 0.255 at 0.1 for each 1, and gains 0.05.
    assert best([0.1, 5.0], [0.05, -0.01], 0.1) == 0
    assert best([0.1, 5.0], [0.05, -0.01], 0.0196) == pytest.approx(2.55)
    assert best([0.1, 5.0], [0.05, -0.01], 0.0197) == 0
    # Beyond the outermost crossing the step is 3 + 1.
    assert best([3.0], [1.0], 0.249) == 4
    assert best([3.0], [1.0], 0.251) == 0
    # Two documents that are equal now: there is no staying, and the shorter step wins.
    assert best([0.0, 2.0, 3.0], [1.0, 0.1, -1.0], 0.01) == pytest.approx(2.5)
    assert best([0.0, 2.0, 3.0], [1.0, 0.1, -1.0], 0.1) == pytest.approx(1.0)
    # Crossings beyond what can be charged.
    assert best([-1.0, 1e300], [-1.0, 1.0], 1e20) == 0


def test_extreme_scores_and_features():
    rng = np.random.default_rng(0)
    gains = rng.choice([-1.0, 0.0, 2.0], 40)
    index = GroupIndex.from_groups(np.repeat(np.arange(4), 10))
    objective, search = make_search(gains, index, "ndcg_f@3")
    scores, feature = rng.normal(size=(2, 40))
    expected = objective(scores + search.best(scores, feature, None, 1.0) * feature)
    for factor in (1e-200, 1e200):
        t = search.best(scores, feature * factor, None, 1.0 / factor)
        assert objective(scores + t * feature * factor) == pytest.approx(expected)
    # Crossings beyond the range of float64.
    feature[:20] *= 1e-308
    t = search.best(scores * 1e100, feature, None, 1.0)
    assert np.isfinite(t)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["err", "q_measure@3", "qwa", "lexirecall"])
def test_candidates_never_lose_and_find_the_best_of_few(name, monkeypatch):
    rng = np.random.default_rng(0)
    for _ in thinned(range(10)):
        gains = rng.choice([0.0, 1.0, 2.0], 6)
        scores, feature = rng.normal(size=(2, 6))
        index = GroupIndex.from_groups(np.zeros(6))
        objective = Objective(parse_measure(name), gains, index)
        assert objective.as_sum() is None
        points = points_between(all_crossings(scores, feature, index, None))
        best = max(objective(scores + t * feature) for t in points)
        # As many candidates as there are intervals.
        monkeypatch.setattr(line_search, "_N_CANDIDATES", 16)
        t = CandidateSearch(objective).best(scores, feature, None, 1.0)
        assert objective(scores + t * feature) == pytest.approx(best)
        monkeypatch.setattr(line_search, "_N_CANDIDATES", 2)
        t = CandidateSearch(objective).best(scores, feature, None, 1.0)
        assert objective(scores + t * feature) >= objective(scores)


def test_candidates_are_searched_twice(monkeypatch):
    # Document 0 crosses the others at t = 1, 2, ..., 64; the best interval is around 39.5.
    scores, feature = np.arange(65.0), np.append(1.0, np.zeros(64))
    gains = np.append(1.0, np.zeros(64))

    class Slope:
        """Rises towards a score of 39.5 of the first document."""

        index, parsed = GroupIndex.from_groups(np.zeros(65)), parse_measure("err")

        def __call__(self, scores, threshold=None):
            return -abs(scores[0] - 39.5)

    objective = Slope()
    objective.gains = gains
    # First at 0, 8, ..., 64 crossings passed, then at the 16 between the neighbours of the best.
    search = CandidateSearch(objective)
    monkeypatch.setattr(line_search, "_N_CANDIDATES", 9)
    assert search.best(scores, feature, None, 1.0) == pytest.approx(39.5, abs=1.0)
    # A second pass of 17 sees each of the 16.
    monkeypatch.setattr(line_search, "_N_CANDIDATES", 17)
    assert search.best(scores, feature, None, 1.0) == pytest.approx(39.5)


def test_candidates_pay_for_their_steps():
    # Documents of gain 1 and 0 cross at t = 1; beyond is t = 2, which reciprocal-like err gains.
    gains, index = np.array([1.0, 0.0]), GroupIndex.from_groups(["q", "q"])
    objective = Objective(parse_measure("err"), gains, index)
    scores, feature = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    gain = objective(scores + 2 * feature) - objective(scores)
    assert gain > 0
    for penalty, expected in ((0.49 * gain, 2.0), (0.51 * gain, 0.0)):
        search = CandidateSearch(objective, penalty)
        assert search.best(scores, feature, None, 1.0) == expected
        # The other way round the step is as long.
        assert search.best(scores, -feature, None, 1.0) == -expected


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    y = np.clip(np.round(X.sum(axis=1) / 2 + rng.normal(size=1200)), -1, 2)
    return X, y, np.repeat(np.arange(30), 40)


@pytest.mark.parametrize("params", [{"measure": "ap"}, {"measure": "ndcg_f", "filter": True}])
def test_limit_of_crossings(judged, params, monkeypatch):
    X, y, groups = judged
    ranker = CoordinateAscentRanker(**params, max_iter=2, random_state=0)
    exact = clone(ranker).fit(X, y, groups)
    monkeypatch.setattr(line_search, "_MOST_PER_ROW", 1)
    limited = ranker.fit(X, y, groups)
    assert (exact.coef_ != limited.coef_).any()
    assert (np.diff(history(limited)) >= 0).all()
    assert history(limited)[0] < limited.best_score_ <= exact.best_score_ + 0.01
    if params["measure"] == "ap":
        assert limited.best_score_ > 0.98 * exact.best_score_


def test_some_documents_stand_for_all(monkeypatch):
    rng = np.random.default_rng(0)
    gains, scores, feature = rng.choice([0.0, 1.0, 2.0], 400), *rng.normal(size=(2, 400))
    groups = np.repeat([0, 1], 200)
    objective = Objective(parse_measure("err"), gains, GroupIndex.from_groups(groups))
    monkeypatch.setattr(line_search, "_ENOUGH", 5000)
    every = CandidateSearch(objective)
    monkeypatch.setattr(line_search, "_MOST_PER_ROW", 9)
    some = CandidateSearch(objective)
    n_crossings = [len(each._search.steps(scores, feature).times) for each in (some, every)]
    assert 4000 < n_crossings[0] <= 5000 < n_crossings[1]
    reached = [
        err_score(gains, scores + each.best(scores, feature, None, 1.0) * feature, groups=groups)
        for each in (some, every)
    ]
    assert reached[0] > 0.95 * reached[1]

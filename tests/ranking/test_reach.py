"""Which documents of long queries matter to the line search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from line_searches import EXACT, THRESHOLDED, check_steps, make_search
from profiles import times
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.metrics import err_score
from skfilterrank.ranking import CoordinateAscentRanker
from skfilterrank.ranking._coordinate_ascent import candidates, line_search, reach
from skfilterrank.ranking._coordinate_ascent.candidates import CandidateSearch
from skfilterrank.ranking._coordinate_ascent.objective import Objective
from skfilterrank.ranking._coordinate_ascent.reach import stretches
from thinned import thinned

pytestmark = pytest.mark.slow

CUT_OFF = [name for name in EXACT if "@" in name]


def history(ranker):
    (values,) = ranker.evals_result_["train"].values()
    return np.array(values)


@pytest.fixture
def all_long(monkeypatch):
    """Every query is a long one, and its line is cut as often as can be."""
    monkeypatch.setattr(line_search, "_LONG", 0)
    monkeypatch.setattr(line_search, "_LONG_TIMES", 0)
    monkeypatch.setattr(reach, "_PER_PLACE", 1)
    monkeypatch.setattr(reach, "_FEW", 1)


@pytest.mark.usefixtures("all_long")
@pytest.mark.parametrize("name", thinned(CUT_OFF))
@times(1 / 3)  # of each of many measures, and long lists
@given(data=st.data())
def test_steps_are_those_of_the_measure(name, data):
    check_steps(data, name, None)


@pytest.mark.usefixtures("all_long")
@pytest.mark.parametrize("name", thinned(name for name in THRESHOLDED if "@" in name))
@times(1 / 3)  # of each of many measures, and long lists
@given(data=st.data())
def test_steps_with_a_threshold(name, data):
    check_steps(data, name, "drawn")


def draw(shape, n, rng):
    """Scores and features: a cloud, one with outliers, few values, or all on an arc."""
    if shape == "arc":
        angle = rng.uniform(0, np.pi, n)
        return np.sin(angle), np.cos(angle)
    scores, feature = rng.normal(size=(2, n))
    if shape == "outliers":
        feature = np.exp(5 * feature)
    if shape == "few values":
        feature = rng.integers(0, 3, n).astype(float)
    return scores, feature


SHAPES = ["cloud", "outliers", "few values", "arc"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("name", "threshold"),
    [
        ("ndcg_f@3", 0.5),
        *((name, None) for name in ("ndcg_f@3", "ap@10", "success@1", "ul_normalized@2", "rbp@9")),
    ],
)
def test_steps_are_those_of_all_pairs(shape, name, threshold, monkeypatch):
    rng = np.random.default_rng(len(name))
    gains = rng.choice([0.0, 1.0, 3.0], 900)
    scores, feature = draw(shape, 900, rng)
    index = GroupIndex.from_groups(np.repeat([0, 1, 2], [400, 30, 470]))
    _, search = make_search(gains, index, name)
    assert len(search._long) == 2
    found = search.steps(scores, feature, threshold)
    monkeypatch.setattr(line_search, "_LONG", 1000)
    expected = make_search(gains, index, name)[1].steps(scores, feature, threshold)
    one, other = (np.lexsort((each.changes, each.times)) for each in (found, expected))
    np.testing.assert_array_equal(found.times[one], expected.times[other])
    # Those of ul_normalized are differences of running sums.
    np.testing.assert_allclose(found.changes[one], expected.changes[other], atol=1e-14)
    if not name.startswith("ul_normalized"):
        np.testing.assert_array_equal(found.changes[one], expected.changes[other])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("factor", [1.0, 1e-60, 1e60])
def test_few_documents_are_left(shape, factor):
    rng = np.random.default_rng(0)
    for n in (1000, 16_000):
        scores, feature = draw(shape, n, rng)
        found = list(stretches(scores * factor, feature, 5))
        assert found[0].begin == -np.inf
        assert found[-1].end == np.inf
        assert [each.end for each in found[:-1]] == [each.begin for each in found[1:]]
        assert max(len(each.members) for each in found) <= 100
        # Twice as many documents on the arc are twice as many stretches.
        assert sum(len(each.members) for each in found) <= (8 * n if shape == "arc" else 2000)


def test_extreme_sizes_are_not_cut():
    values = np.arange(1000.0)
    for scores, feature in (
        (values * 1e200, values),
        (values, values * 1e-200),
        (values, 0 * values),
    ):
        (stretch,) = stretches(scores, feature, 3)
        assert stretch[:2] == (-np.inf, np.inf)
        assert len(stretch.members) == 1000


# --- more crossings than are looked at ----------------------------------------------------------


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    y = np.clip(np.round(X.sum(axis=1) / 2 + rng.normal(size=1200)), -1, 2)
    return X, y, np.repeat(np.arange(30), 40)


@pytest.mark.parametrize("params", [{"measure": "ap"}, {"measure": "ndcg_f", "filter": True}])
def test_limit_of_crossings(judged, params):
    X, y, groups = judged
    exact, limited, none = (
        CoordinateAscentRanker(**params, max_iter=2, random_state=0, **limit).fit(X, y, groups)
        for limit in ({}, {"max_crossings": 1}, {"max_crossings": None})
    )
    np.testing.assert_array_equal(exact.coef_, none.coef_)
    assert (exact.coef_ != limited.coef_).any()
    assert (np.diff(history(limited)) >= 0).all()
    assert history(limited)[0] < limited.best_score_ <= exact.best_score_ + 0.01
    if params["measure"] == "ap":
        assert limited.best_score_ > 0.98 * exact.best_score_


@pytest.mark.parametrize("limit", [0, -1, 1.5, "all"])
def test_bad_limit(judged, limit):
    X, y, groups = judged
    with pytest.raises(ValueError, match="max_crossings"):
        CoordinateAscentRanker(max_crossings=limit).fit(X, y, groups)


def test_some_documents_stand_for_all(monkeypatch):
    rng = np.random.default_rng(0)
    gains, scores, feature = rng.choice([0.0, 1.0, 2.0], 400), *rng.normal(size=(2, 400))
    groups = np.repeat([0, 1], 200)
    objective = Objective(parse_measure("err"), gains, GroupIndex.from_groups(groups))
    monkeypatch.setattr(candidates, "_ENOUGH", 5000)
    some, every = CandidateSearch(objective, 16, max_crossings=9), CandidateSearch(objective, 16)
    n_crossings = [len(each._search.steps(scores, feature).times) for each in (some, every)]
    assert 4000 < n_crossings[0] <= 5000 < n_crossings[1]
    reached = [
        err_score(gains, scores + each.best(scores, feature, None, 1.0) * feature, groups=groups)
        for each in (some, every)
    ]
    assert reached[0] > 0.95 * reached[1]

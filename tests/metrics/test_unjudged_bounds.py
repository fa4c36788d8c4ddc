"""Bounds over the unjudged against every way to judge them."""

from itertools import product
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measure_table import MEASURES
from profiles import times
from reference import NONNEGATIVE
from skfilterrank._lists.measure_names import known_measure
from skfilterrank.metrics import evaluate, rbp_score, unjudged_bounds
from thinned import thinned

NAMES = [name for name, entry in MEASURES.items() if not entry.columns]
NAMES = sorted([*NAMES, "ap(normalize=found)", "ap(normalize=min)"])


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(NAMES, parts=2))
@times(0.4)
@given(st.data())
def test_every_way_to_judge(name, data):
    entry = known_measure(name)
    least = 0.0 if entry.name in NONNEGATIVE else -1.0
    if entry.takes_k:
        name += data.draw(st.sampled_from(["", "@2"]), label="cut-off")
    label = st.sampled_from([nan, nan, least, 0.0, 1.0])
    row = st.tuples(st.integers(0, 2), label, st.sampled_from([-inf, 1.0, 2.0, 3.0, 4.0]))
    drawn = data.draw(st.lists(row, min_size=1, max_size=8), label="queries, labels, scores")
    groups, gains, scores = np.array(drawn).T
    how = {"low": least, "high": 1.0}
    found = unjudged_bounds(gains, scores, name, groups=groups, **how)
    unknown = np.isnan(gains)
    ways = np.array(list(product([least, 1.0], repeat=unknown.sum())))
    labels = np.tile(gains, (len(ways), 1))
    labels[:, unknown] = ways
    # The same queries once more for each way, with ids of their own.
    each = np.add.outer(np.arange(0, 3 * len(ways), 3), groups).ravel()
    everywhere = np.tile(scores, len(ways))
    values = evaluate(labels.ravel(), everywhere, name, groups=each).per_query.to_numpy()
    values = values.reshape(len(ways), -1)
    np.testing.assert_allclose(found.least, values.min(axis=0), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.most, values.max(axis=0), rtol=1e-6, atol=1e-9)


def test_documents_below_the_cut_need_not_be_relevant():
    """1 and 3 relevant: (1/1 + 2/3) / 2; the fourth has no influence."""
    found = unjudged_bounds(
        [1, nan, nan, nan], [4, 3, 2, 1], "context_precision@3", groups=["q"] * 4, low=0, high=1
    )
    assert (found.least[0], found.most[0]) == (pytest.approx(5 / 6), 1)


def test_residual_of_rbp():
    y_true, y_score, groups = [1, nan, 0, nan], [4, 3, 2, 1], ["q"] * 4
    found = unjudged_bounds(y_true, y_score, "rbp(persistence=0.5)", groups=groups)
    assert found.least[0] == rbp_score(y_true, y_score, groups=groups, persistence=0.5)
    assert found.most[0] - found.least[0] == pytest.approx(0.5 * (0.5 + 0.5**3))
    assert found.n_unjudged.tolist() == [2]


def test_means_ids_and_order_of_queries():
    y_true, y_score = [nan, 1, nan, 0], [1, 1, 2, 1]
    groups = ["b", "b", "a", "a"]
    found = unjudged_bounds(y_true, y_score, "rr", groups=groups, ties=["x", "y", "x", "y"])
    assert found.to_frame().index.tolist() == ["a", "b"]
    assert found.least.tolist() == [0, 1]
    assert found.most.tolist() == [1, 1]
    assert (found.mean_least, found.mean_most) == (0.5, 1.0)


def test_sums_and_geometric_means_over_queries():
    # Two queries: of the first the one document that is shown is relevant, the next is unjudged.
    given = {"y_true": [1, nan, nan, 1], "y_score": [2, 1, 2, 1], "groups": list("aabb")}
    found = unjudged_bounds(measure="num_rel", **given)
    assert (found.least.tolist(), found.most.tolist()) == ([1, 1], [2, 2])
    assert (found.mean_least, found.mean_most) == (2, 4)
    # AP of the second is 1/2, or 1.
    found = unjudged_bounds(measure="gm_map", **given)
    assert (found.mean_least, found.mean_most) == pytest.approx((0.5**0.5, 1.0))


def test_ap_divided_by_at_most_the_cut_off():
    # Least: two good documents below the cut, 1/2 over 3. Most: one at place 3, over 2.
    given = {"y_true": [0, 1, nan, nan, nan], "y_score": [5, 4, 3, 2, 1], "groups": ["q"] * 5}
    found = unjudged_bounds(measure="ap(normalize=min)@3", **given)
    assert (found.least[0], found.most[0]) == pytest.approx((1 / 6, (1 / 2 + 2 / 3) / 2))


def test_documents_that_are_filtered_are_unjudged_as_well():
    found = unjudged_bounds([1, nan, nan, 0], [1, -inf, 1, -inf], "ap", groups=list("aaab"))
    assert found.n_unjudged.tolist() == [2, 0]


def test_the_lowest_gain_of_the_data_is_the_least_of_an_unjudged_document():
    # Shown alone, the unjudged document adds its own gain.
    found = unjudged_bounds([nan, 1, -1], [1, -inf, -inf], "dcg", groups=["q"] * 3)
    assert (found.least.tolist(), found.most.tolist()) == ([-1], [1])
    found = unjudged_bounds([nan, 1, 0], [1, -inf, -inf], "dcg", groups=["q"] * 3)
    assert (found.least.tolist(), found.most.tolist()) == ([0], [1])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"low": 1, "high": 1}, "low must be below high"),
        ({"undefined": "drop"}, "undefined must be a number"),
        ({"measure": "app"}, "is not a measure"),
    ],
)
def test_errors(params, message):
    with pytest.raises(ValueError, match=message):
        unjudged_bounds([1, nan], [2, 1], **({"measure": "ap", "groups": ["q", "q"]} | params))


def test_gains_of_its_own():
    y_true, y_score, groups = [2, nan, 1], [1, 2, 3], ["q"] * 3
    found = unjudged_bounds(y_true, y_score, "rr(rel=2)", groups=groups)
    assert (found.least.tolist(), found.most.tolist()) == ([1 / 3], [1 / 2])


FEW = (
    *("ap", "ap@20", "ap(rel=2)", "dcg", "err", "f@20", "false_reject_rate", "gm_map"),
    *("induced_ap", "judged", "ndcg", "ndcg_0@20", "ndcg_f", "ndcg_min", "num_rel", "precision"),
    *("r_precision", "rbp", "recall@20", "rr", "set_map", "sp", "success"),
)


@pytest.mark.parametrize("name", FEW)
def test_few_ways_to_judge_a_long_list_are_measured(name, monkeypatch):
    """Their number does not grow with the list: else the time grows with its square."""
    rng = np.random.default_rng(0)
    gains = rng.choice([nan, -1.0, 0.0, 1.0, 2.0], 500, p=[0.6, *4 * [0.1]])
    measured = []

    class Counted(type(known_measure(name))):
        def __call__(self, labels, *rest, **how):
            measured.append(len(labels) // len(gains))
            return super().__call__(labels, *rest, **how)

    monkeypatch.setattr(known_measure(name), "__class__", Counted)
    unjudged_bounds(gains, rng.integers(0, 200, 500), name, groups=np.zeros(500))
    assert sum(measured) <= 60


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        *("ap", "ap@5", "ap(normalize=min)@5", "ap(normalize=k)@5", "rbp", "ndcg", "ndcg_0@5"),
        *("ndcg_min", "ndcg_f", "ndcg_f@5", "recall@5", "f(beta=2)@5", "r_precision", "set_map"),
    ],
)
@pytest.mark.parametrize("n_scores", [6, 10**9], ids=["ties", "no ties"])
def test_bounds_are_those_of_all_numbers(name, n_scores):
    rng = np.random.default_rng(0)
    for _ in range(4):
        gains = rng.choice([nan, 0.0, 1.0], 25, p=[0.5, 0.25, 0.25])
        scores = np.where(rng.random(25) < 0.1, -inf, rng.integers(0, n_scores, 25))
        order = np.argsort(-scores, kind="stable")
        rows = order[np.isnan(gains[order])]
        ways = [gains.copy() for _ in range(2 * len(rows) + 2)]
        for number in range(len(rows) + 1):
            for way, good in ((0, rows[:number]), (1, rows[len(rows) - number :])):
                ways[2 * number + way][rows] = 0.0
                ways[2 * number + way][good] = 1.0
        groups = np.repeat(np.arange(len(ways)), 25)
        everywhere = np.tile(scores, len(ways))
        values = evaluate(np.concatenate(ways), everywhere, name, groups=groups).per_query
        found = unjudged_bounds(gains, scores, name, groups=np.zeros(25))
        assert found.least[0] == pytest.approx(values.to_numpy().min(), abs=1e-12)
        assert found.most[0] == pytest.approx(values.to_numpy().max(), abs=1e-12)

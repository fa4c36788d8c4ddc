"""Number of topics that a difference needs."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skfilterrank.comparison import SystemScores, topic_set_size


def pilot(n_systems=4, n_queries=25, *, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n_systems, n_queries)) + 2 * rng.normal(size=n_queries)
    return SystemScores(values, systems=list("abcdefgh")[:n_systems])


class TestPaired:
    def test_well_known_sizes(self):
        # Small, medium and large effects in Cohen's words, alpha 0.05, power 0.8.
        sizes = [topic_set_size(difference=d, variance=1.0).n_queries for d in (0.2, 0.5, 0.8)]
        assert sizes == [199, 34, 15]

    def test_smallest(self):
        found = topic_set_size(difference=0.1, variance=0.05)
        power = dict(zip(found.sizes.tolist(), found.powers))
        assert power[found.n_queries - 1] < 0.8 <= power[found.n_queries]

    def test_variance_of_the_pilot(self):
        scores = pilot()
        pairs = list(itertools.combinations(range(4), 2))
        variances = [np.var(scores.values[i] - scores.values[j], ddof=1) for i, j in pairs]
        assert topic_set_size(scores, difference=0.3).variance == pytest.approx(np.mean(variances))
        one = topic_set_size(scores.select(systems=["d", "b"]), difference=0.3)
        assert one.variance == pytest.approx(variances[pairs.index((1, 3))])
        given_ = topic_set_size(variance=one.variance, difference=0.3)
        assert given_.n_queries == one.n_queries


def test_too_many_queries():
    with pytest.raises(ValueError, match="more than 10,000,000 queries"):
        topic_set_size(difference=1e-6, variance=1.0)


def test_table():
    found = topic_set_size(difference=0.1, variance=0.04)
    frame = found.to_frame()
    assert frame["n_queries"].is_monotonic_increasing
    assert frame["power"].is_monotonic_increasing
    assert frame["n_queries"].isin([2, 34, 68]).sum() == 3
    text = str(found)
    assert text.startswith("34 queries detect a difference of 0.1 with power 0.808 (wanted: 0.8).")
    assert "paired t test, alpha = 0.05, variance 0.04" in text
    assert len(text.splitlines()) < 20
    assert "34 queries" in repr(found)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"difference": 0.0, "variance": 1}, "difference must be a finite number above 0"),
        ({"difference": -0.1, "variance": 1}, "difference"),
        ({"difference": float("nan"), "variance": 1}, "difference"),
        ({"difference": 0.1, "variance": 0.0}, "variance must be"),
        ({"difference": 0.1, "variance": 1, "power": 0.05}, "power .* alpha = 0.05"),
        ({"difference": 0.1, "variance": 1, "power": 1.0}, "power"),
        ({"difference": 0.1, "variance": 1, "alpha": 0.0}, "alpha"),
        ({"difference": 0.1}, "neither"),
        ({"difference": 0.1, "variance": 1, "scores": [[1, 2], [2, 4]]}, "both"),
        ({"difference": 0.1, "scores": [[1], [2]]}, "at least 2 queries"),
        ({"difference": 0.1, "scores": [[1, 2, 3], [2, 3, 4]]}, "vary by nothing but constants"),
    ],
)
def test_bad_input(params, message):
    with pytest.raises(ValueError, match=message):
        topic_set_size(**params)


@pytest.mark.slow
@given(
    effect=st.floats(0.05, 3),
    scale=st.sampled_from([1e-3, 0.5, 100.0]),
    power=st.floats(0.2, 0.95),
)
def test_unit_of_the_measure_does_not_matter(effect, scale, power):
    plain = topic_set_size(difference=effect, variance=1.0, power=power)
    scaled = topic_set_size(difference=effect * scale, variance=scale**2, power=power)
    assume(abs(plain.power - power) > 1e-9)
    assert scaled.n_queries == plain.n_queries
    np.testing.assert_allclose(scaled.powers, plain.powers, atol=1e-9)
    assert (np.diff(plain.powers) > -1e-9).all()
    smaller = topic_set_size(difference=effect / 2, variance=1.0, power=power)
    assert smaller.n_queries >= plain.n_queries

"""Number of topics that a difference needs: by formula, by simulation, for three designs."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from skfilterrank.comparison import SystemScores, topic_set_size
from skfilterrank.comparison._topic_set_size import paired_power


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
        one = topic_set_size(scores, difference=0.3, pair=("d", "b"))
        assert one.variance == pytest.approx(variances[pairs.index((1, 3))])
        given_ = topic_set_size(variance=one.variance, difference=0.3)
        assert given_.n_queries == one.n_queries


class TestAnova:
    def test_well_known_size(self):
        # Two independent groups, medium effect: 64 each.
        found = topic_set_size(variance=1.0, difference=0.5, design="anova", n_systems=2)
        assert found.n_queries == 64

    def test_variance_of_the_pilot(self):
        scores = pilot()
        one_way = topic_set_size(scores, difference=0.5, design="anova")
        assert one_way.variance == pytest.approx(scores.values.var(axis=1, ddof=1).mean())
        assert one_way.n_systems == 4
        blocked = topic_set_size(scores, difference=0.5, design="blocked_anova")
        paired = topic_set_size(scores, difference=0.5)
        assert blocked.variance == pytest.approx(paired.variance / 2)
        # What queries explain need not be overcome.
        assert blocked.n_queries < one_way.n_queries
        more = topic_set_size(scores, difference=0.5, design="anova", n_systems=50)
        assert more.n_queries > one_way.n_queries


class TestSimulation:
    @pytest.mark.slow
    def test_normal_pilot_gives_the_formula_s_answer(self):
        scores = pilot(6, 200)
        formula = topic_set_size(scores, difference=0.4)
        simulated = topic_set_size(scores, difference=0.4, method="simulation", random_state=0)
        assert simulated.variance == formula.variance
        assert simulated.n_queries == pytest.approx(formula.n_queries, rel=0.05)
        expected = paired_power(simulated.sizes, 0.4, formula.variance, 0.05)
        np.testing.assert_allclose(simulated.powers[8:], expected[8:], atol=0.02)

    def test_all_draws_of_two_queries(self):
        # Two queries drawn from a pilot of three: nine draws alike. Three of them draw one query
        # twice and show nothing; the others count where t with 1 degree of freedom is great enough.
        residual = np.array([-1.0, 0.0, 1.0]) * np.sqrt(3 / 2)
        draws = np.array(list(itertools.product(residual + 10, repeat=2)))
        varied = draws[draws[:, 0] != draws[:, 1]]
        p = scipy.stats.ttest_1samp(varied, 0, axis=1).pvalue
        expected = np.sum(p <= 0.05) / 9
        scores = [[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]]
        found = topic_set_size(
            scores, difference=10.0, method="simulation", n_resamples=20_000, random_state=0
        )
        assert 0 < expected < 1
        assert found.powers[0] == pytest.approx(expected, abs=0.015)

    def test_power_stays(self):
        # With few experiments the curve reaches the wanted power, and falls below it again.
        n_relapses = 0
        for seed in range(10):
            found = topic_set_size(
                pilot(), difference=0.5, method="simulation", n_resamples=100, random_state=seed
            )
            assert (found.powers[found.sizes >= found.n_queries] >= 0.8).all()
            assert found.powers[found.sizes == found.n_queries - 1] < 0.8
            n_relapses += (found.powers[found.sizes < found.n_queries] >= 0.8).any()
        assert n_relapses > 0

    def test_skewed_differences_draw_by_draw(self):
        rng = np.random.default_rng(5)
        differences = rng.exponential(size=40) ** 2
        scores = SystemScores([differences, np.zeros(40)])
        found = topic_set_size(scores, difference=1.0, method="simulation", random_state=0)
        residual = (differences - differences.mean()) * np.sqrt(40 / 39)
        for n in (4, 15):
            drawn = rng.choice(residual, size=(10_000, n)) * rng.choice([-1, 1], size=(10_000, 1))
            p = scipy.stats.ttest_1samp(drawn + 1.0, 0, axis=1).pvalue
            power = found.powers[found.sizes == n]
            assert power == pytest.approx(np.mean(p <= 0.05), abs=0.02)
            # Normal differences of the same variance would have another power.
            assert abs(power - paired_power(n, 1.0, found.variance, 0.05)) > 0.03

    def test_repeats(self):
        first, again, other = (
            topic_set_size(
                pilot(), difference=0.5, method="simulation", random_state=seed, n_resamples=500
            ).powers
            for seed in (1, 1, 2)
        )
        np.testing.assert_array_equal(first, again)
        assert first.shape != other.shape or (first != other).any()

    @pytest.mark.slow
    def test_pair(self):
        found = topic_set_size(
            pilot(), difference=0.5, pair=("a", "b"), method="simulation", random_state=0
        )
        formula = topic_set_size(pilot(), difference=0.5, pair=("a", "b"))
        assert found.variance == formula.variance
        assert found.n_queries == pytest.approx(formula.n_queries, rel=0.15)

    def test_too_many(self):
        with pytest.raises(ValueError, match=r"more than 10,000 queries.*formula"):
            topic_set_size(pilot(), difference=1e-3, method="simulation", random_state=0)


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
    assert "paired t test, alpha = 0.05, variance 0.04, by formula" in text
    assert len(text.splitlines()) < 20
    assert "34 queries" in repr(found)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"difference": 0.0, "variance": 1}, "difference must be a finite number greater than 0"),
        ({"difference": -0.1, "variance": 1}, "difference"),
        ({"difference": float("nan"), "variance": 1}, "difference"),
        ({"difference": 0.1, "variance": 0.0}, "variance must be"),
        ({"difference": 0.1, "variance": 1, "power": 0.05}, "power .* alpha = 0.05"),
        ({"difference": 0.1, "variance": 1, "power": 1.0}, "power"),
        ({"difference": 0.1, "variance": 1, "alpha": 0.0}, "alpha"),
        ({"difference": 0.1}, "neither"),
        ({"difference": 0.1, "variance": 1, "scores": [[1, 2], [2, 4]]}, "both"),
        ({"difference": 0.1, "scores": [[1], [2]]}, "at least 2 queries"),
        ({"difference": 0.1, "scores": [[1, 2, 3], [2, 3, 4]]}, "must vary over queries, but"),
        (
            {"difference": 0.1, "scores": [[0.1, 0.2], [0.3, 0.4]], "pair": ("0", "1")},
            "must vary over queries, but",
        ),
        ({"difference": 0.1, "variance": 1, "method": "guess"}, "'formula', 'simulation'"),
        ({"difference": 0.1, "variance": 1, "design": "t"}, "'paired', 'anova'"),
        (
            {"difference": 0.1, "variance": 1, "design": "anova"},
            "n_systems must be a number for design",
        ),
        ({"difference": 0.1, "variance": 1, "design": "anova", "n_systems": 1}, "from 2 up"),
        (
            {"difference": 0.1, "variance": 1, "n_systems": 5},
            "must be 2 or None for design='paired'",
        ),
        ({"difference": 0.1, "variance": 1, "method": "simulation"}, "give scores"),
        (
            {"difference": 0.1, "variance": 1, "pair": ("a", "b")},
            "pair can only be used with scores",
        ),
        (
            {"difference": 0.1, "scores": [[1, 2], [2, 4]], "pair": ("0", "x")},
            "pair: 'x' is not among the 2",
        ),
        ({"difference": 0.1, "scores": [[1, 2], [2, 4]], "pair": ("0", "0")}, "pair must name"),
        (
            {
                "difference": 1.0,
                "scores": [[1, 2], [2, 4]],
                "method": "simulation",
                "n_resamples": 5,
            },
            "n_resamples",
        ),
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
    design=st.sampled_from(["paired", "anova", "blocked_anova"]),
)
def test_unit_of_the_measure_does_not_matter(effect, scale, power, design):
    params = {"power": power, "design": design, "n_systems": 2}
    plain = topic_set_size(difference=effect, variance=1.0, **params)
    scaled = topic_set_size(difference=effect * scale, variance=scale**2, **params)
    assume(abs(plain.power - power) > 1e-9)
    assert scaled.n_queries == plain.n_queries
    np.testing.assert_allclose(scaled.powers, plain.powers, atol=1e-9)
    assert (np.diff(plain.powers) > -1e-9).all()
    smaller = topic_set_size(difference=effect / 2, variance=1.0, **params)
    assert smaller.n_queries >= plain.n_queries

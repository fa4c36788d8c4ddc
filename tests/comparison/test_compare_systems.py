"""What every test of systems against systems shares, and the result it gives."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from profiles import times
from skfilterrank._base.system_pairs import CORRECTIONS
from skfilterrank._base.words import CORRECTION_NAMES, TEST_TITLES
from skfilterrank.comparison import SystemScores, compare_systems, order_systems
from skfilterrank.comparison._compare_systems import TESTS
from skfilterrank.metaevaluation import reliability, sensitivity_curve, stability_curve

OF_PAIRS = ["t", "sign", "randomization", "bootstrap"]
FEW = {"n_resamples": 128}

# Few different values, so that there are ties and pairs without any difference.
SHAPES = st.tuples(st.integers(2, 5), st.integers(2, 7))
VALUES = SHAPES.flatmap(lambda shape: arrays(np.float64, shape, elements=st.integers(0, 4)))


def test_names_are_those_of_the_functions():
    assert [*TESTS] == [*TEST_TITLES]
    assert [*CORRECTIONS] == [*CORRECTION_NAMES]


def figures(found):
    """Numbers of a comparison, by name."""
    names = ("difference", "effect_size", "low", "high", "p_value", "p_adjusted")
    return {name: getattr(found, name) for name in names}


def assert_same(found, expected):
    for name, values in figures(found).items():
        np.testing.assert_allclose(values, getattr(expected, name), atol=1e-12, err_msg=name)


def named(n_systems=3, n_queries=12, **params):
    values = np.random.default_rng(0).random((n_systems, n_queries))
    values[0] += 1
    return SystemScores(values, systems=[f"run{i}" for i in range(n_systems)], **params)


@pytest.mark.parametrize("test", OF_PAIRS)
class TestInvariances:
    @pytest.mark.slow
    @times(1 / 2)
    @given(values=VALUES, constant=st.integers(-3, 9), factor=st.sampled_from([0.1, 1, 3, 1e6]))
    def test_constants_and_scale(self, test, values, constant, factor):
        found = compare_systems(values, test=test, **FEW, random_state=0)
        moved = compare_systems(factor * (values + constant), test=test, **FEW, random_state=0)
        np.testing.assert_allclose(moved.p_value, found.p_value, atol=1e-9)
        np.testing.assert_allclose(moved.effect_size, found.effect_size, atol=1e-9)
        np.testing.assert_allclose(moved.difference, factor * found.difference, atol=1e-9 * factor)

    @pytest.mark.slow
    def test_baseline_compares_every_other_with_it(self, test):
        scores = named(5)
        every = compare_systems(scores, test=test, correction=None, random_state=0)
        found = compare_systems(scores, test=test, correction=None, baseline="run2", random_state=0)
        assert [scores.systems[i] for i in found.first] == ["run0", "run1", "run3", "run4"]
        assert {scores.systems[i] for i in found.second} == {"run2"}
        for what in ("p_value", "difference", "low", "high", "effect_size"):
            expected = every.matrix(what)["run2"].drop("run2")
            np.testing.assert_allclose(getattr(found, what), expected, atol=1e-12)
            table = found.matrix(what)
            np.testing.assert_allclose(table["run2"].drop("run2"), expected, atol=1e-12)
            assert np.isnan(table.loc["run0", "run1"])

    def test_lower_is_better(self, test):
        scores = named()
        turned = SystemScores(scores.values, greater_is_better=False)
        found, mirrored = (compare_systems(s, test=test, random_state=0) for s in (scores, turned))
        assert_same(found, mirrored)
        assert found.better().tolist() == [1, 1, 0]
        assert mirrored.better().tolist() == [-1, -1, 0]
        assert mirrored.better().dtype == np.int8

    def test_nothing_to_tell_apart(self, test):
        found = compare_systems(np.ones((3, 6)), test=test, random_state=0)
        assert found.p_value.tolist() == found.p_adjusted.tolist() == [1, 1, 1]
        for zeros in (found.difference, found.effect_size, found.low, found.high):
            assert zeros.tolist() == [0, 0, 0]
        assert found.n_tied.tolist() == [6, 6, 6]
        assert not found.significant().any()
        assert "0 of 3 pairs differ significantly" in str(found)


class TestDefaults:
    def test_t_for_numbers_and_sign_for_preferences(self):
        assert compare_systems(named()).test == "t"
        assert compare_systems(named(is_preference=True)).test == "sign"

    def test_holms_correction(self):
        assert compare_systems(named()).correction == "holm"

    def test_tukeys_test_needs_no_correction(self):
        found = compare_systems(named(), test="tukey", correction="bonferroni")
        assert found.correction is None
        np.testing.assert_array_equal(found.p_adjusted, found.p_value)
        assert "which corrects for all systems" in str(found)


class TestResult:
    def test_frame(self):
        found = compare_systems(named())
        frame = found.to_frame()
        assert frame["first"].tolist() == ["run0", "run0", "run1"]
        assert frame["second"].tolist() == ["run1", "run2", "run2"]
        assert list(frame.columns[2:]) == [
            *("difference", "low", "high", "effect_size", "p_value", "p_adjusted", "n_tied")
        ]
        np.testing.assert_array_equal(frame["p_value"], found.p_value)

    @pytest.mark.parametrize("what", ["p_value", "p_adjusted"])
    def test_matrix_of_p_values_is_symmetric(self, what):
        table = compare_systems(named()).matrix(what)
        pd.testing.assert_frame_equal(table, table.T, check_names=False)
        assert np.diag(table).tolist() == [1, 1, 1]
        assert table.index.tolist() == ["run0", "run1", "run2"]

    @pytest.mark.parametrize("what", ["difference", "effect_size"])
    def test_matrix_of_differences_is_antisymmetric(self, what):
        found = compare_systems(named())
        table = found.matrix(what).to_numpy()
        np.testing.assert_array_equal(table, -table.T)
        assert table[0, 1] == getattr(found, what)[0] > 0

    def test_unknown_matrix(self):
        with pytest.raises(ValueError, match=r"what must be one of 'p_adjusted', .*, got 'pvalue'"):
            compare_systems(named()).matrix("pvalue")

    def test_significance_is_about_adjusted_p_values(self):
        found = compare_systems(named(), correction="bonferroni")
        np.testing.assert_array_equal(found.significant(0.1), 3 * found.p_value <= 0.1)
        np.testing.assert_array_equal(found.better(0.1) != 0, found.significant(0.1))

    def test_a_p_value_at_the_level_is_significant(self):
        # Six equal signs: 2 / 2^6.
        found = compare_systems([np.arange(1.0, 7), np.zeros(6)], test="sign")
        assert found.p_value == 2 / 2**6
        assert found.significant(2 / 2**6).all()
        assert found.better(2 / 2**6).tolist() == [1]
        assert not found.significant(np.nextafter(2 / 2**6, 0)).any()

    @pytest.mark.parametrize("alpha", [0, 1, 5, "a", True, np.nan])
    def test_alpha_is_a_share(self, alpha):
        with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
            compare_systems(named()).significant(alpha)


class TestText:
    def test_short_table(self):
        lines = str(compare_systems(named(measure="ap"))).splitlines()
        assert lines[0] == (
            "ap: paired t test of 3 systems for 12 queries, Holm's correction for 3 pairs"
        )
        assert lines[1] == "2 of 3 pairs differ significantly at 0.05"
        assert lines[2].split() == [
            *("first", "second", "difference", "95", "%", "interval", "Cohen's", "d_z", "p"),
            *("adjusted", "p"),
        ]
        assert len(lines) == 6
        # The least p value first.
        assert {lines[3].split()[0], lines[4].split()[0]} == {"run0"}
        assert lines[5].split()[:2] == ["run1", "run2"]

    def test_long_table_is_cut(self):
        lines = str(compare_systems(np.random.default_rng(0).random((8, 9)))).splitlines()
        assert len(lines) == 2 + 1 + 20 + 1
        assert lines[-1] == "... and 8 more rows, see to_frame()"

    @pytest.mark.parametrize(
        ("scale", "text"),
        [
            (1, "1.23"),
            (1000, "1234"),
            (1e5, "123400"),
            (0.001, "0.00123"),
            (1e-6, "0.00000123"),
            (1e-9, "0.000000001"),
            (0, "0.000"),
        ],
    )
    def test_three_figures_of_the_greatest_difference(self, scale, text):
        # Differences of 1.234 and, with the third system, less.
        steps = scale * np.array([1.234, 0.0, 0.5])[:, None]
        values = np.array([0.0, 1, 4, 2]) * scale + steps
        lines = str(compare_systems(values, test="sign")).splitlines()
        words = [line.split()[:3] for line in lines]
        assert ["0", "1", text] in words

    def test_of_equal_p_values_the_greater_effect_first(self):
        noise = np.array([0.1, -0.1, 0.2, -0.2, 0.0, 0.1, -0.1, 0.0, 0.15])
        values = [1 + noise, 3 - noise[::-1], np.zeros(9)]
        found = compare_systems(values, test="randomization", baseline="2", correction=None)
        assert found.p_value.tolist() == [2 / 2**9] * 2
        assert np.abs(found.effect_size[1]) > np.abs(found.effect_size[0])
        assert [line.split()[0] for line in str(found).splitlines()[-2:]] == ["1", "0"]

    def test_adjusted_p_values_are_shown_where_there_are_any(self):
        assert "adjusted p" in str(compare_systems(named(3), baseline="run0"))
        assert "adjusted p" not in str(compare_systems(named(2)))
        assert "adjusted p" not in str(compare_systems(named(3), correction=None))

    def test_baseline(self):
        assert "at 0.05, against run1\n" in str(compare_systems(named(), baseline="run1"))

    def test_level_is_that_of_the_intervals(self):
        scores = named(2, 4)
        found = compare_systems(scores, alpha=0.01)
        assert 0.01 < found.p_value < 0.05
        assert "0 of 1 pair differs significantly at 0.01\n" in str(found)
        assert "1 of 1 pair differs significantly at 0.05\n" in str(compare_systems(scores))

    def test_says_what_the_interval_is_of(self):
        assert "90 % interval of the effect" in str(
            compare_systems(named(), test="sign", alpha=0.1)
        )

    @pytest.mark.parametrize("test", ["sign", "randomization"])
    def test_says_when_there_are_too_few_queries(self, test):
        values = named(3, 6).values
        # 2 / 2^6 = 0.03125 is below 0.05, and three times that is not.
        text = str(compare_systems(values, test=test, random_state=0))
        assert "No difference could be significant: the smallest p value of 6 queries is" in text
        assert "0.0312 (0.0938 corrected). Take more queries" in text
        assert "No difference" not in str(
            compare_systems(values, test=test, correction="fdr_bh", random_state=0)
        )
        assert "No difference" not in str(compare_systems(named(3, 8), test=test, random_state=0))
        assert "No difference" not in str(compare_systems(named(2, 6), test=test, random_state=0))

    def test_as_few_queries_as_suffice(self):
        # Five equal signs: 2 / 2^5 is the level, four: twice that.
        enough = compare_systems(named(2, 5), test="sign", alpha=2 / 2**5)
        assert "No difference" not in str(enough)
        too_few = str(compare_systems(named(2, 4), test="sign", alpha=2 / 2**5))
        assert "the smallest p value of 4 queries is 0.125. Take more queries.\n" in too_few

    def test_queries_would_do_with_more_resamples(self):
        # 2 / 2^10 = 0.00195 is less than the 1 / 501 = 0.00200 of so few resamples.
        found = compare_systems(named(8, 10), test="randomization", n_resamples=500, random_state=0)
        assert "these resamples is 0.002 (0.0559 corrected). Raise n_resamples" in str(found)

    @pytest.mark.parametrize("test", ["t", "bootstrap", "tukey"])
    def test_says_when_differences_have_no_spread(self, test):
        text = str(compare_systems([[0.1, 0.2], [0.2, 0.3]], test=test, random_state=0))
        assert "0 of 1 pair differs significantly" in text
        assert "The systems of 1 pair differ by the same amount for every query" in text
        assert "take test='sign'" in text
        values = named(2, 9).values
        text = str(compare_systems([*values, values[0] + 0.1, values[0] + 0.2], test="t"))
        assert "The systems of 3 pairs differ by the same amount" in text

    @pytest.mark.parametrize("test", sorted(TESTS))
    def test_says_when_all_values_are_equal(self, test):
        text = str(compare_systems(np.ones((3, 4)), test=test, n_resamples=128, random_state=0))
        assert "have equal values for every query, so no test can tell them apart. Check" in text
        # Not where one system differs.
        values = np.ones((3, 4)) + [[0], [0], [1]] * np.array([1, 2, 4, 3])
        assert "have equal values" not in str(
            compare_systems(values, test=test, n_resamples=128, random_state=0)
        )


class TestErrors:
    @pytest.mark.parametrize(
        "function",
        [compare_systems, order_systems, reliability, sensitivity_curve, stability_curve],
    )
    def test_too_few(self, function):
        with pytest.raises(ValueError, match="scores must hold at least 2 systems, got 1"):
            function([[0.5, 0.6]])
        with pytest.raises(ValueError, match="scores must hold at least 2 queries, got 1"):
            function([[0.5], [0.6]])

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"test": "anova"}, r"test must be one of 't', 'sign', .*, got 'anova'"),
            ({"correction": "sidak"}, r"correction must be one of 'holm', .* got 'sidak'"),
            ({"baseline": "bm25"}, "baseline: 'bm25' is not among the 4 known names"),
            ({"alpha": 95}, "alpha must be a number between 0 and 1.*, got 95"),
            ({"alpha": 0.0}, "alpha must be a number between 0 and 1.*, got 0.0"),
            ({"n_resamples": 99}, "n_resamples must be a whole number from 100 up, got 99"),
            ({"n_resamples": 1e4}, "n_resamples must be a whole number .*, got 10000.0"),
        ],
    )
    def test_parameters(self, params, message):
        with pytest.raises(ValueError, match=message):
            compare_systems(named(4), **params)

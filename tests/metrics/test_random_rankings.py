"""Expected values under random rankings: by hand, by enumeration, by simulation."""

from fractions import Fraction
from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measure_table import MEASURES
from profiles import times
from reference import NONNEGATIVE, OF_THE_MEAN, REFERENCE, Case
from skfilterrank.metrics import _random_rankings as module
from skfilterrank.metrics import random_ranking_bound
from thinned import thinned

# Measures whose expected value is exact.
EXACT = sorted(
    name for name, entry in MEASURES.items() if entry.has_exact_mean and name not in NONNEGATIVE
)

pools = st.lists(st.sampled_from([-1.0, 0.0, 0.0, 1.0, 1.0, 2.0]), min_size=1, max_size=6)
cutoffs = st.sampled_from([None, 1, 2, 3, 5, 50])


def figures(bound):
    """Value and standard error."""
    return bound.value, bound.standard_error


def one_query(function, labels, *args, **params):
    return function(labels, *args, groups=["q"] * len(labels), **params)


def expected_dcg(labels, average="mean", **params):
    return random_ranking_bound(labels, "dcg", average=average, **params, random_state=0).value


def expected_sum_precision(labels, average="mean", **params):
    return random_ranking_bound(labels, "sp", average=average, **params, random_state=0).value


def bound_of_one(labels, name, **params):
    """Value and standard error, of measures too that are no means over queries."""
    bound = one_query(random_ranking_bound, labels, name, average=None, **params)
    (value,), (error,) = figures(bound)
    return value, error


class TestDcg:
    def test_by_hand(self):
        # Three documents, mean gain 1, or with 2^label - 1: (3 + 1 + 0) / 3.
        places = 1 + 1 / log2(3) + 1 / log2(4)
        assert one_query(expected_dcg, [2, 1, 0]) == pytest.approx(places)
        assert one_query(expected_dcg, [2, 1, 0], k=2) == pytest.approx(1 + 1 / log2(3))
        assert one_query(expected_dcg, [2, 1, 0], gains="exp2") == pytest.approx(4 / 3 * places)

    def test_unjudged_documents_are_not_ranked(self):
        assert one_query(expected_dcg, [2, np.nan, 0, np.nan], k=1) == 1
        assert one_query(expected_dcg, [2, np.nan, 0, np.nan], k=3) == 1 + 1 / log2(3)
        assert one_query(expected_dcg, [np.nan, np.nan]) == 0
        assert one_query(expected_dcg, np.nan_to_num([2, np.nan, 0, np.nan]), k=1) == 0.5


class TestSumPrecision:
    def test_by_hand(self):
        # Orders of one relevant among three: it stands first, second or third.
        value = one_query(expected_sum_precision, [0, 1, 0])
        assert value == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
        # Two relevant: 110, 101, 011.
        value = one_query(expected_sum_precision, [1, 1, 0])
        assert value == pytest.approx(((1 + 1) + (1 + 2 / 3) + (1 / 2 + 2 / 3)) / 3)
        assert one_query(expected_sum_precision, [1, 1, 0], k=1) == pytest.approx(2 / 3)

    @given(st.integers(1, 30), st.integers(0, 30), st.integers(1, 40))
    def test_the_formula_in_the_notes(self, n, n_relevant, k):
        n_relevant = min(n, n_relevant)
        p = Fraction(n_relevant, n)
        others = Fraction(n_relevant - 1, n - 1) if n > 1 else 0
        exact = sum(Fraction(1, i) * (p + (i - 1) * p * others) for i in range(1, min(k, n) + 1))
        gains = [1] * n_relevant + [0] * (n - n_relevant)
        assert one_query(expected_sum_precision, gains, k=k) == pytest.approx(float(exact))
        printed = one_query(expected_sum_precision, gains, k=k, method="paper")
        assert printed == pytest.approx(float(min(k, n) * p**2))

    def test_the_formula_of_the_paper_is_one_of_sums_of_precisions(self):
        with pytest.raises(ValueError, match="is a formula for 'sp' alone, got 'ap'"):
            one_query(random_ranking_bound, [1, 0], "ap", method="paper")


def enumerated(name, pool, k):
    """Mean of the reference over all orders; None where undefined."""
    cases = [
        Case(shown=list(order), pool=pool, k=k, labels=list(order), n_rows=len(pool))
        for order in permutations(pool)
    ]
    of_order = OF_THE_MEAN.get(name, lambda value, case: value)
    values = [of_order(REFERENCE[name](case), case) for case in cases]
    return None if None in values else sum(values) / len(values)


class TestAnyMeasure:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", thinned(EXACT, turn=1, parts=2))
    @times(1 / 3)
    @given(pools, cutoffs)
    def test_by_enumeration(self, name, pool, k):
        if not MEASURES[name].takes_k:
            k = None
        value, error = bound_of_one(pool, name, k=k, undefined="drop")
        expected = enumerated(name, pool, k)
        assert value == pytest.approx(np.nan if expected is None else expected, nan_ok=True)
        assert error == pytest.approx(np.nan if expected is None else 0, nan_ok=True)

    def test_undefined_queries(self):
        y_true, groups = [0, 0, 1, 1], ["a", "a", "b", "b"]
        for method in ("exact", "simulation"):
            params = {"groups": groups, "method": method, "n_samples": 5}
            skip = random_ranking_bound(
                y_true, "ndcg", undefined="drop", average=None, **params, random_state=0
            )
            np.testing.assert_allclose(figures(skip), [[np.nan, 1], [np.nan, 0]], atol=1e-12)
            half = random_ranking_bound(
                y_true, "ndcg", undefined=0.5, average=None, **params, random_state=0
            )
            np.testing.assert_allclose(figures(half), [[0.5, 1], [0, 0]], atol=1e-12)
            mean = random_ranking_bound(y_true, "ndcg", undefined="drop", **params, random_state=0)
            assert figures(mean) == pytest.approx((1, 0), abs=1e-12)
            none = random_ranking_bound(
                [0], "ndcg", undefined="drop", **(params | {"groups": [1]}), random_state=0
            )
            assert np.isnan(figures(none)).all()

    @pytest.mark.parametrize("method", ["exact", "simulation"])
    def test_nothing_judged(self, method):
        y_true = [np.nan, np.nan, 1]
        bound = random_ranking_bound(
            y_true, groups=[1, 1, 2], method=method, average=None, random_state=0
        )
        np.testing.assert_array_equal(bound.value, [0, 1])
        np.testing.assert_array_equal(bound.standard_error, [0, 0])

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"measure": "mapp"}, "'mapp' is not a measure: did you mean 'MAP'"),
            ({"measure": "dcg@3", "k": 5}, "k=5 contradicts the cut-off of 'dcg@3'"),
            ({"measure": "qwa", "k": 5}, "'qwa' has no cut-off, got k=5"),
            ({"method": "closed"}, "method must be one of 'auto', 'exact', 'simulation'"),
            ({"n_samples": 1}, "n_samples must be a whole number from 2 up, got 1"),
            ({"undefined": "nan"}, "undefined must be a finite number or 'drop'"),
            ({"average": "sum"}, "average must be one of"),
        ],
    )
    def test_bad_input(self, params, message):
        with pytest.raises(ValueError, match=message):
            random_ranking_bound([1, 0], **({"groups": [1, 1]} | params), random_state=0)

    def test_the_cut_off_in_either_place(self):
        named = one_query(random_ranking_bound, [2, 1, 0], "dcg@2").value
        assert named == one_query(random_ranking_bound, [2, 1, 0], "dcg", k=2).value
        assert named == one_query(random_ranking_bound, [2, 1, 0], "dcg@2", k=2).value
        assert named == pytest.approx(1 + 1 / log2(3))

    def test_measures_without_a_mean_over_ties(self):
        names = [name for name, entry in MEASURES.items() if "average" not in entry.ties]
        for name in names:
            with pytest.raises(ValueError, match="method='exact' is not possible"):
                one_query(random_ranking_bound, [1, 0], name, method="exact")
            pool = [1, 0, 0] if name in NONNEGATIVE else [1, 0, -1]
            k = 1 if MEASURES[name].takes_k else None
            value, error = figures(one_query(random_ranking_bound, pool, name, k=k))
            assert np.isfinite(value)
            assert error > 0, name


class TestSimulation:
    """Means over drawn rankings, and their errors."""

    @pytest.mark.slow
    @pytest.mark.parametrize("name", thinned(sorted(MEASURES.keys() - {*NONNEGATIVE})))
    def test_simulation_is_near_the_enumeration(self, name):
        pool, k = [2.0, 1.0, 1.0, 0.0, 0.0, -1.0], 3 if MEASURES[name].takes_k else None
        value, error = bound_of_one(pool, name, k=k, method="simulation", n_samples=4000)
        expected = enumerated(name, pool, k)
        assert abs(value - expected) <= 4 * error + 1e-12

    def test_repeats_whatever_the_other_queries(self):
        rng = np.random.default_rng(1)
        groups = rng.integers(0, 12, 300)
        y_true = rng.choice([0.0, 1.0, 2.0, np.nan], 300)
        params = {"method": "simulation", "n_samples": 50, "k": 5, "average": None}
        together = random_ranking_bound(y_true, "ndcg", groups=groups, **params, random_state=0)
        order = rng.permutation(300)
        again = random_ranking_bound(
            y_true[order], "ndcg", groups=groups[order], **params, random_state=0
        )
        np.testing.assert_array_equal(together.value, again.value)
        for query in range(12):
            mine = groups == query
            alone = random_ranking_bound(
                y_true[mine], "ndcg", groups=groups[mine], **params, random_state=0
            )
            assert alone.value[0] == together.value[query]
            assert alone.standard_error[0] == together.standard_error[query]
        other = random_ranking_bound(y_true, "ndcg", groups=groups, random_state=1, **params)
        assert (other.value != together.value).all()

    def test_two_samples_by_hand(self):
        # The one relevant document stands first or second: values 1 and 1/2.
        params = {"method": "simulation", "n_samples": 2}
        drawn = [
            one_query(random_ranking_bound, [1, 0], "rr", random_state=seed, **params)
            for seed in range(30)
        ]
        # Two values apart by 1/2 deviate by 1 / sqrt(8), and their mean by half of 1/2.
        errors = {1.0: 0, 0.75: 0.25, 0.5: 0}
        assert {bound.value for bound in drawn} == set(errors)
        for bound in drawn:
            assert bound.standard_error == pytest.approx(errors[bound.value])

    def test_gains_however_small_make_another_pool(self):
        bound = random_ranking_bound(
            [1e-300, 0, 0, 0, -0.0, 0],
            "rr",
            groups=[1, 1, 2, 2, 3, 3],
            method="simulation",
            undefined="drop",
            average=None,
            random_state=0,
        )
        assert bound.value[0] == pytest.approx(0.75, abs=0.1)
        assert np.isnan(bound.value[1:]).all()

    def test_how_many_are_drawn_at_once_does_not_matter(self, monkeypatch):
        params = {"method": "simulation", "n_samples": 10, "random_state": 0}
        whole = one_query(random_ranking_bound, [1, 2, 0], "ap", **params)
        for cells in (2, 3, 7, 28, 30):
            monkeypatch.setattr(module, "BLOCK_CELLS", cells)
            again = one_query(random_ranking_bound, [1, 2, 0], "ap", **params)
            assert (again.value, again.standard_error) == (whole.value, whole.standard_error)

    def test_random_state(self):
        draw = {"method": "simulation", "n_samples": 20}
        one, two = (
            one_query(random_ranking_bound, [1, 2, 0], random_state=state, **draw).value
            for state in (np.random.RandomState(3), np.random.RandomState(3))
        )
        assert one == two
        unseeded = {
            one_query(random_ranking_bound, [1, 2, 0], random_state=None, **draw).value
            for _ in range(5)
        }
        assert len(unseeded) > 1
        with pytest.raises(ValueError, match="must be a whole number from 0 up, got -1"):
            one_query(random_ranking_bound, [1, 2, 0], random_state=-1)

    def test_error_of_the_mean(self):
        # Two queries share their gains and so their rankings; the third has its own.
        y_true, groups = [1, 2, 0, 0, 1, 2, 1, 0, 5], [1, 1, 1, 2, 2, 2, 3, 3, 3]
        params = {"groups": groups, "method": "simulation", "n_samples": 100}
        a, b, c = random_ranking_bound(
            y_true, average=None, **params, random_state=0
        ).standard_error
        assert a == b != c
        mean = random_ranking_bound(y_true, **params, random_state=0)
        assert mean.standard_error == pytest.approx(np.sqrt((a + b) ** 2 + c**2) / 3)


class TestWhatIsNotLinear:
    """V1 and V2 of a random ranking are not those of tied documents."""

    def test_by_hand(self):
        # DCG 1 or d = 1 / log2(3), R = (1 + d) / 2: V2 is 1 or (d - R) / R.
        d = 1 / np.log2(3)
        lower = (1 + d) / 2
        expected = (1 + (d - lower) / lower) / 2
        assert expected == pytest.approx(0.387, abs=5e-4)
        found = random_ranking_bound(
            [1, 0], "ul_normalized", groups=["q", "q"], n_samples=4000, random_state=0
        )
        assert 0 < found.standard_error < 0.02
        assert abs(found.value - expected) < 4 * found.standard_error

    def test_exact_is_an_error(self):
        with pytest.raises(ValueError, match="is not possible for 'ul_normalized'"):
            random_ranking_bound([1, 0], "ul_normalized", groups=["q", "q"], method="exact")

"""infAP and statAP: by hand, over all orders of tied documents, and on average over samples."""

from itertools import permutations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measure_table import MEASURES
from one_query import one
from profiles import times
from reference.incomplete import inferred_ap_of, stat_ap_of
from skfilterrank.metrics import inferred_ap_score, stat_ap_score

NO, NAN = -np.inf, np.nan
E = 1e-5


def tied_orders(rows):
    """Every order of rows (score first) by descending score."""
    scores = sorted({row[0] for row in rows if row[0] > NO}, reverse=True)
    ties = [permutations([row for row in rows if row[0] == score]) for score in scores]
    return [[row for tie in order for row in tie] for order in product(*ties)]


# A row: score, label, whether it was pooled, inclusion probability.
rows_of_a_query = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from([NO, 0.0, 1.0, 1.0]),
            st.sampled_from([-1.0, 0.0, 1.0, 2.0]),
            st.just(True),
            st.sampled_from([1.0, 0.5, 0.01]),
        ),
        st.tuples(
            st.sampled_from([NO, 0.0, 1.0, 1.0]),
            st.just(NAN),
            st.booleans(),
            st.sampled_from([NAN, 0.0, 0.5]),
        ),
    ),
    min_size=1,
    max_size=6,
)


class TestInferredAP:
    def test_by_hand(self):
        # Places:  1    2    3    4  5       6  7
        gains = [NAN, 1, NAN, 0, 1, -1, 2]
        pooled = [True, True, False, True, True, True, True]
        expected = [
            (1 + 1 * (0 + E) / (0 + 2 * E)) / 2,  # one pooled above, nothing judged
            (1 + 3 * (1 + E) / (2 + 2 * E)) / 5,  # of four above one was not pooled
            (1 + 5 * (2 + E) / (4 + 2 * E)) / 7,
        ]
        actual = one(inferred_ap_score, gains, pooled=pooled)
        assert actual == pytest.approx(sum(expected) / 3, rel=1e-14)

    @pytest.mark.slow
    @times(5)
    @given(query=rows_of_a_query)
    def test_every_order_of_tied_documents(self, query):
        n_relevant = sum(label > 0 for _, label, *_ in query)
        values = []
        for order in tied_orders(query):
            labels = [None if np.isnan(label) else label for _, label, *_ in order]
            pooled = [row[2] for row in order]
            values.append(inferred_ap_of(labels, pooled, n_relevant))
        scores, labels, pooled, _ = zip(*query)
        actual = one(inferred_ap_score, labels, scores, pooled=pooled, undefined="drop")
        expected = np.mean(values) if n_relevant else np.nan
        assert actual == pytest.approx(expected, rel=1e-10, abs=1e-12, nan_ok=True)

    def test_complete_judgments_give_average_precision_but_for_the_smoothing(self):
        rng = np.random.default_rng(2)
        groups, gains = rng.integers(0, 60, 3000), rng.choice([-1, 0, 0, 1, 2], 3000)
        scores = rng.choice([NO, *range(40)], 3000)
        ap = MEASURES["ap"].per_query(gains, scores, groups=groups)
        inferred = inferred_ap_score.per_query(gains, scores, groups=groups)
        assert 0 < np.abs(inferred - ap).max() < E / 2
        # The largest difference: (1 + (1 + E) / (1 + 2 E)) / 2 in the second place instead of 1.
        assert one(inferred_ap_score, [1, 1]) == pytest.approx(1 - E / 4, abs=1e-9)


class TestPooled:
    gains = (1, NAN, 0, NAN, 1)

    def test_numbers_and_containers(self):
        pooled = [True, False, True, True, True]
        expected = one(inferred_ap_score, self.gains, pooled=pooled)
        for same in (
            [1, 0, 1, 1, 1],
            np.array(pooled),
            pd.Series(pooled, dtype="boolean"),
            pl.Series(pooled),
        ):
            assert one(inferred_ap_score, self.gains, pooled=same) == expected

    def test_judged_rows_are_pooled(self):
        pooled = [False, True, False, True, True]
        with pytest.raises(ValueError, match=r"pooled must be True wherever .* at 2 judged row"):
            one(inferred_ap_score, self.gains, pooled=pooled)

    @pytest.mark.parametrize(
        ("pooled", "message"),
        [
            ([True] * 4, "pooled has 4 entries but there are 5 rows"),
            (True, "pooled must hold one number per row, got True"),
            ([1, 1, 1, 2, 1], "pooled must hold True or False for each row.*got 2 at row 3"),
            ([True, None, True, True, True], "got nan at row 1"),
            (["yes"] * 5, "pooled must hold numbers"),
        ],
    )
    def test_bad_input(self, pooled, message):
        with pytest.raises(ValueError, match=message):
            one(inferred_ap_score, self.gains, pooled=pooled)


class TestStatAP:
    def test_by_hand(self):
        # Relevant at places 2, 3 and 5, one not retrieved; they stand for 1, 4, 2 and 10.
        gains = [0, 1, 1, NAN, 1, 1]
        probability = [0.5, 1, 0.25, NAN, 0.5, 0.1]
        scores = [6, 5, 4, 3, 2, NO]
        sum_precision = 1 * (1 + 0) / 2 + 4 * (1 + 1) / 3 + 2 * (1 + 1 + 4) / 5
        actual = one(stat_ap_score, gains, scores, inclusion_probability=probability)
        assert actual == pytest.approx(sum_precision / (1 + 4 + 2 + 10))

    @pytest.mark.slow
    @times(5)
    @given(query=rows_of_a_query)
    def test_every_order_of_tied_documents(self, query):
        n_relevant = sum(1 / p for _, label, _, p in query if label > 0)
        values = [
            stat_ap_of([1 / p if label > 0 else 0 for _, label, _, p in order], n_relevant)
            for order in tied_orders(query)
        ]
        scores, labels, _, probability = zip(*query)
        actual = one(
            stat_ap_score, labels, scores, inclusion_probability=probability, undefined="drop"
        )
        expected = np.mean(values) if n_relevant else np.nan
        assert actual == pytest.approx(expected, rel=1e-10, nan_ok=True)

    def test_unbiased_over_independent_samples(self):
        """The sum of precisions and R on average over 4,000 samples; the ratio nearly."""
        rng = np.random.default_rng(6)
        n, n_samples = 200, 4000
        gains = (rng.random(n) < np.linspace(0.7, 0.05, n)).astype(float)
        scores = np.arange(n, 0, -1)
        probability = np.clip(np.linspace(1.2, 0.2, n), 0, 1)
        labels = np.where(rng.random((n_samples, n)) < probability, gains, NAN)
        values = stat_ap_score.per_query(
            labels.ravel(),
            np.tile(scores, n_samples),
            groups=np.repeat(np.arange(n_samples), n),
            inclusion_probability=np.tile(probability, n_samples),
        )
        estimates = (np.nan_to_num(labels) / probability).sum(axis=1)
        ap = one(MEASURES["ap"], gains, scores)
        for sample, truth in ((estimates, gains.sum()), (values * estimates, ap * gains.sum())):
            assert sample.mean() == pytest.approx(truth, abs=4 * sample.std() / np.sqrt(n_samples))
        assert values.mean() == pytest.approx(ap, abs=0.01)

    @pytest.mark.parametrize(
        ("probability", "message"),
        [
            ([1, 1], "inclusion_probability has 2 entries but there are 3 rows"),
            (0.5, "inclusion_probability must hold one number per row, got 0.5"),
            ([1, 1.5, 1], r"inclusion_probability must lie in \(0, 1\].*got 1.5 at row 1"),
            ([1, 1, -0.5], "got -0.5 at row 2"),
            (["a", "b", "c"], "inclusion_probability must hold numbers"),
            ([0, 1, 1], r"above 0 wherever y_true holds a label.* 0.0 at one of 1 judged row"),
            ([NAN, 1, NAN], r"nan at one of 2 judged row"),
            ([NAN, 1, 0], r"it is nan at one of 2 judged row"),
        ],
    )
    def test_bad_input(self, probability, message):
        with pytest.raises(ValueError, match=message):
            one(stat_ap_score, [1, NAN, 0], inclusion_probability=probability)

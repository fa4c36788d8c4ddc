"""Total search efficiency, search length and recall error."""

from fractions import Fraction
from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from one_query import one
from skfilterrank.metaevaluation import recall_level_metric, worst_case_searcher
from skfilterrank.metrics import recall_error, search_length, total_search_efficiency_score

NO = -np.inf


class TestByHand:
    # Relevant at 1, 2 and 5 of six.
    y_true = (1, 1, 0, 0, 1, 0)
    y_score = (6, 5, 4, 3, 2, 1)
    # The last of them is missing.
    filtered = (6, 5, 4, 3, NO, 1)

    @pytest.mark.parametrize(
        ("exposure", "expected"),
        [("ap", 1 / 5), ("ndcg", 1 / log2(5 + 1)), ("rbp", (1 - 0.5) * 0.5 ** (5 - 1))],
    )
    def test_total_search_efficiency(self, exposure, expected):
        actual = one(
            total_search_efficiency_score,
            self.y_true,
            self.y_score,
            exposure=exposure,
            persistence=0.5,
        )
        assert actual == pytest.approx(expected, rel=1e-14)

    def test_search_length(self):
        assert one(search_length, self.y_true, self.y_score) == 5 - 3

    def test_recall_error(self):
        actual = one(recall_error, self.y_true, self.y_score)
        assert actual == pytest.approx((1 + 2 + 5) / 3 - (3 + 1) / 2)

    @pytest.mark.parametrize(("n_items", "last"), [(None, 6 + 3), (6, 6), (1000, 1000)])
    def test_missing(self, n_items, last):
        params = {"y_true": self.y_true, "y_score": self.filtered, "n_items": n_items}
        assert one(total_search_efficiency_score, **params) == pytest.approx(1 / last)
        assert one(search_length, **params) == last - 3
        assert one(recall_error, **params) == pytest.approx((1 + 2 + last) / 3 - 2)

    def test_tie_of_the_last(self):
        # Two relevant of three tied at places 2 to 4: the last stands at 3, 4 or 4.
        y_true, y_score = [1, 1, 1, 0], [9, 1, 1, 1]
        actual = one(total_search_efficiency_score, y_true, y_score)
        assert actual == pytest.approx((1 / 3 + 1 / 4 + 1 / 4) / 3)
        actual = one(search_length, y_true, y_score)
        assert actual == pytest.approx((3 + 4 + 4) / 3 - 3)
        assert one(search_length, y_true, y_score, ties="worst") == 4 - 3
        assert one(search_length, y_true, y_score, ties="best") == 3 - 3


def test_long_tie():
    """3 relevant of 1000 tied: the last stands at 3 (1000 + 1) / (3 + 1) on average."""
    y_true = np.arange(1000) < 3
    actual = one(search_length, y_true, np.zeros(1000))
    assert actual == pytest.approx(3 * 1001 / 4 - 3, rel=1e-12)


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0, 1]), st.sampled_from([1, 2, 3])), min_size=1, max_size=6
    ),
    st.integers(0, 1),
)
def test_exposures_of_all_tied_orders(rows, n_missing):
    rows = rows + [(1, NO)] * n_missing
    y_true, y_score = zip(*rows, strict=True)
    n, values = 20, []
    if not sum(y_true):
        return
    for order in permutations(range(len(rows))):
        if sorted(order, key=lambda row: -y_score[row]) == list(order):
            places = [place for place, row in enumerate(order, start=1) if y_true[row]]
            values.append(Fraction(1, n if n_missing else places[-1]))
    actual = one(total_search_efficiency_score, y_true, y_score, n_items=n)
    assert actual == pytest.approx(float(sum(values) / len(values)), rel=1e-12)


@pytest.mark.parametrize("exposure", ["ap", "ndcg", "rbp"])
def test_worst_served_searcher(exposure):
    """The least value over all subsets of the relevant documents that a searcher may want."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        y_score, y_true = rng.permutation(12), rng.permutation([1] * 5 + [0] * 7)
        positions = np.flatnonzero(y_true[np.argsort(-y_score)]) + 1
        actual = one(total_search_efficiency_score, y_true, y_score, exposure=exposure)
        assert actual == pytest.approx(recall_level_metric(positions, f"tse(exposure={exposure})"))
        assert actual == pytest.approx(worst_case_searcher(positions, exposure))


class TestErrors:
    def test_exposure(self):
        with pytest.raises(ValueError, match="exposure must be one of 'ap', 'ndcg', 'rbp', got"):
            one(total_search_efficiency_score, [1], [1], exposure="err")

    def test_persistence(self):
        with pytest.raises(
            ValueError, match=r"persistence must be a number between 0 and 1.*got 1\.5"
        ):
            one(total_search_efficiency_score, [1], [1], exposure="rbp", persistence=1.5)

    @pytest.mark.parametrize(
        "function", [total_search_efficiency_score, search_length, recall_error]
    )
    def test_n_items(self, function):
        with pytest.raises(ValueError, match="n_items must be a whole number"):
            one(function, [1], [1], n_items=0)
        with pytest.raises(ValueError, match="n_items=2 is too small for query 'q'"):
            one(function, [1, 0, 0], [NO, 2, 1], n_items=2)

"""Positions of the relevant documents, and of those that are missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranked_positions import by_query, relevant_positions
from skfilterrank._lists.positions import comparable

NO = -np.inf


def positions(y_true, y_score, **params):
    """Positions of one query."""
    found = relevant_positions(y_true, y_score, groups=["q"] * len(y_true), **params)
    return found.positions.tolist()


class TestByHand:
    # The example of section 2.2: three of six relevant documents at 2, 3 and 8 of a top ten.
    y_true = (0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1)
    y_score = (*range(10, 0, -1), NO, NO, NO)

    def test_pessimistic(self):
        assert positions(self.y_true, self.y_score, n_items=50) == [2, 3, 8, 48, 49, 50]

    def test_optimistic(self):
        found = relevant_positions(self.y_true, self.y_score, 50, groups=["q"] * 13)
        (actual,) = comparable([found], "optimistic", found.n_items)
        assert actual.tolist() == [2, 3, 8, 11, 12, 13]

    def test_missing_items_are_behind_the_rows_by_default(self):
        # 13 rows and room for the 6 relevant documents behind them
        assert positions(self.y_true, self.y_score) == [2, 3, 8, 17, 18, 19]
        y_true, y_score = (*self.y_true, 0), (*self.y_score, NO)
        assert positions(y_true, y_score) == [2, 3, 8, 18, 19, 20]

    def test_ties(self):
        y_true, y_score = [1, 0, 1, 0, 1, 0], [3, 2, 2, 2, 1, 1]
        assert positions(y_true, y_score) == [1, 4, 6]
        assert positions(y_true, y_score, ties="best") == [1, 2, 5]
        assert positions(y_true, y_score, ties="stable") == [1, 3, 5]
        assert positions(y_true, y_score, ties=["a", "b", "c", "d", "e", "f"]) == [1, 3, 6]

    def test_missing_items_are_not_tied(self):
        assert positions([0, 1, 1, 0], [1, NO, NO, NO], ties="best") == [5, 6]

    def test_unjudged(self):
        y_true, y_score = [np.nan, 1, np.nan, 1], [4, 3, 2, 1]
        assert positions(y_true, y_score) == [2, 4]
        assert positions(y_true, y_score, unjudged="drop") == [1, 2]

    def test_gains(self):
        assert positions([2, 1, -1, 0], [4, 3, 2, 1]) == [1, 2]
        assert positions([2, 1, -1, 0], [4, 3, 2, 1], gains={2: 1, 1: 0, 0: 0, -1: -1}) == [1]

    def test_of_several_queries(self):
        result = relevant_positions(
            [1, 1, 0, 0, 1], [1, 2, 3, 4, NO], groups=["b", "a", "b", "c", "b"], n_items=9
        )
        assert result.query_ids.tolist() == ["a", "b", "c"]
        assert len(result) == 3
        assert result.positions.tolist() == [1, 2, 9]
        assert result.n_relevant.tolist() == [1, 2, 0]
        assert result.n_found.tolist() == [1, 1, 0]
        assert result.n_retrieved.tolist() == [1, 2, 1]
        assert result.n_items.tolist() == [9, 9, 9]
        assert result.levels.tolist() == [1, 1, 2]
        assert result.is_found.tolist() == [True, True, False]


def by_loop(rows, ties, n_items, imputation):
    """Positions of one query from (gain, score) rows, one after the other."""
    n_relevant = sum(gain > 0 for gain, _ in rows)
    shown = [row for row in rows if row[1] > NO]
    key = {
        "worst": lambda row: (-row[1], row[0] > 0),
        "best": lambda row: (-row[1], row[0] <= 0),
        "stable": lambda row: -row[1],
    }[ties]
    found = [place for place, row in enumerate(sorted(shown, key=key), start=1) if row[0] > 0]
    n_missing = n_relevant - len(found)
    last = len(shown) if imputation == "optimistic" else n_items - n_missing
    return found + [last + t for t in range(1, n_missing + 1)]


@pytest.mark.slow
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from([-1, 0, 1, 2]), st.sampled_from([NO, 0, 1, 2, 3])),
            min_size=1,
            max_size=12,
        ),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from(["worst", "best", "stable"]),
    st.sampled_from([None, 20]),
    st.sampled_from(["pessimistic", "optimistic"]),
    st.randoms(use_true_random=False),
)
def test_any_queries(queries, ties, n_items, imputation, random):
    rows = [(query, *row) for query, rows in enumerate(queries) for row in rows]
    if ties != "stable":
        random.shuffle(rows)
    groups, y_true, y_score = zip(*rows, strict=True)
    result = relevant_positions(y_true, y_score, n_items, groups=groups, ties=ties)
    (imputed,) = comparable([result], imputation, result.n_items)
    for query, actual in zip(queries, by_query(result, imputed), strict=True):
        n_relevant = sum(label > 0 for label, *_ in query)
        expected = by_loop(query, ties, n_items or len(query) + n_relevant, imputation)
        assert actual.tolist() == expected


class TestErrors:
    @pytest.mark.parametrize("n_items", [0, -1, 2.0, True, "9"])
    def test_n_items(self, n_items):
        with pytest.raises(ValueError, match="n_items must be a whole number"):
            positions([1, 0], [2, 1], n_items=n_items)

    def test_largest_collection(self):
        n = 2**45
        assert positions([1, 1], [1, NO], n_items=n) == [1, n]
        with pytest.raises(ValueError, match="from 1 to 35184372088832, got 35184372088833"):
            positions([1, 1], [1, NO], n_items=n + 1)

    def test_too_few_items(self):
        with pytest.raises(
            ValueError,
            match=r"n_items=3 is too small for query 'b', which has 3 retrieved documents and 1 "
            r"missing relevant documents: pass .* here 4 or more, or None",
        ):
            relevant_positions(
                [1, 0, 0, 0, 1], [5, 4, 3, 2, NO], groups=["a", "b", "b", "b", "b"], n_items=3
            )

    def test_ties(self):
        with pytest.raises(ValueError, match="ties='average' is not possible for positions"):
            positions([1, 0], [2, 1], ties="average")

"""Lexicographic preferences, against comparisons element by element."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from ranked_positions import by_query, preference_matrix, preferences, relevant_positions
from skfilterrank._lists import positions as position_order
from skfilterrank._lists.positions import PreferenceMatrix, comparable
from skfilterrank.metrics import lexicographic_preference, recall_paired_preference

NO = -np.inf
KINDS = ("recall", "precision")


def compare(p, q, kind):
    """Equation 11, or the same from the first position down."""
    levels = list(zip(p, q, strict=True))
    for mine, other in reversed(levels) if kind == "recall" else levels:
        if mine != other:
            return 1 if mine < other else -1
    return 0


def prefer(y_true, a, b, **params):
    """The preference of one query."""
    return lexicographic_preference(y_true, a, b, groups=["q"] * len(y_true), **params).tolist()


class TestByHand:
    # a: relevant at 1, 4 and 5; b: at 2, 3 and 5; c: at 1 and 2, one missing
    y_true = (1, 1, 1, 0, 0)
    a = (5, 2, 1, 4, 3)
    b = (4, 3, 1, 5, 2)
    c = (5, 4, NO, 3, 2)

    def test_pairs(self):
        assert prefer(self.y_true, self.a, self.b) == [-1]
        assert prefer(self.y_true, self.b, self.a) == [1]
        assert prefer(self.y_true, self.a, self.a) == [0]
        assert prefer(self.y_true, self.a, self.b, kind="precision") == [1]

    def test_missing(self):
        assert prefer(self.y_true, self.c, self.a) == [-1]
        assert prefer(self.y_true, self.c, self.a, kind="precision") == [1]
        # Of five items the missing one is the fifth, as the last of a.
        assert prefer(self.y_true, self.c, self.a, n_items=5) == [1]
        # Right behind the others it is the fifth, too.
        assert prefer(self.y_true, self.c, self.a, imputation="optimistic") == [1]

    def test_nothing_relevant(self):
        assert prefer([0, 0], [2, 1], [1, NO]) == [0]

    def test_matrix(self):
        systems = {"a": self.a, "b": self.b, "c": self.c}
        result = preference_matrix(self.y_true, systems, groups=["q"] * 5)
        assert result.ranks.loc["q"].to_dict() == {"a": 2, "b": 1, "c": 3}
        assert preferences(result).tolist() == [[[0, -1, 1], [1, 0, 1], [-1, -1, 0]]]
        assert result.n_relevant.tolist() == [3]

    def test_equal_systems_share_ranks(self):
        systems = dict(enumerate((self.a, self.b, self.a, self.a)))
        result = preference_matrix(self.y_true, systems, groups=["q"] * 5)
        assert result.ranks.to_numpy().tolist() == [[3, 1, 3, 3]]
        assert result.ranks.columns.tolist() == [0, 1, 2, 3]

    def test_tuples_as_names(self):
        systems = {("bm25", 1): [2, 1], ("bm25", 2): [1, 2]}
        columns = preference_matrix([1, 0], systems, groups=[0, 0]).ranks.columns
        assert columns.nlevels == 1
        assert columns.tolist() == list(systems)


@st.composite
def several_systems(draw):
    """Queries of up to 9 rows with some systems' scores."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5))
    n = sum(sizes)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y_true = draw(st.lists(st.sampled_from([0, 1, 1]), min_size=n, max_size=n))
    score = st.lists(st.sampled_from([NO, 1, 2, 3, 4]), min_size=n, max_size=n)
    return groups, np.array(y_true), draw(st.lists(score, min_size=1, max_size=5))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_items", "imputation"),
    [(None, "pessimistic"), (None, "optimistic"), (9, "pessimistic"), (500, "optimistic")],
)
@pytest.mark.parametrize("kind", KINDS)
@times(1 / 3)
@given(several_systems())
def test_against_element_by_element(kind, imputation, n_items, case):
    groups, y_true, systems = case
    params = {"kind": kind, "n_items": n_items, "imputation": imputation}
    # 1000 items are more than any list and its missing documents need.
    found = [relevant_positions(y_true, each, n_items or 1000, groups=groups) for each in systems]
    imputed = comparable(found, imputation, found[0].n_items)
    each = [by_query(one, other) for one, other in zip(found, imputed)]
    expected = np.array(
        [
            [[compare(p[query], q[query], kind) for q in each] for p in each]
            for query in range(groups[-1] + 1)
        ]
    )
    for a, b in combinations(range(len(systems)), 2):
        actual = lexicographic_preference(y_true, systems[a], systems[b], groups=groups, **params)
        np.testing.assert_array_equal(actual, expected[:, a, b])
    if (n_items, imputation) != (None, "pessimistic"):
        return
    result = preference_matrix(y_true, dict(enumerate(systems)), groups=groups, kind=kind)
    np.testing.assert_array_equal(preferences(result), expected)
    again = PreferenceMatrix.from_positions(dict(enumerate(found)), kind=kind)
    pd.testing.assert_frame_equal(again.ranks, result.ranks)
    # Mid-ranks: one half more than the better ones and half of the equal ones, itself among them.
    better, equal = (expected < 0).sum(axis=2), (expected == 0).sum(axis=2)
    np.testing.assert_array_equal(result.ranks, better + (equal + 1) / 2)


class TestErrors:
    def test_parameters(self):
        for changes, message in (
            ({"kind": "f1"}, "kind must be one of 'recall', 'precision'"),
            ({"imputation": "none"}, "imputation must be one of"),
            ({"ties": "average"}, "ties='average' is not possible for positions"),
            ({"n_items": 0}, "n_items must be a whole number"),
            ({"n_items": 1}, "n_items=1 is too small for query 'q'"),
        ):
            with pytest.raises(ValueError, match=message):
                prefer([1, 0], [2, 1], [1, 2], **changes)

    def test_whose_scores(self):
        with pytest.raises(ValueError, match="y_score holds 1 NaN") as error:
            prefer([1, 0], [2, 1], [1, np.nan])
        assert error.value.__notes__ == ["The error concerns the scores of 'y_score_b'."]

    def test_systems_that_do_not_belong_together(self):
        a = relevant_positions([1, 0], [2, 1], groups=["q", "q"])
        b = relevant_positions([1, 0, 1], [2, 1, 1], groups=["q", "r", "s"])
        with pytest.raises(ValueError, match="'b' and 'a' have different queries: 'r' is in only"):
            PreferenceMatrix.from_positions({"a": a, "b": b})
        b = relevant_positions([1, 1], [2, 1], groups=["q", "q"])
        with pytest.raises(
            ValueError, match="query 'q' has 2 relevant documents for 'b' and 1 for"
        ):
            PreferenceMatrix.from_positions({"a": a, "b": b})
        a, b = (
            relevant_positions([1, 0, 1, last], [2, 1, 2, 1], groups=["q", "q", "r", "r"])
            for last in (0, 1)
        )
        with pytest.raises(
            ValueError, match="query 'r' has 2 relevant documents for 'b' and 1 for"
        ):
            PreferenceMatrix.from_positions({"a": a, "b": b})


class TestRecallPairedPreference:
    @pytest.mark.slow
    @pytest.mark.parametrize("weights", ["uniform", "inverse", "dcg"])
    @given(st.data())
    def test_level_by_level(self, weights, data):
        n = data.draw(st.integers(1, 8))
        y_true = data.draw(st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n))
        score = st.lists(st.sampled_from([-np.inf, *range(9)]), min_size=n, max_size=n)
        a, b = data.draw(score), data.draw(score)
        found = recall_paired_preference(y_true, a, b, groups=["q"] * n, weights=weights)
        lists = []
        for each in (a, b):
            order = sorted(range(n), key=lambda row: (-each[row], y_true[row]))
            shown = [row for row in order if each[row] > -np.inf]
            lists.append([place for place, row in enumerate(shown, 1) if y_true[row]])
        weight = {
            "uniform": lambda i: 1,
            "inverse": lambda i: 1 / i,
            "dcg": lambda i: 1 / np.log2(i + 1),
        }[weights]
        won = total = 0
        for i in range(1, sum(y_true) + 1):
            p, q = (places[i - 1] if i <= len(places) else np.inf for places in lists)
            won += weight(i) * ((p < q) - (p > q))
            total += weight(i)
        assert found[0] == pytest.approx(won / total if total else 0)

    def test_odd_weights(self):
        with pytest.raises(ValueError, match="weights must be one of"):
            recall_paired_preference([1], [1], [1], groups=["q"], weights="log")

    def test_gains_ties_and_unjudged(self):
        """One query: a has the good document first, b the tied or unjudged one."""
        query = {"groups": ["q"] * 3}
        a, b = [3, 2, 1], [1, 1, 3]
        assert recall_paired_preference([1, 2, 0], a, b, **query).tolist() == [1]
        # Of labels 1 and 2 only the second is relevant, which a has in place 2.
        only = {0: 0, 1: 0, 2: 1}
        assert recall_paired_preference([1, 2, 0], a, b, gains=only, **query).tolist() == [1]
        only = {0: 1, 1: 0, 2: 0}
        assert recall_paired_preference([1, 2, 0], a, b, gains=only, **query).tolist() == [-1]
        # Tied with another, the relevant document is last of the two, or the first one.
        tied = [1, 1, 0]
        assert recall_paired_preference([1, 0, 0], [1, 2, 0], tied, **query).tolist() == [0]
        best = recall_paired_preference([1, 0, 0], [1, 2, 0], tied, ties="best", **query)
        assert best.tolist() == [-1]
        # Unjudged documents hold a place, or none.
        holes = [np.nan, 1, 0]
        a, b = [3, 2, 1], [1, 2, 3]
        assert recall_paired_preference(holes, a, b, **query).tolist() == [0]
        dropped = recall_paired_preference(holes, a, b, unjudged="drop", **query)
        assert dropped.tolist() == [1]


@pytest.mark.parametrize("n_items", [2**32 - 1, 2**32, 2**32 + 1, 2**40])
def test_collections_beyond_four_bytes(n_items):
    """The filtered item is the last of n_items, whose lowest four bytes may be 0."""
    shows, filters = [3, 2, 1], [NO, 3, 2]
    for kind in KINDS:
        assert prefer([1, 0, 0], shows, filters, kind=kind, n_items=n_items) == [1]
    # Among items so far down, too.
    assert prefer([1, 1, 0], [1, NO, 0], [NO, NO, 0], n_items=n_items) == [1]


@pytest.mark.parametrize("kind", KINDS)
def test_how_many_are_sorted_at_once_does_not_matter(kind, monkeypatch):
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(12), rng.integers(1, 15, 12))
    y_true = rng.random(len(groups)) < 0.6
    systems = dict(enumerate(rng.integers(0, 9, (len(groups), 3)).T))
    whole = preference_matrix(y_true, systems, groups=groups, kind=kind)
    for cells in (1, 6, 20, 90):
        monkeypatch.setattr(position_order, "_CELLS", cells)
        parts = preference_matrix(y_true, systems, groups=groups, kind=kind)
        pd.testing.assert_frame_equal(parts.ranks, whole.ranks)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_long_lists(kind):
    """Thousands of relevant documents that differ in a single one, and queries of all sizes."""
    rng = np.random.default_rng(0)
    sizes = [40_000, 1, 7, 300, 2000, 3, 70]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y_true = rng.random(len(groups)) < 0.26
    # Few in the query of 2000 rows, so that positions differ in more than their last byte.
    y_true &= (groups != 4) | (rng.random(len(groups)) < 0.02)
    assert y_true[groups == 0].sum() > 10_000
    base = rng.permutation(len(groups)).astype(float)
    # One relevant document of the long query changes places with one that is not.
    other = base.copy()
    ones, zeros = (np.flatnonzero((groups == 0) & (y_true == value)) for value in (1, 0))
    other[[ones[7], zeros[9]]] = other[[zeros[9], ones[7]]]
    systems = {"base": base, "other": other, "again": base}
    systems |= {f"random {i}": rng.random(len(groups)) for i in range(5)}
    result = preference_matrix(y_true, systems, groups=groups, kind=kind)
    each = [by_query(relevant_positions(y_true, y, groups=groups)) for y in systems.values()]
    found = preferences(result)
    for i, p in enumerate(each):
        for j, q in enumerate(each):
            expected = [compare(p[query], q[query], kind) for query in range(len(sizes))]
            assert found[:, i, j].tolist() == expected
    assert found[0, 0, 1] == (1 if base[ones[7]] > base[zeros[9]] else -1)

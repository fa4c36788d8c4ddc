"""Average precision, sum of precisions and Q-measure: values by hand, other libraries, ties."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from one_query import one
from skfilterrank.metrics import average_precision_score, evaluate
from skfilterrank.metrics._average_precision import q_measure_score, sum_precision_score

NO, NAN = -np.inf, np.nan


class TestByHand:
    """Relevant are the first, the fourth and the fifth place; one relevant document is missed."""

    y_true = (2, 0, NAN, 1, 1, -1, 3)
    y_score = (9, 8, 7, 6, 5, 4, NO)

    def value(self, function, **params):
        return one(function, self.y_true, self.y_score, **params)

    def test_sum_precision(self):
        assert self.value(sum_precision_score) == pytest.approx(1 / 1 + 2 / 4 + 3 / 5)
        assert self.value(sum_precision_score, k=4) == pytest.approx(1 / 1 + 2 / 4)
        dropped = self.value(sum_precision_score, unjudged="drop")
        assert dropped == pytest.approx(1 / 1 + 2 / 3 + 3 / 4)

    @pytest.mark.parametrize(
        ("k", "normalize", "expected"),
        [
            (None, "R", (1 + 2 / 4 + 3 / 5) / 4),
            (None, "min", (1 + 2 / 4 + 3 / 5) / 4),
            (2, "R", 1 / 4),
            (2, "min", 1 / 2),
            (2, "k", 1 / 2),
            (20, "R", (1 + 2 / 4 + 3 / 5) / 4),
            (20, "min", (1 + 2 / 4 + 3 / 5) / 4),
            (20, "k", (1 + 2 / 4 + 3 / 5) / 20),
        ],
    )
    def test_average_precision(self, k, normalize, expected):
        actual = self.value(average_precision_score, k=k, normalize=normalize)
        assert actual == pytest.approx(expected)

    def test_all_relevant_documents_count_unless_told(self):
        assert self.value(average_precision_score, k=2) == pytest.approx(1 / 4)

    def test_mean_precision_at_what_is_found(self):
        found = {None: (1 + 2 / 4 + 3 / 5) / 3, 4: (1 + 2 / 4) / 2, 2: 1, 20: 2.1 / 3}
        for k, expected in found.items():
            actual = self.value(average_precision_score, k=k, normalize="found")
            assert actual == pytest.approx(expected)

    def test_q_measure(self):
        # The ideal list is 3, 2, 1, 1, so that cg* is 3, 5, 6, 7 and 7 from then on.
        blended = [(1 + 2) / (1 + 3), (2 + 3) / (4 + 7), (3 + 4) / (5 + 7)]
        assert self.value(q_measure_score) == pytest.approx(sum(blended) / 4)
        assert self.value(q_measure_score, k=4) == pytest.approx(sum(blended[:2]) / 4)
        assert self.value(q_measure_score, k=1) == pytest.approx(blended[0])
        assert self.value(q_measure_score, k=1, normalize="R") == pytest.approx(blended[0] / 4)
        assert self.value(q_measure_score, k=8, normalize="k") == pytest.approx(sum(blended) / 8)

    @pytest.mark.parametrize("function", [average_precision_score, q_measure_score])
    @pytest.mark.parametrize("normalize", ["R", "min", "k"])
    def test_nothing_relevant(self, function, normalize):
        y_true, groups = [0, 0, 1, 0], [1, 1, 2, 2]
        values = function.per_query(
            y_true, [2, 1, 2, 1], groups=groups, k=2, normalize=normalize, undefined="drop"
        )
        np.testing.assert_array_equal(values, [np.nan, 1 / 2 if normalize == "k" else 1])

    def test_smallest_beta(self):
        y_true, y_score = [0, 2, 1, 0], [4, 3, 2, 1]
        for beta in (0, 1e-12):
            expected = one(average_precision_score, y_true, y_score)
            assert one(q_measure_score, y_true, y_score, beta=beta) == pytest.approx(expected)

    def test_beta(self):
        blended = [(1 + 10 * 2) / (1 + 10 * 3), (2 + 10 * 3) / (4 + 10 * 7)]
        actual = self.value(q_measure_score, k=4, beta=10)
        assert actual == pytest.approx(sum(blended) / 4)

    def test_gains_as_given(self):
        """The paper's gains of its three grades, 3, 2 and 1, doubled."""
        doubled = self.value(q_measure_score, gains=lambda label: 2 * label)
        assert doubled == pytest.approx(self.value(q_measure_score, beta=2))


class TestOptions:
    """What the options may be, and where they can be given."""

    def test_dividing_by_k_needs_k(self):
        for function in (average_precision_score, q_measure_score):
            with pytest.raises(ValueError, match=r"normalize='k' divides by the cut-off.*pass k"):
                one(function, [1, 0], [2, 1], normalize="k")

    def test_bad_options(self):
        allowed = {average_precision_score: "'R', 'min', 'k', 'found'"}
        allowed[q_measure_score] = "'R', 'min', 'k'"
        for function, names in allowed.items():
            with pytest.raises(ValueError, match=f"normalize must be one of {names}, got 'n'"):
                one(function, [1, 0], [2, 1], normalize="n")
        for beta in (-1, NAN, np.inf, True, "1", None):
            with pytest.raises(ValueError, match="beta must be a finite number from 0 up, got"):
                one(q_measure_score, [1, 0], [2, 1], beta=beta)


def ragas_context_precision(verdicts):
    """The formula of RAGAS, in its order: mean precision@k at the verdicts of 1."""
    denominator = sum(verdicts) + 1e-10
    numerator = sum(sum(verdicts[: i + 1]) / (i + 1) * verdicts[i] for i in range(len(verdicts)))
    return numerator / denominator


@given(verdicts=st.lists(st.integers(0, 1), min_size=1, max_size=12), missed=st.integers(0, 3))
def test_context_measures_are_those_of_ragas(verdicts, missed):
    n = len(verdicts)
    y_true, y_score = [*verdicts, *[1] * missed], [*range(n, 0, -1), *[NO] * missed]
    names = ["context_precision", "context_recall"]
    found = evaluate(y_true, y_score, names, groups=["q"] * len(y_true)).means
    assert found["context_precision"] == pytest.approx(ragas_context_precision(verdicts), abs=1e-9)
    # IDBasedContextRecall: shared ids over reference ids.
    retrieved = {i for i in range(n) if verdicts[i]}
    reference = retrieved | set(range(n, n + missed))
    share = len(retrieved & reference) / len(reference) if reference else 0.0
    assert found["context_recall"] == pytest.approx(share)


@given(
    gains=st.lists(st.integers(0, 1), min_size=1, max_size=7),
    scores=st.lists(st.integers(0, 2), min_size=7, max_size=7),
    k=st.none() | st.integers(1, 8),
)
def test_what_is_found_is_the_mean_over_tied_orders(gains, scores, k):
    scores = scores[: len(gains)]
    actual = one(average_precision_score, gains, scores, k=k, normalize="found")
    orders = [
        [gains[i] for i in sorted(order, key=lambda i: -scores[i])][:k]
        for order in permutations(range(len(gains)))
    ]
    expected = np.mean([ragas_context_precision(order) for order in orders])
    assert actual == pytest.approx(expected, abs=1e-9)

"""Average precision, sum of precisions and Q-measure: values by hand, other libraries, ties."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score as sklearn_average_precision

from skfilterrank.metrics import (
    average_precision_score,
    evaluate,
    random_ranking_bound,
)
from skfilterrank.metrics._average_precision import q_measure_score, sum_precision_score
from trec_runs import random_run

NO, NAN = -np.inf, np.nan


def of_one(function, y_true, y_score, **params):
    """The value of one query."""
    return function(y_true, y_score, groups=["q"] * len(y_true), **params)


class TestByHand:
    """Relevant are the first, the fourth and the fifth place; one relevant document is missed."""

    y_true = (2, 0, NAN, 1, 1, -1, 3)
    y_score = (9, 8, 7, 6, 5, 4, NO)

    def value(self, function, **params):
        return of_one(function, self.y_true, self.y_score, **params)

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

    def test_mean_precision_at_what_is_found(self):
        found = {None: (1 + 2 / 4 + 3 / 5) / 3, 4: (1 + 2 / 4) / 2, 2: 1, 20: 2.1 / 3}
        for k, expected in found.items():
            actual = self.value(average_precision_score, k=k, normalize="found")
            assert actual == pytest.approx(expected)

    def test_q_measure(self):
        # The ideal list is 3, 2, 1, 1, so that cg* is 3, 5, 6, 7 and 7 from then on.
        blended = [
            (1 + 2) / (1 + 3),
            (2 + 3) / (4 + 7),
            (3 + 4) / (5 + 7),
        ]
        assert self.value(q_measure_score) == pytest.approx(sum(blended) / 4)
        assert self.value(q_measure_score, k=4) == pytest.approx(sum(blended[:2]) / 4)
        assert self.value(q_measure_score, k=1) == pytest.approx(blended[0])
        assert self.value(q_measure_score, k=1, normalize="R") == pytest.approx(blended[0] / 4)
        assert self.value(q_measure_score, k=8, normalize="k") == pytest.approx(sum(blended) / 8)

    @pytest.mark.parametrize("function", [average_precision_score, q_measure_score])
    @pytest.mark.parametrize("normalize", ["R", "min", "k"])
    def test_nothing_relevant(self, function, normalize):
        y_true, groups = [0, 0, 1, 0], [1, 1, 2, 2]
        values = function(
            y_true,
            [2, 1, 2, 1],
            groups=groups,
            k=2,
            normalize=normalize,
            undefined="drop",
            average=None,
        )
        np.testing.assert_array_equal(values, [np.nan, 1 / 2 if normalize == "k" else 1])

    def test_smallest_beta(self):
        y_true, y_score = [0, 2, 1, 0], [4, 3, 2, 1]
        for beta in (0, 1e-12):
            expected = of_one(average_precision_score, y_true, y_score)
            assert of_one(q_measure_score, y_true, y_score, beta=beta) == pytest.approx(expected)

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
                of_one(function, [1, 0], [2, 1], normalize="k")

    def test_bad_options(self):
        allowed = {average_precision_score: "'R', 'min', 'k', 'found'"}
        allowed[q_measure_score] = "'R', 'min', 'k'"
        for function, names in allowed.items():
            with pytest.raises(ValueError, match=f"normalize must be one of {names}, got 'n'"):
                of_one(function, [1, 0], [2, 1], normalize="n")
        for beta in (-1, NAN, np.inf, True, "1", None):
            with pytest.raises(ValueError, match="beta must be a finite number from 0 up, got"):
                of_one(q_measure_score, [1, 0], [2, 1], beta=beta)

    def test_by_name(self):
        y_true, y_score = np.array([0, 3, 1, 0, 1]), np.arange(5.0)
        expected = of_one(q_measure_score, y_true, y_score, beta=2, normalize="R", k=2)
        name = "q_measure(beta=2,normalize=R)@2"
        table = evaluate(y_true, y_score, [name, "ap(normalize=k)@2"], groups=np.zeros(5))
        # In the top 2 are a document of gain 1 and one of gain 0.
        assert table.to_numpy().tolist() == [[pytest.approx(expected), 1 / 2]]


@pytest.mark.parametrize("k", [None, 1, 2, 5, 9])
def test_the_mean_of_all_tied_orders_is_the_mean_of_random_rankings(k):
    """All documents tied: the closed form of the expectation, which knows nothing of ties."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(60), 9)
    y_true = rng.choice([0, 1], len(groups), p=[0.6, 0.4])
    expected = random_ranking_bound(
        y_true, "sp", groups=groups, k=k, average=None, random_state=0
    ).value
    actual = sum_precision_score(y_true, np.ones(len(groups)), groups=groups, k=k, average=None)
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.slow
def test_long_ties_against_random_orders():
    """400 documents of 4 scores: within 5 standard errors of the mean over shuffled orders."""
    rng = np.random.default_rng(0)
    y_true, y_score = rng.choice([0, 0, 0, 1, 2], 400), rng.integers(0, 4, 400)
    orders = np.argsort(-y_score + 1e-3 * rng.random((4000, 400)), axis=1)
    strict = np.tile(-np.arange(400.0), 4000)
    groups = np.repeat(np.arange(4000), 400)
    for function in (average_precision_score, q_measure_score):
        for k in (10, None):
            drawn = function(y_true[orders].ravel(), strict, groups=groups, k=k, average=None)
            error = drawn.std() / np.sqrt(len(drawn))
            assert of_one(function, y_true, y_score, k=k) == pytest.approx(
                drawn.mean(), abs=5 * error
            )


@pytest.mark.slow
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([-1, 0, 1, 3]), st.sampled_from([NO, 0, 1, 2])), min_size=1
    ),
    k=st.integers(1, 12),
)
def test_how_they_hang_together(rows, k):
    y_true, y_score = zip(*rows)
    n_relevant = sum(label > 0 for label in y_true)
    total = of_one(sum_precision_score, y_true, y_score, k=k)
    divisors = {"R": n_relevant, "min": min(n_relevant, k), "k": k}
    for normalize, divisor in divisors.items():
        ap = of_one(average_precision_score, y_true, y_score, k=k, normalize=normalize)
        assert ap == pytest.approx(total / divisor if n_relevant else 0)
        q = of_one(q_measure_score, y_true, y_score, k=k, normalize=normalize, beta=0)
        assert q == pytest.approx(ap)
        # The weight of the gains goes to 0 without a jump.
        q = of_one(q_measure_score, y_true, y_score, k=k, normalize=normalize, beta=1e-9)
        assert q == pytest.approx(ap, abs=1e-7)


def test_scikit_learn():
    """Without ties, lists that hold every document."""
    rng = np.random.default_rng(2)
    y_true = rng.choice([0, 1], (30, 50), p=[0.7, 0.3])
    y_score = rng.permuted(np.tile(np.arange(50.0), (30, 1)), axis=1)
    expected = [sklearn_average_precision(*query) for query in zip(y_true, y_score)]
    actual = average_precision_score(
        y_true.ravel(), y_score.ravel(), groups=np.repeat(np.arange(30), 50), average=None
    )
    np.testing.assert_allclose(actual, expected, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "labels"), enumerate([[0, 1], [0, 0, 0, 0, 1, 2], [0]]), ids=str)
def test_trec_eval(seed, labels):
    """Values per query; ties by document id, judged documents not retrieved and the reverse."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run, rows = random_run(seed, labels)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "map_cut.1,3,10,100"}).evaluate(run)
    groups, docnos, y_true, y_score = zip(*rows)
    for name, k in {"map": None, **{f"map_cut_{k}": k for k in (1, 3, 10, 100)}}.items():
        actual = average_precision_score(
            y_true, y_score, groups=groups, ties=docnos, k=k, average=None
        )
        expected = [theirs[query][name] for query in sorted(qrels)]
        np.testing.assert_allclose(actual, expected, atol=1e-9, err_msg=name)


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
    found = evaluate(y_true, y_score, names, groups=["q"] * len(y_true), average="mean")
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
    actual = of_one(average_precision_score, gains, scores, k=k, normalize="found")
    orders = [
        [gains[i] for i in sorted(order, key=lambda i: -scores[i])][:k]
        for order in permutations(range(len(gains)))
    ]
    expected = np.mean([ragas_context_precision(order) for order in orders])
    assert actual == pytest.approx(expected, abs=1e-9)

"""The generator: its distributions, and that its scores are Bayes-optimal."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from profiles import times
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.datasets._generator import _bayes_scores


def dcg(gains):
    return sum(gain / np.log2(i + 2) for i, gain in enumerate(gains))


def bounds(gains, k):
    """I and W of eq. 3: the best and the worst list."""
    ideal = dcg(sorted((g for g in gains if g > 0), reverse=True)[:k])
    worst = dcg(sorted(g for g in gains if g < 0)[:k])
    return ideal, worst


def ndcg_f(order, gains, k):
    ideal, worst = bounds(gains, k)
    return (dcg([gains[d] for d in order][:k]) - worst) / (ideal - worst) if ideal > worst else 0


def all_labellings(posterior, shares, query_effect):
    """Every labelling of one query and its probability given the features."""
    n_documents, n_labels = posterior.shape
    labellings = list(product(range(n_labels), repeat=n_documents))
    likelihood = posterior / shares
    log_probability = []
    for labelling in labellings:
        if query_effect == 0:
            log_prior = np.log(shares[list(labelling)]).sum()
        else:
            # Dirichlet-multinomial: prod_l Gamma(a_l + c_l) / Gamma(a_l), up to a factor.
            a = (1 / query_effect - 1) * shares
            counts = np.bincount(labelling, minlength=n_labels)
            log_prior = (gammaln(a + counts) - gammaln(a)).sum()
        log_probability.append(
            log_prior + np.log(likelihood[np.arange(n_documents), labelling]).sum()
        )
    probability = np.exp(np.array(log_probability) - max(log_probability))
    return labellings, probability / probability.sum()


def brute_force_scores(posterior, shares, gains, query_effect, k):
    scores = np.zeros(len(posterior))
    labellings, probability = all_labellings(posterior, shares, query_effect)
    for labelling, p in zip(labellings, probability, strict=True):
        g = gains[list(labelling)]
        ideal, worst = bounds(g, k)
        if ideal > worst:
            scores += p * g / (ideal - worst)
    return scores


@st.composite
def queries(draw, max_documents):
    """Posterior, shares, gains, query effect and cutoff of one query."""
    n_labels = draw(st.integers(1, 4))
    n_documents = draw(st.integers(1, max_documents))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sharpness = draw(st.sampled_from([0.3, 1.0, 5.0]))
    posterior = rng.dirichlet(np.full(n_labels, sharpness), size=n_documents) + 1e-9
    shares = rng.dirichlet(np.full(n_labels, 3.0))
    gain = st.sampled_from([-10.0, -1.0, -0.5, 0.0, 0.1, 1.0, 2.0, 7.0])
    gains = np.array(draw(st.lists(gain, min_size=n_labels, max_size=n_labels)))
    query_effect = draw(st.sampled_from([0.0, 0.01, 0.3, 0.9]))
    k = draw(st.sampled_from([None, 1, 2, 3, 10]))
    return posterior / posterior.sum(axis=1, keepdims=True), shares, gains, query_effect, k


@pytest.mark.slow
@times(2)
@given(queries(max_documents=5))
def test_scores_equal_enumeration(query):
    posterior, shares, gains, query_effect, k = query
    got = _bayes_scores(posterior, np.array([len(posterior)]), shares, gains, query_effect, k)
    expected = brute_force_scores(posterior, shares, gains, query_effect, k)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@given(queries(max_documents=3))
def test_no_list_beats_the_bayes_list(query):
    posterior, shares, gains, query_effect, k = query
    n_documents = len(posterior)
    scores = _bayes_scores(posterior, np.array([n_documents]), shares, gains, query_effect, k)
    labellings, probability = all_labellings(posterior, shares, query_effect)

    def expected(order):
        return sum(
            p * ndcg_f(order, gains[list(labelling)], k)
            for labelling, p in zip(labellings, probability, strict=True)
        )

    bayes_list = [d for d in np.argsort(-scores) if scores[d] >= 0]
    lists = [order for m in range(n_documents + 1) for order in permutations(range(n_documents), m)]
    assert expected(bayes_list) >= max(map(expected, lists)) - 1e-9


def test_one_document_is_filtered_by_its_odds():
    # With one document I - W = |gain|: the score is P(gain > 0) - P(gain < 0).
    posterior = np.array([[0.5, 0.3, 0.2]])
    shares, gains = np.array([0.2, 0.3, 0.5]), np.array([-10.0, 1.0, 2.0])
    np.testing.assert_allclose(
        _bayes_scores(posterior, np.array([1]), shares, gains, 0.4, 3), [0.3 + 0.2 - 0.5]
    )


def test_queries_do_not_see_each_other():
    rng = np.random.default_rng(0)
    sizes = np.array([3, 1, 4, 3, 2])
    posterior = rng.dirichlet(np.ones(3), size=sizes.sum())
    arguments = np.array([0.3, 0.3, 0.4]), np.array([-1.0, 1.0, 2.0]), 0.5, 2
    alone = [
        _bayes_scores(part, np.array([len(part)]), *arguments)
        for part in np.split(posterior, np.cumsum(sizes)[:-1])
    ]
    np.testing.assert_allclose(
        _bayes_scores(posterior, sizes, *arguments), np.concatenate(alone), rtol=1e-12
    )


@pytest.mark.slow
def test_large_sharp_queries_stay_finite_and_bounded():
    scores = make_rank_and_filter(
        20, documents_per_query=60, query_effect=0.6, class_sep=8.0, k=10, random_state=0
    ).bayes_scores
    assert np.isfinite(scores).all()
    assert np.abs(scores).max() <= 1


@pytest.mark.slow
def test_default_sizes_and_labels_follow_the_paper():
    n_queries = 50_000
    _, y, groups, _ = make_rank_and_filter(n_queries, bayes=False, random_state=0)
    sizes = np.bincount(groups)
    for size, share in {1: 0.52, 2: 0.241}.items():
        assert abs((sizes == size).mean() - share) < 4 * np.sqrt(share * (1 - share) / n_queries)
    assert sizes.max() <= 15
    assert round(sizes.mean(), 1) == 2.1
    for label, share in {-1: 0.25, 1: 0.406, 2: 0.344}.items():
        assert abs((y == label).mean() - share) < 4 * np.sqrt(share * (1 - share) / len(y))
    assert y.dtype == np.int64


@pytest.mark.parametrize("query_effect", [0.05, 0.27, 0.9])
def test_query_effect_is_the_correlation_of_labels(query_effect):
    n_queries = 30_000
    _, y, _, _ = make_rank_and_filter(
        n_queries,
        documents_per_query=4,
        query_effect=query_effect,
        n_features=1,
        n_informative=1,
        bayes=False,
        random_state=0,
    )
    forbidden = (y < 0).reshape(-1, 4)
    assert abs(forbidden.mean() - 0.25) < 0.01
    for i, j in [(0, 1), (0, 3), (2, 3)]:
        observed = np.corrcoef(forbidden[:, i], forbidden[:, j])[0, 1]
        assert abs(observed - query_effect) < 4 / np.sqrt(n_queries)
    # Dirichlet-multinomial probability of four forbidden documents.
    a = 1 / query_effect - 1
    share = np.prod([(0.25 * a + i) / (a + i) for i in range(4)])
    observed = forbidden.all(axis=1).mean()
    assert abs(observed - share) < 4 * np.sqrt(share * (1 - share) / n_queries)


def test_features_of_a_label_are_gaussian():
    X, y, _, _ = make_rank_and_filter(
        20_000, class_sep=2.0, n_features=6, n_informative=4, bayes=False, random_state=0
    )
    means = np.array([X[y == label].mean(axis=0) for label in (-1, 1, 2)])
    # Neighbours lie class_sep apart on the line, and off it by at most 2 * class_sep / 2.
    for low, high in [(0, 1), (1, 2)]:
        distance = np.linalg.norm(means[high, :4] - means[low, :4])
        assert 2.0 - 0.1 < distance < 2.0 * np.sqrt(2) + 0.1
    assert np.abs(means[:, 4:]).max() < 0.05
    for label in (-1, 1, 2):
        covariance = np.cov(X[y == label].T)
        np.testing.assert_allclose(covariance, np.eye(6), atol=0.07)


def test_sizes_as_int_dict_and_array():
    def sizes(documents_per_query):
        data = make_rank_and_filter(
            3000, documents_per_query=documents_per_query, bayes=False, random_state=0
        )
        return Counter(np.bincount(data.groups).tolist())

    assert sizes(7) == {7: 3000}
    assert set(sizes({2: 0.5, 5: 0.5, 9: 0.0})) == {2, 5}
    drawn = sizes([1, 1, 1, 8])
    assert set(drawn) == {1, 8}
    assert abs(drawn[1] / 3000 - 0.75) < 0.05


def test_gains_and_cutoff_change_the_scores_alone():
    plain = make_rank_and_filter(200, random_state=5)
    harsh = make_rank_and_filter(200, gains={-1: -10, 1: 1, 2: 1}, k=1, random_state=5)
    np.testing.assert_array_equal(plain.X, harsh.X)
    np.testing.assert_array_equal(plain.y, harsh.y)
    assert (harsh.bayes_scores >= 0).sum() < (plain.bayes_scores >= 0).sum()
    # 2 ** 2 - 1 = 3 and 2 ** 1 - 1 = 1, and -1 as it is.
    np.testing.assert_allclose(
        make_rank_and_filter(200, gains="exp2", random_state=5).bayes_scores,
        make_rank_and_filter(200, gains={-1: -1, 1: 1, 2: 3}, random_state=5).bayes_scores,
    )


def test_all_gains_zero_scores_zero():
    scores = make_rank_and_filter(50, gains=lambda label: 0.0, random_state=0).bayes_scores
    np.testing.assert_array_equal(scores, 0)


def test_no_class_sep_leaves_the_prior():
    # One document: P(gain > 0) - P(gain < 0) = 0.75 - 0.25.
    data = make_rank_and_filter(50, documents_per_query=1, class_sep=0, random_state=0)
    np.testing.assert_allclose(data.bayes_scores, 0.5)


@pytest.mark.parametrize("query_effect", [0.0, 0.3])
def test_repeats_with_the_same_seed(query_effect):
    first, second = (
        make_rank_and_filter(100, query_effect=query_effect, random_state=7) for _ in range(2)
    )
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    other = make_rank_and_filter(100, query_effect=query_effect, random_state=8)
    assert other.X.shape != first.X.shape or not np.array_equal(other.X, first.X)


def test_bayes_false_gives_the_same_data():
    with_scores = make_rank_and_filter(100, random_state=7)
    without = make_rank_and_filter(100, bayes=False, random_state=7)
    assert without.bayes_scores is None
    np.testing.assert_array_equal(with_scores.X, without.X)
    np.testing.assert_array_equal(with_scores.y, without.y)


def test_as_frame():
    arrays = make_rank_and_filter(100, random_state=0)
    frames = make_rank_and_filter(100, as_frame=True, random_state=0)
    assert isinstance(frames.X, pd.DataFrame)
    assert isinstance(frames.y, pd.Series)
    assert frames.y.index.names == ["qid", "docno"]
    assert frames.y.index.is_unique
    assert frames.X.index.equals(frames.y.index)
    assert frames.bayes_scores.index.equals(frames.y.index)
    np.testing.assert_array_equal(frames.y.index.get_level_values("qid"), arrays.groups)
    np.testing.assert_array_equal(frames.X, arrays.X)
    np.testing.assert_array_equal(frames.y, arrays.y)
    np.testing.assert_array_equal(frames.bayes_scores, arrays.bayes_scores)
    assert make_rank_and_filter(3, as_frame=True, bayes=False).bayes_scores is None


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_queries": 0}, ValueError, "n_queries"),
        ({"n_queries": 2.5}, ValueError, "n_queries"),
        ({"n_features": 0}, ValueError, "n_features"),
        ({"n_informative": 0}, ValueError, "n_informative"),
        ({"n_informative": 21}, ValueError, "n_informative must be at most n_features=20, got 21"),
        ({"class_sep": -1.0}, ValueError, "class_sep"),
        ({"class_sep": np.nan}, ValueError, "class_sep"),
        ({"query_effect": 1.0}, ValueError, r"query_effect must be in \[0, 1\), got 1.0"),
        ({"query_effect": "0.5"}, ValueError, "query_effect"),
        ({"k": 0}, ValueError, "k must be"),
        ({"k": 2.0}, ValueError, "k must be"),
        ({"labels": {-1: 0.5, 1: 0.6}}, ValueError, "in labels must sum to 1, got 1.1"),
        ({"labels": {-1: -0.5, 1: 1.5}}, ValueError, "labels must have probabilities >= 0"),
        ({"labels": {-1: np.nan, 1: 1.0}}, ValueError, "labels must have probabilities >= 0"),
        ({"labels": {"bad": 0.5, "good": 0.5}}, ValueError, "labels must have finite numbers"),
        ({"labels": {np.inf: 0.5, 1: 0.5}}, ValueError, "labels must have finite numbers"),
        ({"labels": {}}, ValueError, "labels must be a non-empty dict"),
        ({"labels": [-1, 1]}, ValueError, "labels must be a non-empty dict"),
        ({"documents_per_query": {1: 0.2, 2: 0.2}}, ValueError, "documents_per_query must sum"),
        ({"documents_per_query": -3}, ValueError, "documents_per_query must hold integers >= 1"),
        ({"documents_per_query": [2, 0]}, ValueError, "documents_per_query must hold integers"),
        ({"documents_per_query": {1.5: 1.0}}, ValueError, "documents_per_query must hold integ"),
        ({"documents_per_query": []}, ValueError, "documents_per_query must be a dict, an int"),
        ({"documents_per_query": [[1, 2]]}, ValueError, "documents_per_query must be a dict"),
        ({"gains": {-1: -1, 1: 1}}, ValueError, "gains"),
        ({"gains": {-1: -1, 1: 1, 2: np.inf}}, ValueError, "finite"),
        ({"documents_per_query": 1000}, ValueError, "Pass bayes=False"),
        (
            {"documents_per_query": 120, "query_effect": 0.5, "labels": {-1: 1e-6, 1: 1 - 1e-6}},
            ValueError,
            "query_effect=0.5, because probabilities exceed the range",
        ),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        make_rank_and_filter(**({"n_queries": 10, "random_state": 0} | arguments))


def test_values_of_probability_0_do_not_occur():
    given = {"n_queries": 30, "random_state": 0}
    found = make_rank_and_filter(
        labels={-1: 0.5, 1: 0.5, 2: 0}, documents_per_query={2: 0.5, 3: 0.5, 9: 0}, **given
    )
    expected = make_rank_and_filter(
        labels={-1: 0.5, 1: 0.5}, documents_per_query={2: 0.5, 3: 0.5}, **given
    )
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_means_of_two_features_lie_on_no_line():
    X, y, *_ = make_rank_and_filter(
        n_queries=60,
        n_features=2,
        n_informative=2,
        class_sep=100.0,
        documents_per_query={5: 1.0},
        bayes=False,
        random_state=0,
    )
    low, middle, high = (X[y == label].mean(axis=0) for label in (-1, 1, 2))
    # Noise of 1 moves an area of about 100 x 100 by little.
    area = np.linalg.det(np.array([middle - low, high - low]))
    assert abs(area) > 1000


def test_as_many_combinations_as_are_feasible(monkeypatch):
    given = {"n_queries": 2, "documents_per_query": {4: 1.0}, "random_state": 0}
    # Counts of three labels and of what is left among four documents: (4 + 3) over 3.
    monkeypatch.setattr("skfilterrank.datasets._generator._MAX_STATES", 35)
    make_rank_and_filter(**given)
    monkeypatch.setattr("skfilterrank.datasets._generator._MAX_STATES", 34)
    with pytest.raises(ValueError, match="at most 34 combinations are feasible, got 35"):
        make_rank_and_filter(**given)

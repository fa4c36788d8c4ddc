"""MaxRepSelector: texts, vectors, similarities, topics."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from scikit_learn_checks import assert_passes_checks
from selections import mask
from skfilterrank.judgments import MaxRepSelector, PriorSelector

WORDS = np.array([f"{a}{b}" for a in "bcdfghklmn" for b in ("an", "el", "is", "ot", "um", "y2")])


def pool(seed=0, n_texts=60):
    """Texts with near-duplicates, three topics in turn, and a prior."""
    rng = np.random.default_rng(seed)
    texts = []
    for number in range(n_texts):
        if number > 6 and rng.uniform() < 0.5:
            words = texts[rng.integers(number)].split()
            words[rng.integers(len(words))] = str(rng.choice(WORDS))
        else:
            words = rng.choice(WORDS, size=rng.integers(8, 30)).tolist()
        texts.append(" ".join(words))
    return texts, np.arange(n_texts) % 3, rng.uniform(0.1, 1, n_texts)


def by_the_letter(similarity, prior):
    """Greedy order and gains by trying all documents at every step."""
    order, gains, best = [], [], np.zeros(len(prior))
    while len(order) < len(prior):
        values = prior @ np.maximum(similarity - best[:, None], 0)
        values[order] = -1
        order.append(int(np.argmax(values)))
        gains.append(values[order[-1]])
        best = np.maximum(best, similarity[:, order[-1]])
    return order, gains


def thresholded(similarity, threshold):
    similarity = np.where(similarity >= threshold - 1e-12, similarity, 0)
    np.fill_diagonal(similarity, 1)
    return similarity


def tf_log_idf(texts):
    """Weights by the definition, word by word."""
    counts = pd.DataFrame([pd.Series(text.split()).value_counts() for text in texts]).fillna(0)
    distinct = counts.drop_duplicates()
    return (counts * np.log(len(distinct) / (distinct > 0).sum())).to_numpy()


def assert_letter(selector, similarity, groups, prior):
    for topic in np.unique(groups):
        rows = np.flatnonzero(groups == topic)
        order, gains = by_the_letter(similarity[np.ix_(rows, rows)], prior[rows])
        np.testing.assert_array_equal(np.argsort(selector.ranking_[rows]), order)
        np.testing.assert_allclose(selector.gains_[rows][order], gains, rtol=1e-9, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8, 1.0])
def test_texts_by_the_letter(threshold):
    texts, groups, prior = pool()
    similarity = thresholded(cosine_similarity(tf_log_idf(texts)), threshold)
    assert np.count_nonzero(similarity) > 60
    selector = MaxRepSelector(threshold).fit(texts, groups=groups, prior=prior)
    assert_letter(selector, similarity, groups, prior)


@pytest.mark.parametrize("kind", ["sparse", "matrix", "dense", "frame"])
def test_vectors_by_the_letter(kind):
    texts, groups, prior = pool(1)
    X = TfidfVectorizer().fit_transform(texts)
    similarity = thresholded(cosine_similarity(X), 0.6)
    X = {
        "sparse": sparse.csc_array(X),
        "matrix": sparse.csr_matrix(X),
        "dense": X.toarray(),
        "frame": pd.DataFrame(X.toarray()).add_prefix("term "),
    }[kind]
    selector = MaxRepSelector(0.6).fit(X, groups=groups, prior=prior)
    assert_letter(selector, similarity, groups, prior)
    assert selector.n_features_in_ == X.shape[1]
    if kind == "frame":
        assert selector.feature_names_in_[3] == "term 3"


@pytest.mark.parametrize("kind", [sparse.csr_array, np.asarray, pd.DataFrame])
def test_precomputed_similarities(kind):
    texts, groups, prior = pool(2)
    similarity = cosine_similarity(TfidfVectorizer().fit_transform(texts))
    # Only the first of two rows stands for the other.
    similarity[3, 0] = 0.0
    np.fill_diagonal(similarity, 0.0)
    selector = MaxRepSelector(0.6, metric="precomputed")
    selector.fit(kind(similarity), groups=groups, prior=prior)
    assert_letter(selector, thresholded(similarity, 0.6), groups, prior)


def test_precomputed_by_hand():
    # Document 1 stands for document 0 with 0.8, the threshold, and for document 2 with less.
    similarity = np.array([[1, 0.8, 0], [0, 1, 0], [0, 0.79, 1]])
    selector = MaxRepSelector(metric="precomputed").fit(similarity, groups=[1, 1, 1])
    assert selector.ranking_.tolist() == [3, 1, 2]
    np.testing.assert_allclose(selector.gains_, [0.2, 1.8, 1])


def test_negative_similarities_count_as_0():
    similarity = np.array([[1, -0.5], [-0.5, 1]])
    selector = MaxRepSelector(1e-12, metric="precomputed").fit(similarity, groups=[1, 1])
    assert selector.gains_.tolist() == [1, 1]


def test_copies_add_nothing():
    texts = ["wine", "rain bread", "oil", "rain bread", "rain bread"]
    selector = MaxRepSelector().fit(texts, groups=[1] * 5, prior=[0.2, 0.1, 0.5, 0.1, 0.1])
    assert selector.ranking_.tolist() == [3, 2, 1, 4, 5]
    np.testing.assert_allclose(selector.gains_, [0.2, 0.3, 0.5, 0, 0])


def test_ties_go_to_the_first_row_of_each_topic():
    # The same two texts stand in another order in topic 2.
    texts = ["rain", "wine", "wine", "rain", "wine"]
    selector = MaxRepSelector().fit(texts, groups=[1, 1, 2, 2, 3])
    assert selector.ranking_.tolist() == [1, 2, 1, 2, 1]


@pytest.mark.slow
def test_copies_are_ranked_as_vectors_are():
    texts, groups, prior = pool(4)
    rng = np.random.default_rng(0)
    texts = [texts[i] for i in rng.integers(20, size=60)]
    vectors = tf_log_idf(texts)
    for threshold in (0.3, 0.8):
        by_text = MaxRepSelector(threshold).fit(texts, groups=groups, prior=prior)
        by_vector = MaxRepSelector(threshold).fit(vectors, groups=groups, prior=prior)
        np.testing.assert_array_equal(by_text.ranking_, by_vector.ranking_)
        np.testing.assert_allclose(by_text.gains_, by_vector.gains_, rtol=1e-9, atol=1e-11)


def test_max_terms_keeps_the_most_frequent():
    # Only "rain" is left, and it is in two of three documents.
    texts = ["rain rain bread", "rain wine", "cheese"]
    with pytest.warns(UserWarning, match=r"1 of 3 texts hold no term .*: rows 2\."):
        selector = MaxRepSelector(max_terms=1).fit(texts, groups=[1, 1, 1])
    np.testing.assert_allclose(selector.gains_, [2, 0, 1])


def test_without_near_duplicates_it_is_the_prior():
    texts, groups, prior = pool(5)
    with_prior = PriorSelector().fit(texts, groups=groups, prior=prior)
    selector = MaxRepSelector(1.0).fit(np.eye(60), groups=groups, prior=prior)
    np.testing.assert_array_equal(selector.ranking_, with_prior.ranking_)
    np.testing.assert_array_equal(selector.gains_, prior)


def fitted_on(kind, threshold, texts, groups, prior, judged=None):
    """A selector on texts, vectors or similarities."""
    X = TfidfVectorizer().fit_transform(texts)
    X = {"texts": texts, "vectors": X, "precomputed": cosine_similarity(X)}[kind]
    metric = "precomputed" if kind == "precomputed" else "cosine"
    selector = MaxRepSelector(threshold, metric=metric)
    return selector.fit(X, groups=groups, prior=prior, judged=judged)


KINDS = pytest.mark.parametrize("kind", ["texts", "vectors", "precomputed"])


@KINDS
def test_a_later_round_goes_on_where_the_first_ended(kind):
    texts, groups, prior = pool(3)
    texts[30], texts[31] = texts[3], texts[1]
    once = fitted_on(kind, 0.5, texts, groups, prior)
    first = mask(once, 4)
    later = fitted_on(kind, 0.5, texts, groups, prior, first)
    np.testing.assert_array_equal(mask(later, 5), mask(once, 9) & ~first)
    np.testing.assert_array_equal(later.gains_[~first], once.gains_[~first])
    np.testing.assert_array_equal(later.ranking_[~first], once.ranking_[~first] - 4)
    assert not later.gains_[first].any()
    assert (mask(later) == ~first).all()


@pytest.mark.slow
@KINDS
def test_a_later_round_by_the_letter_from_any_judged_set(kind):
    texts, groups, prior = pool(4)
    judged = np.random.default_rng(4).random(len(texts)) < 0.25
    vectors = tf_log_idf(texts) if kind == "texts" else TfidfVectorizer().fit_transform(texts)
    similarity = thresholded(cosine_similarity(vectors), 0.5)
    selector = fitted_on(kind, 0.5, texts, groups, prior, judged)
    for topic in np.unique(groups):
        rows = np.flatnonzero(groups == topic)
        own, weights, known = similarity[np.ix_(rows, rows)], prior[rows], judged[rows]
        best = own[:, known].max(axis=1, initial=0)
        chosen = []
        for _ in range(np.count_nonzero(~known)):
            gains = weights @ np.maximum(own - best[:, None], 0)
            gains[known] = gains[chosen] = -1
            chosen.append(int(gains.argmax()))
            np.testing.assert_allclose(
                selector.gains_[rows[chosen[-1]]], gains.max(), rtol=1e-9, atol=1e-11
            )
            best = np.maximum(best, own[:, chosen[-1]])
        places = selector.ranking_[rows]
        adds = selector.gains_[rows[chosen]] > 1e-9
        assert places[chosen][adds].tolist() == list(range(1, adds.sum() + 1))
        assert places[known].min() > places[~known].max()


def test_no_copies_of_what_is_judged():
    texts = ["a wing in flight", "a wing in flight", "heat of a slab", "soup with bread"]
    groups, prior = [1, 1, 1, 1], [0.9, 0.9, 0.2, 0.1]
    judged = [True, False, False, False]
    # A fit that does not know of it proposes the judged text, then others; the copy is last.
    assert MaxRepSelector().fit(texts, groups=groups, prior=prior).ranking_[0] == 1
    selector = MaxRepSelector().fit(texts, groups=groups, prior=prior, judged=judged)
    assert selector.ranking_.tolist() == [4, 3, 1, 2]
    assert mask(selector, 2).tolist() == [False, False, True, True]
    assert selector.gains_.tolist() == [0, 0, 0.2, 0.1]
    # Where a copy is judged, the first row of the text is not asked for either.
    judged = [False, True, False, False]
    selector = MaxRepSelector().fit(texts, groups=groups, prior=prior, judged=judged)
    assert selector.ranking_.tolist() == [3, 4, 1, 2]


def test_judged_by_hand():
    # Document 2 is judged and stands for document 0 with 0.9 of its weight 10, 1 is left. Document
    # 1 would add (1 - 0.9) * 10 + 2, document 3 adds 2.5.
    similarity = np.array([[1, 1, 0.9, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])
    selector = MaxRepSelector(metric="precomputed").fit(
        similarity, groups=[1] * 4, prior=[10, 2, 1, 2.5], judged=[False, False, True, False]
    )
    np.testing.assert_allclose(selector.gains_, [0, 3, 0, 2.5], atol=1e-12)
    assert selector.ranking_.tolist() == [3, 1, 4, 2]


@pytest.mark.parametrize("judged", [[0, 1], [True], ["yes", "no"], [True, None], True])
def test_bad_judged(judged):
    with pytest.raises(ValueError, match=r"judged must hold True or False for each of the 2 rows"):
        MaxRepSelector().fit(np.eye(2), groups=[1, 1], judged=judged)


def test_judged_of_other_rows():
    index = pd.Index([1, 1], name="qid")
    X, judged = pd.DataFrame(np.eye(2), index), pd.Series([True, False], index + 1)
    with pytest.raises(ValueError, match=r"X and judged have different indexes.*fillna\(False\)"):
        MaxRepSelector().fit(X, judged=judged)


def test_no_prior_is_a_prior_of_1():
    texts, groups, _ = pool(6)
    selector = MaxRepSelector().fit(texts, groups=groups)
    given = MaxRepSelector().fit(texts, groups=groups, prior=np.ones(60))
    np.testing.assert_array_equal(selector.ranking_, given.ranking_)
    np.testing.assert_array_equal(selector.gains_, given.gains_)


def test_sum_of_gains_is_the_objective():
    texts, groups, prior = pool(7)
    similarity = thresholded(cosine_similarity(tf_log_idf(texts)), 0.5)
    selector = MaxRepSelector(0.5).fit(texts, groups=groups, prior=prior)
    chosen = mask(selector, 0.3)
    for topic in range(3):
        rows = np.flatnonzero(groups == topic)
        some = np.flatnonzero(chosen & (groups == topic))
        value = prior[rows] @ similarity[np.ix_(rows, some)].max(axis=1)
        np.testing.assert_allclose(selector.gains_[some].sum(), value, rtol=1e-9)


def test_row_order_moves_the_ranking_along():
    texts, groups, prior = pool(8)
    order = np.random.default_rng(0).permutation(60)
    selector = MaxRepSelector(0.5).fit(texts, groups=groups, prior=prior)
    moved = MaxRepSelector(0.5).fit(
        [texts[i] for i in order], groups=groups[order], prior=prior[order]
    )
    np.testing.assert_array_equal(moved.ranking_, selector.ranking_[order])
    np.testing.assert_allclose(moved.gains_, selector.gains_[order], rtol=1e-9)


def test_jobs_clone_pickle():
    texts, groups, prior = pool(9)
    selector = MaxRepSelector(0.5).fit(texts, groups=groups, prior=prior)
    for other in (
        MaxRepSelector(0.5, n_jobs=2).fit(texts, groups=groups, prior=prior),
        clone(selector).fit(texts, groups=groups, prior=prior),
        pickle.loads(pickle.dumps(selector)),
    ):
        np.testing.assert_array_equal(other.ranking_, selector.ranking_)
        np.testing.assert_array_equal(other.gains_, selector.gains_)


def test_empty_and_missing_texts():
    texts = ["rain", "", None, "!", "rain", ""]
    with pytest.warns(UserWarning, match="documents have no text|hold no term") as caught:
        selector = MaxRepSelector().fit(texts, groups=[1] * 6)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2
    assert "1 of 6 documents have no text" in messages[0]
    assert "rows 2." in messages[0]
    assert "3 of 6 texts hold no term and represent themselves alone: rows 1, 3, 5." in messages[1]
    # Each of them stands for itself; the second "rain" adds nothing.
    assert selector.gains_.tolist() == [2, 1, 1, 1, 0, 1]
    assert selector.ranking_.tolist() == [1, 2, 3, 4, 6, 5]


def test_texts_without_terms():
    with pytest.raises(ValueError, match="X holds 2 texts without a term among them"):
        MaxRepSelector().fit(["", "!"], groups=[1, 1])


def test_all_is_well_without_warnings():
    texts, groups, prior = pool(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MaxRepSelector().fit(pd.Series(texts), groups=groups, prior=prior)


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        ({"threshold": 0}, np.eye(2), "threshold must be a finite number above 0"),
        ({"threshold": 1.5}, np.eye(2), "threshold must be a finite number above 0"),
        ({"metric": "euclidean"}, np.eye(2), "metric must be one of 'cosine', 'precomputed'"),
        ({"max_terms": 0}, ["a b", "c"], "max_terms must be a whole number from 1 up, got 0"),
        ({"max_terms": 2.0}, ["a b", "c"], "max_terms must be a whole number from 1 up, got 2.0"),
        ({"metric": "precomputed"}, np.ones((2, 3)), r"a square matrix, got shape \(2, 3\)"),
        ({"metric": "precomputed"}, 2 * np.eye(2), "similarities of at most 1 .* got 2:"),
        ({"metric": "precomputed"}, np.full((2, 2), np.nan), "NaN"),
        ({"metric": "precomputed"}, ["a", "b"], "square|2D|float"),
        ({}, np.array([[1, np.nan], [0, 1]]), "NaN"),
        ({}, np.array([["a"], ["b"]], dtype=object), "could not convert string to float"),
    ],
)
def test_bad_input(params, X, message):
    with pytest.raises(ValueError, match=message):
        MaxRepSelector(**params).fit(X, groups=[1, 1])


def test_bad_prior():
    with pytest.raises(ValueError, match=r"prior must be finite and at least 0.*negative.*row 1"):
        MaxRepSelector().fit(np.eye(2), groups=[1, 1], prior=[1, -1])


class MaxRepOfOneTopic(MaxRepSelector):
    def fit(self, X, y=None):
        n_rows = X.shape[0] if hasattr(X, "shape") and X.shape else len(X)
        return super().fit(X, y, groups=np.zeros(n_rows))


@pytest.mark.slow
def test_scikit_learn_checks():
    assert_passes_checks(MaxRepOfOneTopic())

"""MaxRepSelector: texts, vectors, similarities, queries."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from profiles import times
from selections import mask
from skfilterrank.judgments import MaxRepSelector
from skfilterrank.judgments import _maxrep as module
from skfilterrank.judgments._maxrep import facility_location

ALONE = pytest.mark.filterwarnings("ignore:.* documents represent only themselves")
WORDS = np.array([f"{a}{b}" for a in "bcdfghklmn" for b in ("an", "el", "is", "ot", "um", "y2")])


def pool(seed=0, n_texts=60):
    """Make texts with near-duplicates, three queries in turn, and a prior."""
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
    """Compute greedy order and gains by trying all documents at every step."""
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
    """Compute weights by the definition, word by word."""
    counts = pd.DataFrame([pd.Series(text.split()).value_counts() for text in texts]).fillna(0)
    distinct = counts.drop_duplicates()
    return (counts * np.log(len(distinct) / (distinct > 0).sum())).to_numpy()


def assert_letter(selector, similarity, groups, prior):
    for query in np.unique(groups):
        rows = np.flatnonzero(groups == query)
        order, gains = by_the_letter(similarity[np.ix_(rows, rows)], prior[rows])
        np.testing.assert_array_equal(np.argsort(selector.ranking_[rows]), order)
        np.testing.assert_allclose(selector.gains_[rows][order], gains, rtol=1e-9, atol=1e-11)


@pytest.mark.slow
@ALONE
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


def test_copies_add_nothing():
    texts = ["wine", "rain bread", "oil", "rain bread", "rain bread"]
    selector = MaxRepSelector().fit(texts, groups=[1] * 5, prior=[0.2, 0.1, 0.5, 0.1, 0.1])
    assert selector.ranking_.tolist() == [3, 2, 1, 4, 5]
    np.testing.assert_allclose(selector.gains_, [0.2, 0.3, 0.5, 0, 0])


def ordinary_texts(seed, n_texts=40, n_topics=8):
    """Make texts of frequent words and of words of a topic, as abstracts have them."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, 201)
    texts = []
    for _ in range(n_texts):
        common = rng.choice(200, size=rng.integers(15, 40), p=chances / chances.sum())
        own = 1000 + 50 * rng.integers(n_topics) + rng.integers(50, size=rng.integers(3, 12))
        texts.append(" ".join(f"w{word}" for word in [*common, *own]))
    return texts


def as_kind(kind, texts):
    """Return the same documents as texts or vectors."""
    vectors = TfidfVectorizer().fit_transform(sorted(texts))
    vectors = vectors[[sorted(texts).index(text) for text in texts]]
    return {"texts": texts, "vectors": vectors, "dense": vectors.toarray()}[kind]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["texts", "vectors", "dense"])
def test_the_order_of_rows_does_not_change_what_is_chosen(kind):
    for seed in range(6 if kind == "texts" else 2):
        rng = np.random.default_rng(seed)
        texts = ordinary_texts(seed)
        prior = rng.integers(1, 3, len(texts)).astype(float) if seed % 2 else None
        X = as_kind(kind, texts)
        whole = MaxRepSelector(random_state=seed)
        whole.fit(X, groups=np.zeros(len(texts)), prior=prior)
        rows = rng.permutation(len(texts))
        X = as_kind(kind, [texts[row] for row in rows])
        mixed = MaxRepSelector(random_state=seed)
        mixed.fit(X, groups=np.zeros(len(rows)), prior=None if prior is None else prior[rows])
        np.testing.assert_array_equal(mixed.ranking_, whole.ranking_[rows])
        assert mixed.threshold_ == pytest.approx(whole.threshold_, rel=1e-12)


def test_random_state_decides_between_equals_alone():
    # Nothing is similar, so that only the prior and the random order are left.
    texts = [f"word{number}" for number in range(12)]
    orders = set()
    for seed in range(5):
        selector = MaxRepSelector(random_state=seed).fit(texts, groups=[1] * 12)
        again = MaxRepSelector(random_state=seed).fit(texts, groups=[1] * 12)
        np.testing.assert_array_equal(again.ranking_, selector.ranking_)
        orders.add(tuple(selector.ranking_))
        assert selector.threshold_ == 1
        prior = [1, 2, 3] * 4
        selector.fit(texts, groups=[1] * 12, prior=prior)
        assert np.array(prior)[np.argsort(selector.ranking_)].tolist() == sorted(prior)[::-1]
    assert len(orders) == 5
    assert tuple(range(1, 13)) not in orders
    texts = ordinary_texts(1)
    prior = np.random.default_rng(0).uniform(0.1, 1, len(texts))
    fits = [
        MaxRepSelector(random_state=seed).fit(texts, groups=[1] * len(texts), prior=prior)
        for seed in range(3)
    ]
    assert all((fit.ranking_ == fits[0].ranking_).all() for fit in fits)


def test_a_quarter_has_a_similar_document_by_default():
    # Angles of 50, 40, 10 and 10 degrees in two queries; vectors have other lengths.
    angles = np.deg2rad([0, 50, 90, 20, 30, 0])
    lengths = np.array([1, 1, 1, 1e200, 3, 0])
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * lengths[:, None]
    for kind in (np.asarray, sparse.csr_array):
        selector = MaxRepSelector().fit(kind(X), groups=[1, 1, 1, 2, 2, 2])
        np.testing.assert_allclose(selector.threshold_, np.cos(np.deg2rad(10)), rtol=1e-12)


def test_documents_of_a_sample_decide_a_long_list(monkeypatch):
    texts = ordinary_texts(3, 120)
    whole = MaxRepSelector().fit(texts, groups=[1] * 120)
    monkeypatch.setattr(module, "_MOST_ASKED", 30)
    part = MaxRepSelector().fit(texts, groups=[1] * 120)
    assert 0 < abs(part.threshold_ - whole.threshold_) < 0.1
    assert part.threshold_ == MaxRepSelector().fit(texts[::-1], groups=[1] * 120).threshold_


def test_ordinary_texts_are_chosen_from_the_whole_list():
    texts = ordinary_texts(2, 600, n_topics=30)
    selector = MaxRepSelector().fit(texts, groups=np.zeros(600))
    picks = selector.select(n_per_query=50)
    assert 1 <= np.count_nonzero(picks < 60) <= 12
    assert np.mean(selector.gains_ == 1) < 0.8
    # The paper's threshold finds nothing similar among them: at random, with a warning.
    match = r"600 of 600 documents represent only themselves at threshold=0\.8: .*'auto'"
    with pytest.warns(UserWarning, match=match):
        paper = MaxRepSelector(0.8).fit(texts, groups=np.zeros(600))
    assert 1 <= np.count_nonzero(paper.select(n_per_query=50) < 60) <= 12


@pytest.mark.filterwarnings("error")
def test_documents_that_need_no_warning():
    texts = [f"word{number}" for number in range(40)]
    # Few documents, single documents of queries, documents of prior 0, judged ones.
    MaxRepSelector(0.8).fit(texts[:19], groups=[1] * 19)
    MaxRepSelector(0.8).fit(texts, groups=range(40))
    MaxRepSelector(0.8).fit(texts, groups=[1] * 40, prior=[1.0] * 19 + [0.0] * 21)
    MaxRepSelector(0.8).fit(texts, groups=[1] * 40, judged=np.arange(40) > 18)


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


def fitted_on(kind, threshold, texts, groups, prior, judged=None):
    """Fit a selector on texts or vectors."""
    X = texts if kind == "texts" else TfidfVectorizer().fit_transform(texts)
    return MaxRepSelector(threshold).fit(X, groups=groups, prior=prior, judged=judged)


KINDS = pytest.mark.parametrize("kind", ["texts", "vectors"])


@pytest.mark.slow
@KINDS
def test_a_later_round_by_the_letter_from_any_judged_set(kind):
    texts, groups, prior = pool(4)
    judged = np.random.default_rng(4).random(len(texts)) < 0.25
    vectors = tf_log_idf(texts) if kind == "texts" else TfidfVectorizer().fit_transform(texts)
    similarity = thresholded(cosine_similarity(vectors), 0.5)
    selector = fitted_on(kind, 0.5, texts, groups, prior, judged)
    for query in np.unique(groups):
        rows = np.flatnonzero(groups == query)
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


@pytest.mark.parametrize("judged", [[0, 1], [True], ["yes", "no"], [True, None], True])
def test_bad_judged(judged):
    with pytest.raises(ValueError, match=r"judged must hold True or False for each of the 2 rows"):
        MaxRepSelector().fit(np.eye(2), groups=[1, 1], judged=judged)


def test_judged_of_other_rows():
    index = pd.Index([1, 1], name="qid")
    X, judged = pd.DataFrame(np.eye(2), index), pd.Series([True, False], index + 1)
    with pytest.raises(ValueError, match=r"X and judged have different indexes.*fillna\(False\)"):
        MaxRepSelector().fit(X, judged=judged)


def test_empty_and_missing_texts():
    texts = ["rain", "", None, "!", "rain", ""]
    with pytest.warns(UserWarning, match="documents have no text|have no term") as caught:
        selector = MaxRepSelector().fit(texts, groups=[1] * 6)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2
    assert "1 of 6 documents have no text" in messages[0]
    assert "rows 2." in messages[0]
    assert "3 of 6 texts have no term and represent only themselves: rows 1, 3, 5." in messages[1]
    # Each of them stands for itself; the second "rain" adds nothing.
    assert selector.gains_.tolist() == [2, 1, 1, 1, 0, 1]
    assert selector.ranking_[[0, 4]].tolist() == [1, 6]


@pytest.mark.parametrize(
    ("params", "X", "message"),
    [
        ({"threshold": 0}, np.eye(2), "threshold must be a finite number above 0"),
        ({"threshold": 1.5}, np.eye(2), "threshold must be a finite number above 0"),
        ({}, np.array([[1, np.nan], [0, 1]]), "Input X contains NaN"),
        ({}, pd.DataFrame({"text": ["wing", "soup"]}), r"pass texts as a list or one column, .*"),
        ({}, pd.DataFrame({"docno": [1, 2], "length": [3, 4]}), "X has a column 'docno'"),
        ({}, np.array([["a"], ["b"]], dtype=object), "got a table with texts"),
        ({}, ["", "!"], "X holds 2 texts without a term among them"),
    ],
)
def test_bad_input(params, X, message):
    with pytest.raises(ValueError, match=message):
        MaxRepSelector(**params).fit(X, groups=[1, 1])


def test_bad_prior():
    with pytest.raises(ValueError, match="prior must be finite and at least 0, but is -1 in row 1"):
        MaxRepSelector().fit(np.eye(2), groups=[1, 1], prior=[1, -1])


def test_terms_of_all_documents_do_not_count():
    texts = ["rain bread", "rain wine", "rain cheese"]
    selector = MaxRepSelector(0.01).fit(texts, groups=[1, 1, 1])
    assert selector.gains_.tolist() == [1, 1, 1]
    # One document alone: log(1 / 1) = 0.
    selector.fit(["rain bread"], groups=[1], prior=[0.4])
    assert selector.ranking_.tolist() == [1]
    assert selector.gains_.tolist() == [0.4]


def test_a_document_of_several_queries_is_counted_once():
    texts = ["rain bread", "wine rain", "cheese wine"]
    once = MaxRepSelector(0.1).fit(texts, groups=[1, 1, 1])
    twice = MaxRepSelector(0.1).fit([*texts, texts[0], texts[0]], groups=[1, 1, 1, 2, 3])
    np.testing.assert_array_equal(twice.gains_[:3], once.gains_)
    # With ids, two documents of one text are two: four in all, of which three have rain.
    index = pd.MultiIndex.from_arrays(
        [[1, 1, 1, 2, 3], ["a", "b", "c", "d", "a"]], names=["qid", "docno"]
    )
    by_id = MaxRepSelector(0.1).fit(pd.Series([*texts, texts[0], texts[0]], index=index))
    n = 4
    rain, wine, bread, cheese = (np.log(n / df) for df in (3, 2, 2, 1))
    first = rain * rain / np.hypot(rain, bread) / np.hypot(rain, wine)
    second = wine * wine / np.hypot(rain, wine) / np.hypot(cheese, wine)
    expected = 1 + (first if first >= 0.1 else 0) + (second if second >= 0.1 else 0)
    np.testing.assert_allclose(by_id.gains_[1], expected)


def objective(similarity, weights, chosen):
    """Sum of weights times the similarity to the best of the chosen."""
    best = (max((row[j] for j in chosen), default=0) for row in similarity)
    return sum(weight * value for weight, value in zip(weights, best))


def greedy(similarity, weights, chosen=()):
    """Order and gains by trying every document at every step, in exact arithmetic."""
    similarity = [[Fraction(value) for value in row] for row in similarity]
    weights = [Fraction(weight) for weight in weights]
    order, gains, value = [], [], objective(similarity, weights, chosen)
    while len(order) + len(chosen) < len(weights):
        left = [j for j in range(len(weights)) if j not in order and j not in chosen]
        values = [objective(similarity, weights, [*chosen, *order, j]) for j in left]
        best = max(values)
        order.append(left[values.index(best)])
        gains.append(best - value)
        value = best
    return order, [float(gain) for gain in gains]


@st.composite
def problems(draw, values=tuple(i / 8 for i in range(9)), max_documents=9):
    """Draw similarities in eighths and whole weights, whose sums floats hold exactly."""
    n = draw(st.integers(1, max_documents))
    cells = st.one_of(st.just(0.0), st.sampled_from(values))
    rows = draw(st.lists(st.lists(cells, min_size=n, max_size=n), min_size=n, max_size=n))
    similarity = np.array(rows)
    similarity = np.maximum(similarity, similarity.T)
    np.fill_diagonal(similarity, 1)
    weights = draw(st.lists(st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0]), min_size=n, max_size=n))
    return similarity, np.array(weights)


def run(similarity, weights, chosen=None):
    similarity, weights = (np.asarray(each, dtype=float) for each in (similarity, weights))
    return facility_location(sparse.csr_array(similarity), weights, chosen=chosen)


@pytest.mark.slow
@times(1.5)
@given(problems(), st.data())
def test_equals_brute_force_from_a_set_that_is_chosen(problem, data):
    similarity, weights = problem
    n = len(weights)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    order, gains = run(similarity, weights, chosen)
    expected, expected_gains = greedy(similarity, weights, np.flatnonzero(chosen).tolist())
    left = ~chosen[order]
    assert order[left].tolist() == expected
    np.testing.assert_array_equal(gains[left], expected_gains)
    np.testing.assert_array_equal(gains[~left], 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("density", "seed"), [(0.05, 0), (0.05, 1), (0.2, 2), (0.2, 3), (1.0, 4), (1.0, 5)]
)
def test_equals_brute_force_in_blocks(density, seed, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 7)
    rng = np.random.default_rng(seed)
    similarity = rng.uniform(size=(18, 18)) * (rng.uniform(size=(18, 18)) < density)
    similarity = np.maximum(similarity, similarity.T)
    np.fill_diagonal(similarity, 1)
    weights = rng.exponential(size=18)
    order, gains = run(similarity, weights)
    expected_order, expected_gains = greedy(similarity.tolist(), weights.tolist())
    assert order.tolist() == expected_order
    np.testing.assert_allclose(gains, expected_gains, rtol=1e-12, atol=1e-15)


def test_ties_in_spite_of_rounding():
    # Weights that differ in the 14th digit alone.
    weights = 0.3 * (1 + 1e-14 * np.array([0, 1, 2, -3, 4, 5]))
    order, _ = run(np.eye(6), weights)
    assert order.tolist() == [0, 1, 2, 3, 4, 5]
    # Three pairs of copies: 0.6 for the first of each, then 0.
    order, _ = run(np.kron(np.eye(3), np.ones((2, 2))), weights)
    assert order.tolist() == [0, 2, 4, 1, 3, 5]
    # In the 11th digit they do differ.
    order, _ = run(np.eye(3), 0.3 * (1 + 1e-11 * np.array([0, 1, 2])))
    assert order.tolist() == [2, 1, 0]


@pytest.mark.parametrize("factor", [1e-320, 1e-300, 1e-5, 0.3, 7.0, 1e5, 1e300])
def test_scale_of_the_weights_changes_gains_alone(factor):
    rng = np.random.default_rng(2)
    similarity = rng.uniform(size=(20, 20))
    similarity = np.maximum(similarity, similarity.T)
    weights = rng.integers(1, 100, 20).astype(float)
    order, gains = run(similarity, weights)
    scaled, scaled_gains = run(similarity, weights * factor)
    if factor > 1e-310:
        assert scaled.tolist() == order.tolist()
        np.testing.assert_allclose(scaled_gains / factor, gains, rtol=1e-9)
    assert np.isfinite(scaled_gains).all()


@pytest.mark.slow
def test_long_sums_do_not_drift():
    # 1,500 documents around one: as it is chosen, the gain of each of the others comes down from
    # 1 + 0.8125 to 0.1875, and theirs are ties in the order of rows.
    n = 1501
    similarity = sparse.lil_array((n, n))
    similarity.setdiag(1)
    similarity[[0], :] = 0.8125
    similarity[:, [0]] = 0.8125
    similarity[0, 0] = 1
    order, gains = facility_location(similarity.tocsr(), np.full(n, 0.1))
    assert order.tolist() == list(range(n))
    np.testing.assert_allclose(gains[0], 0.1 * (1 + 1500 * 0.8125), rtol=1e-12)
    np.testing.assert_allclose(gains[1:], 0.1 * 0.1875, rtol=1e-12)


def test_parts_of_very_different_weight():
    # A part of tiny weights is ordered by itself, as finely as one of large weights.
    pair = np.array([[1, 0.5], [0.5, 1]])
    similarity = np.kron(np.eye(2), pair)
    order, gains = run(similarity, [1e20, 1e20, 1e-20, 3e-20])
    assert order.tolist() == [0, 1, 3, 2]
    np.testing.assert_allclose(gains, [1.5e20, 0.5e20, 3.5e-20, 0.5e-20], rtol=1e-12)

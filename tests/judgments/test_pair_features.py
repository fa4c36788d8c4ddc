"""PairFeatures: the columns against a slow reference, and no column that knows its own label."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.metrics.pairwise import cosine_similarity

from skfilterrank.exceptions import InputError
from skfilterrank.judgments import PairFeatures
from thinned import thinned

RANKS = ["rank a", "rank b", "rank c"]
WORDS = [f"word{i}" for i in range(30)]


def _pairs(seed=0, n_queries=4, n_documents=15):
    """Return a table of pairs, labels with NaN, and queries; the last query has no label."""
    rng = np.random.RandomState(seed)
    groups = np.repeat(np.arange(n_queries), n_documents)
    ranks = [np.concatenate([rng.permutation(n_documents) + 1.0 for _ in range(n_queries)])]
    ranks += [np.where(rng.rand(len(groups)) < 0.4, np.nan, ranks[0]), rng.permutation(ranks[0])]
    X = pd.DataFrame(np.array(ranks).T, columns=RANKS)
    X["text"] = [" ".join(rng.choice([*WORDS, "the"], rng.randint(3, 9))) for _ in groups]
    X["query"] = np.array([" ".join(rng.choice(WORDS, 4)) for _ in range(n_queries)])[groups]
    y = rng.choice([-1.0, 0, 0, 1, 2], len(groups))
    y[(rng.rand(len(groups)) < 0.5) | (groups == n_queries - 1)] = np.nan
    order = rng.permutation(len(groups))
    return X.iloc[order].reset_index(drop=True), y[order], groups[order]


def _tokens(text):
    return [w for w in re.findall(r"\b\w\w+\b", text.lower()) if w not in ENGLISH_STOP_WORDS]


def _terms(texts):
    """Return vectors by tf-idf of scikit-learn's formula, and BM25, of texts and of queries."""
    distinct = sorted(set(texts))
    n = len(distinct)
    df = {w: sum(w in _tokens(text) for text in distinct) for w in WORDS}
    length = np.mean([len(_tokens(text)) for text in distinct])

    def vector(text):
        own = _tokens(text)
        weights = {w: (1 + math.log(own.count(w))) * (math.log((1 + n) / (1 + df[w])) + 1)
                   for w in set(own) if df[w]}  # fmt: skip
        norm = math.sqrt(sum(v * v for v in weights.values())) or 1.0
        return {w: v / norm for w, v in weights.items()}

    def bm25(query, text):
        own = _tokens(text)
        norm = 1.2 * (0.25 + 0.75 * len(own) / length)
        return sum(
            math.log(1 + (n - df[w] + 0.5) / (df[w] + 0.5)) * own.count(w) * 2.2
            / (own.count(w) + norm)
            for w in set(_tokens(query)) if df[w]
        )  # fmt: skip

    return vector, bm25


def _dot(a, b):
    return sum(v * b.get(w, 0.0) for w, v in a.items())


def _reference(X, y, groups, similarity, *, with_query=True):
    """Compute all columns pair by pair, before they are standardised."""
    labels = np.array([v / np.nanmax(np.abs(y)) for v in y])
    vector, bm25 = _terms(X["text"])
    depth = np.nanmax(X[RANKS].to_numpy())
    rows = []
    for i in range(len(X)):
        others = [v for v, query in zip(labels, groups) if v == v and query != groups[i]]
        base = np.mean(np.maximum(others, 0.0))
        of_query = [j for j in range(len(X)) if groups[j] == groups[i]]
        judged = [j for j in of_query if labels[j] == labels[j]]
        others = [j for j in judged if j != i]
        sims = {j: similarity(i, j) for j in others}
        good, bad = [j for j in others if labels[j] > 0], [j for j in others if labels[j] <= 0]
        if judged:
            n = sum(sims[j] ** 2 * labels[j] for j in others) + 0.1 * base
            row = [n / (sum(s**2 for s in sims.values()) + 0.1)]
            row += [max([0.0, *(sims[j] for j in some)]) for some in (good, bad)]
            row.append(
                sum(sims[j] for j in good) / max(len(good), 1)
                - sum(sims[j] for j in bad) / max(len(bad), 1)
            )
            total = sum(max(labels[j], 0.0) for j in others)
            row.append(math.log((total + base) / (len(others) + 1) + 0.02))
        else:
            row = [base, 0.0, 0.0, 0.0, 0.0]
        logs = [math.log(v if v == v else 2 * depth) for v in X.loc[i, RANKS]]
        row += [min(logs), sum(logs) / 3]
        if with_query:
            cosines = [_dot(vector(X.text[j]), vector(X["query"][j])) for j in of_query]
            weights = [bm25(X["query"][j], X.text[j]) for j in of_query]
            place = of_query.index(i)
            row.append(cosines[place])
            for values in (cosines, weights):
                apart = np.array(values) - np.mean(values)
                row.append(apart[place] / math.sqrt(np.mean(apart**2) + 1e-9))
        rows.append(row + logs)
    return np.array(rows)


def _standardised(raw, y, weights):
    known = ~np.isnan(y)
    z = (raw - raw[known].mean(axis=0)) / (raw[known].std(axis=0) + 1e-9)
    return np.clip(z, -6, 6) * weights


def _fitted(X, y, groups, **params):
    return PairFeatures(ranks=RANKS, **params).fit_transform(X, y, groups)


def test_all_columns_are_those_of_a_slow_reference():
    X, y, groups = _pairs(1)
    # Forbidden labels may be the largest ones.
    y = np.where(y == -1, -3, y)
    vector, _ = _terms(X["text"])
    vectors = [vector(text) for text in X["text"]]
    raw = _reference(X, y, groups, lambda i, j: _dot(vectors[i], vectors[j]))
    expected = _standardised(raw, y, [1] * 10 + [2 / math.sqrt(3)] * 3)
    np.testing.assert_allclose(_fitted(X, y, groups), expected, atol=1e-6)


def test_without_texts_documents_of_like_ranks_are_similar():
    X, y, groups = _pairs()
    weights = 1 / np.log2(X[RANKS].to_numpy() + 1)
    profile = np.nan_to_num(weights)
    profile -= profile.mean(axis=0)
    cosines = np.maximum(cosine_similarity(profile), 0)
    raw = _reference(X, y, groups, lambda i, j: cosines[i, j], with_query=False)
    expected = _standardised(raw, y, [1] * 7 + [2 / math.sqrt(3)] * 3)
    np.testing.assert_allclose(_fitted(X[RANKS], y, groups), expected, atol=1e-6)


def _unscaled(X, y, groups):
    """Return columns before they are standardised."""
    features = PairFeatures(ranks=[name for name in RANKS if name in X])
    scaled = features.fit_transform(X, y, groups)
    return scaled / features.weight_ * features.scale_ + features.mean_


@pytest.mark.parametrize("parts", thinned([[*RANKS, "text", "query"], RANKS, ["text"], ["n"]]))
def test_no_column_looks_at_the_label_of_its_row(parts):
    X, y, groups = _pairs()
    X["n"] = np.random.RandomState(7).rand(len(X))
    raw = _unscaled(X[parts], y, groups)
    # Labels are divided by the largest, which stays.
    for row in np.flatnonzero(y < 2):
        changed = y.copy()
        changed[row] = 0 if y[row] else 1
        again = _unscaled(X[parts], changed, groups)
        np.testing.assert_allclose(again[row], raw[row], rtol=1e-9, atol=1e-9)
        others = (groups == groups[row]) & (np.arange(len(y)) != row)
        assert (np.abs(again - raw)[others] > 1e-6).any()


def test_new_rows_look_at_all_labels():
    X, y, groups = _pairs()
    fitted = PairFeatures(ranks=RANKS)
    known = fitted.fit_transform(X, y, groups)
    again = fitted.transform(X, groups)
    unjudged = np.isnan(y)
    np.testing.assert_allclose(again[unjudged], known[unjudged], atol=1e-9)
    assert (np.abs(again - known)[~unjudged, :5] > 1e-6).any(axis=1).all()
    # A query that fit has not seen has no labels.
    unseen = fitted.transform(X, groups + 100)
    raw = unseen[:, :5] * fitted.scale_[:5] + fitted.mean_[:5]
    assert np.ptp(raw, axis=0).max() < 1e-9
    assert raw[0, 0] > 0


def test_vectors_and_functions_take_the_place_of_texts():
    X, y, groups = _pairs()
    vectors = np.random.RandomState(3).rand(len(X), 4)
    names = ["e0", "e1", "e2", "e3"]
    with_vectors = pd.concat([X, pd.DataFrame(vectors, columns=names)], axis=1)
    found = _fitted(with_vectors, y, groups, similarity=names)
    assert found.shape[1] == 13

    def cosine(some, others):
        assert set(RANKS) < set(some.columns)
        return cosine_similarity(some[names], others[names])

    by_function = _fitted(with_vectors, y, groups, similarity=cosine)
    np.testing.assert_allclose(by_function[:, :5], found[:, :5])
    assert np.abs(found[:, :5] - _fitted(X, y, groups)[:, :5]).max() > 0.1


def test_numbers_are_columns_and_missing_ones_are_marked():
    X, y, groups = _pairs()
    X = X[RANKS].assign(machine=np.arange(len(X)) % 3.0, other=1.0 * groups)
    X.loc[::4, "machine"] = np.nan
    features = PairFeatures(ranks=RANKS)
    found = pd.DataFrame(
        features.fit_transform(X, y, groups), columns=features.get_feature_names_out()
    )
    is_missing = X["machine"].isna()
    assert (found.loc[is_missing, "machine"] == 0).all()
    assert found.loc[~is_missing, "machine"].corr(X.loc[~is_missing, "machine"]) == pytest.approx(1)
    assert found["no machine"].groupby(is_missing).nunique().tolist() == [1, 1]
    assert "no other" not in found


def test_numbers_are_cut_and_many_share_a_weight():
    X, y, groups = _pairs()
    known = np.flatnonzero(~np.isnan(y))
    X = pd.DataFrame(np.zeros((len(y), 9))).rename(columns=str)
    X.iloc[known[0]], X.iloc[np.flatnonzero(np.isnan(y))[0]] = 1.0, -1e6
    features = PairFeatures()
    found = features.fit_transform(X, y, groups)[:, 5:]
    assert features.weight_.tolist() == pytest.approx([1] * 5 + [2 / 3] * 9)
    assert found.min() == pytest.approx(-6 * 2 / 3)
    few = PairFeatures().fit(X[["0", "1"]], y, groups)
    assert few.weight_.tolist() == [1] * 7


def test_one_query_has_no_mean_of_others():
    X = sparse.identity(6, format="csr")
    features = PairFeatures().fit(X, [2, 1, 0, np.nan, np.nan, np.nan], ["q"] * 6)
    # No document is similar to another: the first column is the mean label of other queries.
    assert features.mean_[0] == 0.5
    two = PairFeatures().fit(X, [2, 1, 0, np.nan, 1, np.nan], list("qqqqpp"))
    assert two.mean_[0] == pytest.approx((3 * 0.5 + 0.5) / 4)
    three = PairFeatures().fit(X, [2, 0, 0, np.nan, 2, np.nan], list("qqqqpp"))
    assert three.mean_[0] == pytest.approx((3 * 1 + 1 / 3) / 4)


def test_sparse_vectors_are_compared_and_are_no_columns():
    X, y, groups = _pairs()
    vectors = sparse.random(len(X), 50, 0.2, format="csr", random_state=0)
    found = PairFeatures().fit_transform(vectors, y, groups)
    assert found.shape == (len(X), 5)
    dense = pd.DataFrame(vectors.toarray(), columns=[f"v{i}" for i in range(50)])
    same = PairFeatures(similarity=list(dense)).fit_transform(dense, y, groups)
    np.testing.assert_allclose(found, same)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X.drop(columns="rank b"), y), "X has no column 'rank b'"),
        (lambda X, y: (X, np.full(len(y), np.nan)), "y must hold finite labels"),
        (lambda X, y: (X, np.where(y == 0, np.inf, y)), "y must hold finite labels"),
        (lambda X, y: (X.drop(columns="text"), y), "X has texts of queries .* but none of doc"),
        (lambda X, y: (X.assign(n=np.inf), y), "X holds an infinite number in column 'n'"),
        (lambda X, y: (X.assign(**dict.fromkeys(RANKS, np.nan)), y), "got NaN alone"),
        (lambda X, y: (X.assign(**{"rank a": 0}), y), "X must hold ranks from 1 on"),
        (lambda X, y: (X.assign(**{"rank a": "first"}), y), "X must hold numbers in 'rank a', 'r"),
        (lambda X, y: (X.assign(text="the"), y), "hold no terms"),
        (lambda X, y: (X[[]], y), "X must hold at least one column"),
        (lambda X, y: (X, y[1:]), "y has 59 entries but there are 60 rows"),
    ],
)
def test_bad_input_is_named(change, message):
    X, y, groups = _pairs()
    X, y = change(X, y)
    with pytest.raises(InputError, match=message):
        _fitted(X, y, groups)


def test_a_similarity_of_another_kind_is_named():
    X, y, groups = _pairs()
    with pytest.raises(InputError, match="ranks must be a list of columns of X, got 'words'"):
        PairFeatures(ranks="words").fit(["a", "b"], [0, 1], groups=[1, 1])
    with pytest.raises(InputError, match="similarity must be a function of two parts of X"):
        PairFeatures(similarity=np.eye(2)).fit(["a", "b"], [0, 1], groups=[1, 1])
    for other in ("cosine", 3, [["text"]]):
        with pytest.raises(InputError, match="similarity must be a function of two parts of X"):
            _fitted(X, y, groups, similarity=other)
    with pytest.raises(InputError, match="X must hold numbers in 'query': could"):
        _fitted(X, y, groups, similarity=["query"])
    with pytest.raises(
        InputError, match=r"ranks must be a list of columns of X, got \[\['text'\]\]"
    ):
        PairFeatures(ranks=[["text"]]).fit(X, y, groups)
    with pytest.raises(InputError, match=r"similarity must return a matrix of 15 rows and"):
        _fitted(X, y, groups, similarity=lambda some, others: np.ones(3))


def test_new_rows_are_of_the_kind_of_fit():
    X, y, groups = _pairs()
    with pytest.raises(InputError, match="groups is empty: expected one query id per row"):
        PairFeatures().fit(X, y, groups).transform([], [])
    features = PairFeatures(ranks=RANKS).fit(X.assign(n=1.0), y, groups)
    with pytest.raises(InputError, match="groups must be of the type in fit, got '"):
        features.transform(X.assign(n=1.0), groups.astype(str))
    with pytest.raises(InputError, match=r"as in fit, .*, 'column n', got .*, 'ranks'\.$"):
        features.transform(X.assign(n="many"), groups)
    with pytest.raises(InputError, match="ranks from 1 on"):
        features.transform(X.assign(n=1.0, **{RANKS[0]: 0.0}), groups)
    with pytest.raises(InputError, match="X has a column 'docno', which would be learned from"):
        features.fit(X.assign(docno="d"), y, groups)
    # A refit may have texts alone, which have no columns.
    texts = features.set_params(ranks=None).fit(list(X["text"]), y, groups)
    assert not hasattr(texts, "n_features_in_")
    with (
        pytest.warns(UserWarning, match="X has feature names"),
        pytest.raises(InputError, match="as in fit, 'texts', got 'texts', 'texts of queries'"),
    ):
        texts.transform(X[["text", "query"]], groups)
    n_terms = len(texts._terms.idf)
    with pytest.raises(InputError, match="as in fit, 'texts', got 'vectors'"):
        texts.transform(sparse.eye_array(len(X), n_terms, format="csr"), groups)

"""The similarity join against all similarities in full."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from profiles import times
from skfilterrank.judgments import _similarity as module
from skfilterrank.judgments._similarity import nearest_similarity, similarity_join


def all_pairs(X, threshold):
    """Compute every similarity, by the definition."""
    X = np.asarray(X, dtype=float)
    norms = np.linalg.norm(X, axis=1)
    norms[norms == 0] = 1
    similarity = np.minimum((X @ X.T) / np.outer(norms, norms), 1)
    similarity[similarity < threshold - 1e-12] = 0
    np.fill_diagonal(similarity, 1)
    return similarity


def assert_join(X, threshold):
    """Check that the join of sparse and of dense rows is that of all pairs."""
    expected = all_pairs(X, threshold)
    for rows in (sparse.csr_array(X), X):
        found = similarity_join(rows, threshold)
        assert isinstance(found, sparse.csr_array)
        assert found.has_sorted_indices
        np.testing.assert_array_equal(found.toarray() > 0, expected > 0)
        np.testing.assert_allclose(found.toarray(), expected, atol=2e-12)
        np.testing.assert_array_equal(found.toarray(), found.toarray().T)
        assert found.nnz == np.count_nonzero(expected)


@pytest.fixture(params=["one block", "many blocks"])
def blocks(request, monkeypatch):
    # Small inputs would all count as full, and be joined as dense rows.
    monkeypatch.setattr(module, "_FULL_CELLS", 0)
    if request.param == "many blocks":
        monkeypatch.setattr(module, "_PRODUCT_BLOCK", 40)
        monkeypatch.setattr(module, "_DENSE_BLOCK", 50)
        monkeypatch.setattr(module, "_SPREAD_CELLS", 90)
        monkeypatch.setattr(module, "_COMPARED_ENTRIES", 20)
        monkeypatch.setattr(module, "_N_PLACES", 3)


def word_counts(rng, n_rows, n_terms, n_words):
    """Draw word counts, some rare, with near-duplicates, copies and empty rows."""
    popularity = 1 / np.arange(1, n_terms + 1)
    X = rng.poisson(n_words * popularity / popularity.sum(), (n_rows, n_terms)).astype(float)
    for row in range(1, n_rows):
        kind = rng.integers(6)
        if kind == 0:
            X[row] = 0
        elif kind == 1:
            X[row] = X[rng.integers(row)] * rng.integers(1, 4)
        elif kind in (2, 3):
            X[row] = X[rng.integers(row)]
            X[row, rng.integers(n_terms, size=2)] += 1
    return X * rng.uniform(0.1, 3, n_terms)


@pytest.mark.slow
@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize(
    ("n_words", "threshold"),
    [(12, 0.05), (3, 0.3), (12, 0.5), (40, 0.8), (12, 0.99), (3, 1.0)],
)
def test_of_word_counts(n_words, threshold):
    rng = np.random.default_rng(n_words)
    assert_join(word_counts(rng, 90, 60, n_words), threshold)


@pytest.mark.slow
def test_of_many_rows():
    rng = np.random.default_rng(0)
    X = sparse.random_array((300, 4000), density=0.01, random_state=rng).tolil()
    for row in range(0, 300, 3):
        X[[row]] = X[[row // 2]]
        X[row, int(rng.integers(4000))] = rng.uniform(0.5, 2)
    assert 300 < similarity_join(X, 0.8).nnz < 3000
    assert_join(X.toarray(), 0.8)


small_rows = st.integers(1, 12).flatmap(
    lambda n_terms: st.lists(
        st.lists(st.sampled_from([0, 0, 0, 0, 1, 1, 2, 5]), min_size=n_terms, max_size=n_terms),
        min_size=1,
        max_size=12,
    )
)


@pytest.mark.slow
@times(2)
@given(small_rows, st.sampled_from([0.1, 0.2, 0.5, 0.6, 0.75, 0.8, 0.95, 1.0]), st.booleans())
def test_of_small_rows(rows, threshold, signs):
    # Small whole numbers bring ties, copies, empty rows, and similarities at the threshold.
    X = np.array(rows, dtype=float)
    if signs:
        X[:, ::2] *= -1
        X[::3] *= -1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FULL_CELLS", 0)
        assert_join(X, threshold)


@pytest.mark.slow
@pytest.mark.usefixtures("blocks")
def test_at_the_threshold():
    # (4, 3) . (1, 0) / 5 = 4 / 5, which is a little less than the float 0.8. The norms of
    # (1, 1) and (1, 0) make 1 / sqrt(2).
    for X, similarity in (([[4, 3], [1, 0]], 0.8), ([[1, 1], [1, 0]], np.sqrt(0.5))):
        # Terms of a single row are counted out; a third row shares them.
        X = np.vstack((np.array(X, dtype=float), [0, 1e-3]))
        for rows in (X, sparse.csr_array(X), X * 1e-200, X * 1e200):
            for threshold, kept in ((similarity, True), (similarity + 1e-11, False)):
                found = similarity_join(rows, threshold)
                assert (found[0, 1] > 0) == kept, (similarity, threshold)
            assert similarity_join(rows, similarity)[0, 1] == round(similarity, 12)


@pytest.mark.usefixtures("blocks")
def test_rows_on_one_line_have_similarity_1():
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 1, (1, 30)) * rng.uniform(0.01, 100, (40, 1))
    for rows in (X, sparse.csr_array(X)):
        np.testing.assert_array_equal(similarity_join(rows, 1.0).toarray(), np.ones((40, 40)))


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("kind", [sparse.csr_array, np.asarray])
def test_rows_of_zeros(kind):
    X = kind(np.zeros((3, 4)))
    np.testing.assert_array_equal(similarity_join(X, 0.5).toarray(), np.eye(3))
    X = kind(np.array([[0.0, 0], [1, 1], [0, 0], [1, 1]]))
    expected = np.eye(4)
    expected[1, 3] = expected[3, 1] = 1
    np.testing.assert_array_equal(similarity_join(X, 0.5).toarray(), expected)


@pytest.mark.slow
def test_many_rows_do_not_make_a_full_matrix():
    # 60,000 rows: the full matrix would have 3.6e9 entries, 29 GB.
    n_rows = 60_000
    rows = np.arange(n_rows)
    X = sparse.coo_array(
        (np.ones(2 * n_rows), (np.tile(rows, 2), np.concatenate((rows // 2, rows + n_rows)))),
        shape=(n_rows, 2 * n_rows),
    )
    # Two rows share one of their two words: 1 / 2.
    assert similarity_join(X, 0.5).nnz == 2 * n_rows
    assert similarity_join(X, 0.51).nnz == n_rows


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("kind", [sparse.csr_array, np.asarray])
def test_threshold_that_rounds_to_0(kind):
    # 1 - 1 + 1e-9 against norms of sqrt(2), and rows that share no term.
    X = kind(np.array([[1.0, 1, 0], [1, 1e-9 - 1, 0], [1, -1, 0], [0, 0, 1], [0, 1, 0]]))
    found = similarity_join(X, 1e-13)
    assert (found.data > 0).all()
    assert found.nnz == 5 + 2 * 3
    np.testing.assert_allclose(found[0, 1], 0.5e-9, rtol=1e-3)


def test_repeated_entries_are_added():
    X = sparse.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [0, 0, 0])), shape=(2, 2))
    assert similarity_join(X, 0.9)[0, 1] == 1.0


@pytest.mark.parametrize("threshold", [0, -0.1, 1.1, np.nan, "0.8", None, True])
def test_bad_threshold(threshold):
    with pytest.raises(ValueError, match="threshold must be a finite number above 0 and up to 1"):
        similarity_join(np.eye(2), threshold)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", [sparse.csr_array, np.asarray])
def test_bad_values(bad, kind):
    with pytest.raises(ValueError, match="X holds NaN or infinite"):
        similarity_join(kind(np.array([[1.0, bad], [1, 0]])), 0.5)


def test_bad_shape():
    with pytest.raises(ValueError, match=r"got shape \(3,\)"):
        similarity_join(np.ones(3), 0.5)


def texts_on_subjects(n_rows, seed=0):
    """Draw rows of frequent terms of all rows, and of rare terms that ten rows share."""
    rng = np.random.default_rng(seed)
    subject = np.arange(n_rows) // 10
    rare = 200 + 40 * subject[:, None] + rng.integers(0, 40, (n_rows, 12))
    terms = np.hstack([rng.integers(0, 200, (n_rows, 12)), rare])
    entries = (np.repeat(np.arange(n_rows), terms.shape[1]), terms.ravel())
    weights = np.where(terms < 200, 1.0, 4.0).ravel()
    return sparse.csr_array(sparse.coo_array((weights, entries), (n_rows, 200 + 4 * n_rows)))


def test_pairs_that_are_compared_grow_with_the_rows_and_not_with_their_square(monkeypatch):
    monkeypatch.setattr(module, "_FULL_CELLS", 0)
    compared: list[int] = []
    compare = module._Comparison.__call__

    def counted(self, first, second):
        compared.append(len(first))
        return compare(self, first, second)

    monkeypatch.setattr(module._Comparison, "__call__", counted)
    per_row = []
    for n_rows in (200, 800):
        compared.clear()
        similarity_join(texts_on_subjects(n_rows), 0.4)
        per_row.append(sum(compared) / n_rows)
    assert per_row[1] < 1.5 * per_row[0]


def test_nearest_similarities_are_held_in_blocks(monkeypatch):
    X = texts_on_subjects(200)
    rows = np.arange(0, 200, 3)
    expected = nearest_similarity(X, rows)
    cosines = all_pairs(X.toarray(), 0.0)
    cosines[cosines > 1 - 1e-9] = 0.0
    np.testing.assert_allclose(expected, cosines[rows].max(axis=1), rtol=1e-12)
    held: list[int] = []
    nearest = module._nearest_of_block

    def counted(similarity):
        held.append(similarity.nnz)
        return nearest(similarity)

    monkeypatch.setattr(module, "_nearest_of_block", counted)
    monkeypatch.setattr(module, "_PRODUCT_BLOCK", 1000)
    np.testing.assert_array_equal(nearest_similarity(X, rows), expected)
    assert max(held) <= 1000

"""Hashes of rows: values count, and not what holds them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skfilterrank._lists.content import hash_rows, hash_scores

X = np.random.default_rng(0).normal(size=(60, 3)).round(2)
X[X < 0] = 0
GROUPS = np.repeat(np.arange(20), 3)


@pytest.mark.parametrize(
    "convert",
    [
        pd.DataFrame,
        sparse.csr_array,
        sparse.csc_matrix,
        np.ndarray.tolist,
        lambda table: table.astype(object),
        lambda table: pd.DataFrame(table).convert_dtypes(),
        lambda table: table.astype(np.float32),
        lambda table: np.asfortranarray(-(0.0 - table)),
        lambda table: table * (1 + 1e-15),
    ],
)
def test_values_count_and_not_what_holds_them(convert):
    np.testing.assert_array_equal(hash_rows(convert(X)), hash_rows(X))


@pytest.mark.parametrize("hold", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_the_type_of_whole_numbers_does_not_count(hold):
    counts = X.round()
    np.testing.assert_array_equal(hash_rows(hold(counts.astype(np.uint64))), hash_rows(counts))


def test_entries_of_one_cell_are_added():
    parts = sparse.csr_array(([1.0, 2.0, 4.0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    np.testing.assert_array_equal(hash_rows(parts), hash_rows([[0, 3], [4, 0]]))


def test_texts_and_columns_count():
    texts = ["b", "a", "b"]
    one, two, three = hash_rows(texts)
    assert one == three != two
    table = pd.DataFrame({"x": pd.Categorical(texts), "n": [1.0, 1.0, np.nan]})
    assert len(set(hash_rows(table))) == 3
    assert len(set(hash_rows([[1, 2], [2, 1], [0, 3], [3, 0], [0, 0]]))) == 5
    assert hash_rows(texts, [1, 2, 3])[0] != hash_rows(texts, [2, 2, 3])[0]


def test_the_scale_of_scores_does_not_count():
    scores = X[:, 0]
    every, some = np.ones(60, dtype=bool), GROUPS > 3
    np.testing.assert_array_equal(hash_scores(every, np.exp(scores)), hash_scores(every, scores))
    assert (hash_scores(every, -scores) != hash_scores(every, scores)).any()
    order = np.argsort(-scores)
    np.testing.assert_array_equal(
        hash_scores(every, scores[order]), hash_scores(every, scores)[order]
    )
    of_some = hash_scores(some, scores)
    np.testing.assert_array_equal(of_some[some], hash_scores(every[some], scores[some]))
    assert not of_some[~some].any()


def test_unpaired_surrogates_are_texts():
    found = hash_rows(pd.Series(["a\ud83d", "a", "a\ud83d"], dtype=object))
    assert found[0] == found[2] != found[1]

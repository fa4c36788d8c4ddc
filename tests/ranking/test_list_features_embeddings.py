"""list_embedding_features: a slow reference, invariances, and vectors of all kinds."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from skfilterrank.exceptions import InputError
from skfilterrank.ranking import _list_features, list_embedding_features
from thinned import thinned

KINDS = ("question", "rest", "nearest", "before")


def cosine(a, b):
    """Cosine of two vectors, 0 where one is zero."""
    length = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / length if length > 1e-12 else 0.0


def slow_features(questions, answers, groups):
    """Compute the features list by list and answer by answer."""
    table = np.zeros((len(groups), 16))
    units = np.array([a / (np.linalg.norm(a) or 1.0) for a in np.asarray(answers, dtype=float)])
    for query in set(groups):
        rows = [row for row, each in enumerate(groups) if each == query]
        for place, row in enumerate(rows):
            a, others = units[row], units[[other for other in rows if other != row]]
            table[row, 0] = cosine(a, np.asarray(questions[row], dtype=float))
            if len(others):
                table[row, 1] = cosine(a, others.mean(axis=0))
                table[row, 2] = max(cosine(a, other) for other in others)
            if place > 0:
                table[row, 3] = cosine(a, units[rows[place - 1]])
        values = table[rows, :4]
        table[rows, 4:8] = values - values.mean(axis=0)
        ranks = [rankdata(column.round(8)) - 1 for column in values.T]
        table[rows, 8:12] = np.transpose(ranks) / (len(rows) - 1) if len(rows) > 1 else 0.5
        table[rows, 12:] = values.max(axis=0) - values
    return table


def drawn(seed, n_lists=9, most=8, n_dimensions=5):
    """Draw lists of unequal size in mixed order, with equal, opposite and zero vectors."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, n_lists)
    groups = rng.permutation(np.repeat(np.arange(n_lists), sizes))
    questions = rng.normal(size=(n_lists, n_dimensions))[groups]
    answers = rng.normal(size=(len(groups), n_dimensions))
    same = rng.random(len(groups)) < 0.3
    answers[same] = answers[0] * rng.choice([1, -1, 0], (same.sum(), 1))
    return questions, answers, groups


@pytest.mark.slow
@pytest.mark.parametrize("block_numbers", [1 << 20, 7, 60])
def test_equals_the_slow_reference(block_numbers, monkeypatch):
    # Blocks of a few cells: several blocks of lists, and of pairs within a list.
    monkeypatch.setattr(_list_features, "_BLOCK_NUMBERS", block_numbers)
    for seed in thinned(range(8)):
        rows = drawn(seed)
        found = list_embedding_features(*rows)
        np.testing.assert_allclose(found, slow_features(*rows), atol=2e-8)
        assert found.columns[:4].tolist() == [f"cosine_{kind}" for kind in KINDS]
        assert found.columns[-1] == "cosine_before_below_max"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_equal_to_the_bit_where_nothing_changes(seed):
    questions, answers, groups = drawn(seed, n_dimensions=40)
    expected = list_embedding_features(questions, answers, groups)
    rng = np.random.default_rng(seed)

    def assert_same(found, columns=expected.columns):
        pd.testing.assert_frame_equal(found[columns], expected[columns], check_exact=True)

    lengths = rng.uniform(0.1, 10, (2, len(groups), 1))
    assert_same(list_embedding_features(questions * lengths[0], answers * lengths[1], groups))
    assert_same(list_embedding_features(questions * 1e200, answers * 1e-200, groups))
    names = rng.permutation([f"query {i}" for i in range(9)])
    assert_same(list_embedding_features(questions, answers, names[groups]))
    by_list = np.argsort(groups, kind="stable")
    found = list_embedding_features(questions[by_list], answers[by_list], groups[by_list])
    assert_same(found.set_index(by_list).sort_index())
    # Within lists, order counts for the previous answer alone.
    mixed = rng.permutation(len(groups))
    found = list_embedding_features(questions[mixed], answers[mixed], groups[mixed])
    of_any_order = [name for name in expected if "before" not in name]
    assert_same(found.set_index(mixed).sort_index(), of_any_order)
    # A list alone has the features that it has among others.
    mine = groups == groups[0]
    found = list_embedding_features(questions[mine], answers[mine], groups[mine])
    np.testing.assert_array_equal(found, expected[mine])


def test_one_answer_and_zero_vectors():
    found = list_embedding_features([[0, 2], [1, 1], [0, 0]], [[0, 3], [0, 0], [1, 0]], list("abb"))
    assert found.iloc[0].tolist() == [1, 0, 0, 0, *[0] * 4, *[0.5] * 4, *[0] * 4]
    assert (found.iloc[1:, :8] == 0).all(axis=None)


def test_equal_answers_tie():
    answers = np.array([[1, 2, 3], [3, 1, 1], [1, 2, 3], [7, 1, 0]]) / 3
    found = list_embedding_features(np.full((4, 3), 0.1), answers, [0] * 4)
    ranks = found.filter(like="rank").drop(columns="cosine_before_rank")
    assert ranks.iloc[0].tolist() == ranks.iloc[2].tolist()
    assert found.loc[[0, 2], "cosine_nearest"].tolist() == [1, 1]
    assert found.loc[[0, 2], "cosine_nearest_rank"].tolist() == [5 / 6, 5 / 6]


def test_others_that_cancel_have_no_direction():
    answers = [[0.1, 0.7], [0.3, 0.2], [-0.1, -0.7], [1, 0]]
    found = list_embedding_features(answers, answers, ["a", "a", "a", "b"])
    assert found["cosine_rest"][1] == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_other_numbers_are_computed_in_double_precision(dtype):
    questions, answers, groups = drawn(0)
    questions, answers = ((10 * vectors).astype(dtype) for vectors in (questions, answers))
    expected = list_embedding_features(questions.astype(float), answers.astype(float), groups)
    found = list_embedding_features(questions, answers, groups)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_index_of_the_rows():
    questions, answers, groups = drawn(0)
    plain = list_embedding_features(questions, answers, groups)
    assert plain.index.equals(pd.RangeIndex(len(groups)))
    column = pd.Series(groups, index=[f"row {i}" for i in range(len(groups))])
    for vectors in (answers, pd.DataFrame(answers)):
        assert list_embedding_features(questions, vectors, column).index.equals(column.index)
    ids = pd.Index(groups, name="qid")
    frame = pd.DataFrame(answers, index=ids)
    found = list_embedding_features(questions, frame)
    assert found.index.equals(ids)
    np.testing.assert_array_equal(found, plain)


GOOD = np.ones((2, 3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (GOOD, [[1, 2, 3], [1, np.nan, 3]], "ab"),
            "answer_vectors .* in 1 rows, the first at row 1",
        ),
        ((GOOD * np.inf, GOOD, "ab"), "question_vectors must hold finite numbers, got NaN or inf"),
        (
            (GOOD[:, :2], GOOD, "ab"),
            r"got shapes \(2, 2\) and \(2, 3\). Encode .* the same encoder",
        ),
        ((GOOD[:1], GOOD, "ab"), r"got shapes \(1, 3\) and \(2, 3\). Repeat the vector"),
        ((GOOD[0], GOOD, "ab"), r"question_vectors must hold a vector .* got shape \(3,\)"),
        ((GOOD, ["a text", "another"], "ab"), "answer_vectors must hold a vector"),
        ((GOOD, GOOD, "abc"), "groups has 3 entries but there are 2 rows"),
        ((GOOD, GOOD, None), "groups is missing: .* answer_vectors as a DataFrame"),
        ((GOOD, GOOD, ["a", None]), "groups has 1 missing"),
    ],
)
def test_refuses(arguments, message):
    *vectors, groups = arguments
    with pytest.raises(InputError, match=re.compile(message, re.DOTALL)):
        list_embedding_features(*vectors, groups if groups is None else list(groups))

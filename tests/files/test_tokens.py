"""Texts as places in bytes, against Python's own strings."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._files import tokens as module
from skfilterrank._files import tokens as text_columns
from skfilterrank._files.tokens import (
    Tokens,
    arrow_texts,
    distinct_column,
    id_tokens,
    is_arrow_text,
    text_column,
)
from skfilterrank.exceptions import InputError

# Few letters, so that texts share their beginnings; a zero byte, a line end and two more bytes.
SHORT = st.text("ab\0\né", max_size=20)

TEXTS = st.lists(st.one_of(SHORT, st.sampled_from(["a" * 40, "a" * 39 + "b"])), max_size=12)


@pytest.fixture(params=[64, 1], autouse=True)
def most_words(request, monkeypatch):
    """Texts that are sorted as objects: none, nearly all."""
    monkeypatch.setattr(module, "_MOST_WORDS", request.param)


@pytest.mark.slow
@given(TEXTS, st.integers(0, 3))
def test_hashes_tell_texts_apart(texts, salt):
    hashes = Tokens.from_texts(texts).hashes(salt)
    assert len(set(hashes.tolist())) == len(set(texts))
    assert dict(zip(texts, hashes)) == dict(zip(texts[::-1], hashes[::-1]))
    # They do not depend on what stands beside a text.
    for text, value in zip(texts, hashes):
        assert Tokens.from_texts([text]).hashes(salt)[0] == value


@pytest.mark.slow
@given(TEXTS)
def test_factorize(texts):
    codes, distinct = Tokens.from_texts(texts).factorize()
    assert [distinct[code] for code in codes] == texts
    assert distinct == list(dict.fromkeys(texts))


@pytest.mark.slow
@given(TEXTS, st.randoms(use_true_random=False))
def test_equal(texts, random):
    others = [random.choice([text, text + "a", text[:-1] + "b"]) for text in texts]
    found = Tokens.from_texts(texts).equal(Tokens.from_texts(others))
    assert found.tolist() == [one == two for one, two in zip(texts, others)]


@pytest.mark.slow
@given(TEXTS)
def test_sort_keys_sort_by_bytes(texts):
    tokens = Tokens.from_texts(texts)
    order = np.lexsort(tokens.sort_keys())
    assert [texts[i] for i in order] == sorted(texts, key=str.encode)
    order = np.lexsort([~key for key in tokens.sort_keys()])
    assert [texts[i] for i in order] == sorted(texts, key=str.encode, reverse=True)


@given(TEXTS)
def test_texts_come_back(texts):
    tokens = Tokens.from_texts(texts)
    assert tokens.tolist() == texts
    assert tokens.packed() == "".join(texts).encode()
    assert tokens.bytes() == [text.encode() for text in texts]


@pytest.mark.parametrize("length", [7, 8, 9, 16, 17])
def test_texts_that_differ_in_their_last_letter_do_not_repeat(length):
    start = "x" * (length - 1)
    tokens = Tokens.from_texts([start + "a", start + "a", start + "b"])
    assert tokens.repeats().tolist() == [True, False]


def test_one_long_text_among_many():
    texts = ["x" * 20_000 if i == 700 else f"d{i % 900}" for i in range(2000)]
    tokens = Tokens.from_texts(texts)
    assert tokens.is_uneven
    assert tokens.tolist() == texts
    assert len(tokens.sort_keys()) == 1
    assert [texts[i] for i in np.lexsort(tokens.sort_keys())] == sorted(texts)
    codes, distinct = tokens.factorize()
    assert [distinct[code] for code in codes] == texts


TEXTS_TEXT_COLUMNS = ["a", "", "é\U0001f600", "a b", "x" * 40]


@pytest.fixture(params=["arrow", "objects"])
def storage(request, monkeypatch):
    """How pandas keeps strings: in Arrow's buffers, or as objects."""
    if request.param == "objects":
        monkeypatch.setattr(text_columns, "_arrow_strings", lambda: None)


def test_texts_to_columns(storage):
    column = pd.Series(text_column(Tokens.from_texts(TEXTS_TEXT_COLUMNS)))
    assert column.tolist() == TEXTS_TEXT_COLUMNS
    taken = text_column(Tokens.from_texts(TEXTS_TEXT_COLUMNS).take([3, 0, 3]))
    assert list(taken) == ["a b", "a", "a b"]
    assert len(text_column(Tokens.from_texts([]))) == 0


def test_distinct_texts_by_their_codes(storage):
    found = distinct_column(np.array([2, 0, 2, 1]), ["x", "yé", "z"])
    assert list(found) == ["z", "x", "z", "yé"]


def test_arrow_texts():
    found = arrow_texts(Tokens.from_texts(TEXTS_TEXT_COLUMNS))
    assert found.type == pa.large_string()
    assert found.to_pylist() == TEXTS_TEXT_COLUMNS


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (pd.Series(["b", "a"], dtype=object), ["b", "a"]),
        (pd.Series(["b", "a"], dtype="string[python]"), ["b", "a"]),
        (pd.Series(["b", "a"], dtype="string[pyarrow]"), ["b", "a"]),
        (pd.Series(["b", "a"], dtype=pd.ArrowDtype(pa.large_string())), ["b", "a"]),
        (pd.Series(pa.array(["b", "a"]).dictionary_encode().to_pandas()), ["b", "a"]),
        (pd.Series(["b", "a", "b"], dtype="category"), ["b", "a", "b"]),
        (pd.Series([3, 1]), ["3", "1"]),
        (pd.Series([3, 1], dtype="category"), ["3", "1"]),
        (pd.Series([2**62, -1]), [str(2**62), "-1"]),
        (pd.Series([3.0, 1e3]), ["3", "1000"]),
        (pd.Series([3, 1], dtype="Int64"), ["3", "1"]),
        (pd.Series([3, 1], dtype="int64[pyarrow]"), ["3", "1"]),
        (pd.Series(["a", 7, np.int8(8), 9.0, np.str_("b")], dtype=object), list("a789b")),
    ],
)
def test_ids_of_each_type(column, texts):
    assert id_tokens(column, "docno").tolist() == texts


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a", None], "row 1 holds no id in column 'docno'; every row needs one"),
        ([np.nan, 1.0], "row 0 holds no id"),
        ([1.0, 2.5], "holds 2.5 in column 'docno', which is neither a string nor a whole number"),
        (["a", 2.5], "holds 2.5 in column 'docno', which is neither"),
        (["a", True], "holds True in column 'docno', which is neither"),
        (["a", b"b"], "holds b'b' in column 'docno', which is neither"),
        ([("a",)], r"holds \('a',\) in column 'docno', which is neither"),
    ],
)
def test_what_is_no_id(values, message):
    with pytest.raises(InputError, match=message):
        id_tokens(pd.Series(values), "docno")


def test_parts_of_a_column_keep_their_order():
    chunked = pa.chunked_array([["a", "b"], [], ["é"]])
    column = pd.Series(pd.arrays.ArrowExtensionArray(chunked))
    assert id_tokens(column, "x").tolist() == ["a", "b", "é"]
    assert id_tokens(column[1:], "x").tolist() == ["b", "é"]
    assert id_tokens(column[::-1], "x").tolist() == ["é", "b", "a"]


def test_types_that_keep_strings_in_arrow():
    for dtype in ("string[pyarrow]", pd.ArrowDtype(pa.string())):
        assert is_arrow_text(pd.Series(["a"], dtype=dtype).dtype)
    for dtype in (object, "string[python]", "category"):
        assert not is_arrow_text(pd.Series(["a"], dtype=dtype).dtype)

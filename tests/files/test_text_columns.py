"""Columns of ids as tokens and back, whatever type pandas gives them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from skfilterrank._files import text_columns
from skfilterrank._files.text_columns import (
    arrow_texts,
    distinct_column,
    id_tokens,
    is_arrow_text,
    text_column,
)
from skfilterrank._files.tokens import Tokens
from skfilterrank.exceptions import InputError

TEXTS = ["a", "", "é\U0001f600", "a b", "x" * 40]


@pytest.fixture(params=["arrow", "objects"])
def storage(request, monkeypatch):
    """How pandas keeps strings: in Arrow's buffers, or as objects."""
    if request.param == "objects":
        monkeypatch.setattr(text_columns, "_arrow_strings", lambda: None)


def test_texts_to_columns(storage):
    column = pd.Series(text_column(Tokens.from_texts(TEXTS)))
    assert column.tolist() == TEXTS
    taken = text_column(Tokens.from_texts(TEXTS).take([3, 0, 3]))
    assert list(taken) == ["a b", "a", "a b"]
    assert len(text_column(Tokens.from_texts([]))) == 0


def test_distinct_texts_by_their_codes(storage):
    found = distinct_column(np.array([2, 0, 2, 1]), ["x", "yé", "z"])
    assert list(found) == ["z", "x", "z", "yé"]


def test_arrow_texts():
    found = arrow_texts(Tokens.from_texts(TEXTS))
    assert found.type == pa.large_string()
    assert found.to_pylist() == TEXTS


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
        (["a", None], "column 'docno' holds no id in row 1; every row needs one"),
        ([np.nan, 1.0], "holds no id in row 0"),
        ([1.0, 2.5], "holds 2.5, which is neither a string nor a whole number"),
        (["a", 2.5], "holds 2.5, which is neither"),
        (["a", True], "holds True, which is neither"),
        (["a", b"b"], "holds b'b', which is neither"),
        ([("a",)], r"holds \('a',\), which is neither"),
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

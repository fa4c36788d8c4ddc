"""Text columns of data frames, from bytes and to bytes."""

import numpy as np
import pandas as pd

from skfilterrank._files.tokens import Tokens
from skfilterrank.exceptions import InputError, brief


def text_column(tokens):
    """Column of the texts, of the type that pandas gives to strings."""
    dtype = _arrow_strings()
    if dtype is None:
        return np.array(tokens.tolist(), dtype=object)
    return dtype.__from_arrow__(arrow_texts(tokens))


def arrow_texts(tokens):
    """The texts as a pyarrow array of large strings."""
    import pyarrow as pa

    offsets = np.zeros(len(tokens) + 1, dtype=np.int64)
    np.cumsum(tokens.lengths, out=offsets[1:])
    buffers = pa.py_buffer(offsets), pa.py_buffer(tokens.packed())
    return pa.LargeStringArray.from_buffers(len(tokens), *buffers)


def distinct_column(codes, texts):
    """The same of texts[code] for each code."""
    dtype = _arrow_strings()
    if dtype is None:
        return np.array(texts, dtype=object)[codes]
    import pyarrow as pa

    return dtype.__from_arrow__(pa.array(texts, type=pa.large_string()).take(pa.array(codes)))


def _arrow_strings():
    """The string type of pandas where its strings lie in Arrow buffers, else None."""
    dtype = pd.Series([""]).dtype
    is_arrow = isinstance(dtype, pd.StringDtype) and dtype.storage == "pyarrow"
    return dtype if is_arrow else None


def id_tokens(column, name):
    """Tokens of a column of ids; numbers become their digits, a missing id is an error."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if (missing := column.isna().to_numpy()).any():
        raise InputError(
            f"column {brief(name)} holds no id in row {int(missing.argmax())}; every row needs one."
        )
    array = column.array
    if is_arrow_text(column.dtype):
        array = array.__arrow_array__()
        array = array.combine_chunks() if hasattr(array, "combine_chunks") else array
        if str(array.type) in ("string", "large_string"):
            return Tokens.from_arrow(array)
        array = array.to_pylist()
    elif column.dtype.kind in "iuf":
        array = _whole_numbers(column.to_numpy(), name).tolist()
    else:
        array = column.tolist()
    texts = [item if type(item) is str else _id_text(item, name) for item in array]
    return Tokens.from_texts(texts)


def is_arrow_text(dtype):
    """Whether a column type keeps strings in Arrow buffers."""
    storage = getattr(dtype, "storage", "")
    return str(storage).startswith("pyarrow") or (
        isinstance(dtype, pd.ArrowDtype) and dtype.kind in "OU"
    )


def _whole_numbers(values, name):
    """Integers of ids that came as numbers; others are an error."""
    if values.dtype.kind == "f" and (broken := values % 1 != 0).any():
        raise InputError(
            f"column {brief(name)} holds {values[broken][0]}, which is neither a string nor a "
            "whole number; write ids as strings."
        )
    return values.astype(np.int64) if values.dtype.kind == "f" else values


def _id_text(item, name):
    """Text of a string or whole number."""
    if isinstance(item, str):
        return str(item)
    is_number = isinstance(item, int | float | np.integer | np.floating)
    if is_number and not isinstance(item, bool) and item % 1 == 0:
        return str(int(item))
    raise InputError(
        f"column {brief(name)} holds {brief(item)}, which is neither a string nor a whole number; "
        "write ids as strings."
    )

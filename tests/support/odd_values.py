"""Values that nobody should pass, and what holds an array in other ways than numpy does."""

import array
import collections
import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse


class HasArray:
    """Turns itself into a numpy array, as the arrays of other libraries do."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


class Refuses:
    """Raises whatever is asked of it."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no array")

    def __len__(self):
        return 6


def record_array():
    return np.array([(1, 2.0)] * 6, dtype=[("a", int), ("b", float)])


# Each makes a new value, as some are used up by reading.
ODD = {
    "None": lambda: None,
    "True": lambda: True,
    "zero": lambda: 0,
    "negative": lambda: -1,
    "half": lambda: 0.5,
    "NaN": lambda: float("nan"),
    "infinity": lambda: float("inf"),
    "beyond float64": lambda: 10**400,
    "Decimal": lambda: Decimal("0.5"),
    "Decimal signalling NaN": lambda: Decimal("sNaN"),
    "Fraction": lambda: Fraction(1, 3),
    "complex": lambda: 1 + 2j,
    "pd.NA": lambda: pd.NA,
    "masked": lambda: np.ma.masked,
    "0-d": lambda: np.array(1.0),
    "text": lambda: "odd",
    "empty text": lambda: "",
    "bytes": lambda: b"odd",
    "half of a pair": lambda: "\ud800",
    "NUL": lambda: "a\0b",
    "long text": lambda: "x" * 10_000,
    "date": lambda: datetime.date(2020, 1, 1),
    "type": lambda: int,
    "function": lambda: lambda *args, **kwargs: None,
    "object": lambda: object(),
    "Ellipsis": lambda: ...,
    "set": lambda: {1, 2, 3, 4, 5, 6},
    "dict": lambda: {"a": 1},
    "empty dict": lambda: {},
    "dict of pd.NA": lambda: {"a": pd.NA},
    "dict of lists": lambda: {"a": [1], "b": []},
    "generator": lambda: (value for value in range(6)),
    "range": lambda: range(6),
    "deque": lambda: collections.deque([1, 0, 2, 0, 1, 0]),
    "array.array": lambda: array.array("d", [1, 0, 2, 0, 1, 0]),
    "empty list": lambda: [],
    "one too few": lambda: [1, 0, 1, 0, 1],
    "ragged": lambda: [[1], [2, 3], [], [1], [2], [3]],
    "lists": lambda: [[1]] * 6,
    "dicts": lambda: [{"a": 1}] * 6,
    "pairs": lambda: [(1, 2)] * 6,
    "mixed": lambda: [1, "1", 2.5, None, b"1", (1,)],
    "None in it": lambda: [1, None, 0, 1, 0, 1],
    "pd.NA in it": lambda: [1, pd.NA, 0, 1, 0, 1],
    "masked in it": lambda: [1, np.ma.masked, 0, 1, 0, 1],
    "NaN in it": lambda: [1, float("nan"), 0, 1, 0, 1],
    "infinities": lambda: [float("inf"), float("-inf"), 0, 1, 0, 1],
    "huge in it": lambda: [10**400, 0, 1, 0, 1, 0],
    "huge Decimals": lambda: [Decimal("1e400")] * 6,
    "signalling NaNs": lambda: [Decimal("sNaN")] * 6,
    "Decimals": lambda: [Decimal(1), Decimal("0.5"), None, Decimal(2), Decimal(0), Decimal(1)],
    "Fractions": lambda: [Fraction(1, 3)] * 6,
    "objects": lambda: [object() for _ in range(6)],
    "strange objects": lambda: np.array([object, None, int, 1, "a", ...], dtype=object),
    "texts": lambda: ["1", "2", "3", "4", "5", "6"],
    "halves of pairs": lambda: ["\ud800"] * 6,
    "numpy texts": lambda: np.array(["a", "b", "c", "d", "e", "f"]),
    "numpy strings": lambda: np.array(["a", "b"] * 3, dtype=np.dtypes.StringDType()),
    "bools": lambda: np.array([True, False] * 3),
    "complex array": lambda: np.array([1j] * 6),
    "dates": lambda: np.array(["2020-01-01"] * 6, dtype="datetime64[D]"),
    "durations": lambda: np.arange(6).astype("timedelta64[D]"),
    "records": record_array,
    "2-D": lambda: np.ones((6, 2)),
    "column": lambda: np.arange(6.0)[:, None],
    "3-D": lambda: np.ones((6, 1, 1)),
    "no rows": lambda: np.empty(0),
    "no columns": lambda: np.empty((6, 0)),
    "matrix": lambda: np.asmatrix(np.arange(6.0)).T,
    "uint64": lambda: np.array([2**64 - 1, 2**63, 1, 2, 3, 4], dtype=np.uint64),
    "float16": lambda: np.arange(6, dtype=np.float16),
    "longdouble": lambda: np.array(["1e400", 1, 2, 3, 4, 5], dtype=np.longdouble),
    "big-endian": lambda: np.arange(6, dtype=">f8"),
    "masked array": lambda: np.ma.array([1.0, 0, 2, 0, 1, 0], mask=[0, 1, 0, 0, 0, 0]),
    "masked whole numbers": lambda: np.ma.array([1, 0, 2, 0, 1, 0], mask=[0, 1, 0, 0, 0, 0]),
    "masked texts": lambda: np.ma.array(list("abcdef"), mask=[0, 1, 0, 0, 0, 0]),
    "masked records": lambda: np.ma.array(record_array(), mask=False),
    "Series of names": lambda: pd.Series(["ap", "rr"]),
    "duplicate index": lambda: pd.Series([1.0, 0, 2, 0, 1, 0], index=[5] * 6),
    "Int64": lambda: pd.array([1, None, 0, 1, 0, 1], dtype="Int64"),
    "boolean": lambda: pd.array([True, None, False, True, False, True], dtype="boolean"),
    "string": lambda: pd.array(["a", None, "b", "a", "b", "a"], dtype="string"),
    "Categorical": lambda: pd.Categorical(["a", None, "b", "a", "b", "a"]),
    "Interval": lambda: pd.interval_range(0, 6),
    "time zone": lambda: pd.date_range("2020", periods=6, tz="UTC"),
    "Sparse": lambda: pd.arrays.SparseArray([1.0, 0, 0, 0, 0, np.nan]),
    "MultiIndex": lambda: pd.MultiIndex.from_product([[1, 2], [1, 2, 3]]),
    "DataFrame": lambda: pd.DataFrame({"a": range(6), "b": range(6)}),
    "odd DataFrame": lambda: pd.DataFrame({"a": [{}] * 6, "b": list("abcdef")}),
    "empty DataFrame": lambda: pd.DataFrame(),
    "polars": lambda: pl.Series([1, None, 0, 1, 0, 1]),
    "polars texts": lambda: pl.Series(["a", None, "b", "a", "b", "a"]),
    "polars lists": lambda: pl.Series([[1], [2], [3], [4], [5], [6]]),
    "polars DataFrame": lambda: pl.DataFrame({"a": range(6), "b": list("abcdef")}),
    "polars LazyFrame": lambda: pl.DataFrame({"a": range(6)}).lazy(),
    "Arrow": lambda: pa.array([1, None, 0, 1, 0, 1]),
    "Arrow chunks": lambda: pa.chunked_array([[1.0, None], [0.0, 1.0, 0.0, 1.0]]),
    "Arrow texts": lambda: pa.array(["a", None, "b", "a", "b", "a"]),
    "Arrow dictionary": lambda: pa.array(list("ababab")).dictionary_encode(),
    "Arrow lists": lambda: pa.array([[1]] * 6),
    "Arrow nulls": lambda: pa.nulls(6),
    "Arrow table": lambda: pa.table({"a": range(6), "b": range(6)}),
    "__array__": lambda: HasArray([1.0, 0, 2, 0, 1, 0]),
    "refuses": Refuses,
    "sparse": lambda: sparse.csr_array(np.eye(6)),
    "sparse column": lambda: sparse.csc_matrix(np.ones((6, 1))),
}

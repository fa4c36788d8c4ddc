"""The rows of each query: ids of every type, in every order."""

import datetime
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank._lists.queries import (
    GroupIndex,
    _order_by_code,
    check_groups,
    check_one_order,
    find_groups,
    query_ids_of_index,
)
from skfilterrank.exceptions import InputError

# The same pattern in every type: each entry is the place of the id among IDS, sorted.
PATTERNS = {
    "contiguous": [0, 0, 0, 1, 1, 2],
    "contiguous, descending": [2, 2, 1, 0, 0, 0],
    "contiguous, long": [1] * 9 + [0] * 7 + [2] * 5,
    "mixed up": [2, 0, 1, 0, 2, 0],
    "mixed up, long runs": [1] * 6 + [0] * 6 + [1] * 6 + [2] * 6 + [0] * 6,
    "one row each": [0, 1, 2],
    "one row each, descending": [2, 1, 0],
    "one query": [1, 1, 1, 1],
    "one row": [0],
}

DAYS = [datetime.date(2020, 1, 9), datetime.date(2020, 1, 10), datetime.date(2021, 1, 1)]

# Constructor of the groups from a list of ids, and three ids in ascending order.
ID_TYPES = {
    "list of int": (list, [-3, 0, 10]),
    "tuple of int": (tuple, [2, 10, 30]),
    "int64": (np.array, [-3, 0, 10]),
    "int8": (lambda ids: np.array(ids, dtype=np.int8), [-3, 0, 10]),
    "uint64": (lambda ids: np.array(ids, dtype=np.uint64), [0, 1, 2**64 - 1]),
    "beyond int64": (list, [-1, 2**70, 2**71]),
    "float": (np.array, [-0.5, 0.0, 1e300]),
    "bool": (lambda ids: np.array(ids) > 1, [0, 1, 2]),
    "list of str": (list, ["10", "9", "a b"]),
    "numpy U": (np.array, ["a", "é", "長い"]),
    "numpy S": (np.array, [b"a", b"aa", b"b"]),
    "numpy StringDType": (lambda ids: np.array(ids, dtype=np.dtypes.StringDType()), "abc"),
    "object of str": (lambda ids: np.array(ids, dtype=object), ["10", "9", "nan"]),
    "object of int": (lambda ids: np.array(ids, dtype=object), [-3, 0, 10]),
    "dates": (list, DAYS),
    "datetime64": (lambda ids: np.array(ids, dtype="datetime64[D]"), DAYS),
    "Timestamp with zone": (
        lambda ids: pd.Series(pd.to_datetime(ids)).dt.tz_localize("Asia/Tokyo"),
        DAYS,
    ),
    "column": (lambda ids: np.array(ids)[:, None], [-3, 0, 10]),
    "Series of int": (pd.Series, [-3, 0, 10]),
    "Series of str": (pd.Series, ["10", "9", "a"]),
    "Series of object": (lambda ids: pd.Series(ids, dtype=object), ["10", "9", "a"]),
    "Series of tuple": (pd.Series, [(0, 5), (1, 2), (1, 3)]),
    "Series with its own index": (
        lambda ids: pd.Series(ids, index=np.arange(len(ids))[::-1]),
        [-3, 0, 10],
    ),
    "Index": (pd.Index, ["10", "9", "a"]),
    "nullable Int64": (lambda ids: pd.array(ids, dtype="Int64"), [-3, 0, 10]),
    "Series of Int64": (lambda ids: pd.Series(ids, dtype="Int64"), [-3, 0, 10]),
    "arrow strings": (lambda ids: pd.Series(ids, dtype="string[pyarrow]"), ["10", "9", "a"]),
    "arrow int": (lambda ids: pd.Series(ids, dtype="int64[pyarrow]"), [-3, 0, 10]),
    # The order of the categories is no order of the ids.
    "Categorical": (lambda ids: pd.Categorical(ids, categories=["z", "b", "a"]), ["a", "b", "z"]),
    "Series of category": (lambda ids: pd.Series(ids, dtype="category"), [-3, 0, 10]),
    "polars int": (pl.Series, [-3, 0, 10]),
    "polars str": (pl.Series, ["10", "9", "a"]),
    "polars Categorical": (lambda ids: pl.Series(ids, dtype=pl.Categorical), ["10", "9", "a"]),
    "range": (lambda ids: range(len(ids)), None),
}


def rows_of_each_query(pattern):
    return [
        [row for row, code in enumerate(pattern) if code == wanted] for wanted in sorted({*pattern})
    ]


def assert_indexes(index, pattern):
    """Whether the index says what a loop over the rows says."""
    rows = rows_of_each_query(pattern)
    assert index.n_rows == len(pattern)
    assert index.n_queries == len(rows)
    assert index.sizes.tolist() == [len(of_query) for of_query in rows]
    assert index.row_order().tolist() == [row for of_query in rows for row in of_query]
    known = sorted({*pattern})
    assert index.codes().tolist() == [known.index(code) for code in pattern]
    order = np.arange(index.n_rows) if index.order is None else index.order
    for query, of_query in enumerate(rows):
        first = index.starts[query]
        assert order[first : first + index.sizes[query]].tolist() == of_query


@pytest.mark.slow
@pytest.mark.parametrize(("make", "ids"), ID_TYPES.values(), ids=ID_TYPES)
def test_ids_of_every_type(make, ids):
    for pattern in PATTERNS.values():
        check_ids(make, ids, pattern)


def check_ids(make, ids, pattern):
    if ids is None:
        pattern = range(len(pattern))
        groups, expected = make(pattern), list(pattern)
    else:
        groups = make([ids[code] for code in pattern])
        expected = [ids[code] for code in sorted({*pattern})]
    if isinstance(groups, np.ndarray) and groups.dtype.kind == "b":
        pattern = [int(code > 1) for code in pattern]
        expected = [bool(code) for code in sorted({*pattern})]
    index = GroupIndex.from_groups(groups)
    assert_indexes(index, pattern)
    found = index.query_ids
    assert isinstance(found, np.ndarray)
    if len(expected) and isinstance(expected[0], datetime.date):
        found = [pd.Timestamp(day).date() for day in found]
    assert list(found) == expected


@pytest.mark.parametrize("pattern", ["contiguous", "contiguous, descending", "contiguous, long"])
def test_rows_that_stand_together_are_not_reordered(pattern):
    index = GroupIndex.from_groups(PATTERNS[pattern])
    assert index.order is None


def test_ids_are_sorted_as_what_they_are():
    assert GroupIndex.from_groups([10, 9, 10]).query_ids.tolist() == [9, 10]
    assert GroupIndex.from_groups(["10", "9", "10"]).query_ids.tolist() == ["10", "9"]


def test_negative_zero_is_zero():
    assert GroupIndex.from_groups(np.array([0.0, -0.0, 1.0])).sizes.tolist() == [2, 1]


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=60),
    st.sampled_from([1, 3, 10, 1 << 16]),
    st.booleans(),
)
def test_blocks_cover_each_query_once_and_put_undoes_take(pattern, max_cells, contiguous):
    pattern = sorted(pattern, reverse=True) if contiguous else pattern
    index = GroupIndex.from_groups(np.array(pattern))
    assert_indexes(index, pattern)
    values = np.arange(len(pattern)) * 1.5
    rows = rows_of_each_query(pattern)
    target, queries = np.full(len(pattern), np.nan), []
    for block in index.blocks(max_cells):
        assert len(block.queries) * block.width <= max_cells or len(block.queries) == 1
        assert block.sizes.tolist() == index.sizes[block.queries].tolist()
        assert block.width == block.sizes.max()
        assert block.sizes[-1] == block.width
        assert (np.diff(block.sizes) >= 0).all()
        queries.extend(block.queries)
        matrix = index.take(values, block, -7.0)
        for line, query in zip(matrix, block.queries):
            padding = [-7.0] * (block.width - len(rows[query]))
            assert line.tolist() == [1.5 * row for row in rows[query]] + padding
        index.put(target, block, matrix)
    assert sorted(queries) == list(range(index.n_queries))
    np.testing.assert_array_equal(target, values)


@pytest.mark.parametrize("contiguous", [True, False])
def test_a_huge_query_beside_many_small_ones(contiguous):
    # 40,000 rows are beyond int16, in which sizes are sorted where they fit.
    groups = np.repeat(np.arange(1001), [40_000] + [2] * 1000)
    if not contiguous:
        groups = np.random.default_rng(0).permutation(groups)
    index = GroupIndex.from_groups(groups)
    assert index.sizes.tolist() == [40_000] + [2] * 1000
    assert (groups[index.row_order()][1:] >= groups[index.row_order()][:-1]).all()
    blocks = list(index.blocks())
    assert np.concatenate([block.queries for block in blocks])[-1] == 0
    assert blocks[-1].width == 40_000
    assert blocks[-1].queries.tolist() == [0]
    np.testing.assert_array_equal(index.take(groups, blocks[-1], -1), np.zeros((1, 40_000)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_codes", "n_rows"),
    [
        *((1, 1), (70_000, 1), (1, 5000), (2, 5000), (300, 5000), (70_000, 5000)),
        pytest.param(2**24 + 1, 5000, marks=pytest.mark.nightly),
    ],
)
def test_rows_in_the_order_of_their_codes(n_codes, n_rows, monkeypatch):
    # Leading bits of 0, 1 and 2 bytes, and more codes than rows.
    monkeypatch.setattr("skfilterrank._lists.queries._CHUNK_ROWS", 777)
    codes = np.random.default_rng(0).integers(0, n_codes, n_rows)
    order, sizes = _order_by_code(codes.__getitem__, n_rows, n_codes)
    np.testing.assert_array_equal(order, np.argsort(codes, kind="stable"))
    known, counts = np.unique(codes, return_counts=True)
    assert len(sizes) == n_codes
    # Those of all other codes are 0: none is negative, and there are not more rows.
    np.testing.assert_array_equal(sizes[known], counts)
    assert sizes.min() >= 0
    assert sizes.sum() == n_rows


@pytest.mark.slow
def test_bringing_rows_together_takes_five_bytes_a_row(monkeypatch):
    # Four for the row number, one for what is left of the code.
    monkeypatch.setattr("skfilterrank._lists.queries._CHUNK_ROWS", 1 << 13)
    n_rows, n_codes = 1 << 19, 1 << 13
    codes = np.random.default_rng(0).integers(0, n_codes, n_rows)
    tracemalloc.start()
    try:
        order, _ = _order_by_code(codes.__getitem__, n_rows, n_codes)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(order, np.argsort(codes, kind="stable"))
    assert peak < 6 * n_rows


@pytest.mark.parametrize(
    ("dtype", "first"), [(np.int8, -128), (np.uint64, 2**64 - 200), (np.int64, -(2**63))]
)
def test_integers_at_the_ends_of_their_type(dtype, first):
    codes = np.random.default_rng(0).integers(0, 200, 600)
    groups = np.array([first + int(code) for code in codes], dtype=dtype)
    index = GroupIndex.from_groups(groups)
    assert_indexes(index, codes.tolist())
    assert index.query_ids.tolist() == np.unique(groups).tolist()
    assert_indexes(GroupIndex.from_groups(np.sort(groups)), np.sort(codes).tolist())


@pytest.mark.parametrize("contiguous", [True, False])
def test_blocks_of_one_part_of_the_rows_after_the_other(contiguous, monkeypatch):
    monkeypatch.setattr("skfilterrank._lists.queries._PART_ROWS", 100)
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(150), rng.integers(1, 9, 150))
    groups = groups if contiguous else rng.permutation(groups)
    index, seen = GroupIndex.from_groups(groups), []
    for block in index.blocks(60):
        taken = index.take(groups, block, -1)
        inside = np.arange(block.width) < block.sizes[:, None]
        assert (taken == np.where(inside, block.queries[:, None], -1)).all()
        seen.extend(block.queries)
    assert sorted(seen) == list(range(150))
    # No part begins before the last is through.
    part = np.cumsum(index.sizes)[seen] // 100
    assert (np.diff(part) >= -1).all()
    assert part[-1] > 4


def test_enough_queries_of_one_size_are_not_padded():
    index = GroupIndex.from_groups(np.repeat(np.arange(900), np.repeat([5, 6, 7], 300)))
    blocks = [(block.width, len(block.queries)) for block in index.blocks(1000)]
    assert blocks == [(5, 150)] * 2 + [(6, 150)] * 2 + [(7, 100)] * 3


def test_many_rows_in_several_chunks(monkeypatch):
    monkeypatch.setattr("skfilterrank._lists.queries._CHUNK_ROWS", 7)
    pattern = np.random.default_rng(0).integers(0, 5, 100).tolist()
    assert_indexes(GroupIndex.from_groups(pattern), pattern)


@pytest.mark.parametrize(
    "groups",
    [
        [1.0, np.nan, 2.0],
        ["a", None, "b"],
        ["a", np.nan, "b"],
        [1, None, 2],
        np.array(["a", None, "b"], dtype=object),
        np.array(["2020", "NaT", "2021"], dtype="datetime64[D]"),
        pd.Series(["a", None, "b"]),
        pd.Series(["a", None, "b"], dtype="string[pyarrow]"),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Categorical(["a", None, "b"]),
        pd.array([1, None, 2], dtype="Int64"),
        pd.Index([1.0, np.nan, 2.0]),
        pl.Series([1, None, 2]),
        pl.Series(["a", None, "b"]),
        [1, pd.NA, 2],
        [pd.Timestamp("2020"), pd.NaT, pd.Timestamp("2021")],
    ],
    ids=lambda groups: f"{type(groups).__name__} {getattr(groups, 'dtype', '')}",
)
def test_missing_ids(groups):
    with pytest.raises(ValueError, match=r"groups has 1 missing id, the first at row 1"):
        GroupIndex.from_groups(groups)


@pytest.mark.parametrize(
    "ids",
    [["b", "", "a", ""], ["a", "", "a", ""], ["b", "", "", "b"]],
    ids=["sorted", "scattered", "runs"],
)
@pytest.mark.parametrize(
    "kind", [list, np.array, pd.Series, pd.Categorical, pl.Series, lambda ids: np.array(ids, "S1")]
)
def test_empty_texts_are_no_ids(ids, kind):
    message = "groups has 2 missing ids, the first at row 1: every row needs the id of its query"
    with pytest.raises(InputError, match=message):
        GroupIndex.from_groups(kind(ids))
    assert GroupIndex.from_groups(kind([each or "c" for each in ids])).n_rows == 4


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros((3, 2)), r"1-D\), got shape \(3, 2\)"),
        ([[1, 2], [3, 4]], r"1-D\), got shape \(2, 2\)"),
        (pd.DataFrame({"a": [1, 2], "b": [3, 4]}), r"got shape \(2, 2\)"),
        (pd.MultiIndex.from_tuples([(1, 2)]), "several levels.*pass one level"),
        ("abc", "one query id per row, got 'abc'"),
        (5, "one query id per row, got 5"),
        ({1, 2}, "one query id per row"),
        (np.array([(1, 2)], dtype=[("a", int), ("b", int)]), "one query id per row, got dtype"),
        *[
            (nothing, "groups is empty")
            for nothing in ([], np.array([]), pd.Series([], dtype=str), pl.Series([]))
        ],
        # A file read in pieces may hold 1 here and "1" there: two queries where there is one.
        *[
            (mixed, "make them all strings or all numbers")
            for mixed in (
                [1, "1", 2],
                ["b", 1, "a"],
                [1.5, "a"],
                pd.Series(["a", 3], dtype=object),
                [pd.Timestamp("2020"), 3],
                [object(), object()],
            )
        ],
    ],
)
def test_not_one_id_per_row(groups, message):
    with pytest.raises(ValueError, match=message):
        GroupIndex.from_groups(groups)


class TestCheckGroups:
    def test_an_index_made_before_is_used(self):
        index = GroupIndex.from_groups([1, 2])
        assert check_groups(index, n_rows=2) is index
        with pytest.raises(ValueError, match="groups has 2 entries but there are 3 rows"):
            check_groups(index, n_rows=3)

    def test_carriers_in_turn(self):
        first = pd.Series([0, 0], index=pd.Index(["a", "b"], name="qid"))
        second = pd.DataFrame({"x": [0, 0]}, index=pd.Index([1, 2], name="qid"))
        assert check_groups(None, first, second, n_rows=2).query_ids.tolist() == ["a", "b"]
        assert check_groups(None, [0, 0], second, n_rows=2).query_ids.tolist() == [1, 2]
        assert check_groups(["e", "f"], first, n_rows=2).query_ids.tolist() == ["e", "f"]

    @given(
        st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=8),
        st.booleans(),
    )
    def test_what_two_places_say_must_agree(self, pairs, given_groups):
        left, right = (list(ids) for ids in zip(*pairs))
        names = [f"q{number}" for number in left]
        y = pd.Series(np.zeros(len(right)), index=pd.Index(right, name="qid"))
        groups, carriers = names, [y]
        if not given_groups:
            groups, carriers = None, [pd.Series(0, index=pd.Index(names, name="qid")), y]
        if len(set(left)) == len(set(right)) == len(set(pairs)):
            assert find_groups(groups, *carriers) is not None
        else:
            with pytest.raises(InputError, match="name different queries"):
                find_groups(groups, *carriers)

    def test_a_level_of_several(self):
        index = pd.MultiIndex.from_product([["x", "y"], [7, 8]], names=["docno", "qid"])
        assert query_ids_of_index(pd.Series(0, index=index)).tolist() == [7, 8, 7, 8]
        assert query_ids_of_index(index).tolist() == [7, 8, 7, 8]
        assert query_ids_of_index(pd.Series([1, 2])) is None
        assert query_ids_of_index([1, 2]) is None

    def test_missing_id_in_the_index(self):
        y_true = pd.Series([0, 0], index=pd.Index(["a", None], name="qid"))
        with pytest.raises(ValueError, match="missing id"):
            check_groups(None, y_true, n_rows=2)


class TestOneOrder:
    """Pandas objects whose index says that the rows of one stand in another order."""

    @pytest.mark.parametrize(
        "index",
        [
            pd.RangeIndex(4),
            pd.Index(["a", 1, None, 2.5]),
            pd.Index([0, 0, 1, 1]),
            pd.date_range("2026-01-01", periods=4),
            pd.MultiIndex.from_product([["u", "v"], [1, 2]], names=["user", "place"]),
        ],
        ids=["numbers", "mixed", "repeated", "dates", "two levels"],
    )
    def test_the_same_labels_in_another_order(self, index):
        y = pd.Series([1, 0, 2, 1], index=index)
        turned = y.iloc[[3, 1, 0, 2]]
        check_one_order(y=y, X=y.to_frame(), groups=y.to_numpy(), clusters=None)
        with pytest.raises(InputError, match="turned and y have the same index in another order"):
            check_one_order(y=y, turned=turned)

    def test_indexes_that_say_nothing(self):
        y = pd.Series([1, 0], index=[1, 0])
        check_one_order(
            y=y,
            other_labels=y.set_axis([1, 7]),
            other_length=pd.Series([1], index=[0]),
            other_name=pd.Series([1, 0]).rename_axis("qid"),
            other_type=y.set_axis(["0", "1"]),
        )

    def test_query_ids_and_scores_of_other_rows(self):
        y, ids = pd.Series([1, 0, 2]), pd.Series(["a", "a", "b"])
        with pytest.raises(InputError, match="groups and X have the same index in another order"):
            find_groups(ids.iloc[::-1], y)
        with pytest.raises(InputError, match="X and y have the same index in another order"):
            find_groups(["a", "a", "b"], y, y.to_frame().iloc[::-1])
        with pytest.raises(InputError, match="groups and y_true have the same index"):
            check_groups(ids.iloc[::-1], y, n_rows=3, names=("y_true",))
        assert find_groups(ids, y) is ids

    def test_a_fresh_index_beside_sorted_rows(self):
        rows = pd.DataFrame({"qid": ["b", "a", "a"], "label": [2, 1, 0]}).sort_values("qid")
        fresh = pd.Series([0.3, 0.2, 0.1])
        # To align these scores would mix them up, so that advice comes last.
        text = (
            r"The index of scores is 0, 1, 2, .* if its rows .*, pass scores.to_numpy\(\)\. "
            r"If not, align them first, e\.g\. scores = scores.loc\[y.index\]\.$"
        )
        with pytest.raises(InputError, match=text):
            check_one_order(y=rows["label"], scores=fresh)
        with pytest.raises(InputError, match="The index of y is 0, 1, 2"):
            check_one_order(y=fresh, scores=rows["label"])
        with pytest.raises(InputError, match=r"is meaningless, pass scores.to_numpy\(\)\.$"):
            check_one_order(y=rows["label"], scores=fresh.iloc[[0, 2, 1]])
        check_one_order(y=rows["label"], scores=fresh.to_numpy())

    def test_an_index_that_is_equal_to_the_second(self):
        y = pd.Series([1, 0, 2], index=[7, 8, 9])
        with pytest.raises(InputError, match="groups and scores have the same index"):
            check_one_order(y=y, scores=pd.Series([1, 0, 2]), groups=pd.Series([1, 1, 2])[::-1])

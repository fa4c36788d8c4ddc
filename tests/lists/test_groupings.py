"""Slices of queries in all forms in which they are given."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank._lists.groupings import read_slices
from skfilterrank.exceptions import InputError

QUERIES = ["q1", "q2", "q3", "q4"]
LANGUAGES = {"q4": "en", "q1": "de", "q2": "en", "q3": "de", "other": "fr"}
EXPECTED = [("slice", "de", [1, 0, 1, 0]), ("slice", "en", [0, 1, 0, 1])]
BY_QUERY = pd.Series(LANGUAGES)


def found(slices, queries=QUERIES):
    return [
        (each.slicing, each.name, each.members.astype(int).tolist())
        for each in read_slices(slices, queries)
    ]


@pytest.mark.parametrize(
    "slices",
    [
        LANGUAGES,
        BY_QUERY,
        # By row, as labels are, with other levels.
        BY_QUERY.repeat(2)
        .rename_axis("qid")
        .to_frame("slice")
        .assign(docno=1)
        .set_index("docno", append=True)["slice"],
        BY_QUERY.astype("category"),
        BY_QUERY.rename_axis("qid").to_frame("slice"),
        BY_QUERY.rename_axis("qid").to_frame("slice").reset_index(),
    ],
    ids=["dict", "series", "rows", "category", "index", "column"],
)
def test_forms(slices):
    assert found(slices) == EXPECTED


def test_several_ways_to_slice():
    table = pd.DataFrame(
        {"source": ["web", None, "web", "news"], "year": [2020, 2021, 2020, 2021]}, QUERIES
    )
    assert found(table) == [
        ("source", "news", [0, 0, 0, 1]),
        ("source", "web", [1, 0, 1, 0]),
        ("year", 2020, [1, 0, 1, 0]),
        ("year", 2021, [0, 1, 0, 1]),
    ]


def test_names_of_series_and_categories_without_queries():
    kinds = pd.Categorical(["b", "b", "a", np.nan], ["b", "a", "nobody"])
    named = pd.Series(kinds, QUERIES, name="kind")
    assert found(named) == [("kind", "b", [1, 1, 0, 0]), ("kind", "a", [0, 0, 1, 0])]


def test_ids_that_are_tuples():
    ids = [("a", 1), ("b", 2), ("c", 3)]
    assert found(dict(zip(ids, "xxy")), ids)[0] == ("slice", "x", [1, 1, 0])


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        (3, "slices is 3: give a dict"),
        ({"q1": "a"}, "has no entry for 3 of 4 queries, such as 'q2': .* with None for a query"),
        (dict.fromkeys(QUERIES), "puts none of the 4 queries in a slice"),
        (dict(zip(QUERIES, "abcd")), "of its own for each of 4 queries in 'slice': .*pandas.qcut"),
        (dict(zip(QUERIES, [[1], [1], [2], [2]])), "must have hashable names"),
        (pd.Series(list("aabba"), [*QUERIES, "q1"]), None),
        (pd.Series(list("aabbb"), [*QUERIES, "q1"]), "puts query 'q1' in several slices"),
        (pd.Series(["a", "a", "b", "b", None], [*QUERIES, "q1"]), "'q1' in several slices"),
        (
            pd.DataFrame([["a", "b"]] * 4, QUERIES, columns=["x", "x"]),
            "several columns of one name: 'x', 'x'",
        ),
    ],
)
def test_what_is_no_slicing(slices, message):
    if message is None:
        assert found(slices) == [("slice", "a", [1, 1, 0, 0]), ("slice", "b", [0, 0, 1, 1])]
        return
    with pytest.raises(InputError, match=message):
        read_slices(slices, QUERIES)

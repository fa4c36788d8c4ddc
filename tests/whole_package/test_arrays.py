"""What arrays may be: every container gives the value of float64 with NaN, or an error of ours."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression, LogisticRegression

from odd_values import HasArray
from profiles import times
from skfilterrank._base.checks import as_number_array
from skfilterrank.comparison import SystemScores
from skfilterrank.exceptions import InputError
from skfilterrank.judgments import PriorSelector
from skfilterrank.metaevaluation import recall_level_metric
from skfilterrank.metrics import evaluate, inferred_ap_score, ndcg_f_score, stat_ap_score
from skfilterrank.ranking import QueryRanker, RankAndFilter, fuse_runs
from skfilterrank.thresholds import threshold_curve
from thinned import thinned

MEASURES = ["ndcg_f@2", "ap", "judged@2", "bpref"]
ROWS = ["a", "a", "b", "b", "b"]


def mask(values):
    return [value is None for value in values]


def masked(values, dtype):
    filled = [0 if value is None else value for value in values]
    return np.ma.array(filled, mask=mask(values), dtype=dtype)


# What holds labels with missing ones. docs/file_layouts.md shows the names.
LABELS = {
    "list with None": list,
    "list with pd.NA": lambda values: [pd.NA if value is None else value for value in values],
    "list with np.ma.masked": lambda values: list(masked(values, int)),
    "numpy masked array, int": lambda values: masked(values, np.int64),
    "numpy masked array, float": lambda values: masked(values, np.float64),
    "numpy masked array, big-endian": lambda values: masked(values, ">i4"),
    "numpy masked array, a column": lambda values: masked(values, np.float32)[:, None],
    "numpy object": lambda values: np.array([*values, None], dtype=object)[:-1],
    "pandas Int64": lambda values: pd.Series(values, dtype="Int64"),
    "pandas Float32": lambda values: pd.array(values, dtype="Float32"),
    "pandas category": lambda values: pd.Categorical(values),
    "pandas Sparse": lambda values: pd.arrays.SparseArray(np.array(values, dtype=float)),
    "pandas int64[pyarrow]": lambda values: pd.Series(values, dtype="int64[pyarrow]"),
    "pandas, one index for all rows": lambda values: pd.Series(
        values, dtype="Int64", index=[7] * len(values)
    ),
    "pandas DataFrame of one column": lambda values: pd.DataFrame({"y": values}, dtype="Int64"),
    "polars Series": lambda values: pl.Series(values, dtype=pl.Int64),
    "polars Series, float": lambda values: pl.Series(values, dtype=pl.Float64),
    "polars DataFrame of one column": lambda values: pl.DataFrame(
        {"y": values}, schema={"y": pl.Int64}
    ),
    "Arrow array": lambda values: pa.array(values, type=pa.int64()),
    "Arrow array, float": lambda values: pa.array(values, type=pa.float64()),
    "Arrow chunked array": lambda values: pa.chunked_array([values[:2], values[2:]], pa.int64()),
    "Arrow dictionary": lambda values: pa.array(values, pa.int64()).dictionary_encode(),
    "what has __array__": lambda values: HasArray(np.array(values, dtype=float)),
}
labels = st.lists(st.sampled_from([None, -1, 0, 1, 2]), min_size=5, max_size=5)
scores = st.lists(st.integers(0, 3), min_size=5, max_size=5)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:queries without a judged")
@pytest.mark.parametrize("name", thinned(LABELS, parts=2))
@times(1 / 3)
@given(values=labels, y_score=scores)
def test_missing_labels_are_unjudged_whatever_holds_them(name, values, y_score):
    expected = evaluate(np.array(values, dtype=float), y_score, MEASURES, groups=ROWS).per_query
    found = evaluate(LABELS[name](values), y_score, MEASURES, groups=ROWS).per_query
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize("name", LABELS)
def test_missing_scores_are_an_error_that_names_the_row(name):
    with pytest.raises(InputError, match="y_score holds 1 NaN, the first at row 1"):
        evaluate([1] * 5, LABELS[name]([2, None, 1, 0, 1]), ["ap"], groups=ROWS)


@pytest.mark.parametrize("name", LABELS)
def test_missing_query_ids_are_an_error_that_names_the_row(name):
    with pytest.raises(InputError, match=r"groups has 1 missing id.*row 1"):
        evaluate([1] * 5, [1] * 5, ["ap"], groups=LABELS[name]([2, None, 1, 0, 1]))


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(LABELS, turn=1, parts=2))
def test_scores_and_ids_of_every_container(name):
    given, expected = LABELS[name]([0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 2])
    pd.testing.assert_frame_equal(
        evaluate([1, 0, 1, 0, 2], given, MEASURES, groups=given).per_query.reset_index(drop=True),
        evaluate([1, 0, 1, 0, 2], expected, MEASURES, groups=expected).per_query.reset_index(
            drop=True
        ),
    )


TEXTS = {
    "numpy": np.array,
    "numpy StringDType": lambda ids: np.array(ids, dtype=np.dtypes.StringDType()),
    "numpy masked array": lambda ids: np.ma.array(ids, mask=[False] * len(ids)),
    "pandas": pd.Series,
    "pandas string[pyarrow]": lambda ids: pd.Series(ids, dtype=pd.ArrowDtype(pa.string())),
    "pandas category": pd.Categorical,
    "polars": pl.Series,
    "polars Categorical": lambda ids: pl.Series(ids, dtype=pl.Categorical),
    "Arrow": pa.array,
    "Arrow dictionary": lambda ids: pa.array(ids).dictionary_encode(),
    "Arrow chunks": lambda ids: pa.chunked_array([ids[:1], ids[1:]]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_of_every_container(name):
    texts = TEXTS[name](["b", "a", "b", "a", "a"])
    value = ndcg_f_score.per_query(
        texts, [1, 2, 3, 4, 4], groups=texts, ties=texts, gains={"a": 1, "b": 2}
    )
    np.testing.assert_array_equal(value, [1, 1])


def test_the_page_lists_what_is_tested():
    page = (Path(__file__).parents[2] / "docs" / "file_layouts.md").read_text(encoding="utf-8")
    _, labels, texts = re.split("Tests run the measures on|They also run on text", page)
    for names, text in ((LABELS, labels), (TEXTS, texts)):
        (block,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
        assert " ".join(block.split()).split("; ") == list(names)


def test_a_masked_label_does_not_count_as_judged():
    y_true = np.ma.array([1, 0, 1], mask=[False, True, False])
    value = ndcg_f_score(y_true, [3, 2, 1], groups=["q"] * 3, unjudged="drop")
    assert value == 1


def test_a_memory_map_is_read_in_place(tmp_path):
    np.save(tmp_path / "y.npy", np.array([1.0, 0, 1]))
    mapped = np.load(tmp_path / "y.npy", mmap_mode="r")
    assert ndcg_f_score(mapped, mapped, groups=["q"] * 3) == 1


def test_beyond_float64():
    for labels in ([10**400, 1], np.array(["1e400", "1"], dtype=np.longdouble)):
        with pytest.raises(InputError, match=r"y_true holds .*float64"):
            ndcg_f_score(labels, [1, 2], groups=["q"] * 2)
        with pytest.raises(InputError, match=r"y_score holds .*float64"):
            ndcg_f_score([1, 2], labels, groups=["q"] * 2)


def test_options_of_one_entry_per_row():
    y, score, rows = [1, 0, 1], [3, 2, 1], ["q"] * 3
    pooled = np.ma.array([True, True, True], mask=[False, True, False])
    with pytest.raises(InputError, match="pooled must hold True or False"):
        inferred_ap_score(y, score, groups=rows, pooled=pooled)
    chances = np.ma.array([0.5, 0.9, 1.0], mask=[False, True, False])
    given_nan = stat_ap_score(
        [1, np.nan, 1], score, groups=rows, inclusion_probability=[0.5, np.nan, 1]
    )
    assert given_nan == stat_ap_score(
        [1, np.nan, 1], score, groups=rows, inclusion_probability=chances
    )
    with pytest.raises(InputError, match=r"prior .* is nan in row 1"):
        PriorSelector().fit([[0.0]] * 3, groups=rows, prior=chances)


@pytest.mark.parametrize(
    "dtypes",
    [["float64"] * 3, ["int32"] * 3, ["bool"] * 3, ["Int64"] * 3, ["int8", "float32", "bool"]],
)
def test_tables_are_their_columns(dtypes):
    frame = pd.DataFrame({"a": [1, 0], "b": [0, 1], "c": [1, 1]}).astype(dict(zip("abc", dtypes)))
    found = as_number_array(frame, "values")
    assert found.tolist() == [[1, 0, 1], [0, 1, 1]]
    assert (found.dtype == bool) == (dtypes == ["bool"] * 3)
    holed = frame.astype("Float64").mask(frame == 0)
    np.testing.assert_array_equal(
        as_number_array(holed, "values"), [[1, np.nan, 1], [np.nan, 1, 1]]
    )
    assert as_number_array(frame.assign(c="1"), "values") is None


def test_matrices():
    values = np.ma.array([[0.5, 0.7], [0.4, 0.9]], mask=[[False, True], [False, False]])
    assert SystemScores(values, missing="drop").dropped_queries == (1,)
    with pytest.raises(InputError, match=r"runs\[1\] holds 1 NaN"):
        fuse_runs(values, groups=["q", "r"])
    with pytest.raises(InputError, match="positions must be whole numbers"):
        recall_level_metric(np.ma.array([1, 2], mask=[False, True]))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*unjudged")
@pytest.mark.filterwarnings("ignore:no label has a gain below 0")
@pytest.mark.parametrize("name", ["numpy masked array, int", "pandas Int64", "Arrow array"])
def test_estimators_leave_masked_labels_out(name):
    X, groups = np.arange(48.0).reshape(24, 2) % 7, np.repeat(np.arange(6), 4)
    y = [1, None, 0, 1] * 6
    for model in (QueryRanker(LinearRegression()), RankAndFilter(LogisticRegression(), cv=2)):
        expected = model.fit(X, np.array(y, dtype=float), groups=groups).predict(X)
        np.testing.assert_array_equal(
            model.fit(X, LABELS[name](y), groups=groups).predict(X), expected
        )


def test_masked_features_are_refused():
    X = np.ma.array(np.ones((4, 2)), mask=False)
    for model in (QueryRanker(LinearRegression()), RankAndFilter(LinearRegression(), cv=2)):
        with pytest.raises(InputError, match="X is a masked array"):
            model.fit(X, [1, 0, 1, 0], groups=[0, 0, 1, 1])


def test_threshold_curve_of_masked_labels():
    y_true = np.ma.array([1, -1, 0], mask=[False, False, True])
    found = threshold_curve(y_true, [3, 2, 1], groups=["q"] * 3)
    expected = threshold_curve([1, -1, np.nan], [3, 2, 1], groups=["q"] * 3)
    np.testing.assert_array_equal(found.values, expected.values)

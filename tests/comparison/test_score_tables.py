"""Tables of values: what their axes are called says which are systems."""

import warnings

import numpy as np
import pandas as pd
import pytest

from ranked_runs import QRELS, RUNS
from skfilterrank.comparison import SystemScores, compare_systems
from skfilterrank.exceptions import DataWarning
from skfilterrank.metrics import evaluate_runs

# What labels below 0 mean is not said here, and not what is tested.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* holds labels below 0", "ignore:.*some gains are below 0"
)


def test_columns_and_one_measure():
    frame = pd.DataFrame({"run": ["b", "a"], "qid": [2, 2], "mine": [0.25, 0.5]})
    scores = SystemScores.of(frame)
    assert scores.systems == ("b", "a")
    assert scores.values.tolist() == [[0.25], [0.5]]
    assert scores.measure == "mine"


def test_bad_frames():
    frame = pd.DataFrame({"run": ["b", "a"], "qid": [2, 2], "x": [1, 2], "y": [1, 2]})
    gap = pd.DataFrame({"run": ["a", "a", "b"], "qid": [1, 2, 1], "x": [1, 2, 3]})
    for table, measure, message in (
        (frame, None, "values of one measure, got several measures, 'x', 'y': pass"),
        (frame, "z", "measure must be one of the measures in scores, 'x', 'y', got 'z'"),
        (frame.assign(run="a"), "x", "got several for run 'a' and qid 2"),
        (frame[["run", "qid"]], None, "scores must hold values by a measure, got none"),
        (gap, None, "1 value is missing"),
    ):
        with pytest.raises(ValueError, match=message):
            SystemScores.of(table, measure)


@pytest.mark.slow
@pytest.mark.parametrize("query", ["qid", "query", "topic"])
@pytest.mark.parametrize("system", ["run", "system"])
def test_names_of_axes_say_which_are_queries(query, system):
    frame = evaluate_runs(QRELS, RUNS, ["ap", "rr"]).per_query.rename_axis([system, query])
    expected = SystemScores.of(frame, "ap")
    assert expected.systems == ("good", "bad", "half")
    wide = frame["ap"].unstack(system, sort=False)  # noqa: PD010
    for table in (wide, wide.T, wide.rename_axis(columns=None), wide.rename_axis(None)):
        for scores in (SystemScores(table), SystemScores.of(table)):
            np.testing.assert_array_equal(scores.values, expected.values)
            assert (scores.systems, scores.queries) == (expected.systems, expected.queries)
    for table in (frame["ap"], frame[["ap"]], frame.swaplevel(), frame.reset_index()):
        scores = SystemScores.of(table, "ap")
        np.testing.assert_array_equal(scores.to_frame(), expected.to_frame())
        assert scores.measure == "ap"


def test_measures_are_no_queries():
    frame = evaluate_runs(QRELS, RUNS, ["ap", "ndcg@2"]).per_query
    for table in (frame.loc["good"], frame.groupby("run").mean(), frame.reset_index(drop=True)):
        with pytest.raises(
            ValueError,
            match="columns of values must be queries, got names of measures, 'ap', 'ndcg@2'",
        ):
            compare_systems(table)


def test_two_levels():
    frame = evaluate_runs(QRELS, RUNS, ["ap", "rr"]).per_query
    with pytest.raises(ValueError, match=r"SystemScores\.of"):
        SystemScores(frame)
    with pytest.raises(ValueError, match="axes are named 'a', 'b'"):
        compare_systems(frame.rename_axis(["a", "b"]))
    assert not SystemScores.of(evaluate_runs(QRELS, RUNS, "recall_error")).greater_is_better


def test_more_systems_than_queries_without_names():
    values = np.arange(6.0).reshape(3, 2)
    for table in (values, values.tolist(), pd.DataFrame(values)):
        with pytest.warns(DataWarning, match="read as 3 systems x 2 queries. .* transpose"):
            SystemScores.of(table)
    with warnings.catch_warnings(action="error"):
        SystemScores(values.T)
        SystemScores(values, systems="abc")
        SystemScores(values, queries="xy")
        SystemScores(pd.DataFrame(values).rename_axis("system"))
        scores = SystemScores(values, systems="abc")
        SystemScores(scores.to_frame())
        scores.select(queries=[0])

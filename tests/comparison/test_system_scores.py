"""SystemScores, and its values from tables, runs, predictions and preferences."""

from dataclasses import FrozenInstanceError
from functools import partial

import numpy as np
import pandas as pd
import pytest

from ranked_positions import preference_matrix
from ranked_runs import GROUPS, QRELS, RUNS, SYSTEMS, Y_TRUE
from skfilterrank.comparison import SystemScores, compare_systems, order_systems, score_systems
from skfilterrank.metaevaluation import (
    conflicts,
    discriminative_power,
    reliability,
    sensitivity_curve,
    stability_curve,
)
from skfilterrank.metrics import evaluate_runs

# What labels below 0 mean is not said here, and not what is tested.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* holds labels below 0", "ignore:.*some gains are below 0"
)

NAN = float("nan")


class TestSystemScores:
    def test_values_and_names(self):
        values = np.array([[0.5, 0.7], [0.4, 0.9]])
        scores = SystemScores(values, systems=["x", 7], queries=["q1", ("q", 2)], measure="ap")
        assert scores.systems == ("x", "7")
        assert scores.queries == ("q1", ("q", 2))
        assert (scores.n_systems, scores.n_queries) == (2, 2)
        values[:] = 0  # not shared
        assert scores.values.tolist() == [[0.5, 0.7], [0.4, 0.9]]
        with pytest.raises(ValueError, match="read-only"):
            scores.values[0, 0] = 1
        with pytest.raises(FrozenInstanceError):
            scores.measure = "rr"

    def test_a_frame_names_systems_and_queries(self):
        frame = pd.DataFrame([[1, 2, 3]], index=["x"], columns=list("abc"))
        scores = SystemScores(frame)
        assert (scores.systems, scores.queries) == (("x",), ("a", "b", "c"))
        pd.testing.assert_frame_equal(scores.to_frame(), frame.astype(float), check_names=False)

    def test_means_come_best_first(self):
        values = [[1, 2], [5, 6], [3, 4]]
        means = SystemScores(values, systems="abc").means
        assert means.to_dict() == {"b": 5.5, "c": 3.5, "a": 1.5}
        assert list(means.index) == ["b", "c", "a"]
        least = SystemScores(values, systems="abc", greater_is_better=False)
        assert list(least.means.index) == ["a", "c", "b"]
        np.testing.assert_array_equal(least.oriented, -least.values)

    def test_text(self):
        values = [[0.5, 0.25, 0.5], [0.5, 0.75, 0.25]]
        text = str(SystemScores(values, systems=["a", "bb"], measure="ap"))
        assert text.splitlines()[0] == "ap of 2 systems for 3 queries"
        # Means 1.5 / 3 and 1.25 / 3; at the first query both are the best, and nobody wins.
        assert text.splitlines()[2].split() == ["bb", "0.500", "0.250", "1"]
        assert text.splitlines()[3].split() == ["a", "0.417", "0.144", "1"]
        # With the lower values better the other system leads.
        low = str(SystemScores(values, systems=["a", "bb"], greater_is_better=False))
        assert low.splitlines()[2].split() == ["a", "0.417", "0.144", "1"]
        nothing = str(SystemScores(np.zeros((2, 6))))
        assert [line.split()[-1] for line in nothing.splitlines()[2:]] == ["0", "0"]
        assert "dropped" in str(SystemScores([[1, NAN], [1, 2]], missing="drop"))

    @pytest.mark.parametrize("names", [[[1], [2]], [NAN, NAN], [None, "a"], [pd.NA, "a"]])
    @pytest.mark.parametrize("argument", ["systems", "queries"])
    def test_what_is_no_name(self, names, argument):
        with pytest.raises(ValueError, match=f"{argument} must be names such as texts or numbers"):
            SystemScores(np.eye(2), **{argument: names})

    def test_one_is_no_many(self):
        assert repr(SystemScores([[1.0]])) == "<SystemScores: score of 1 system for 1 query>"

    def test_missing_values(self):
        values = [[1.0, NAN, 3.0], [4.0, 5.0, 6.0]]
        with pytest.raises(ValueError, match=r"1 value is missing.*'a' has none for query 'q2'"):
            SystemScores(values, systems="ab", queries=["q1", "q2", "q3"])
        dropped = SystemScores(values, queries=["q1", "q2", "q3"], missing="drop")
        assert dropped.queries == ("q1", "q3")
        assert dropped.dropped_queries == ("q2",)
        assert dropped.values.tolist() == [[1, 3], [4, 6]]
        filled = SystemScores(values, missing=0)
        assert filled.values[0].tolist() == [1, 0, 3]
        with pytest.raises(ValueError, match="leaves no query"):
            SystemScores([[NAN, 1], [1, NAN]], missing="drop")

    @pytest.mark.parametrize("missing", ["skip", NAN, None, True])
    def test_missing_policy(self, missing):
        with pytest.raises(ValueError, match="missing must be 'raise', 'drop' or a number"):
            SystemScores([[1.0, 2.0]], missing=missing)

    @pytest.mark.parametrize(
        ("values", "params", "message"),
        [
            ([1, 2], {}, "matrix of systems x queries"),
            (np.zeros((0, 3)), {}, r"got shape \(0, 3\)"),
            ([["a", "b"]], {}, "values must be numbers"),
            ({"a": [1, 2]}, {}, r"Of a dict .* make a table: pandas.DataFrame\(values\).T"),
            ([[1, np.inf]], {}, "must be finite, got inf in row 0, column 1"),
            ([[1, 2]], {"systems": ["a", "b"]}, "must name the 1 rows of values, got 2"),
            ([[1, 2]], {"queries": ["a"]}, "must name the 2 columns of values, got 1"),
            ([[1], [2]], {"systems": ["a", "a"]}, "'a' occurs more than once"),
            ([[1], [2]], {"systems": [1, "1"]}, "'1' occurs more than once"),
            ([[1, 2]], {"queries": ["a", "a"]}, "queries must all have different names"),
        ],
    )
    def test_bad_input(self, values, params, message):
        with pytest.raises(ValueError, match=message):
            SystemScores(values, **params)

    def test_select(self):
        scores = SystemScores(
            [[1, 2, 3], [4, 5, 6], [7, 8, 9]],
            systems="abc",
            queries="xyz",
            measure="m",
            greater_is_better=False,
            is_preference=True,
        )
        some = scores.select(systems=["c", "a"], queries=["z", "x"])
        assert some.values.tolist() == [[9, 7], [3, 1]]
        assert (some.systems, some.queries, some.measure) == (("c", "a"), ("z", "x"), "m")
        assert not some.greater_is_better
        assert some.is_preference
        assert scores.select(systems="b").systems == ("b",)
        numbered = SystemScores([[1, 2], [3, 4], [5, 6]])
        assert numbered.select(systems=[2, "0"]).systems == ("2", "0")
        assert numbered.select(queries=[1]).queries == (1,)
        assert compare_systems(numbered, baseline=0).baseline == "0"
        with pytest.raises(ValueError, match="queries: '1' is not among the 2 known names"):
            numbered.select(queries=["1"])
        with pytest.raises(ValueError, match="systems: 'd' is not among the 3 known names"):
            scores.select(systems=["d"])
        with pytest.raises(ValueError, match="more than once"):
            scores.select(queries=["x", "x"])

    def test_checks(self):
        scores = SystemScores.of([[1, 2], [3, 4]])
        assert isinstance(scores, SystemScores)
        assert SystemScores.of(scores) is scores
        with pytest.raises(ValueError, match="at least 2 systems, got 1"):
            SystemScores.of([[1, 2]], least=(2, 2))
        with pytest.raises(ValueError, match="at least 2 queries, got 1"):
            SystemScores.of([[1], [2]], least=(2, 2))
        other = SystemScores([[4, 3], [2, 1]], systems=[1, 0], queries=[1, 0])
        assert other.aligned_to(scores).values.tolist() == [[1, 2], [3, 4]]
        third = SystemScores([[4, 3], [2, 1]], systems=[1, 2])
        with pytest.raises(ValueError, match="same systems, but 2 are in only one of the two"):
            third.aligned_to(scores)
        fourth = SystemScores([[4, 3], [2, 1]], queries=[0, 5])
        with pytest.raises(ValueError, match=r"same queries.*such as 1 in first"):
            fourth.aligned_to(scores)
        assert scores.aligned_to(scores) is scores


class TestOf:
    def test_of_evaluate_runs(self):
        frame = evaluate_runs(QRELS, RUNS, ["ap", "recall_error"]).per_query
        scores = SystemScores.of(frame, "ap")
        assert scores.systems == ("good", "bad", "half")
        assert scores.queries == ("1", "2", "3")
        assert scores.measure == "ap"
        # Topic 1 of "bad": c x b a finds b and a at 3 and 4, (1/3 + 2/4) / 2.
        np.testing.assert_allclose(scores.values[1], [(1 / 3 + 2 / 4) / 2, 1 / 2, 0])
        assert not SystemScores.of(frame, "recall_error").greater_is_better

    def test_results_of_several_measures(self):
        scores = score_systems(QRELS, RUNS, ["ap", "rr"])
        assert SystemScores.of(scores, "rr") is scores["rr"]
        assert SystemScores.of({"ap": scores["ap"]}) is scores["ap"]
        with pytest.raises(ValueError, match=r"pass scores\['ap'\] or measure='ap'"):
            compare_systems(scores)
        with pytest.raises(ValueError, match=r"several measures.*: pass first\['ap'\]\."):
            conflicts(scores, scores)
        with pytest.raises(ValueError, match="measure must be one of the measures in scores"):
            SystemScores.of(scores["ap"], "x")

    def test_measure_names_a_matrix(self):
        scores = SystemScores.of([[1, 2], [3, 4]], "recall_error")
        assert (scores.measure, scores.greater_is_better) == ("recall_error", False)

    def test_preference_matrix(self):
        preferences = preference_matrix(Y_TRUE, SYSTEMS, groups=GROUPS)
        assert SystemScores.of(preferences).measure == "lexirecall(scale=preference)"

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "function",
        [
            compare_systems,
            discriminative_power,
            partial(order_systems, random_state=0),
            reliability,
            partial(sensitivity_curve, random_state=0),
            partial(stability_curve, random_state=0),
        ],
    )
    def test_every_function_takes_what_others_return(self, function):
        frame = evaluate_runs(QRELS, RUNS, ["ap", "rr"]).per_query
        scores = score_systems(QRELS, RUNS, ["ap", "rr"])
        expected = str(function(scores["rr"]))
        assert str(function(frame, measure="rr")) == expected
        assert str(function(frame["rr"])) == expected
        assert str(function(scores, measure="rr")) == expected
        assert str(function({"rr": scores["rr"]})) == expected

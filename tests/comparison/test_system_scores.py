"""SystemScores, and its values from tables, runs, predictions and preferences."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

from skfilterrank.comparison import (
    SystemScores,
    compare_systems,
    conflicts,
    discriminative_power,
    fraction_tied,
    order_systems,
    percentage_absolute_difference,
    reliability,
    score_predictions,
    score_systems,
    sensitivity_curve,
    stability_curve,
    topic_set_size,
)
from skfilterrank.comparison._scores.same_systems import check_same_systems
from skfilterrank.exceptions import DataWarning
from skfilterrank.metrics import evaluate, get_measure_names, preference_matrix
from skfilterrank.trec import evaluate_runs

# What labels below 0 mean is not said here, and not what is tested.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* holds labels below 0", "ignore:.*some gains are below 0"
)

NAN = float("nan")

QRELS = pd.DataFrame(
    {
        "qid": ["1", "1", "1", "2", "2", "3"],
        "docno": ["a", "b", "c", "a", "d", "e"],
        "label": [2, 1, -1, 1, 0, 0],
    }
)


def run(*lines):
    """A run of lines such as "1 a b c": a topic and its documents, the best first."""
    rows = [
        (qid, docno, float(-place))
        for qid, *docnos in map(str.split, lines)
        for place, docno in enumerate(docnos)
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"])


RUNS = {
    "good": run("1 a b c", "2 a d", "3 e"),
    "bad": run("1 c x b a", "2 d a", "3 e"),
    "half": run("1 a c", "2 d", "3 x"),
}


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
        with pytest.raises(ValueError, match="'a' occurs more than once"):
            SystemScores(np.eye(2), systems=["a", "a"])

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
        assert filled.n_filled == 1
        assert str(filled).startswith("score of 2 systems for 3 queries, 1 missing value filled in")
        assert filled.select(systems=["1", "0"]).n_filled == 1
        assert filled.select(queries=[2, 1], systems=["0"]).n_filled == 1
        assert filled.select(systems=["1"]).n_filled == filled.select(queries=[0, 2]).n_filled == 0
        assert filled.select(queries=[2, 1]).select(queries=[1]).n_filled == 1
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
        with pytest.raises(ValueError, match="queries: '1' is not among 2 known ones"):
            numbered.select(queries=["1"])
        with pytest.raises(ValueError, match="systems: 'd' is not among 3 known ones"):
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
        assert check_same_systems(scores, other).values.tolist() == [[1, 2], [3, 4]]
        third = SystemScores([[4, 3], [2, 1]], systems=[1, 2])
        with pytest.raises(ValueError, match="same systems, and 2 are in one of them only"):
            check_same_systems(scores, third)
        fourth = SystemScores([[4, 3], [2, 1]], queries=[0, 5])
        with pytest.raises(ValueError, match=r"same queries.*such as 1 in first"):
            check_same_systems(scores, fourth)
        assert check_same_systems(scores, fourth, queries=False) is fourth


class TestOf:
    def test_of_evaluate_runs(self):
        frame = evaluate_runs(QRELS, RUNS, ["ap", "recall_error"])
        scores = SystemScores.of(frame, "ap")
        assert scores.systems == ("good", "bad", "half")
        assert scores.queries == ("1", "2", "3")
        assert scores.measure == "ap"
        # Topic 1 of "bad": c x b a finds b and a at 3 and 4, (1/3 + 2/4) / 2.
        np.testing.assert_allclose(scores.values[1], [(1 / 3 + 2 / 4) / 2, 1 / 2, 0])
        assert not SystemScores.of(frame, "recall_error").greater_is_better

    def test_columns_and_one_measure(self):
        frame = pd.DataFrame({"run": ["b", "a"], "qid": [2, 2], "mine": [0.25, 0.5]})
        scores = SystemScores.of(frame)
        assert scores.systems == ("b", "a")
        assert scores.values.tolist() == [[0.25], [0.5]]
        assert scores.measure == "mine"

    def test_bad_frames(self):
        frame = pd.DataFrame({"run": ["b", "a"], "qid": [2, 2], "x": [1, 2], "y": [1, 2]})
        with pytest.raises(ValueError, match="several measures, 'x', 'y': give one measure at a"):
            SystemScores.of(frame)
        with pytest.raises(ValueError, match="measure='z' is none of those that scores holds: 'x'"):
            SystemScores.of(frame, "z")
        with pytest.raises(ValueError, match="several rows for run 'a' and qid 2"):
            SystemScores.of(frame.assign(run="a"), "x")
        with pytest.raises(ValueError, match="scores holds no values of a measure"):
            SystemScores.of(frame[["run", "qid"]])
        gap = pd.DataFrame({"run": ["a", "a", "b"], "qid": [1, 2, 1], "x": [1, 2, 3]})
        with pytest.raises(ValueError, match="1 value is missing"):
            SystemScores.of(gap)

    @pytest.mark.parametrize("query", ["qid", "query", "topic"])
    @pytest.mark.parametrize("system", ["run", "system"])
    def test_names_of_axes_say_which_are_queries(self, query, system):
        frame = evaluate_runs(QRELS, RUNS, ["ap", "rr"]).rename_axis([system, query])
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

    def test_measures_are_no_queries(self):
        frame = evaluate_runs(QRELS, RUNS, ["ap", "ndcg@2"])
        for table in (frame.loc["good"], frame.groupby("run").mean(), frame.reset_index(drop=True)):
            with pytest.raises(ValueError, match="columns of values are measures, 'ap', 'ndcg@2'"):
                compare_systems(table)

    def test_two_levels(self):
        frame = evaluate_runs(QRELS, RUNS, ["ap", "rr"])
        with pytest.raises(ValueError, match=r"SystemScores\.of"):
            SystemScores(frame)
        with pytest.raises(ValueError, match="axes are named 'a', 'b'"):
            compare_systems(frame.rename_axis(["a", "b"]))
        assert not SystemScores.of(evaluate_runs(QRELS, RUNS, "recall_error")).greater_is_better

    def test_more_systems_than_queries_without_names(self):
        values = np.arange(6.0).reshape(3, 2)
        for table in (values, values.tolist(), pd.DataFrame(values)):
            with pytest.warns(DataWarning, match="read as 3 systems x 2 queries: .* transpose"):
                SystemScores.of(table)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            SystemScores(values.T)
            SystemScores(values, systems="abc")
            SystemScores(values, queries="xy")
            SystemScores(pd.DataFrame(values).rename_axis("system"))
            scores = SystemScores(values, systems="abc")
            SystemScores(scores.to_frame())
            scores.select(queries=[0])

    def test_results_of_several_measures(self):
        scores = score_systems(QRELS, RUNS, ["ap", "rr"])
        assert SystemScores.of(scores, "rr") is scores["rr"]
        assert SystemScores.of({"ap": scores["ap"]}) is scores["ap"]
        with pytest.raises(ValueError, match=r"at a time, scores\['ap'\] or measure='ap'"):
            compare_systems(scores)
        with pytest.raises(ValueError, match=r"several measures.*, first\['ap'\]\."):
            conflicts(scores, scores)
        with pytest.raises(ValueError, match="measure='x' is none of those that scores"):
            SystemScores.of(scores["ap"], "x")

    def test_measure_names_a_matrix(self):
        scores = SystemScores.of([[1, 2], [3, 4]], "recall_error")
        assert (scores.measure, scores.greater_is_better) == ("recall_error", False)

    def test_preference_matrix(self):
        preferences = preference_matrix(Y_TRUE, SYSTEMS, groups=GROUPS)
        assert SystemScores.of(preferences).measure == "lexirecall(scale=preference)"

    @pytest.mark.parametrize(
        "function",
        [
            compare_systems,
            discriminative_power,
            fraction_tied,
            order_systems,
            percentage_absolute_difference,
            reliability,
            sensitivity_curve,
            stability_curve,
            partial(topic_set_size, difference=0.1),
        ],
    )
    def test_every_function_takes_what_others_return(self, function):
        frame = evaluate_runs(QRELS, RUNS, ["ap", "rr"])
        scores = score_systems(QRELS, RUNS, ["ap", "rr"])
        expected = str(function(scores["rr"]))
        assert str(function(frame, measure="rr")) == expected
        assert str(function(frame["rr"])) == expected
        assert str(function(scores, measure="rr")) == expected
        assert str(function({"rr": scores["rr"]})) == expected


class TestScoreSystems:
    def test_values_of_several_measures(self):
        measures = ["ap", "ndcg_f@2", "recall_error"]
        expected = evaluate_runs(QRELS, RUNS, measures)
        found = score_systems(QRELS, RUNS, measures)
        assert list(found) == measures
        for name, scores in found.items():
            table = expected[name].unstack(sort=False)  # noqa: PD010
            np.testing.assert_array_equal(scores.values, table.to_numpy())
            assert scores.measure == name
        assert not found["recall_error"].greater_is_better

    def test_lexicographic_measures_are_exact_preferences(self):
        found = score_systems(
            QRELS, RUNS, ["lexirecall(scale=preference)", "lexiprecision(scale=preference)"]
        )
        recall = found["lexirecall(scale=preference)"]
        assert recall.is_preference
        assert recall.queries == ("1", "2")  # in topic 3 nothing is relevant
        assert recall.dropped_queries == ("3",)
        # Topic 1, last relevant document: 2, 4, behind the list. Topic 2: 1, 2, behind.
        np.testing.assert_array_equal(recall.values, [[1, 1], [0.5, 0.5], [0, 0]])
        # First relevant document: 1, 3, 1, then of good and half 2 against behind the list.
        precision = found["lexiprecision(scale=preference)"]
        np.testing.assert_array_equal(precision.values, [[1, 1], [0, 0.5], [0.5, 0]])

    def test_means_are_those_of_evaluate(self):
        names = sorted({*get_measure_names()} - {"gm_map", "stat_ap", "ul_normalized"})
        values = evaluate_runs(qrels=QRELS, runs=RUNS, measures=names)
        found = score_systems(qrels=QRELS, runs=RUNS, measures=names)
        for name in names:
            for system in RUNS:
                means = values.loc[system, name].mean(), found[name].means[system]
                assert means[0] == pytest.approx(means[1], rel=1e-12)

    def test_lexicographic_measures_on_a_scale_are_its_values(self):
        for name in ("lexirecall(scale=log_odds)", "lexiprecision(scale=log)"):
            (scores,) = score_systems(QRELS, RUNS, name).values()
            assert not scores.is_preference
            expected = evaluate_runs(QRELS, RUNS, name)[name].unstack(sort=False)  # noqa: PD010
            np.testing.assert_array_equal(scores.values, expected.to_numpy())

    def test_missing_topics(self):
        runs = {**RUNS, "short": run("1 a b c", "3 e")}
        measures = ["ap", "lexirecall(scale=preference)"]
        with pytest.raises(ValueError, match="'short' has none for query '2'"):
            score_systems(QRELS, runs, "ap")
        with pytest.raises(ValueError, match="'short' has none for query '2'"):
            score_systems(QRELS, runs, "lexirecall(scale=preference)")
        dropped = score_systems(QRELS, runs, measures, missing="drop")
        assert dropped["ap"].queries == ("1", "3")
        assert dropped["lexirecall(scale=preference)"].queries == ("1",)
        assert set(dropped["lexirecall(scale=preference)"].dropped_queries) == {"2", "3"}
        empty = score_systems(QRELS, runs, measures, missing="empty")
        assert empty["ap"].values[3].tolist() == [1, 0, 0]
        # An empty list lacks the relevant document as "half" does.
        assert empty["lexirecall(scale=preference)"].values[3].tolist() == [5 / 6, 1 / 6]
        filled = score_systems(QRELS, runs, measures, missing=0.75)
        assert filled["ap"].values[3].tolist() == [1, 0.75, 0]
        assert filled["ap"].n_filled == 1

    def test_undefined_values_are_missing_with_skip(self):
        found = score_systems(QRELS, RUNS, "ap", undefined="drop", missing="drop")
        assert found["ap"].dropped_queries == ("3",)

    def test_paths_and_processes(self, tmp_path):
        paths = []
        for name, frame in RUNS.items():
            paths.append(tmp_path / f"{name}.txt")
            lines = [f"{q} Q0 {d} 0 {s} x" for q, d, s in frame.itertuples(index=False)]
            paths[-1].write_text("\n".join(lines) + "\n")
        one = score_systems(QRELS, paths, ["ap", "lexirecall"])
        two = score_systems(QRELS, paths, ["ap", "lexirecall"], n_jobs=2)
        for name, scores in one.items():
            assert scores.systems == ("good", "bad", "half")
            np.testing.assert_array_equal(scores.values, two[name].values)

    def test_relative_paths_after_a_change_of_folder(self, tmp_path, monkeypatch):
        for folder in ("one", "two"):
            (tmp_path / folder).mkdir()
            monkeypatch.chdir(tmp_path / folder)
            for name in ("a", "b"):
                (tmp_path / folder / name).write_text(
                    "1 Q0 a 0 1.0 x\n2 Q0 a 0 1 x\n3 Q0 e 0 1 x\n"
                )
            found = score_systems(QRELS, ["a", "b"], "ap", n_jobs=2)
            assert found["ap"].values.tolist() == [[0.5, 1, 0]] * 2
        (tmp_path / "two" / "b").write_text("1 Q0 a\n")
        with pytest.raises(ValueError, match=r"^b:1: "):
            score_systems(QRELS, ["a", "b"], "ap", n_jobs=2)

    def test_gains_reach_values_and_preferences(self):
        gains = {2: 0, 1: 1, 0: 0, -1: 0}
        found = score_systems(QRELS, RUNS, ["rr", "lexirecall(scale=preference)"], gains=gains)
        assert found["rr"].values[:, 0].tolist() == [1 / 2, 1 / 3, 0]
        assert found["lexirecall(scale=preference)"].values[:, 0].tolist() == [1, 0.5, 0]

    def test_errors_name_the_run(self):
        with pytest.raises(ValueError, match="score") as caught:
            score_systems(QRELS, {"odd": RUNS["good"].drop(columns="score")}, "ap")
        assert "odd" in " ".join(caught.value.__notes__)


Y_TRUE, GROUPS = [2, 1, -1, 0, 1, 0], list("aaabbb")
SYSTEMS = {"up": [3, 2, 1, 1, 3, 2], "down": [1, 2, 3, 3, 1, 2]}


class TestScorePredictions:
    def test_values(self):
        found = score_predictions(Y_TRUE, SYSTEMS, ["ap", "ndcg_f", "recall_error"], groups=GROUPS)
        for name, scores in found.items():
            for system, y_score in SYSTEMS.items():
                values = evaluate(Y_TRUE, y_score, name, groups=GROUPS)[name]
                np.testing.assert_array_equal(scores.to_frame().loc[system], values)
                assert scores.queries == ("a", "b")
        assert not found["recall_error"].greater_is_better

    def test_preferences(self):
        found = score_predictions(Y_TRUE, SYSTEMS, "lexirecall", groups=GROUPS)
        expected = preference_matrix(Y_TRUE, SYSTEMS, groups=GROUPS)
        assert found["lexirecall"].to_frame().loc["up"].tolist() == [1, 1]
        assert expected.ranks["up"].tolist() == [1, 1]

    def test_bad_input(self):
        with pytest.raises(ValueError, match=r"dict \{name: scores\}"):
            score_predictions(Y_TRUE, [1, 2], "ap", groups=GROUPS)
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            score_predictions(Y_TRUE, {"odd": [1, 2]}, "ap", groups=GROUPS)
        assert "odd" in caught.value.__notes__[0]


def test_preferences_of_one_system():
    preferences = preference_matrix([1, 0], {"a": [2, 1]}, groups=["q"] * 2)
    with pytest.raises(ValueError, match="at least two"):
        SystemScores.from_preferences(preferences)

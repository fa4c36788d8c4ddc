"""Values of runs and of predictions for every query."""

import numpy as np
import pytest

from ranked_runs import GROUPS, QRELS, RUNS, SYSTEMS, Y_TRUE, run
from skfilterrank._lists.positions import preference_matrix
from skfilterrank.comparison import (
    SystemScores,
    score_predictions,
    score_systems,
)
from skfilterrank.metrics import evaluate, evaluate_runs

# What labels below 0 mean is not said here, and not what is tested.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* holds labels below 0", "ignore:.*some gains are below 0"
)


class TestScoreSystems:
    def test_values_of_several_measures(self):
        measures = ["ap", "ndcg_f@2", "recall_error"]
        expected = evaluate_runs(QRELS, RUNS, measures).per_query
        found = score_systems(QRELS, RUNS, measures)
        assert list(found) == measures
        for name, scores in found.items():
            table = expected[name].unstack(sort=False)
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

    @pytest.mark.slow
    def test_lexicographic_measures_on_a_scale_are_its_values(self):
        for name in ("lexirecall(scale=log_odds)", "lexiprecision(scale=log)"):
            (scores,) = score_systems(QRELS, RUNS, name).values()
            assert not scores.is_preference
            expected = evaluate_runs(QRELS, RUNS, name).per_query[name].unstack(sort=False)
            np.testing.assert_array_equal(scores.values, expected.to_numpy())

    @pytest.mark.slow
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

    def test_undefined_values_are_missing_with_skip(self):
        found = score_systems(QRELS, RUNS, "ap", undefined="drop", missing="drop")
        assert found["ap"].dropped_queries == ("3",)

    def test_relative_paths_where_a_process_stands_elsewhere(self, tmp_path, monkeypatch):
        (tmp_path / "a").write_text("1 Q0 a 0 1.0 x\n2 Q0 a 0 1 x\n3 Q0 e 0 1 x\n")
        monkeypatch.chdir(tmp_path)

        def parallel(**_):
            """What joblib does with processes that stand in another folder."""

            def call(jobs):
                jobs = list(jobs)
                monkeypatch.chdir("/")
                return (function(*args, **options) for function, args, options in jobs)

            return call

        monkeypatch.setattr("joblib.Parallel", parallel)
        found = score_systems(QRELS, ["a"], "ap", n_jobs=2)
        assert found["ap"].values.tolist() == [[0.5, 1, 0]]

    def test_gains_reach_values_and_preferences(self):
        gains = {2: 0, 1: 1, 0: 0, -1: 0}
        found = score_systems(QRELS, RUNS, ["rr", "lexirecall(scale=preference)"], gains=gains)
        assert found["rr"].values[:, 0].tolist() == [1 / 2, 1 / 3, 0]
        assert found["lexirecall(scale=preference)"].values[:, 0].tolist() == [1, 0.5, 0]


class TestScorePredictions:
    @pytest.mark.slow
    def test_values(self):
        found = score_predictions(Y_TRUE, SYSTEMS, ["ap", "ndcg_f", "recall_error"], groups=GROUPS)
        for name, scores in found.items():
            for system, y_score in SYSTEMS.items():
                values = evaluate(Y_TRUE, y_score, name, groups=GROUPS).per_query[name]
                np.testing.assert_array_equal(scores.to_frame().loc[system], values)
                assert scores.queries == ("a", "b")
        assert not found["recall_error"].greater_is_better

    def test_bad_input(self):
        with pytest.raises(ValueError, match=r"dict \{name: scores\}"):
            score_predictions(Y_TRUE, [1, 2], "ap", groups=GROUPS)
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            score_predictions(Y_TRUE, {"odd": [1, 2]}, "ap", groups=GROUPS)
        assert "odd" in caught.value.__notes__[0]


def test_preferences_of_one_system():
    preferences = preference_matrix([1, 0], {"a": [2, 1]}, groups=["q"] * 2)
    with pytest.raises(ValueError, match="at least 2 systems"):
        SystemScores.from_preferences(preferences)

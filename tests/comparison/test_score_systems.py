"""Values of runs and of predictions for every query."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from ranked_positions import preference_matrix
from ranked_runs import GROUPS, QRELS, RUNS, SYSTEMS, Y_TRUE, run
from skfilterrank.comparison import (
    SystemScores,
    compare_systems,
    order_systems,
    score_predictions,
    score_systems,
)
from skfilterrank.exceptions import InputError, InputTypeError
from skfilterrank.io import align
from skfilterrank.metrics import evaluate, evaluate_runs, recall_paired_preference

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

    @pytest.mark.slow
    def test_lexicographic_measures_on_a_scale_are_its_values(self):
        for name in ("lexirecall(scale=log_odds)", "lexiprecision(scale=log)"):
            (scores,) = score_systems(QRELS, RUNS, name).values()
            assert not scores.is_preference
            expected = evaluate_runs(QRELS, RUNS, name).per_query[name]
            expected = expected.unstack(sort=False)  # noqa: PD010
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
        # It would change no value of a query, and so no comparison.
        with pytest.raises(InputError, match="query_weight: every query counts once in compariso"):
            score_predictions(Y_TRUE, SYSTEMS, "ap", groups=GROUPS, query_weight={})
        assert "odd" in caught.value.__notes__[0]


@pytest.mark.parametrize("measure", ["ap", "lexirecall(scale=preference)"])
class TestWithoutJudgments:
    def test_runs_that_are_not_aligned_are_refused(self, measure):
        with pytest.raises(InputTypeError, match=r"qrels must be a data frame.*got NoneType"):
            score_systems(None, RUNS, measure)

    def test_runs_that_are_aligned_take_no_others(self, measure):
        aligned = {name: align(QRELS, each) for name, each in RUNS.items()}
        with pytest.raises(InputError, match="run is an AlignedRun, which holds its judgments"):
            score_systems(QRELS, aligned, measure)

    @pytest.mark.parametrize(
        "given", [{"unjudged_label": "trec"}, {"precision": "single"}, {"ties": "stable"}]
    )
    def test_how_runs_were_aligned_cannot_be_changed(self, measure, given):
        aligned = {name: align(QRELS, each) for name, each in RUNS.items()}
        with pytest.raises(InputError, match=f"^{next(iter(given))}=.*run is an AlignedRun"):
            score_systems(None, aligned, measure, **given)


def test_queries_that_were_dropped_before_are_dropped():
    runs = {"a": run("1 a b"), "b": run("1 b a", "2 d a")}
    aligned = {name: align(QRELS, each, missing="drop") for name, each in runs.items()}
    found = score_systems(None, aligned, "ap", missing="drop")["ap"]
    expected = score_systems(QRELS, runs, "ap", missing="drop")["ap"]
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame())


@pytest.mark.parametrize("measure", ["rpp", "lexirecall(scale=preference)"])
def test_unknown_options_of_preferences(measure):
    for call, arguments in (
        (score_systems, (QRELS, RUNS, measure)),
        (partial(score_predictions, groups=GROUPS), (Y_TRUE, SYSTEMS, measure)),
    ):
        call(*arguments, n_items=100)
        with pytest.raises(InputError, match="tie is not an option of preferences"):
            call(*arguments, tie="best")


def test_preferences_of_one_system():
    preferences = preference_matrix([1, 0], {"a": [2, 1]}, groups=["q"] * 2)
    with pytest.raises(ValueError, match="at least 2 systems"):
        SystemScores.from_preferences(preferences)


def paired_by_hand(positions):
    """Return runs of one query whose relevant documents "r1", "r2" stand at these places."""
    runs = {}
    for name, at in positions.items():
        docnos = [f"x{place}" for place in range(1, 5)]
        for place, docno in zip(at, ("r1", "r2")):
            docnos[place - 1] = docno
        runs[name] = pd.DataFrame({"qid": "1", "docno": docnos, "score": [4, 3, 2, 1]})
    return runs


def test_recall_paired_preferences_by_hand():
    # a finds them at 1 and 4, b at 2 and 3, c at 1 and 2, d one of them at 1.
    runs = paired_by_hand({"a": (1, 4), "b": (2, 3), "c": (1, 2), "d": (1,)})
    docnos = ["r1", "r2", "x1", "x2", "x3", "x4"]
    qrels = pd.DataFrame({"qid": "1", "docno": docnos, "label": [1, 1, 0, 0, 0, 0]})
    nothing = pd.DataFrame({"qid": "2", "docno": ["x1"], "label": [0]})
    runs = {name: pd.concat([run, run.assign(qid="2")]) for name, run in runs.items()}
    scores = score_systems(pd.concat([qrels, nothing]), runs, ["ap", "rpp"], missing="empty")["rpp"]
    # First item: a, c and d are ahead of b. Last item: c before b before a before d.
    expected = {"a": (1 - 1) / 6, "b": (-3 + 1) / 6, "c": (1 + 3) / 6, "d": (1 - 3) / 6}
    assert scores.means.to_dict() == pytest.approx(expected)
    assert scores.dropped_queries == ("2",)
    assert not scores.is_preference
    assert order_systems(scores, n_resamples=0).systems[0] == "c"
    with pytest.raises(InputError, match="at least 2 systems"):
        score_systems(qrels, {"a": runs["a"]}, "rpp", missing="empty")


def test_recall_paired_preferences_of_predictions_are_those_of_pairs():
    rng = np.random.default_rng(0)
    y, groups = rng.integers(0, 2, 60), np.repeat([1, 2, 3], 20)
    systems = {name: rng.permutation(60) for name in "abc"}
    found = score_predictions(y, systems, ["rpp", "ap"], groups=groups)["rpp"]
    pair = partial(recall_paired_preference, y, groups=groups)
    for name in "abc":
        others = [pair(systems[name], systems[other]) for other in "abc" if other != name]
        np.testing.assert_allclose(found.to_frame().loc[name], np.mean(others, axis=0), atol=1e-12)
    assert compare_systems(found).test == "t"

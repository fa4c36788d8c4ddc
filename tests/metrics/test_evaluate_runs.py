"""Runs against judgments: trec_eval's numbers, in any number of processes."""

import os
import warnings
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest

from skfilterrank._base.words import collecting_warnings, warn_user
from skfilterrank.comparison import score_systems
from skfilterrank.exceptions import DataWarning, InputError, MissingValuesError
from skfilterrank.io import QrelsIndex, align, read_qrels, read_run
from skfilterrank.metrics import _evaluate_runs as module
from skfilterrank.metrics import (
    evaluate,
    evaluate_runs,
    iter_evaluations,
    ndcg_f_score,
    values_of_run,
)

# Labels below 0, of which nothing is said, are given to every measure here.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* holds labels below 0", "ignore:.*some gains are below 0"
)

QRELS = """\
1 0 a 2
1 0 b 0
1 0 c -2
1 0 d 1
2 0 a 1
2 0 e 0
3 0 f 1
"""
RUN = """\
1 Q0 b 1 0.9 good
1 Q0 a 2 0.9 good
1 Q0 x 3 0.5 good
1 Q0 c 4 0.4 good
2 Q0 e 1 7 good
2 Q0 a 2 6 good
9 Q0 a 1 1 good
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "good.txt").write_text(RUN)
    (tmp_path / "short.txt").write_text("1 Q0 a 1 1 short\n")
    return tmp_path


def test_by_hand(files):
    values = values_of_run(
        files / "qrels.txt", files / "good.txt", ["ndcg_f", "ndcg_0", "forbidden"]
    )
    # Topic 1 shows b, a (one score: the greater id first), x unjudged, then c.
    ideal, worst = 2 / np.log2(2) + 1 / np.log2(3), -2 / np.log2(2)
    shown = 2 / np.log2(3) - 2 / np.log2(5)
    assert list(values.index) == ["1", "2", "3"]
    assert values["ndcg_f"]["1"] == pytest.approx((shown - worst) / (ideal - worst))
    assert values["ndcg_0"]["2"] == pytest.approx(1 / np.log2(3))
    assert values["ndcg_f"]["3"] == 0
    assert values["forbidden"]["1"] == 1 / 4


def test_ties(files):
    found = {
        ties: values_of_run(files / "qrels.txt", files / "good.txt", "ndcg_0@1", ties=ties)
        for ties in ("docno", "average", "worst", "best")
    }
    values = {ties: float(frame["ndcg_0@1"]["1"]) for ties, frame in found.items()}
    assert values == {"docno": 0, "average": 1 / 2, "worst": 0, "best": 1}


def test_topics_that_are_not_in_the_run(files):
    args = files / "qrels.txt", files / "short.txt", ["ndcg"]
    assert values_of_run(*args)["ndcg"].to_dict() == {
        "1": pytest.approx(2 / (2 + 1 / np.log2(3) - 2 / np.log2(5))),
        "2": 0,
        "3": 0,
    }
    assert list(values_of_run(*args, missing="drop").index) == ["1"]
    (found,) = iter_evaluations(files / "qrels.txt", [files / "good.txt"], "ndcg")
    assert (found.missing_queries, found.unjudged_queries) == (("3",), ("9",))


def test_gains_unjudged_and_undefined(files):
    y_true, y_score, groups = aligned = align(files / "qrels.txt", files / "good.txt")
    gains = {-2: -10, 0: -1, 1: 1, 2: 3}
    params = {"gains": gains, "unjudged": "drop", "undefined": 0.25}
    values = values_of_run(files / "qrels.txt", files / "good.txt", "ndcg_f@2", **params)
    expected = ndcg_f_score.per_query(
        y_true, y_score, groups=groups, k=2, ties=-np.arange(len(groups)), **params
    )
    np.testing.assert_array_equal(values["ndcg_f@2"], expected)
    pd.testing.assert_frame_equal(values_of_run(None, aligned, "ndcg_f@2", **params), values)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_warnings_of_other_processes_are_heard(files, n_jobs):
    """Once for each run, at the line of whoever calls."""
    (files / "other.txt").write_text("1 Q0 D1 1 1 other\n")
    runs = {f"run{i}": files / ("good.txt" if i % 4 else "other.txt") for i in range(10)}
    runs["last"] = pd.DataFrame({"qid": ["2"], "docno": ["D2"], "score": [1.0]})
    for function, more in ((evaluate_runs, {}), (score_systems, {"missing": "empty"})):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            function(files / "qrels.txt", runs, "ap", n_jobs=n_jobs, **more)
        texts = [str(each.message) for each in caught if "none of the" in str(each.message)]
        assert len(texts) == 2
        assert "the run 'other' retrieves is judged: for query '1', it holds 'D1', and" in texts[0]
        assert "the run retrieves is judged: for query '2', it holds 'D2', and" in texts[1]
        assert {each.filename for each in caught} == {__file__}


def test_batches(files, monkeypatch):
    """Each holds a few runs, the last one the rest."""
    sizes, batch = [], module._evaluate_batch
    monkeypatch.setattr(module, "_BATCH", 2)
    monkeypatch.setattr(
        module, "_evaluate_batch", lambda runs, *args: sizes.append(len(runs)) or batch(runs, *args)
    )
    runs = {f"run{i}": files / "good.txt" for i in range(5)}
    with joblib.parallel_config(backend="threading"):
        found = evaluate_runs(files / "qrels.txt", runs, "ndcg", n_jobs=2).per_query
    assert sorted(sizes) == [1, 2, 2]
    assert list(found.index.unique("run")) == list(runs)
    evaluate_runs(files / "qrels.txt", runs, "ndcg", n_jobs=1)
    assert len(sizes) == 3


def test_processes_are_others(files):
    def gains(label):
        (files / f"pid{os.getpid()}").touch()
        return label

    runs = {f"run{i}": files / "good.txt" for i in range(20)}
    evaluate_runs(files / "qrels.txt", runs, "ap", n_jobs=2, gains=gains)
    pids = {int(path.name.removeprefix("pid")) for path in files.glob("pid*")}
    # The check of the parameters calls it for no label.
    assert pids
    assert os.getpid() not in pids


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_paths_that_are_relative(files, monkeypatch, backend):
    """Nobody's folder is changed to find them, and messages keep them as they are."""
    monkeypatch.chdir(files)
    monkeypatch.setattr(os, "chdir", lambda folder: pytest.fail(f"the folder became {folder}"))
    (files / "broken.txt").write_text("1 Q0 a 1 one short\n")
    names = ["good.txt", "short.txt", "broken.txt", "absent.txt"]
    with joblib.parallel_config(backend=backend):
        found = iter_evaluations("qrels.txt", names, "ndcg", n_jobs=2, on_error="yield")
        good, short, broken, absent = found
    assert [each.name for each in (good, short, broken, absent)] == [
        "good",
        "short",
        "broken",
        "absent",
    ]
    pd.testing.assert_frame_equal(
        good.values.per_query, values_of_run("qrels.txt", "good.txt", "ndcg")
    )
    pd.testing.assert_frame_equal(
        short.values.per_query, values_of_run("qrels.txt", "short.txt", "ndcg")
    )
    assert str(broken.error).startswith("broken.txt:1: the line holds the score")
    assert absent.error.filename == "absent.txt"


def test_progress(files, capsys):
    evaluate_runs(files / "qrels.txt", [files / "good.txt"], "ndcg")
    assert capsys.readouterr() == ("", "")
    evaluate_runs(files / "qrels.txt", [files / "good.txt"], "ndcg", verbose=1)
    assert "/1 [" in capsys.readouterr().err


def test_values_come_as_they_are_ready(files):
    (files / "broken.txt").write_text("1 Q0 a 1 one short\n")
    found = iter_evaluations(
        files / "qrels.txt", [files / "good.txt", files / "broken.txt"], "ndcg"
    )
    assert next(found).name == "good"
    with pytest.raises(ValueError, match=r"broken\.txt:1: the line holds the score") as caught:
        next(found)
    assert caught.value.__notes__ == ["The error concerns the run 'broken'."]


def test_errors_of_the_library_may_be_yielded(files, capsys):
    args = files / "qrels.txt", [files / "good.txt", files / "nope"], "ap"
    found = list(iter_evaluations(*args, on_error="yield"))
    assert [each.error is None for each in found] == [True, False]
    assert capsys.readouterr().err == ""
    assert found[1].values is None
    pd.testing.assert_frame_equal(found[0].to_frame(), found[0].values.per_query)
    assert found[1].to_frame().empty
    assert repr(found[0]) == "<RunEvaluation: good, 1 measure of 3 queries>"
    assert repr(found[1]) == "<RunEvaluation: nope: FileNotFoundError>"
    with pytest.raises(FileNotFoundError):
        list(iter_evaluations(*args))
    with pytest.raises(ValueError, match="on_error must be one of 'raise', 'yield', got 'skip'"):
        next(iter_evaluations(*args, on_error="skip"))


def test_the_size_of_the_collection(files):
    args = files / "qrels.txt", files / "good.txt", ["tse", "search_length"]
    # Topic 1: d is not retrieved and stands last; topic 2: a is found at place 2.
    assert values_of_run(*args).round(9).loc["1"].to_dict() == {
        "tse": 1e-6,
        "search_length": 1e6 - 2,
    }
    assert values_of_run(*args).loc["2"].to_dict() == {"tse": 1 / 2, "search_length": 1}
    assert values_of_run(*args, n_items=100).loc["1"].to_dict() == {
        "tse": 1 / 100,
        "search_length": 98,
    }
    assert values_of_run(*args, n_items=None).loc["1"].to_dict() == {
        "tse": 1 / 7,  # five rows, and room for two relevant ones behind them
        "search_length": 5,
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ties": "random"}, "ties must be one of 'docno', 'average', 'worst', 'best', 'stable', "),
        ({"missing": "zero"}, "missing must be one of 'raise', 'drop', 'empty', got 'zero'"),
        ({"unjudged": "skip"}, "unjudged must be one of"),
        ({"undefined": "zero"}, "undefined must be"),
        ({"gains": 3}, "gains must be"),
        ({"measures": "mapp"}, "'mapp' is not a measure"),
        ({"precision": "half"}, "precision must be one of 'double', 'single', got 'half'"),
        ({"bogus": 1}, "bogus is not an option of any of the measures ndcg: no measure has it"),
        ({"normalize": "k", "measures": "ap"}, "normalize='k' divides by the cut-off"),
        ({"measures": "ap(normalize=k)"}, "normalize='k' divides by the cut-off"),
        ({"measures": "ul_normalized(normalize=k)"}, "normalize"),
        ({"n_items": 0, "measures": "tse"}, "n_items"),
        ({"ties": "average", "measures": "lexirecall"}, "ties='average' is not possible for"),
        ({"persistence": 0.9}, "persistence is not an option of any of the measures ndcg"),
    ],
)
def test_what_no_run_could_make_right_is_raised_before_the_first(files, params, message):
    """And not once for each run, even where errors are yielded."""
    args = files / "qrels.txt", files / "good.txt"
    params = {"measures": "ndcg", **params}
    for function in (
        values_of_run,
        lambda qrels, run, **kw: evaluate_runs(qrels, [run], **kw),
        lambda qrels, run, **kw: next(iter_evaluations(qrels, [run], on_error="yield", **kw)),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            function(*args, **params)
        assert not hasattr(caught.value, "__notes__")


@pytest.mark.parametrize(
    ("name", "value"),
    [("groups", [1]), ("pooled", [True]), ("query_weight", {"1": 2}), ("y_true", [1])],
)
def test_values_of_rows_are_refused(name, value):
    qrels, run = {"1": {"a": 1}}, {"1": {"a": 2.0}}
    with pytest.raises(InputError, match=f"{name} is for arrays, and not for runs: leave it out"):
        evaluate_runs(qrels, run, "infAP", **{name: value})
    with pytest.raises(InputError, match=f"{name}.* Leave it out|{name} is for arrays"):
        score_systems(qrels, {"one": run, "two": run}, "infAP", **{name: value})


def test_what_some_data_make_right_is_not_raised_before(files):
    for params in (
        {"measures": ["err(max_grade=0.5)", "ul_normalized", "tse"], "n_items": 1},
        {"measures": "rbp(relevance=graded)", "gains": {2: 1, 1: 0.5, 0: 0, -2: 0}},
        {"measures": "inferred_ap", "pooled": np.ones(8, dtype=bool)},
        {"measures": "stat_ap", "inclusion_probability": np.ones(8)},
    ):
        module._check_params(**params)


def test_runs_that_are_aligned_already(files):
    args = files / "qrels.txt", files / "good.txt"
    for missing in ("empty", "drop"):
        aligned = align(*args, missing=missing)
        expected = values_of_run(*args, "ndcg", missing=missing)
        assert len(expected) == {"empty": 3, "drop": 2}[missing]
        values = values_of_run(None, aligned, "ndcg", missing=missing)
        pd.testing.assert_frame_equal(values, expected)
        values = evaluate_runs(None, {"good": aligned}, "ndcg", missing=missing).per_query
        pd.testing.assert_frame_equal(values.loc["good"], expected)
    with pytest.raises(ValueError, match="run is an AlignedRun, which holds its judgments: pass q"):
        values_of_run(files / "qrels.txt", aligned, "ndcg")
    with pytest.raises(ValueError, match=r"missing='empty', but run .* made with missing='drop'"):
        values_of_run(None, aligned, "ndcg", missing="empty")
    with pytest.raises(ValueError, match=r"ties='stable', but run .* made with ties='docno'"):
        values_of_run(None, aligned, "ndcg", missing="drop", ties="stable")
    with pytest.raises(ValueError, match="precision='single', but run is an AlignedRun"):
        values_of_run(None, aligned, "ndcg", missing="drop", precision="single")


def test_measures_from_a_generator_are_all_measured():
    qrels, run = {"1": {"a": 1}}, {"1": {"b": 2, "a": 1}}
    aligned = align(qrels, run)
    for args in ((qrels, run), (None, aligned)):
        found = evaluate_runs(*args, (name for name in ("ap", "rr", "success@1")))
        assert found.means.iloc[0].to_dict() == {"ap": 0.5, "rr": 0.5, "success@1": 0}


def test_a_query_that_a_run_lacks_can_be_an_error(files):
    with pytest.raises(MissingValuesError, match=r"lacks 1 query .* such as '\w+'") as caught:
        values_of_run(files / "qrels.txt", files / "good.txt", "ndcg", missing="raise")
    assert sum(map(len, caught.value.lacking.values())) == 1


def test_stable_ties_are_in_the_order_of_the_lines():
    qrels = pd.DataFrame({"qid": "1", "docno": list("abc"), "label": [1, 0, 0]})
    run = pd.DataFrame({"qid": "1", "docno": list("bac"), "score": [2.0, 2.0, 2.0]})
    for rows, place in (([0, 1, 2], 2), ([1, 0, 2], 1), ([2, 0, 1], 3)):
        values = values_of_run(qrels, run.iloc[rows], "rr", ties="stable")
        assert values["rr"].tolist() == [1 / place]
    assert values_of_run(qrels, run, "rr")["rr"].tolist() == [1 / 3]  # by id, descending
    runs = {"run": run, "turned": run.iloc[::-1]}
    preference = "lexirecall(scale=preference)"
    scores = score_systems(qrels, runs, ["rr", preference], ties="stable")
    assert scores["rr"].means.to_dict() == {"run": 1 / 2, "turned": 1 / 2}
    assert scores[preference].means.to_dict() == {"run": 1 / 2, "turned": 1 / 2}


def test_precision():
    """0.1000000001 is 0.1 in single precision; 0.100005 is not, but would be in half precision."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    judgments = {qid: {"a": 1, "b": 0} for qid in ("near", "far")}
    scores = {"near": {"a": 0.1000000001, "b": 0.1}, "far": {"a": 0.100005, "b": 0.1}}
    assert np.float16(0.100005) == np.float16(0.1)
    evaluator = pytrec_eval.RelevanceEvaluator(judgments, {"recip_rank"})
    theirs = {qid: each["recip_rank"] for qid, each in evaluator.evaluate(scores).items()}
    assert theirs == {"near": 1 / 2, "far": 1}

    def frame(nested, column):
        rows = [(qid, doc, value) for qid, docs in nested.items() for doc, value in docs.items()]
        return pd.DataFrame(rows, columns=["qid", "docno", column])

    args = frame(judgments, "label"), frame(scores, "score")
    assert values_of_run(*args, "rr", precision="single")["rr"].to_dict() == theirs
    assert values_of_run(*args, "rr")["rr"].to_dict() == {"near": 1, "far": 1}
    many = evaluate_runs(args[0], {"run": args[1]}, "rr", precision="single").per_query
    assert many.loc["run", "rr"].to_dict() == theirs


def test_one_run_in_any_form(files):
    qrels, path = files / "qrels.txt", files / "good.txt"
    expected = evaluate_runs(qrels, path, ["ndcg_f", "ap"])
    assert list(expected.means.index) == ["good"]
    frame = read_run(path)
    by_query = {
        qid: dict(zip(rows["docno"], rows["score"].tolist())) for qid, rows in frame.groupby("qid")
    }
    with open(path, "rb") as file:
        pd.testing.assert_frame_equal(
            evaluate_runs(qrels, file, ["ndcg_f", "ap"]).per_query, expected.per_query
        )
    for run in (frame, by_query, align(qrels, path)):
        is_aligned = not isinstance(run, pd.DataFrame | dict)
        found = evaluate_runs(None if is_aligned else qrels, run, ["ndcg_f", "ap"])
        values = found.per_query.droplevel("run")
        pd.testing.assert_frame_equal(values, expected.per_query.loc["good"])


# trec_eval's name of each of our measures.
TREC_EVAL = {
    "ap": "map",
    "ap@30": "map_cut_30",
    "ndcg_0": "ndcg",
    "ndcg_0@10": "ndcg_cut_10",
    "precision@5": "P_5",
    "recall@100": "recall_100",
    "r_precision": "Rprec",
    "rr": "recip_rank",
    "bpref": "bpref",
    "inferred_ap": "infAP",
}


def test_which_documents_were_pooled():
    """infAP by hand: two good documents in places 1 and 5, and the second of four not pooled."""
    documents = ["good", "unknown", "pooled", "bad", "also good"]
    run = pd.DataFrame({"qid": "1", "docno": documents, "score": [5.0, 4.0, 3.0, 2.0, 1.0]})
    labels = {"good": 1, "pooled": -1, "bad": 0, "also good": 1}
    qrels = pd.DataFrame({"qid": "1", "docno": list(labels), "label": list(labels.values())})
    values = values_of_run(qrels, run, ["inferred_ap"], unjudged_label=-1)
    # 1 / 5 for itself; above it 3 of 4 are pooled, and of those judged one of two is good.
    assert values.iloc[0, 0] == pytest.approx((1 + 1 / 5 + 4 / 5 * 3 / 4 * 1 / 2) / 2, rel=1e-12)


@pytest.mark.nightly
def test_real_runs_give_what_trec_eval_gives(data_dir):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder = data_dir / "trec-covid-round1"
    qrels = read_qrels(folder / "qrels.txt.gz")
    judgments = {
        qid: dict(zip(rows["docno"], rows["label"].astype(int).tolist()))
        for qid, rows in qrels.groupby("qid")
    }
    evaluator = pytrec_eval.RelevanceEvaluator(
        judgments,
        {"map", "map_cut", "ndcg", "ndcg_cut", "P", "recall", "Rprec", "recip_rank"}
        | {"bpref", "infAP"},
    )
    index = QrelsIndex(qrels)
    for path in sorted((folder / "runs").iterdir())[::24]:
        run = read_run(path)
        scores = {
            qid: dict(zip(rows["docno"], rows["score"].tolist()))
            for qid, rows in run.groupby("qid")
        }
        expected = pd.DataFrame.from_dict(evaluator.evaluate(scores), orient="index")
        actual = values_of_run(index, run, list(TREC_EVAL))
        for ours, theirs in TREC_EVAL.items():
            np.testing.assert_allclose(
                actual[ours], expected[theirs][actual.index], rtol=0, atol=1e-9, err_msg=ours
            )


def test_stat_ap_takes_the_probabilities_of_the_judgments(files):
    (files / "prels.txt").write_text("1 a 2 1 0.5\n1 c 1 1 0.25\n1 b 0 1 1\n")
    prels = read_qrels(files / "prels.txt")
    # Topic 1 shows b, a, x, c: (2 * 1 / 2 + 4 * (1 + 2) / 4) / (2 + 4)
    values = values_of_run(run=files / "good.txt", qrels=prels, measures="stat_ap")
    assert values["stat_ap"]["1"] == pytest.approx((2 * 1 / 2 + 4 * 3 / 4) / 6)


def test_a_sample_is_no_complete_judgment_for_aligned_runs_either(files):
    (files / "prels.txt").write_text("1 a 2 1 0.5\n1 c 1 1 0.25\n1 b 0 1 1\n")
    aligned = align(read_qrels(files / "prels.txt"), files / "good.txt")
    for n_jobs in (1, 2):
        with pytest.raises(InputError, match="is a sample with inclusion probabilities below 1"):
            evaluate_runs(None, {"a": aligned, "b": aligned}, "ap", n_jobs=n_jobs)


def test_stat_ap_is_not_guessed(files):
    with pytest.raises(ValueError, match=r"'stat_ap' needs the probability .*a file of a sample"):
        values_of_run(files / "qrels.txt", files / "good.txt", "stat_ap")


def _warns_of_both(row):
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    warn_user(f"row {row}", DataWarning)
    return row


def test_only_our_own_warnings_are_said_again():
    """Those of other packages would be of a line of the user's, who can do nothing about them."""
    here = collecting_warnings(_warns_of_both)
    elsewhere = partial(here.func, -1, *here.args[1:])  # the id of another process
    for function, said in ((here, []), (elsewhere, [("row 3", DataWarning)])):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert function(3) == (3, said)
        kinds = [each.category for each in caught]
        assert kinds == ([DeprecationWarning] if said else [DeprecationWarning, DataWarning])


def test_a_run_of_which_a_filter_left_nothing():
    qrels = {"1": {"a": 1, "b": 0}}
    with pytest.warns(DataWarning, match="holds no document"):
        values = evaluate_runs(qrels, {"A": {}, "B": {"1": {"a": 1}}}, "ap", missing="empty")
    assert values.means["ap"].to_dict() == {"A": 0.0, "B": 1.0}
    # Two runs must not become one with two queries.
    with pytest.raises(InputError, match="empty dicts may be runs or queries"):
        evaluate_runs(qrels, {"A": {}, "B": {}}, "ap", missing="empty")
    with pytest.warns(DataWarning, match="holds no document"):
        values = evaluate_runs(qrels, {"A": {"1": {}}, "B": {"1": {}}}, "ap", missing="empty")
    assert values.means.index.tolist() == ["A", "B"]


def test_one_kind_of_result():
    """A run is worth the same as an array of rows, alone or beside other runs and measures."""
    rng = np.random.default_rng(0)
    qrels = {str(q): {str(d): int(rng.integers(3)) for d in range(9)} for q in range(41)}
    runs = {name: {q: {d: rng.normal() for d in qrels[q]} for q in qrels} for name in "ab"}
    names = ["ap", "gm_map", "num_rel", "ndcg_f@3"]
    found = evaluate_runs(qrels, runs, names)
    for run in runs:
        aligned = align(qrels, runs[run])
        rows = aligned.y_true, aligned.y_score
        alone = evaluate(*rows, names, groups=aligned.index, ties="stable")
        assert type(alone) is type(found)
        pd.testing.assert_frame_equal(alone.per_query, found.per_query.loc[run])
        assert alone.means.to_dict() == found.means.loc[run].to_dict()
        for name in names:
            assert evaluate_runs(qrels, runs[run], name).means.iloc[0, 0] == alone.means[name]
    assert repr(found) == "<Evaluation: 4 measures of 2 runs, 41 queries>"
    assert str(alone).splitlines()[:2] == ["4 measures of 41 queries", "             mean"]

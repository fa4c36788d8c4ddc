"""Every function with a parameter `runs` or `qrels` takes them alike."""

import io

import numpy as np
import pandas as pd
import pytest

from skfilterrank.comparison import label_degradation, score_systems
from skfilterrank.exceptions import SkfilterrankError
from skfilterrank.io import QrelsIndex, read_run, read_runs, write_qrels, write_run
from skfilterrank.judgments import (
    MaxRepSelector,
    PoolingSelector,
    pseudo_qrels,
    rank_systems,
    rank_table,
    statap_prior,
)
from skfilterrank.ranking import LinearRankFusion, fuse_learned, fuse_runs
from skfilterrank.trec import evaluate_runs, iter_evaluations

QRELS = pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "label": [1, 0, 1]})
RUNS = {
    "one": pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["a", "b", "a"], "score": [2.0, 1, 3]}),
    "two": pd.DataFrame({"qid": ["1", "1", "2"], "docno": ["b", "a", "c"], "score": [2.0, 1, 3]}),
}
ON_JUDGMENTS = {
    "evaluate_runs": evaluate_runs,
    "iter_evaluations": lambda *args: pd.concat(
        {each.name: each.values for each in iter_evaluations(*args)}
    ),
    "two processes": lambda *args: evaluate_runs(*args, n_jobs=2),
    "score_systems": lambda *args: score_systems(*args)["ap"].to_frame(),
    "label_degradation": lambda *args: label_degradation(*args, n_samples=1).to_frame(),
}
ALONE = {
    "read_runs": lambda runs: pd.concat(read_runs(runs)),
    "rank_table": rank_table,
    "statap_prior": lambda runs: statap_prior(runs).to_frame(),
    "pseudo_qrels": pseudo_qrels,
    "rank_systems": rank_systems,
    "fuse_runs": fuse_runs,
}
FUNCTIONS = ALONE | {
    name: lambda runs, of=of: of(runs, QRELS, "ap") for name, of in ON_JUDGMENTS.items()
}


@pytest.fixture(params=FUNCTIONS)
def function(request):
    return FUNCTIONS[request.param]


@pytest.fixture
def paths(tmp_path):
    for name, run in RUNS.items():
        write_run(tmp_path / f"{name}.txt.gz", run)
    return [tmp_path / f"{name}.txt.gz" for name in RUNS]


def test_kinds_of_runs(function, paths):
    expected = function(RUNS)
    renamed = {"qid": "query_id", "docno": "doc_id"}
    for runs in (
        paths,
        tuple(map(str, paths)),
        dict(zip(RUNS, paths)),
        {name: read_run(path) for name, path in zip(RUNS, paths)},
        {
            "one": RUNS["one"].set_index(["qid", "docno"]),
            "two": RUNS["two"].rename(columns=renamed),
        },
    ):
        pd.testing.assert_frame_equal(function(runs), expected)
    with open(paths[1], "rb") as handle:
        pd.testing.assert_frame_equal(function({"one": paths[0], "two": handle}), expected)


def test_frames_of_polars(function):
    polars = pytest.importorskip("polars")
    runs = {name: polars.DataFrame(run.to_dict("list")) for name, run in RUNS.items()}
    pd.testing.assert_frame_equal(function(runs), function(RUNS))


@pytest.mark.parametrize("name", ["read_runs", "rank_table", "fuse_runs", "evaluate_runs"])
def test_one_path_is_one_run(name, paths):
    pd.testing.assert_frame_equal(FUNCTIONS[name](paths[0]), FUNCTIONS[name]({"one": RUNS["one"]}))


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ({}, "runs must hold at least [12] runs?, got 0|runs must be at least 2, got 0"),
        ([RUNS["one"]] * 2, "runs must be a path, a list .* got a list that holds DataFrame"),
        (io.StringIO("1 Q0 a 1 1 x"), "runs must be a path, .*, got one StringIO: name it"),
        (3, "runs must be a list of"),
        ({"one": [1, 2], "two": 3}, "run must be a data frame, a path or an open file, got list.*"),
        (["one/run.txt", "two/run.txt.gz"], "give two runs of the name 'run': pass a dict"),
    ],
)
def test_what_is_no_run_is_told_alike(function, runs, message):
    with pytest.raises(SkfilterrankError, match=message):
        function(runs)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"score": np.nan}, "column 'score' of run holds 3 NaN"),
        ({"score": np.inf}, r"column 'score' of run holds 3 \+inf"),
        ({"score": "high"}, "column 'score' of run must hold numbers, got 'high'"),
        ({"docno": ["x", None, "y"]}, "column 'docno' .*holds no id in row 1"),
        ({"docno": "a"}, "holds document 'a' twice in topic '1'"),
    ],
)
def test_a_bad_run_is_named(function, change, message):
    if function is ALONE["read_runs"] and "twice" in message:
        pytest.skip("it reads, and joins nothing")
    runs = RUNS | {"two": RUNS["two"].assign(**change)}
    with pytest.raises(SkfilterrankError, match=message) as caught:
        function(runs)
    assert "run 'two'" in "".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    with pytest.raises(SkfilterrankError, match=r"run has no column 'score'; its columns are"):
        function(RUNS | {"two": RUNS["two"].drop(columns="score")})


@pytest.mark.parametrize("name", ["evaluate_runs", "score_systems"])
def test_judgments_do_not_come_first(name):
    with pytest.raises(SkfilterrankError, match="runs come first, then judgments"):
        ON_JUDGMENTS[name](QRELS, RUNS, "ap")


@pytest.mark.parametrize("name", ON_JUDGMENTS)
def test_kinds_of_judgments(name, tmp_path):
    expected = ON_JUDGMENTS[name](RUNS, QRELS, "ap")
    write_qrels(tmp_path / "qrels.txt", QRELS)
    text = io.StringIO((tmp_path / "qrels.txt").read_text(encoding="utf-8"))
    for qrels in (tmp_path / "qrels.txt", str(tmp_path / "qrels.txt"), text, QrelsIndex(QRELS)):
        pd.testing.assert_frame_equal(ON_JUDGMENTS[name](RUNS, qrels, "ap"), expected)
    with pytest.raises(SkfilterrankError, match="qrels must be a data frame, a path or an open f"):
        ON_JUDGMENTS[name](RUNS, [1], "ap")


def test_learned_fusion_takes_files(paths, tmp_path):
    write_qrels(tmp_path / "qrels.txt", QRELS)
    expected = fuse_learned(RUNS, QRELS, fusion="logistic", cv=None)
    for runs in (paths, dict(zip(RUNS, paths)), tuple(map(str, paths))):
        fused = fuse_learned(runs, tmp_path / "qrels.txt", fusion="logistic", cv=None)
        pd.testing.assert_frame_equal(fused, expected)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LinearRankFusion(), r"X must hold the scores .* fuse_learned\(runs, qrels, fusion="),
        (MaxRepSelector(), r"X must hold the documents for MaxRepSelector.*rank_table\(runs\)"),
    ],
)
def test_estimators_of_rows_say_what_is_for_runs(estimator, message):
    with pytest.raises(SkfilterrankError, match=message):
        estimator.fit(RUNS, QRELS)


def test_rank_tables_are_no_vectors():
    table = rank_table(RUNS).fillna(9)
    with pytest.raises(SkfilterrankError, match=r"X must hold texts, .*, and is a rank table"):
        MaxRepSelector().fit(table)
    MaxRepSelector().fit(table.rename_axis(columns=None))
    with pytest.raises(SkfilterrankError, match="rank_table makes one of a path or a list of"):
        PoolingSelector().fit(["one.txt", "two.txt"])

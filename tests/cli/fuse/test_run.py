"""``skfilterrank fuse``: the library's fusion, from files into one."""

import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank.cli.fuse import options as fuse_options
from skfilterrank.cli.fuse import run as fuse_run
from skfilterrank.cli.fuse.run import _GRID
from skfilterrank.io import read_qrels, read_run, write_qrels
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import LinearRankFusion, RankFusion, fuse_learned, fuse_runs

pytestmark = pytest.mark.slow


def assert_same(found, expected):
    pd.testing.assert_frame_equal(
        found[["qid", "docno", "score"]], expected.reset_index(drop=True), check_dtype=False
    )


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("", {}),
        ("--rrf-k 1 --depth 3", {"rrf_k": 1, "depth": 3}),
        ("--method rbc --persistence 0.5", {"method": "rbc", "persistence": 0.5}),
        ("--method combmnz --normalize none", {"method": "combmnz", "normalize": None}),
        (
            "--method combsum --weights words=1,links=2,noise=0 --filtered any",
            {"method": "combsum", "weights": [1, 2, 0], "filtered": "any"},
        ),
        # Weights go by the names of runs, and not by their places.
        (
            "--method combsum --weights noise=5,links=2,words=1",
            {"method": "combsum", "weights": [1, 2, 5]},
        ),
    ],
)
def test_equals_the_library(fuse, runs, words, options):
    found, err = fuse(*words.split())
    assert_same(found, fuse_runs(runs, **options))
    assert f"{len(found)} documents of 10 topics out of 3 runs" in err
    assert set(found["run"]) == {"fused"}


def test_into_a_file(fuse, runs):
    assert fuse("--out", "out.txt.gz", "--name", "mine", "--quiet") == (None, "")
    found = read_run("out.txt.gz")
    assert_same(found, fuse_runs(runs))
    assert set(found["run"]) == {"mine"}


@pytest.mark.parametrize("learn", ["weights", "logistic"])
def test_learned_weights(fuse, runs, learn):
    learner = {"weights": "coordinate_ascent"}.get(learn, learn)
    fusion = LinearRankFusion(learner, measure="ap", normalize="zscore")
    found, _ = fuse("--qrels", "qrels", "--learn", learn, "-m", "ap", "--normalize", "zscore")
    assert_same(found, fuse_learned(read_qrels("qrels"), runs, fusion=fusion))


def test_what_is_tried():
    """All methods but condorcet, all normalizations but max and none."""
    normalized = next(each for each in _GRID if "normalize" in each)
    tried = [name for each in _GRID for name in each["method"]]
    assert sorted(tried) == sorted(
        {*fuse_options.BY_RANKS, *fuse_options.BY_SCORES} - {"condorcet"}
    )
    assert normalized["method"] == list(fuse_options.BY_SCORES)
    assert {*normalized["normalize"]} == {*fuse_options.NORMALIZATIONS} - {"max", "none"}


SOME = [{"method": ["rrf"], "rrf_k": [1]}, {"method": ["combsum"], "normalize": ["minmax", "sum"]}]


@pytest.mark.parametrize(
    "grid",
    [pytest.param(SOME, id="some"), pytest.param(_GRID, marks=pytest.mark.nightly, id="all")],
)
def test_learned_method(fuse, runs, grid, monkeypatch):
    monkeypatch.setattr(fuse_run, "_GRID", grid)
    # Three of the topics are judged, for each of which all methods are tried on the other two.
    judged = read_qrels("qrels")
    write_qrels("some", judged[judged["qid"].isin(["1", "2", "5"])])
    found, err = fuse("--qrels", "some", "--depth", "4")
    scorer = make_ranking_scorer("ndcg_f@10")
    search = GridSearchCV(RankFusion(), grid, scoring=scorer, cv=GroupKFold(2))
    expected = fuse_learned(read_qrels("some"), runs, fusion=search, cv=3)
    assert_same(found, expected.groupby("qid", sort=False).head(4))
    assert "best by ndcg_f@10 on all judged topics: --method comb" in err


def test_gains_of_labels(fuse, runs):
    found, _ = fuse("--qrels", "qrels", "--learn", "logistic", "--gains", "0=1,1=-1,2=-1")
    qrels = read_qrels("qrels")
    qrels["label"] = qrels["label"].map({0: 1, 1: -1, 2: -1})
    assert_same(found, fuse_learned(qrels, runs, fusion="logistic"))

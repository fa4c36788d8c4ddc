"""``skfilterrank fuse``: the fusion of the library, from files into one."""

import io

import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank.cli import fuse as fuse_command
from skfilterrank.cli.fuse import _GRID
from skfilterrank.io import read_qrels, read_run, write_qrels
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import RankFusion, fuse_runs
from skfilterrank.ranking._fusion_methods import FILTERED, METHODS, NORMALIZATIONS

NAMES = ("words", "links", "noise")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three runs of ten queries and judgments, in the working folder; the runs as frames."""
    monkeypatch.chdir(tmp_path)
    texts, judged = dict.fromkeys(NAMES, ""), ""
    for query in range(10):
        for document in range(8):
            label = (query * document) % 3
            scores = (
                label + (document * 7 + query) % 5 / 3,
                2 * label + (document * 5 + query) % 7,
                (document * 3 + query * query) % 11,
            )
            judged += f"{query} 0 d{document} {label}\n"
            for name, score in zip(NAMES, scores):
                if (document + query) % 4 != len(name) % 4:
                    texts[name] += f"{query} Q0 d{document} 1 {score:.4f} {name}\n"
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "qrels").write_text(judged)
    return {name: read_run(f"{name}.txt") for name in NAMES}


@pytest.fixture
def fuse(run, runs):
    """Run the command, expect that it works, and return the fused run and the messages."""

    def fuse(*arguments):
        code, out, err = run("fuse", *(f"{name}.txt" for name in NAMES), *arguments)
        assert code == 0, err
        return read_run(io.BytesIO(out.encode())) if out else None, err

    return fuse


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
    assert f"{len(found)} documents of 10 queries out of 3 runs" in err
    assert set(found["run"]) == {"fused"}


def test_into_a_file(fuse, runs):
    assert fuse("--out", "out.txt.gz", "--name", "mine", "--quiet") == (None, "")
    found = read_run("out.txt.gz")
    assert_same(found, fuse_runs(runs))
    assert set(found["run"]) == {"mine"}


@pytest.mark.parametrize("learn", ["weights", "logistic"])
def test_learned_weights(fuse, runs, learn):
    learner = {"weights": "coordinate_ascent"}.get(learn, learn)
    fusion = RankFusion(learner, measure="ap", normalize="zscore")
    found, err = fuse("--qrels", "qrels", "--learn", learn, "-m", "ap", "--normalize", "zscore")
    expected = fuse_runs(runs, fusion, qrels=read_qrels("qrels"), random_state=0)
    assert_same(found, expected)
    weights = pd.DataFrame([model["weights"] for model in expected.attrs["learned"]])
    shown = ", ".join(
        f"{name} {each.mean():.3g} ({each.min():.3g} to {each.max():.3g})"
        for name, each in weights.items()
    )
    by = "logistic regression" if learn == "logistic" else "ap"
    assert f"weights by {by}, mean of {len(weights)} models: {shown}\n" in err


def test_what_is_tried():
    """All methods but condorcet, all normalizations but max and none."""
    normalized = next(each for each in _GRID if "normalize" in each)
    tried = [name for each in _GRID for name in each["method"]]
    assert sorted(tried) == sorted(
        {*fuse_command.BY_RANKS, *fuse_command.BY_SCORES} - {"condorcet"}
    )
    assert normalized["method"] == list(fuse_command.BY_SCORES)
    assert {*normalized["normalize"]} == {*fuse_command.NORMALIZATIONS} - {"max", "none"}


SOME = [{"method": ["rrf"], "rrf_k": [1]}, {"method": ["combsum"], "normalize": ["minmax", "sum"]}]


@pytest.mark.parametrize(
    "grid",
    [pytest.param(SOME, id="some"), pytest.param(_GRID, marks=pytest.mark.nightly, id="all")],
)
def test_learned_method(fuse, runs, grid, monkeypatch):
    monkeypatch.setattr(fuse_command, "_GRID", grid)
    # Three of the queries are judged, for each of which all methods are tried on the other two.
    judged = read_qrels("qrels")
    write_qrels("some", judged[judged["qid"].isin(["1", "2", "5"])])
    found, err = fuse("--qrels", "some", "--depth", "4")
    scorer = make_ranking_scorer("ndcg_f@10")
    search = GridSearchCV(RankFusion(), grid, scoring=scorer, cv=GroupKFold(2))
    expected = fuse_runs(runs, search, qrels=read_qrels("some"), cv=3)
    assert_same(found, expected.groupby("qid", sort=False).head(4))
    assert "best by ndcg_f@10 on all judged queries: --method comb" in err


def test_gains_of_labels(fuse, runs):
    found, _ = fuse("--qrels", "qrels", "--learn", "logistic", "--gains", "0=1,1=-1,2=-1")
    qrels = read_qrels("qrels")
    qrels["label"] = qrels["label"].map({0: 1, 1: -1, 2: -1})
    assert_same(found, fuse_runs(runs, "logistic", qrels=qrels))


def test_the_choices_are_those_of_the_library():
    assert tuple(METHODS) == fuse_command.BY_RANKS + fuse_command.BY_SCORES
    assert {*fuse_command.NORMALIZATIONS} == {name or "none" for name in NORMALIZATIONS}
    assert {*FILTERED} == {"all", "majority", "any"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--qrels qrels --method rrf", "--method is what --qrels is there to learn"),
        ("--qrels qrels --learn weights --weights a=1", "--weights is what --qrels"),
        ("--qrels qrels --normalize sum", "--normalize is what --qrels"),
        ("-m ap", "--measure says how fusion is learned. Add --qrels"),
        ("--learn method", "--learn says how fusion is learned. Add --qrels"),
        ("--qrels qrels -m ap,ndcg", "--measure: fusion is learned for one, got ap, ndcg"),
        ("--qrels few", "few has judgments of 2 queries of the runs, and learning needs at"),
        ("--weights words=1", "weights must name every run and no other"),
        ("--weights words", "--weights: expected RUN=WEIGHT, got 'words'"),
        ("--rrf-k=-1", "--rrf-k must be a finite number from 0 up"),
    ],
)
def test_what_does_not_go_together(run, runs, words, message):
    with open("few", "w") as file:
        file.write("1 0 d1 1\n2 0 d1 0\n99 0 d1 1\n")
    code, out, err = run("fuse", *(f"{name}.txt" for name in NAMES), *words.split())
    assert (code, out) == (2, "")
    assert message in err

"""``skfilterrank fuse``: the fusion of the library, from files into one."""

import io

import pandas as pd
import pytest

from skfilterrank.cli import fuse as fuse_command
from skfilterrank.io import read_run
from skfilterrank.ranking import fuse_runs
from skfilterrank.ranking._fusion_methods import FILTERED, METHODS, NORMALIZATIONS

NAMES = ("words", "links", "noise")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three runs of ten queries in the working folder, and as frames."""
    monkeypatch.chdir(tmp_path)
    texts = dict.fromkeys(NAMES, "")
    for query in range(10):
        for document in range(8):
            label = (query * document) % 3
            scores = (
                label + (document * 7 + query) % 5 / 3,
                2 * label + (document * 5 + query) % 7,
                (document * 3 + query * query) % 11,
            )
            for name, score in zip(NAMES, scores):
                if (document + query) % 4 != len(name) % 4:
                    texts[name] += f"{query} Q0 d{document} 1 {score:.4f} {name}\n"
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
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
        ("--method condorcet", {"method": "condorcet"}),
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


def test_the_choices_are_those_of_the_library():
    assert tuple(METHODS) == fuse_command.BY_RANKS + fuse_command.BY_SCORES
    assert {*fuse_command.NORMALIZATIONS} == {name or "none" for name in NORMALIZATIONS}
    assert {*FILTERED} == {"all", "majority", "any"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--weights words=1", "weights must name every run and no other"),
        ("--weights words", "--weights: expected RUN=WEIGHT, got 'words'"),
        ("--rrf-k=-1", "--rrf-k must be a finite number from 0 up"),
    ],
)
def test_what_does_not_go_together(run, runs, words, message):
    code, out, err = run("fuse", *(f"{name}.txt" for name in NAMES), *words.split())
    assert (code, out) == (2, "")
    assert message in err

"""``skfilterrank fuse``: the fusion of the library, from files into one."""

import io

import pandas as pd
import pytest

from skfilterrank import cli
from skfilterrank.io import read_run
from skfilterrank.ranking import fuse_runs
from skfilterrank.ranking._fusion import METHODS

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
        ("--depth 3", {"depth": 3}),
        ("--method condorcet", {"method": "condorcet"}),
        ("--method combmnz", {"method": "combmnz"}),
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
    assert tuple(METHODS) == cli.command_parser("fuse").options()["method"][1].choices

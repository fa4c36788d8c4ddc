"""Options of ``skfilterrank judge``."""

import os
import re

import pytest

from judged_documents import BASE, WITH_RUNS, judged
from skfilterrank.cli.judge import options as judge_options
from skfilterrank.io import read_prels, read_qrels

pytestmark = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize("strategy", [s for s in judge_options.STRATEGIES if s != "sample"])
def test_every_strategy(ask, strategy):
    code, out, _ = ask(["1"] * 20, "--strategy", strategy, "--n-per-query", "2", "--only", "2,1")
    assert code == 0
    read = read_prels if strategy == "statap" else read_qrels
    assert len(read("qrels.txt")) == 4
    assert re.findall("topic (\\d)", out) == ["2", "2", "1", "1"]


def test_labels_with_names(ask):
    code, out, _ = ask(["-1", "-", "a", "0"], "--grades=-1=spam,-2,0=no,1", "--only", "1")
    assert code == 0
    assert "[-] spam [a] -2 [0] no [1] [s]kip" in out
    assert [row[2] for row in judged()] == [-1, -1, -2, 0]


def test_depth(files, ask):
    """100 places of each run by default; all on demand."""
    numbers = range(1, 121)
    lines = [f"1 Q0 x{number} {number} {-number} deep\n" for number in numbers]
    (files / "deep.run").write_text("".join(lines))
    texts = [f"x{number},some words\n" for number in numbers]
    (files / "deep.csv").write_text("".join(["docno,text\n", *texts]))
    base = ["judge", "--docs", "deep.csv", "--runs", "deep.run", "--out"]
    for place, (depth, expected) in enumerate([((), 100), (("--depth", "all"), 120)]):
        _, out, _ = ask([], *depth, base=[*base, f"deep{place}.txt"])
        assert f"document 1 of {expected};" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*BASE], "there is nothing to judge: name POOL, or runs by --runs"),
        ([*BASE, "absent.csv"], "absent.csv: No such file or directory"),
        ([*BASE, "topics.csv"], "topics.csv: no column is called docno or doc_id or"),
        ([*BASE, "docs.jsonl"], "docs.jsonl: no column is called qid or"),
        ([*BASE, "odd.txt"], "odd.txt:1: 2 columns in the first line; judgments have 4, runs 6"),
        ([*BASE, "twice.csv"], "twice.csv: document 'd1' is there a second time in topic '1'"),
        ([*BASE, "pool.csv", "--strategy", "mtc"], "--strategy mtc looks at runs"),
        ([*BASE, "pool.csv", "--runs", "a.run"], "no run returns a document of pool.csv"),
        ([*BASE, "pool.csv"], "docs.jsonl holds no text of any document of the pool"),
        ([*WITH_RUNS, "--only", "1,7"], "--only 7: the pool holds no such topic"),
        ([*WITH_RUNS, "--text", "words"], "docs.jsonl: there is no column 'words'"),
        ([*WITH_RUNS, "--out", "odd.txt"], "odd.txt is there already, but not its log"),
        ([*WITH_RUNS, "--grades", "0,0"], "argument --grades: label 0 is there twice"),
        ([*WITH_RUNS, "--grades", "no"], "argument --grades: expected a number, got 'no'"),
        (
            [*WITH_RUNS, "--n-per-query", "1.5"],
            "argument --n-per-query: expected a number above 0, up to 1",
        ),
        (
            [*WITH_RUNS, "--n-per-query", "0"],
            "argument --n-per-query: expected a whole number from 1 up",
        ),
        ([*WITH_RUNS, "--n-total", "9"], "--n-total says what a sample is for"),
        (
            [*WITH_RUNS, "--strategy", "sample", "--n-per-query", "9"],
            "give --n-total, not --n-per-query",
        ),
        ([*WITH_RUNS, "--grades", ",".join(map(str, range(40)))], "too many grades"),
    ],
)
def test_bad_arguments(ask, files, arguments, message):
    (files / "odd.txt").write_text("1 2\n")
    (files / "twice.csv").write_text("qid,docno\n1,d1\n1,d1\n")
    (files / "pool.csv").write_text("qid,docno\n1,x\n")
    before = sorted(os.listdir())
    code, out, err = ask([], base=arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*WITH_RUNS, "--unjudged-label", "1"], "--unjudged-label 1 is one of --grades"),
        (
            [*WITH_RUNS, "--strategy", "statap", "--unjudged-label=-1"],
            "--strategy statap writes probabilities",
        ),
        ([*WITH_RUNS, "--second-look", "3"], "--second-look looks at the labels of --judged"),
        ([*BASE, "--judged", "odd.txt"], "odd.txt:1: 3 columns"),
    ],
)
def test_options_that_do_not_go_together(ask, files, arguments, message):
    (files / "odd.txt").write_text("1 2 3\n")
    code, out, err = ask([], base=arguments)
    assert (code, out) == (2, "")
    assert message in err

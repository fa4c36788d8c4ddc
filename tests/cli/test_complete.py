"""``skfilterrank complete``: judgments and runs in, a table of drawn label sets out."""

import pandas as pd
import pytest

from completed_judgments import DOCS, write_files
from judged_documents import changed
from label_sets import label_sets
from skfilterrank.io import read_qrels
from skfilterrank.judgments import complete_qrels
from thinned import thinned

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning"),
]

BASE = ["complete", "qrels.txt", "a.run", "b.run", "--n-draws", "3", "--out", "out.csv"]
TEXTS = ["--docs", "docs.jsonl", "--topics", "topics.csv"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


@pytest.fixture
def complete(run, folder):
    """Run the command, expect that it works, and return the table and the messages."""

    def complete(*arguments):
        code, out, err = run(*changed(BASE, arguments))
        assert (code, out) == (0, ""), err
        return read_qrels("out.csv", unjudged_label=None, predicted="use"), err

    return complete


def _expected(qrels="qrels.txt", **params):
    params = {"n_draws": 3, "random_state": 0} | params
    return complete_qrels(qrels, ["a.run", "b.run"], **params).to_frame()


def test_the_library_gives_the_same(complete):
    found, err = complete()
    pd.testing.assert_frame_equal(found, _expected())
    assert err == "drew 3 label sets of 90 documents, learned from 60 labels\n"
    assert complete("--quiet")[1] == ""
    found, _ = complete(*TEXTS)
    topics = dict.fromkeys("123", "wing")
    with_texts = _expected(documents=DOCS, topics={q: f"wing {q}" for q in topics})
    pd.testing.assert_frame_equal(found, with_texts)
    # The file has the columns that other commands look for.
    assert label_sets("out.csv")[1].shape == (90, 3)


def test_machines_seeds_and_depth(complete, folder):
    (folder / "large.txt").write_text(
        "".join(f"{d[0]} 0 {d} {i % 2}\n" for i, d in enumerate(DOCS))
    )
    found, _ = complete("--machine-qrels", "large.txt", "--random-state", "4")
    machine = {"large": read_qrels("large.txt")}
    pd.testing.assert_frame_equal(found, _expected(machine_qrels=machine, random_state=4))
    few, _ = complete("--depth", "20")
    assert len(few) < len(found)


@pytest.mark.parametrize("ending", thinned(["jsonl", "jsonl.gz", "csv.gz"], turn=1, parts=2))
def test_other_files(run, complete, ending):
    expected, _ = complete()
    code, _, err = run(*changed(BASE, ["--out", f"out.{ending}"]))
    assert code == 0, err
    found = read_qrels(f"out.{ending}", predicted="use")
    pd.testing.assert_frame_equal(found, expected)


def test_standard_output(run, complete, folder):
    complete()
    code, out, _ = run(*changed(BASE, ["--out", "-"]))
    assert (code, out) == (0, (folder / "out.csv").read_text())


def test_gains_and_labels_that_mean_unjudged(complete, folder):
    (folder / "words.txt").write_text((folder / "qrels.txt").read_text().replace("1\n", "yes\n"))
    text = (folder / "words.txt").read_text().replace("0\n", "no\n")
    (folder / "qrels.txt").write_text(text)
    found, _ = complete("--gains", "yes=2,no=-1")
    assert set(found["label"]) == {-1, 2}
    (folder / "qrels.txt").write_text(text.replace("yes", "1").replace("no", "0") + "1 0 1-1 -1\n")
    _, err = complete()
    assert "qrels.txt holds labels below 0 (-1: 1), which are treated as forbidden" in err
    found, err = complete("--unjudged-label", "-1")
    assert "below 0" not in err
    assert set(found["label"]) == {0, 1}


def test_what_lacks_is_told(complete, folder):
    (folder / "few.csv").write_text("docno,text\n1-0,wing\n1-1,heat\nx,other\n")
    _, err = complete("--docs", "few.csv")
    assert "148 documents without a text in few.csv" in err
    assert "no run returns" not in err


def test_columns_by_name_and_joined(complete, folder):
    expected, _ = complete(*TEXTS)
    title, body = zip(*(text.split(" ", 1) for text in DOCS.values()))
    pd.DataFrame({"docno": list(DOCS), "head": title, "rest": body}).to_csv("d.csv", index=False)
    found, _ = complete("--docs", "d.csv", "--topics", "topics.csv", "--text", "head,rest")
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--n-draws", "1"], "n-draws"),
        (["--topics", "topics.csv"], "--topics are compared with --docs: pass --docs"),
        (["--docs", "far.csv"], "error: --docs has nothing for docno of the runs"),
        (["--docs", "twice.csv"], "twice.csv:3: the document '1-1' occurs twice"),
        (["--docs", "bad.jsonl"], "bad.jsonl:2: it is not JSON"),
        (["--docs", "docs.xml"], "docs.xml:1: the format of the file is unknown"),
        (["--docs", "void.csv"], "void.csv:2: the line holds no id in column"),
        (["--machine-qrels", "far.txt"], "--machine-qrels has no label by far"),
        (["--gains", "exp2"], "--gains exp2 is for measures"),
        (["--gains", "1=1"], "--gains has no gain for labels of qrels.txt: '0'"),
        (["--out", "no/out.csv"], "there is no folder no"),
    ],
)
def test_errors(run, folder, arguments, message):
    (folder / "far.csv").write_text("docno,text\nQ1,wing\n")
    (folder / "far.txt").write_text("1 0 Q1 1\n")
    (folder / "twice.csv").write_text("docno,text\n1-1,wing\n1-1,lift\n")
    (folder / "void.csv").write_text("docno,text\n,wing\n")
    (folder / "bad.jsonl").write_text('{"docno": "w1", "text": "wing"}\n{"docno"\n')
    (folder / "docs.xml").write_text("<doc/>")
    code, out, err = run(*changed(BASE, arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert not (folder / "out.csv").exists()

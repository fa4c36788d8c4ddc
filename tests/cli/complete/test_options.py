"""Options of ``skfilterrank complete``."""

import pandas as pd
import pytest

from completed_judgments import DOCS

pytestmark = pytest.mark.slow


def test_soft_labels(complete):
    lines, err = complete("--unjudged-label=-1", "--labels", "soft")
    labels = {tuple(line.split()[::2][:2]): float(line.split()[3]) for line in lines}
    soft = [float(line.split()[3]) for line in lines if line.split()[:3:2] in (["1", "w3"],)]
    assert len(labels) == 10
    assert 1 < soft[0] < 2
    assert len(str(soft[0])) <= 6
    assert "predicted 2 labels of 10, " in err
    assert "too few judged documents to calibrate chances" in err


def test_topics_without_a_model(complete):
    for default in ((), ("--one-class", "leave")):
        lines, err = complete("--unjudged-label=-1", *default)
        assert "2 0 h2 -1" in lines
        assert "judged labels all 1 (left unjudged): 2" in err
    lines, err = complete("--unjudged-label=-1", "--one-class", "pool", "--unjudged-topic", "pool")
    assert "3 predicted w1 2" in lines
    assert "no judged document (model of all topics): 3" in err
    assert "2 predicted h2 1" in complete("--unjudged-label=-1", "--one-class", "copy")[0]


def test_columns_by_name_and_joined(complete, folder):
    expected = complete("--unjudged-label=-1")[0]
    title = [text.split()[0] for text in DOCS.values() if text.strip()] + [""]
    body = [" ".join(text.split()[1:]) for text in DOCS.values()]
    pd.DataFrame({"key": list(DOCS), "title": title, "body": body}).to_csv("d.csv", index=False)
    arguments = ["--unjudged-label=-1", "--document", "key", "--text", "title,body"]
    assert complete(*arguments, docs="d.csv")[0] == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no document is unjudged: name the label that marks those"),
        (["--depth", "3"], "--depth says how much of the runs counts: give --runs"),
        (["--runs", "no.run"], "no.run: No such file or directory"),
        (
            ["--runs", "other.run"],
            "the runs have no topic of the judgments: they have such as '99'",
        ),
        (["--unjudged-label=-1", "--text", "body"], "docs.jsonl: there is no column 'body'"),
        (["--unjudged-label=-1", "--docs", "far.csv"], "no document of the pool has a text in"),
        (["--unjudged-label=-1", "--docs", "h2.csv"], "no judged document has a text in doc"),
        (
            ["--unjudged-label=-1", "--docs", "twice.csv"],
            "twice.csv:3: the document 'w1' is there a second time",
        ),
        (["--unjudged-label=-1", "--docs", "bad.jsonl"], "bad.jsonl:2: it is not JSON"),
        (
            ["--unjudged-label=-1", "--docs", "docs.xml"],
            "docs.xml:1: the form of the file cannot be told: it is none of JSON",
        ),
        (["--unjudged-label=-1", "--docs", "void.csv"], "void.csv:2: the document is no id in"),
        (["--out", "no/out.txt"], "there is no folder no"),
    ],
)
def test_errors(run, folder, arguments, message):
    (folder / "other.run").write_text("99 Q0 w1 1 1 c\n")
    (folder / "far.csv").write_text("docno,text\nQ1,wing\n")
    (folder / "h2.csv").write_text("docno,text\nh2,wing\n")
    (folder / "twice.csv").write_text("docno,text\nw1,wing\nw1,lift\n")
    (folder / "void.csv").write_text("docno,text\n,wing\n")
    (folder / "bad.jsonl").write_text('{"docno": "w1", "text": "wing"}\n{"docno"\n')
    (folder / "docs.xml").write_text("<doc/>")
    code, out, err = run(
        "complete", "qrels.txt", "--docs", "docs.jsonl", "--out", "out.txt", *arguments
    )
    assert (code, out) == (2, "")
    assert message in err
    assert not (folder / "out.txt").exists()


def test_an_error_in_labels_names_the_option(run, folder):
    (folder / "nan.txt").write_text("1 0 w1 1\n1 0 w2 nan\n")
    code, _, err = run("complete", "nan.txt", "--docs", "docs.jsonl", "--out", "out.txt")
    assert code == 2
    assert "nan.txt:2" in err
    assert "name it as the unjudged label." in err
    assert "unjudged=" not in err

"""``skfilterrank complete``: judgments in, completed judgments out."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from completed_judgments import DOCS, ENOUGH, write_files
from judged_documents import changed
from skfilterrank.io import read_qrels
from skfilterrank.judgments import LabelPredictor

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("default:the judged documents stand no higher"),
]

UNJUDGED = ["--unjudged-label", "-1"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


@pytest.fixture
def complete(run, folder):
    """Run the command, expect that it works, and return the judgments and the messages."""

    def complete(*arguments, docs="docs.jsonl"):
        code, out, err = run(
            "complete", "qrels.txt", "--docs", docs, "--out", "out.txt", *arguments
        )
        assert (code, out) == (0, ""), err
        return (folder / "out.txt").read_text().splitlines(), err

    return complete


JUDGED = ["1 0 w1 2", "1 0 w2 2", "1 0 h1 0", "1 0 x 0"]


def test_unjudged_rows_of_the_judgments(complete):
    lines, err = complete(*UNJUDGED)
    assert lines == [
        *JUDGED, "1 predicted w3 2", "1 predicted h2 0", "1 0 y -1", "2 0 h1 1",
        "2 0 h2 -1", "3 0 w1 -1", *ENOUGH,
    ]  # fmt: skip
    assert err.splitlines() == [
        "predicted 2 labels of 18: 0: 1, 2: 1",
        "of 1 document predicted relevant 69 % are expected to be; column 2 marks them",
        "1 query with judged labels all 1 (left unjudged): 2",
        "1 query with no judged document (left unjudged): 3",
        "2 documents without text in docs.jsonl (2 rows: 1 judged, not learned from; the others "
        "left unjudged): x, y",
    ]
    assert complete(*UNJUDGED, "--quiet") == (lines, "")


def test_documents_of_runs(complete, folder):
    (folder / "qrels.txt").write_text("\n".join([*JUDGED, "2 0 h1 1", *ENOUGH, ""]))
    lines, err = complete("a.run", "b.run")
    assert lines == [
        *JUDGED, "1 predicted h3 0", "1 predicted w4 2", "2 0 h1 1", *ENOUGH,
    ]  # fmt: skip

    assert "1 query of the runs without judgments: left out" in err
    assert "below 0" not in err
    assert err.endswith("the others left unjudged): x, z\n")
    # Two documents deep, z is not in the pool; one deep, w4 still is.
    assert "w4" in " ".join(complete("a.run", "--depth", "1")[0])
    assert complete("a.run", "--depth", "2")[1].endswith("the others left unjudged): x\n")


def test_labels_below_zero_are_told(complete):
    lines, err = complete("a.run")
    assert "5 labels below 0, forbidden documents; where they mean unjudged" in err
    assert "1 0 w3 -1" in lines


def test_one_label_for_all(complete, folder):
    (folder / "qrels.txt").write_text(
        "\n".join(["1 0 w1 0", "1 0 h1 0", "2 0 w1 1", "2 0 w2 1", *ENOUGH])
    )
    _, err = complete("b.run")
    assert "1 query with judged labels all 0 (left unjudged): 1" in err


def test_standard_output(run, complete):
    lines, _ = complete(*UNJUDGED)
    code, out, _ = run(
        "complete",
        "qrels.txt",
        "--docs",
        "docs.jsonl",
        "--out",
        "-",
        "--unjudged-label",
        "-1",
    )
    assert (code, out.splitlines()) == (0, lines)


def test_the_library_gives_the_same(run, tmp_path, data_dir):
    folder = data_dir / "cranfield"
    qrels = read_qrels(folder / "qrels.txt", unjudged_label=None)
    # Judged not relevant are the relevant documents of another query.
    others = qrels.query("label > 0 and qid == '8'").assign(qid="1", label=0)
    qrels = pd.concat([qrels.query("label > 0 and qid in ['1', '2', '3', '4']"), others])
    qrels = qrels.drop_duplicates(["qid", "docno"]).sort_values("qid", kind="stable")
    hidden = qrels.groupby("qid").cumcount() % 3 == 2
    given = qrels.assign(label=np.where(hidden, -1, qrels["label"]))
    path, out = tmp_path / "qrels.txt", tmp_path / "out.txt"
    given.assign(it=0)[["qid", "it", "docno", "label"]].to_csv(
        path, sep=" ", header=False, index=False
    )
    code, _, err = run(
        "complete",
        path,
        "--docs",
        folder / "docs.jsonl.gz",
        "--text",
        "text",
        "--out",
        out,
        "--unjudged-label",
        "-1",
    )
    assert code == 0, err
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        docs = pd.DataFrame(map(json.loads, file)).set_index("docid")["text"]
    T = qrels.assign(text=docs.loc[qrels["docno"]].to_numpy(), label=qrels["label"].where(~hidden))
    expected = LabelPredictor(one_class="leave").fit_transform(T["text"], T["label"], T["qid"])
    found = read_qrels(out, predicted="use")
    is_left = expected.isna().to_numpy()
    assert (found["judged_by"] == "predicted").tolist() == (hidden.to_numpy() & ~is_left).tolist()
    assert found["label"].tolist() == expected.fillna(-1).tolist()


def test_labels_of_machines_are_predicted_anew(complete, folder):
    first, _ = complete(*UNJUDGED)
    (folder / "qrels.txt").write_text("\n".join(first))
    again, err = complete(*UNJUDGED)
    assert again == first
    assert "qrels.txt: 2 labels of machines, not learned from and predicted anew" in err


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_other_commands_know_the_labels_for_predicted(run, complete, folder):
    complete(*UNJUDGED)
    arguments = ("evaluate", "out.txt", "a.run", "-m", "ap", *UNJUDGED)
    code, _, err = run(*arguments)
    assert code == 0
    assert "machines gave 2 (predicted: 2)" in err
    assert "machines" not in run(*arguments, "--unjudged-label", "-1", "--predicted", "drop")[2]


def test_topics_without_a_model(complete):
    lines, err = complete(*UNJUDGED)
    assert "2 0 h2 -1" in lines
    assert "judged labels all 1 (left unjudged): 2" in err


def test_columns_by_name_and_joined(complete, folder):
    expected = complete(*UNJUDGED)[0]
    title = [text.split()[0] if text.strip() else "" for text in DOCS.values()]
    body = [" ".join(text.split()[1:]) for text in DOCS.values()]
    pd.DataFrame({"docno": list(DOCS), "title": title, "body": body}).to_csv("d.csv", index=False)
    arguments = [*UNJUDGED, "--text", "title,body"]
    assert complete(*arguments, docs="d.csv")[0] == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no document is unjudged: name the label that means unjudged"),
        (
            ["--depth", "3"],
            "--depth limits how many documents of each run count. Name runs after QRELS",
        ),
        (["no.run"], "no.run: No such file or directory"),
        (
            ["other.run"],
            "the runs have no query of the judgments: the runs have queries such as '99'",
        ),
        (
            [*UNJUDGED, "--text", "body"],
            "docs.jsonl: there is no column 'body'",
        ),
        (
            [*UNJUDGED, "--docs", "far.csv"],
            "no document of the pool has a text in",
        ),
        (
            [*UNJUDGED, "--docs", "h2.csv"],
            "0 relevant and 1 other judged documents with a text, but 5 of each are needed to "
            "predict labels. Judge more documents, which 'skfilterrank select' chooses, or "
            "evaluate with 'drop' for unjudged documents.",
        ),
        (
            [*UNJUDGED, "--docs", "twice.csv"],
            "twice.csv:3: the document 'w1' occurs twice",
        ),
        (
            [*UNJUDGED, "--docs", "bad.jsonl"],
            "bad.jsonl:2: it is not JSON",
        ),
        (
            [*UNJUDGED, "--docs", "docs.xml"],
            "docs.xml:1: the format of the file is unknown: it is not JSON",
        ),
        (
            [*UNJUDGED, "--docs", "void.csv"],
            "void.csv:2: the line holds no id in column",
        ),
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
    base = ["complete", "qrels.txt", "--docs", "docs.jsonl", "--out", "out.txt"]
    code, out, err = run(*changed(base, arguments))
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

"""``skfilterrank complete``: judgments in, completed judgments out."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

from skfilterrank.io import read_qrels
from skfilterrank.judgments import LabelPredictor

pytestmark = pytest.mark.slow

JUDGED = ["1 0 w1 2", "1 0 w2 2", "1 0 h1 0", "1 0 x 0"]


def test_unjudged_rows_of_the_judgments(complete):
    lines, err = complete("--unjudged-label=-1")
    assert lines == [
        *JUDGED, "1 predicted w3 2", "1 predicted h2 0", "1 0 y -1", "2 0 h1 1",
        "2 0 h2 -1", "3 0 w1 -1",
    ]  # fmt: skip
    assert err.splitlines() == [
        "predicted 2 labels of 10: 0: 1, 2: 1",
        "warning: of 1 document predicted relevant nothing says how many are: too few are "
        "judged; column 2 marks them",
        "1 topic with judged labels all 1 (left unjudged): 2",
        "1 topic with no judged document (left unjudged): 3",
        "2 documents without text in docs.jsonl (2 rows: 1 judged, not learned from; the others "
        "left unjudged): x, y",
    ]
    assert complete("--unjudged-label=-1", "--quiet") == (lines, "")


def test_documents_of_runs(complete, folder):
    (folder / "qrels.txt").write_text("\n".join([*JUDGED, "2 0 h1 1", ""]))
    lines, err = complete("--runs", "a.run", "b.run", "--list-missing", "missing.txt")
    assert lines == [
        *JUDGED, "1 predicted h3 0", "1 predicted w4 2", "2 0 h1 1",
    ]  # fmt: skip

    assert "1 topic of the runs without judgments: left out" in err
    assert "below 0" not in err
    assert (folder / "missing.txt").read_text() == "1 x\n1 z\n"
    # Two documents deep, z is not in the pool; one deep, w4 still is.
    assert "w4" in " ".join(complete("--runs", "a.run", "--depth", "1")[0])
    complete("--runs", "a.run", "--depth", "2", "--list-missing", "missing.txt")
    assert (folder / "missing.txt").read_text() == "1 x\n"


def test_labels_below_zero_are_told(complete):
    lines, err = complete("--runs", "a.run")
    assert "5 labels below 0, forbidden documents; where they mean unjudged" in err
    assert "1 0 w3 -1" in lines


def test_topics_that_only_runs_have(complete):
    lines, err = complete("--runs", "a.run", "--unjudged-label=-1", "--unjudged-topic", "pool")
    assert "7 predicted w1 2" in lines
    assert "left out" not in err
    assert "2 topics with no judged document (model of all topics): 3, 7" in err


def test_one_label_for_all(complete, folder):
    (folder / "qrels.txt").write_text("1 0 w1 0\n1 0 h1 0\n")
    lines, err = complete("--runs", "b.run", "--one-class", "copy")
    assert "1 predicted w4 0" in lines
    assert "warning: all judged labels are 0, which tells no document from another" in err


def test_standard_output(run, complete):
    lines, _ = complete("--unjudged-label=-1")
    code, out, _ = run(
        "complete", "qrels.txt", "--docs", "docs.jsonl", "--out", "-", "--unjudged-label=-1"
    )
    assert (code, out.splitlines()) == (0, lines)


def test_the_library_gives_the_same(run, tmp_path, data_dir):
    folder = data_dir / "cranfield"
    qrels = read_qrels(folder / "qrels.txt", unjudged_label=None)
    qrels = qrels.query("label > 0 and qid in ['1', '2', '3', '4']")
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
        "--unjudged-label=-1",
        "--one-class",
        "copy",
    )
    assert code == 0, err
    with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as file:
        docs = pd.DataFrame(map(json.loads, file)).set_index("docid")["text"]
    T = qrels.assign(text=docs.loc[qrels["docno"]].to_numpy(), label=qrels["label"].where(~hidden))
    expected = LabelPredictor(one_class="copy").fit_transform(T)
    found = read_qrels(out, predicted="use")
    assert (found["judged_by"] == "predicted").tolist() == hidden.tolist()
    assert found["label"].tolist() == expected["label"].tolist()


def test_labels_of_machines_are_predicted_anew(complete, folder):
    first, _ = complete("--unjudged-label=-1")
    (folder / "qrels.txt").write_text("\n".join(first))
    again, err = complete("--unjudged-label=-1")
    assert again == first
    assert "qrels.txt: 2 labels of machines, not learned from and predicted anew" in err


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
def test_other_commands_know_the_labels_for_predicted(run, complete, folder):
    complete("--unjudged-label=-1")
    arguments = ("evaluate", "out.txt", "a.run", "-m", "ap", "--unjudged-label=-1")
    code, _, err = run(*arguments)
    assert code == 0
    assert "machines gave 2 (predicted: 2)" in err
    assert "machines" not in run(*arguments, "--predicted", "drop")[2]

"""Runs written into a folder: what is there, and what leaves nothing behind."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli import main
from skfilterrank.exceptions import FileFormatError, InputError, InputTypeError, MissingPackageError
from skfilterrank.io import read_runs, write_runs
from skfilterrank.trec import evaluate_runs

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
QRELS = pd.DataFrame(
    {
        "qid": ["1", "1", "1", "10", "2", "2", "9"],
        "docno": ["b", "aa", "zz", "b", "é", "a", "a"],
        "label": [1, 2, -1, 1, 2, 0, 1],
    }
)


# Ties, topics out of order and apart, one without judgments, filtered rows, ids beyond ASCII.
RUNS = {
    "first": "2 Q0 a 1 3.5 tag\n2 Q0 é 2 3.5 tag\n10 Q0 b 1 1 tag\n1 Q0 aa 1 0.5 tag\n"
    "1 Q0 c 2 0.5 tag\n1 Q0 b 3 0.5 tag\n1 Q0 zz 4 -inf tag\n7 Q0 a 1 1 tag\n",
    "second": "1 Q0 b 1 1.00000001 x\n2 Q0 a 1 0.1 y\n1 Q0 zz 2 1.00000002 x\n1 Q0 aa 9 1 x\n",
}


@pytest.fixture
def texts(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    for name, text in RUNS.items():
        with gzip.open(folder / f"{name}.txt.gz", "wt", encoding="utf-8") as file:
            file.write(text)
    return [folder / f"{name}.txt.gz" for name in RUNS]


@pytest.fixture
def folder(tmp_path, texts):
    path = tmp_path / "runs.parquet"
    counts = write_runs(path, texts)
    assert (counts.runs, counts.rows, counts.documents) == (2, 12, 6)
    return path


def test_what_is_in_the_files(folder):
    assert sorted(os.listdir(folder)) == ["documents.parquet", "runs.parquet"]
    documents = pd.read_parquet(folder / "documents.parquet")["docno"].tolist()
    assert documents == ["a", "aa", "b", "c", "zz", "é"]
    table = pd.read_parquet(folder / "runs.parquet")
    assert list(table) == ["run", "qid", "document", "score"]
    second = table[table["run"] == "second"]
    assert second["qid"].astype(str).tolist() == ["1", "2", "1", "1"]
    assert second["document"].tolist() == [2, 0, 4, 1]
    assert second["score"].tolist() == [1.00000001, 0.1, 1.00000002, 1.0]


@pytest.mark.slow
def test_documents_of_several_batches_and_row_groups(tmp_path, monkeypatch):
    from skfilterrank.io import _write_runs

    monkeypatch.setattr(_write_runs, "_BATCH_ROWS", 4)
    monkeypatch.setattr(_write_runs, "_GROUP_ROWS", 3)
    rng = np.random.default_rng(0)
    frames = {}
    for name in "abcdef":
        docnos = [f"d{i}" for i in rng.permutation(40)[:7]]
        qids = np.where(np.arange(7) < 4, name, "all")
        frames[name] = pd.DataFrame({"qid": qids, "docno": docnos, "score": rng.random(7)})
    counts = write_runs(tmp_path / "runs", frames)
    documents = sorted(set(pd.concat(frames.values())["docno"]))
    assert (counts.rows, counts.documents) == (42, len(documents))
    stored = pd.read_parquet(tmp_path / "runs" / "documents.parquet")
    assert stored["docno"].tolist() == documents
    for name, frame in read_runs(tmp_path / "runs").items():
        pd.testing.assert_frame_equal(frame, frames[name].astype({"qid": "str", "docno": "str"}))
    qrels = pd.DataFrame({"qid": "all", "docno": documents[::2], "label": 1})
    pd.testing.assert_frame_equal(
        evaluate_runs(qrels, tmp_path / "runs", ["ap", "rr"]),
        evaluate_runs(qrels, frames, ["ap", "rr"]),
        check_exact=True,
    )


def test_nothing_is_replaced_and_nothing_left_behind(folder, texts, tmp_path):
    before = sorted(os.listdir(tmp_path))
    for path in (folder, texts[0]):
        with pytest.raises(InputError, match="is there already: remove it first"):
            write_runs(path, texts)
    texts[1].write_text("1 Q0 a 1\n")
    with pytest.raises(FileFormatError, match="4 columns where a run has 6") as error:
        write_runs(tmp_path / "new", texts)
    assert "This came up with the run 'second'." in error.value.__notes__
    with pytest.raises(FileNotFoundError):
        write_runs(tmp_path / "no" / "new", texts[:1])
    assert sorted(os.listdir(tmp_path)) == before
    with pytest.raises(InputTypeError, match=r"call write_runs\(path, runs\)"):
        write_runs(texts, folder)


def test_without_pyarrow(tmp_path, texts, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match=r"writing .*new needs pyarrow"):
        write_runs(tmp_path / "new", texts)


@pytest.mark.slow
def test_the_command(tmp_path, texts, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    QRELS.to_csv("qrels.csv", index=False)
    assert main(["convert", *map(str, texts), "--out", "new/"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err == "2 runs, 12 rows and 6 documents: new; ranks are left out\n"
    options = ["-m", "ap,ndcg_f@3", "--holes", "unjudged-label=none", "--format", "csv"]
    for jobs in ([], ["--n-jobs", "2"]):
        assert main(["evaluate", "qrels.csv", "new", *options, *jobs]) == 0
    assert main(["evaluate", "qrels.csv", *map(str, texts), *options]) == 0
    found = capsys.readouterr().out
    third = len(found) // 3
    assert found[:third] == found[third : 2 * third] == found[2 * third :]
    assert main(["convert", str(texts[0]), "new", "--out", "both"]) == 0
    assert list(read_runs("both")) == [str(texts[0]), "new/first", "second"]
    with pytest.raises(SystemExit, match="2"):
        main(["convert", str(texts[0]), "--out", "new"])
    assert "new is a folder already; remove it first" in capsys.readouterr().err

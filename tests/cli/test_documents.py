"""Texts of documents and queries, from any table."""

import json

import pandas as pd
import pytest

from completed_judgments import DOCS, write_files

pytestmark = pytest.mark.slow


@pytest.fixture
def complete(run, tmp_path, monkeypatch):
    """Complete judgments by the texts of a file."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)

    def complete(docs, *arguments):
        arguments = ["--docs", docs, "--unjudged-label", "-1", "--out", "-", *arguments]
        return run("complete", "qrels.txt", *arguments)

    return complete


@pytest.mark.parametrize("name", ["docs.csv", "docs.tsv.gz", "docs.parquet", "docs.jsonl.gz"])
def test_formats_of_documents(complete, name):
    expected = complete("docs.jsonl")[:2]
    table = pd.DataFrame({"doc_id": list(DOCS), "contents": list(DOCS.values())})
    if "csv" in name or "tsv" in name:
        table.to_csv(name, index=False, sep="\t" if "tsv" in name else ",")
    elif "parquet" in name:
        table.to_parquet(name, index=False)
    else:
        table.to_json(name, orient="records", lines=True)
    assert expected[1].count("predicted") == 2
    assert complete(name)[:2] == expected


def test_texts_without_a_word(complete, tmp_path):
    docs = DOCS | {"h2": ". .", "h1": "!"}
    lines = [json.dumps({"docno": docno, "text": text}) for docno, text in docs.items()]
    (tmp_path / "few.jsonl").write_text("\n".join(lines))
    _, _, err = complete("few.jsonl")
    # h2 in query 1; h1 is judged, and query 2 is left out.
    assert "1 text without a word to go by: labelled by the model's default" in err


def test_documents_without_a_row(complete, tmp_path):
    (tmp_path / "head.csv").write_text("docno,text\n")
    code, _, err = complete("head.csv")
    assert code == 2
    assert "head.csv holds no document" in err

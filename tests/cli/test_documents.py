"""Texts of documents and queries, from any table."""

import pandas as pd
import pytest

from completed_judgments import DOCS, write_files
from thinned import thinned

pytestmark = pytest.mark.slow


@pytest.fixture
def complete(run, tmp_path, monkeypatch):
    """Complete judgments by the texts of a file."""
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)

    def complete(docs):
        how = ["--n-draws", "2", "--docs", docs, "--out", "-"]
        return run("complete", "qrels.txt", "a.run", "b.run", *how)

    return complete


@pytest.mark.parametrize(
    "name", thinned(["docs.tsv.gz", "docs.csv", "docs.jsonl.gz", "docs.parquet"])
)
def test_formats_of_documents(complete, name):
    expected = complete("docs.jsonl")[:2]
    table = pd.DataFrame({"doc_id": list(DOCS), "contents": list(DOCS.values())})
    if "csv" in name or "tsv" in name:
        table.to_csv(name, index=False, sep="\t" if "tsv" in name else ",")
    elif "parquet" in name:
        table.to_parquet(name, index=False)
    else:
        table.to_json(name, orient="records", lines=True)
    assert expected[1].count("drawn") == 180
    assert complete(name)[:2] == expected


def test_documents_without_a_row(complete, tmp_path):
    (tmp_path / "head.csv").write_text("docno,text\n")
    code, _, err = complete("head.csv")
    assert code == 2
    assert "documents is empty" in err

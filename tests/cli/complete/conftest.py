import pytest

from completed_judgments import write_files


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

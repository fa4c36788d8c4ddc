import pytest

from compared_runs import QRELS, RUNS


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments and runs in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    for name, text in RUNS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def compare(run, files):
    """Run the command without messages, expect that it works, and return its output."""

    def compare(*arguments, runs=RUNS, measures=("rr",)):
        named = [word for name in measures for word in ("-m", name)]
        code, out, err = run("compare", "qrels", *runs, *named, "--quiet", *arguments)
        assert (code, err) == (0, "")
        return out

    return compare

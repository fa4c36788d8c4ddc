import gzip

import pytest

from evaluated_runs import BEST, GOOD, MEASURES, QRELS, RUNS


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments and runs in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "good.txt").write_text(GOOD)
    (tmp_path / "best.gz").write_bytes(gzip.compress(BEST.encode()))
    (tmp_path / "short.run").write_text("2 Q0 a 1 1 short\n")
    return tmp_path


@pytest.fixture
def evaluate(run, files):
    """Run the command without messages, expect that it works, and return its output."""

    def evaluate(*arguments, runs=RUNS, measures=MEASURES):
        named = [word for name in measures for word in ("-m", name)]
        code, out, err = run("evaluate", "qrels.txt", *runs, *named, "--quiet", *arguments)
        assert (code, err) == (0, "")
        return out

    return evaluate

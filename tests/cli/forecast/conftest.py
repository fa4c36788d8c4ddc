import pytest

from forecast_runs import LISTS
from skfilterrank.io import read_run


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Runs in the working folder, and as frames."""
    monkeypatch.chdir(tmp_path)
    for name, lists in LISTS.items():
        lines = [
            f"{topic} Q0 {docno} {rank} {9 - rank} {name}\n"
            for topic, docnos in enumerate(lists, start=1)
            for rank, docno in enumerate(docnos, start=1)
        ]
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    return {name: read_run(f"{name}.txt") for name in LISTS}


@pytest.fixture
def forecast(run, runs):
    """Run the command, expect that it works, and return its output and messages."""

    def forecast(*arguments):
        code, out, err = run("forecast", *(f"{name}.txt" for name in LISTS), *arguments)
        assert code == 0, err
        return out, err

    return forecast

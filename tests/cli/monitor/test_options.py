"""Options of ``skfilterrank monitor``."""

from pathlib import Path

import pytest

from skfilterrank.thresholds import RiskMonitor

# The filter hides nothing.
pytestmark = pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")


@pytest.fixture
def look(run, tmp_path, monkeypatch):
    """Look at ten topics with a filter that promises that few lists are empty."""
    monkeypatch.chdir(tmp_path)
    for name, topics in {"old": range(40), "new": range(40, 50)}.items():
        Path(f"{name}.run").write_text("".join(f"{topic} Q0 a 1 1 x\n" for topic in topics))
        Path(f"{name}.qrels").write_text("".join(f"{topic} 0 a 1\n" for topic in topics))
    made = ["--risk", "empty_list_rate=0.4", "--save", "f.json"]
    assert run("threshold", "old.qrels", "old.run", *made)[0] == 0
    return lambda *arguments: run("monitor", "f.json", "--run", "new.run", *arguments)


@pytest.mark.slow
def test_alpha(look):
    assert look("--qrels", "new.qrels")[0] == 0
    assert RiskMonitor.load("f.monitor.json").alpha == 0.05
    assert look("--qrels", "new.qrels", "--state", "s.json", "--alpha", "0.2")[0] == 0
    assert RiskMonitor.load("s.json").alpha == 0.2
    # What the state was begun with may be said again, or left out.
    for words in ([], ["--alpha", "0.2"]):
        more = ["--state", "s.json", "--allow-repeats", *words]
        assert look("--qrels", "new.qrels", *more)[0] == 0
    assert RiskMonitor.load("s.json").status.rates["n_queries"].tolist() == [30]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--alpha 2 --qrels new.qrels", "--alpha: expected a number between 0 and 1, got '2'"),
        ("--alpha 0.1", "--alpha is for judged topics: name their judgments by --qrels"),
        ("--state s.json", "--state is for judged topics: name their judgments by --qrels"),
        ("--allow-repeats", "--allow-repeats is for judged topics: name their judgments by"),
        ("--qrels new.qrels --gains=0=0,1=1", "leave out --gains"),
        ("--qrels absent", "absent: No such file or directory"),
        ("--qrels new.qrels --format trec", "invalid choice: 'trec'"),
    ],
)
def test_what_does_not_go_together(look, words, message):
    code, out, err = look(*words.split())
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(Path().glob("*.monitor.json"))


@pytest.mark.slow
@pytest.mark.parametrize(("words", "missing"), [("--missing drop", 10), ("--missing empty", 20)])
def test_topics_that_the_run_lacks(look, words, missing):
    Path("more.qrels").write_text(
        Path("new.qrels").read_text() + "".join(f"{topic} 0 a 1\n" for topic in range(50, 60))
    )
    code, _, err = look("--qrels", "more.qrels", *words.split(), "--alpha", "0.001")
    assert code in (0, 1)
    assert "new.run lacks 10 judged topics" in err
    assert RiskMonitor.load("f.monitor.json").status.rates["n_queries"].tolist() == [missing]

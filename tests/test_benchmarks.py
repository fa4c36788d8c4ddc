"""The index of the benchmarks names all of them, and reports say what made them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

pytestmark = pytest.mark.skipif(
    not BENCHMARKS.is_dir(), reason="the benchmarks are no part of what is released"
)


@pytest.fixture
def make(monkeypatch):
    """Import a file of the folder, of which some are named as files elsewhere."""

    def make(name):
        monkeypatch.syspath_prepend(str(BENCHMARKS))
        monkeypatch.delitem(sys.modules, name, raising=False)
        return __import__(name)

    yield make
    sys.modules.pop("make_index", None)
    sys.modules.pop("_common", None)


def test_the_index_is_that_of_the_folder(make):
    index = make("make_index")
    page = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert page == index.page(), "run python benchmarks/make_index.py"


def test_every_result_is_in_the_index_once():
    page = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(results/(.*?)\)", page)
    assert sorted(linked) == sorted(path.name for path in (BENCHMARKS / "results").iterdir())


def _git(*words):
    return subprocess.run(
        ["git", "-C", BENCHMARKS, *words], capture_output=True, text=True, check=False
    )


def test_the_commits_of_results_are_in_the_history():
    if _git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("no whole history")
    pages = (BENCHMARKS / "results").glob("*.md")
    named = {
        commit: path.name
        for path in pages
        for commit in re.findall(r"Commit: (?:the one before )?([0-9a-f]{7,})", path.read_text())
    }
    assert len(named) > 20
    lost = {
        commit: name
        for commit, name in named.items()
        if _git("merge-base", "--is-ancestor", commit, "HEAD").returncode
    }
    assert not lost


def test_a_report_says_what_made_it(make, tmp_path, monkeypatch, capsys):
    common = make("_common")
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    folder = ["--data", "/somebody/s folder", "--cache=other"]
    monkeypatch.setattr(sys, "argv", ["/x/streams.py", "--rows", "10", *folder, "--quick"])
    common.write_report("streams", "Streams", "text")
    title, made, text = (tmp_path / "streams.md").read_text().strip().split("\n\n")
    assert (title, text) == ("# Streams", "text")
    assert made.startswith("Command: `python benchmarks/streams.py --rows 10 --quick`. Commit: ")
    assert re.search(r"Commit: \S+\. Date: \d{4}-\d\d-\d\d\. Machine: .*numpy \d", made)

    def no_git(*args, **kwargs):
        raise OSError("no git")

    monkeypatch.setattr(subprocess, "run", no_git)
    assert "Commit: unknown." in common.provenance()

"""What commands import, and what they do without."""

import importlib
import json
import subprocess
import sys

import pytest

from thinned import thinned

pytestmark = pytest.mark.slow

PROGRAM = """
import contextlib, io, json, sys
from skfilterrank.cli import main

def said(*words):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(list(words))
    return out.getvalue(), sorted(name for name in sys.modules if name in ASKED)

ASKED = {"numpy", "pandas", "sklearn", "scipy", "lightgbm", "skfilterrank.ranking"}
print(json.dumps([said(*words.split()) for words in sys.argv[1:]]))
"""
ASKED = ["evaluate --help", "compare --help"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments and two runs in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 b 0\n3 0 a 1\n")
    (tmp_path / "one").write_text("1 Q0 a 1 2 x\n2 Q0 b 1 2 x\n2 Q0 a 2 1 x\n3 Q0 a 1 1 x\n")
    (tmp_path / "two").write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n2 Q0 a 1 1 x\n3 Q0 a 1 1 x\n")


@pytest.fixture
def anew():
    """The package is imported anew, as in a process of its own."""
    before = ours()
    for name in before:
        del sys.modules[name]
    yield
    for name in ours():
        del sys.modules[name]
    sys.modules.update(before)


def ours():
    """The package's modules that are imported."""
    return {
        name: module
        for name, module in sys.modules.items()
        if name.partition(".")[0] == "skfilterrank"
    }


@pytest.fixture(scope="module")
def answers():
    """Output and imports of commands, one after the other in a process of their own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *ASKED], capture_output=True, text=True, check=True
    )
    return dict(zip(["evaluate", "compare"], json.loads(done.stdout)))


@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_help_waits_for_nothing(answers, command):
    out, imported = answers[command]
    assert out.startswith(f"usage: skfilterrank {command} ")
    assert imported == []
    assert max(map(len, out.splitlines())) <= 110


def test_without_a_report_nothing_is_drawn(run, files, monkeypatch):
    for name in list(sys.modules):
        if name.partition(".")[0] == "matplotlib" or name.startswith("skfilterrank.cli._report"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run("compare", "qrels", "one", "two", "-m", "rr", "--quiet")[0] == 0
    assert not [name for name in sys.modules if name.startswith("skfilterrank.cli._report")]


@pytest.mark.parametrize(
    "words",
    thinned(
        ["evaluate qrels one -m rr", "compare qrels one two -m rr", "threshold qrels one -m rr"],
        parts=2,
    ),
)
def test_commands_know_the_measures_where_nothing_else_is_imported(anew, files, words, capsys):
    assert importlib.import_module("skfilterrank.cli").main(words.split()) == 0
    assert "rr" in capsys.readouterr().out


@pytest.mark.nightly
def test_compare_does_without_matplotlib_and_lightgbm(files):
    code = (
        "import sys; from skfilterrank.cli import main\n"
        "main(['compare', 'qrels', 'one', 'two', '-m', 'rr', '--quiet'])\n"
        "print({'matplotlib', 'lightgbm', 'skfilterrank.plot'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\nset()\n")

"""Exit codes, where output goes, and errors: one line for users, a traceback for bugs."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import skfilterrank
from skfilterrank import cli
from skfilterrank.cli import main


@pytest.mark.slow
def test_the_installed_command_and_the_module(folder):
    script = Path(sysconfig.get_path("scripts")) / "skfilterrank"
    if not script.exists():
        pytest.skip("the package is not installed")
    for command in ([str(script)], [sys.executable, "-m", "skfilterrank"]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout == f"{skfilterrank.__version__}\n"
    done = subprocess.run([*command, "evaluate", "a"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "skfilterrank evaluate: error: missing RUN. See skfilterrank evaluate --help.\n"
    )


@pytest.mark.nightly
def test_a_reader_that_leaves_is_no_error(folder, table):
    code = (
        "import sys; from skfilterrank import cli\n"
        "cli._call = lambda name, values: print('line\\n' * 1_000_000)\n"
        "sys.exit(cli.main(['evaluate', 'a', 'b']))"
    )
    command = f"'{sys.executable}' -c \"$CODE\" | head -1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        capture_output=True,
        text=True,
        env={"CODE": code, "PATH": "/usr/bin:/bin"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "line\n", "")


def raising(monkeypatch, error):
    """Let ``apply`` fail."""

    def call(name, values):
        raise error

    monkeypatch.setattr(cli, "_call", call)


def test_interruption(monkeypatch, run):
    raising(monkeypatch, KeyboardInterrupt())
    assert run("apply", "a", "b") == (130, "", "\nskfilterrank: interrupted\n")


@pytest.mark.parametrize("error", [ValueError("deep"), KeyError("deep"), RuntimeError("deep")])
def test_what_this_package_did_not_raise_is_one_line(monkeypatch, run, error, folder):
    raising(monkeypatch, error)
    code, out, err = run("apply", "absent", "train.csv")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"error: {type(error).__name__}: " in err
    assert "(files: train.csv)" in err
    with pytest.raises(type(error), match="deep"):
        main(["apply", "a", "b", "--debug"])


def test_debug_shows_where_an_error_came_up(folder):
    (folder / "empty.csv").touch()
    with pytest.raises(ValueError, match="the file is empty"):
        main(["--debug", "rank-filter", "empty.csv"])


def test_a_warning_is_one_line(monkeypatch, run):
    def warn(name, values):
        import warnings

        with warnings.catch_warnings(action="always"):
            warnings.warn("mind the gap", stacklevel=1)

    monkeypatch.setattr(cli, "_call", warn)
    assert run("apply", "a", "b") == (0, "", "skfilterrank: warning: mind the gap\n")


def test_a_report_needs_matplotlib_before_any_work(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, _, err = run("compare", "a", "b", "c", "--html", "x.html")
    assert code == 2
    assert "pip install 'skfilterrank[plot]'" in err


@pytest.mark.parametrize("command", [[], ["rank-filter"], ["apply"], ["evaluate"], ["demo"]])
def test_help(run, command):
    code, out, err = run(*command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("usage: skfilterrank")

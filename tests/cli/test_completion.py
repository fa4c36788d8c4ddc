"""Completion in bash, zsh and fish, as ``skfilterrank help completion`` sets it up."""

import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "config.fish"}
STARTS = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
LINES = [
    ("ev", "evaluate"),
    ("help compari", "comparisons"),
    ("compare --test wil", "wilcoxon"),
    ("threshold --threshold per", "per_query"),
    ("evaluate q.txt r.txt --preci", "--precision"),
]

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix"),
]


@pytest.fixture
def setup(run, monkeypatch, tmp_path):
    """Return the line that the help has for the file of a shell, which must be there."""
    for program in ("register-python-argcomplete", "skfilterrank"):
        if not (BIN / program).exists():
            pytest.skip(f"{program} is not installed beside Python")
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def setup(shell):
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not installed")
        return re.search(rf"(?m)^{re.escape(FILES[shell])} +(.*)$", run("help", "completion")[1])[1]

    return setup


def completed(shell, setup, words, expected):
    """Return what an interactive shell makes of words and a tabulator, up to what is expected."""
    import pty

    process, terminal = pty.fork()
    if process == 0:
        os.execvp(shell, STARTS[shell])

    def read(end):
        found, limit = "", time.monotonic() + 30
        while end not in found and time.monotonic() < limit:
            if select.select([terminal], [], [], 0.1)[0]:
                found += os.read(terminal, 65536).decode(errors="replace")
        return found

    try:
        os.write(terminal, f"{setup}; echo rea''dy\n".encode())
        assert "ready" in (said := read("ready")), said
        os.write(terminal, f"skfilterrank {words}\t".encode())
        return read(expected)
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(terminal)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize(("words", "expected"), LINES)
def test_a_tabulator_completes(setup, shell, words, expected):
    assert expected in completed(shell, setup(shell), words, expected)


@pytest.mark.parametrize(("words", "expected"), LINES)
def test_fish_knows_the_completions(setup, words, expected):
    line = f'{setup("fish")}; complete -C "skfilterrank {words}"'
    done = subprocess.run(["fish", "-N", "-c", line], capture_output=True, text=True, timeout=60)
    found = [each.split("\t")[0] for each in done.stdout.splitlines()]
    assert found == [expected], done.stderr

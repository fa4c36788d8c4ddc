"""Partial files and temporary folders of processes that are ended or killed, and locks."""

import os
import signal
import subprocess
import sys
import time

import pytest

from skfilterrank._files.files import locked, open_replacing

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and locks of POSIX")

_WRITER = """
import sys, time
from skfilterrank._files.files import open_replacing, temporary_folder
from skfilterrank.cli import exits_by_signals
folder = sys.argv[1]
with (
    exits_by_signals(),
    open_replacing(f"{folder}/file"),
    temporary_folder(folder),
):
    print(flush=True)
    time.sleep(100)
"""


@pytest.fixture
def writer(tmp_path):
    """A process that is writing into the folder."""
    code = [sys.executable, "-c", _WRITER, str(tmp_path)]
    with subprocess.Popen(code, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.kill()


def test_a_process_that_is_told_to_end_leaves_nothing(writer, tmp_path):
    assert len(os.listdir(tmp_path)) == 2
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(20) == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("is_dead", [True, False])
def test_files_of_a_killed_process_are_removed_later(writer, tmp_path, is_dead, monkeypatch):
    if is_dead:
        writer.kill()
        writer.wait(20)
    left = os.listdir(tmp_path)
    assert len(left) == 2
    monkeypatch.setattr("skfilterrank._files.files._cleaned", set())
    for name in left[1:]:
        os.utime(tmp_path / name, (0, time.time() - 90_000))
    with open_replacing(tmp_path / "other"):
        pass
    kept = left[:1] if is_dead else left
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, "other"])


@pytest.mark.slow
def test_a_lock_keeps_other_processes_away_and_leaves_no_file(tmp_path):
    path = tmp_path / "state"
    code = """
import sys
from skfilterrank._files.files import locked
with locked(sys.argv[1], seconds=float(sys.argv[2])):
    pass
"""

    def other(seconds):
        code_of = [sys.executable, "-c", code, str(path), seconds]
        return subprocess.Popen(code_of, stderr=subprocess.PIPE, text=True)

    with locked(path), locked(path):
        with other("0") as refused:
            assert "TimeoutError" in (error := refused.stderr.read())
            assert f"another process has kept it locked for 0 s; try again later: '{path}'" in error
        waiting = other("30")
        time.sleep(0.5)
        assert waiting.poll() is None
    waiting.communicate(timeout=30)
    assert waiting.returncode == 0
    assert os.listdir(tmp_path) == []

"""Partial files of processes that are told to end, and locks."""

import os
import signal
import subprocess
import sys
import time

import pytest

from skfilterrank._files.files import locked

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and locks of POSIX")

_WRITER = """
import sys, time
from skfilterrank._files.files import open_replacing
from skfilterrank.cli import exits_by_signals
folder = sys.argv[1]
with exits_by_signals(), open_replacing(f"{folder}/file"):
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
    assert len(os.listdir(tmp_path)) == 1
    writer.send_signal(signal.SIGTERM)
    assert writer.wait(20) == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == []


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

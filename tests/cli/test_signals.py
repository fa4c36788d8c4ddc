"""Signals end a command, also within a loop of a C library; and lack of memory is said."""

import os
import signal
import subprocess
import sys
import time

import pytest

from skfilterrank.cli import _output, exits_by_signals, main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

# A mutex that is locked twice never comes back, and no signal wakes it up.
_STUCK = """
import ctypes, sys, time
import skfilterrank.cli as cli
cli._SECONDS, cli._SECONDS_OF_SECOND = float(sys.argv[1]), float(sys.argv[2])
with cli.exits_by_signals():
    library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(256)
    library.pthread_mutex_lock(mutex)
    print(flush=True)
    try:
        time.sleep(float(sys.argv[3]))
    finally:
        library.pthread_mutex_lock(mutex)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a mutex of zeros is one of Linux")
@pytest.mark.parametrize(
    ("seconds", "n_signals"),
    [((0.1, 100, 0), 1), ((100, 0.1, 0), 2), ((100, 0.1, 100), 2)],
    ids=["time after the first", "a second one", "a second one while it cleans up"],
)
def test_a_loop_in_c_ends(seconds, n_signals):
    code = [sys.executable, "-c", _STUCK, *map(str, seconds)]
    with subprocess.Popen(code, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        for _ in range(n_signals):
            # Signals that wait at the same time are one.
            time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert said == b"skfilterrank: ended by a signal, without cleaning up\n"


def test_handlers_are_those_of_before():
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    with pytest.raises(SystemExit, match=str(128 + signal.SIGTERM)), exits_by_signals():
        signal.raise_signal(signal.SIGTERM)
    assert [signal.getsignal(number) for number in numbers] == before
    assert signal.set_wakeup_fd(-1) == -1


def imported(cause):
    """Return an error as numpy raises it if its own libraries cannot be imported."""
    try:
        raise ImportError("Importing the numpy C-extensions failed.") from cause
    except ImportError as error:
        return error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            MemoryError("Unable to allocate 8 GiB"),
            "there is not enough memory (MemoryError: Unable",
        ),
        (MemoryError(), "there is not enough memory (MemoryError)"),
        (
            RuntimeError("std::bad_alloc"),
            "there is not enough memory (RuntimeError: std::bad_alloc)",
        ),
        (
            imported(ImportError("x.so: failed to map segment from shared object")),
            "there is not enough memory (ImportError: x.so: failed to map segment",
        ),
        (imported(MemoryError()), "there is not enough memory (MemoryError)"),
        (ImportError("x.so: no such file"), "a library cannot be loaded (ImportError: x.so"),
        (KeyError("x"), "KeyError: 'x'. This is a fault of skfilterrank"),
    ],
)
def test_lack_of_memory_is_no_fault(monkeypatch, capsys, error, message):
    def fails(name, values):
        raise error

    monkeypatch.setattr("skfilterrank.cli._call", fails)
    assert main(["evaluate", "qrels", "run"]) == 2
    said = capsys.readouterr().err
    assert f"skfilterrank: error: {message}" in said
    assert said.count("\n") == 1
    assert _output.call.given

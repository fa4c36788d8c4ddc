"""Signals end a command, and lack of memory is said."""

import os
import signal

import pytest

from skfilterrank.cli import _output, exits_by_signals, main

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def test_handlers_are_those_of_before():
    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    with pytest.raises(SystemExit, match=str(128 + signal.SIGTERM)), exits_by_signals():
        signal.raise_signal(signal.SIGTERM)
    assert [signal.getsignal(number) for number in numbers] == before


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

"""The command line in a process of its own behind a pseudo-terminal."""

import importlib
import os
import select
import signal
import sys
import time

import pytest

from commands import process


def pseudo_terminal():
    """The two ends of a pseudo-terminal; the test is skipped where there are none."""
    return pytest.importorskip("pty", reason="there are no pseudo-terminals").openpty()


def command_at(terminal, messages, folder, environment, arguments, hang_up):
    """What the process does: take the terminal as its own, and run the command."""
    fcntl, termios = importlib.import_module("fcntl"), importlib.import_module("termios")
    os.setsid()
    device = os.open(terminal, os.O_RDWR)
    fcntl.ioctl(device, termios.TIOCSCTTY, 0)
    for number in (0, 1):
        os.dup2(device, number)
    os.dup2(os.open(messages, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    # As a shell in a window has them, wherever the tests run: nohup leaves the one ignored, and a
    # shell that runs a script leaves the other to what it starts by "&".
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL if hang_up is None else hang_up)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    from skfilterrank.cli import main

    with (
        open(0, closefd=False) as sys.stdin,
        open(1, "w", closefd=False) as sys.stdout,
        open(2, "w", buffering=1, closefd=False) as sys.stderr,
    ):
        sys.exit(main(arguments))


class Terminal:
    """The command behind a pseudo-terminal."""

    def __init__(self, *arguments, lines=24, columns=80, hang_up=None, **environment):
        self.parent, self.child = pseudo_terminal()
        environment = {
            **os.environ, "TERM": "xterm", "LINES": str(lines), "COLUMNS": str(columns),
            **environment,
        }  # fmt: skip
        self.messages = os.path.abspath(f"messages of {self.parent}")
        self.process = process(
            command_at,
            os.ttyname(self.child),
            self.messages,
            os.getcwd(),
            environment,
            arguments,
            hang_up,
        )
        self.text = ""

    def _read(self, seconds):
        if select.select([self.parent], [], [], seconds)[0]:
            self.text += os.read(self.parent, 65536).decode()

    def err(self):
        """What the process says on standard error."""
        with open(self.messages, encoding="utf-8") as file:
            return file.read()

    def end(self):
        """Exit code and messages."""
        end = time.monotonic() + 60
        while self.process.exitcode is None and time.monotonic() < end:
            self._read(0.05)
        self.process.join(60)
        return self.process.exitcode, self.err()

    def rest(self):
        """What is written and was not read."""
        while select.select([self.parent], [], [], 0)[0]:
            self._read(0)
        return self.text

    def close(self):
        self.process.kill()
        self.process.join()
        self.process.close()
        os.close(self.parent)
        os.close(self.child)

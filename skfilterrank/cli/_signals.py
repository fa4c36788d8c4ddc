"""Commands end by SIGTERM and SIGHUP, and clean up before."""

import os
import select
import signal
import socket
import threading
import time
from contextlib import contextmanager, suppress

# Seconds that a command has for its end after a signal, and after a second one.
_SECONDS, _SECONDS_OF_SECOND = 10.0, 1.0
_BEFORE = 128  # exit codes of shells after a signal begin here


@contextmanager
def exits_by_signals():
    """Turn terminating signals into SystemExit, so that cleanup code runs.

    Temporary files are removed and outputs stay as they were. Python sees no signal before a loop
    of a C library ends, so a thread ends the process without cleanup: some seconds after the
    signal, or soon after a second one. Partial files that are left are removed later.
    """
    before: dict[int, object] = {}

    def leave(number, frame):
        for each in before:
            signal.signal(each, _only_watched)
        raise SystemExit(_BEFORE + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        # A signal that is ignored, as by nohup, stays ignored.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            before[number] = signal.signal(number, leave)
    # The interpreter writes the number of each signal at once, whatever is running.
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    other = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    with suppress(RuntimeError):  # where memory is short, no thread can start
        threading.Thread(target=_watch, args=(reading, set(before)), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(other)
        writing.close()
        for number, handler in before.items():
            signal.signal(number, handler)


def _only_watched(number, frame):
    """Leave a further signal to the thread, which does not see one that is ignored."""


def _watch(reading, numbers):
    """End the process some time after one of some signals, unless the other side is closed."""
    end, number = None, 0
    while True:
        left = None if end is None else max(end - time.monotonic(), 0.0)
        if not select.select([reading], [], [], left)[0]:
            with suppress(OSError):
                os.write(2, b"skfilterrank: ended by a signal, without cleaning up\n")
            os._exit(_BEFORE + number)
        found = reading.recv(1)
        if not found:
            reading.close()
            return
        if found[0] in numbers:
            number, now = found[0], time.monotonic()
            end = now + _SECONDS if end is None else min(end, now + _SECONDS_OF_SECOND)


def _forget_watch():
    """Keep signals to a forked process from the process that it was forked off."""
    with suppress(ValueError):
        signal.set_wakeup_fd(-1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_watch)

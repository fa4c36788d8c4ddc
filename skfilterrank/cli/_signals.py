"""Signals that end a command."""

import contextlib
import signal
import threading


@contextlib.contextmanager
def signals_as_exits():
    """Leave by SystemExit when the process is told to end, so that everything is put in order.

    Temporary folders are removed, answers are kept and the terminal is reset. A further signal is
    ignored meanwhile.
    """
    before = {}

    def leave(number, frame):
        for each in before:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    try:
        if threading.current_thread() is threading.main_thread():
            for name in ("SIGTERM", "SIGHUP"):
                number = getattr(signal, name, None)  # Windows has no SIGHUP
                # A signal that is ignored, as by nohup, stays ignored.
                if number is not None and signal.getsignal(number) == signal.SIG_DFL:
                    before[number] = signal.signal(number, leave)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

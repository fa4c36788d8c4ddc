"""The command line: commands are functions, which parse, call the library and print."""

import importlib
import os
import re
import select
import signal
import socket
import sys
import threading
import time
import warnings
from argparse import ArgumentTypeError
from contextlib import contextmanager, suppress
from typing import Annotated

from skfilterrank._base import VERSION
from skfilterrank.cli._output import (
    call,
    finish,
    message_of,
    overwritten,
    prepare_streams,
    put,
    report_unforeseen,
    say,
    show_warning,
)
from skfilterrank.cli._parser import Arg, CommandParser, similar
from skfilterrank.exceptions import SkfilterrankError, UnjudgedWarning

# Each command with its purpose. The command's function is in the module of the same name or of
# _MODULES, and imports heavy packages late, so that --help needs no numpy.
COMMANDS = {
    "evaluate": "measure TREC runs against judgments",
    "compare": "test which TREC runs are better, and how sure that is",
    "fuse": "make one TREC run of several",
    "rank-filter": "train models that rank and filter, and compare them",
    "threshold": "find from which score on a reranker's documents are shown",
    "apply": "rank and filter documents by a saved model or threshold",
    "monitor": "test whether a saved threshold still keeps its risks",
    "select": "choose the documents that people should judge",
    "complete": "predict labels of documents that nobody judged",
    "demo": "rank and filter built-in data",
}
_MODULES = {"fuse": "evaluate", "apply": "threshold", "monitor": "threshold"}
_MODULES |= {"demo": "rank_filter", "select": "judging", "complete": "judging"}
_COMMON = ("quiet", "verbose", "plugin", "debug")
_INTERRUPTED = 130  # exit code of shells after Ctrl-C
_OVERVIEW = """\
usage: skfilterrank COMMAND [options] ...

Rank documents and leave out the forbidden ones.

commands:
{}

options of every command:
  --quiet          print the output and errors only
  --verbose        show progress even if no screen shows it
  --plugin MODULE  import a module first, such as one that declares measures
  --debug          show where in the program an error occurred
  --help           list the options of the command

skfilterrank --version prints the version.
"""


def _imported(module):
    """Import a module; the current folder is searched, too."""
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    if re.search(r"^$|^\.|[/\\]|\.py$", module):
        raise ArgumentTypeError(
            f"expected a module's name, not a path, such as my_measures of my_measures.py in the "
            f"current folder, got {module!r}."
        )
    try:
        importlib.import_module(module)
    except (Exception, SystemExit) as error:
        advice = ""
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            advice = " It must be in the current folder, in one of PYTHONPATH, or installed."
        raise ArgumentTypeError(
            f"{module} cannot be imported: {type(error).__name__}: {error}.{advice}"
        ) from error
    return module


def common(
    *,
    quiet: bool = False,
    verbose: bool = False,
    plugin: Annotated[str | None, Arg(convert=_imported, metavar="MODULE")] = None,
    debug: bool = False,
):
    """Declare the options of every command; `_OVERVIEW` explains them."""


def main(argv=None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : list of str or None, default=None
        Arguments without the program's name; None takes those of the process.

    Returns
    -------
    int
        0; 1 after an alarm of monitor; 2 after a
        message on standard error about arguments or files; 130 after Ctrl-C.
        SIGTERM and SIGHUP end a command by SystemExit, with 128 and their number; where a loop of
        a C library does not end within 10 seconds, or 1 second after a second signal, they end the
        process.

    Raises
    ------
    Exception
        With --debug, the error itself, in place of the message.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    prepare_streams()
    with exits_by_signals():
        return _run(argv)


def command_parser(name) -> CommandParser:
    """Return the parser of a command."""
    return CommandParser(_function(name), name, common)


def _function(name):
    """Return the function of a command."""
    name = name.replace("-", "_")
    module = importlib.import_module(f"skfilterrank.cli.{_MODULES.get(name, name)}")
    return getattr(module, name)


def _call(name, values):
    """Call the function of a command."""
    return _function(name)(**values)


def _run(argv):
    """Find the command, run it, and print its errors."""
    values: dict = {}
    place = 0 if argv and not argv[0].startswith("-") else None
    if place is None:
        # Options of all commands may stand before the command.
        place = next((n for n, text in enumerate(argv) if text in COMMANDS), None)
    call.begin(argv)
    try:
        with warnings.catch_warnings():
            # Rows are counted when the file is read.
            warnings.simplefilter("ignore", UnjudgedWarning)
            warnings.showwarning = show_warning
            if place is None:
                return _without_command(argv)
            name, rest = argv[place], argv[:place] + argv[place + 1 :]
            if name not in COMMANDS:
                say(
                    f"skfilterrank: error: there is no command {name}.{similar(name, COMMANDS)} "
                    f"Choose from {', '.join(COMMANDS)}."
                )
                return 2
            parser = command_parser(name)
            call.written = {name: written for name, (written, _) in parser.options().items()}
            values = parser.parse(rest)
            if message := overwritten(parser.options(), values):
                parser.error(message)
            if "quiet" in values and "verbose" in values:
                parser.error("--quiet and --verbose exclude each other. Leave out one of them.")
            values = {key: values[key] for key in values if key not in _COMMON}
            call.given = set(values)
            code = _call(name, parser.grouped(values)) or 0
            finish()
            return code
    except BrokenPipeError:
        # The reader of the output has closed it, as `| head` does.
        return 0
    except KeyboardInterrupt:
        say("")  # behind the ^C
        say("skfilterrank: interrupted")
        return _INTERRUPTED
    except Exception as error:
        if "--debug" in argv:
            raise
        if isinstance(error, SkfilterrankError | OSError):
            say(f"skfilterrank: error: {message_of(error)}")
        else:
            report_unforeseen(error, values)
        return 2


def _without_command(argv):
    """Print the version or the commands."""
    put(f"{VERSION}\n" if "--version" in argv else overview())
    finish()
    if argv and set(argv) <= {"--version", "--help", "-h"}:
        return 0
    say(f"skfilterrank: error: no command is named. Choose from {', '.join(COMMANDS)}.")
    return 2


def overview() -> str:
    """Return the commands and their purposes."""
    return _OVERVIEW.format("\n".join(f"  {name:<11} {what}" for name, what in COMMANDS.items()))


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

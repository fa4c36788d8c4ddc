"""The command line: `main` parses arguments, and calls the function of a command."""

import functools
import importlib
import os
import re
import signal
import sys
import threading
import warnings
from argparse import ArgumentTypeError
from contextlib import contextmanager
from typing import Annotated

from skfilterrank._base import VERSION
from skfilterrank._files.kinds import doubtful_queries
from skfilterrank.cli._output import (
    call,
    clash_of_files,
    finish,
    message_of,
    prepare_streams,
    put,
    report_unforeseen,
    say,
    show_warning,
    tell_queries,
)
from skfilterrank.cli._parser import Arg, CommandParser
from skfilterrank.exceptions import SkfilterrankError, UnjudgedWarning, did_you_mean

# Each command with its purpose. The command's function is in the module of the same name, and
# imports heavy packages late, so that --help needs no numpy.
COMMANDS = {
    "evaluate": "measure TREC runs against judgments",
    "compare": "test which TREC runs are better, and how sure that is",
    "fuse": "make one TREC run of several",
    "rank-filter": "train models that rank and filter, and compare them",
    "threshold": "find from which score on a reranker's documents are shown",
    "apply": "rank and filter documents by a saved model or threshold",
    "monitor": "test whether a saved threshold still keeps its risks",
    "select": "choose the documents that people should judge",
    "complete": "draw labels of documents that nobody judged",
    "demo": "rank and filter generated data",
}
_COMMON = ("quiet", "verbose", "plugin", "debug")
_INTERRUPTED = 130  # exit code of shells after Ctrl-C
_BEFORE = 128  # exit codes of shells after a signal begin here
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
        0; 1 after an alarm of monitor; 2 after a message on standard error about arguments or
        files; 130 after Ctrl-C. SIGTERM and SIGHUP end a command by SystemExit, with 128 plus their
        number.

    Raises
    ------
    Exception
        With --debug, the error itself, in place of the message.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    prepare_streams()
    with exits_by_signals():
        return _run(argv)


@functools.cache
def command_parser(name) -> CommandParser:
    """Return the parser of a command."""
    return CommandParser(_function(name), name, common)


def _function(name):
    """Return the function of a command."""
    name = name.replace("-", "_")
    module = importlib.import_module(f"skfilterrank.cli.{name}")
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
    before = doubtful_queries.set(tell_queries)
    try:
        with warnings.catch_warnings():
            # rank-filter prints the number of unjudged rows when it reads a file.
            warnings.simplefilter("ignore", UnjudgedWarning)
            warnings.showwarning = show_warning
            if place is None:
                return _without_command(argv)
            name, rest = argv[place], argv[:place] + argv[place + 1 :]
            if name not in COMMANDS:
                near = did_you_mean(name, COMMANDS, 1)
                choose = f"Choose from {', '.join(COMMANDS)}."
                say(f"skfilterrank: error: there is no command {name}.{near} {choose}")
                return 2
            parser = command_parser(name)
            call.written = {name: written for name, (written, _) in parser.options().items()}
            values = parser.parse(rest)
            if message := clash_of_files(parser.options(), values):
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
    finally:
        doubtful_queries.reset(before)


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


@contextmanager
def exits_by_signals():
    """Turn SIGTERM and SIGHUP into SystemExit, so that cleanup code runs."""
    before: dict[int, object] = {}

    def leave(number, frame):
        for each in before:
            signal.signal(each, signal.SIG_DFL)  # a second one ends at once
        raise SystemExit(_BEFORE + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        # A signal that is ignored, as by nohup, stays ignored.
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            before[number] = signal.signal(number, leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

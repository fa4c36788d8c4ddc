"""The command line: parses, calls the library and prints."""

import argparse
import importlib
import os
import re
import sys
import warnings
from typing import Any

import skfilterrank
from skfilterrank.cli._errors import begin, in_options, is_new, message_of
from skfilterrank.cli._file_options import NOTE, REPLACING, overwritten
from skfilterrank.cli._shared_options import add_talk
from skfilterrank.cli._signals import signals_as_exits
from skfilterrank.cli._streams import be_quiet, finish, put, say, standard_streams, tell
from skfilterrank.exceptions import SkfilterrankError, UnjudgedWarning

# Each command with its purpose. Its folder has the modules "options", imported when the command is
# called, and "run", imported when its arguments are right, so that --help needs no numpy.
COMMANDS = {
    "rank-filter": "train models that rank and filter, and compare them",
    "apply": "rank and filter documents with a saved model",
    "evaluate": "measure TREC runs against judgments",
    "compare": "tell which TREC runs are better, and how sure that is",
    "fuse": "make one TREC run of several",
    "threshold": "find from which score on a reranker's documents are shown",
    "filter": "leave out of a run what a saved filter leaves out",
    "monitor": "test whether a filter still keeps its promises",
    "complete": "predict the labels that nobody made",
    "forecast": "predict the best TREC runs before anything is judged",
    "judge": "grade documents at the terminal",
    "demo": "rank and filter built-in data",
}
_INTERRUPTED = 130  # what shells give a command that Ctrl-C ended


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, instead of first repeating every option."""

    def error(self, message):
        if message.endswith("expected one argument"):
            message += "; write --option=VALUE where the value begins with -"
        say(f"{self.prog}: error: {message} (see {self.prog} --help)")
        self.exit(2)

    def _print_message(self, message, file=None):
        # Only help and the version are left; argparse says nothing where it cannot write them.
        # What it does next is to end the program.
        put(message)
        finish()


class CommandParser(_Parser):
    """Is made, and learns its arguments from the command's module, when it is called."""

    command = None
    _keywords: dict[str, Any] | None = None

    def __init__(self, **keywords):
        # To make the parsers of all commands takes longer than to parse one.
        self._keywords = keywords

    def _make(self):
        keywords, self._keywords = self._keywords, None
        if keywords is not None:
            super().__init__(**keywords)

    def __getattr__(self, name):
        # Newer versions of argparse look into each parser.
        if self._keywords is None:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        self._make()
        return getattr(self, name)

    def learn_arguments(self):
        """Add the arguments of the command, and those that all commands have."""
        self._make()
        command, self.command = self.command, None
        if command is None:
            return
        _module_of(command, "options").add_arguments(self)
        add_talk(self)
        self.add_argument("--plugin", default=argparse.SUPPRESS, **_PLUGIN)
        begin(self._actions)
        if any(action.type in REPLACING for action in self._actions):
            self.epilog = f"{self.epilog or ''}\n{NOTE}"

    def parse_known_args(self, args=None, namespace=None):
        """Parse, and let no output take the place of another file."""
        self.learn_arguments()
        # First, as it may register measures that stand before it.
        first = _Parser(prog=self.prog, add_help=False, allow_abbrev=False)
        first.add_argument("--plugin", **_PLUGIN)
        first.parse_known_args(args)
        parsed = super().parse_known_args(args, namespace)
        if message := overwritten(self._actions, parsed[0]):
            self.error(message)
        return parsed


def _module_of(command, name):
    """A module of a command."""
    return importlib.import_module(f"{__name__}.{command.replace('-', '_')}.{name}")


def main(argv=None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : list of str or None, default=None
        Arguments without the program's name; None takes those of the process.

    Returns
    -------
    int
        0; 1 where a command went on without some of its files, as it was told to; 2 after a
        message on standard error about arguments or files; 130 after Ctrl-C.
        SIGTERM and SIGHUP end a command by SystemExit, with 128 and their number.

    Raises
    ------
    Exception
        What nobody foresaw keeps its traceback.
    """
    with standard_streams(), signals_as_exits():
        return _main(argv)


def _main(argv):
    """Run the command line between streams that take any letter."""
    parser = _Parser(
        prog="skfilterrank", description="Rank documents and leave out the forbidden ones."
    )
    parser.add_argument("--version", action="version", version=skfilterrank.__version__)
    parser.add_argument(
        "--traceback", action="store_true", help="show where in the program an error came up"
    )
    parser.add_argument("--plugin", **_PLUGIN)
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=CommandParser
    )
    for name, purpose in COMMANDS.items():
        commands.add_parser(name, help=purpose).command = name
    with_traceback = False
    # Plugins may warn before the arguments are parsed.
    be_quiet("--quiet" in (sys.argv[1:] if argv is None else argv))
    try:
        with warnings.catch_warnings():
            # Counted when the file is read.
            warnings.simplefilter("ignore", UnjudgedWarning)
            warnings.showwarning = _show_warning
            arguments = parser.parse_args(argv)
            arguments.argv = sys.argv[1:] if argv is None else list(argv)
            with_traceback = arguments.traceback
            be_quiet(arguments.quiet)
            code = _module_of(arguments.command, "run").run(arguments) or 0
            finish()
    except BrokenPipeError:
        # The reader of the output has gone, as `| head` does; nothing is left to say to it.
        return 0
    except KeyboardInterrupt:
        say("")  # behind the ^C
        say("skfilterrank: interrupted")
        return _INTERRUPTED
    except (SkfilterrankError, OSError) as error:
        if with_traceback:
            raise
        say(f"skfilterrank: error: {message_of(error)}")
        return 2
    return code


def _imported(module):
    """Import a module, also of the folder that the command is called in."""
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    if re.search(r"^$|^\.|[/\\]|\.py$", module):
        raise argparse.ArgumentTypeError(
            f"expected a module's name, not a path, such as my_measures of my_measures.py in the "
            f"current folder, got {module!r}"
        )
    try:
        importlib.import_module(module)
    except (Exception, SystemExit) as error:
        advice = ""
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            advice = "; it must be in the current folder, in one of PYTHONPATH, or installed"
        raise argparse.ArgumentTypeError(
            f"{module} cannot be imported: {type(error).__name__}: {error}{advice}"
        ) from error
    return module


_PLUGIN: dict[str, Any] = {
    "type": _imported,
    "metavar": "MODULE",
    "help": "import a module first, such as one that registers measures, here or installed",
}


def _show_warning(message, *place, **keywords):
    """Print a line for a warning, once."""
    text = in_options(str(message))
    if is_new(text):
        tell(f"skfilterrank: warning: {text}")

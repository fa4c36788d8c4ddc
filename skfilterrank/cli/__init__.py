"""The command line: parses, calls the library and prints."""

import argparse
import linecache
import os
import sys
import warnings

import skfilterrank
from skfilterrank.cli import _apply, _demo, _rank_filter

_COMMANDS = (_rank_filter, _apply, _demo)
_INTERRUPTED = 130  # what shells give a command that Ctrl-C ended


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, instead of first repeating every option."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def main(argv=None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : list of str or None, default=None
        Arguments without the program's name; None takes those of the process.

    Returns
    -------
    int
        0; 2 after a message on standard error about arguments or files; 130 after Ctrl-C.

    Raises
    ------
    Exception
        What nobody foresaw keeps its traceback.
    """
    parser = _Parser(
        prog="skfilterrank", description="Rank documents and leave out the forbidden ones."
    )
    parser.add_argument("--version", action="version", version=skfilterrank.__version__)
    parser.add_argument(
        "--traceback", action="store_true", help="show where in the program an error came up"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in _COMMANDS:
        module.add_parser(commands)
    arguments = parser.parse_args(argv)
    try:
        with warnings.catch_warnings():
            # Counted when the file is read.
            warnings.filterwarnings("ignore", message=".*rows are unjudged")
            warnings.showwarning = _show_warning
            arguments.run(arguments)
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has gone, as `| head` does; nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        print("\nskfilterrank: interrupted", file=sys.stderr)
        return _INTERRUPTED
    except (ValueError, OSError, ImportError) as error:
        if arguments.traceback or not _is_for_users(error):
            raise
        notes = " ".join(getattr(error, "__notes__", []))
        print(f"skfilterrank: error: {_message(error)} {notes}".rstrip(), file=sys.stderr)
        return 2
    return 0


def _is_for_users(error):
    """Whether an error was worded for users: about a file, or raised by this package on purpose.

    A ValueError out of numpy's depths is a bug, and hiding where it came up would not help.
    """
    if isinstance(error, OSError):
        return True
    traceback = error.__traceback__
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame = traceback.tb_frame
    line = linecache.getline(frame.f_code.co_filename, traceback.tb_lineno)
    ours = frame.f_globals.get("__name__", "").partition(".")[0] == skfilterrank.__name__
    return ours and line.lstrip().startswith("raise")


def _message(error):
    """Text of an error; that of the operating system without its number."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _show_warning(message, *place, **keywords):
    """One line for a warning, wherever in the program it came up."""
    print(f"skfilterrank: warning: {message}", file=sys.stderr)

"""The command line: parses, calls the library and prints."""

import argparse
import os
import sys

import skfilterrank
from skfilterrank.cli import _apply, _demo, _rank_filter

_COMMANDS = (_rank_filter, _apply, _demo)


def main(argv=None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : list of str or None, default=None
        Arguments without the program's name; None takes those of the process.

    Returns
    -------
    int
        0, or 2 after a message on standard error.
    """
    parser = argparse.ArgumentParser(
        prog="skfilterrank", description="Rank documents and leave out the forbidden ones."
    )
    parser.add_argument("--version", action="version", version=skfilterrank.__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in _COMMANDS:
        module.add_parser(commands)
    arguments = parser.parse_args(argv)
    try:
        arguments.run(arguments)
    except BrokenPipeError:
        # The reader of the output has gone, as `| head` does; nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, OSError, ImportError) as error:
        notes = " ".join(getattr(error, "__notes__", []))
        print(f"skfilterrank: error: {error} {notes}".rstrip(), file=sys.stderr)
        return 2
    return 0

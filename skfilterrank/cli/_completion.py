"""Completion of commands and options in bash, zsh and fish, by argcomplete."""

import argparse

from skfilterrank.cli import COMMANDS, command_parser


def complete() -> None:
    """Print what the word that is being typed may become, and end the process."""
    import argcomplete

    parser = argparse.ArgumentParser(prog="skfilterrank", add_help=False)
    commands = parser.add_subparsers()
    for name in COMMANDS:
        made = command_parser(name)
        commands.choices[name] = made
    argcomplete.autocomplete(parser)

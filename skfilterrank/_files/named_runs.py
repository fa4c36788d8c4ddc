"""Runs by their names, which are those of their files where nothing else is said."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from skfilterrank._core.checks import as_list
from skfilterrank.exceptions import InputError, InputTypeError, brief


def named_runs(runs) -> Iterator:
    """Pairs of name and run."""
    if isinstance(runs, Mapping):
        yield from runs.items()
        return
    if isinstance(runs, str | os.PathLike):
        runs = [runs]
    seen = {}
    for run in as_list(runs, "runs", "paths, or a dict {name: run}"):
        if not isinstance(run, str | os.PathLike):
            raise InputTypeError(
                f"runs must be a dict {{name: run}} or a list of paths, got a list that holds "
                f"{type(run).__name__}."
            )
        name = name_of_path(run)
        if name in seen:
            raise InputError(
                f"{os.fspath(run)} and {os.fspath(seen[name])} give two runs of the name "
                f"{brief(name)}: pass a dict {{name: path}}, or rename a file."
            )
        seen[name] = run
        yield name, run


def name_of_path(path) -> str:
    """Name of a run, after its file."""
    return text_of_path(os.path.basename(path)).removesuffix(".gz").removesuffix(".txt")


def text_of_path(path) -> str:
    """A path as text, with codes for bytes that are not UTF-8, which data frames refuse."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def found_from_anywhere(run):
    """A path from the root; what is no path as it is."""
    return os.path.abspath(run) if isinstance(run, str | os.PathLike) else run


@contextmanager
def errors_of(name, run, found_at) -> Iterator[None]:
    """Errors say which run they came up with, and name its file as the caller did."""
    try:
        yield
    except (ValueError, OSError) as error:
        for attribute in ("file", "filename"):
            if isinstance(found_at, str) and getattr(error, attribute, None) == found_at:
                setattr(error, attribute, os.fspath(run))
        error.add_note(f"This came up with the run {brief(name)}.")
        raise

"""Runs by their names, which are those of their files where nothing else is said."""

import io
import os
from collections.abc import Mapping
from contextlib import contextmanager

from skfilterrank._core.checks import as_list
from skfilterrank._files.files import is_path, read_bytes
from skfilterrank.exceptions import InputError, InputTypeError, SkfilterrankError, brief

_EXPECTED = "a path, a list of paths, or a dict {name: path, open file or data frame}"


def named_runs(runs, *, least: int = 1) -> dict:
    """The runs by their names: of a path, of a list of paths, or of a dict."""
    if isinstance(runs, Mapping):
        found = dict(runs)
    elif hasattr(runs, "columns") or hasattr(runs, "read"):
        got = f"got one {type(runs).__name__}: name it."
        if "label" in getattr(runs, "columns", ()):
            got = "got judgments, with a column 'label': runs come first, then judgments."
        raise InputTypeError(f"runs must be {_EXPECTED}, {got}")
    else:
        found = {}
        for run in (
            [runs] if is_path(runs) else as_list(runs, "runs", "paths, or a dict {name: run}")
        ):
            if not is_path(run):
                raise InputTypeError(
                    f"runs must be {_EXPECTED}, got a list that holds {type(run).__name__}: "
                    "nothing names what is no path, so give a dict."
                )
            name = name_of_path(run)
            if name in found:
                raise InputError(
                    f"{os.fspath(run)} and {os.fspath(found[name])} give two runs of the name "
                    f"{brief(name)}: pass a dict {{name: path}}, or rename a file."
                )
            found[name] = run
    if len(found) < least:
        plural = "s" * (least > 1)
        raise InputError(f"runs must hold at least {least} run{plural}, got {len(found)}.")
    return found


def are_runs(systems) -> bool:
    """Whether these are runs in some form, rather than scores: paths, open files or frames."""
    if isinstance(systems, Mapping):
        systems = systems.values()
    elif is_path(systems):
        return True
    elif not isinstance(systems, list | tuple):
        return False
    return any(is_path(run) or hasattr(run, "read") or hasattr(run, "columns") for run in systems)


def name_of_path(path) -> str:
    """Name of a run, after its file."""
    return text_of_path(os.path.basename(path)).removesuffix(".gz").removesuffix(".txt")


def text_of_path(path) -> str:
    """A path as text, with codes for bytes that are not UTF-8, which data frames refuse."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def for_any_process(run) -> tuple:
    """A path as it was given, and what a process in another folder can read."""
    if is_path(run):
        return run, os.path.abspath(run)
    return None, io.BytesIO(read_bytes(run)) if hasattr(run, "read") else run


@contextmanager
def errors_of(name, path=None, found_at=None):
    """Errors say which run they came up with, and name its file as the caller did."""
    try:
        yield
    except (SkfilterrankError, ValueError, OSError) as error:
        for attribute in ("file", "filename"):
            if isinstance(found_at, str) and getattr(error, attribute, None) == found_at:
                setattr(error, attribute, os.fspath(path))
        error.add_note(f"This came up with the run {brief(name)}.")
        raise

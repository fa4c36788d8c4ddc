"""Runs by their names, which are those of their files where nothing else is said."""

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from skfilterrank._core.checks import as_list
from skfilterrank._files.files import is_path, read_bytes
from skfilterrank._files.objects import as_table, is_by_topic, is_table
from skfilterrank._files.run_folders import StoredRun, is_run_folder, stored_runs
from skfilterrank._files.tables import table_stem
from skfilterrank.exceptions import InputError, InputTypeError, SkfilterrankError, brief

# Ends each error of judgments where runs belong, and of runs where judgments belong.
ORDER = "judgments come first, then runs, as in evaluate_run(qrels, run, measures)."
_EXPECTED = "a path, a list of paths, or a dict {name: path, open file, data frame or other run}"


def named_runs(runs, *, least: int = 1) -> dict:
    """The runs by their names: of a path, of a list of paths, or of a dict."""
    if isinstance(runs, Mapping) and not is_by_topic(runs):
        named = dict(runs)
    elif _is_one(runs):
        got = f"got one {type(runs).__name__}. Name a run, as in {{'name': run}}; {ORDER}"
        if "label" in getattr(runs, "columns", ()):
            got = f"got judgments, with a column 'label'. Swap them: {ORDER}"
        raise InputTypeError(f"runs must be {_EXPECTED}, {got}")
    elif hasattr(runs, "align"):
        raise InputTypeError(f"runs must be {_EXPECTED}, got judgments. Swap them: {ORDER}")
    else:
        named = {}
        for run in _each(
            [runs] if is_path(runs) else as_list(runs, "runs", "paths, or a dict {name: run}")
        ):
            name = name_of_path(run) if is_path(run) else getattr(run, "name", None)
            if not isinstance(name, str) or hasattr(run, "read"):
                raise InputTypeError(
                    f"runs must be {_EXPECTED}, got a list that holds {type(run).__name__}: "
                    "nothing names what is no path, so give a dict."
                )
            if name in named:
                both = " and ".join(
                    os.fspath(each) if is_path(each) else f"a {type(each).__name__}"
                    for each in (run, named[name])
                )
                raise InputError(
                    f"{both} give two runs of the name {brief(name)}: pass a dict {{name: path}}, "
                    "or rename a file."
                )
            named[name] = run
    if len(named) < least:
        plural = "s" * (least > 1)
        raise InputError(f"runs must hold at least {least} run{plural}, got {len(named)}.")
    return named


def _each(runs) -> Iterator:
    """Runs of a list, and in place of a folder of runs all that it holds."""
    for run in runs:
        if is_path(run) and is_run_folder(run):
            yield from stored_runs(run).values()
        else:
            yield run


def _is_one(runs) -> bool:
    """Whether this is one run that nothing names, rather than several."""
    if isinstance(runs, StoredRun):
        return True
    if isinstance(runs, list | tuple) or is_path(runs):
        return False
    return is_table(runs) or hasattr(runs, "columns") or hasattr(runs, "read")


def are_several_runs(source) -> bool:
    """Tell whether these are runs by name, a list of runs or a folder of runs."""
    if is_path(source):
        return is_run_folder(source)
    if is_table(source) or hasattr(source, "read"):
        return isinstance(source, StoredRun)
    return isinstance(source, Mapping | list | tuple) and are_runs(source)


def are_runs(systems) -> bool:
    """Whether these are runs in some form, rather than scores."""
    if is_path(systems) or is_by_topic(systems):
        return True
    if isinstance(systems, Mapping):
        systems = systems.values()
    elif not isinstance(systems, list | tuple):
        return False
    return any(
        is_path(run) or is_table(run) or hasattr(run, "read") or hasattr(run, "columns")
        for run in systems
    )


def name_of_path(path) -> str:
    """Name of a run, after its file."""
    return table_stem(text_of_path(os.path.basename(path)), ".txt")


def text_of_path(path) -> str:
    """A path as text, with codes for bytes that are not UTF-8, which data frames refuse."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def for_any_process(run) -> tuple:
    """A path as it was given, and what a process in another folder can read."""
    if is_path(run):
        return run, os.path.abspath(run)
    if isinstance(run, StoredRun):
        return None, run
    if hasattr(run, "read"):
        return None, io.BytesIO(read_bytes(run))
    # An iterator, or what cannot be copied into another process.
    table = as_table(run, "score")
    return None, run if table is None else table


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

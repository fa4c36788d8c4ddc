"""Values of runs by slices of the topics, as text."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import pandas as pd

from skfilterrank._core.results import p_text
from skfilterrank._files.tables import csv_text
from skfilterrank.cli._documents import read_slices
from skfilterrank.cli._output import align_columns
from skfilterrank.cli.evaluate.output import RunValues
from skfilterrank.comparison import SystemScores, compare_slices
from skfilterrank.exceptions import InputError

_NUMBERS = ["value", "low", "high", "whole", "difference", "p_value", "p_adjusted"]
_COLUMNS = ["run", "measure", "slicing", "slice", "n_topics", *_NUMBERS]


def formats_of_slices(arguments) -> dict[str, Callable[[Iterable[RunValues]], Iterator[str]]]:
    """What writes runs by the slices of a file; options that go with no slices are an error."""
    for name, given in {"--per-query": arguments.per_query, "--sort": arguments.sort}.items():
        if given:
            raise InputError(f"--slices prints a line for each slice: leave out it or {name}.")
    if arguments.format not in (None, *_FORMATS):
        raise InputError(
            f"--slices is printed as {', '.join(_FORMATS)}, not as {arguments.format}."
        )
    arguments.formats = tuple(_FORMATS)
    slices = read_slices(arguments.slices)
    return {name: partial(write, slices=slices) for name, write in _FORMATS.items()}


def _table(runs: Iterable[RunValues], slices) -> Iterator[str]:
    """Columns for people, a table for each run."""
    for number, run in enumerate(runs):
        lines = [[run.name, "", "", "topics", "value", "95 % interval", "difference", "p"]]
        for row in _rows(run, slices).to_dict("records"):
            interval = "-" if row["low"] != row["low"] else f"{row['low']:.4f}-{row['high']:.4f}"
            p_value = row["p_adjusted"]
            lines.append(
                [
                    *(row["measure"], row["slicing"], str(row["slice"]), f"{row['n_topics']:,}"),
                    *(f"{row['value']:.4f}", interval, f"{row['difference']:+.4f}"),
                    "-" if p_value != p_value else p_text(p_value),
                ]
            )
        yield ("\n" if number else "") + "\n".join(align_columns(lines)) + "\n"


def _csv(runs: Iterable[RunValues], slices) -> Iterator[str]:
    """A line for each run, measure and slice."""
    for number, run in enumerate(runs):
        yield csv_text(_rows(run, slices), index=False, header=number == 0)


def _json(runs: Iterable[RunValues], slices) -> Iterator[str]:
    """An object for each run, measure and slice, on a line of its own."""
    for run in runs:
        for row in _rows(run, slices).to_dict("records"):
            row["slice"] = str(row["slice"])
            row |= {name: None if row[name] != row[name] else row[name] for name in _NUMBERS}
            yield json.dumps(row, allow_nan=False) + "\n"


_FORMATS = {"table": _table, "csv": _csv, "json": _json}


def _rows(run: RunValues, slices) -> pd.DataFrame:
    """Each measure by slices, p values corrected for their number."""
    parts = []
    assert run.topics is not None  # asked for by whoever reads the runs
    for measure in run.topics.columns:
        scores = SystemScores(
            run.topics[[measure]].T,
            systems=[run.name],
            queries=run.topics.index,
            measure=measure,
            missing="drop",
        )
        try:
            table = compare_slices(scores, slices).to_frame()
        except ValueError as error:
            error.add_note(f"(--slices, run {run.name})")
            raise
        parts.append(table.assign(run=run.name, measure=measure))
    return pd.concat(parts).rename(columns={"n_queries": "n_topics"})[_COLUMNS]

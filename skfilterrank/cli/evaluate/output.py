"""Values of runs as text, written run by run."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.paper_tables import Cell, paper_table
from skfilterrank._files.tables import csv_text
from skfilterrank.cli._output import align_columns

# A value that four digits would show as 0.0000.
_SMALL = 0.0005


class RunValues(NamedTuple):
    """What is printed of a run, by the names of measures as they were written."""

    name: str
    means: pd.Series
    n_topics: int
    topics: pd.DataFrame | None  # None where only means are wanted
    missing_topics: tuple[str, ...]
    unjudged_topics: tuple[str, ...]


def table(runs: Iterable[RunValues]) -> Iterator[str]:
    """Columns for people: a line for each run, or a table of each run's topics."""
    lines: list[list] = []
    for number, run in enumerate(runs):
        if run.topics is None:
            lines = lines or [["run", *run.means.index]]
            lines.append([run.name, *map(_cell, run.means)])
            continue
        topics = [[run.name, *run.topics.columns]]
        topics += [[row[0], *map(_cell, row[1:])] for row in run.topics.itertuples(name=None)]
        topics.append(["all", *map(_cell, run.means)])
        yield ("\n" if number else "") + "\n".join(align_columns(topics)) + "\n"
    if lines:
        yield "\n".join(align_columns(lines)) + "\n"


def csv(runs: Iterable[RunValues]) -> Iterator[str]:
    """Columns for programs: run (and qid), then the measures; an undefined value is empty."""
    for number, run in enumerate(runs):
        if run.topics is not None:
            frame = pd.concat({run.name: run.topics}, names=["run"])
        else:
            frame = run.means.to_frame(run.name).T.rename_axis("run")
        yield csv_text(frame, header=number == 0)


def json_lines(runs: Iterable[RunValues]) -> Iterator[str]:
    """A JSON object on a line of its own for each run."""
    for run in runs:
        record = {
            "run": run.name,
            "n_topics": run.n_topics,
            "missing_topics": run.missing_topics,
            "unjudged_topics": run.unjudged_topics,
            "mean": _without_nan(run.means.to_dict()),
        }
        if run.topics is not None:
            rows = run.topics.to_dict("index")
            record["topics"] = {qid: _without_nan(row) for qid, row in rows.items()}
        yield json.dumps(record, allow_nan=False) + "\n"


def trec(runs: Iterable[RunValues]) -> Iterator[str]:
    """The lines of trec_eval: measure, topic and value; after its topics a run's name and means."""
    for run in runs:
        lines: list[str] = []
        if run.topics is not None:
            for qid, *values in run.topics.itertuples(name=None):
                lines += _trec_lines(qid, run.topics.columns, values)
        lines.append(f"{'runid':<22}\tall\t{run.name}\n")
        yield "".join([*lines, *_trec_lines("all", run.means.index, run.means)])


def paper(runs: Iterable[RunValues], format: str) -> Iterator[str]:
    """A table of means, the best bold; or a table of each run's topics."""
    means = []
    for number, run in enumerate(runs):
        if run.topics is None:
            means.append(run)
            continue
        rows = [[str(row[0]), *map(_cell, row[1:])] for row in run.topics.itertuples(name=None)]
        rows.append(["all", *map(_cell, run.means)])
        yield "\n" * (number > 0) + paper_table([run.name, *run.topics.columns], rows, format)
    if means:
        values = pd.DataFrame([run.means for run in means]).to_numpy()
        measures = means[0].means.index
        parsed = map(parse_measure, measures)
        signs = [1 if each.measure.greater_is_better else -1 for each in parsed]
        is_best = (values * signs == np.fmax.reduce(values * signs)) & (len(means) > 1)
        rows = [
            [run.name, *(Cell(_cell(value), "", best) for value, best in zip(*both))]
            for run, both in zip(means, zip(values, is_best.tolist()))
        ]
        yield paper_table(["run", *measures], rows, format)


FORMATS: dict[str, Callable[[Iterable[RunValues]], Iterator[str]]] = {
    "table": table,
    "csv": csv,
    "json": json_lines,
    "trec": trec,
    "latex": partial(paper, format="latex"),
    "markdown": partial(paper, format="markdown"),
}


def _trec_lines(qid, measures, values):
    columns = zip(map(_trec_column, measures), values)
    return [f"{name:<22}\t{qid}\t{value:{digits}}\n" for (name, digits), value in columns]


@lru_cache
def _trec_column(measure):
    """Name and digits of a measure: counts have none behind the point."""
    is_count = parse_measure(measure).measure.over_queries == "sum"
    # Columns end at white space, which names may have behind commas.
    return "".join(measure.split()), ".0f" if is_count else "6.4f"


def _cell(value):
    """Four digits after the point, or the leading ones of a number that has none there."""
    if value != value:
        return "-"
    return f"{value:.1e}" if 0 < abs(value) < _SMALL else f"{value:.4f}"


def _without_nan(values):
    """NaN, which JSON does not know, as None."""
    return {name: None if value != value else value for name, value in values.items()}

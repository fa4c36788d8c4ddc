"""Values of runs with intervals, as text."""

import json

from skfilterrank._core.measure_names import parse_measures
from skfilterrank._core.results import interval_text
from skfilterrank._files.tables import csv_text
from skfilterrank.cli._estimates import MEASURES, estimated
from skfilterrank.cli._output import align_columns
from skfilterrank.cli._streams import results
from skfilterrank.exceptions import InputError, brief

# What is printed of each topic, of which a sample says too little, or goes on without a run.
_OTHERS = ("per_query", "slices", "keep_going")


def print_intervals(runs, arguments) -> int:
    """Estimate the values of the runs, paths by name, and print them."""
    for name in _OTHERS:
        if getattr(arguments, name):
            raise InputError(
                f"--interval gives the values of whole runs: leave out it or "
                f"--{name.replace('_', '-')}."
            )
    if not arguments.interval:
        raise InputError(
            "--machine-qrels, --prels and --pool are for values with intervals: add --interval."
        )
    if arguments.format not in (None, *_FORMATS):
        raise InputError(
            f"--interval is printed as {', '.join(_FORMATS)}, not as {arguments.format}."
        )
    arguments.formats = tuple(_FORMATS)
    measures = parse_measures(arguments.measures or MEASURES)
    order = _sorted_by(arguments.sort, measures)
    estimates = estimated(runs, measures, arguments, confidence=arguments.confidence).estimates
    names = list(estimates.runs)
    if order is not None:
        by_value = estimates.to_frame().loc[order, "value"]
        is_greater = estimates.results[order].greater_is_better
        names = by_value.sort_values(ascending=not is_greater, kind="stable").index.tolist()
    with results(arguments) as (format, write):
        write(_FORMATS[format](estimates, names))
    return 0


def _sorted_by(name, measures):
    """The measure that orders runs, as it was written; None keeps them as they are given."""
    if name is None:
        return None
    wanted = parse_measures([name])[name]
    for text, measure in measures.items():
        if measure == wanted:
            return text
    raise InputError(
        f"--sort {brief(name)} is not one of the measures asked for: choose from "
        f"{', '.join(measures)}."
    )


def _table(estimates, names):
    """For people: a line for each run, a value and an interval for each measure."""
    frame = estimates.to_frame()
    lines = [["run"]]
    for measure in estimates.measures:
        lines[0] += [measure, interval_text(estimates.confidence)]
    for name in names:
        line = [name]
        for measure in estimates.measures:
            row = frame.loc[measure, name]
            line += [f"{row['value']:.4f}", f"{row['low']:.4f} {row['high']:.4f}"]
        lines.append(line)
    return "\n".join([estimates.made_from, *align_columns(lines)]) + "\n"


def _csv(estimates, names):
    """A line for each run and measure."""
    frame = estimates.to_frame().swaplevel().loc[names]
    return csv_text(frame)


def _json(estimates, names):
    """An object on a line of its own for each run."""
    frame = estimates.to_frame()
    shared = {
        "n_topics": len(estimates.topics),
        "n_judged": estimates.n_judged,
        "n_possible": estimates.n_possible,
        "n_other": estimates.n_other,
        "target": estimates.target,
        "confidence": estimates.confidence,
    }
    lines = []
    for name in names:
        values = {measure: frame.loc[measure, name].to_dict() for measure in estimates.measures}
        lines.append(json.dumps({"run": name} | shared | {"measures": values}) + "\n")
    return "".join(lines)


_FORMATS = {"table": _table, "csv": _csv, "json": _json}

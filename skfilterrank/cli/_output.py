"""What the commands print and draw."""

import io
import json
from pathlib import Path
from textwrap import wrap

import numpy as np
import pandas as pd

from skfilterrank._files.files import open_replacing
from skfilterrank._files.tables import csv_text
from skfilterrank._printable import printable


def format_report(report: pd.DataFrame, k: int | None, *, models, best, baseline) -> str:
    """The report in at most 90 columns: below each model its ranking and its filter alone."""
    heads = [
        ("", ""),
        ("", "nDCG_f"),
        ("", "95 % interval"),
        ("", "nDCG_0"),
        ("", "nDCG_min"),
        ("forbid", "den %"),
        ("good", "lost %"),
        ("empty", "lists %"),
        ("", "diff."),
        ("", "p"),
    ]
    rows = []
    for name in models:
        mark = " *" if name == best else ""
        rows.append((f"{name}{mark}", name))
        for label in ("rank-only", "filter-only"):
            rows.append((f"  {label}", f"{label} ({name})"))
    told = {system for _, system in rows}
    rows = [row for row in rows if row[1] in report.index]
    rows += [(name, name) for name in report.index if name not in told]
    cells = [[label, *_cells(report.loc[name], name == baseline)] for label, name in rows]
    lines = [*zip(*heads), *cells]
    text = align_columns(lines)
    text.insert(2, "-" * max(map(len, text)))
    shown = f"the {k} places shown" if k else "all that is shown"
    notes = [
        f"measures at {k or 'all'} places; forbidden: share of {shown}; good lost: share filtered;",
        f"diff. and p: nDCG_f against {baseline}, paired t test over queries",
    ]
    if "own_difference" in report:
        own = report.loc[list(models), ["own_difference", "own_p_value"]]
        compared = "; ".join(
            f"{printable(name)} {difference}{f' (p {p_value})' if p_value else ''}"
            for name, difference, p_value in (
                (name, *_tested(*row)) for name, row in zip(own.index, own.to_numpy())
            )
        )
        notes += wrap(f"each model against its own rank-only: {compared}", 90)
    return "\n".join([*text, "", *notes])


def value_of(score: float, measure) -> float:
    """The value of a measure, of a score that is higher for better models whatever the measure."""
    return score if measure.greater_is_better else 0.0 - score


def describe(counts) -> str:
    """What is in a run."""
    return (
        f"{counts.written:,} documents, {counts.filtered:,} filtered, {counts.empty_queries:,} "
        "queries left empty"
    )


def format_frame(frame: pd.DataFrame, format: str) -> str:
    """Write a frame with a named index as a table, CSV or lines of JSON."""
    if format == "csv":
        return csv_text(frame)
    rows = frame.reset_index()
    if format == "json":
        records = rows.astype(object).where(rows.notna(), None).to_dict("records")
        return "".join(
            json.dumps({name: _finite(value) for name, value in record.items()}) + "\n"
            for record in records
        )
    cells = [[_cell(value) for value in row] for row in rows.itertuples(index=False, name=None)]
    return "\n".join(align_columns([list(rows), *cells])) + "\n"


def _finite(value):
    """A value as JSON can hold it."""
    return repr(value) if isinstance(value, float) and np.isinf(value) else value


def _cell(value):
    """A value of a table as text."""
    return f"{value:.4g}" if isinstance(value, float) else "none" if value is None else str(value)


def align_columns(lines) -> list[str]:
    """Lines of cells as text, the first column at the left, the others at the right."""
    lines = [[printable(cell) for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    ]


def _cells(row, is_baseline):
    """One line of the report, shares in percent."""
    main, low, high, zero, least, forbidden, lost, empty, difference, p_value = row.iloc[:10]
    interval = "" if np.isnan(low) else f"{low:.3f}-{high:.3f}"
    shares = [f"{100 * share:.1f}" if share == share else "" for share in (forbidden, lost, empty)]
    compared = ["base", ""] if is_baseline else _tested(difference, p_value)
    return [f"{main:.3f}", interval, f"{zero:.3f}", f"{least:.3f}", *shares, *compared]


def _tested(difference, p_value):
    """A difference and its p value, empty where there is none."""
    return [
        "" if np.isnan(difference) else f"{difference:+.3f}",
        "" if np.isnan(p_value) else "<.001" if p_value < 0.0005 else f"{p_value:.3f}",
    ]


def draw(model, path, title=None) -> None:
    """Draw a model's threshold curve into a file."""
    from matplotlib.figure import Figure

    from skfilterrank.plot import ThresholdCurveDisplay

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    display = ThresholdCurveDisplay.from_estimator(model, ax=figure.subplots())
    if title is not None:
        display.ax_.set_title(printable(title))
    # Into memory first: what draws some formats does not tell which file a disk had no room for.
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=150, format=Path(path).suffix.removeprefix("."))
    with open_replacing(path) as handle:
        handle.write(drawn.getvalue())

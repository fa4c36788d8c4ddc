"""What ``skfilterrank threshold`` does."""

import json
import warnings

import numpy as np
import pandas as pd

from skfilterrank._core.judges import JUDGED_BY, PEOPLE, PREDICTED, is_of_machine
from skfilterrank._core.measure_names import parse_measure, parse_measures
from skfilterrank._core.results import counted
from skfilterrank._files.separated import csv_text
from skfilterrank.cli._errors import name_documents
from skfilterrank.cli._label_gains import with_other_labels
from skfilterrank.cli._output import align_columns, value_of
from skfilterrank.cli._run_files import (
    DONE_WITH_MISSING,
    gains_of_labels,
    named_runs,
    read_judgments,
    source,
)
from skfilterrank.cli._shared_options import threshold_parameters
from skfilterrank.cli._streams import results, tell
from skfilterrank.cli.threshold.options import MEASURE
from skfilterrank.exceptions import InputError, UnjudgedWarning
from skfilterrank.io import QrelsIndex, read_run
from skfilterrank.metrics import evaluate
from skfilterrank.ranking import RankAndFilter, write_filter


def run(arguments) -> None:
    """Find the thresholds, print what they are worth, and save the filter."""
    model = _unfitted(arguments)
    runs = named_runs(arguments.qrels, arguments.runs)
    if arguments.save is not None and len(runs) > 1:
        raise InputError(
            f"--save saves the filter of one run, got {len(runs)}: name the run that is to be "
            "filtered."
        )
    qrels = read_judgments(arguments.qrels, arguments)
    gains = gains_of_labels(qrels["label"], arguments)
    # Judgments that come later may hold labels that these do not.
    model.set_params(gains=with_other_labels(gains, arguments.gains))
    index, machines = QrelsIndex(qrels), _machines(qrels)
    rows = {}
    for name, path in runs.items():
        run = read_run(source(path))
        fitted, rows[name] = _fitted(model, run, index, name, arguments.missing, machines)
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("run")
    if arguments.save is not None:
        write_filter(arguments.save, fitted)
        tell(f"wrote {arguments.save}")
    with results(arguments) as (format, write):
        write(_FORMATS[format](table))
        if format == "table" and hasattr(fitted, "risk_certificate_") and len(runs) == 1:
            write(f"\n{fitted.risk_certificate_}\n")


def _unfitted(arguments):
    """The filter that the arguments ask for."""
    measures = list(parse_measures(arguments.measures or [MEASURE]))
    if len(measures) > 1:
        raise InputError(f"a threshold is best by one measure, got {', '.join(measures)}.")
    params = threshold_parameters(arguments)
    params |= {name: getattr(arguments, name) for name in ("abstain", "max_shown", "min_shown")}
    return RankAndFilter("passthrough", measure=measures[0], k=arguments.k, **params)


def _machines(qrels):
    """Judgments that state who judged: 1 where a machine did; None where people judged all."""
    if JUDGED_BY not in qrels:
        return None
    is_machine = is_of_machine(qrels[JUDGED_BY]).astype(float)
    return QrelsIndex(qrels.drop(columns=JUDGED_BY).assign(label=is_machine), unjudged_label=None)


def _fitted(model, run, index, name, missing, machines):
    """Fit the filter of one run, and make a line about it."""
    aligned = index.align(run, missing=missing)
    y_true, y_score, groups = aligned
    name_documents(aligned.docnos)
    model = RankAndFilter(**model.get_params(deep=False))
    judged_by = None
    if machines is not None:
        is_machine = machines.align(run, missing=missing).y_true == 1
        judged_by = np.where(is_machine, PREDICTED, PEOPLE)
    with warnings.catch_warnings():
        # Unjudged documents are told of when the run is read.
        warnings.simplefilter("ignore", UnjudgedWarning)
        try:
            model.fit(y_score, y_true, groups=groups, judged_by=judged_by)
        except ValueError as error:
            error.add_note(f"(run {name})")
            raise
    measure = model.tuned_measure_
    shown = model.predict(y_score, groups=groups)
    plain = evaluate(y_true, y_score, [measure], groups=groups, gains=model.gains, average="mean")
    value = evaluate(y_true, shown, [measure], groups=groups, gains=model.gains, average="mean")
    n_rows, n_shown = (int((scores > -float("inf")).sum()) for scores in (y_score, shown))
    if n_missing := len(aligned.missing_topics):
        tell(f"{name} lacks {counted(n_missing, 'judged topic')}: {DONE_WITH_MISSING[missing]}")
    tell(
        f"{name}: {counted(aligned.index.n_queries, 'judged topic')}, "
        f"{counted(n_rows, 'document')}, {n_rows - n_shown:,} of them filtered"
    )
    row = {
        "threshold": model.threshold if isinstance(model.threshold, str) else None,
        measure: float(value[measure]),
        "unfiltered": float(plain[measure]),
        "topics": aligned.index.n_queries,
        "shown": n_shown,
        "filtered": n_rows - n_shown,
    }
    if model.threshold_ is not None:
        row["threshold"] = model.threshold_
    if hasattr(model, "held_out_score_"):
        row["held out"] = value_of(model.held_out_score_, parse_measure(measure).measure)
    if hasattr(model, "risk_certificate_"):
        if model.risk_certificate_.n_machine:
            row["labels of machines"] = model.risk_certificate_.n_machine
        for rate, promise in model.risk_certificate_.promises.items():
            row |= {rate: promise.observed, f"{rate} at most": promise.upper_bound}
    return model, row


def _table(table):
    """Columns of text."""
    cells = [
        [
            f"{value:.4g}" if isinstance(value, float) else "none" if value is None else str(value)
            for value in row
        ]
        for row in table.itertuples(index=False, name=None)
    ]
    lines = [["run", *table.columns], *([name, *row] for name, row in zip(table.index, cells))]
    return "\n".join(align_columns(lines)) + "\n"


def _csv(table):
    return csv_text(table)


def _json(table):
    """A line for each run."""
    rows = table.reset_index().to_dict("records")
    for row in rows:
        threshold = row["threshold"]
        if isinstance(threshold, float) and threshold in (float("inf"), -float("inf")):
            row["threshold"] = repr(threshold)
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)


_FORMATS = {"table": _table, "csv": _csv, "json": _json}

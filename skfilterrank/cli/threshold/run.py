"""What ``skfilterrank threshold`` does."""

import warnings

import numpy as np
import pandas as pd
from sklearn.base import clone

from skfilterrank._core.judges import JUDGED_BY, PEOPLE, PREDICTED, is_of_machine
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.results import counted
from skfilterrank.cli._errors import name_documents
from skfilterrank.cli._label_gains import with_other_labels
from skfilterrank.cli._output import format_frame, value_of
from skfilterrank.cli._run_files import (
    DONE_WITH_MISSING,
    align_second,
    gains_of_labels,
    named_runs,
    read_judgments,
    read_scores,
)
from skfilterrank.cli._streams import results, tell
from skfilterrank.cli._thresholds import make_threshold, read_measure
from skfilterrank.cli.threshold.options import MEASURE
from skfilterrank.exceptions import InputError, UnjudgedWarning
from skfilterrank.io import QrelsIndex
from skfilterrank.metrics import evaluate


def run(arguments) -> None:
    """Find the thresholds, print what they are worth, and save the filter."""
    measure = read_measure(arguments, MEASURE)
    threshold = make_threshold(arguments, measure)
    runs = named_runs(arguments.qrels, arguments.runs)
    if arguments.save is not None and len(runs) > 1:
        raise InputError(
            f"--save saves the filter of one run, got {len(runs)}: name the run that is to be "
            "filtered."
        )
    qrels = read_judgments(arguments.qrels, arguments)
    gains = gains_of_labels(qrels["label"], arguments)
    # Judgments that come later may hold labels that these do not.
    threshold.set_params(gains=with_other_labels(gains, arguments.gains))
    index, machines = QrelsIndex(qrels), _machines(qrels)
    rows = {}
    for name, path in runs.items():
        run, second = read_scores(path, arguments)
        fitted = clone(threshold)
        rows[name] = _fit(fitted, run, second, index, name, arguments, machines)
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis("run")
    if arguments.save is not None:
        fitted.save(arguments.save)
        tell(f"wrote {arguments.save}")
    with results(arguments) as (format, write):
        write(format_frame(table, format))
        if format == "table" and hasattr(fitted, "certificate_") and len(runs) == 1:
            write(f"\n{fitted.certificate_}\n")


def _machines(qrels):
    """Judgments that state who judged: 1 where a machine did; None where people judged all."""
    if JUDGED_BY not in qrels:
        return None
    is_machine = is_of_machine(qrels[JUDGED_BY]).astype(float)
    return QrelsIndex(qrels.drop(columns=JUDGED_BY).assign(label=is_machine), unjudged_label=None)


def _fit(threshold, run, second, index, name, arguments, machines):
    """Fit the threshold of one run; return a line about it."""
    missing = arguments.missing
    aligned = index.align(run, missing=missing)
    y_true, y_score, groups = aligned
    name_documents(aligned.docnos)
    second = align_second(second, run, aligned)
    judged_by = None
    if machines is not None:
        is_machine = machines.align(run, missing=missing).y_true == 1
        judged_by = np.where(is_machine, PREDICTED, PEOPLE)
    with warnings.catch_warnings():
        # Unjudged documents are told of when the run is read.
        warnings.simplefilter("ignore", UnjudgedWarning)
        try:
            threshold.fit(y_score, y_true, groups=groups, filter_scores=second, judged_by=judged_by)
        except ValueError as error:
            error.add_note(f"(run {name})")
            raise
    measure = threshold.measure_
    shown = threshold.predict(y_score, groups=groups, filter_scores=second)
    how = {"groups": groups, "gains": threshold.gains, "average": "mean"}
    plain, value = (evaluate(y_true, scores, [measure], **how) for scores in (y_score, shown))
    n_rows, n_shown = (int((scores > -float("inf")).sum()) for scores in (y_score, shown))
    if n_missing := len(aligned.missing_topics):
        tell(f"{name} lacks {counted(n_missing, 'judged topic')}: {DONE_WITH_MISSING[missing]}")
    tell(
        f"{name}: {counted(aligned.index.n_queries, 'judged topic')}, "
        f"{counted(n_rows, 'document')}, {n_rows - n_shown:,} of them filtered"
    )
    row = {
        "threshold": threshold.threshold_,
        measure: float(value[measure]),
        "unfiltered": float(plain[measure]),
        "topics": aligned.index.n_queries,
        "shown": n_shown,
        "filtered": n_rows - n_shown,
    }
    if threshold.threshold_ is None or arguments.threshold is None:
        row["threshold"] = getattr(threshold, "rule_", arguments.threshold)
    if hasattr(threshold, "held_out_score_"):
        row["held out"] = value_of(threshold.held_out_score_, parse_measure(measure).measure)
    if hasattr(threshold, "certificate_"):
        if threshold.certificate_.n_machine:
            row["labels of machines"] = threshold.certificate_.n_machine
        for risk, promise in threshold.certificate_.promises.items():
            row |= {risk: promise.observed, f"{risk} at most": promise.upper_bound}
    return row

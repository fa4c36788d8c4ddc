"""Topics counted against the promises of a threshold, and scores compared with earlier ones."""

import os
import warnings

import numpy as np
import pandas as pd

from skfilterrank._files.locks import locked
from skfilterrank._lists.results import counted
from skfilterrank.cli._errors import name_documents
from skfilterrank.cli._inputs import (
    DONE_WITH_MISSING,
    align_second,
    read_judgments,
    read_scores,
    text_gains,
)
from skfilterrank.cli._output import frame_section, print_sections, tell
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.io import QrelsIndex
from skfilterrank.thresholds import RiskMonitor


def count_topics(threshold, saved, state, begun, format, out, *, qrels, run, column, gains, holes):
    """Count new topics; return 1 after an alarm."""
    of_texts = text_gains(gains, holes) is not None and threshold.gains is None
    if gains is not None and not of_texts:
        raise InputError(
            f"--gains gives labels that are texts a number, and {saved} has gains of numbers "
            f"({brief(threshold.gains)}). Leave out --gains."
        )
    index = QrelsIndex(read_judgments(qrels, gains, holes))
    if holes.said_unjudged is not None:
        tell(
            "labels that --holes takes for not judged raise no alarm: give the same --holes as "
            f"where {saved} was made"
        )
    rows, second = read_scores(run, column)
    aligned = index.align(rows, missing=holes.missing)
    y_true, y_score, groups = aligned
    name_documents(aligned.docnos)
    second = align_second(second, rows, aligned)
    shown = threshold.predict(y_score, groups=groups, filter_scores=second)
    with locked(state):
        monitor = _resumed(threshold, saved, state, **begun)
        n_before = _n_counted(monitor.status)
        status = monitor.update(y_true, shown, groups=groups)
        table = frame_section(status.rates.rename_axis("rate"))
        # Topics of the state cannot be counted again. So it is written last, after all that can
        # fail; a reader of the output that has gone is no failure.
        try:
            print_sections([table._replace(rows=[], head=str(status))], format, out)
        except BrokenPipeError:
            monitor.save(state)
            raise
        monitor.save(state)
    if n_missing := len(aligned.missing_topics):
        done = DONE_WITH_MISSING[holes.missing]
        tell(f"{run} lacks {counted(n_missing, 'judged topic')}: {done}")
    n_new = _n_counted(status) - n_before
    tell(f"counted {counted(n_new, 'topic')}; the state is in {state}")
    return int(status.alarm)


def compare_scores(threshold, saved, run, column, format, out):
    """Compare the scores of a run with those of the calibration; return 1 for another scale."""
    calibration = getattr(threshold, "calibration_", None)
    if calibration is None:
        raise InputError(
            f"{saved} holds no scores to compare with, as its threshold was given or is of an "
            "earlier version. Make it with 'skfilterrank threshold --save'."
        )
    rows, second = read_scores(run, column)
    scores, queries = rows["score"].to_numpy(), rows["qid"].to_numpy()
    with warnings.catch_warnings():
        # The table and the exit code say it.
        warnings.simplefilter("ignore", DataWarning)
        shown = threshold.predict(scores, groups=queries, filter_scores=second) > -np.inf
    sizes = pd.Series(scores > -np.inf).groupby(queries).sum().to_numpy()
    found = type(calibration).of(scores, shown, sizes)
    if found is None:
        raise InputError(f"{run} holds no document with a score.")
    values = {
        name: [*each.quantiles[[0, 3, 5, 7, 10]], each.share_shown]
        for name, each in {"calibration": calibration, "run": found}.items()
    }
    columns = ["minimum", "p10", "median", "p90", "maximum", "shown"]
    table = pd.DataFrame.from_dict(values, orient="index", columns=columns).rename_axis("scores")
    print_sections([frame_section(table)], format, out)
    difference = calibration.difference(scores, sizes, getattr(threshold, "threshold_", None))
    if not calibration.can_compare(sizes):
        tell(
            "there are too few lists, here or in the calibration, to say whether the scale is "
            "another: 30 are needed, or more where a few lists hold most documents"
        )
    if difference is not None:
        tell(f"the scores are on another scale: {difference}")
    return int(difference is not None)


def _n_counted(status):
    """Return the number of queries that any rate has counted."""
    return int(status.rates["n_queries"].max())


def _resumed(threshold, saved, state, alpha, allow_repeats):
    """Return the monitor as it was left, or a new one."""
    if not hasattr(threshold, "certificate_"):
        raise InputError(
            f"{saved} promises nothing that could be monitored. Make it with 'skfilterrank "
            "threshold --risk RISK=LEVEL'."
        )
    if not os.path.exists(state):
        alpha = 0.05 if alpha is None else alpha
        return RiskMonitor.of(threshold, alpha=alpha, allow_repeats=allow_repeats)
    monitor = RiskMonitor.load(state)
    monitor.allow_repeats |= allow_repeats
    if not monitor.watches(threshold):
        raise InputError(
            f"{state} is the state of another threshold than {saved} holds now. Name another "
            "--state, or remove the file to begin anew."
        )
    if alpha not in (None, monitor.alpha):
        raise InputError(
            f"{state} was begun with --alpha {monitor.alpha:g}, which cannot change on the way. "
            "Leave --alpha out."
        )
    return monitor

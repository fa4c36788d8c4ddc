"""What ``skfilterrank monitor`` does."""

import os
import warnings

import numpy as np
import pandas as pd

from skfilterrank._core.results import counted
from skfilterrank._files.locks import locked
from skfilterrank.cli._errors import name_documents
from skfilterrank.cli._file_options import is_same_file, written
from skfilterrank.cli._output import format_frame
from skfilterrank.cli._run_files import (
    DONE_WITH_MISSING,
    STDIN,
    align_second,
    read_filter_of_runs,
    read_judgments,
    read_scores,
    text_gains,
)
from skfilterrank.cli._streams import results, tell
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.io import QrelsIndex
from skfilterrank.thresholds import RiskMonitor


def run(arguments) -> int:
    """Count the new topics, or compare scores; 1 where a promise is broken, or scores differ."""
    threshold = read_filter_of_runs(arguments)
    if arguments.qrels is None:
        return _compare_scores(threshold, arguments)
    _check_gains(threshold, arguments)
    state = arguments.state or _state_beside(arguments)
    if os.path.exists(state) and not os.path.isfile(state):
        raise InputError(f"{state} is no regular file, which could keep a state: name another.")
    index = QrelsIndex(read_judgments(arguments.qrels, arguments))
    run, second = read_scores(arguments.run, arguments)
    aligned = index.align(run, missing=arguments.missing)
    y_true, y_score, groups = aligned
    name_documents(aligned.docnos)
    second = align_second(second, run, aligned)
    shown = threshold.predict(y_score, groups=groups, filter_scores=second)
    with locked(state):
        monitor = _monitor(threshold, state, arguments)
        n_before = _n_counted(monitor.status)
        status = monitor.update(y_true, shown, groups=groups)
        # Topics of the state cannot be counted again. So it is written last, after all that can
        # fail; a reader of the output that has gone is no failure.
        try:
            with results(arguments) as (format, write):
                rates = status.rates.rename_axis("rate")
                write(f"{status}\n" if format == "table" else format_frame(rates, format))
        except BrokenPipeError:
            monitor.save(state)
            raise
        monitor.save(state)
    if missing := len(aligned.missing_topics):
        done = DONE_WITH_MISSING[arguments.missing]
        tell(f"{arguments.run} lacks {counted(missing, 'judged topic')}: {done}")
    n_new = _n_counted(status) - n_before
    tell(f"counted {counted(n_new, 'topic')}; the state is in {state}")
    return 1 if status.alarm else 0


def _compare_scores(threshold, arguments):
    """Compare the scores of a run with those of the calibration; 1 if their scale is another."""
    if given := [
        f"--{name.replace('_', '-')}"
        for name in ("state", "alpha", "allow_repeats")
        if getattr(arguments, name)
    ]:
        raise InputError(f"{given[0]} is for judged topics: name their judgments by --qrels.")
    calibration = getattr(threshold, "calibration_", None)
    if calibration is None:
        raise InputError(
            f"{arguments.filter} holds no scores to compare with, as it has a threshold that was "
            "given or is of an earlier version: make it with 'skfilterrank threshold --save'."
        )
    rows, second = read_scores(arguments.run, arguments)
    scores, queries = rows["score"].to_numpy(), rows["qid"].to_numpy()
    with warnings.catch_warnings():
        # The table and the exit code say it.
        warnings.simplefilter("ignore", DataWarning)
        shown = threshold.predict(scores, groups=queries, filter_scores=second) > -np.inf
    sizes = pd.Series(scores > -np.inf).groupby(queries).sum().to_numpy()
    found = type(calibration).of(scores, shown, sizes)
    if found is None:
        raise InputError(f"{arguments.run} holds no document with a score.")
    names = [f"{100 * level:g} %" for level in (0, 0.1, 0.5, 0.9, 1)]
    table = pd.DataFrame.from_dict(
        {
            name: [*each.quantiles[[0, 3, 5, 7, 10]], each.share_shown]
            for name, each in {"calibration": calibration, "run": found}.items()
        },
        orient="index",
        columns=[*names, "shown"],
    ).rename_axis("scores")
    with results(arguments) as (format, write):
        write(format_frame(table, format))
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
    """Number of queries that any rate has counted."""
    return int(status.rates["n_queries"].max())


def _check_gains(threshold, arguments):
    """Raise for gains that are not those of labels that are texts."""
    of_texts = text_gains(arguments) is not None and threshold.gains is None
    if arguments.gains is not None and not of_texts:
        raise InputError(
            f"--gains gives labels that are texts a number, and {arguments.filter} has gains of "
            f"numbers ({brief(threshold.gains)}): leave out --gains."
        )


def _state_beside(arguments):
    """Where the state is kept where nobody says; no other file of the command."""
    if arguments.filter == STDIN:
        raise InputError("the filter is read from standard input: name --state.")
    state = written(f"{os.path.splitext(arguments.filter)[0]}.monitor.json")
    for option in ("run", "out", "qrels"):
        text = getattr(arguments, option) or "-"
        if is_same_file(state, text, int(option == "out")):
            stream = "standard output" if option == "out" else "standard input"
            name = stream if text == "-" else f"--{option} {text}"
            raise InputError(
                f"{name} is the file of the state, {state}: name another one, or name --state."
            )
    return state


def _monitor(threshold, state, arguments):
    """The monitor as it was left, or a new one."""
    if not hasattr(threshold, "certificate_"):
        raise InputError(
            f"{arguments.filter} promises nothing that could be monitored: make the filter with "
            "'skfilterrank threshold --risk RATE=LEVEL'."
        )
    if not os.path.exists(state):
        alpha = 0.05 if arguments.alpha is None else arguments.alpha
        return RiskMonitor.of(threshold, alpha=alpha, allow_repeats=arguments.allow_repeats)
    monitor = RiskMonitor.load(state)
    monitor.allow_repeats |= arguments.allow_repeats
    if not monitor.watches(threshold):
        raise InputError(
            f"{state} is the state of another filter than {arguments.filter} holds now: name "
            "another --state, or remove the file to begin anew."
        )
    if arguments.alpha not in (None, monitor.alpha):
        raise InputError(
            f"{state} was begun with --alpha {monitor.alpha:g}, which cannot change on the way: "
            "leave --alpha out."
        )
    return monitor

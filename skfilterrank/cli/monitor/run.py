"""What ``skfilterrank monitor`` does."""

import json
import os

from skfilterrank._core.results import counted
from skfilterrank._files.locks import locked
from skfilterrank._files.separated import csv_text
from skfilterrank.cli._file_options import written
from skfilterrank.cli._run_files import (
    DONE_WITH_MISSING,
    STDIN,
    read_filter_of_runs,
    read_judgments,
    source,
    text_gains,
)
from skfilterrank.cli._streams import results, tell
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io import QrelsIndex, read_run
from skfilterrank.ranking import RiskMonitor, read_monitor, write_monitor


def run(arguments) -> int:
    """Count the new topics; 1 where a promise is broken."""
    model = read_filter_of_runs(arguments.filter)
    _check_gains(model, arguments)
    state = arguments.state or _state_beside(arguments.filter)
    index = QrelsIndex(read_judgments(arguments.qrels, arguments))
    aligned = index.align(read_run(source(arguments.run)), missing=arguments.missing)
    y_true, y_score, groups = aligned
    shown = model.predict(y_score, groups=groups)
    with locked(state):
        monitor = _monitor(model, state, arguments)
        n_before = _n_counted(monitor.status)
        status = monitor.update(y_true, shown, groups=groups)
        # Topics of the state cannot be counted again. So it is written last, after all that can
        # fail; a reader of the output that has gone is no failure.
        try:
            with results(arguments) as (format, write):
                write(_FORMATS[format](status))
        except BrokenPipeError:
            write_monitor(state, monitor)
            raise
        write_monitor(state, monitor)
    if missing := len(aligned.missing_topics):
        done = DONE_WITH_MISSING[arguments.missing]
        tell(f"{arguments.run} lacks {counted(missing, 'judged topic')}: {done}")
    n_new = _n_counted(status) - n_before
    tell(f"counted {counted(n_new, 'topic')}; the state is in {state}")
    return 1 if status.alarm else 0


def _n_counted(status):
    """Number of queries that any rate has counted."""
    return int(status.rates["n_queries"].max())


def _check_gains(model, arguments):
    """Raise for gains that are not those of labels that are texts."""
    if arguments.gains is not None and (text_gains(arguments) is None or model.gains is not None):
        raise InputError(
            f"--gains gives labels that are texts a number, and {arguments.filter} has gains of "
            f"numbers ({brief(model.gains)}): leave out --gains."
        )


def _state_beside(path):
    """Where the state is kept where nobody says."""
    if path == STDIN:
        raise InputError("the filter is read from standard input: name --state.")
    return written(f"{os.path.splitext(path)[0]}.monitor.json")


def _monitor(model, state, arguments):
    """The monitor as it was left, or a new one."""
    if not hasattr(model, "risk_certificate_"):
        raise InputError(
            f"{arguments.filter} promises nothing that could be monitored: make the filter with "
            "'skfilterrank threshold --risk RATE=LEVEL'."
        )
    if not os.path.exists(state):
        alpha = 0.05 if arguments.alpha is None else arguments.alpha
        return RiskMonitor.for_filter(model, alpha=alpha, allow_repeats=arguments.allow_repeats)
    monitor = read_monitor(state)
    monitor.allow_repeats |= arguments.allow_repeats
    if not monitor.watches(model):
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


def _table(status):
    return f"{status}\n"


def _csv(status):
    return csv_text(status.rates.rename_axis("rate"))


def _json(status):
    """A line for each rate."""
    rows = status.rates.rename_axis("rate").reset_index().astype(object)
    rows = rows.where(rows.notna(), None).to_dict("records")
    return "".join(json.dumps(row) + "\n" for row in rows)


_FORMATS = {"table": _table, "csv": _csv, "json": _json}

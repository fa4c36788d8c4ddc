"""``skfilterrank monitor``: whether a saved threshold still keeps its risks."""

import os
import warnings
from dataclasses import replace
from typing import Annotated

from skfilterrank._base.words import counted, warn_user
from skfilterrank.cli import _output as output
from skfilterrank.cli import _types as t
from skfilterrank.exceptions import DataWarning, InputError, brief

_FORMATS = ("table", "csv", "json")


def monitor(
    saved: Annotated[str, t.Arg(metavar="THRESHOLD", file="read")],
    *,
    run: Annotated[str, t.Arg(metavar="RUN", file="read")],
    qrels: Annotated[str, t.Arg(metavar="QRELS", file="read")],
    state: t.NewFile = None,
    reading: t.LabelOptions,
    missing: t.Missing = None,
    format: Annotated[str | None, t.format_arg(*_FORMATS)] = None,
    out: t.Out = None,
) -> int:
    """Test with each new judged query whether a threshold still keeps its risks.

    While they hold, there is at most one alarm in 10,000 queries on average, however often you
    look. For another number, begin the state in Python: RiskMonitor(threshold, ...).save(STATE).

    The exit code is 0; 1 after an alarm; 2 after an error.

    Parameters
    ----------
    saved
        file of threshold --risk ... --save
    run
        scores of the reranker for these queries, filtered or not
    qrels
        judgments of new queries
    state
        file with the counts so far, for the next call (default: THRESHOLD with the ending
        .monitor.json)
    gains
        gains of labels that are texts; others have those of the threshold
    unjudged_label
        label that means not judged, as -1, or trec: the one that was given to threshold
    missing
        queries that the run lacks (default: by the risks, so that none looks lower than it is)

    Examples
    --------
    skfilterrank threshold qrels.txt run.txt --k 10 --risk any_forbidden=0.1 --save safe.json
    skfilterrank monitor safe.json --qrels monday.qrels --run monday.run
    skfilterrank monitor safe.json --qrels tuesday.qrels --run tuesday.run
    """
    import numpy as np

    from skfilterrank._files.files import locked
    from skfilterrank.cli import _inputs
    from skfilterrank.cli import threshold as of_runs

    fitted = _inputs.load_threshold_of_runs(saved)
    certificate = getattr(fitted, "certificate_", None)
    if certificate is None:
        raise InputError(
            f"{saved} certifies nothing that could be monitored. Make it with 'skfilterrank "
            "threshold --risk RISK=LEVEL'."
        )
    if certificate.facts["unit"] is not None:
        raise InputError(
            f"{saved} counts clusters of queries, which a run does not tell. Watch it in Python "
            "with skfilterrank.thresholds.RiskMonitor."
        )
    state = state or f"{os.path.splitext(saved)[0]}.monitor.json"
    if out is not None and os.path.realpath(out) == os.path.realpath(state):
        raise InputError(f"--out {out} is the same file as --state {state}. Name another one.")
    if reading.gains is not None and not (reading.texts and fitted.gains is None):
        raise InputError(
            f"--gains is only for labels that are texts: {saved} has the gains of numbers "
            f"({brief(fitted.gains)}). Leave out --gains."
        )
    if reading.unjudged_label == "warn":
        # The threshold says what labels below 0 mean.
        reading = replace(reading, unjudged_label=None)
    missing = missing or of_runs.treatment_of_missing(certificate.risks, certificate.among)
    index, _ = of_runs.read_judgments(qrels, reading, [], is_certified=False)
    aligned, rows = of_runs.aligned_run(run, run, index, missing, reading.columns)
    y_true, y_score, groups = of_runs.all_rows(aligned, rows)
    with warnings.catch_warnings():
        if aligned.n_hidden:
            # Lists of what was shown are shorter than those that the threshold was chosen on.
            warnings.simplefilter("ignore", DataWarning)
        shown = fitted.predict(y_score, groups=groups)
    if n := of_runs.n_of_machines(index, aligned):
        warn_user(
            f"machines gave {n:,} of these labels: the rates and alarms are those of such labels, "
            "which may be far from those of people.",
            DataWarning,
        )
    with locked(state):
        watch = _resumed(fitted, saved, state)
        n_before = _n_counted(watch.status)
        # Hidden rows have the score -inf.
        status = watch.update(y_true, shown, groups=groups, threshold=-np.inf)
        section = output.frame_section(status.rates.rename_axis("rate"))
        told = str(status).replace(status.advice, output.in_options(status.advice))
        section = section._replace(rows=[], head=told)
        # Queries in the state cannot be counted again, so it is written last, after everything
        # that can fail. A closed output is not a failure.
        try:
            format = output.chosen_format(format, out, _FORMATS)
            output.print_sections([section], format, out)
        except BrokenPipeError:
            watch.save(state)
            raise
        watch.save(state)
    of_runs.tell_of_missing(run, aligned, missing)
    n_new = _n_counted(status) - n_before
    output.tell(f"counted {counted(n_new, 'query')}; the state is in {state}")
    return int(status.alarm)


def _n_counted(status):
    """Return the largest number of counted queries of any risk."""
    return int(status.rates["n_queries"].max())


def _resumed(threshold, saved, state):
    """Load the monitor's state, or make a new monitor."""
    from skfilterrank.thresholds import RiskMonitor

    if not os.path.exists(state):
        return RiskMonitor(threshold)
    monitor = RiskMonitor.load(state)
    if not monitor.watches(threshold):
        raise InputError(
            f"{state} is the state of another threshold than {saved} holds now, or of an earlier "
            "version. Name another --state, or remove the file to begin anew."
        )
    return monitor

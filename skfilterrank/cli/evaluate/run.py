"""What ``skfilterrank evaluate`` does."""

from collections.abc import Iterable, Iterator

import numpy as np

from skfilterrank._core.measure_names import known_measure, parse_measure, parse_measures
from skfilterrank._core.results import counted
from skfilterrank._core.scoring import OVER_QUERIES
from skfilterrank.cli._errors import message_of
from skfilterrank.cli._run_files import (
    STDIN,
    check_paths,
    gains_of_labels,
    named_runs,
    read_judgments,
    source,
)
from skfilterrank.cli._shared_options import wants_sample
from skfilterrank.cli._streams import output_is_terminal, progress, results, say, tell
from skfilterrank.cli.evaluate.options import MEASURES
from skfilterrank.cli.evaluate.output import FORMATS, RunValues
from skfilterrank.exceptions import InputError, brief
from skfilterrank.io import QrelsIndex, read_run
from skfilterrank.trec import iter_evaluations

_SHOWN = 3


def run(arguments) -> int:
    """Evaluate the runs; 1 where some of them could not be."""
    measures = parse_measures(arguments.measures or MEASURES)
    runs = named_runs(arguments.qrels, arguments.runs)
    order = _order(measures, arguments)
    formats, per_query = FORMATS, arguments.per_query
    if arguments.slices is not None:
        # Tests take longer to import than a run to evaluate.
        from skfilterrank.cli.evaluate.slices import formats_of_slices

        formats, per_query = formats_of_slices(arguments), True
    if not arguments.keep_going:
        check_paths(runs.values())
    if wants_sample(arguments):
        from skfilterrank.cli.evaluate.intervals import print_intervals

        return print_intervals(runs, arguments)
    qrels = read_judgments(arguments.qrels, arguments, measures=measures)
    gains = gains_of_labels(qrels["label"], arguments)
    if STDIN in arguments.runs:
        # Here and not in a process of its own, which has no standard input.
        name = next(name for name, path in runs.items() if path == STDIN)
        runs[name] = read_run(source(STDIN))
    evaluations = iter_evaluations(
        QrelsIndex(qrels, unjudged_label=None),
        runs,
        measures,
        n_jobs=arguments.jobs,
        verbose=_shows_progress(arguments),
        on_error="yield" if arguments.keep_going else "raise",
        gains=gains,
        ties=arguments.ties,
        missing=arguments.missing,
        precision=arguments.precision,
        unjudged=arguments.unjudged,
        undefined=arguments.undefined,
        n_items=arguments.n_items,
    )
    notes = _Notes(len(runs))
    values: Iterable[RunValues] = _run_values(evaluations, per_query, notes)
    if order is not None:
        values = sorted(values, key=order)
    with results(arguments) as (format, write):
        # The values come run by run, and so do lines.
        for text in formats[format](values):
            write(text)
    notes.tell(arguments)
    return 1 if notes.failed else 0


def _run_values(evaluations, per_query, notes) -> Iterator[RunValues]:
    """Values of each run; what has none is told."""
    for evaluation in evaluations:
        if evaluation.error is not None:
            notes.fail(evaluation.error)
            continue
        notes.add(evaluation)
        values = evaluation.values
        yield RunValues(
            evaluation.name,
            _over_topics(values),
            len(values),
            values if per_query else None,
            evaluation.missing_topics,
            evaluation.unjudged_topics,
        )


def _over_topics(values):
    """One number for all topics: the mean, unless the measure knows another."""
    found = values.mean()
    for text in found.index:
        entry = known_measure(text)
        if entry is not None and entry.over_queries != "mean":
            found[text] = OVER_QUERIES[entry.over_queries](values[text].to_numpy())
    return found


class _Notes:
    """What was not counted, gathered run by run."""

    def __init__(self, n_runs):
        self.n_runs, self.failed = n_runs, 0
        self.missing, self.unjudged = {}, {}

    def add(self, evaluation):
        """Note what was not counted of a run."""
        if evaluation.missing_topics:
            self.missing[evaluation.name] = len(evaluation.missing_topics)
        if evaluation.unjudged_topics:
            self.unjudged[evaluation.name] = len(evaluation.unjudged_topics)

    def fail(self, error):
        """Tell why a run has no values."""
        self.failed += 1
        say(f"skfilterrank: error: {message_of(error)}")

    def tell(self, arguments):
        """One line for each kind."""
        if self.missing:
            done = "counted as empty lists; --missing drop leaves them out"
            if arguments.missing == "drop":
                done = "left out; --missing empty counts them as empty lists"
            tell(f"{self._runs(self.missing)} lack topics of {arguments.qrels}: {done}")
        if self.unjudged:
            tell(f"{self._runs(self.unjudged)} have topics without judgments: left out")
        if self.failed:
            tell(f"{self.failed} of {counted(self.n_runs, 'run')} could not be evaluated")

    def _runs(self, counts):
        """How many runs, and the first of them with their number of topics."""
        shown = [f"{name}: {count}" for name, count in list(counts.items())[:_SHOWN]]
        if len(counts) > len(shown):
            shown.append("...")
        return f"{len(counts)} of {counted(self.n_runs, 'run')} ({', '.join(shown)})"


def _order(measures, arguments):
    """Key that sorts runs, the best first; None keeps them as they are given."""
    if arguments.sort is None:
        return None
    if arguments.per_query:
        raise InputError("--sort orders runs by their means: leave out it or --per-query.")
    wanted = parse_measure(arguments.sort)
    text = next((text for text, each in measures.items() if each == wanted), None)
    if text is None:
        raise InputError(
            f"--sort {brief(arguments.sort)} is not one of the measures asked for: choose from "
            f"{', '.join(measures)}."
        )
    sign = -1 if wanted.measure.greater_is_better else 1

    def key(run):
        value = run.means[text]
        return np.isnan(value), sign * value

    return key


def _shows_progress(arguments):
    """A bar would be torn by values that are written to the same screen."""
    writes_late = arguments.sort or arguments.out or not arguments.per_query
    torn = output_is_terminal() and not (writes_late or arguments.verbose)
    return 0 if torn else progress(arguments)

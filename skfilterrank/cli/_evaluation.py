"""What ``skfilterrank evaluate`` does."""

import errno
import os
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np
from tqdm import tqdm

from skfilterrank.cli._errors import is_for_users, message_of
from skfilterrank.cli._evaluation_output import FORMATS, RunValues
from skfilterrank.cli._label_gains import match_gains, unknown_labels
from skfilterrank.cli._measure_names import parse_names
from skfilterrank.cli._output import say, say_nothing
from skfilterrank.io import FileFormatError, QrelsIndex, read_prels, read_qrels, read_run
from skfilterrank.metrics._core.measure import parse_measure
from skfilterrank.trec import iter_evaluations
from skfilterrank.trec._evaluate import name_of_path

_STDIN = "-"
_SHOWN = 3


def evaluate(arguments) -> int:
    """Evaluate the runs; 1 where some of them could not be."""
    tell = say_nothing if arguments.quiet else say
    names = parse_names(arguments.measures)
    runs = _named_runs(arguments.runs, arguments.qrels)
    order = _order(names, arguments)
    if not arguments.keep_going:
        _check_paths(runs.values())
    qrels = _read_judgments(arguments)
    gains = _gains(qrels["label"], arguments, tell)
    if _STDIN in arguments.runs:
        # Here and not in a process of its own, which has no standard input.
        name = next(name for name, path in runs.items() if path == _STDIN)
        runs[name] = read_run(_source(_STDIN))
    evaluations = iter_evaluations(
        runs,
        QrelsIndex(qrels),
        list(dict.fromkeys(names.values())),
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
    values = _run_values(evaluations, names, arguments.per_query, notes)
    if order is not None:
        values = sorted(values, key=order)
    for text in FORMATS[arguments.format](values, arguments.per_query):
        sys.stdout.write(text)
        sys.stdout.flush()
    notes.tell(tell, arguments)
    return 1 if notes.failed else 0


def _read_judgments(arguments):
    """Judgments, with the probabilities of a sample where they are written down."""
    try:
        return read_qrels(_source(arguments.qrels), unjudged=arguments.unjudged_label)
    except FileFormatError as error:
        try:
            return read_prels(_source(arguments.qrels))
        except FileFormatError:
            raise error from None


def _run_values(evaluations, names, per_query, notes) -> Iterator[RunValues]:
    """Values of each run, by the names as they were written; what has none is told."""
    for evaluation in evaluations:
        if evaluation.error is not None:
            notes.fail(evaluation.error)
            continue
        notes.add(evaluation)
        values = evaluation.values[list(names.values())].set_axis(list(names), axis=1)
        yield RunValues(
            evaluation.name,
            values.mean(),
            len(values),
            values if per_query else None,
            evaluation.missing_topics,
            evaluation.unjudged_topics,
        )


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
        """Tell why a run has no values; a bug is raised."""
        if not is_for_users(error):
            raise error
        self.failed += 1
        tqdm.write(f"skfilterrank: error: {message_of(error)}", file=sys.stderr)

    def tell(self, tell, arguments):
        """One line for each kind."""
        if self.missing:
            done = "counted as empty lists; --missing skip leaves them out"
            if arguments.missing == "skip":
                done = "left out; --missing empty counts them as empty lists"
            tell(f"{self._runs(self.missing)} lack topics of {arguments.qrels}: {done}")
        if self.unjudged:
            tell(f"{self._runs(self.unjudged)} have topics without judgments: left out")
        if self.failed:
            tell(f"{self.failed} of {_count(self.n_runs, 'run')} could not be evaluated")

    def _runs(self, counts):
        """How many runs, and the first of them with their number of topics."""
        shown = [f"{name}: {count}" for name, count in list(counts.items())[:_SHOWN]]
        if len(counts) > len(shown):
            shown.append("...")
        return f"{len(counts)} of {_count(self.n_runs, 'run')} ({', '.join(shown)})"


def _named_runs(paths, qrels):
    """Each run by the name of its file, or by its whole path where several files have one name."""
    if [*paths, qrels].count(_STDIN) > 1:
        raise ValueError("standard input (-) can be read once: name files for the others.")
    for path, count in Counter(paths).items():
        if count > 1:
            raise ValueError(f"{path} is given {count} times as a run: give it once.")
    names = ["stdin" if path == _STDIN else name_of_path(path) for path in paths]
    counts = Counter(names)
    return {name if counts[name] == 1 else path: path for name, path in zip(names, paths)}


def _check_paths(paths):
    """A file that is not there is told before thousands of others are read."""
    for path in paths:
        if path != _STDIN and not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)


def _source(path):
    """What to read."""
    return getattr(sys.stdin, "buffer", sys.stdin) if path == _STDIN else path


def _order(names, arguments):
    """Key that sorts runs, the best first; None keeps them as they are given."""
    text = arguments.sort
    if text is None:
        return None
    if arguments.per_query:
        raise ValueError("--sort orders runs by their means: leave out it or --per-query.")
    if text not in names:
        raise ValueError(
            f"--sort {text!r} is not one of the measures asked for: choose from {', '.join(names)}."
        )
    sign = -1 if parse_measure(names[text]).measure.greater_is_better else 1

    def key(run):
        value = run.means[text]
        return np.isnan(value), sign * value

    return key


def _gains(labels, arguments, tell):
    """The gains by label; what may be unexpected about the labels is told."""
    found = {arguments.qrels: labels}
    gains = match_gains(arguments.gains, found)
    if unknown := unknown_labels(gains and arguments.gains, found):
        tell(f"labels with a gain that do not occur: {', '.join(unknown)}")
    if arguments.unjudged_label is not None and not labels.isna().any():
        tell(f"no document has the label {arguments.unjudged_label:g} (--unjudged-label)")
    if not isinstance(gains, dict):
        counts = labels[labels < 0].value_counts()
        if len(counts):
            shown = ", ".join(f"{label:g}: {count:,}" for label, count in counts.items())
            tell(
                f"documents with a label below 0 ({shown}) are forbidden; see --gains and "
                "--unjudged-label"
            )
    return gains


def _shows_progress(arguments):
    """A bar would be torn by values that are written to the same screen."""
    if arguments.quiet or arguments.verbose:
        return arguments.verbose
    gathers = arguments.sort or (arguments.format == "table" and not arguments.per_query)
    return sys.stderr.isatty() and bool(gathers or not sys.stdout.isatty())


def _count(number, noun):
    return f"{number:,} {noun}{'' if number == 1 else 's'}"

"""What ``skfilterrank compare`` does."""

from functools import partial
from typing import NamedTuple

import numpy as np

from skfilterrank._core.gains import as_gains
from skfilterrank._core.measure_names import known_measure, parse_measures
from skfilterrank._core.results import counted
from skfilterrank.cli._run_files import (
    STDIN,
    check_paths,
    gains_of_labels,
    named_runs,
    read_judgments,
    source,
)
from skfilterrank.cli._shared_options import wants_sample
from skfilterrank.cli._streams import progress, results, tell
from skfilterrank.cli.compare.options import MEASURES
from skfilterrank.cli.compare.output import FORMATS, in_order, notes
from skfilterrank.comparison import (
    PairwiseComparison,
    SystemScores,
    adjust_p_values,
    compare_systems,
    read_system_scores,
    score_systems,
)
from skfilterrank.exceptions import InputError, MissingValuesError, brief
from skfilterrank.io import QrelsIndex, read_run

_SHOWN = 3
_MAX_MEASURES = 8
# What says how runs are read, and means nothing where only values are.
_READING = (
    *("gains", "unjudged_label", "predicted", "unjudged"),
    *("ties", "precision", "undefined", "n_items"),
)


class Lists(NamedTuple):
    """Where the documents behind the values are."""

    runs: dict
    qrels: QrelsIndex
    params: dict
    k: dict[str, int | None]
    has_forbidden: bool


def run(arguments) -> int:
    """Compare the systems and print, and write, what is found."""
    _check_page(arguments)
    may_lack = arguments.missing is None
    if may_lack:
        arguments.missing = "raise" if arguments.scores else "empty"
    if wants_sample(arguments):
        from skfilterrank.cli.compare.estimates import compare_estimates

        return compare_estimates(_named_runs(arguments), arguments)
    scores, lists = _read_values(arguments) if arguments.scores else _measure(arguments, may_lack)
    comparisons = {name: _compare(name, each, arguments) for name, each in scores.items()}
    # First, as whoever reads the output may have gone.
    if arguments.html:
        from skfilterrank.cli.compare.report import write_report

        write_report(
            arguments.html,
            comparisons,
            lists,
            alpha=arguments.alpha,
            random_state=arguments.seed,
            verbose=progress(arguments),
            arguments=arguments,
        )
    with results(arguments) as (format, write):
        for text in FORMATS[format](comparisons, arguments.alpha):
            write(text)
    _tell_settings(comparisons, arguments)
    if arguments.html:
        tell(f"report: {arguments.html}")
    return 0


def _check_page(arguments):
    """Options that say what is on a page, where there is one."""
    for name in ("before", "open", "topics", "docs", "text"):
        if getattr(arguments, name) is not None and arguments.html is None:
            raise InputError(f"--{name} says what is in the report: add --html.")
    if arguments.docs is not None and arguments.scores:
        raise InputError("--docs has the texts of documents, and --scores knows of none.")


def _named_runs(arguments):
    """The runs by their names."""
    if arguments.scores:
        raise InputError(
            "--scores has the values of topics, and a sample is of documents: leave out it, or "
            "--interval, --machine-qrels, --prels and --pool."
        )
    if len(arguments.files) < 2:
        raise InputError(
            "compare needs judgments and at least two runs: compare QRELS RUN RUN..., or values "
            "that were measured before: compare --scores FILE."
        )
    arguments.qrels, *paths = arguments.files
    runs = named_runs(arguments.qrels, paths)
    if len(runs) < 2:
        raise InputError(f"compare needs at least two runs, got one: {paths[0]}. Name another.")
    _settle_baseline(arguments, runs)
    check_paths(runs.values())
    return runs


def _measure(arguments, may_lack):
    """Measure runs against judgments; `may_lack` tells of topics that runs lack."""
    measures = parse_measures(arguments.measures or MEASURES)
    runs = _named_runs(arguments)
    qrels = read_judgments(arguments.qrels, arguments, measures=measures)
    gains = gains_of_labels(qrels["label"], arguments)
    for name, path in runs.items():
        if path == STDIN:
            runs[name] = read_run(source(STDIN))
    index = QrelsIndex(qrels, unjudged_label=None)
    params = {"gains": gains, "unjudged": arguments.unjudged, "precision": arguments.precision}
    score = partial(
        score_systems,
        index,
        runs,
        measures,
        ties=arguments.ties,
        undefined=arguments.undefined,
        n_jobs=arguments.jobs,
        verbose=progress(arguments),
        n_items=arguments.n_items,
        **params,
    )
    try:
        scores = score(missing="raise" if may_lack else arguments.missing)
    except MissingValuesError as error:
        if not may_lack or arguments.undefined == "drop":
            raise InputError(_lacking(error, len(runs), arguments)) from None
        tell(
            f"{_who_lacks(error, len(runs))}: counted as empty lists; --missing drop leaves these "
            "topics out for all runs"
        )
        scores = score(missing="empty")
    k = {text: measure.k for text, measure in measures.items()}
    labels = qrels["label"].dropna().unique()
    return scores, Lists(runs, index, params, k, bool((as_gains(labels, gains) < 0).any()))


def _read_values(arguments):
    """Values that were measured before."""
    if arguments.files:
        raise InputError(
            f"--scores takes the place of judgments and runs: leave out {arguments.files[0]}, or "
            "--scores."
        )
    if arguments.missing == "empty":
        raise InputError(
            "--missing empty needs the judgments and runs, to measure empty lists: with --scores "
            "it is raise or drop."
        )
    for name in _READING:
        if getattr(arguments, name) != arguments.get_default(name):
            raise InputError(
                f"--{name.replace('_', '-')} says how runs are measured, and the values of "
                "--scores are measured already: give it to evaluate."
            )
    try:
        scores = read_system_scores(
            [source(path) for path in arguments.scores],
            measures=arguments.measures,
            missing=arguments.missing,
        )
    except MissingValuesError as error:
        raise InputError(_lacking(error, None, arguments)) from None
    if arguments.measures is None and len(scores) > _MAX_MEASURES:
        raise InputError(
            f"{arguments.scores[0]} has values of {len(scores)} measures: choose with -m from "
            f"{', '.join(scores)}."
        )
    systems = next(iter(scores.values())).systems
    if len(systems) < 2:
        raise InputError(
            f"{', '.join(arguments.scores)} has values of one run, {systems[0]}: there must be at "
            "least two to compare."
        )
    _settle_baseline(arguments, dict.fromkeys(systems))
    return scores, None


def _compare(name, scores, arguments):
    """One measure."""
    if scores.n_queries < 2:
        raise InputError(
            f"{name}: all that can be compared is one topic, {scores.queries[0]}, and from one "
            "nothing can be said about chance: give at least two that every run has."
        )
    correction = arguments.correction or "holm"
    return compare_systems(
        scores,
        test=arguments.test,
        correction=None if correction == "none" else correction,
        baseline=arguments.baseline,
        alpha=arguments.alpha,
        n_resamples=arguments.n_resamples,
        random_state=arguments.seed,
        verbose=progress(arguments),
    )


def _settle_baseline(arguments, runs):
    """The baseline by its name, which may have been given as its path."""
    given = arguments.baseline
    if given is None or given in runs:
        return
    for name, path in runs.items():
        if path == given:
            arguments.baseline = name
            return
    shown = ", ".join(list(runs)[:_SHOWN]) + (", ..." if len(runs) > _SHOWN else "")
    raise InputError(f"--baseline {brief(given)} is none of the runs: they are {shown}.")


def _who_lacks(error, n_runs):
    """Say which runs lack which topics."""
    lacking = error.lacking
    shown = [f"{name}: {_listed(topics)}" for name, topics in list(lacking.items())[:_SHOWN]]
    if len(lacking) > len(shown):
        shown.append("...")
    many = f"{len(lacking)} of {counted(n_runs, 'run')}" if n_runs else counted(len(lacking), "run")
    lack = "lacks" if many.startswith("1 ") else "lack"
    return f"{many} {lack} values of topics that systems are to be compared on ({'; '.join(shown)})"


def _lacking(error, n_runs, arguments):
    """Say which runs lack which topics, and what to do."""
    ways = "--missing drop leaves these topics out for all runs"
    if not arguments.scores:
        ways += ", --missing empty counts them as empty lists"
    return f"{_who_lacks(error, n_runs)}. {ways}."


def _listed(topics):
    """The first topics."""
    topics = in_order(topics)
    return ", ".join(map(str, topics[:_SHOWN])) + (", ..." if len(topics) > _SHOWN else "")


def _tell_settings(comparisons: dict[str, PairwiseComparison], arguments):
    """What may be unexpected about how systems were compared."""
    scores: dict[str, SystemScores] = {name: each.scores for name, each in comparisons.items()}
    for name, values in scores.items():
        if values.dropped_queries:
            tell(
                f"{name}: {counted(len(values.dropped_queries), 'topic')} left out: "
                f"{_listed(values.dropped_queries)}"
            )
    if arguments.correction and any(each.is_family_wise for each in comparisons.values()):
        tell(f"--test {arguments.test} corrects for all pairs by itself: --correction is not used")
    for name, each in comparisons.items():
        for note in notes(each):
            tell(f"{name}: {note[0].lower()}{note[1:].removesuffix('.')}")
        best = adjust_p_values(np.full(len(each.first), each.smallest_p), each.correction)[0]
        if best > arguments.alpha:
            tell(
                f"{name}: no difference could be significant: with "
                f"{counted(each.scores.n_queries, 'topic')} and "
                f"{counted(len(each.first), 'pair')} no p value of this test is below "
                f"{best:.2g}; take another test, more resamples (--n-resamples), fewer pairs "
                "(--baseline) or more topics"
            )
    for name in scores:
        if arguments.scores and known_measure(name) is None and arguments.verbose:
            tell(f"{name} is not a measure of skfilterrank: greater is taken to be better")

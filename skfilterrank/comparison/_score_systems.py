"""Values of systems by several measures, from runs or predictions."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import delayed
from scipy.stats import rankdata

from skfilterrank._base.words import collecting_warnings, in_parallel, progress_bar, repeat_warnings
from skfilterrank._files.forms import errors_of, for_any_process, named_runs
from skfilterrank._lists.measure import warn_of_forbidden
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank._lists.positions import (
    PreferenceMatrix,
    RelevantPositions,
    comparable,
    positions_of,
    positions_of_systems,
    ranked_lists,
)
from skfilterrank._lists.run_doubts import (
    RunDoubts,
    doubts_of,
    misled_measure,
    warn_of_doubts,
    warn_of_undrawn,
)
from skfilterrank.comparison._system_scores import SystemScores
from skfilterrank.exceptions import InputError, brief, brief_list
from skfilterrank.io import AlignedRun, index_of_qrels
from skfilterrank.metrics import Evaluation, check_aligned, evaluate, evaluate_run

# Options that say how the labels of a table or file are read.
_OF_QRELS = ("unjudged_label", "predicted", "own")
# Name and kind of the mean recall-paired preference to all other systems.
_PAIRED, _OF_PAIRS = "rpp", "paired"


def score_systems(
    qrels,
    runs,
    measures,
    *,
    missing: str | float = "raise",
    gains=None,
    ties: str = "docno",
    unjudged: str = "zero",
    undefined: float | str = 0.0,
    n_jobs: int | None = None,
    verbose: int = 0,
    **options,
) -> dict[str, SystemScores]:
    """Measure runs for every query by several measures, for comparisons.

    Parameters
    ----------
    qrels : DataFrame, QrelsIndex, str, PathLike, file object or None
        The judgments, as :func:`skfilterrank.io.align` takes them; None where each run is an
        AlignedRun. Drawn label sets are accepted, as by
        :func:`skfilterrank.metrics.evaluate_runs`, but not for preferences.
    runs : path, list of paths, or dict {name: path, open file, DataFrame or AlignedRun}
        The runs, as :func:`skfilterrank.io.read_runs` takes them. Queries of a run that are
        not in the judgments are left out.
    measures : str or list of str
        Names of measures such as "ap", "ndcg_f@20" or "lexirecall", and "rpp", see Notes.
    missing : {"raise", "drop", "empty"} or float, default="raise"
        Treatment of a query that is not in some run, or for which the measure is undefined (with
        ``undefined="drop"``). "raise" is an error. "drop" leaves the query out for all runs.
        "empty" measures an empty list for a run without the query; undefined values are still an
        error. A number is used as the missing value.
    gains, ties, unjudged, undefined, **options
        Parameters of :func:`skfilterrank.metrics.evaluate_runs`.
    n_jobs : int or None, default=None
        Number of processes; -1 means all processors. The result is the same.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    dict of str to SystemScores
        The values by the name of each measure, written as in `measures`. Systems are in the order
        of `runs`, and queries are sorted as text. Values are those of :func:`evaluate_runs`, except
        for "lexirecall(scale=preference)" and "lexiprecision(scale=preference)", which become
        exact preferences, see :meth:`SystemScores.from_preferences`.

    Raises
    ------
    ValueError, FileFormatError
        In the same cases as :func:`skfilterrank.metrics.evaluate_runs`, and if a query is missing
        and `missing` is "raise".

    Warns
    -----
    DataWarning
        If most documents of a run are unjudged, or drawn label sets lack some, as by
        :func:`skfilterrank.metrics.evaluate_runs`.

    See Also
    --------
    score_predictions : Do the same for arrays of scores.

    Notes
    -----
    "rpp" is the recall-paired preference [1]_ as a value of a system: the mean of
    :func:`skfilterrank.metrics.recall_paired_preference` to each of the other systems, from -1 to
    1. Queries without relevant documents are left out. It needs at least two systems, and depends
    on which they are.

    References
    ----------
    .. [1] Diaz and Ferraro, "Offline Retrieval Evaluation Without Evaluation Metrics", SIGIR 2022.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.comparison import score_systems
    >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})
    >>> run = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [0.9, 0.8]})
    >>> runs = {"good": run, "bad": run.assign(score=-run["score"])}
    >>> scores = score_systems(qrels, runs, ["ap", "lexirecall(scale=preference)"])
    >>> scores["ap"].means
    good    1.0
    bad     0.5
    Name: ap, dtype: float64
    >>> scores["lexirecall(scale=preference)"].means
    good    1.0
    bad     0.0
    Name: lexirecall(scale=preference), dtype: float64
    """
    precision = options.pop("precision", "double")
    reading = {name: options.pop(name) for name in _OF_QRELS if name in options}
    wanted, kinds = _compared(measures, options)
    named = named_runs(runs)
    params = {"gains": gains, "ties": ties, "unjudged": unjudged, "undefined": undefined, **options}
    index, aligned = None, [run for run in named.values() if isinstance(run, AlignedRun)]
    for run in aligned:
        check_aligned(qrels, run, precision=precision, ties=ties, said=reading)
    if len(aligned) < len(named):
        index = index_of_qrels(
            qrels, gains=gains, measures=wanted.values(), may_have_draws=True, **reading
        )
        index.check_sample(wanted)
        warn_of_forbidden(wanted.values(), index.labels, gains)
    jobs = (
        # A joblib process that is used again may have another working directory, so relative paths
        # are made absolute.
        delayed(collecting_warnings(_score_run))(
            name, *for_any_process(run), index, precision, wanted, kinds, params
        )
        for name, run in named.items()
    )
    scored = in_parallel(jobs, n_jobs)
    bar = progress_bar(scored, total=len(named), unit="run", verbose=verbose, leave=False)
    results = {}
    for name, (scores, said) in zip(named, bar):
        repeat_warnings(said)
        results[name] = scores
    doubts = {name: each.doubts for name, each in results.items()}
    if index is not None:
        misled = misled_measure(wanted, index.labels, gains, unjudged)
        warn_of_doubts(doubts, misled, ties, index.own)
    warn_of_undrawn(doubts, unjudged)
    if isinstance(missing, str) and missing == "empty":
        missing = "raise"
        results = {name: each._replace(missing_queries=()) for name, each in results.items()}
    return {text: _scores_of(text, wanted, kinds, results, missing) for text in wanted | kinds}


def _compared(measures, options):
    """Parse the measures, and return them with the kind of each that compares all systems.

    Raises for a measure whose values have no mean or sum over queries, and for unknown options of
    preferences; those of values are checked where they are computed.
    """
    given = list(measures) if isinstance(measures, list | tuple) else [measures]
    others = [each for each in given if not (isinstance(each, str) and each == _PAIRED)]
    is_paired = len(others) < len(given)
    if is_paired:
        measures = others
    wanted = parse_measures(measures) if others or not is_paired else {}
    if "query_weight" in options:
        raise InputError("query_weight: every query counts once in comparisons. Leave it out.")
    for parsed in wanted.values():
        parsed.for_means("systems are compared", takes=("mean", "sum"))
    kinds = {text: kind for text, parsed in wanted.items() if (kind := _kind(parsed)) is not None}
    if not wanted.keys() - kinds and (unknown := sorted(options.keys() - {"n_items"})):
        raise InputError(f"{unknown[0]} is not an option of preferences: leave it out.")
    return wanted, kinds | ({_PAIRED: _OF_PAIRS} if is_paired else {})


def score_predictions(
    y_true,
    y_scores: Mapping,
    measures,
    *,
    groups=None,
    gains=None,
    ties=None,
    unjudged: str = "zero",
    undefined: float | str = 0.0,
    missing: str | float = "raise",
    **options,
) -> dict[str, SystemScores]:
    """Measure predicted scores for every query by several measures, for comparisons.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each row, which is a pair of query and document; rows are in any order. NaN means
        unjudged. A Series may hold the query ids in an index level "qid".
    y_scores : dict of str to array-like of shape (n_rows,)
        Scores by the name of each system; higher is better, -inf hides a document.
    measures : str or list of str
        Names of measures such as "ap", "ndcg_f@20" or "lexirecall", and "rpp", as in
        :func:`score_systems`.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type. None looks for an index level "qid" on `y_true`.
    gains, ties, unjudged, undefined, **options
        Parameters of :func:`skfilterrank.metrics.evaluate`.
    missing : {"raise", "drop"} or float, default="raise"
        Treatment of a query for which the measure is undefined (with ``undefined="drop"``), as in
        :class:`SystemScores`.

    Returns
    -------
    dict of str to SystemScores
        The values by the name of each measure, written as in `measures`. Values are those of
        :func:`evaluate`, except for "lexirecall(scale=preference)" and
        "lexiprecision(scale=preference)", which become exact preferences, see
        :meth:`SystemScores.from_preferences`.

    Raises
    ------
    ValueError
        In the same cases as :func:`skfilterrank.metrics.evaluate`; a note names the system.

    See Also
    --------
    score_systems : Do the same for TREC runs.

    Examples
    --------
    >>> from skfilterrank.comparison import score_predictions
    >>> y_true, groups = [1, 0, -1, 1, 0], ["a", "a", "a", "b", "b"]
    >>> systems = {"old": [3, 2, 1, 1, 2], "new": [3, 2, float("-inf"), 2, 1]}
    >>> print(score_predictions(y_true, systems, "ndcg_f", groups=groups)["ndcg_f"])
    ndcg_f of 2 systems for 2 queries
         mean    sd  wins
    new 1.000 0.000     2
    old 0.690 0.084     0
    """
    if not isinstance(y_scores, Mapping) or not y_scores:
        raise InputError(
            "y_scores must be a dict {name: scores} of at least one system, got "
            f"{'an empty dict' if isinstance(y_scores, Mapping) else type(y_scores).__name__}."
        )
    wanted, kinds = _compared(measures, options)
    valued = {text: parsed for text, parsed in wanted.items() if text not in kinds}
    params = {"gains": gains, "unjudged": unjudged}
    of_values = params | {"ties": ties, "undefined": undefined} | options
    if ties is not None:
        params["ties"] = ties
    tables = {}
    for name, y_score in y_scores.items() if valued else ():
        try:
            tables[name] = evaluate(y_true, y_score, valued, groups=groups, **of_values).per_query
        except ValueError as error:
            error.add_note(f"The error concerns the scores of {brief(name)}.")
            raise
    positions = {}
    if kinds:
        positions = positions_of_systems(
            y_true, y_scores, groups=groups, **({"ties": "worst"} | params)
        )
    warn_of_forbidden(valued.values(), y_true, gains)
    table = pd.concat(tables, names=["run"]) if valued else pd.DataFrame()
    return {
        text: SystemScores.of(table[text], missing=missing, name="y_scores")
        if text in valued
        else _preferences_of(kinds[text], positions)
        for text in wanted | kinds
    }


class _RunScores(NamedTuple):
    """Values of one run, and the positions of its relevant documents, which preferences need."""

    values: Evaluation | None
    positions: RelevantPositions | None
    missing_queries: tuple[str, ...]
    doubts: RunDoubts


def _score_run(name, path, run, index, precision, wanted, kinds, params):
    """Measure one run; an error names the run."""
    ties, gains, unjudged = (params[each] for each in ("ties", "gains", "unjudged"))
    with errors_of(name, path, run):
        aligned, misled = run, None
        if index is not None:
            aligned = index.align(run, precision=precision, ties=ties)
            misled = misled_measure(wanted, index.labels, gains, unjudged)
        valued = {text: parsed for text, parsed in wanted.items() if text not in kinds}
        made = {"missing": "empty" if aligned.keeps_missing_queries else "drop"}
        values = evaluate_run(None, aligned, valued, **made, **params) if valued else None
        positions = None
        if kinds:
            if aligned.draws is not None:
                raise InputError(
                    "{qrels} holds drawn label sets (column 'draw'), over which preferences cannot "
                    f"be averaged: take another measure than {brief_list(list(kinds))}.",
                    argument="qrels",
                )
            lists = ranked_lists(
                aligned.y_true,
                aligned.y_score,
                groups=aligned.index,
                # align has put documents with equal scores in the order of their ids.
                ties="stable" if ties == "docno" else ties,
                gains=gains,
                unjudged=unjudged,
            )
            positions = positions_of(lists)
        doubts = doubts_of(aligned, misled)
        return _RunScores(values, positions, aligned.missing_queries, doubts)


def _scores_of(text, wanted, kinds, results, missing):
    """Make SystemScores of all runs by one measure; queries that a run lacks are missing."""
    exact = None
    if text in kinds:
        positions = {name: each.positions for name, each in results.items()}
        exact = _preferences_of(kinds[text], positions)
        table = exact.to_frame().copy()
    else:
        evaluations = {name: each.values for name, each in results.items()}
        if any(each.per_draw is not None for each in evaluations.values()):
            draws, condensed = Evaluation.of_runs(evaluations).sets_by_run(text)
            queries = draws.index.get_level_values("qid")
            for name, each in results.items():
                draws.loc[queries.isin(each.missing_queries), name] = np.nan
            return SystemScores.of_draws(draws, condensed, text, missing=missing)
        table = pd.DataFrame({run: each.per_query[text] for run, each in evaluations.items()}).T
    table.index = list(map(str, results))
    for name, each in results.items():
        if each.missing_queries:
            table.loc[str(name), table.columns.isin(each.missing_queries)] = np.nan
    return SystemScores(
        table,
        measure=text,
        greater_is_better=text not in wanted or wanted[text].measure.greater_is_better,
        is_preference=exact is not None and exact.is_preference,
        missing=missing,
        dropped_queries=() if exact is None else exact.dropped_queries,
    )


def _preferences_of(kind, positions) -> SystemScores:
    """Make SystemScores from positions: exact preferences, or means of paired ones."""
    # Orders the systems, and checks that all have the same relevant documents.
    matrix = PreferenceMatrix.from_positions(
        positions, kind="recall" if kind == _OF_PAIRS else kind
    )
    scores = SystemScores.from_preferences(matrix)
    if kind != _OF_PAIRS:
        return scores
    some, decided = next(iter(positions.values())), matrix.n_relevant > 0
    # For each recall level, the number of systems behind less the number ahead.
    ranks = rankdata(np.stack(comparable(list(positions.values()))), axis=0)
    ahead = len(ranks) + 1 - 2 * ranks
    query = np.repeat(np.arange(len(some)), some.n_relevant)
    sums = np.array([np.bincount(query, row, minlength=len(some)) for row in ahead])
    n_comparisons = some.n_relevant[decided] * (len(ranks) - 1)
    return scores.with_values(
        sums[:, decided] / n_comparisons, measure=_PAIRED, is_preference=False
    )


def _kind(parsed):
    """Return the kind of preferences, "recall" or "precision"; None for ordinary measures."""
    if parsed.options.get("scale") != "preference":
        return None
    if parsed.measure.plain is not None and parsed.measure.preference:
        raise InputError(
            f"{{measures}}: {brief(parsed.text)} has options of its own for judgments, but "
            "preferences compare all runs on the judgments of the call: use its parameters "
            "{gains=} or {unjudged=} instead.",
            argument=("measures", "gains=", "unjudged="),
        )
    return parsed.measure.preference or None

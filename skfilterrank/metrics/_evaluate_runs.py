"""Evaluation of one or many runs."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_choice, check_verbose
from skfilterrank._base.results import Result
from skfilterrank._base.words import (
    MISSING,
    N_ITEMS,
    PRECISIONS,
    TIES,
    check_n_jobs,
    collecting_warnings,
    in_parallel,
    repeat_warnings,
    with_warnings,
)
from skfilterrank._files.forms import errors_of, for_any_process, named_runs
from skfilterrank._lists.gains import check_sample, with_own_labels
from skfilterrank._lists.measure import warn_of_forbidden
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank._lists.run_doubts import (
    NO_DOUBTS,
    RunDoubts,
    doubts_of,
    misled_measure,
    warn_of_doubts,
    warn_of_undrawn,
)
from skfilterrank.exceptions import InputError, SkfilterrankError, brief
from skfilterrank.io import AlignedRun, index_of_qrels
from skfilterrank.metrics._evaluate import Evaluation, evaluate

# Number of runs in a batch: small for streaming, large enough to amortise indexing judgments.
_BATCH = 8
# Parameters that are passed on to the index of the judgments.
OF_QRELS = "unjudged_label", "predicted", "own"
# Parameters of evaluate that runs and judgments give themselves, or that have a value for each row.
_OF_ARRAYS = "y_true", "y_score", "groups", "pooled", "query_weight"


@dataclass(frozen=True, eq=False, repr=False)
class RunEvaluation(Result):
    """Values of the measures for one run, and the queries that were not counted.

    Attributes
    ----------
    name : str
        Name of the run.
    values : Evaluation or None
        Values of the queries and means; None where there is an error.
    missing_queries : tuple of str
        Queries of the judgments that are not in the run; in `values` with the value of an empty
        list, unless ``missing="drop"``.
    unjudged_queries : tuple of str
        Queries of the run that are not in the judgments; not in `values`.
    doubts : RunDoubts
        Shares of the run, such as that of its unjudged documents, that may mislead.
    error : ValueError, OSError or None
        Error that stopped the evaluation of the run, with ``on_error="yield"``; else None.
    tag : str or None
        Name that all rows of the run give, as in the last column of TREC format.
    """

    name: str
    values: Evaluation[pd.Series] | None
    missing_queries: tuple[str, ...] = ()
    unjudged_queries: tuple[str, ...] = ()
    doubts: RunDoubts = NO_DOUBTS
    error: Exception | None = None
    tag: str | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return the values of queries; an empty table where there is an error."""
        return pd.DataFrame() if self.values is None else self.values.per_query.copy()

    def _summary(self):
        if self.values is None:
            return f"{self.name}: {type(self.error).__name__}"
        return f"{self.name}, {self.values._summary()}"


def values_of_run(qrels, run, measures, **params) -> pd.DataFrame:
    """Return measures of every query of a run; parameters are those of `evaluate_runs`."""
    return evaluate_run(qrels, run, measures, **params).per_query


def evaluate_run(qrels, run, measures, **params) -> Evaluation[pd.Series]:
    """Evaluate one run; parameters are those of `evaluate_runs`."""
    return _evaluate(qrels, run, measures, **params)[1]


def evaluate_runs(
    qrels,
    runs,
    measures,
    *,
    gains=None,
    ties: str = "docno",
    missing: str = "empty",
    precision: str = "double",
    unjudged: str = "zero",
    undefined: float | str = 0.0,
    n_jobs: int | None = None,
    verbose: int = 0,
    **options,
) -> Evaluation[pd.DataFrame]:
    """Evaluate one or many runs: values of every query, and means.

    Parameters
    ----------
    qrels : QrelsIndex, str, PathLike, file object, data frame, dict, other object or None
        The judgments, as :func:`skfilterrank.io.align` takes them, indexed once for all runs; None
        where each run is an AlignedRun. Drawn label sets (a column "draw", as
        :func:`skfilterrank.judgments.complete_qrels` returns) are accepted: values are means over
        the sets.
    runs : path, list of paths, dict {name: run}, or one run
        The runs, in a form that :func:`skfilterrank.io.read_runs` accepts. A single run may have
        any form that :func:`skfilterrank.io.align` accepts, or be its result; it is called "run" if
        it has no name.
    measures : str or list of str
        Names of measures such as "ap", "ndcg_f@20" or "rbp(persistence=0.95)".
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    ties : {"docno", "average", "worst", "best", "stable"}, default="docno"
        Order of documents with equal scores: by document id, descending, as trec_eval does; the
        exact mean over all orders; lowest or highest gain first; the order of the run's rows.
    missing : {"raise", "drop", "empty"}, default="empty"
        Treatment of queries of the judgments that are not in the run: an error, left out
        (trec_eval's default), or counted as empty lists (``trec_eval -c``).
    precision : {"double", "single"}, default="double"
        "single" rounds scores to float32, as trec_eval 9 and pytrec_eval do, so close scores become
        ties. trec_eval 10 does not round. The precision of an AlignedRun is set in
        :func:`skfilterrank.io.align`.
    unjudged : {"zero", "drop"}, default="zero"
        "zero" treats an unjudged document as one of gain 0; "drop" removes it from the list first.
    undefined : float or "drop", default=0.0
        Value of a query for which a measure is undefined; "drop" gives NaN.
    n_jobs : int or None, default=None
        Number of processes; -1 means all processors. The result is the same.
    verbose : int, default=0
        1 shows a progress bar.
    **options
        ``unjudged_label=``, ``predicted=`` and ``own=`` say what the labels of a table or file
        mean, as in :class:`skfilterrank.io.QrelsIndex`. A dict or callable as `gains`, a
        QrelsIndex, what `read_qrels` returned, and a measure of forbidden documents alone, such as
        "any_forbidden@5", determine what labels below 0 mean. ``n_items=`` is the size of the
        collection, 1,000,000 by default, for the measures that place documents which are not
        retrieved; None takes the rows of each query, which differ from run to run, so that values
        of runs do not compare. Other options are those of single measures, as in
        :func:`skfilterrank.metrics.evaluate`.

    Returns
    -------
    Evaluation
        ``per_query``, a DataFrame with index levels "run", in the order given, and "qid", sorted as
        text, and a column for each measure; ``means``, a DataFrame with one row for each run.
        Printed as the table of means. With drawn label sets it also has ``per_draw``, the values in
        each set, and ``intervals()``, the table of means with intervals, which is printed then.

    Raises
    ------
    ValueError, FileFormatError
        For the errors of :func:`skfilterrank.io.align` and :func:`skfilterrank.metrics.evaluate`,
        with a note that names the run. Also if there is no run, if two runs have the same name, or
        if an AlignedRun comes with judgments, or with another `missing`, `ties` or `precision` than
        it was made with.

    Warns
    -----
    DataWarning
        If a measure of forbidden documents, such as nDCG_f, sees some, and more than half of the
        documents that it looks at are unjudged. These count as gain 0, so a list without judged
        documents has the value of an empty list. If more than nine tenths of a run's documents have
        the score of another one of their query, so that the order of ids decides. If many judged
        queries are missing in a run, and count as empty lists. If the first document of many
        queries is the query itself. If more than one in a hundred of the first 10 documents of
        queries have no label in drawn label sets: draw them again with this run.

    See Also
    --------
    evaluate : Labels and scores in arrays.
    skfilterrank.comparison.compare_systems : Tests of differences between runs.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.metrics import evaluate_runs
    >>> qrels = pd.DataFrame({"qid": ["1"] * 3, "docno": ["a", "b", "c"], "label": [2, -2, 1]})
    >>> run = pd.DataFrame({"qid": ["1"] * 2, "docno": ["a", "b"], "score": [0.9, 0.8]})
    >>> runs = {"good": run, "bad": run.assign(score=-run["score"])}
    >>> values = evaluate_runs(qrels, runs, ["ndcg_f@20", "ap"], unjudged_label=None)
    >>> values.means
          ndcg_f@20    ap
    run
    good   0.591...  0.50
    bad    0.272...  0.25
    >>> values.per_query
              ndcg_f@20    ap
    run  qid
    good 1     0.591...  0.50
    bad  1     0.272...  0.25

    One run:

    >>> evaluate_runs(qrels, run, "ap", unjudged_label=None).means
          ap
    run
    run  0.5
    """
    given = dict(locals())
    evaluations = iter_evaluations(**given.pop("options"), **given)
    # An evaluation without values has raised its error.
    found: dict[str, Any] = {each.name: each.values for each in evaluations}
    return Evaluation.of_runs(found)


def iter_evaluations(
    qrels,
    runs,
    measures,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
    on_error: str = "raise",
    **params,
) -> Iterator[RunEvaluation]:
    """Evaluate many runs in turn with bounded memory.

    Parameters
    ----------
    qrels, runs, measures, n_jobs, verbose, **params
        As in :func:`evaluate_runs`.
    on_error : {"raise", "yield"}, default="raise"
        Treatment of a run that cannot be read, joined with the judgments or evaluated: raise the
        error, or yield it in place of the values and continue.

    Yields
    ------
    RunEvaluation
        Name, values of every query, and the queries that were not counted; in the order of `runs`.

    Raises
    ------
    ValueError, FileFormatError
        In the same cases as :func:`evaluate_runs`, when the faulty run is reached. Wrong parameters
        raise before the first run.
    """
    check_choice(on_error, "on_error", ("raise", "yield"))
    if isinstance(measures, Iterator):
        measures = list(measures)  # they are read twice
    _check_params(measures, **params)
    named = list(named_runs(runs, may_be_one=True).items())
    misled, unjudged = None, params.get("unjudged", "zero")
    if qrels is not None:
        said = {name: params.pop(name) for name in OF_QRELS if name in params}
        # Parse and warn once here, instead of for each run or in other processes.
        measures = parse_measures(measures)
        gains = params.get("gains")
        said["may_have_draws"] = True
        qrels = index_of_qrels(qrels, gains=gains, measures=measures.values(), **said)
        warn_of_forbidden(measures.values(), qrels.labels, gains)
        qrels.check_sample(measures)
        misled = misled_measure(measures, qrels.labels, gains, unjudged)
    evaluations = _evaluations(named, (qrels, measures, params, misled), n_jobs)
    doubts = {}
    is_shown = check_verbose(verbose)
    with _shown(evaluations, len(named)) if is_shown else nullcontext(evaluations) as found:
        for evaluation in found:
            if evaluation.error is not None and on_error == "raise":
                raise evaluation.error
            doubts[evaluation.name] = evaluation.doubts
            yield evaluation
    if qrels is not None:
        warn_of_doubts(doubts, misled, params.get("ties", "docno"), qrels.own)
    warn_of_undrawn(doubts, unjudged)


def _shown(evaluations, n_runs):
    """Yield the evaluations and update a progress bar."""
    from tqdm import tqdm

    return closing(tqdm(evaluations, total=n_runs, unit="run", leave=False))


def _evaluations(named, how, n_jobs):
    """Evaluate runs in order, in several processes if requested.

    `how` holds what `_evaluate_named` takes after the runs.
    """
    if _is_one_process(n_jobs) or len(named) == 1:
        for name, run in named:
            yield _evaluate_named(name, run, run, *how)
        return
    from joblib import delayed

    batches = (
        delayed(collecting_warnings(_evaluate_batch))(
            # A reused joblib process may have another working directory.
            [(name, *for_any_process(run)) for name, run in named[begin : begin + _BATCH]],
            *how,
        )
        for begin in range(0, len(named), _BATCH)
    )
    finished = in_parallel(batches, n_jobs)
    try:
        for evaluations, said in finished:
            repeat_warnings(said)
            yield from evaluations
    finally:
        with warnings.catch_warnings():
            # No warning if the caller stops early.
            warnings.filterwarnings("ignore", message=".*tasks", category=UserWarning)
            finished.close()


def _is_one_process(n_jobs):
    """Tell whether joblib would start no other process."""
    check_n_jobs(n_jobs)
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        # n_jobs=None means the setting of joblib's context; there is no context before its import.
        return True
    from joblib import effective_n_jobs

    return effective_n_jobs(n_jobs) == 1


def _evaluate_batch(runs, *how):
    """Evaluate runs, each given as (name, path for messages, run that any process can read)."""
    return [_evaluate_named(*each, *how) for each in runs]


def _evaluate_named(name, path, run, index, measures, params, misled):
    """Evaluate one run, or return its error with the file name of `path`."""
    try:
        with errors_of(name, path, run):
            aligned, values = _evaluate(index, run, measures, **params)
    except (SkfilterrankError, OSError) as error:
        return RunEvaluation(name, None, error=error)
    doubts = doubts_of(aligned, misled)
    queries = aligned.missing_queries, aligned.unjudged_queries
    return RunEvaluation(name, values, *queries, doubts, tag=aligned.name)


def _check_params(measures, *, missing="empty", precision="double", **params):
    """Raise early for errors that would occur for every run."""
    check_choice(missing, "missing", MISSING)
    check_choice(precision, "precision", PRECISIONS)
    wanted = parse_measures(measures)
    of_rows = {*OF_QRELS, *(name for entry, *_ in wanted.values() for name in entry.columns)}
    params = {name: value for name, value in params.items() if name not in of_rows}
    # Every measure accepts a single document that is neither judged nor retrieved, with any gains.
    nothing = np.array([np.nan]), np.array([-np.inf]), [0], [False]
    _values(*nothing, wanted, **params)


def _evaluate(
    qrels,
    run,
    measures,
    *,
    missing="empty",
    precision="double",
    ties="docno",
    unjudged_label="warn",
    predicted="warn",
    own="warn",
    **params,
) -> tuple[AlignedRun, Evaluation]:
    """Align a run and evaluate it."""
    is_parsed = isinstance(measures, dict)
    said = dict(zip(OF_QRELS, (unjudged_label, predicted, own)))
    wanted = parse_measures(measures)
    if isinstance(run, AlignedRun):
        check_aligned(qrels, run, missing=missing, precision=precision, ties=ties, said=said)
        aligned = run
    else:
        gains = params.get("gains")
        how: dict[str, Any] = {"gains": gains, "measures": wanted.values(), "may_have_draws": True}
        index = index_of_qrels(qrels, **how, **said)
        aligned = index.align(run, missing=missing, precision=precision, ties=ties)
    labels = aligned.label_sets[0]
    if not is_parsed:
        warn_of_forbidden(wanted.values(), labels, params.get("gains"))
        check_sample(wanted, labels, aligned.inclusion_probability)
        gains, unjudged = params.get("gains"), params.get("unjudged", "zero")
        misled = misled_measure(wanted, labels, gains, unjudged)
        warn_of_doubts({aligned.name: doubts_of(aligned, misled)}, misled, ties, own)
    _add_probabilities(aligned, wanted, params)
    rows = aligned.y_score, aligned.index, aligned.pooled
    if aligned.draws is None:
        return aligned, _values(labels, *rows, wanted, ties=ties, **params)
    return aligned, _values_of_sets(aligned, rows, wanted, ties=ties, **params)


def _values_of_sets(aligned, rows, wanted, **params):
    """Compute the measures of each drawn label set, and of the condensed lists of own labels."""
    values = partial(_values, wanted=wanted, **params)
    sets, said = with_warnings(lambda: [values(labels, *rows) for labels in aligned.draws])
    # Each set causes the same warnings.
    repeat_warnings(said)
    if own := with_own_labels(wanted):
        # Nobody judged a document whose label is drawn.
        by_people = _values(aligned.y_true, *rows, own, **params)
        for each in sets:
            each.per_query[list(own)] = by_people.per_query
            each.means[list(own)] = by_people.means
    # A query without a label that is not drawn says nothing of the order of runs.
    how = {"unjudged": "drop", "undefined": "drop"}
    condensed, _ = with_warnings(lambda: values(aligned.y_true, *rows, **how).per_query)
    return Evaluation.of_draws(sets, condensed.fillna(0.0))


def _add_probabilities(aligned, wanted, params):
    """Add inclusion probabilities for measures that need them."""
    name = "inclusion_probability"
    asking = [text for text, (entry, *_) in wanted.items() if name in entry.columns]
    if not asking or params.get(name) is not None:
        return
    if aligned.inclusion_probability is None:
        raise InputError(
            f"{brief(asking[0])} needs the probability with which each document was drawn to be "
            "judged, and these judgments do not have it: pass judgments with a column "
            "'inclusion_probability', or a file of a sample (5 columns: qid docno "
            "label method inclusion_probability). If the whole pool is judged, use 'ap'."
        )
    params[name] = aligned.inclusion_probability


def check_aligned(qrels, run, *, precision, ties, said, missing=None):
    """Raise for options that conflict with an AlignedRun; `said` are those of its judgments."""
    if qrels is not None:
        raise InputError(
            "run is an AlignedRun, which holds its judgments: pass qrels=None, or the original "
            "run with these qrels."
        )
    made_with = {"ties": run.ties}
    if run.missing_queries:
        made_with["missing"] = "empty" if run.keeps_missing_queries else "drop"
    for name, given in (("missing", missing), ("ties", ties)):
        if given in (*MISSING, "docno", "stable") and given != made_with.get(name, given):
            raise InputError(
                f"{name}={brief(given)}, but run is an AlignedRun that was made with "
                f"{name}={brief(made_with[name])}: pass the second value here, or the first one "
                "to align."
            )
    for name, given in said.items():
        if given != "warn":
            raise InputError(
                f"{name}={brief(given)}, but run is an AlignedRun: pass it to QrelsIndex, and this "
                "index to align."
            )
    if precision != "double":
        raise InputError(
            f"precision={brief(precision)}, but run is an AlignedRun: pass precision to align."
        )


def _values(
    y_true, y_score, groups, pooled, /, wanted, *, ties="docno", n_items=N_ITEMS, **params
) -> Evaluation:
    """Compute the measures of aligned rows."""
    check_choice(ties, "ties", TIES)
    if of_arrays := [name for name in _OF_ARRAYS if name in params]:
        raise InputError(
            f"{of_arrays[0]} is for arrays, and not for runs: leave it out, or align each run, "
            "and pass it to evaluate with the rows."
        )
    known = {name for entry, *_ in wanted.values() for name in (*entry.options, *entry.columns)}
    given = {"n_items": n_items, "pooled": pooled}
    params = {name: value for name, value in given.items() if name in known} | params
    return evaluate(
        y_true,
        y_score,
        wanted,
        groups=groups,
        # Aligned rows are already sorted by document id ("docno") or kept in the order of the run.
        ties="stable" if ties == "docno" else ties,
        **params,
    )

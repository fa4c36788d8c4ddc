"""Measures of runs, one after the other or side by side."""

import contextlib
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs
from tqdm import tqdm

from skfilterrank._validation import check_choice
from skfilterrank.io import AlignedRun, QrelsIndex, align
from skfilterrank.metrics import evaluate
from skfilterrank.metrics._core.measure import check_measure_parameters
from skfilterrank.metrics._evaluate import parse_measures

# Positions of documents that a run does not retrieve need the size of the collection. Of any two
# rankings of a topic every size prefers the same one; one size for all keeps values comparable.
N_ITEMS = 1_000_000
TIES = ("docno", "average", "worst", "best")
# Runs that one process takes at a time: few enough to stream, enough to pay for the judgments.
_BATCH = 8


class RunEvaluation(NamedTuple):
    """Values of one run, and what was not counted.

    Attributes
    ----------
    name : str
        Name of the run.
    values : DataFrame of shape (n_topics, n_measures) or None
        Value of each topic, index "qid"; None where there is an error.
    missing_topics : tuple of str
        Topics of the judgments that are not in the run; in `values` with the value of an empty
        list, unless ``missing="skip"``.
    unjudged_topics : tuple of str
        Topics of the run that are not in the judgments; not in `values`.
    error : ValueError, OSError or None
        Why the run could not be evaluated, with ``on_error="yield"``.
    """

    name: str
    values: pd.DataFrame | None
    missing_topics: tuple[str, ...] = ()
    unjudged_topics: tuple[str, ...] = ()
    error: Exception | None = None


def evaluate_run(
    run,
    qrels,
    measures,
    *,
    gains=None,
    ties: str = "docno",
    missing: str = "empty",
    unjudged: str = "zero",
    undefined: float | str = 0.0,
    n_items: int | None = N_ITEMS,
    **options,
) -> pd.DataFrame:
    """Measures of every topic of a run.

    Parameters
    ----------
    run : DataFrame, str, PathLike, file object or AlignedRun
        The run, as :func:`skfilterrank.io.align` takes it, or what that function returned.
    qrels : DataFrame, QrelsIndex, str, PathLike, file object or None
        The judgments, as :func:`skfilterrank.io.align` takes them; None with an AlignedRun.
    measures : str or list of str
        Names of measures such as "ap", "ndcg_f@20" or "rbp(persistence=0.95)".
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    ties : {"docno", "average", "worst", "best"}, default="docno"
        Order of documents with equal scores: by document id, descending, as trec_eval does; the
        exact mean over all orders; lowest or highest gain first.
    missing : {"empty", "skip"}, default="empty"
        Whether topics of the judgments that are not in the run count as empty lists
        (``trec_eval -c``) or are left out (trec_eval's default).
    unjudged : {"zero", "drop"}, default="zero"
        Whether an unjudged document stands in the list with gain 0, or is taken out of it first.
    undefined : float or "skip", default=0.0
        Value of a topic for which a measure is undefined; "skip" gives NaN.
    n_items : int or None, default=1_000_000
        Size of the collection, for the measures that place documents which are not retrieved.
        None takes the rows of each topic, which differ from run to run: values of different runs
        are not to be compared then.
    **options
        Further options of single measures, as in :func:`skfilterrank.metrics.evaluate`.

    Returns
    -------
    DataFrame of shape (n_topics, n_measures), dtype float64
        Index "qid", sorted as text; a column for each measure.

    Raises
    ------
    ValueError, FileFormatError
        As :func:`skfilterrank.io.align` and :func:`skfilterrank.metrics.evaluate`.

    See Also
    --------
    evaluate_runs : Many runs.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.trec import evaluate_run
    >>> qrels = pd.DataFrame({"qid": ["1"] * 3, "docno": ["a", "b", "c"], "label": [2, -2, 1]})
    >>> run = pd.DataFrame({"qid": ["1"] * 2, "docno": ["a", "b"], "score": [0.9, 0.8]})
    >>> evaluate_run(run, qrels, ["ndcg_f@20", "ap"])
         ndcg_f@20   ap
    qid
    1     0.591...  0.5
    """
    return _evaluate(
        run,
        qrels,
        measures,
        missing=missing,
        ties=ties,
        gains=gains,
        unjudged=unjudged,
        undefined=undefined,
        n_items=n_items,
        **options,
    )[1]


def evaluate_runs(
    runs, qrels, measures, *, n_jobs: int | None = None, verbose: int = 0, **params
) -> pd.DataFrame:
    """Measures of every topic of many runs.

    Parameters
    ----------
    runs : dict {name: run}, or list of paths
        The runs, as :func:`evaluate_run` takes them; paths are named by their files' names
        without ".gz" and ".txt".
    qrels : DataFrame, QrelsIndex, str, PathLike or file object
        The judgments, indexed once for all runs.
    measures : str or list of str
        Names of measures.
    n_jobs : int or None, default=None
        Number of processes; -1 means all processors. The result is the same.
    verbose : int, default=0
        1 shows a progress bar.
    **params
        As in :func:`evaluate_run`.

    Returns
    -------
    DataFrame of shape (n_runs * n_topics, n_measures), dtype float64
        Index levels "run", in the order given, and "qid". ``.groupby("run", sort=False).mean()``
        gives the means.

    Raises
    ------
    ValueError, FileFormatError
        As :func:`evaluate_run`; a note names the run. Two runs of one name.

    See Also
    --------
    iter_evaluations : The same, one run after the other.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.trec import evaluate_runs
    >>> qrels = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "label": [1, 0]})
    >>> run = pd.DataFrame({"qid": ["1", "1"], "docno": ["a", "b"], "score": [0.9, 0.8]})
    >>> evaluate_runs({"good": run, "bad": run.assign(score=-run["score"])}, qrels, ["rr", "ap"])
               rr   ap
    run  qid
    good 1    1.0  1.0
    bad  1    0.5  0.5
    """
    found = iter_evaluations(runs, qrels, measures, n_jobs=n_jobs, verbose=verbose, **params)
    return pd.concat({each.name: each.values for each in found}, names=["run"])


def iter_evaluations(
    runs,
    qrels,
    measures,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
    on_error: str = "raise",
    **params,
) -> Iterator[RunEvaluation]:
    """Evaluate many runs, one after the other, in bounded memory.

    Parameters
    ----------
    runs, qrels, measures, n_jobs, verbose, **params
        As in :func:`evaluate_runs`.
    on_error : {"raise", "yield"}, default="raise"
        What to do with a run that cannot be read, joined with the judgments or evaluated: raise,
        or yield the error in its place and go on.

    Yields
    ------
    RunEvaluation
        Name, values of every topic, and the topics that were not counted; in the order of `runs`.

    Raises
    ------
    ValueError, FileFormatError
        As :func:`evaluate_runs`, when the run in question is reached; for parameters that no run
        could make right, before the first.
    """
    check_choice(on_error, "on_error", ("raise", "yield"))
    _check_params(measures, **params)
    named = list(_named(runs))
    index = qrels if isinstance(qrels, QrelsIndex) else QrelsIndex(qrels)
    with tqdm(total=len(named), unit="run", disable=not verbose, leave=False) as bar:
        for evaluation in _evaluations(named, index, measures, n_jobs, params):
            if evaluation.error is not None and on_error == "raise":
                raise evaluation.error
            bar.update()
            yield evaluation


def _evaluations(named, index, measures, n_jobs, params):
    """Evaluate runs in order, in several processes where asked for."""
    if effective_n_jobs(n_jobs) == 1 or len(named) == 1:
        for name, run in named:
            yield _evaluate_named(name, run, index, measures, params)
        return
    batches = (
        delayed(_evaluate_batch)(
            os.getcwd(), named[begin : begin + _BATCH], index, measures, params
        )
        for begin in range(0, len(named), _BATCH)
    )
    found = Parallel(n_jobs=n_jobs, return_as="generator")(batches)
    try:
        for evaluations in found:
            yield from evaluations
    finally:
        with warnings.catch_warnings():
            # Whoever stops early knows that what is left is not wanted.
            warnings.filterwarnings("ignore", message=".*tasks", category=UserWarning)
            found.close()


def _evaluate_batch(folder, named, index, measures, params):
    """A few runs, in a process of their own."""
    # A process that joblib uses again may stand in another folder.
    with contextlib.chdir(folder):
        return [_evaluate_named(name, run, index, measures, params) for name, run in named]


def _evaluate_named(name, run, index, measures, params):
    """One run, or its error, which says which run it was."""
    try:
        aligned, values = _evaluate(run, index, measures, **params)
    except (ValueError, OSError) as error:
        error.add_note(f"This came up with the run {name!r}.")
        return RunEvaluation(name, None, error=error)
    return RunEvaluation(name, values, aligned.missing_topics, aligned.unjudged_topics)


def _check_params(measures, *, missing="empty", ties="docno", **params):
    """Raise for what would go wrong with every run."""
    check_choice(missing, "missing", ("empty", "skip"))
    check_choice(ties, "ties", TIES)
    for entry, *_ in parse_measures(measures).values():
        check_measure_parameters(entry, params)
        entry.check_ties(ties)


def _evaluate(
    run, qrels, measures, *, missing="empty", ties="docno", n_items=N_ITEMS, **params
) -> tuple[AlignedRun, pd.DataFrame]:
    """Align and evaluate."""
    check_choice(ties, "ties", TIES)
    wanted = parse_measures(measures)
    aligned = run if isinstance(run, AlignedRun) else align(run, qrels, missing=missing)
    known = {name for entry, *_ in wanted.values() for name in (*entry.options, *entry.columns)}
    given = {"n_items": n_items, "pooled": aligned.pooled}
    params = {name: value for name, value in given.items() if name in known} | params
    values = evaluate(
        aligned.y_true,
        aligned.y_score,
        wanted,
        groups=aligned.index,
        # The rows of a topic stand in this order already.
        ties="stable" if ties == "docno" else ties,
        **params,
    )
    return aligned, values


def _named(runs):
    """Pairs of name and run."""
    if isinstance(runs, Mapping):
        yield from runs.items()
        return
    if isinstance(runs, str | os.PathLike):
        runs = [runs]
    seen = {}
    for run in runs:
        if not isinstance(run, str | os.PathLike):
            raise TypeError(
                f"runs must be a dict {{name: run}} or a list of paths, got a list that holds "
                f"{type(run).__name__}."
            )
        name = name_of_path(run)
        if name in seen:
            raise ValueError(
                f"{os.fspath(run)} and {os.fspath(seen[name])} give two runs of the name "
                f"{name!r}: pass a dict {{name: path}}, or rename a file."
            )
        seen[name] = run
        yield name, run


def name_of_path(path) -> str:
    """Name of a run, after its file."""
    return os.path.basename(path).removesuffix(".gz").removesuffix(".txt")

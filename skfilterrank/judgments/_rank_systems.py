"""Ranking of systems without judgments."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import check_choice, check_random_state
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.exceptions import InputError, brief_list
from skfilterrank.judgments._pseudo_qrels import METHODS, check_pseudo, pseudo_labels, run_pool
from skfilterrank.judgments._rank_table import rank_table
from skfilterrank.metrics import evaluate

FORECASTS = (*METHODS, "aslam", "spoerri")


def rank_systems(
    runs,
    method: str = "nruns",
    *,
    measure=None,
    depth: int | None = 30,
    share: float | None = None,
    n_relevant: int | None = None,
    teams=None,
    n_trials: int = 10,
    ties: str = "docno",
    random_state=None,
) -> pd.DataFrame:
    """Rank systems without judgments, by the agreement of their runs.

    This predicts which systems are good before anything is judged. All methods follow the majority:
    a system that finds relevant documents that no other system finds is underrated.

    Parameters
    ----------
    runs : path, list of paths, dict {name: path, open file or DataFrame}, or DataFrame
        The runs, as :func:`skfilterrank.io.read_runs` takes them, or their :func:`rank_table`. At
        least two.
    method : {"nruns", "sakai", "condorcet", "bias+condorcet", "soboroff", "aslam", "spoerri"}, \
default="nruns"
        "aslam" scores a run by the mean Jaccard coefficient of its documents with those of each
        other run. "spoerri" scores a run by minus the share of its documents that none of four
        other runs returns; use it with one run of each team, and at least five runs. The other
        methods make judgments by :func:`pseudo_qrels` and measure the runs with them.
    measure : str, list of str or None, default=None
        Measure for the methods with pseudo-judgments, such as "ndcg_0@10"; if there are several,
        the first defines the order. None means "ap". "aslam" and "spoerri" use no measure and
        accept only None.
    depth : int or None, default=30
        Number of first documents of each run that are compared, or form the pool; None means all.
        Measures are computed on whole runs.
    share, n_relevant, n_trials, ties
        As in :func:`pseudo_qrels`; a run's value with "soboroff" is the mean over trials.
    teams : dict or Series {run: team}, default=None
        Team of each run; of each team only the first run by name is used and ranked. None uses all
        runs. Runs that are not in `runs` are allowed.
    random_state : int, RandomState instance or None, default=None
        Seed for "soboroff", "spoerri" and random ties. Pass an int for reproducible results.

    Returns
    -------
    DataFrame of shape (n_runs, n_measures), or with teams one column more
        Index "run", the best first, ties sorted by name. The first column is "team" if `teams` is
        given. The others are means of the measures over the queries of the pool, or one column
        "aslam" (up to 1) or "spoerri" (up to 0). Higher is better.

    Raises
    ------
    ValueError
        For the reasons of :func:`pseudo_qrels`; "spoerri" with fewer than five runs or teams;
        unknown or repeated measures.

    Warns
    -----
    DataWarning
        As :func:`pseudo_qrels`.

    See Also
    --------
    pseudo_qrels : The judgments themselves.

    Notes
    -----
    Let Ret(i, t) be the documents that run i returns for query t within the depth, with T queries
    and n runs. Then [1]_::

        aslam    (1 / T) sum over t of 1 / (n - 1) *
                 sum over j != i of |Ret(i, t) & Ret(j, t)| / |Ret(i, t) | Ret(j, t)|
        spoerri  -(1 / 5) sum over the trials of i of (1 / T) *
                 sum over t of |Ret(i, t) - union of the other four Ret(j, t)| / (1 + |Ret(i, t)|)

    A run j without documents adds 0, but still counts in n - 1. A run i without documents for a
    query has score 0 there, which is the best score of "spoerri". For "spoerri" the runs are
    arranged in a random circle; each of the n trials takes five neighbours, so each run is in five
    trials. Only queries count for which some run returns a document.

    Documents outside the pool are unjudged and have gain 0, so long runs are not penalised.
    Measures that need the size of the collection have it in their name, as in
    "tse(n_items=100000)".

    References
    ----------
    .. [1] Sakai and Lin, "Ranking Retrieval Systems without Relevance Assessments: Revisited",
       EVIA 2010, section 3.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import rank_systems
    >>> lists = {"one": "abc", "two": "bad", "three": "efg"}
    >>> runs = {
    ...     name: pd.DataFrame({"qid": "1", "docno": list(docnos), "score": [3, 2, 1]})
    ...     for name, docnos in lists.items()
    ... }

    Two runs return a and b, which pass for relevant:

    >>> rank_systems(runs)
            ap
    run
    one    1.0
    two    1.0
    three  0.0

    The first two share two of four documents; the third shares none with them:

    >>> rank_systems(runs, "aslam")
           aslam
    run
    one     0.25
    two     0.25
    three   0.00
    """
    check_choice(method, "method", FORECASTS)
    check_pseudo(share, n_relevant, n_trials, ties)
    if measure is not None and method in ("aslam", "spoerri"):
        raise InputError(
            f"measure={brief_list(list(parse_measures(measure)))} has no effect for "
            f"method={method!r}, which uses no judgments: leave measure out."
        )
    measures = parse_measures("ap" if measure is None else measure)
    table, runs, team_of = run_pool(runs, depth=depth, teams=teams)
    names = list(table.columns)
    if method == "aslam":
        values = pd.DataFrame({method: mean_overlap(table)}, index=names)
    elif method == "spoerri":
        _check_enough(names, teams)
        scores = mean_uniqueness(table, check_random_state(random_state))
        values = pd.DataFrame({method: scores}, index=names)
    else:
        labels = pseudo_labels(
            table,
            method,
            share=share,
            n_relevant=n_relevant,
            n_trials=n_trials,
            ties=ties,
            random_state=random_state,
        )
        values = mean_values(runs, names, labels, measures)
    values = _best_first(values.rename_axis("run"), measures)
    if team_of is not None:
        values.insert(0, "team", [team_of[name] for name in values.index])
    return values


def _check_enough(names, teams):
    """Raise if there are fewer than five runs for Spoerri's method."""
    if len(names) < N_COMPARED:
        kind = "runs" if teams is None else "teams"
        raise InputError(
            f"method='spoerri' compares {N_COMPARED} {kind} at a time, but there are only "
            f"{len(names)}: take another method, such as 'nruns'."
        )


def _best_first(values, measures):
    """Sort rows by the first column, ties by name."""
    key = values.iloc[:, 0].to_numpy()
    first = measures.get(values.columns[0])
    if first is None or first.measure.greater_is_better:
        key = -key
    # Values are rounded, so that rounding errors do not order equal lists.
    return values.iloc[np.lexsort((np.argsort(np.argsort(values.index)), key.round(12)))]


# Number of runs in a trial of Spoerri's method.
N_COMPARED = 5


def mean_overlap(table: pd.DataFrame) -> np.ndarray:
    """Compute each run's mean Jaccard coefficient with other runs (Aslam and Savell).

    If one of the two runs returns nothing for the query, the coefficient is 0.
    """
    is_returned, starts = _incidence(table)
    n_runs = is_returned.shape[1]
    total = np.zeros(n_runs)
    for rows in np.split(is_returned, starts[1:]):
        rows = rows.astype(np.float64)
        both = rows.T @ rows
        sizes = both.diagonal().copy()
        either = sizes[:, None] + sizes - both
        jaccard = np.divide(both, either, out=np.zeros_like(both), where=either > 0)
        np.fill_diagonal(jaccard, 0)
        total += jaccard.sum(axis=1)
    return total / (len(starts) * (n_runs - 1))


def mean_uniqueness(table: pd.DataFrame, random_state: np.random.RandomState) -> np.ndarray:
    """Compute minus the mean share of unique documents of each run (Spoerri).

    A document is unique if no other run of the trial returns it. The runs are arranged in a random
    circle. Each trial compares five neighbours, and there are as many trials as runs.
    """
    is_returned, starts = _incidence(table)
    sizes = np.add.reduceat(is_returned, starts, axis=0, dtype=np.int64)
    n_runs = is_returned.shape[1]
    circle = random_state.permutation(n_runs)
    total = np.zeros(n_runs)
    for trial in range(n_runs):
        chosen = circle[(trial + np.arange(N_COMPARED)) % n_runs]
        rows = is_returned[:, chosen]
        alone = rows & (rows.sum(axis=1) == 1)[:, None]
        n_alone = np.add.reduceat(alone, starts, axis=0, dtype=np.int64)
        total[chosen] += (n_alone / (1 + sizes[:, chosen])).mean(axis=0)
    return -total / N_COMPARED


def _incidence(table):
    """Return the incidence matrix of documents and runs, and the first row of each query."""
    queries = pd.factorize(table.index.get_level_values("qid"))[0]
    return table.notna().to_numpy(), np.flatnonzero(np.diff(queries, prepend=-1))


def mean_values(runs, names, labels: pd.DataFrame, measures: dict) -> pd.DataFrame:
    """Return means of each measure over queries and label columns, with a row for each run.

    Whole runs are measured, whatever the depth of the pool; documents outside the pool are
    unjudged.
    """
    queries = labels.index.unique("qid")
    judged_queries = queries.get_indexer(labels.index.get_level_values("qid"))
    rows = {}
    for name, ranks in _whole_runs(runs, names):
        values = _values(ranks, labels, queries, judged_queries, measures)
        rows[name] = np.mean([value.mean().to_numpy() for value in values], axis=0)
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(measures))


def _whole_runs(runs, names) -> Iterator[tuple]:
    """Yield name and document ranks of each run."""
    for name in names:
        if isinstance(runs, pd.DataFrame):
            yield name, runs[name].dropna()
        else:
            # Each run is aligned separately: a table of all documents of all runs would be mostly
            # empty.
            yield name, rank_table({name: runs[name]})[name]


def _values(ranks, labels, queries, judged_queries, measures):
    """Yield a run's values for all queries of the pool, for each label column."""
    codes = queries.get_indexer(ranks.index.get_level_values("qid"))
    ranks, codes = ranks[codes >= 0], codes[codes >= 0]
    places = labels.index.get_indexer(ranks.index)
    absent = np.ones(len(labels), dtype=bool)
    absent[places[places >= 0]] = False
    codes = np.concatenate([codes, judged_queries[absent]])
    scores = -np.concatenate([ranks.to_numpy(), np.full(absent.sum(), np.inf)])
    # Rows are sorted in list order here, so that measures need not sort.
    order = np.lexsort((-scores, codes))
    codes, scores = codes[order], scores[order]
    places = np.concatenate([places, np.flatnonzero(absent)])[order]
    for trial in labels:
        y_true = np.where(places >= 0, labels[trial].to_numpy()[places], np.nan)
        yield evaluate(y_true, scores, measures, groups=codes).per_query

"""Pseudo-judgments from the agreement of runs, and ranking of systems without judgments."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from scipy import sparse

from skfilterrank._base.checks import (
    check_choice,
    check_count,
    check_number,
    check_random_state,
    check_teams,
)
from skfilterrank._base.words import counted, warn_user
from skfilterrank._files.forms import named_runs
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.io import read_runs
from skfilterrank.judgments._rank_table import as_rank_table, rank_table
from skfilterrank.judgments._selector import check_share_of_documents, round_half_up
from skfilterrank.metrics import evaluate

# Shares of relevant documents in the paper's experiments.
_SELECTED = 0.3
_DRAWN = 0.1
# Number of runs in a trial of Spoerri's method.
_N_COMPARED = 5


def pseudo_qrels(
    runs,
    method: str = "nruns",
    *,
    depth: int | None = 30,
    share: float | None = None,
    n_relevant=None,
    teams=None,
    team_values=None,
    n_trials: int = 10,
    ties: str = "docno",
    random_state=None,
) -> pd.DataFrame:
    """Make pseudo-judgments: documents that many runs return count as relevant.

    The table can be used in place of real judgments, to predict before judging which systems are
    good. :func:`rank_systems` does this in one step.

    Parameters
    ----------
    runs : path, list of paths, dict {name: path, open file or DataFrame}, or DataFrame
        The runs in a form that :func:`skfilterrank.io.read_runs` accepts, or their
        :func:`rank_table`. At least two.
    method : {"nruns", "sakai", "condorcet", "bias+condorcet", "soboroff"}, default="nruns"
        How relevant documents are chosen from a query's pool:

        - "nruns": documents that most runs return (the simplest method, and as good as any in
          [1]_);
        - "sakai": the same, with ties broken by the smaller sum of ranks;
        - "condorcet": documents with the most wins over other documents of the pool; in each run, a
          document wins against all documents that are ranked lower or not returned; ties are broken
          by fewer losses;
        - "bias+condorcet": the same with only the more biased half of the runs, which was worse in
          [1]_;
        - "soboroff": a random sample of the pool's entries, where a document has an entry for each
          run that returns it.
    depth : int or None, default=30
        Number of first documents of each run that form the pool; None means all.
    share : float, default=None
        Share of the pool that is relevant, above 0 and at most 1: a share of its documents, or with
        "soboroff" of its entries (a document may be drawn twice). The number is rounded half up and
        at least 1. None means 0.3, with "soboroff" 0.1.
    n_relevant : int, dict or Series {qid: int}, (mean, sd) or None, default=None
        Number of relevant documents, instead of a share: one for all queries, or one for each; all
        documents if the pool is smaller. Sakai's method used 100 before [1]_. With "soboroff", it
        is the number of drawn entries; a tuple of two numbers, the mean and the standard deviation
        of the true numbers, is the original of [2]_: for each query and trial, the number is drawn
        from their normal distribution, rounded half up, and at least 1.
    teams : dict or Series {run: team}, default=None
        Team of each run; only one run of each team is used. None uses all runs. Runs that are not
        in `runs` are allowed.
    team_values : dict or Series {run: value}, default=None
        Values by which the highest run of a team is used, such as true means of a measure, as in
        [3]_. None uses the first run of each team by name.
    n_trials : int, default=10
        Number of samples of "soboroff"; the other methods make one table.
    ties : {"docno", "random"}, default="docno"
        How remaining ties are broken: by the greater id, or at random. "soboroff" has no
        ties.
    random_state : int, RandomState instance or None, default=None
        Seed for "soboroff" and for random ties. Pass an int for reproducible results.

    Returns
    -------
    DataFrame of shape (n_documents, 3), or with "soboroff" (n_trials * n_documents, 4)
        Columns "qid", "docno" and "label" (int64): 1 where relevant, 0 for the others of the pool;
        sorted by query and document. With "soboroff", a last column "trial" from 0 up numbers the
        samples: ``table[table["trial"] == 0]`` is one table of judgments.

    Raises
    ------
    ValueError
        Unknown `method` or `ties`; `depth`, `share`, `n_relevant` or `n_trials` out of range, or
        both `share` and `n_relevant`; fewer than two runs, or teams; a run without a team; a run
        that has no query in common with any other; an error of :func:`rank_table`.

    Warns
    -----
    DataWarning
        If `n_relevant` makes all documents of a query's pool relevant (not with "soboroff").

    See Also
    --------
    rank_systems : Systems in the order that such judgments predict.

    Notes
    -----
    Let ``runs(d)`` be the runs that return d within the depth. Documents are sorted as in [1]_ by
    ::

        sakai      |runs(d)| + 1 / (sum of d's ranks in runs(d))
        condorcet  (sum of wins of d) + 1 / (1 + sum of losses of d)

    where the second number breaks ties of the first. Wins over all documents of a pool are counted
    from ranks, without comparing pairs. The bias of a run is one minus the cosine between its
    response vector (for each document the sum of depth / rank over queries) and the sum of the
    vectors of all runs, including its own. The more biased half of the runs, rounded half up, is
    kept, and the pool consists of their documents. "soboroff" is the variant of [1]_, which needs
    no estimate of the number of relevant documents. Documents outside the pool are not in the
    table, so they are unjudged and count as not relevant.

    References
    ----------
    .. [1] Sakai and Lin, "Ranking Retrieval Systems without Relevance Assessments: Revisited",
       EVIA 2010, sections 3.1, 3.4 and 3.5.
    .. [2] Soboroff, Nicholas and Cahan, "Ranking Retrieval Systems without Relevance Judgments",
       SIGIR 2001.
    .. [3] Spoerri, "Using the Structure of Overlap between Search Results to Rank Retrieval Systems
       without Relevance Judgments", Information Processing and Management 43, 2007.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.judgments import pseudo_qrels
    >>> lists = {"one": "abc", "two": "bad", "three": "bef"}
    >>> runs = {
    ...     name: pd.DataFrame({"qid": "1", "docno": list(docnos), "score": [3, 2, 1]})
    ...     for name, docnos in lists.items()
    ... }

    Three runs return b, two a, and each of the others is in one; 0.3 of six are two:

    >>> pseudo_qrels(runs)
      qid docno  label
    0   1     a      1
    1   1     b      1
    2   1     c      0
    3   1     d      0
    4   1     e      0
    5   1     f      0
    """
    check_choice(method, "method", METHODS)
    _check_pseudo(method, share, n_relevant, n_trials, ties)
    table, _, _ = _run_pool(runs, depth=depth, teams=teams, team_values=team_values)
    labels = _pseudo_labels(
        table,
        method,
        share=share,
        n_relevant=n_relevant,
        n_trials=n_trials,
        ties=ties,
        random_state=random_state,
    )
    trials = [
        labels.index.to_frame(index=False).assign(
            label=labels[trial].to_numpy(),
            trial=trial,  # type: ignore[arg-type]  # the name of the column, an int
        )
        for trial in labels
    ]
    qrels = pd.concat(trials, ignore_index=True)
    return qrels if method == "soboroff" else qrels.drop(columns="trial")


def _check_pseudo(method, share, n_relevant, n_trials, ties) -> None:
    """Check the parameters that do not depend on the runs."""
    check_choice(ties, "ties", ("docno", "random"))
    check_count(n_trials, "n_trials")
    if share is not None:
        check_share_of_documents(share)
    if n_relevant is None:
        return
    if share is not None:
        raise InputError(
            f"share={brief(share)} and n_relevant={brief(n_relevant)} both determine the number of "
            "relevant documents: give one of the two."
        )
    if isinstance(n_relevant, tuple):
        if method != "soboroff" or len(n_relevant) != 2:
            raise InputError(
                "n_relevant as a tuple must be (mean, standard deviation) for method='soboroff', "
                f"got {brief(n_relevant)} for {method!r}: give a number, or a dict by query."
            )
        check_number(n_relevant[0], "n_relevant", above=0)
        check_number(n_relevant[1], "n_relevant", least=0)
    elif isinstance(n_relevant, Mapping | pd.Series):
        for number in dict(n_relevant).values():
            check_count(number, "n_relevant", least=0)
    else:
        check_count(n_relevant, "n_relevant")


def _pseudo_labels(
    table, method, *, share, n_relevant, n_trials, ties, random_state
) -> pd.DataFrame:
    """Return the label of each document of the pool, with a column for each trial."""
    random_state = check_random_state(random_state)
    usual = _DRAWN if method == "soboroff" else _SELECTED
    if method == "bias+condorcet":
        table = _only_pool_of(table, most_biased(table))
    number = _number(table, n_relevant, usual if share is None else share, random_state)
    if method == "soboroff":
        labels = [_draw(table, number, random_state) for _ in range(n_trials)]
        return pd.DataFrame(np.column_stack(labels), index=table.index)
    queries = _queries(table)
    sizes = np.bincount(queries)
    if n_relevant is not None and (is_short := sizes <= number(sizes)).any():
        warn_user(
            f"n_relevant={brief(n_relevant)} makes all documents of the pool relevant for "
            f"{is_short.sum()} of {counted(len(sizes), 'query')}: choose less than the "
            f"{sizes.min():,} documents of the smallest pool, or a share.",
            DataWarning,
        )
    docnos = pd.factorize(table.index.get_level_values("docno"), sort=True)[0]
    last_key = -docnos if ties == "docno" else random_state.permutation(len(docnos))
    labels = _take_first([*_ORDERS[method](table), last_key], queries, number)
    return pd.DataFrame(labels, index=table.index)


def _number(table, n_relevant, share, random_state):
    """Return a function that turns numbers of rows by query into numbers of relevant rows."""
    if n_relevant is None:
        return lambda sizes: np.maximum(round_half_up(share, sizes), 1)
    if isinstance(n_relevant, tuple):
        mean, sd = n_relevant
        return lambda sizes: np.maximum(
            np.floor(random_state.normal(mean, sd, len(sizes)) + 0.5), 1
        )
    if not isinstance(n_relevant, Mapping | pd.Series):
        return lambda sizes: np.full(len(sizes), n_relevant)
    by_query = {str(query): number for query, number in dict(n_relevant).items()}
    queries = table.index.unique("qid").astype(str)
    if lacking := [query for query in queries if query not in by_query]:
        raise InputError(
            f"n_relevant lacks {counted(len(lacking), 'query')} of the runs, such as "
            f"{brief(lacking[0])}: give a number for each query."
        )
    numbers = np.array([by_query[query] for query in queries])
    return lambda sizes: numbers


def _by_runs(table):
    """Return sort keys: more runs first."""
    return [-table.notna().to_numpy().sum(axis=1)]


def _by_runs_and_ranks(table):
    """Return sort keys: more runs first, then smaller sums of ranks."""
    return [*_by_runs(table), np.nansum(table.to_numpy(), axis=1)]


def _by_wins(table):
    """Return sort keys: more wins first, then fewer losses."""
    wins, losses = condorcet_counts(table)
    return [-wins, losses]


_ORDERS = {
    "nruns": _by_runs,
    "sakai": _by_runs_and_ranks,
    "condorcet": _by_wins,
    "bias+condorcet": _by_wins,
}
METHODS = (*_ORDERS, "soboroff")


def _draw(table, number, random_state):
    """Draw entries of runs without replacement; return 1 for drawn documents, else 0."""
    rows = np.nonzero(table.notna().to_numpy())[0]
    drawn = _take_first([random_state.random_sample(len(rows))], _queries(table)[rows], number)
    return np.bincount(rows, weights=drawn, minlength=len(table)).astype(bool).astype(np.int64)


def _take_first(keys, queries, number):
    """Return 1 for the first rows of each query by the sort keys, else 0; queries are sorted."""
    order = np.lexsort((*reversed(keys), queries))
    sizes = np.bincount(queries)
    places = np.arange(len(queries)) - (np.cumsum(sizes) - sizes)[queries]
    labels = np.empty(len(queries), dtype=np.int64)
    labels[order] = places < number(sizes)[queries]
    return labels


def _queries(table):
    """Return the query number of each row, in the order of the table."""
    return pd.factorize(table.index.get_level_values("qid"))[0]


def condorcet_counts(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Count each document's wins and losses against all others of its query.

    If a run returns n of the N documents of a query's pool, its p-th document wins against the N -
    p documents that are lower or not returned, and loses against the p - 1 above. A document that
    is not returned loses against all n. So no pairs need to be formed.
    """
    ranks = table.to_numpy()
    queries = _queries(table)
    pool_sizes = np.bincount(queries)
    is_returned = ~np.isnan(ranks)
    # Ranks are renumbered, since a table without some rows has gaps.
    places = table.groupby(queries).rank().to_numpy()
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    n_returned = np.add.reduceat(is_returned, starts, axis=0, dtype=np.int64)
    wins = np.where(is_returned, pool_sizes[queries][:, None] - places, 0)
    losses = np.where(is_returned, places - 1, n_returned[queries])
    return wins.sum(axis=1).astype(np.int64), losses.sum(axis=1).astype(np.int64)


def run_bias(table: pd.DataFrame) -> pd.Series:
    """Return one minus the cosine of each run's response vector with the sum over all runs.

    The vector has for each document the sum of 1 / rank over queries; the paper's factor 30
    cancels. The sum over all runs includes the run itself. A run without documents has bias 1.
    """
    docnos = pd.factorize(table.index.get_level_values("docno"))[0]
    # A document in the pools of several queries is one coordinate of the vector.
    merge = sparse.csr_array((np.ones(len(docnos)), (docnos, np.arange(len(docnos)))))
    responses = merge @ np.nan_to_num(1 / table.to_numpy())
    norm = responses.sum(axis=1)
    lengths = np.sqrt((responses**2).sum(axis=0) * (norm**2).sum())
    cosines = np.divide(norm @ responses, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
    return pd.Series(1 - cosines, index=table.columns)


def most_biased(table: pd.DataFrame) -> list:
    """Return names of the more biased half of the runs, rounded half up; ties by name."""
    bias = run_bias(table).sort_index().sort_values(ascending=False, kind="stable")
    return sorted(bias.index[: round_half_up(0.5, len(bias))])


def _run_pool(
    runs, *, depth: int | None, teams, team_values
) -> tuple[pd.DataFrame, object, dict | None]:
    """Return the rank table of the runs down to a depth, the runs, and {run: team}.

    Only one run of each team is used.
    """
    is_table = isinstance(runs, pd.DataFrame)
    runs = runs if is_table else named_runs(runs)
    names = list(runs)
    team_of = _runs_of_teams(names, teams, team_values)
    chosen = names if team_of is None else list(team_of)
    if len(chosen) < 2:
        counted = f"{len(names)} runs of one team" if len(names) > 1 else f"{len(names)} run(s)"
        raise InputError(
            f"runs must be at least 2{' (of different teams)' if teams is not None else ''}, got "
            f"{counted}: runs are predicted from what they have in common."
        )
    if is_table:
        table = as_rank_table(_only_pool_of(runs, chosen), depth=depth).sort_index()
    else:
        runs = read_runs({name: runs[name] for name in chosen})
        table = rank_table(runs, depth=depth)
    _check_queries(table)
    return table, runs, team_of


def _only_pool_of(table: pd.DataFrame, names) -> pd.DataFrame:
    """Return the rank table of some runs, without documents that only other runs return."""
    return table[list(names)].dropna(how="all")


def _check_queries(table):
    """Raise if a run has no query in common with any other run."""
    has = table.notna().groupby(level="qid").any().to_numpy()
    is_apart = ~(has & (has.sum(axis=1) > 1)[:, None]).any(axis=0)
    if is_apart.any():
        apart = [str(name) for name in table.columns[is_apart]]
        shown = ", ".join(apart[:3]) + (", ..." if len(apart) > 3 else "")
        query = table.index.get_level_values("qid")[0]
        raise InputError(
            f"{len(apart)} of {len(has[0])} runs ({shown}) have no query in common with any other "
            f"run; queries of the runs are such as {brief(query)}. Leave these runs out, or bring "
            "their queries to one form."
        )


def _runs_of_teams(names, teams, values) -> dict | None:
    """Return {run: team} of each team's first or best run by name; None without teams."""
    if teams is None:
        if values is not None:
            raise InputError("team_values choose among the runs of a team: give teams, too.")
        return None
    values = {} if values is None else dict(values)
    if values and (lacking := [name for name in names if name not in values]):
        raise InputError(
            f"team_values lacks {counted(len(lacking), 'run')}, such as {brief(lacking[0])}."
        )
    chosen: dict = {}
    for name, team in sorted(check_teams(names, teams).items()):
        best = chosen.setdefault(team, name)
        if values and values[name] > values[best]:
            chosen[team] = name
    return {name: team for team, name in chosen.items()}


# Methods that make no pseudo-judgments.
_OF_OVERLAP = ("aslam", "spoerri", "spoerri_all")
FORECASTS = (*METHODS, *_OF_OVERLAP)


def rank_systems(
    runs,
    method: str = "nruns",
    *,
    measure=None,
    depth: int | None = 30,
    share: float | None = None,
    n_relevant=None,
    teams=None,
    team_values=None,
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
    method : {"nruns", "sakai", "condorcet", "bias+condorcet", "soboroff", "aslam", "spoerri", \
"spoerri_all"}, default="nruns"
        "aslam" scores a run by the mean Jaccard coefficient of its documents with those of each
        other run. "spoerri" scores a run by minus the share of its documents that none of four
        other runs returns, and "spoerri_all" by the share that all four return; use them with one
        run of each team, and at least five runs. The other methods make judgments by
        :func:`pseudo_qrels` and measure the runs with them.
    measure : str, list of str or None, default=None
        Measure for the methods with pseudo-judgments, such as "ndcg_0@10"; if there are several,
        the first defines the order. None means "ap". "aslam", "spoerri" and "spoerri_all" use no
        measure, and accept only None for `measure`, `share` and `n_relevant`.
    depth : int or None, default=30
        Number of first documents of each run that are compared, or form the pool; None means all.
        Measures are computed on whole runs.
    share, n_relevant, n_trials, ties
        As in :func:`pseudo_qrels`; a run's value with "soboroff" is the mean over trials.
    teams, team_values
        As in :func:`pseudo_qrels`; only the used run of each team is ranked.
    random_state : int, RandomState instance or None, default=None
        Seed for "soboroff", "spoerri", "spoerri_all" and random ties. Pass an int for reproducible
        results.

    Returns
    -------
    DataFrame of shape (n_runs, n_measures), or with teams one column more
        Index "run", the best first, ties sorted by name. The first column is "team" if `teams` is
        given. The others are means of the measures over the queries of the pool, or one column
        of the method: "aslam", "spoerri_all" (up to 1) or "spoerri" (up to 0). Higher is better.

    Raises
    ------
    ValueError
        For the reasons of :func:`pseudo_qrels`; Spoerri's methods with fewer than five runs or
        teams; unknown or repeated measures.

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

    and "spoerri_all" has ``+ |intersection of all five Ret(j, t)|`` in place of the difference.

    A run j without documents adds 0, but still counts in n - 1. A run i without documents for a
    query has score 0 there, which is the best score of "spoerri". For Spoerri's methods the runs
    are arranged in a random circle; each of the n trials takes five neighbours, so each run is in
    five trials. Only queries count for which some run returns a document.

    For the mean of the correlations of Soboroff's trials, in place of the correlation of the means,
    measure the runs by each trial of :func:`pseudo_qrels`. Pseudo-judgments have no forbidden
    documents, so that nDCG_f cannot be forecast.

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
    _check_pseudo(method, share, n_relevant, n_trials, ties)
    given = {"measure": measure, "share": share, "n_relevant": n_relevant}
    for name, value in given.items() if method in _OF_OVERLAP else ():
        if value is not None:
            raise InputError(
                f"{name}={brief(value)} has no effect for method={method!r}, which uses no "
                f"judgments: leave {name} out."
            )
    measures = parse_measures("ap" if measure is None else measure)
    table, runs, team_of = _run_pool(runs, depth=depth, teams=teams, team_values=team_values)
    names = list(table.columns)
    if method == "aslam":
        values = pd.DataFrame({method: _mean_overlap(table)}, index=names)
    elif method in _OF_OVERLAP:
        _check_enough(names, method, teams)
        scores = mean_of_fives(table, check_random_state(random_state), common=method != "spoerri")
        values = pd.DataFrame({method: scores}, index=names)
    else:
        labels = _pseudo_labels(
            table,
            method,
            share=share,
            n_relevant=n_relevant,
            n_trials=n_trials,
            ties=ties,
            random_state=random_state,
        )
        values = _mean_values(runs, names, labels, measures)
    values = _best_first(values.rename_axis("run"), measures)
    if team_of is not None:
        values.insert(0, "team", [team_of[name] for name in values.index])
    return values


def _check_enough(names, method, teams):
    """Raise if there are fewer than five runs for Spoerri's method."""
    if len(names) < _N_COMPARED:
        kind = "runs" if teams is None else "teams"
        raise InputError(
            f"method={method!r} compares {_N_COMPARED} {kind} at a time, but there are only "
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


def _mean_overlap(table: pd.DataFrame) -> np.ndarray:
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


def mean_of_fives(
    table: pd.DataFrame, random_state: np.random.RandomState, *, common: bool = False
) -> np.ndarray:
    """Compute minus the mean share of unique documents of each run (Spoerri).

    A document is unique if no other run of the trial returns it. `common` takes the mean share of
    documents that all runs of the trial return instead. The runs are arranged in a random circle.
    Each trial compares five neighbours, and there are as many trials as runs.
    """
    is_returned, starts = _incidence(table)
    sizes = np.add.reduceat(is_returned, starts, axis=0, dtype=np.int64)
    n_runs = is_returned.shape[1]
    circle = random_state.permutation(n_runs)
    total = np.zeros(n_runs)
    wanted = _N_COMPARED if common else 1
    for trial in range(n_runs):
        chosen = circle[(trial + np.arange(_N_COMPARED)) % n_runs]
        rows = is_returned[:, chosen]
        found = rows & (rows.sum(axis=1) == wanted)[:, None]
        n_found = np.add.reduceat(found, starts, axis=0, dtype=np.int64)
        total[chosen] += (n_found / (1 + sizes[:, chosen])).mean(axis=0)
    return (total if common else -total) / _N_COMPARED


def _incidence(table):
    """Return the incidence matrix of documents and runs, and the first row of each query."""
    queries = _queries(table)
    return table.notna().to_numpy(), np.flatnonzero(np.diff(queries, prepend=-1))


def _mean_values(runs, names, labels: pd.DataFrame, measures: dict) -> pd.DataFrame:
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

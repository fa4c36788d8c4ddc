"""Pseudo-judgments from the agreement of runs."""

import numpy as np
import pandas as pd
from scipy import sparse

from skfilterrank._files.forms import named_runs
from skfilterrank._lists.checks import (
    check_choice,
    check_count,
    check_number,
    check_random_state,
    check_teams,
)
from skfilterrank._lists.results import counted
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.io import read_runs
from skfilterrank.judgments._rank_table import as_rank_table, rank_table
from skfilterrank.judgments._selector import round_half_up

# Shares of relevant documents in the paper's experiments.
_SELECTED = 0.3
_DRAWN = 0.1


def pseudo_qrels(
    runs,
    method: str = "nruns",
    *,
    depth: int | None = 30,
    share: float | None = None,
    n_relevant: int | None = None,
    teams=None,
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
    n_relevant : int or None, default=None
        Number of relevant documents of each query, instead of a share; all documents if the pool is
        smaller. With "soboroff", the number of drawn entries. Sakai's method used 100 before [1]_.
    teams : dict or Series {run: team}, default=None
        Team of each run; of each team only the first run by name is used. None uses all runs. Runs
        that are not in `runs` are allowed.
    n_trials : int, default=10
        Number of samples of "soboroff"; the other methods make one table.
    ties : {"docno", "random"}, default="docno"
        How remaining ties are broken: by the greater id as text, or at random. "soboroff" has no
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
    check_pseudo(share, n_relevant, n_trials, ties)
    table, _, _ = run_pool(runs, depth=depth, teams=teams)
    labels = pseudo_labels(
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


def check_pseudo(share, n_relevant, n_trials, ties) -> None:
    """Check the parameters that do not depend on the runs."""
    check_choice(ties, "ties", ("docno", "random"))
    if share is not None:
        check_number(share, "share", above=0, most=1)
    if n_relevant is not None:
        check_count(n_relevant, "n_relevant")
        if share is not None:
            raise InputError(
                f"share={brief(share)} and n_relevant={brief(n_relevant)} both determine the "
                "number of relevant documents: give one of the two."
            )
    check_count(n_trials, "n_trials")


def pseudo_labels(
    table, method, *, share, n_relevant, n_trials, ties, random_state
) -> pd.DataFrame:
    """Return the label of each document of the pool, with a column for each trial."""
    random_state = check_random_state(random_state)
    if method == "soboroff":
        number = _number(n_relevant, _DRAWN if share is None else share)
        labels = [_draw(table, number, random_state) for _ in range(n_trials)]
        return pd.DataFrame(np.column_stack(labels), index=table.index)
    if method == "bias+condorcet":
        table = only_pool_of(table, most_biased(table))
    _warn_of_all_relevant(table, n_relevant)
    docnos = pd.factorize(table.index.get_level_values("docno"), sort=True)[0]
    last_key = -docnos if ties == "docno" else random_state.permutation(len(docnos))
    number = _number(n_relevant, _SELECTED if share is None else share)
    labels = _take_first([*_ORDERS[method](table), last_key], _queries(table), number)
    return pd.DataFrame(labels, index=table.index)


def _warn_of_all_relevant(table, n_relevant):
    """Warn of queries whose labels are all relevant, which cannot order runs."""
    if n_relevant is None:
        return
    sizes = np.bincount(_queries(table))
    if n_short := np.count_nonzero(sizes <= n_relevant):
        warn_user(
            f"n_relevant={n_relevant} makes all documents of the pool relevant for {n_short} of "
            f"{counted(len(sizes), 'query', 'queries')}: choose less than the "
            f"{sizes.min():,} documents of the smallest pool, or a share.",
            DataWarning,
        )


def _number(n_relevant, share):
    """Return the number of relevant rows for a number of rows."""

    def number(sizes):
        if n_relevant is not None:
            return np.full(len(sizes), n_relevant)
        return np.maximum(round_half_up(share, sizes), 1)

    return number


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
    queries = pd.factorize(table.index.get_level_values("qid"))[0]
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


def run_pool(runs, *, depth: int | None, teams) -> tuple[pd.DataFrame, object, dict | None]:
    """Return the rank table of the runs down to a depth, the runs, and {run: team}.

    Only one run of each team is used.
    """
    is_table = isinstance(runs, pd.DataFrame)
    runs = runs if is_table else named_runs(runs)
    names = list(runs)
    team_of = first_runs(names, teams)
    chosen = names if team_of is None else list(team_of)
    if len(chosen) < 2:
        counted = f"{len(names)} runs of one team" if len(names) > 1 else f"{len(names)} run(s)"
        raise InputError(
            f"runs must be at least 2{' (of different teams)' if teams is not None else ''}, got "
            f"{counted}: runs are predicted from what they have in common."
        )
    if is_table:
        table = as_rank_table(only_pool_of(runs, chosen), depth=depth).sort_index()
    else:
        runs = read_runs({name: runs[name] for name in chosen})
        table = rank_table(runs, depth=depth)
    _check_queries(table)
    return table, runs, team_of


def only_pool_of(table: pd.DataFrame, names) -> pd.DataFrame:
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


def first_runs(names, teams) -> dict | None:
    """Return {first run by name: team}; None without teams."""
    if teams is None:
        return None
    first: dict = {}
    for name, team in sorted(check_teams(names, teams).items()):
        first.setdefault(team, name)
    return {name: team for team, name in first.items()}

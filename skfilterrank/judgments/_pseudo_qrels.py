"""Judgments that nobody made, out of what the runs agree on."""

import numpy as np
import pandas as pd
from scipy import sparse

from skfilterrank._files.named_runs import named_runs
from skfilterrank._lists.checks import check_choice, check_count, check_number, check_random_state
from skfilterrank._lists.groupings import check_teams
from skfilterrank._lists.results import counted
from skfilterrank._lists.words import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.io import read_runs
from skfilterrank.judgments._rank_table import as_rank_table, rank_table
from skfilterrank.judgments._selector import round_half_up

# Shares of the pool that are relevant in the paper's experiments.
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
    """Judgments without judges: documents that many runs return pass for relevant.

    The table can take the place of real judgments wherever these are read, to tell before the
    judging which systems will come out well. :func:`rank_systems` does so in one step.

    Parameters
    ----------
    runs : path, list of paths, dict {name: path, open file or DataFrame}, or DataFrame
        The runs, as :func:`skfilterrank.io.read_runs` takes them, or their :func:`rank_table`. At
        least two.
    method : {"nruns", "sakai", "condorcet", "bias+condorcet", "soboroff"}, default="nruns"
        How documents of a query's pool come to be relevant:

        - "nruns": those that most runs return (the simplest, and as good as any in [1]_);
        - "sakai": the same, ties to the smaller sum of ranks;
        - "condorcet": those with the most wins over other documents of the pool, where a run lets
          a document win against all that it ranks below or not at all; ties to fewer losses;
        - "bias+condorcet": the same with the more biased half of the runs alone, which [1]_ found
          to do harm;
        - "soboroff": documents drawn at random from the pool in which a document stands as often
          as runs return it.
    depth : int or None, default=30
        Places of each run that go into the pool; None takes them all.
    share : float, default=None
        Share of the pool that is relevant, above 0 and at most 1; of its documents, or with
        "soboroff" of its entries, the same document drawn twice being relevant once. The number
        of documents is rounded half up and at least 1. None means 0.3, with "soboroff" 0.1.
    n_relevant : int or None, default=None
        Number of documents of each query that are relevant, in place of a share, all those of a
        smaller pool; with "soboroff" the number of entries that are drawn. Sakai's method had 100
        before [1]_.
    teams : dict or Series {run: team}, default=None
        Team of each run: of each team only the first run by name is taken. None takes all runs.
        Runs that are not in `runs` may be named.
    n_trials : int, default=10
        Number of drawings of "soboroff"; the other methods make one table.
    ties : {"docno", "random"}, default="docno"
        Which of the documents that are left equal is relevant: the greater id as text, or one at
        random. "soboroff" has no ties.
    random_state : int, RandomState instance or None, default=None
        Source of the random numbers of "soboroff" and of random ties. Pass an int for results that
        can be repeated.

    Returns
    -------
    DataFrame of shape (n_documents, 3), or with "soboroff" (n_trials * n_documents, 4)
        Columns "qid", "docno" and "label" (int64): 1 where relevant, 0 for the others of the
        pool; sorted by query and document. With "soboroff" a last column "trial" from 0 up, the
        tables one below the other: ``table[table["trial"] == 0]`` are judgments of their own.

    Raises
    ------
    ValueError
        Unknown `method` or `ties`; `depth`, `share`, `n_relevant` or `n_trials` out of range, or
        both `share` and `n_relevant`; fewer than two
        runs, or teams; a run without a team; a run that has no query in common with any other;
        what :func:`rank_table` finds wrong with a run.

    Warns
    -----
    DataWarning
        If `n_relevant` makes all documents of a query's pool relevant (but with "soboroff").

    See Also
    --------
    rank_systems : Systems in the order that such judgments predict.

    Notes
    -----
    With ``runs(d)`` the runs that return d within the depth [1]_ sorts by ::

        sakai      |runs(d)| + 1 / (sum of d's ranks in runs(d))
        condorcet  (sum of wins of d) + 1 / (1 + sum of losses of d)

    which is the first number, then the second for ties. Wins over all documents of a pool are
    counted from ranks, without comparing pairs. The bias of a run is one minus the cosine between
    its response vector (for each document the sum of depth / rank over queries) and the sum of all
    runs' vectors, its own included; half of the runs, rounded half up, are kept, and the pool is
    theirs. "soboroff" is the variant of [1]_: it needs no guess at the number of relevant
    documents. Documents outside the pool are in none of these tables: unjudged, which measures
    count as not relevant.

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
                f"share={brief(share)} and n_relevant={brief(n_relevant)} both say how many "
                "documents are relevant: give one of the two."
            )
    check_count(n_trials, "n_trials")


def pseudo_labels(
    table, method, *, share, n_relevant, n_trials, ties, random_state
) -> pd.DataFrame:
    """Label of each document of the pool, a column for each trial."""
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
    """Labels that are all the same order no runs."""
    if n_relevant is None:
        return
    sizes = np.bincount(_queries(table))
    if n_short := np.count_nonzero(sizes <= n_relevant):
        warn_user(
            f"n_relevant={n_relevant} leaves no document of the pool of {n_short} of "
            f"{counted(len(sizes), 'query', 'queries')} that is not relevant: choose less than the "
            f"{sizes.min():,} documents of the smallest pool, or a share.",
            DataWarning,
        )


def _number(n_relevant, share):
    """Return the number of a query's rows that are taken, of any number of them."""

    def number(sizes):
        if n_relevant is not None:
            return np.full(len(sizes), n_relevant)
        return np.maximum(round_half_up(share, sizes), 1)

    return number


def _by_runs(table):
    """Prefer documents: the more runs, the better."""
    return [-table.notna().to_numpy().sum(axis=1)]


def _by_runs_and_ranks(table):
    """Prefer documents: the more runs, then the smaller the sum of ranks, the better."""
    return [*_by_runs(table), np.nansum(table.to_numpy(), axis=1)]


def _by_wins(table):
    """Prefer documents: the more wins, then the fewer losses, the better."""
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
    """Draw entries of runs, without replacement: 1 for the documents that came up."""
    rows = np.nonzero(table.notna().to_numpy())[0]
    drawn = _take_first([random_state.random_sample(len(rows))], _queries(table)[rows], number)
    return np.bincount(rows, weights=drawn, minlength=len(table)).astype(bool).astype(np.int64)


def _take_first(keys, queries, number):
    """1 for a number of each query's rows, the smallest by the keys; queries come in order."""
    order = np.lexsort((*reversed(keys), queries))
    sizes = np.bincount(queries)
    places = np.arange(len(queries)) - (np.cumsum(sizes) - sizes)[queries]
    labels = np.empty(len(queries), dtype=np.int64)
    labels[order] = places < number(sizes)[queries]
    return labels


def _queries(table):
    """Return the number of the query of each row, in the order of the table."""
    return pd.factorize(table.index.get_level_values("qid"))[0]


def condorcet_counts(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Wins and losses of each document of a rank table against all others of its query.

    A run that returns n of the N documents of a query's pool has its p-th document win against
    the N - p that it ranks below or not at all, and lose against the p - 1 above; each document
    that it does not return loses against all n. So the sums over pairs need no pairs.
    """
    ranks = table.to_numpy()
    queries = pd.factorize(table.index.get_level_values("qid"))[0]
    pool_sizes = np.bincount(queries)
    is_returned = ~np.isnan(ranks)
    # Places among what is left of a run: those of a table that lost rows have gaps.
    places = table.groupby(queries).rank().to_numpy()
    starts = np.flatnonzero(np.diff(queries, prepend=-1))
    n_returned = np.add.reduceat(is_returned, starts, axis=0, dtype=np.int64)
    wins = np.where(is_returned, pool_sizes[queries][:, None] - places, 0)
    losses = np.where(is_returned, places - 1, n_returned[queries])
    return wins.sum(axis=1).astype(np.int64), losses.sum(axis=1).astype(np.int64)


def run_bias(table: pd.DataFrame) -> pd.Series:
    """Return one minus the cosine of each run's response vector with the sum over all runs.

    A document has the sum of 1 / rank over queries; the factor 30 of the paper cancels. The sum
    over all runs includes the run itself. A run that returns nothing has bias 1.
    """
    docnos = pd.factorize(table.index.get_level_values("docno"))[0]
    # A document that is in the pools of several queries is one coordinate.
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
    """Rank table of the runs down to a depth, the runs as they were read, and team by run.

    One run for each team is taken.
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
    """Return the rank table of some of the runs, without the documents that only others return."""
    return table[list(names)].dropna(how="all")


def _check_queries(table):
    """Every run must have a query that another run has too."""
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
    """Team by the first run, by name, of each; None without teams."""
    if teams is None:
        return None
    first: dict = {}
    for name, team in sorted(check_teams(names, teams).items()):
        first.setdefault(team, name)
    return {name: team for team, name in first.items()}

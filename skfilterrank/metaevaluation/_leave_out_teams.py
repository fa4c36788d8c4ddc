"""Whether systems that had no say in what was judged are measured fairly."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from skfilterrank._lists.results import Result, counted
from skfilterrank._lists.teams import check_teams
from skfilterrank.exceptions import InputError
from skfilterrank.metaevaluation._judging_curve import SHARES
from skfilterrank.metaevaluation._judging_experiment import Experiment


@dataclass(frozen=True, eq=False, repr=False)
class LeftOutTeams(Result):
    """Each system's value when its team was left out; see :func:`leave_out_teams`.

    Attributes
    ----------
    selections, mitigations : tuple of str
        Their names.
    shares : ndarray of shape (n_shares,), dtype float64
        Shares of the documents of the other teams' pool that are judged, ascending.
    truth : ndarray of shape (n_systems,), dtype float64
        Mean of each system by all labels.
    bias : ndarray of shape (n_selections, n_mitigations, n_shares, n_systems), dtype float64
        What each system gains, or below 0 loses, by labels of documents that its team had no part
        in choosing: estimate less truth. NaN where there is no estimate.
    other_bias : ndarray of the same shape, dtype float64
        The same of the systems of all other teams, on average, by the same labels.
    rank_change : ndarray of the same shape, dtype float64
        Places each system rises, or below 0 falls, in the order of all systems.
    systems, teams : tuple of str
        The systems, and the team of each.
    measure : str
        What is estimated.
    queries, dropped_queries : tuple of str
        The topics, and those that are left out, as they are not in all runs.
    """

    selections: tuple[str, ...]
    mitigations: tuple[str, ...]
    shares: np.ndarray
    truth: np.ndarray
    bias: np.ndarray
    other_bias: np.ndarray
    rank_change: np.ndarray
    systems: tuple[str, ...]
    teams: tuple[str, ...]
    measure: str
    queries: tuple[str, ...]
    dropped_queries: tuple[str, ...]

    _digits = 3

    def to_frame(self) -> pd.DataFrame:
        """A row for each selection, mitigation, share and system.

        Columns "selection", "mitigation", "share", "system", "team", "truth", "bias",
        "other_bias" and "rank_change".
        """
        keys = pd.MultiIndex.from_product(
            [self.selections, self.mitigations, self.shares.tolist(), self.systems],
            names=["selection", "mitigation", "share", "system"],
        )
        table = keys.to_frame(index=False)
        n_cells = len(table) // len(self.systems)
        table["team"] = np.tile(np.array(self.teams, dtype=object), n_cells)
        table["truth"] = np.tile(self.truth, n_cells)
        for name in ("bias", "other_bias", "rank_change"):
            table[name] = getattr(self, name).ravel()
        return table

    def summary(self) -> pd.DataFrame:
        """A row for each selection, mitigation and share, over the systems.

        Columns "bias" and "other_bias", means; "unfairness", the mean of their difference;
        "rank_change", the mean size of the change of places; and "largest_fall", the most places
        that a system falls.
        """
        table = self.to_frame()
        table["unfairness"] = table["bias"] - table["other_bias"]
        table["fall"] = 0.0 - table["rank_change"]
        table["rank_change"] = table["rank_change"].abs()
        by_cell = table.groupby(["selection", "mitigation", "share"], sort=False)
        means = by_cell[["bias", "other_bias", "unfairness", "rank_change"]].mean()
        # From 0: where all rise, none falls.
        return means.assign(largest_fall=by_cell["fall"].max().clip(lower=0))

    def _summary(self):
        n_teams = len(set(self.teams))
        teams = f" of {counted(n_teams, 'team')}"
        if n_teams == len(self.systems):
            teams = ", each a team of its own"
        return (
            f"{self.measure} of {len(self.systems)} systems{teams}, "
            f"{counted(len(self.queries), 'query', 'queries')}"
        )

    def _head(self):
        return f"{self._summary()}, each team left out of the choice of documents:"

    def _table(self):
        return self.summary()


def leave_out_teams(
    qrels,
    runs,
    measure="ap",
    *,
    teams=None,
    selections=("pooling",),
    mitigations=("none", "condensed"),
    shares=(*SHARES, 1.0),
    documents=None,
    depth: int | None = 100,
    n_samples: int = 1,
    missing: str = "raise",
    gains=None,
    ties: str = "docno",
    unjudged_label: float | str | None = "warn",
    predicted: str = "warn",
    random_state=0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> LeftOutTeams:
    """How systems are measured by labels of documents that their team had no part in choosing.

    It tells whether a collection is fair to new systems. Team after team is left out: the
    documents that the others return within `depth` are the pool, a strategy selects from it, and
    all systems, those of the team among them, are measured by the labels of what was selected.

    Parameters
    ----------
    qrels : DataFrame, QrelsIndex, str, PathLike or file object
        All judgments, as :func:`skfilterrank.io.align` takes them.
    runs : path, list of paths, or dict {name: path, open file or DataFrame}
        The runs, as :func:`skfilterrank.io.read_runs` takes them.
    measure : str or callable, default="ap"
        What is to be known of each system, by name, such as "ndcg@10".
    teams : dict or Series {run: team}, default=None
        Team of each run, at least two teams. Of None, each run is a team of its own, which is too
        kind where runs of a team are alike.
    selections, mitigations, documents
        As :func:`judging_curve` takes them.
    shares : float or sequence of float, default=(0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
        Shares, in (0, 1], of each topic's documents of the pool that are judged; of 1, all that
        the other teams return, as in [1]_.
    depth : int or None, default=100
        Ranks of the runs up to which documents are in the pool.
    n_samples : int, default=1
        Number of draws of strategies that have a `random_state`, of which the means are taken.
    missing, gains, ties, unjudged_label, predicted, random_state, n_jobs, verbose
        As :func:`judging_curve` takes them.

    Returns
    -------
    LeftOutTeams
        With ``bias``, ``rank_change`` and :meth:`LeftOutTeams.summary`, which its ``str`` shows.

    Raises
    ------
    ValueError, FileFormatError
        As :func:`judging_curve`; and if a run has no team, or there are fewer than two teams.

    Warns
    -----
    DataWarning
        If `documents` lacks some of the judged documents.

    See Also
    --------
    judging_curve : The order of systems that were all asked.

    Notes
    -----
    Few labels change the values of all systems: what is unfair is the difference between the bias
    of the left-out systems and that of the others. Ranks are among all systems, 1 for the best,
    equal ones sharing the mean of their places; where lower values are better, the lowest is the
    best, and a bias above 0 is to a system's disadvantage.

    References
    ----------
    .. [1] J. Zobel. "How Reliable Are the Results of Large-Scale Information Retrieval
       Experiments?" SIGIR 1998.

    Examples
    --------
    The odd run alone finds "e", which nobody judges when its team is left out:

    >>> import pandas as pd
    >>> from skfilterrank.metaevaluation import leave_out_teams
    >>> qrels = pd.DataFrame({"qid": "1", "docno": list("abcde"), "label": [1, 0, 1, 0, 1]})
    >>> def run(order):
    ...     return pd.DataFrame({"qid": "1", "docno": list(order), "score": [3, 2, 1]})
    >>> runs = {"one": run("abc"), "two": run("bac"), "odd": run("eda")}
    >>> found = leave_out_teams(qrels, runs, shares=1, teams={"one": "x", "two": "x", "odd": "y"})
    >>> print(found)
    ap of 3 systems of 2 teams, 1 query, each team left out of the choice of documents:
                                 bias  other_bias  unfairness  rank_change  largest_fall
    selection mitigation share
    pooling   none       1.0   -0.194       0.264      -0.458        0.667         1.500
              condensed  1.0    0.000       0.264      -0.264        1.000         1.500
    """
    experiment = Experiment(
        qrels,
        runs,
        measure,
        selections=selections,
        mitigations=mitigations,
        shares=shares,
        documents=documents,
        depth=depth,
        n_samples=n_samples,
        missing=missing,
        gains=gains,
        ties=ties,
        unjudged_label=unjudged_label,
        predicted=predicted,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    pool, truth = experiment.pool, experiment.truth
    team_of = {name: name for name in pool.systems}
    if teams is not None:
        team_of = check_teams(pool.systems, teams)
    own = pd.Series(list(team_of.values()), index=pool.systems, dtype=object).astype(str)
    left_out = [own.index[own == team].tolist() for team in own.unique()]
    if len(left_out) < 2:
        raise InputError(
            f"teams must name at least 2 teams, got one, {own.iloc[0]!r}: nobody is left to choose "
            "the documents."
        )
    means = experiment.run(left_out)
    bias = means - truth
    sign = -1 if experiment.measure.measure.greater_is_better else 1
    ranks = rankdata(np.round(sign * truth, 12)) - rankdata(np.round(sign * means, 12), axis=-1)
    rank_change = np.where(np.isnan(means), np.nan, ranks)
    shape = (*means.shape[1:4], len(pool.systems))
    found = {name: np.full(shape, np.nan) for name in ("bias", "other_bias", "rank_change")}
    for at, names in enumerate(left_out):
        mine = own.index.isin(names)
        found["bias"][..., mine] = _over_samples(bias[at][..., mine])
        found["rank_change"][..., mine] = _over_samples(rank_change[at][..., mine])
        others = _over_samples(bias[at][..., ~mine]).mean(axis=-1)
        found["other_bias"][..., mine] = others[..., None]
    return LeftOutTeams(
        selections=tuple(experiment.selections),
        mitigations=tuple(experiment.mitigations.names),
        shares=experiment.shares,
        truth=truth,
        **found,
        systems=tuple(map(str, pool.systems)),
        teams=tuple(own),
        measure=experiment.measure.text,
        queries=tuple(pool.queries),
        dropped_queries=pool.dropped_queries,
    )


def _over_samples(values):
    """Mean over the samples that there are, the last but one axis; NaN where there is none."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=-2)
    n_known = known.sum(axis=-2)
    return np.divide(total, n_known, out=np.full(total.shape, np.nan), where=n_known > 0)

"""Values and order of systems by few labels, compared with all labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, rankdata

from skfilterrank._lists.checks import check_number, check_share
from skfilterrank._lists.groupings import check_teams
from skfilterrank._lists.results import Result, counted, interval_text
from skfilterrank.exceptions import InputError
from skfilterrank.metaevaluation._judging_strategies import Experiment, ExperimentFacts

SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class JudgingCurve(ExperimentFacts, Result):
    """Values and order of systems by few labels; see :func:`judging_curve`."""

    n_labels: np.ndarray
    means: np.ndarray
    tau: np.ndarray
    rmse: np.ndarray
    confidence_level: float

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each selection, mitigation and share.

        Columns "selection", "mitigation", "share", "n_labels", "n_samples", and "tau" and "rmse",
        means over the samples, each with "_low" and "_high": the quantiles of the samples, NaN
        where there is but one. What cannot be estimated has 0 samples and NaN.
        """
        keys = [
            (selection, mitigation, share, n_labels)
            for selection in self.selections
            for mitigation in self.mitigations
            for share, n_labels in zip(self.shares.tolist(), self.n_labels.tolist())
        ]
        table = pd.DataFrame(keys, columns=["selection", "mitigation", "share", "n_labels"])
        table["n_samples"] = (~np.isnan(self.tau)).sum(axis=-1).ravel()
        several = table["n_samples"].to_numpy() > 1
        tail = (1 - self.confidence_level) / 2
        for name in ("tau", "rmse"):
            values = pd.DataFrame(getattr(self, name).reshape(len(table), -1))
            table[name] = values.mean(axis=1)
            for end, level in (("low", tail), ("high", 1 - tail)):
                table[f"{name}_{end}"] = values.quantile(level, axis=1).where(several)
        return table

    def share_needed(self, *, tau: float = 0.9) -> pd.DataFrame:
        """Find the smallest share from which on the mean tau stays above a value.

        Parameters
        ----------
        tau : float, default=0.9
            The value, in [-1, 1).

        Returns
        -------
        DataFrame of shape (n_selections, n_mitigations), dtype float64
            Between two shares by a straight line; inf where no share is enough, the smallest share
            where it is, NaN where nothing can be estimated.
        """
        tau = check_number(tau, "tau", least=-1, most=1)
        mean = self.to_frame()["tau"].to_numpy().reshape(self.tau.shape[:3])
        needed = [[_crossing(own, self.shares, tau) for own in row] for row in mean]
        return pd.DataFrame(
            needed,
            index=pd.Index(self.selections, name="selection"),
            columns=pd.Index(self.mitigations, name="mitigation"),
        )

    def _summary(self):
        return (
            f"{self.measure} of {len(self.systems)} systems, "
            f"{counted(len(self.queries), 'query', 'queries')}, "
            f"{counted(len(self.selections), 'selection')}, "
            f"{counted(len(self.mitigations), 'mitigation')}"
        )

    def _head(self):
        text = "Kendall's tau and RMSE against all labels"
        if (~np.isnan(self.tau)).sum(axis=-1).max() > 1:
            text += f", with the {interval_text(self.confidence_level)} over samples in to_frame()"
        return f"{self._summary()}\n{text}:"

    def _table(self):
        table = self.to_frame()
        wide = [
            table.pivot_table(name, ["selection", "mitigation"], "share", sort=False, dropna=False)
            for name in ("tau", "rmse")
        ]
        return pd.concat(wide, axis=1, keys=["tau", "rmse"]).rename_axis(columns=[None, "share"])


def judging_curve(
    qrels,
    runs,
    measure="ap",
    *,
    selections=("pooling", "random"),
    mitigations=("none", "condensed"),
    shares=SHARES,
    documents=None,
    depth: int | None = 100,
    n_samples: int = 10,
    confidence_level: float = 0.95,
    missing: str = "raise",
    gains=None,
    ties: str = "docno",
    unjudged_label: float | str | None = "warn",
    predicted: str = "warn",
    random_state=None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> JudgingCurve:
    """Compare order and values of systems by few labels with those by all.

    On a judged collection, this shows how many labels suffice, which documents should be judged
    first, and how to treat unjudged documents. The labels of the documents that a strategy selects
    are kept, other labels are hidden, and the systems are measured again.

    Parameters
    ----------
    qrels : DataFrame, QrelsIndex, str, PathLike or file object
        All judgments, as :func:`skfilterrank.io.align` takes them.
    runs : path, list of paths, or dict {name: path, open file or DataFrame}
        The runs, as :func:`skfilterrank.io.read_runs` takes them; at least two.
    measure : str or callable, default="ap"
        Name of the measure, such as "ndcg@10".
    selections : str, list of str, or dict of str to str, selector or callable, \
default=("pooling", "random")
        Strategies or functions that select documents. "pooling", "prior", "maxrep", "mtf", "mtc",
        "statap" and "random" are the strategies of :mod:`skfilterrank.judgments`, "oracle" is
        random with a look at the truth. Of a dict also strategies with parameters of their own, and
        functions that take a DataFrame, a row for each judged document with index levels "qid" and
        "docno", the columns of `documents` and "prior", and return a number for each, higher is
        judged first.
    mitigations : str, list of str, or dict of str to str, LabelPredictor or callable, \
default=("none", "condensed")
        Treatment of the documents whose label is hidden. "none" takes them as unjudged,
        "condensed" out of the lists, "bounds" the middle of the least and the highest value they
        allow (slow for long lists), "completed" predicts their labels by a LabelPredictor, which
        leaves queries whose kept labels are all alike as they are where it has texts. The name of a
        measure, such as "infap", "bpref", "induced_ap" or "stat_ap", estimates `measure` by that
        one. Of a dict also LabelPredictors, and functions that take the table above with columns
        "qid", "docno" and "label", NaN where hidden, and return all labels.
    shares : float or sequence of float, default=(0.05, 0.1, 0.2, 0.3, 0.5)
        Shares, in (0, 1], of each query's judged documents that keep their label, rounded half
        up, but at least one document.
    documents : dict or Series {docno: text}, DataFrame or None, default=None
        Documents for "maxrep" and "completed": texts, or a DataFrame by "docno", or "qid" and
        "docno" (index or columns), with texts in a column "text" and numbers in others. Where
        there are texts, "maxrep" and "completed" look at these alone.
    depth : int or None, default=100
        Ranks of the runs up to which selections look.
    n_samples : int, default=10
        Number of draws of strategies that have a `random_state`.
    confidence_level : float, default=0.95
        Confidence level of the intervals over these draws.
    missing : {"raise", "drop", "empty"}, default="raise"
        Treatment of a judged query that is not in some run, as in :func:`score_systems`.
    gains, ties, unjudged_label, predicted
        As in :func:`skfilterrank.metrics.evaluate_run`.
    random_state : int, RandomState or None, default=None
        Source of the draws; a strategy's own `random_state` is not used. Pass an int for results
        that can be repeated.
    n_jobs : int or None, default=None
        Number of processes; -1 means all processors. The result is the same.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    JudgingCurve
        With ``tau``, ``rmse`` and :meth:`JudgingCurve.share_needed`; its ``str`` is a table.

        selections, mitigations : tuple of str
            Their names.
        shares : ndarray of shape (n_shares,), dtype float64
            Shares of each query's judged documents whose label is used, ascending.
        n_labels : ndarray of shape (n_shares,), dtype int64
            Number of labels at each share.
        truth : ndarray of shape (n_systems,), dtype float64
            Mean of each system by all labels.
        means : ndarray of shape (n_selections, n_mitigations, n_shares, n_samples, n_systems), \
dtype float64
            Estimated mean of each system. NaN if there is no estimate: a selection that is not
            random has only one sample, and some measures need inclusion probabilities, which not
            every selection has.
        tau : ndarray of shape (n_selections, n_mitigations, n_shares, n_samples), dtype float64
            Kendall's tau-b of estimates and truth; 0 where all estimates are the same.
        rmse : ndarray of the same shape, dtype float64
            Root of the mean squared difference over systems.
        measure : str
            Name of the measure.
        confidence_level : float
            Confidence level of the intervals over samples.
        systems, queries : tuple of str
            Compared systems and queries.
        dropped_queries : tuple of str
            Queries that are left out, as they are not in all runs.

    Raises
    ------
    ValueError, FileFormatError
        As :func:`score_systems`; for an unknown selection or mitigation, a share that is not in
        (0, 1], `documents` that are missing where they are needed, or ids that do not fit.

    Warns
    -----
    DataWarning
        If `documents` lacks some of the judged documents.

    See Also
    --------
    leave_teams_out : Whether systems that had no say in what was judged are measured fairly.
    label_degradation : Which measure can be trusted with few labels.
    skfilterrank.judgments.estimate : Values with intervals, from a sample of labels.

    Notes
    -----
    The experiment of [1]_, figures 1 to 3. The labels in `qrels` are treated as the truth;
    documents without a label stay unjudged. Judged documents that no run returns among its first
    `depth` are selected last by strategies that look at ranks.

    Strategies that ask for answers ("mtf", "mtc") get them from `qrels`. With "random" all chances
    of inclusion of a query are the same; of the others "statap" alone has some, which "stat_ap"
    needs.

    Intervals show the variation over random selections, not over queries; selections that are not
    random have none.

    References
    ----------
    .. [1] K. Hui, K. Berberich. "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation". SPIRE 2015.

    Examples
    --------
    >>> import pandas as pd
    >>> from skfilterrank.metaevaluation import judging_curve
    >>> docnos = list("abcdefgh")
    >>> qrels = pd.DataFrame({"qid": "1", "docno": docnos, "label": [1, 1, 0, 1, 0, 0, 0, 0]})
    >>> def run(order):
    ...     return pd.DataFrame({"qid": "1", "docno": list(order), "score": range(8, 0, -1)})
    >>> runs = {"good": run("abdcefgh"), "fair": run("acbdefgh"), "poor": run("hgfedcba")}
    >>> curve = judging_curve(qrels, runs, selections="pooling", shares=[0.25, 0.5])
    >>> print(curve)
    ap of 3 systems, 1 query, 1 selection, 2 mitigations
    Kendall's tau and RMSE against all labels:
                           tau        rmse
    share                 0.25  0.50  0.25  0.50
    selection mitigation
    pooling   none       0.816 1.000 0.146 0.055
              condensed  0.816 1.000 0.167 0.077
    """
    check_share(confidence_level, "confidence_level")
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
    means, truth = experiment.run()[0], experiment.truth
    return JudgingCurve(
        **experiment.facts(),
        n_labels=experiment.n_labels(),
        means=means,
        tau=np.apply_along_axis(_tau, -1, means, truth),
        rmse=np.sqrt(np.mean((means - truth) ** 2, axis=-1)),
        confidence_level=float(confidence_level),
    )


def _tau(means, truth):
    """Compute tau-b; values that are equal up to rounding are tied."""
    if np.isnan(means).any():
        return np.nan
    tau = kendalltau(np.round(truth, 12), np.round(means, 12)).statistic
    return 0.0 if np.isnan(tau) else tau


def _crossing(taus, shares, enough):
    """Find the share at which a curve crosses a value for the last time."""
    if np.isnan(taus).any():
        return np.nan
    above = np.logical_and.accumulate((taus > enough)[::-1])[::-1]
    if not above.any():
        return np.inf
    place = int(above.argmax())
    if place == 0:
        return shares[0]
    low, high = taus[place - 1], taus[place]
    return shares[place - 1] + (shares[place] - shares[place - 1]) * (enough - low) / (high - low)


@dataclass(frozen=True, eq=False, repr=False)
class LeftOutTeams(ExperimentFacts, Result):
    """Values of systems when their team is left out, by :func:`leave_teams_out`."""

    bias: np.ndarray
    other_bias: np.ndarray
    rank_change: np.ndarray
    teams: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each selection, mitigation, share and system.

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
        """Return a row for each selection, mitigation and share, over the systems.

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
        # The initial 0 covers systems that all rise.
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


def leave_teams_out(
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
    random_state=None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> LeftOutTeams:
    """Measure systems with labels of documents that their team did not contribute to select.

    This shows whether a collection is fair to new systems. Each team is left out in turn: the pool
    consists of the documents that other teams return within `depth`, a strategy selects from it,
    and all systems, including the team's, are measured with the labels of the selected documents.

    Parameters
    ----------
    qrels : DataFrame, QrelsIndex, str, PathLike or file object
        All judgments, as :func:`skfilterrank.io.align` takes them.
    runs : path, list of paths, or dict {name: path, open file or DataFrame}
        The runs, as :func:`skfilterrank.io.read_runs` takes them.
    measure : str or callable, default="ap"
        Name of the measure, such as "ndcg@10".
    teams : dict or Series {run: team}, default=None
        Team of each run, at least two teams. Of None, each run is a team of its own, which is too
        kind where runs of a team are alike.
    selections, mitigations, documents
        As :func:`judging_curve` takes them.
    shares : float or sequence of float, default=(0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
        Shares, in (0, 1], of each query's documents of the pool that are judged; of 1, all that
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

        selections, mitigations : tuple of str
            Their names.
        shares : ndarray of shape (n_shares,), dtype float64
            Shares of the documents of the other teams' pool that are judged, ascending.
        truth : ndarray of shape (n_systems,), dtype float64
            Mean of each system by all labels.
        bias : ndarray of shape (n_selections, n_mitigations, n_shares, n_systems), dtype float64
            What each system gains, or below 0 loses, by labels of documents that its team had no
            part in choosing: estimate less truth. NaN where there is no estimate.
        other_bias : ndarray of the same shape, dtype float64
            The same of the systems of all other teams, on average, by the same labels.
        rank_change : ndarray of the same shape, dtype float64
            Places each system rises, or below 0 falls, in the order of all systems.
        systems, teams : tuple of str
            The systems, and the team of each.
        measure : str
            Name of the measure.
        queries, dropped_queries : tuple of str
            The queries, and those that are left out, as they are not in all runs.

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
    Few labels change the values of all systems. Unfairness is the difference between the bias of
    the left-out systems and the bias of the others. Ranks are among all systems, 1 for the best,
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
    >>> from skfilterrank.metaevaluation import leave_teams_out
    >>> qrels = pd.DataFrame({"qid": "1", "docno": list("abcde"), "label": [1, 0, 1, 0, 1]})
    >>> def run(order):
    ...     return pd.DataFrame({"qid": "1", "docno": list(order), "score": [3, 2, 1]})
    >>> runs = {"one": run("abc"), "two": run("bac"), "odd": run("eda")}
    >>> found = leave_teams_out(qrels, runs, shares=1, teams={"one": "x", "two": "x", "odd": "y"})
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
    found: dict[str, Any] = {
        name: np.full(shape, np.nan) for name in ("bias", "other_bias", "rank_change")
    }
    for at, names in enumerate(left_out):
        mine = own.index.isin(names)
        found["bias"][..., mine] = _over_samples(bias[at][..., mine])
        found["rank_change"][..., mine] = _over_samples(rank_change[at][..., mine])
        others = _over_samples(bias[at][..., ~mine]).mean(axis=-1)
        found["other_bias"][..., mine] = others[..., None]
    return LeftOutTeams(**experiment.facts(), **found, teams=tuple(own))


def _over_samples(values):
    """Average over existing samples (last but one axis); NaN if there are none."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=-2)
    n_known = known.sum(axis=-2)
    return np.divide(total, n_known, out=np.full(total.shape, np.nan), where=n_known > 0)

"""Experiments that measure systems with few labels and compare the results with all labels."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, rankdata

from skfilterrank._base.checks import check_number, check_teams
from skfilterrank._base.results import Result
from skfilterrank._base.words import counted
from skfilterrank.exceptions import InputError
from skfilterrank.metaevaluation._judging_strategies import Experiment, ExperimentFacts

SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
# Share of the samples beyond each end of an interval.
_TAIL = (1 - 0.95) / 2


@dataclass(frozen=True, eq=False, repr=False)
class JudgingCurve(ExperimentFacts, Result):
    """Systems measured with few labels, compared with all labels, from :func:`judging_curve`."""

    n_labels: np.ndarray
    means: np.ndarray
    tau: np.ndarray
    rmse: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each combination of selection, mitigation and share.

        Its columns are "selection", "mitigation", "share", "n_labels", "n_samples", "tau" and
        "rmse". "tau" and "rmse" are means over the samples; "tau_low", "tau_high", "rmse_low" and
        "rmse_high" are the ends of 95 % intervals, quantiles of the samples, NaN for a single
        sample. A combination without an estimate has 0 samples and NaN.
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
        for name in ("tau", "rmse"):
            values = pd.DataFrame(getattr(self, name).reshape(len(table), -1))
            table[name] = values.mean(axis=1)
            for end, level in (("low", _TAIL), ("high", 1 - _TAIL)):
                table[f"{name}_{end}"] = values.quantile(level, axis=1).where(several)
        return table

    def share_needed(self, *, tau: float = 0.9) -> pd.DataFrame:
        """Find the smallest share of labels from which on Kendall's tau stays above a value.

        Parameters
        ----------
        tau : float, default=0.9
            Wanted tau (mean over samples), in [-1, 1].

        Returns
        -------
        DataFrame of shape (n_selections, n_mitigations), dtype float64
            The smallest share, by linear interpolation between two shares. It is inf if no share
            is enough, the smallest measured share if that is enough, and NaN if there is no
            estimate.
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
            f"{counted(len(self.queries), 'query')}, "
            f"{counted(len(self.selections), 'selection')}, "
            f"{counted(len(self.mitigations), 'mitigation')}"
        )

    def _head(self):
        text = "Kendall's tau and RMSE against all labels"
        if (~np.isnan(self.tau)).sum(axis=-1).max() > 1:
            text += ", with the 95 % interval over samples in to_frame()"
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
    missing: str = "raise",
    random_state=None,
    n_jobs: int | None = None,
) -> JudgingCurve:
    """Compare measurements of systems with few labels to measurements with all labels.

    For a judged collection, this shows how many labels suffice, which documents should be judged
    first, and how to treat unjudged documents. A strategy selects documents, all other labels are
    hidden, and the systems are measured again.

    Parameters
    ----------
    qrels : DataFrame, QrelsIndex, str, PathLike or file object
        All judgments, as :func:`skfilterrank.io.align` takes them. A QrelsIndex says what labels
        below 0 and labels by machines mean.
    runs : path, list of paths, or dict {name: path, open file or DataFrame}
        The runs, as :func:`skfilterrank.io.read_runs` takes them; at least two.
    measure : str or callable, default="ap"
        Name of the measure, such as "ndcg@10" or "ndcg(gains=exp2)@10".
    selections : str, list of str, or dict of str to str, selector or callable, \
default=("pooling", "random")
        Strategies that select the documents to judge. "pooling", "prior", "maxrep", "mtf", "mtc",
        "feedback", "statap" and "random" are strategies of :mod:`skfilterrank.judgments`; "oracle"
        is ``RandomSelector(oracle=True)``, which knows the labels. The values of a dict may also be
        selectors or functions. A function takes a DataFrame with a row for each judged document:
        index levels "qid" and "docno", the columns of `documents`, and a column "prior". It returns
        a number for each row; documents with higher numbers are judged first.
    mitigations : str, list of str, or dict of str to str, LabelPredictor or callable, \
default=("none", "condensed")
        Treatment of documents whose label is hidden. "none" leaves them unjudged. "condensed"
        removes them from the ranked lists. "completed" predicts their labels with a
        LabelPredictor; it makes no prediction for queries whose known labels are all equal. The
        name of a measure, such as "infap", "bpref", "induced_ap" or "stat_ap", uses that measure as
        the estimate of `measure`. The values of a dict may also be LabelPredictors or functions. A
        function takes the table described above with the columns "qid", "docno" and "label", NaN
        for hidden labels, and returns labels for all rows.
    shares : float or sequence of float, default=(0.05, 0.1, 0.2, 0.3, 0.5)
        Shares, in (0, 1], of the judged documents of each query that keep their label. The number
        is rounded half up, but is at least 1.
    documents : dict or Series {docno: text}, DataFrame or None, default=None
        Documents for "maxrep", "feedback" and "completed", as :func:`complete_qrels` takes them:
        texts by document id, or a table with a column "docno" and texts in a column "text", or
        numbers in all other columns.
    depth : int or None, default=100
        Selections use only the first `depth` ranks of each run; None uses all.
    n_samples : int, default=10
        Number of samples for strategies that draw documents, random ones and statAP.
    missing : {"raise", "drop", "empty"}, default="raise"
        Treatment of a judged query that is not in some run, as in :func:`score_systems`.
    random_state : int, RandomState or None, default=None
        Source of the random samples; it replaces the `random_state` of strategies that draw
        documents. Pass an int for results that can be repeated.
    n_jobs : int or None, default=None
        Number of processes; -1 means all processors. The result is the same.

    Returns
    -------
    JudgingCurve
        Result with the method :meth:`JudgingCurve.share_needed` and the attributes below. Printing
        it shows a table.

        selections, mitigations : tuple of str
            Names of the selections and of the mitigations.
        shares : ndarray of shape (n_shares,), dtype float64
            Shares of the judged documents of each query that keep their label, ascending.
        n_labels : ndarray of shape (n_shares,), dtype int64
            Number of labels that are kept at each share, over all queries.
        truth : ndarray of shape (n_systems,), dtype float64
            Mean of each system by all labels.
        means : ndarray of shape (n_selections, n_mitigations, n_shares, n_samples, n_systems), \
dtype float64
            Estimated mean of each system. A selection that is not random has only one sample, and
            NaN for the others. A measure that needs inclusion probabilities is NaN for selections
            without them.
        tau : ndarray of shape (n_selections, n_mitigations, n_shares, n_samples), dtype float64
            Kendall's tau-b of `means` and `truth` over the systems; 0 if all estimates are equal.
        rmse : ndarray of shape (n_selections, n_mitigations, n_shares, n_samples), dtype float64
            Root of the mean squared difference of `means` and `truth` over the systems.
        measure : str
            Name of the measure.
        systems, queries : tuple of str
            Compared systems and queries.
        dropped_queries : tuple of str
            Queries that are left out because they are not in all runs.

    Raises
    ------
    ValueError, FileFormatError
        In the same cases as :func:`score_systems`; also for an unknown selection or mitigation, if
        a share is not in (0, 1], if `documents` is needed but None, or if ids do not match.

    Warns
    -----
    DataWarning
        If `documents` lacks some of the judged documents.

    See Also
    --------
    leave_teams_out : Bias for systems that did not contribute to the judged documents.
    label_degradation : Robustness of measures when labels are removed.
    skfilterrank.judgments.estimate : Estimate values and intervals from a sample of labels.

    Notes
    -----
    This is the experiment of figures 1 to 3 of [1]_. The labels in `qrels` count as the truth, and
    documents without a label stay unjudged. Strategies that use ranks select judged documents that
    no run returns among its first `depth` last.

    Interactive strategies ("mtf", "mtc", "feedback") get the labels that they ask for from `qrels`.
    The measure "stat_ap" needs inclusion probabilities. "statap" has them, and "random" too, with
    the same probability for all documents of a query; other selections do not.

    Intervals show the variation over random selections, not over queries. Selections that are not
    random have no intervals.

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
    experiment = Experiment(**locals())
    means, truth = experiment.run()[0], experiment.truth
    return JudgingCurve(
        **experiment.facts(),
        n_labels=experiment.n_labels(),
        means=means,
        tau=np.apply_along_axis(_tau, -1, means, truth),
        rmse=np.sqrt(np.mean((means - truth) ** 2, axis=-1)),
    )


def _tau(means, truth):
    """Compute Kendall's tau-b of estimated and true means.

    Means that differ only by rounding errors are tied. If all estimates are tied, tau is 0.
    """
    if np.isnan(means).any():
        return np.nan
    tau = kendalltau(np.round(truth, 12), np.round(means, 12)).statistic
    return 0.0 if np.isnan(tau) else tau


def _crossing(taus, shares, enough):
    """Find the share from which on all taus are above `enough`, by linear interpolation."""
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
    """Bias of systems whose team did not select documents, from :func:`leave_teams_out`."""

    bias: np.ndarray
    other_bias: np.ndarray
    rank_change: np.ndarray
    teams: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each combination of selection, mitigation, share and system.

        Its columns are "selection", "mitigation", "share", "system", "team", "truth", "bias",
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
        """Return one row for each combination of selection, mitigation and share.

        "bias" and "other_bias" are means over the systems, and "unfairness" is the mean of "bias" -
        "other_bias". "rank_change" is the mean absolute change of rank. "largest_fall" is the
        greatest number of ranks that a system falls.
        """
        table = self.to_frame()
        table["unfairness"] = table["bias"] - table["other_bias"]
        table["fall"] = 0.0 - table["rank_change"]
        table["rank_change"] = table["rank_change"].abs()
        by_cell = table.groupby(["selection", "mitigation", "share"], sort=False)
        means = by_cell[["bias", "other_bias", "unfairness", "rank_change"]].mean()
        # Clipped, because the largest fall is 0 if all systems rise.
        return means.assign(largest_fall=by_cell["fall"].max().clip(lower=0))

    def _summary(self):
        n_teams = len(set(self.teams))
        teams = f" of {counted(n_teams, 'team')}"
        if n_teams == len(self.systems):
            teams = ", each a team of its own"
        return (
            f"{self.measure} of {len(self.systems)} systems{teams}, "
            f"{counted(len(self.queries), 'query')}"
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
    missing: str = "raise",
    random_state=None,
    n_jobs: int | None = None,
) -> LeftOutTeams:
    """Measure the bias of a collection against systems that did not contribute to its pool.

    This shows if a judged collection is fair to new systems. Each team is left out in turn. The
    pool then consists of the documents that the other teams return within `depth`, and a strategy
    selects documents from the pool. All systems, including those of the left-out team, are measured
    with the labels of the selected documents.

    Parameters
    ----------
    qrels : DataFrame, QrelsIndex, str, PathLike or file object
        All judgments, as :func:`skfilterrank.io.align` takes them.
    runs : path, list of paths, or dict {name: path, open file or DataFrame}
        The runs, as :func:`skfilterrank.io.read_runs` takes them.
    measure : str or callable, default="ap"
        Name of the measure, such as "ndcg@10".
    teams : dict or Series {run: team}, default=None
        Team of each run; at least two teams. None makes each run a team of its own, which
        underestimates the bias if runs of one team are similar.
    selections, mitigations, documents
        Parameters of :func:`judging_curve`.
    shares : float or sequence of float, default=(0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
        Shares, in (0, 1], of the pool of each query that are judged. A share of 1 judges all
        documents that the other teams return, as in [1]_.
    depth : int or None, default=100
        Documents within the first `depth` ranks of a run are in the pool; None takes all.
    missing, random_state, n_jobs
        Parameters of :func:`judging_curve`. Strategies that draw documents draw once.

    Returns
    -------
    LeftOutTeams
        Result with the method :meth:`LeftOutTeams.summary` and the attributes below. Printing it
        shows the summary.

        selections, mitigations : tuple of str
            Names of the selections and of the mitigations.
        shares : ndarray of shape (n_shares,), dtype float64
            Shares of the pool that are judged, ascending.
        truth : ndarray of shape (n_systems,), dtype float64
            Mean of each system by all labels.
        bias : ndarray of shape (n_selections, n_mitigations, n_shares, n_systems), dtype float64
            Estimated mean minus `truth` of each system when its own team is left out. NaN if there
            is no estimate.
        other_bias : ndarray of the same shape as `bias`, dtype float64
            Mean bias of the systems of all other teams, by the labels that give `bias`.
        rank_change : ndarray of the same shape as `bias`, dtype float64
            Number of ranks that each system rises (negative: falls) in the order of all systems
            when its own team is left out.
        systems, teams : tuple of str
            Names of the systems, and the team of each system.
        measure : str
            Name of the measure.
        queries, dropped_queries : tuple of str
            The compared queries, and the queries that are left out because they are not in all
            runs.

    Raises
    ------
    ValueError, FileFormatError
        In the same cases as :func:`judging_curve`, and if a run has no team or there are fewer than
        two teams.

    Warns
    -----
    DataWarning
        If `documents` lacks some of the judged documents.

    See Also
    --------
    judging_curve : Compare few labels with all labels when all systems contribute to the pool.

    Notes
    -----
    With few labels, the values of all systems change. Unfairness is therefore the bias of the
    left-out systems minus the bias of the other systems. Ranks count all systems, with 1 for the
    best and the mean rank for ties. If lower values are better, a positive bias is a disadvantage.

    References
    ----------
    .. [1] J. Zobel. "How Reliable Are the Results of Large-Scale Information Retrieval
       Experiments?" SIGIR 1998.

    Examples
    --------
    Only the run "odd" returns the document "e", so nobody judges "e" when its team is left out:

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
    given = dict(locals())
    del given["teams"]
    experiment = Experiment(**given, n_samples=1)
    pool, truth = experiment.pool, experiment.truth
    team_of = {name: name for name in pool.systems}
    if teams is not None:
        team_of = check_teams(pool.systems, teams)
    own = pd.Series(list(team_of.values()), index=pool.systems, dtype=object).astype(str)
    left_out = [own.index[own == team].tolist() for team in own.unique()]
    if len(left_out) < 2:
        raise InputError(
            f"teams must name at least 2 teams, got only {own.iloc[0]!r}: without this team, no "
            "runs are left to select documents."
        )
    means = experiment.run(left_out)[:, :, :, :, 0]
    bias = means - truth
    sign = -1 if experiment.measure.measure.greater_is_better else 1
    ranks = rankdata(np.round(sign * truth, 12)) - rankdata(np.round(sign * means, 12), axis=-1)
    rank_change = np.where(np.isnan(means), np.nan, ranks)
    of_system, of_others, of_rank = np.full((3, *means.shape[1:]), np.nan)
    for at, names in enumerate(left_out):
        mine = own.index.isin(names)
        of_system[..., mine], of_rank[..., mine] = bias[at][..., mine], rank_change[at][..., mine]
        of_others[..., mine] = bias[at][..., ~mine].mean(axis=-1)[..., None]
    return LeftOutTeams(
        **experiment.facts(),
        bias=of_system,
        other_bias=of_others,
        rank_change=of_rank,
        teams=tuple(own),
    )

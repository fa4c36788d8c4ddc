"""Order and values of systems by few labels, against those by all."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from skfilterrank._lists.checks import check_number, check_share
from skfilterrank._lists.results import Result, counted, interval_text
from skfilterrank.metaevaluation._judging_experiment import Experiment

SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class JudgingCurve(Result):
    """How well few labels stand for all; see :func:`judging_curve`.

    Attributes
    ----------
    selections, mitigations : tuple of str
        Their names.
    shares : ndarray of shape (n_shares,), dtype float64
        Shares of each topic's judged documents whose label is used, ascending.
    n_labels : ndarray of shape (n_shares,), dtype int64
        How many labels these are.
    truth : ndarray of shape (n_systems,), dtype float64
        Mean of each system by all labels.
    means : ndarray of shape (n_selections, n_mitigations, n_shares, n_samples, n_systems), \
dtype float64
        Its estimates. NaN where there is none: a selection that is not random has one sample, and
        a measure that needs chances of inclusion none of a selection without.
    tau : ndarray of shape (n_selections, n_mitigations, n_shares, n_samples), dtype float64
        Kendall's tau-b of estimates and truth; 0 where all estimates are the same.
    rmse : ndarray of the same shape, dtype float64
        Root of the mean squared difference over systems.
    measure : str
        What is estimated.
    confidence : float
        Of the intervals over samples.
    systems, queries : tuple of str
        What is compared.
    dropped_queries : tuple of str
        Topics that are left out, as they are not in all runs.
    """

    selections: tuple[str, ...]
    mitigations: tuple[str, ...]
    shares: np.ndarray
    n_labels: np.ndarray
    truth: np.ndarray
    means: np.ndarray
    tau: np.ndarray
    rmse: np.ndarray
    measure: str
    confidence: float
    systems: tuple[str, ...]
    queries: tuple[str, ...]
    dropped_queries: tuple[str, ...]

    _digits = 3

    def to_frame(self) -> pd.DataFrame:
        """A row for each selection, mitigation and share.

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
        tail = (1 - self.confidence) / 2
        for name in ("tau", "rmse"):
            values = pd.DataFrame(getattr(self, name).reshape(len(table), -1))
            table[name] = values.mean(axis=1)
            for end, level in (("low", tail), ("high", 1 - tail)):
                table[f"{name}_{end}"] = values.quantile(level, axis=1).where(several)
        return table

    def share_needed(self, *, tau: float = 0.9) -> pd.DataFrame:
        """Smallest share from which on the mean tau stays above a value.

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
            text += f", with the {interval_text(self.confidence)} over samples in to_frame()"
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
    confidence: float = 0.95,
    missing: str = "raise",
    gains=None,
    ties: str = "docno",
    unjudged_label: float | str | None = "warn",
    predicted: str = "warn",
    random_state=0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> JudgingCurve:
    """Order and values of systems by few labels, against those by all.

    It tells, on a collection that is judged already, how many labels were enough, which documents
    should have been judged first, and what should be made of those that are not: the labels of the
    documents that a strategy selects are kept, the others hidden, and the systems measured again.

    Parameters
    ----------
    qrels : DataFrame, QrelsIndex, str, PathLike or file object
        All judgments, as :func:`skfilterrank.io.align` takes them.
    runs : path, list of paths, or dict {name: path, open file or DataFrame}
        The runs, as :func:`skfilterrank.io.read_runs` takes them; at least two.
    measure : str or callable, default="ap"
        What is to be known of each system, by name, such as "ndcg@10".
    selections : str, list of str, or dict of str to str, selector or callable, \
default=("pooling", "random")
        Who chooses the documents. "pooling", "prior", "maxrep", "mtf", "mtc", "statap" and
        "random" are the strategies of :mod:`skfilterrank.judgments`, "oracle" is random with a
        look at the truth. Of a dict also strategies with parameters of their own, and functions
        that take a DataFrame, a row for each judged document with index levels "qid" and "docno",
        the columns of `documents` and "prior", and return a number for each, higher is judged
        first.
    mitigations : str, list of str, or dict of str to str, LabelPredictor or callable, \
default=("none", "condensed")
        What is made of the documents whose label is hidden. "none" takes them as unjudged,
        "condensed" out of the lists, "bounds" the middle of the least and the highest value they
        allow (slow for long lists), "completed" predicts their labels by a LabelPredictor, which
        leaves topics whose kept labels are all alike as they are where it has texts. The name of a
        measure, such as "infap", "bpref", "induced_ap" or "stat_ap", estimates `measure` by that
        one. Of a dict also LabelPredictors, and functions that take the table above with columns
        "qid", "docno" and "label", NaN where hidden, and return all labels.
    shares : float or sequence of float, default=(0.05, 0.1, 0.2, 0.3, 0.5)
        Shares, in (0, 1], of each topic's judged documents that keep their label, rounded half
        up, but at least one document.
    documents : dict or Series {docno: text}, DataFrame or None, default=None
        What "maxrep" and "completed" look at: texts, or a DataFrame by "docno", or "qid" and
        "docno" (index or columns), with texts in a column "text" and numbers in others. Where
        there are texts, "maxrep" and "completed" look at these alone.
    depth : int or None, default=100
        Ranks of the runs up to which selections look.
    n_samples : int, default=10
        Number of draws of strategies that have a `random_state`.
    confidence : float, default=0.95
        Of the intervals over these draws.
    missing : {"raise", "drop", "empty"}, default="raise"
        What becomes of a judged topic that is not in some run, as in :func:`score_systems`.
    gains, ties, unjudged_label, predicted
        As in :func:`skfilterrank.metrics.evaluate_run`.
    random_state : int, RandomState or None, default=0
        Draws; a strategy's own `random_state` is not used.
    n_jobs : int or None, default=None
        Number of processes; -1 means all processors. The result is the same.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    JudgingCurve
        With ``tau``, ``rmse`` and :meth:`JudgingCurve.share_needed`; its ``str`` is a table.

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
    leave_out_teams : Whether systems that had no say in what was judged are measured fairly.
    label_degradation : Which measure can be trusted with few labels.
    skfilterrank.judgments.estimate : Values with intervals, from a sample of labels.

    Notes
    -----
    The experiment of [1]_, figures 1 to 3. What is in `qrels` is taken for the truth: documents
    that nobody judged stay unjudged throughout. Judged documents that no run returns among its
    first `depth` are selected last by strategies that look at ranks.

    Strategies that ask for answers ("mtf", "mtc") get them from `qrels`. With "random" all chances
    of inclusion of a topic are the same; of the others "statap" alone has some, which "stat_ap"
    needs.

    The intervals say how much depends on the draw, not on the topics: for selections that are not
    random there are none.

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
    check_share(confidence, "confidence")
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
    means = experiment.run()[0]
    pool, truth = experiment.pool, experiment.truth
    return JudgingCurve(
        selections=tuple(experiment.selections),
        mitigations=tuple(experiment.mitigations.names),
        shares=experiment.shares,
        n_labels=experiment.n_labels(),
        truth=truth,
        means=means,
        tau=np.apply_along_axis(_tau, -1, means, truth),
        rmse=np.sqrt(np.mean((means - truth) ** 2, axis=-1)),
        measure=experiment.measure.text,
        confidence=float(confidence),
        systems=tuple(map(str, pool.systems)),
        queries=tuple(pool.queries),
        dropped_queries=pool.dropped_queries,
    )


def _tau(means, truth):
    """Tau-b; what only rounding keeps apart is tied."""
    if np.isnan(means).any():
        return np.nan
    tau = kendalltau(np.round(truth, 12), np.round(means, 12)).statistic
    return 0.0 if np.isnan(tau) else tau


def _crossing(taus, shares, enough):
    """Where a curve crosses a value for the last time."""
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

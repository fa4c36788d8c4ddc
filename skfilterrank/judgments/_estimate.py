"""Values with intervals from people's labels of a sample and machines' labels of the rest.

The values are those for the given queries if people judged every document of the pool. Only the
sample of documents is random.

**Linear measures.** DCG, precision and RBP are sums over documents of a position weight times a
function of the label. The estimate adds up predicted labels. It corrects this sum by the errors in
the sample, each divided by the document's inclusion probability (difference estimator;
prediction-powered inference). It is unbiased for any predictions, and good ones make it precise.
Predictions are learned from the sample. A document's prediction uses other folds than its own, and
folds are drawn independently of each other, so that learning causes no bias.

**Ratios.** nDCG, nDCG_f, AP and recall have a denominator that depends on all labels of a query.
The library declares each as a sum over documents, whose weights depend on how often each label
occurs. The expected value takes the place of the sum of predictions. The weight is replaced by the
change that one label makes, averaged over the other labels. Each drawn label represents (1 - pi) /
pi documents that were not drawn. Pairs of labels are corrected for, too.

A label also changes the predictions of other documents of its query, which biases ratios a little.
Changes by predictions that were learned without the label's fold are free of this bias, but vary
twice as much where the sample says little of a query. So they only measure the bias: intervals are
wider by three quarters of it.

**The design.** Elimination sampling (Tillé 1996) has exact probabilities for a fixed number of
documents, and each sample contains the smaller ones, so that judging may go on in batches. Joint
probabilities have a closed form, which a test compares with the approximated variance. Inclusion
probabilities are proportional to the effect of a document's label times the machine's uncertainty.

**No interval** can be computed from labels that a strategy chose, because the documents it left out
differ from the chosen ones. Such labels are kept with inclusion probability 1, and a sample is
drawn from the rest.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.stats import t

from skfilterrank._base.checks import check_share
from skfilterrank._base.results import Result
from skfilterrank._base.system_pairs import Pairs, adjust_p_values, ratio
from skfilterrank._base.words import counted, interval_text, warn_user
from skfilterrank._files.files import is_path
from skfilterrank._lists.gains import as_gains
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.io import read_qrels
from skfilterrank.judgments._label_model import LabelModel
from skfilterrank.judgments._ranked_pool import (
    as_table,
    judged_table,
    ranked_pool,
    warn_of_outside,
)
from skfilterrank.judgments._sum_of_labels import SumOfLabels

_MOST_GAINS = 20
# Largest distance of a number of documents from its estimate, in standard errors.
_SURPRISE = 5.0
# Intervals grow by this share of a ratio's estimated bias, which is an estimate itself.
_OF_BIAS = 0.75
# With so many common labels, a machine hardly equals a person in all of them by chance.
_MANY = 50


@dataclass(frozen=True, eq=False)
class MeasureEstimate:
    """Estimates of one measure for all runs.

    Attributes
    ----------
    values : ndarray of shape (n_runs,)
        Estimates of the mean over queries.
    deviations : ndarray of shape (n_units, n_runs)
        Contribution of each drawn document to the error; ``deviations.T @ deviations`` is the
        covariance.
    value_range : tuple of two floats
        Lowest and highest possible value of the measure for these gains; infinite if unknown.
    shown_to_cover : bool
        True if a table of the project shows how often intervals of such a measure hold.
    allowance : ndarray of shape (n_runs,)
        Width that is added to intervals: a part of the estimated bias of a ratio.
    """

    values: np.ndarray
    deviations: np.ndarray
    value_range: tuple
    shown_to_cover: bool
    allowance: np.ndarray

    def allowed(self, first=slice(None), second=None) -> np.ndarray:
        """Return the allowance for bias in values of runs, or in differences of two runs."""
        others = 0.0 if second is None else self.allowance[second]
        away = np.abs(self.allowance[first] - others)
        # Values of equal lists differ only by rounding.
        return np.where(away < 1e-12 * np.abs(self.allowance).max(), 0.0, away)


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Result):
    """Estimated measures of runs, with intervals; returned by :func:`estimate`.

    Attributes
    ----------
    runs : tuple of str
        Names of the runs.
    results : dict of str to MeasureEstimate
        Estimates of each measure.
    confidence_level : float
        Confidence level of each single interval.
    n_judged, n_possible : int
        Judged documents whose labels can change a value, and all documents whose labels can.
    n_other : int
        Other documents that people judged, such as documents of a sample drawn for more runs. Their
        labels are used only to fit the predictions from the machine's labels.
    queries : tuple of str
        Ids of the queries.
    """

    runs: tuple
    results: dict
    confidence_level: float
    n_judged: int
    n_possible: int
    n_other: int
    queries: tuple

    @property
    def made_from(self) -> str:
        """Line on the queries, the labels, and measures whose intervals are not shown to cover."""
        others = f" (and {self.n_other:,} on which they do not depend)" if self.n_other else ""
        unknown = [name for name, each in self.results.items() if not each.shown_to_cover]
        caveat = f". Intervals of {', '.join(unknown)} are not shown to cover" if unknown else ""
        return (
            f"{interval_text(self.confidence_level)}s for these queries: {self.n_judged:,} of "
            f"{counted(self.n_possible, 'document')} judged by people{others}, "
            f"{counted(len(self.queries), 'query')}{caveat}"
        )

    @property
    def measures(self) -> tuple:
        """Names of the measures."""
        return tuple(self.results)

    def covariance(self, measure: str | None = None) -> pd.DataFrame:
        """Compute the covariance of the estimates of all runs, shape (n_runs, n_runs).

        Parameters
        ----------
        measure : str or None, default=None
            Name of the measure; it may be None if there is only one.
        """
        deviations = self._of(measure)[1].deviations
        names = pd.Index(self.runs, name="run")
        return pd.DataFrame(deviations.T @ deviations, names, names)

    def to_frame(self) -> pd.DataFrame:
        """Return value, interval and standard error, a row for each measure and run.

        Intervals are clipped to the range of the measure; an unbiased estimate may be outside it.
        "shown_to_cover" is True where a table of the project shows how often such intervals hold:
        for DCG and precision with a cut-off, and RBP. It is False for other sums, and for ratios
        such as nDCG and AP, whose estimates are biased. Their intervals may hold less often than
        the confidence level says.
        """
        tables = {}
        for name, result in self.results.items():
            error = np.sqrt((result.deviations**2).sum(axis=0))
            width = self._quantile(degrees_of_freedom(result.deviations)) * error
            width = width + result.allowed()
            tables[name] = pd.DataFrame(
                {
                    "value": result.values,
                    "low": np.clip(result.values - width, *result.value_range),
                    "high": np.clip(result.values + width, *result.value_range),
                    "standard_error": error,
                    "shown_to_cover": result.shown_to_cover,
                },
                index=pd.Index(self.runs, name="run"),
            )
        return pd.concat(tables, names=["measure"])

    def compare(
        self, measure: str | None = None, *, baseline: str | None = None, correction="holm"
    ) -> "EstimatedDifferences":
        """Estimate differences between runs.

        Runs share one sample, so that the interval of a difference is narrower than two separate
        intervals suggest.

        Parameters
        ----------
        measure : str or None, default=None
            Name of the measure; it may be None if there is only one.
        baseline : str or None, default=None
            Run that all others are compared with; None compares all pairs.
        correction : {"holm", "bonferroni", "fdr_bh"} or None, default="holm"
            Correction of the p values for the number of pairs, as in
            :func:`skfilterrank.comparison.compare_systems`. The intervals are not corrected.

        Returns
        -------
        EstimatedDifferences

        Raises
        ------
        InputError
            If there is only one run, or if the measure or the baseline is not among the estimates.
        """
        name, result = self._of(measure)
        if len(self.runs) < 2:
            raise InputError(
                f"compare needs estimates of at least two runs, got one, {brief(self.runs[0])}."
            )
        if baseline is not None and baseline not in self.runs:
            raise InputError(
                f"baseline must be the name of a run, such as {brief(self.runs[0])}, got "
                f"{brief(baseline)}."
            )
        pairs = Pairs.all(len(self.runs))
        if baseline is not None:
            pairs = Pairs.against(self.runs.index(baseline), len(self.runs))
        first, second = pairs.first, pairs.second
        difference = result.values[first] - result.values[second]
        error, freedom = self._pairs(result, first, second)
        # Values of equal lists differ only by rounding.
        difference[np.abs(difference) < 1e-12 * np.abs(result.values).max()] = 0.0
        allowed = result.allowed(first, second)
        width = self._quantile(freedom) * error + allowed
        beyond = np.maximum(np.abs(difference) - allowed, 0.0)
        p_value = 2 * t.sf(ratio(beyond, error), freedom)
        most = result.value_range[1] - result.value_range[0]
        return EstimatedDifferences(
            measure=name,
            runs=self.runs,
            first=first,
            second=second,
            difference=difference,
            low=np.clip(difference - width, -most, most),
            high=np.clip(difference + width, -most, most),
            p_value=p_value,
            p_adjusted=adjust_p_values(p_value, correction),
            confidence_level=self.confidence_level,
            shown_to_cover=result.shown_to_cover,
        )

    def _of(self, measure):
        """Return name and result of a measure."""
        if measure is None and len(self.results) == 1:
            (measure,) = self.results
        if measure not in self.results:
            raise InputError(
                f"measure must be one of {', '.join(map(repr, self.results))}, got "
                f"{brief(measure)}."
            )
        return measure, self.results[measure]

    def _pairs(self, result, first, second):
        """Return standard errors of differences, and their degrees of freedom."""
        covariance = result.deviations.T @ result.deviations
        own = np.diag(covariance)
        square = own[first] + own[second] - 2 * covariance[first, second]
        square[square < 1e-12 * (own[first] + own[second])] = 0.0
        return np.sqrt(square), degrees_of_pairs(result.deviations)[first, second]

    def _quantile(self, freedom):
        """Return the factor of the standard error in an interval."""
        return t.ppf((1 + self.confidence_level) / 2, freedom)

    def _summary(self):
        names = ", ".join(self.measures[:3]) + (", ..." if len(self.measures) > 3 else "")
        what = f"{self.n_judged:,} of {counted(self.n_possible, 'document')} judged"
        return f"{names} of {counted(len(self.runs), 'run')}, {what}"

    def _head(self):
        return self.made_from

    def _table(self):
        # The head above the table names the measures that are not shown to cover.
        return self.to_frame().drop(columns="shown_to_cover")


@dataclass(frozen=True, eq=False, repr=False)
class EstimatedDifferences(Result):
    """Differences between runs, with intervals; what :meth:`Estimates.compare` returns.

    Attributes
    ----------
    measure : str
        Name of the measure.
    runs : tuple of str
        Names of the runs.
    first, second : ndarray of shape (n_pairs,), int
        Places in `runs` of the two runs.
    difference, low, high : ndarray of shape (n_pairs,)
        First minus second, and the ends of its interval.
    p_value, p_adjusted : ndarray of shape (n_pairs,)
        P value of no difference, before and after the correction for the number of pairs.
    confidence_level : float
        Confidence level of each single interval.
    shown_to_cover : bool
        True if a table of the project shows that such intervals hold, as in
        :meth:`Estimates.to_frame`.
    """

    measure: str
    runs: tuple
    first: np.ndarray
    second: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_value: np.ndarray
    p_adjusted: np.ndarray
    confidence_level: float
    shown_to_cover: bool

    def significant(self) -> np.ndarray:
        """Return a mask of the pairs whose adjusted p value is at most 1 - `confidence_level`."""
        # 1 - 0.95 is not 0.05 in binary numbers.
        return self.p_adjusted <= round(1 - self.confidence_level, 12)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each pair, with the names of the runs."""
        names = np.array(self.runs, dtype=object)
        return pd.DataFrame(
            {
                "first": names[self.first],
                "second": names[self.second],
                "difference": self.difference,
                "low": self.low,
                "high": self.high,
                "p_value": self.p_value,
                "p_adjusted": self.p_adjusted,
                "shown_to_cover": self.shown_to_cover,
            }
        )

    def _summary(self):
        pairs = counted(len(self.first), "pair")
        return f"{self.measure} of {pairs} of {counted(len(self.runs), 'run')}"

    def _head(self):
        n_sure = int(np.count_nonzero(self.significant()))
        head = (
            f"{self.measure}: {n_sure:,} of "
            f"{counted(len(self.first), 'difference is', 'differences are')} significant for "
            "these queries"
        )
        return head + ("" if self.shown_to_cover else ". These intervals are not shown to cover")

    def _table(self):
        order = np.argsort(self.p_value, kind="stable")
        table = self.to_frame().drop(columns="shown_to_cover")
        return table.iloc[order].reset_index(drop=True)


def deviations_of_total(changes: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """Return each document's contribution to the error of ``sum of changes / probability``.

    Deville's form of Hajek's approximation for samples of fixed size and high entropy: with c =
    (1 - pi) n / (n - 1) over the n documents that are not certain and z = changes / pi, the
    covariance is the sum of ``c (z - mean) (z - mean)'``, with the mean weighted by c.

    Parameters
    ----------
    changes : ndarray of shape (n_judged, n_runs)
        What each label adds.
    probability : ndarray of shape (n_judged,)
        Inclusion probabilities.

    Returns
    -------
    ndarray of shape (n_drawn, n_runs)
        ``sqrt(c) (z - mean)`` of the documents that are not certain: the variance of any linear
        combination is the sum of its squares.
    """
    drawn = probability < 1
    n = int(np.count_nonzero(drawn))
    if n < 2:
        return np.zeros((0, changes.shape[1]))
    probability = probability[drawn]
    weighted = changes[drawn] / probability[:, None]
    share = (1 - probability) * n / (n - 1)
    weighted -= share @ weighted / share.sum()
    weighted *= np.sqrt(share)[:, None]
    return weighted


def degrees_of_freedom(deviations: np.ndarray) -> np.ndarray:
    """Return the degrees of freedom of the variance of each column.

    The variance of a sum of squares v is about ``sum v^2 - (sum v)^2 / n``. A chi-square variable
    with the returned degrees of freedom has the same relative variance. If few documents have most
    of the weight, there are few degrees of freedom, and intervals are wide.
    """
    parts = deviations**2
    return _freedom(parts.sum(axis=0), (parts**2).sum(axis=0), len(deviations))


def degrees_of_pairs(deviations: np.ndarray) -> np.ndarray:
    """Return degrees of freedom of the difference of every two columns, (n_runs, n_runs)."""
    square, cube, fourth = deviations**2, deviations**3, deviations**4
    mixed = square.T @ square
    third = cube.T @ deviations
    sums = fourth.sum(axis=0)
    total = square.sum(axis=0)
    variance = total[:, None] + total - 2 * deviations.T @ deviations
    parts = sums[:, None] + sums - 4 * (third + third.T) + 6 * mixed
    return _freedom(variance, parts, len(deviations))


def _freedom(variance, parts, n):
    """Return degrees of freedom of a sum of squares from the sum of its parts' squares."""
    share = np.divide(parts, variance**2, out=np.zeros_like(variance), where=variance > 0)
    spread = share - 1 / max(n, 1)
    freedom = np.divide(2.0, spread, out=np.full_like(variance, np.inf), where=spread > 1e-9)
    return np.clip(freedom - 1, 1.0, max(n - 1.0, 1.0))


def estimate(
    qrels,
    runs,
    measures,
    *,
    machine_qrels=None,
    pool=None,
    gains=None,
    confidence_level: float = 0.95,
) -> Estimates:
    """Estimate measures of runs, with intervals, where people judged a sample.

    Parameters
    ----------
    qrels : data frame, path or file object
        People's labels of the sample, with a column "inclusion_probability": the table of
        :func:`draw_sample` with its labels filled in, or a file that
        :func:`skfilterrank.io.read_qrels` reads. Rows without a label are left out with a warning,
        because the other rows are not a sample with these probabilities.
    runs : path, list of paths, or dict of name to run
        Runs, in any form that :func:`skfilterrank.metrics.evaluate_runs` accepts. Documents of
        equal score are sorted as in trec_eval; a query that is missing in a run counts as an empty
        list.
    measures : str or list of str
        Names of measures that are sums over documents, such as "dcg@10", "ndcg_f@10",
        "precision@10", "forbidden@10", "rbp", "recall@100" and "ap". Each may have its own options
        for labels: "ap(rel=2)".
    machine_qrels : qrels, dict of name to qrels, or None, default=None
        Labels of one machine judge, or of several by name. None uses only people's labels.
    pool : qrels or data frame, default=None
        Queries and documents that count; None means all with a machine label. All other documents
        count as unjudged, with gain 0.
    gains : None, "exp2", dict or callable, default=None
        Map from people's labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`. Labels
        of machines are used as classes and may have any scale.
    confidence_level : float, default=0.95
        Confidence level of each single interval.

    Returns
    -------
    Estimates
        `to_frame()` has a row for each measure and run: "value", "low", "high", "standard_error"
        and "shown_to_cover". ``covariance(measure)`` has the covariances of all runs, and
        ``compare(measure)`` differences with intervals and p values.

    Raises
    ------
    InputError
        If a run returns no document of the pool; if `qrels` has no inclusion probabilities, or they
        cannot be those of a sample of this pool; if it holds labels of machines; if people judged
        documents outside the pool, fewer than two, or gave all the same gain; if a measure has no
        interval from such a sample.

    Warns
    -----
    DataWarning
        If a machine's labels of 50 documents or more are all those of people, or a file of machine
        labels says that some are people's: these are left out. If runs return documents outside
        the pool as high as the measures look (among the first 10 for those without a cut-off).

    See Also
    --------
    draw_sample : Draws the documents to judge.

    Notes
    -----
    For a measure that is linear in labels the estimate is the difference estimator of survey
    sampling [1]_, in machine learning known as prediction-powered inference [2]_: with w the
    weight of a document, m its predicted and g its judged gain, and pi its inclusion probability,

    ``sum over the pool of w m  +  sum over the sample of w (g - m) / pi``,

    which is unbiased whatever m is, so that bad predictions only widen the intervals. For ratios
    (nDCG, nDCG_f, AP, recall) the first sum is the expected value given the sample's labels and
    predicted probabilities of the others, and w (g - m) is the change of the value by one label,
    times 1 - pi. Interactions of pairs of labels are corrected for, too. The predictions of other
    documents know the label, which makes the values a little biased. Changes by predictions that do
    not know it give values with less bias, but with more variance: intervals are wider by three
    quarters of the distance to these.
    If everything is judged, the estimate equals the measure.

    The values are those for these queries. No table shows the coverage of intervals of ratios, and
    of sums other than dcg@k, precision@k and rbp: see :meth:`Estimates.to_frame`. For measures that
    are no sums, draw queries, judge all of their documents, and measure these queries.

    Predictions are those of ridge logistic regressions on the labels of all judges, queries and how
    high the runs rank a document, all together and each by itself, learned from the sample in
    folds: a document's fold does not enter its own prediction. Folds go by places in the runs and
    machine labels, and nothing is left to chance or to names. They are those of :func:`draw_sample`
    where runs and machine labels are those that the sample was drawn for; with others, a bias of
    the order of one label in the sample may remain. Variances are Deville's for fixed-size samples,
    quantiles those of Student's t with as many degrees of freedom as the labels' weights allow.

    References
    ----------
    .. [1] Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, section 6.3.
    .. [2] Angelopoulos, Duchi and Zrnic, "PPI++: Efficient prediction-powered inference", 2023.
    .. [3] Oosterhuis et al., "Reliable confidence intervals for information retrieval evaluation
       using generative A.I.", KDD 2024.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from skfilterrank.judgments import draw_sample, estimate
    >>> rng = np.random.RandomState(0)
    >>> documents = [f"d{i}" for i in range(100)]
    >>> rows = pd.DataFrame({"qid": np.repeat(["1", "2"], 100), "docno": documents * 2})
    >>> people = rows.assign(label=rng.randint(0, 3, 200))
    >>> machine = rows.assign(label=np.minimum(people["label"] + rng.randint(0, 2, 200), 2))
    >>> runs = {name: rows.assign(score=rng.uniform(size=200)) for name in ("a", "b")}
    >>> sample = draw_sample(machine, runs, "dcg@50", n_total=60, random_state=0)
    >>> sample["label"] = sample[["qid", "docno"]].merge(people)["label"]  # an afternoon's work
    >>> estimates = estimate(sample, runs, "dcg@50", machine_qrels=machine)
    >>> estimates
    <Estimates: dcg@50 of 2 runs, 60 of 155 documents judged>
    """
    confidence_level = check_share(confidence_level, "confidence_level")
    parsed = parse_measures(measures)
    # Check the sample first: its message also names the pool.
    sample, n_open = _sample(qrels)
    pool = ranked_pool(machine_qrels, runs, pool)
    rows = pool.rows_of(sample.index, "qrels")
    warn_of_outside(pool, parsed)
    _warn_of_copies(pool, rows, sample["label"].to_numpy())
    probability = sample["inclusion_probability"].to_numpy()
    distinct, codes = _distinct_gains(sample["label"].to_numpy(), gains)
    forms = {text: SumOfLabels(each, pool, distinct) for text, each in parsed.items()}
    for text, form in forms.items():
        # The labels differ, but this measure gives all of them the same value.
        if len(distinct) > 1 and len(np.unique(form.gains)) < 2:
            _check_spread(form.gains, codes, f" for {brief(text)}")
        _check_design(form, rows, probability)
    if n_open:
        warn_user(
            f"qrels has {counted(n_open, 'document')} without a label. The labelled documents "
            "are not a random sample of them, so that values and intervals are wrong. Judge the "
            "rest, or draw again with the same random_state and a smaller n_total, the number "
            "judged from the first one on.",
            DataWarning,
        )
    is_certain = probability >= 1
    if not is_certain.all():
        _check_spread(distinct, codes)
    is_of_any = np.any([form.influential() for form in forms.values()], axis=0)
    n_judged = int(np.count_nonzero(is_of_any[rows]))
    labels = rows, codes, probability, is_certain
    return Estimates(
        runs=pool.runs,
        results={text: _estimate(form, labels) for text, form in forms.items()},
        confidence_level=confidence_level,
        n_judged=n_judged,
        n_possible=int(np.count_nonzero(is_of_any)),
        n_other=len(rows) - n_judged,
        queries=tuple(pool.queries),
    )


def _estimate(form, labels) -> MeasureEstimate:
    """Estimate one measure from the labels of a sample."""
    of_query, changes, bias = _by_labels(form, labels)
    measure = form.parsed.measure
    return MeasureEstimate(
        values=of_query.mean(axis=1),
        deviations=deviations_of_total(changes / of_query.shape[1], labels[2]),
        value_range=measure.range_for(form.gains),
        shown_to_cover=_is_in_tables(form),
        allowance=_OF_BIAS * bias,
    )


def _is_in_tables(form):
    """Tell whether benchmarks/results show the coverage of intervals of such a measure."""
    # "precision(rel=2)@10" is precision@10 of other gains.
    parsed = form.plain
    return form.is_linear and min(form.gains) >= 0 and parsed.has_shown_intervals


def _learn(form, labels):
    """Learn labels of all documents from the judged ones."""
    rows, codes, probability, known = labels
    worth = _position_weights(form)
    if form.slope.any():
        # In average precision pairs of labels interact. Predictions by each run can be so sure that
        # pairs of rare errors make intervals twice as wide, as with runs made from the labels.
        worth = csr_array(worth.mean(axis=1)[:, None])
    # Each measure is estimated separately, so that its value does not depend on the other measures.
    model = LabelModel(form.pool, worth, form.influential())
    # The first weights make intervals of sums narrowest. A ratio needs predictions that are right
    # on average over all documents, and gets the weights of the design.
    weights = probability ** (-0.5 if form.is_linear else -1.0)
    return model.fit(rows, codes, len(form.gains), known, weights)


def _by_labels(form, labels):
    """Return values of each query, (n_runs, n_queries), changes by labels, and bias of means."""
    rows, codes, probability, is_certain = labels
    learned = _learn(form, labels)

    def expand(wanted, without=None):
        prediction = learned.predict(without).with_known(rows[is_certain], codes[is_certain])
        return form.expand(prediction, rows, codes, wanted)

    expansion = expand(slice(0))
    # Number of undrawn documents that each drawn label represents.
    weights = (1 - probability) / probability
    of_query = expansion.base.copy()
    changes, of_pairs = expansion.changes(rows, codes), 0.0
    bias = np.zeros(len(of_query))
    if not form.is_linear:
        of_pairs = expansion.pairs(rows, codes, weights)
        # Predictions of other documents know these labels, which biases the values. Changes by
        # predictions that the label's fold did not influence are without this bias, but vary more.
        others = np.zeros(changes.shape)
        folds = np.where(is_certain, -1, form.pool.folding.folds[rows])
        for fold in np.unique(folds[folds >= 0]):
            mine = np.flatnonzero(folds == fold)
            expansion = expand(mine, fold)
            others[mine] = expansion.changes(rows[mine], codes[mine])
            others[mine] += expansion.pairs(rows, codes, weights)[mine] / 2
        bias = weights @ (changes + of_pairs / 2 - others) / of_query.shape[1]
    # Each pair counts half for each of its two documents.
    added = weights[:, None] * (changes + of_pairs / 2)
    np.add.at(of_query.T, form.pool.codes[rows], added)
    return of_query, changes + of_pairs, bias


def _sample(qrels):
    """Read people's labels and their probabilities; count the documents without a label."""
    if is_path(qrels) or hasattr(qrels, "read"):
        qrels = read_qrels(qrels)
    table = judged_table(qrels)
    if "inclusion_probability" not in table:
        raise InputError(
            "qrels has no inclusion probability in a column 'inclusion_probability', so that it is "
            "no sample: labels that a strategy chose (MAXREP, pooling, uncertainty) say "
            "nothing certain of those it left out, and no interval can be had from them alone. "
            "Draw documents by draw_sample(machine_qrels, runs, measures, n_total=..., "
            "judged=qrels): it keeps these labels, and adds a sample of the rest. Where people "
            "judged all that counts, evaluate_runs has the values, and compare_systems intervals "
            "for other queries."
        )
    if len(table) < 2:
        raise InputError(f"qrels has {counted(len(table), 'label')}: expected at least two.")
    return table, len(as_table(qrels, "qrels")) - len(table)


def _warn_of_copies(pool, rows, labels):
    """Warn of a machine whose labels all equal people's: one may be a copy of the other."""
    for name, machine in pool.machine.items():
        said = machine[rows]
        known = ~np.isnan(said)
        n_known = int(np.count_nonzero(known))
        if n_known >= _MANY and (said == labels)[known].all() and len(np.unique(labels[known])) > 1:
            warn_user(
                f"machine_qrels, judge {brief(name)}, and qrels have the same label of all "
                f"{n_known:,} documents that both judge. If some are copies of the others, as in a "
                "file of completed judgments, or of a machine that learned from these labels, "
                "intervals are too narrow: give what the machine said without knowing them.",
                DataWarning,
            )


def _distinct_gains(labels, gains):
    """Return the gains that labels may have, and the number of each label's gain."""
    values = as_gains(labels, gains, name="qrels")
    # Gains that no label of the sample has count, too: predictions must not depend on the sample.
    possible = list(gains.values()) if isinstance(gains, Mapping) else []
    distinct = np.unique(np.append(values, possible))
    if len(distinct) > _MOST_GAINS:
        raise InputError(
            f"qrels has {len(distinct)} different gains, expected at most {_MOST_GAINS}: pass "
            "gains that map several labels to one gain."
        )
    return distinct, np.searchsorted(distinct, values)


def _check_spread(distinct, codes, reader=""):
    """Raise if all labels are the same."""
    if len(np.unique(distinct[codes])) < 2:
        raise InputError(
            f"all {len(codes)} labels of qrels have the gain {distinct[codes[0]]:g}{reader}, so "
            "that the share of other gains cannot be estimated, and an interval would have no "
            "width. Judge more documents: draw_sample with the same random_state and a larger "
            "n_total extends this sample."
        )


def _check_design(form, rows, probability):
    """Raise an error if the inclusion probabilities contradict the number of documents."""
    weights = np.zeros(len(form.pool))
    weights[rows] = 1 / probability
    weights = weights[form.influential()]
    n_possible, estimated = len(weights), weights.sum()
    error = np.sqrt((weights * (weights - 1)).clip(0).sum())
    if abs(estimated - n_possible) > _SURPRISE * error + 1e-6 * n_possible:
        raise InputError(
            "the inclusion probabilities of qrels are not those of a sample for "
            f"{brief(form.parsed.text)} of these runs and this pool: they stand for "
            f"{estimated:,.0f} (± {error:,.0f}) documents whose labels matter, and there are "
            f"{n_possible:,}. Draw by draw_sample(machine_qrels, runs, measures, n_total=..., "
            "judged=qrels), which keeps these labels. Or, if people judged only the first part of "
            "a sample, draw again with the same random_state, and n_total as many as they judged."
        )


def _position_weights(form):
    """Return the position weight of each row in each run, (n_rows, n_runs)."""
    worth = np.abs(form.first + form.slope)
    return csr_array((worth, (form.row, form.run)), shape=(len(form.pool), len(form.pool.runs)))

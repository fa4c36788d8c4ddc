"""Reliability of the means of systems, from variance components of systems and queries."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._base.checks import check_choice, check_count, check_counts, check_share
from skfilterrank._base.results import Result
from skfilterrank._base.rounding import ROUNDING_OF_MEANS
from skfilterrank._base.system_pairs import draw_resamples
from skfilterrank._base.words import counted, interval_text
from skfilterrank.comparison import SystemScores
from skfilterrank.exceptions import InputError

_KINDS = ("phi", "e_rho2")
_COMPONENTS = ("systems", "queries", "residual")
_CONFIDENCE = 0.95
_BLOCK = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(Result):
    """Variance components and reliability coefficients, from :func:`reliability`."""

    variance_systems: float
    variance_queries: float
    variance_residual: float
    negative: tuple[str, ...]
    n_queries: int
    n_systems: int
    measure: str
    resampled_variances: np.ndarray

    @property
    def phi(self) -> float:
        """Reliability of the means themselves, in [0, 1]."""
        return float(self.project(self.n_queries))

    @property
    def e_rho2(self) -> float:
        """Reliability of the differences between the means, in [0, 1], at least `phi`."""
        return float(self.project(self.n_queries, kind="e_rho2"))

    def project(self, n_queries, *, kind: str = "phi") -> float | np.ndarray:
        """Compute the reliability that other numbers of queries would give.

        Parameters
        ----------
        n_queries : int or array-like of shape (n_numbers,)
            Numbers of queries, at least 1.
        kind : {"phi", "e_rho2"}, default="phi"
            Name of the coefficient.

        Returns
        -------
        float, or ndarray of shape (n_numbers,)
            Reliability for each number of queries, in [0, 1].
        """
        check_choice(kind, "kind", _KINDS)
        numbers = check_counts(n_queries, "n_queries")
        coefficients = _coefficient(self._variances, numbers, kind)
        return float(coefficients[0]) if np.ndim(n_queries) == 0 else coefficients

    def n_queries_needed(self, target: float = 0.95, *, kind: str = "phi") -> int | float:
        """Compute the smallest number of queries with a reliability of at least `target`.

        Parameters
        ----------
        target : float, default=0.95
            Wanted reliability, between 0 and 1, both excluded.
        kind : {"phi", "e_rho2"}, default="phi"
            Name of the coefficient.

        Returns
        -------
        int, or float infinity
            Number of queries; infinity if the variance of the systems is 0, because no number of
            queries is then enough.
        """
        check_choice(kind, "kind", _KINDS)
        check_share(target, "target")
        systems, queries, residual = self._variances
        if systems == 0:
            return math.inf
        noise = residual + (queries if kind == "phi" else 0.0)
        # The last factor keeps a value such as 19.000000000000004 from being rounded up to 20.
        return max(1, math.ceil(target / (1 - target) * noise / systems * (1 - ROUNDING_OF_MEANS)))

    def distribution(self, *, kind: str = "phi", n_queries: int | None = None) -> np.ndarray:
        """Return the reliability coefficients of all bootstrap resamples of the queries.

        Parameters
        ----------
        kind : {"phi", "e_rho2"}, default="phi"
            Name of the coefficient.
        n_queries : int or None, default=None
            Number of queries for which the reliability is computed; None takes the attribute
            `n_queries`.

        Returns
        -------
        ndarray of shape (n_resamples,), dtype float64
            Reliability of each resample, in [0, 1].
        """
        check_choice(kind, "kind", _KINDS)
        if not len(self.resampled_variances):
            raise InputError(
                "n_resamples must be above 0 for a distribution, but this result has no resamples: "
                "call reliability with n_resamples=1000, for example."
            )
        n_queries = self.n_queries if n_queries is None else check_count(n_queries, "n_queries")
        return _coefficient(self.resampled_variances.T, n_queries, kind)

    def to_frame(self) -> pd.DataFrame:
        """Return variance components and coefficients in the column "value".

        If there are resamples, "low" and "high" are the ends of the 95 % percentile interval.
        """
        names = [f"variance_{name}" for name in _COMPONENTS] + list(_KINDS)
        values = [*self._variances, self.phi, self.e_rho2]
        table = pd.DataFrame({"value": values}, index=pd.Index(names, name="figure"))
        if len(self.resampled_variances):
            coefficients = [self.distribution(kind=kind) for kind in _KINDS]
            resampled = np.column_stack([self.resampled_variances, *coefficients])
            ends = [(1 - _CONFIDENCE) / 2, (1 + _CONFIDENCE) / 2]
            table["low"], table["high"] = np.quantile(resampled, ends, axis=0)
        return table

    def _summary(self):
        return f"{self.measure} of {self.n_systems} systems for {self.n_queries} queries"

    def _head(self):
        head = f"Reliability of {self._summary()}"
        if self.negative:
            head += f"; negative variance of {' and '.join(self.negative)} set to 0"
        if n_resamples := len(self.resampled_variances):
            head += (
                f"; low and high: {interval_text(_CONFIDENCE)}, "
                f"{counted(n_resamples, 'resample')} of queries"
            )
        return head

    @property
    def _variances(self):
        return self.variance_systems, self.variance_queries, self.variance_residual


def reliability(
    scores,
    *,
    measure: str | None = None,
    n_queries: int | None = None,
    n_resamples: int = 0,
    random_state=None,
) -> Reliability:
    r"""Estimate how reliably the means over queries distinguish systems, by variance components.

    Use it to compare measures by a single number, and to find the needed number of queries.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems for at least two queries.
    measure : str or None, default=None
        Name of the measure, if `scores` has several.
    n_queries : int or None, default=None
        Number of queries for which `phi` and `e_rho2` are computed; None takes the number of
        queries in `scores`.
    n_resamples : int, default=0
        Number of bootstrap resamples of the queries. They show how much the coefficients depend on
        the given queries.
    random_state : int, RandomState instance or None, default=None
        Source of the resamples. Pass an int for results that can be repeated.

    Returns
    -------
    Reliability
        Result with the methods ``project``, ``n_queries_needed`` and ``distribution`` and the
        attributes below. Printing it shows a table.

        variance_systems, variance_queries, variance_residual : float
            Variance components, not negative, in the squared unit of the measure. The interaction
            of systems and queries is in the residual.
        negative : tuple of str
            Names of the components ("systems" or "queries") whose estimate was negative and was set
            to 0.
        n_queries : int
            Number of queries for which `phi` and `e_rho2` are computed.
        n_systems : int
            Number of systems.
        measure : str
            Name of the measure.
        resampled_variances : ndarray of shape (n_resamples, 3), dtype float64
            Variance components of systems, queries and residual for each resample.
        phi, e_rho2 : float
            Reliability of the means, and reliability of the differences between the means, in
            [0, 1].

    Raises
    ------
    ValueError
        If there are fewer than two systems or queries, or a parameter is out of range.

    See Also
    --------
    stability_curve : Rate of contradictions between samples of fewer queries.
    sensitivity_curve : Share of pairs whose order is the same in most resamples of the queries.

    Notes
    -----
    The coefficients are those of section 4.5 of [1]_, from generalizability theory [2]_. Let
    :math:`\sigma^2_s`, :math:`\sigma^2_q` and :math:`\sigma^2_e` be the variances of systems,
    queries and residual, and n the number of queries. Then

    .. math::

        \Phi = \frac{\sigma^2_s}{\sigma^2_s + (\sigma^2_q + \sigma^2_e) / n} \qquad
        E\rho^2 = \frac{\sigma^2_s}{\sigma^2_s + \sigma^2_e / n}

    Phi is the reliability of the means themselves, so it is lower if some queries are harder than
    others. E rho squared is the reliability of differences between systems over the same queries,
    for which the difficulty of the queries does not matter.

    The variances are estimated from the mean squares (MS) of the two-way layout without replication
    of m systems and n queries: :math:`MS_e` for the residual, :math:`(MS_s - MS_e) / n` for the
    systems and :math:`(MS_q - MS_e) / m` for the queries. Negative estimates are set to 0 and named
    in ``negative``. If the systems do not differ at all, both coefficients are 0. If only the
    systems vary, both are 1.

    A resample contains some queries more than once. On average, this makes the variances of queries
    and residual too small and the variance of systems too large. This bias is known [3]_ and is
    corrected.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Bodoff and Li, "Test Theory for Assessing IR Test Collections", SIGIR 2007.
    .. [3] Brennan, "Generalizability Theory", Springer 2001, section 6.1.

    Examples
    --------
    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.metaevaluation import reliability
    >>> scores = SystemScores([[0.2, 0.6, 0.4], [0.4, 0.7, 0.7]], measure="ap")
    >>> result = reliability(scores)
    >>> print(result)
    Reliability of ap of 2 systems for 3 queries
                       value
    figure
    variance_systems  0.0183
    variance_queries  0.0300
    variance_residual 0.0050
    phi               0.6111
    e_rho2            0.9167
    >>> result.project([3, 10, 50]).round(3)
    array([0.611, 0.84 , 0.963])
    >>> result.n_queries_needed(0.95), result.n_queries_needed(0.95, kind="e_rho2")
    (37, 6)
    """
    scores = SystemScores.of(scores, measure, least=(2, 2))
    n_queries = scores.n_queries if n_queries is None else check_count(n_queries, "n_queries")
    n_resamples = check_count(n_resamples, "n_resamples", least=0)
    once = np.ones((1, scores.n_queries))
    (estimates,) = _variances(scores.values, once)
    systems, queries, residual = np.maximum(estimates, 0.0).tolist()
    drawn = draw_resamples(scores.n_queries, n_resamples, random_state)
    return Reliability(
        variance_systems=systems,
        variance_queries=queries,
        variance_residual=residual,
        negative=tuple(name for name, each in zip(_COMPONENTS, estimates) if each < 0),
        n_queries=n_queries,
        n_systems=scores.n_systems,
        measure=scores.measure,
        resampled_variances=_without_bias(_variances(scores.values, drawn), scores.n_queries),
    )


def _without_bias(variances, n_queries):
    """Correct variances of resamples for the bias of repeated queries; clip them at 0."""
    systems, queries, residual = variances.T
    systems = systems - residual / (n_queries - 1)
    growth = n_queries / (n_queries - 1)
    return np.maximum(np.column_stack([systems, queries * growth, residual * growth]), 0.0)


def _coefficient(variances, n_queries, kind):
    """Compute phi or E rho squared: systems' variance / (systems' variance + noise of means).

    It is 0 if the systems do not vary.
    """
    systems, queries, residual = np.asarray(variances)
    noise = (residual + (queries if kind == "phi" else 0.0)) / n_queries
    total = systems + noise
    return np.divide(systems, total, out=np.zeros_like(total), where=systems > 0)


def _variances(values, counts):
    """Estimate the variances of systems, queries and residual, which may be negative.

    Each row of `counts`, shape (n_resamples, n_queries), says how often each query is in a
    resample. The result has shape (n_resamples, 3).
    """
    of_systems = values.mean(axis=1) - values.mean()
    of_queries = values.mean(axis=0) - values.mean()
    rest = values - values.mean() - of_systems[:, None] - of_queries
    variances = np.empty((len(counts), 3))
    step = max(1, _BLOCK // len(values))
    for start in range(0, len(counts), step):
        some = slice(start, start + step)
        variances[some] = _variances_of_parts(of_systems, of_queries, rest, counts[some])
    # Variances that are only rounding errors become 0.
    rounding = max(
        (ROUNDING_OF_MEANS * np.abs(values).max()) ** 2, ROUNDING_OF_MEANS * values.var()
    )
    variances[np.abs(variances) <= rounding] = 0.0
    return variances


def _variances_of_parts(of_systems, of_queries, rest, counts):
    """Estimate the variances of resamples from effects of systems and queries and residuals.

    Effects and residuals (`rest`) come from all queries. In a resample, the residuals of a system
    no longer have mean 0; `drift` is their mean.
    """
    n_systems, n_queries = rest.shape
    drift = counts @ rest.T / n_queries
    residual = counts @ (rest**2).sum(axis=0) - n_queries * (drift**2).sum(axis=1)
    residual = np.maximum(residual, 0.0) / ((n_systems - 1) * (n_queries - 1))
    systems = n_queries * ((of_systems + drift) ** 2).sum(axis=1) / (n_systems - 1)
    queries = counts @ of_queries**2 - (counts @ of_queries) ** 2 / n_queries
    queries *= n_systems / (n_queries - 1)
    return np.column_stack(
        [(systems - residual) / n_queries, (queries - residual) / n_systems, residual]
    )

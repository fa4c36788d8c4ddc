"""For how many pairs of systems a measure tells which is better, whatever queries are drawn."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import check_choice, check_count, check_numbers
from skfilterrank._lists.floats import ROUNDING_OF_MEANS, mean_tolerance, merge_values
from skfilterrank._lists.resamples import draw_resamples
from skfilterrank._lists.results import Result, counted, spread_places
from skfilterrank._lists.system_pairs import Pairs, Settings, differences, pair_blocks
from skfilterrank.comparison import SystemScores
from skfilterrank.comparison._resampling import bootstrap_test
from skfilterrank.exceptions import InputError, brief


@dataclass(frozen=True, eq=False, repr=False)
class SensitivityCurve(Result):
    """Success rates by significance level; see :func:`sensitivity_curve`.

    Attributes
    ----------
    alpha : ndarray of shape (n_alphas,), dtype float64
        Significance levels.
    success_rate : ndarray of shape (n_alphas,), dtype float64
        Share of pairs whose achieved level is below alpha, in [0, 1].
    asl : ndarray of shape (n_pairs,), dtype float64
        Achieved significance level of each pair, in [0, 1]; pairs as
        ``np.triu_indices(n_systems, 1)``.
    method : {"paper", "sakai"}
        How the levels were found.
    n_resamples : int
        Number of resamples of the queries.
    systems : tuple of str
        Names of the systems.
    measure : str
        Name of the measure.
    """

    alpha: np.ndarray
    success_rate: np.ndarray
    asl: np.ndarray
    method: str
    n_resamples: int
    systems: tuple[str, ...]
    measure: str

    _places = staticmethod(spread_places)

    def to_frame(self) -> pd.DataFrame:
        """Success rates as column "success_rate", a row for each "alpha"."""
        index = pd.Index(self.alpha, name="alpha")
        return pd.DataFrame({"success_rate": self.success_rate}, index=index)

    def matrix(self) -> pd.DataFrame:
        """Achieved level of each two systems, shape (n_systems, n_systems), 1 in the diagonal."""
        table = np.ones((len(self.systems), len(self.systems)))
        first, second = np.triu_indices(len(self.systems), 1)
        table[first, second] = table[second, first] = self.asl
        index = pd.Index(self.systems, name="system")
        return pd.DataFrame(table, index=index, columns=pd.Index(self.systems, name="system"))

    def _summary(self):
        return (
            f"{self.measure} of {counted(len(self.asl), 'pair')} of {len(self.systems)} systems, "
            f"{counted(self.n_resamples, 'resample')} of queries, method {self.method!r}"
        )

    def _head(self):
        return f"Sensitivity of {self._summary()}"


def sensitivity_curve(
    scores,
    *,
    measure: str | None = None,
    alphas=None,
    n_resamples: int = 1000,
    method: str = "paper",
    random_state=0,
    verbose: int = 0,
) -> SensitivityCurve:
    """For which share of pairs resampled queries keep the better system ahead.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems for at least two queries.
    measure : str or None, default=None
        Which measure, where `scores` has several.
    alphas : float or array-like of shape (n_alphas,), default=None
        Significance levels in (0, 1]. None takes 0.01 to 0.20 in steps of 0.01.
    n_resamples : int, default=1000
        Number of resamples of the queries, shared by all pairs.
    method : {"paper", "sakai"}, default="paper"
        How the achieved significance level of a pair is found: the share of resamples that
        disagree with all queries about the pair; or the two-sided test of :func:`compare_systems`
        with ``test="bootstrap"``.
    random_state : int, RandomState instance or None, default=0
        Seed of the resamples.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    SensitivityCurve
        With ``alpha``, ``success_rate`` and the ``asl`` of each pair; its ``str`` is a table.

    Raises
    ------
    ValueError
        If there are fewer than two systems or queries, or a parameter is out of range.

    See Also
    --------
    compare_systems : Which differences are more than chance, with corrections and intervals.
    stability_curve : How often fewer queries take the worse system for the better one.

    Notes
    -----
    Section 4.4 of [1]_. As many queries as there are are drawn with replacement. The achieved
    significance level of a pair is the share of resamples in which the two means are in another
    order than over all queries, and the pair is a success at alpha if the level is below it. A
    resample in which the means tie does not agree; a pair that ties over all queries has level 1,
    as there is no order to keep. A pair with one difference for all queries has level 0.

    The paper calls this the bootstrap test of [2]_, which it is not: that shifts the differences
    to a mean of 0, divides by their standard errors and looks at both tails. ``method="sakai"``
    does so. Its levels are about twice those of the paper, so that its success rate is lower.
    Levels are not corrected for the number of pairs.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Sakai, "Evaluating Evaluation Metrics Based on the Bootstrap", SIGIR 2006.

    Examples
    --------
    The third system is better than the others for every query; the other two are hard to tell
    apart.

    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.metaevaluation import sensitivity_curve
    >>> scores = SystemScores(
    ...     [[0.1, 0.4, 0.3, 0.2], [0.3, 0.2, 0.2, 0.4], [0.6, 0.7, 0.5, 0.6]],
    ...     systems=["a", "b", "c"],
    ...     measure="ap",
    ... )
    >>> print(sensitivity_curve(scores, alphas=[0.01, 0.05]))
    Sensitivity of ap of 3 pairs of 3 systems, 1,000 resamples of queries, method 'paper'
           success_rate
    alpha
    0.01         0.6667
    0.05         0.6667
    """
    scores = SystemScores.of(scores, measure, least=(2, 2))
    alphas = _check_alphas(alphas)
    n_resamples = check_count(n_resamples, "n_resamples")
    check_choice(method, "method", ("paper", "sakai"))
    find = _disagreement if method == "paper" else _studentized
    asl = find(scores, n_resamples, random_state, verbose)
    # A level that is alpha but for rounding is not below it.
    below = np.sort(asl).searchsorted(alphas * (1 - ROUNDING_OF_MEANS), side="left")
    return SensitivityCurve(
        alpha=alphas,
        success_rate=below / len(asl),
        asl=asl,
        method=method,
        n_resamples=n_resamples,
        systems=scores.systems,
        measure=scores.measure,
    )


def _disagreement(scores, n_resamples, random_state, verbose):
    """Share of resamples with another order than all queries have, for each pair."""
    values, n_systems = scores.values, scores.n_systems
    counts = draw_resamples(scores.n_queries, n_resamples, random_state)
    means = values @ counts.T.astype(np.float64) / scores.n_queries
    observed = values.mean(axis=1)
    tolerance = mean_tolerance(values)
    pairs = Pairs.all(n_systems)
    asl = np.empty(len(pairs))
    for block in pair_blocks(pairs, 3 * n_resamples, verbose=verbose):
        truth = differences(observed, pairs[block])
        # Turned so that agreeing means a positive difference: a tie does not agree.
        turned = differences(means, pairs[block]) * np.sign(truth)[:, None]
        agreeing = np.count_nonzero(turned > tolerance, axis=1)
        asl[block] = np.where(np.abs(truth) > tolerance, 1 - agreeing / n_resamples, 1.0)
    return asl


def _studentized(scores, n_resamples, random_state, verbose):
    """Two-sided levels of the shifted, studentized bootstrap test."""
    settings = Settings(n_resamples=n_resamples, random_state=random_state, verbose=verbose)
    return bootstrap_test(
        merge_values(scores.values), Pairs.all(scores.n_systems), settings
    ).p_value


def _check_alphas(alphas):
    """Levels above 0, up to 1."""
    if alphas is None:
        return np.arange(1, 21) / 100
    array = check_numbers([alphas] if np.isscalar(alphas) else alphas, "alphas")
    is_number = array.dtype.kind in "iuf" and array.size > 0
    if not is_number or not ((array > 0) & (array <= 1)).all():
        raise InputError(f"alphas must be one or more numbers in (0, 1], got {brief(alphas)}.")
    return array.astype(np.float64)

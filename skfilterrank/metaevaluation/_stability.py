"""How often a measure, given fewer queries, takes the worse system for the better one."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from skfilterrank._lists.checks import check_count, check_flag, check_numbers, is_finite_number
from skfilterrank._lists.floats import mean_tolerance
from skfilterrank._lists.resamples import seeds_of
from skfilterrank._lists.results import Result, counted, spread_places
from skfilterrank._lists.system_pairs import Pairs, differences, pair_blocks
from skfilterrank.comparison import SystemScores
from skfilterrank.exceptions import InputError, brief


@dataclass(frozen=True, eq=False, repr=False)
class StabilityCurve(Result):
    """Error rates by number of queries; see :func:`stability_curve`.

    Attributes
    ----------
    n_queries : ndarray of shape (n_sizes,), dtype int64
        Numbers of queries that were drawn.
    error_rate : ndarray of shape (n_sizes,), dtype float64
        Share of decisions that go against the more frequent one of their pair, in [0, 0.5].
    tie_rate : ndarray of shape (n_sizes,), dtype float64
        Share of decisions that find the two systems equal, in [0, 1].
    n_resamples : int
        Number of samples of queries for each size.
    fuzziness : float
        Differences of means up to this are ties.
    relative : bool
        Whether `fuzziness` is a share of the greater mean.
    n_systems : int
        Number of systems.
    measure : str
        Name of the measure.
    """

    n_queries: np.ndarray
    error_rate: np.ndarray
    tie_rate: np.ndarray
    n_resamples: int
    fuzziness: float
    relative: bool
    n_systems: int
    measure: str

    _places = staticmethod(spread_places)

    def to_frame(self) -> pd.DataFrame:
        """Rates as columns "error_rate" and "tie_rate", a row for each "n_queries"."""
        return pd.DataFrame(
            {"error_rate": self.error_rate, "tie_rate": self.tie_rate},
            index=pd.Index(self.n_queries, name="n_queries"),
        )

    def _summary(self):
        n_pairs = self.n_systems * (self.n_systems - 1) // 2
        return (
            f"{self.measure} of {counted(n_pairs, 'pair')} of {self.n_systems} systems for "
            f"{counted(len(self.n_queries), 'size')}"
        )

    def _head(self):
        fuzziness = f"{self.fuzziness:g}" + (" of the greater mean" if self.relative else "")
        return (
            f"Stability of {self._summary()}, {counted(self.n_resamples, 'sample')} of queries, "
            f"ties up to {fuzziness}"
        )


def stability_curve(
    scores,
    *,
    measure: str | None = None,
    sizes=None,
    n_resamples: int = 200,
    fuzziness: float = 0.01,
    relative: bool = False,
    random_state=0,
    verbose: int = 0,
) -> StabilityCurve:
    r"""How often fewer queries take the worse of two systems for the better one.

    Samples of queries are drawn without replacement, and all systems compared by their means over
    each sample. A measure is stable if samples agree with one another about every pair, already
    when they are small.

    Parameters
    ----------
    scores : SystemScores, or what :meth:`SystemScores.of` reads
        Values of at least two systems for at least two queries.
    measure : str or None, default=None
        Which measure, where `scores` has several.
    sizes : int or array-like of shape (n_sizes,), default=None
        Numbers of queries to draw, from 1 to all. None takes 2 to all.
    n_resamples : int, default=200
        Number of samples of each size, drawn without replacement.
    fuzziness : float, default=0.01
        Two systems tie on a sample if their means differ by no more than this, in the unit of the
        measure.
    relative : bool, default=False
        If True, `fuzziness` is a share of the mean that is greater in size, as Buckley and
        Voorhees have it.
    random_state : int, RandomState instance or None, default=0
        Seed of the samples. The samples of a size do not depend on the other sizes.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    StabilityCurve
        With ``n_queries``, ``error_rate``, ``tie_rate``; its ``str`` is a table.

    Raises
    ------
    ValueError
        If there are fewer than two systems or queries, or a parameter is out of range.

    See Also
    --------
    sensitivity_curve : For how many pairs resampled queries keep the better system ahead.
    reliability : How many queries the ranking of systems needs.

    Notes
    -----
    Section 4.3 of [1]_ with equation 1 of [2]_. With `A > B` counting the samples in which A is
    ahead by more than the fuzziness,

    .. math:: error = \frac{\sum_{A, B} \min(A > B, B > A)}{n_{samples} \, n_{pairs}}

    The error is 0 when all queries are drawn, since all samples are then the same, and where all
    means tie. It compares samples with one another, not with the whole: two halves that contradict
    each other every time give 0.5. Whether greater values are better makes no difference.

    A fuzziness in the unit of the measure favors measures with small values, whose differences
    are more often ties: compare measures by ``tie_rate`` too, or take ``relative=True``.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.
    .. [2] Buckley and Voorhees, "Evaluating Evaluation Measure Stability", SIGIR 2000.

    Examples
    --------
    The new system wins by little on four queries and loses by much on one: a small sample without
    that query errs.

    >>> from skfilterrank.comparison import SystemScores
    >>> from skfilterrank.metaevaluation import stability_curve
    >>> scores = SystemScores(
    ...     [[0.5, 0.5, 0.5, 0.5, 0.9], [0.6, 0.6, 0.6, 0.6, 0.1]],
    ...     systems=["old", "new"],
    ...     measure="ap",
    ... )
    >>> stability_curve(scores, sizes=[5]).error_rate
    array([0.])
    >>> bool(0.3 < stability_curve(scores, sizes=2).error_rate[0] < 0.5)
    True
    """
    scores = SystemScores.of(scores, measure, least=(2, 2))
    sizes = _check_sizes(sizes, scores.n_queries)
    n_resamples = check_count(n_resamples, "n_resamples")
    fuzziness = _check_fuzziness(fuzziness)
    check_flag(relative, "relative")
    seeds = seeds_of(random_state)
    tolerance = mean_tolerance(scores.values)
    rates = [
        _rates(scores.values, size, n_resamples, fuzziness, relative, tolerance, seeds)
        for size in tqdm(sizes, unit="size", disable=not verbose, leave=False)
    ]
    error_rate, tie_rate = np.array(rates).T
    return StabilityCurve(
        n_queries=sizes,
        error_rate=error_rate,
        tie_rate=tie_rate,
        n_resamples=n_resamples,
        fuzziness=fuzziness,
        relative=bool(relative),
        n_systems=scores.n_systems,
        measure=scores.measure,
    )


def draw_samples(n_queries: int, size: int, n_resamples: int, seeds) -> np.ndarray:
    """Samples without replacement, shape (n_resamples, n_queries): True where a query is drawn."""
    order = np.random.default_rng([*seeds, size]).random((n_resamples, n_queries)).argsort(axis=1)
    drawn = np.zeros((n_resamples, n_queries), dtype=bool)
    np.put_along_axis(drawn, order[:, :size], True, axis=1)
    return drawn


def _rates(values, size, n_resamples, fuzziness, relative, tolerance, seeds):
    """Shares of wrong and of tied decisions for one number of queries."""
    drawn = draw_samples(values.shape[1], size, n_resamples, seeds)
    means = values @ drawn.T.astype(np.float64) / size
    margins = np.abs(means) * fuzziness if relative else None
    wrong = decided = 0
    pairs = Pairs.all(len(values))
    for block in pair_blocks(pairs, 3 * n_resamples):
        some = pairs[block]
        difference = differences(means, some)
        margin = np.maximum(margins[some.first], margins[some.second]) if relative else fuzziness
        # A difference of fuzziness itself is a tie, however it was rounded.
        margin = margin + tolerance
        ahead = np.count_nonzero(difference > margin, axis=1)
        behind = np.count_nonzero(difference < -margin, axis=1)
        wrong += int(np.minimum(ahead, behind).sum())
        decided += int(ahead.sum() + behind.sum())
    n_decisions = len(pairs) * n_resamples
    return wrong / n_decisions, 1 - decided / n_decisions


def _check_sizes(sizes, n_queries):
    """Numbers of queries that can be drawn."""
    if sizes is None:
        return np.arange(2, n_queries + 1)
    array = check_numbers([sizes] if np.isscalar(sizes) else sizes, "sizes")
    whole = array.size and array.dtype.kind in "iu"
    if not whole or array.min() < 1 or array.max() > n_queries:
        raise InputError(
            f"sizes must be one or more whole numbers from 1 to {n_queries}, the number of queries "
            f"in scores, got {brief(sizes)}."
        )
    return array.astype(np.int64)


def _check_fuzziness(fuzziness):
    """A finite number that is not negative."""
    if not is_finite_number(fuzziness) or fuzziness < 0:
        raise InputError(f"fuzziness must be a finite number from 0, got {brief(fuzziness)}.")
    return float(fuzziness)

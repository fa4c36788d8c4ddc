"""The best filtering threshold of rows that need not fit into memory, exactly."""

from contextlib import ExitStack, closing
from typing import Any

from skfilterrank._core.gains import Gains
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.scoring import check_undefined
from skfilterrank._threshold.search import FIRST_PASS, MANY_STEPS, Stepping, search_threshold
from skfilterrank.exceptions import InputError
from skfilterrank.stream._closed import ClosedQueries
from skfilterrank.stream._frames import Wanted
from skfilterrank.stream._passes import run_pass
from skfilterrank.stream._rows import Rows, check_rows, opened
from skfilterrank.thresholds import ThresholdCurve


def threshold_curve(
    rows: Rows,
    *,
    k: int | None = None,
    gains: Gains = None,
    measure: str = "ndcg_f",
    undefined: float | str = 0.0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> ThresholdCurve:
    """Find the threshold on the score with the best mean nDCG_f, or any measure, exactly.

    Parameters
    ----------
    rows : Rows
        The rows, which are read three times at most: no generator, unless
        ``scattered="partition"``.
    k : int or None, default=None
        Number of places of the returned list that count; None means all.
    gains, measure, undefined
        As in :func:`skfilterrank.thresholds.threshold_curve`.
    n_jobs, verbose
        As in :func:`evaluate`.

    Returns
    -------
    ThresholdCurve
        `best_threshold` is that of :func:`skfilterrank.thresholds.threshold_curve` for all rows in
        memory, and `best_value` its value but for the last bit. The other thresholds are
        scores of documents too, and their values exact, but there are at most 64 of them for each
        doubling of the score; between two of them values may be others.

    Raises
    ------
    ValueError
        As the measure itself and as :func:`evaluate`; also if ``undefined="drop"`` leaves out
        other queries at other thresholds, or if scores are whole numbers beyond 2**53.

    See Also
    --------
    skfilterrank.thresholds.threshold_curve : The whole curve of arrays.

    Notes
    -----
    Under a threshold t the sum of the measure over queries is ``V(t) = V(inf) + sum of c_i over
    s_i >= t``: each document that counts is a step of height ``c_i`` at its score ``s_i``. The
    first pass adds up steps in bins: intervals of scores ``B_1 < B_2 < ...`` that hold a step, at
    most 2**18 by the leading digits of the float64, in whose order whole numbers of 64 bits stand.
    For each bin it keeps the sums ``R_j`` of the steps up and ``F_j <= 0`` of the steps down, its
    lowest and highest step, and their number.

    *Bound.* Let ``A_j`` be V(inf) plus all ``R_m + F_m`` with ``m > j``: the value at the lowest
    step above the bin, or at infinity, so one that some threshold has. For t in bin j, V(t) is
    ``A_j`` plus the steps of the bin at t or above. A sum of some of the steps of a bin is at most
    the sum of those that are positive, so ``V(t) <= A_j + R_j``. Let M be the largest of all
    ``A_j`` and of the value where all steps are shown. The maximum V* is at least M. If ``A_j +
    R_j < M``, no threshold in bin j reaches V*, and the bin is left out. The same holds for
    thresholds that count as equally good, within a slack of 1e-12 of the largest value: bins are
    left out only where they stay below M by more than four times the slack.

    *Search.* The second pass gathers the steps of the bins that are left and computes V at each of
    them from the top of its bin, ``A_j`` being known. So V is known at all thresholds that could be
    best, and at one step of every other bin, the lowest, none of which is better. Among equals the
    lowest is taken. Steps gathered are at most half a million in memory; where bins hold more, they
    go to a temporary folder, split by score until each part fits or is a single score, and are read
    from there: so the rows are read no more often however scores lie, and where V is flat or all
    scores are in one bin it takes disk, 16 bytes a step. The third pass finds the lowest score
    above the next lower step, for the middle between them.

    Where a measure is no sum over documents, or is average precision with ties, steps are
    differences of its values at prefixes, and some are mere rounding, which may be 0 in one cut of
    the rows and 1e-17 in another. The value is then the same, and the threshold may lie in the
    middle above another score.

    All that is kept between blocks of rows takes less than 64 MB, besides 8 bytes a query by which
    one that comes back is noticed.

    Examples
    --------
    >>> from skfilterrank.stream import Rows, threshold_curve
    >>> rows = Rows({"qid": ["a", "a", "a"], "label": [2, 1, -1], "score": [0.9, 0.5, 0.1]})
    >>> curve = threshold_curve(rows)
    >>> round(curve.best_threshold, 3), round(curve.best_value, 3)
    (0.3, 1.0)
    """
    check_rows(rows)
    parsed = parse_measure(measure).for_threshold(k)
    check_undefined(undefined)
    if parsed.options.keys() & parsed.measure.columns.keys():
        raise InputError(f"measure={measure!r} has options for each row: name another measure.")
    columns = Wanted(rows.query, rows.label, {"score": rows.score}, {})
    with opened(rows, columns, n_passes=3) as source, ExitStack() as stack:

        def passing(work: Any, what: str):
            states = run_pass(
                source.pieces(),
                work,
                closed=ClosedQueries() if what == FIRST_PASS else None,
                n_jobs=n_jobs,
                verbose=verbose,
                n_rows=source.n_rows,
                what=what,
                merges=what != MANY_STEPS,
            )
            return stack.enter_context(closing(states))

        return ThresholdCurve(
            *search_threshold(Stepping(parsed, gains, undefined), passing, rows.folder)
        )

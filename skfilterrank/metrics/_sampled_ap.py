"""Average precision estimated from judgments of a sample: infAP and statAP."""

import numpy as np

from skfilterrank._base.checks import check_numbers
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.scoring import ratio
from skfilterrank._lists.ties import Ties
from skfilterrank.exceptions import InputError, brief

EPSILON = 1e-5


def mean_inferred_precision(ties: Ties, relevant, judged, pooled, epsilon) -> np.ndarray:
    """Compute the mean over tied orders of infAP's precision times relevance, at each place.

    Arrays are in list order. Let p pooled and s relevant documents be above a tie, and t documents
    of the tie, j of which are judged, above one of its relevant documents. For given j, that
    document has ``p + j + (t - j) w`` pooled and ``s + j q`` relevant documents above it on
    average: w is the share of pooled documents among the tie's unjudged ones, and q the share of
    relevant ones among the tie's other judged documents. j is hypergeometric. The mean over j is
    that of a polynomial in j plus that of a multiple of ``1 / (j + c)``.
    """
    n = ties.length
    n_relevant, n_judged = ties.sums(relevant), ties.sums(judged)
    w = _ratio(ties.sums(pooled) - n_judged, n - n_judged)
    q = _ratio(n_relevant - 1, n_judged - 1)
    t = np.arange(relevant.shape[1]) - ties.first
    c = ties.before(judged) + 2 * epsilon
    mean_judged = _ratio(t * (n_judged - 1), n - 1)
    with_relevant = n_relevant > 0
    mean_inverse = np.zeros(relevant.shape)
    mean_inverse[with_relevant] = mean_inverse_hypergeometric(
        n[with_relevant] - 1, (n_judged - 1)[with_relevant], t[with_relevant], c[with_relevant]
    )
    # Expand (p + t w + j (1 - w)) (s + epsilon + j q) / (j + c) in powers of j + c.
    first = ties.before(pooled) + t * w - (1 - w) * c
    second = ties.before(relevant) + epsilon - q * c
    expected = (
        (1 - w) * q * (mean_judged + c)
        + first * q
        + (1 - w) * second
        + first * second * mean_inverse
    )
    return n_relevant / n * (1 + expected) / (ties.first + t + 1)


def _ratio(part, whole):
    """Compute part / whole, 0 where the whole is not above 0."""
    result = np.zeros(np.shape(whole))
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def mean_inverse_hypergeometric(n, n_marked, t, c) -> np.ndarray:
    """Compute the mean of ``1 / (j + c)``, where j of t documents drawn from n are marked.

    Entries come in runs with ``t = 0, 1, ..., n`` and equal n, n_marked and c > 0. The mean H(t)
    follows the recursion

    ``(t + c) (n + 1 - t) H(t) = n + 1 + t (n - n_marked - t + 1 - c) H(t - 1)``

    It is used upwards as long as H(t - 1) has the smaller factor, because rounding errors then
    shrink. The other values are computed downwards from ``H(n) = 1 / (n_marked + c)``.
    """
    heads = np.flatnonzero(t == 0)
    n, n_marked, c = n[heads], n_marked[heads], c[heads]
    result = np.empty(len(t))
    result[heads] = 1 / c
    # At `turn`, the factors of H(t) and H(t - 1) have equal size and opposite sign.
    half = n + 1 - c - n_marked / 2
    turn = np.minimum((half + np.sqrt(half**2 + 2 * c * (n + 1))) / 2, n).astype(np.intp)
    order = np.argsort(-turn, kind="stable")
    for step, runs in _runs_of_each_step(turn[order], order):
        at = heads[runs] + step
        factor = n[runs] - n_marked[runs] - step + 1 - c[runs]
        result[at] = (n[runs] + 1 + step * factor * result[at - 1]) / (
            (step + c[runs]) * (n[runs] + 1 - step)
        )
    left = n - turn
    result[heads + n] = np.where(left > 0, 1 / (n_marked + c), result[heads + n])
    order = np.argsort(-left, kind="stable")
    # Take one step less: the last downward step would recompute a result of the upward steps.
    for step, runs in _runs_of_each_step(left[order] - 1, order):
        drawn = n[runs] - step + 1
        at = heads[runs] + drawn
        factor = drawn + c[runs] + n_marked[runs] - n[runs] - 1
        result[at - 1] = (n[runs] + 1 - (drawn + c[runs]) * step * result[at]) / (drawn * factor)
    return result


def _runs_of_each_step(n_steps, order):
    """Yield (step, runs with at least so many steps) for step = 1, 2, ...; `n_steps` descends."""
    most = int(n_steps[0]) if len(n_steps) else 0
    counts = np.searchsorted(-n_steps, -np.arange(1, most + 1), side="right")
    for step, count in enumerate(counts, start=1):
        yield step, order[:count]


def inferred_ap_sum(facts: Facts) -> Additive:
    """Return infAP as a sum: each relevant document adds its expected precision / R.

    It is valid if all documents are in the pool.
    """

    def worth(place, level, query):
        above = place - 1
        return (1 + above * (level - 1 + EPSILON) / (above + 2 * EPSILON)) / place

    return Additive(
        facts.over(facts.m), worth, uses_levels=True, worth_of="level", scale="weighted"
    )


def _pooled_in_order(block):
    """Return a mask of the documents in the pool, in list order; None if `pooled` is not given."""
    pooled = block.column("pooled", False)
    if pooled is None:
        return None
    bad = block.judged & ~pooled
    if bad.any():
        raise InputError(
            "pooled must be True wherever y_true holds a label, because what is judged was in the "
            f"pool, but it is False at {np.count_nonzero(bad)} judged row(s): pass "
            "pooled=pooled | ~np.isnan(y_true), or set the label of those rows to NaN."
        )
    return block.in_order(pooled)


def _weights_above(block, weights, is_weighted):
    """Compute the weight of each relevant document, and the sum of weights above it in its list."""
    found = block.relevant_cells
    if not is_weighted:
        return 1, found.levels - 1
    own = block.in_order(weights).take(found.cells)
    # Only the relevant documents of each list are kept, which makes sums much shorter.
    number = found.levels - 1
    side_by_side = np.zeros((found.n_lists, number.max(initial=0) + 1))
    side_by_side[found.lists, number] = own
    return own, np.cumsum(side_by_side, axis=1)[found.lists, number] - own


def _inverse(probability, block):
    """Compute 1 / probability for relevant documents, 0 for all others."""
    bad = block.judged & ~(probability > 0)
    if bad.any():
        raise InputError(
            "inclusion_probability must be above 0 wherever y_true holds a label, because what "
            f"was judged could be drawn, but it is {probability[bad][0]} at one of "
            f"{np.count_nonzero(bad)} judged row(s) where it is not: pass the probability with "
            "which the sampling draws each row, or set the label of those rows to NaN."
        )
    weights = np.zeros(probability.shape)
    cells = np.flatnonzero(block.gains > 0)
    weights.put(cells, 1 / probability.take(cells))
    return weights


def check_pooled(pooled, n_rows):
    """Check that `pooled` holds True or False for each row; return it as bool."""
    values = check_numbers(pooled, "pooled", n_rows=n_rows)
    is_truth_value = values.dtype == bool or np.isin(values, (0, 1))
    if not np.all(is_truth_value):
        row = int(np.argmin(is_truth_value))
        raise InputError(
            "pooled must hold True or False for each row: whether the document was in the pool "
            f"that judged documents were drawn from; got {brief(values.tolist()[row])} at row "
            f"{row}."
        )
    return values.astype(bool)


def check_inclusion_probability(inclusion_probability, n_rows):
    """Check that each row has a number from 0 to 1, or NaN, which only unjudged rows may have."""
    values = check_numbers(inclusion_probability, "inclusion_probability", n_rows=n_rows)
    values = values.astype(np.float64, copy=False)
    bad = (values < 0) | (values > 1)
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            "inclusion_probability must lie in (0, 1]: the probability with which the sampling "
            f"draws each row; got {values[row]} at row {row}."
        )
    return values


def _inferred_ap(block: ListBlock):
    """Average precision, inferred from judgments of a random sample of the pool.

    Use it if a random part of the pool was judged. At each relevant document, precision is
    estimated by the share of relevant documents among the judged documents above. On average over
    the samples it comes close to the average precision of the fully judged pool.

    Parameters
    ----------
    pooled : array-like of shape (n_rows,), dtype bool, default=None
        Whether each row was in the pool that the judged documents were drawn from. A judged row
        must be True. None treats every unjudged row as in the pool but not drawn.

    See Also
    --------
    stat_ap_score : For samples that are not uniform.
    average_precision_score : With ``unjudged="drop"`` it leaves the unjudged documents out.

    Notes
    -----
    A document is judged, or it was in the pool and is unjudged, or it was not in the pool and is
    taken as non-relevant. Let a relevant document at place i have p pooled documents above it, of
    which j are judged and s are relevant. Its expected precision is [1]_

    ``1 / i + (i - 1) / i * p / (i - 1) * (s + epsilon) / (j + 2 * epsilon)``

    with ``epsilon = 1e-5``, as trec_eval has it. The sum over the relevant documents that are
    retrieved is divided by the number of all relevant ones, retrieved or not. (Section 2 of [2]_
    prints the share of relevant documents among *all* judged for the last factor, with which
    complete judgments do not give average precision.)

    With complete judgments it differs from average precision by the smoothing alone, by less than
    ``epsilon / 2``. Where pooled documents stand above a relevant one and none of them is judged,
    the smoothing takes half of them as relevant.

    Judgment files of TREC mark pooled documents that are unjudged by a label of -1: give them the
    label NaN here and True in `pooled`, for a gain below 0 means a forbidden document. What is
    missing in such a file was not in the pool.

    Hidden documents count as not retrieved: a relevant one adds nothing, but counts in the
    divisor. Unjudged documents take up places; those in the pool are expected to be relevant as
    often as the judged documents beside them. Forbidden documents are judged non-relevant. With its
    option -J, trec_eval takes unjudged documents out of the list before it infers anything;
    ``unjudged="drop"`` does not do so here.

    References
    ----------
    .. [1] Yilmaz and Aslam, "Estimating Average Precision with Incomplete and Imperfect
       Judgments", CIKM 2006.
    .. [2] Hui and Berberich, "Selective Labeling and Incomplete Label Mitigation for Low-Cost
       Evaluation", section 2.

    Examples
    --------
    The second relevant document stands at place 4, below three pooled documents. Of the two
    judged ones one is relevant: its precision is about ``1 / 4 + 3 / 4 * 1 / 2``.

    >>> from skfilterrank.metrics import inferred_ap_score
    >>> y_true, y_score = [1, 0, float("nan"), 1], [4, 3, 2, 1]
    >>> round(inferred_ap_score(y_true, y_score, groups=["a"] * 4), 4)
    0.8125

    If the unjudged document was not in the pool, two pooled documents are above the second
    relevant one: ``1 / 4 + 2 / 4 * 1 / 2``.

    >>> pooled = [True, True, False, True]
    >>> round(inferred_ap_score(y_true, y_score, groups=["a"] * 4, pooled=pooled), 4)
    0.75
    """
    judged = block.in_order(block.judged)
    pooled = _pooled_in_order(block)
    relevant, found = block.shows_relevant, block.relevant_cells
    # Subtract 1 from each count: it includes the document itself, which is relevant, judged and
    # pooled.
    n_relevant = found.levels - 1
    n_judged = found.count(judged) - 1 if block.has_unjudged else found.places
    if pooled is None:
        n_pooled = found.places
    elif np.array_equal(pooled, judged):
        n_pooled = n_judged
    else:
        n_pooled = found.count(pooled) - 1
    precision_above = (n_relevant + EPSILON) / (n_judged + 2 * EPSILON)
    total = found.total((1 + n_pooled * precision_above) / (found.places + 1))
    if (ties := block.ties()) is not None:
        pooled = np.ones_like(judged) if pooled is None else pooled
        columns = (matrix[ties.lists].astype(np.float64) for matrix in (relevant, judged, pooled))
        arguments = (ties, *columns, EPSILON)
        total[ties.lists] = mean_inferred_precision(*arguments).sum(axis=1)
    return ratio(total, block.n_relevant)


inferred_ap_score = Measure(
    "inferred_ap",
    _inferred_ap,
    aliases=("infAP",),
    additive=inferred_ap_sum,
    undefined="the query has no relevant document",
    value_range=(0, 1),
    columns={"pooled": check_pooled},
    reads_unjudged=True,
)


def _stat_ap(block: ListBlock):
    """Average precision, estimated from a sample of known inclusion probabilities.

    Use it if judged documents were drawn with different probabilities, for example more often near
    the top of rankings. Each relevant document has the weight 1 / probability: a document that was
    drawn with probability 1/4 counts as four.

    Parameters
    ----------
    inclusion_probability : array-like of shape (n_rows,), default=None
        Probability, above 0 and up to 1, with which the sampling judges each row. For unjudged rows
        it is not used; any number from 0 to 1 or NaN is accepted. None means 1 for all rows:
        unjudged documents are then not relevant.

    See Also
    --------
    inferred_ap_score : For uniform samples of a pool.

    Notes
    -----
    The estimator of Horvitz and Thompson for the sum of precisions and for the number of relevant
    documents [1]_, where any two documents i and j are drawn with probability ``pi_i * pi_j``:

    ``statAP = sum of 1 / pi_i * precision(i) / sum of 1 / pi_i``

    over the judged relevant documents i: only retrieved ones in the numerator, all of them in the
    denominator. The precision at the place r of document i is estimated by
    ``(1 + sum of 1 / pi_j) / r`` over the relevant documents j above it. Both sums are unbiased
    estimates if documents are drawn independently. Their ratio has a small bias, and may exceed 1.
    With all probabilities 1 it is average precision.

    Hidden documents count as not retrieved: a relevant one counts only in the denominator.
    Unjudged documents take up places; the weights of judged documents account for them. Forbidden
    documents are judged non-relevant.

    References
    ----------
    .. [1] Aslam and Pavlu, "A Practical Sampling Strategy for Efficient Retrieval Evaluation",
       technical report, Northeastern University, 2007.

    Examples
    --------
    Relevant documents at places 1 and 3, of which the second stands for two. The sum of
    precisions is ``1 + 2 * (1 + 1) / 3``, the number of relevant documents 3.

    >>> from skfilterrank.metrics import stat_ap_score
    >>> y_true, y_score, nan = [1, float("nan"), 1], [3, 2, 1], float("nan")
    >>> value = stat_ap_score(
    ...     y_true, y_score, groups=["a"] * 3, inclusion_probability=[1, nan, 0.5]
    ... )
    >>> round(value, 4)
    0.7778
    """
    probability = block.column("inclusion_probability", 1.0)
    if probability is None:
        weights, n_relevant = block.relevant, block.n_relevant
    else:
        weights = _inverse(probability, block)
        n_relevant = weights.sum(axis=1)
    if block.ties() is None:
        found = block.relevant_cells
        weight, above = _weights_above(block, weights, probability is not None)
        total = found.total(weight * (1 + above) / (found.places + 1))
    else:
        products = block.ranked_products(weights, weights, None) + block.ranked(weights, None)
        total = products @ (1 / np.arange(1.0, block.width + 1))
    return ratio(total, n_relevant)


stat_ap_score = Measure(
    "stat_ap",
    _stat_ap,
    needs_columns=True,
    undefined="the query has no relevant document",
    value_range=(0, np.inf),
    columns={"inclusion_probability": check_inclusion_probability},
    reads_unjudged=True,
)

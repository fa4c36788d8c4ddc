"""Measures from models of a user who walks down the list and stops: RBP and ERR."""

from functools import partial

import numpy as np

from skfilterrank._base.checks import check_number, check_share, one_of
from skfilterrank._lists.additive import Additive, Facts
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.scoring import first_places, geometric, reciprocal
from skfilterrank._lists.ties import mean_stops
from skfilterrank.exceptions import InputError
from skfilterrank.metrics._condensed import ranked_unjudged
from skfilterrank.metrics._unjudged_bounds import at_ends


def rbp_sum(facts: Facts) -> Additive:
    """Return RBP as a sum: each document adds (1 - p) p^(place - 1), times its gain if graded."""
    p = facts.option("persistence")
    relevance = facts.option("relevance")
    weights = facts.relevant if relevance == "binary" else np.maximum(facts.gains, 0.0)
    worth, scale = facts.by_place(partial(geometric, persistence=p)), "constant"
    if relevance == "scaled":
        weights = facts.over(facts.per_query(lambda block: block.best_first(1)[:, 0]), weights)
        scale = "weighted"
    return Additive(weights, worth, scale=scale, scale_depth=1)


def _satisfied(gains, max_grade):
    """Compute the probability that a document satisfies the user: R of the paper."""
    result = np.zeros(gains.shape)
    relevant = np.flatnonzero(gains > 0)
    grades = gains.ravel()[relevant]
    # For grades below 1, 2**grade - 1 would lose digits; from 1 up, it is exact for whole grades.
    powers = np.where(grades < 1, np.expm1(np.log(2) * grades), np.exp2(grades) - 1)
    result.ravel()[relevant] = powers * 2.0**-max_grade
    return result


def _deciding_of_rbp(found, relevance, **options):
    """Return no number, unless the highest gain of the list scales all others."""
    return None if relevance == "scaled" else at_ends(found)


def _rbp(block: ListBlock, k, *, persistence: float = 0.8, relevance: str = "binary"):
    """Rank-biased precision: the rate of relevant documents that a patient user sees.

    The user looks at the first document, and after each goes on to the next with the same
    probability. It does not use the number of relevant documents, so values are comparable where
    that number is unknown; a query with few relevant documents cannot reach 1.

    Parameters
    ----------
    persistence : float, default=0.8
        Probability of going on to the next document, above 0 and below 1. 0.5 is an impatient
        user, who sees 2 documents on average, 0.8 sees 5, 0.95 sees 20.
    relevance : {"binary", "graded", "scaled"}, default="binary"
        "binary" counts every gain above 0 as 1. "graded" counts gains as given, which must not be
        above 1. "scaled" divides them by the greatest gain of the query's pool.

    See Also
    --------
    err_score : Models a user who stops at good documents.
    precision_at_k_score : A user who looks at exactly k documents.

    Notes
    -----
    ``RBP = (1 - p) * sum of rel(i) * p**(i - 1)``, with p the persistence and ``rel(i)`` 1 where
    the i-th of the returned list has a gain above 0, else 0; or with ``relevance="graded"`` the
    gain itself, which [1]_ allows between 0 and 1. The ``rbp`` of trec_eval 10.0 is ``"trec_rbp"``,
    which is ``"rbp(persistence=0.9,relevance=scaled)"``: graded labels are divided by the query's
    greatest. ``RBP(p=0.9, rel=1)`` of ir_measures has the same value and works as a name here too;
    without ``rel``, ir_measures multiplies by the labels, and values may exceed 1.

    The places after the end of the list, or after `k`, count as not relevant; what they could have
    added at most is the residual ``p**min(k, length)``. A query with
    nothing relevant scores 0.

    Hidden documents leave no gap, and the user finds nothing where no documents are left:
    hiding relevant documents costs most at the top. Unjudged documents count as not relevant,
    and with ``unjudged="drop"`` are removed from the list. Forbidden documents are not relevant.

    References
    ----------
    .. [1] Moffat and Zobel, "Rank-Biased Precision for Measurement of Retrieval Effectiveness",
       ACM Transactions on Information Systems 27(1), 2008.

    Examples
    --------
    >>> from skfilterrank.metrics import rbp_score
    >>> y_true, groups = [1, 0, 2, 0], ["a"] * 4

    ``(1 - 0.5) * (0.5**0 + 0.5**2)``:

    >>> rbp_score(y_true, [4, 3, 2, 1], groups=groups, persistence=0.5)
    0.625
    >>> rbp_score(y_true, [4, float("-inf"), 2, 1], groups=groups, persistence=0.5)
    0.75
    """
    if relevance == "binary":
        relevant = block.ranked_relevant(k)
    elif relevance == "scaled":
        gains = np.maximum(block.gains, 0.0)
        highest = gains.max(axis=1, keepdims=True)
        relevant = block.ranked(gains / np.where(highest > 0, highest, 1.0), k)
    else:
        highest = block.gains.max()
        if highest > 1:
            raise InputError(
                f"a gain of {highest:g} is above 1: with relevance='graded' a gain is the share of "
                "a fully relevant document, so map labels to gains up to 1, such as "
                "{gains={0: 0, 1: 0.5, 2: 1}}.",
                argument="gains={0: 0, 1: 0.5, 2: 1}",
            )
        relevant = block.ranked(np.maximum(block.gains, 0.0), k)
    return relevant @ geometric(first_places(relevant.shape[1]), persistence)


rbp_score = Measure(
    "rbp",
    _rbp,
    intervals_cover=True,
    additive=rbp_sum,
    deciding=_deciding_of_rbp,
    undefined="never",
    value_range=(0, 1),
    options={"persistence": check_share, "relevance": one_of("binary", "graded", "scaled")},
    option_aliases={"p": "persistence"},
    aliases=("trec_rbp",),
    presets={"trec_rbp": {"persistence": 0.9, "relevance": "scaled"}},
)


def _rbp_residual(block: ListBlock, k, *, persistence: float = 0.8):
    """Residual of RBP: the most that unjudged documents could add to it, as in trec_eval.

    Parameters
    ----------
    persistence : float, default=0.8
        As of `rbp_score`. trec_eval's name "rbp_resid" takes 0.9.

    See Also
    --------
    rbp_score : With binary relevance, the true value is from it to their sum.
    unjudged_bounds : Bounds of any measure.

    Notes
    -----
    ``sum of (1 - p) p^(i - 1)`` over the places i of unjudged documents among the first k of the
    returned list. Documents behind the m places that are shown there add ``p^m``. As in trec_eval,
    and unlike in [1]_, a list without an unjudged document has 0. Here ``ties="worst"`` has the
    unjudged documents of a tie first, and ``ties="best"`` last, whatever the gains.

    Hidden documents leave no gap. Unjudged documents are those that may be relevant, also with
    ``unjudged="drop"``.

    References
    ----------
    .. [1] Moffat and Zobel, "Rank-Biased Precision for Measurement of Retrieval Effectiveness",
       TOIS 2008.

    Examples
    --------
    >>> from skfilterrank.metrics import get_measure
    >>> residual = get_measure("rbp_residual(persistence=0.5)")
    >>> residual([1, float("nan")], [2, 1], groups=["a"] * 2)  # 0.25 at place 2, 0.25 behind
    0.5
    """
    marks = ranked_unjudged(block, k)
    behind = persistence ** np.minimum(block.n_retained, block.depth(k))
    weights = geometric(first_places(marks.shape[1]), persistence)
    has_unjudged = ranked_unjudged(block, None).any(axis=1)
    return np.where(has_unjudged, marks @ weights + behind, 0.0)


rbp_residual_score = Measure(
    "rbp_residual",
    _rbp_residual,
    aliases=("rbp_resid",),
    presets={"rbp_resid": {"persistence": 0.9}},
    option_aliases={"p": "persistence"},
    greater_is_better=False,
    reads="judged",
    order_matters="never",
    undefined="never",
    value_range=(0, 1),
    reads_unjudged=True,
    options={"persistence": check_share},
)


def _err(block: ListBlock, k, *, max_grade: float = 4):
    """Expected reciprocal rank: one over the place where a user is satisfied.

    Each document satisfies the user with a probability that grows with its grade, and then she
    stops: what comes after a highly relevant document hardly counts. For graded labels where one
    good answer is enough.

    Parameters
    ----------
    max_grade : float, default=4
        Highest grade of the relevance scale, whether or not it occurs in these data. It decides
        how much each grade satisfies, so values can only be compared where it is the same. At
        most 50; a gain above it is an error.

    See Also
    --------
    reciprocal_rank_score : Models a user who stops at the first relevant document.
    rbp_score : Models a user whose stopping does not depend on the documents.

    Notes
    -----
    ``ERR = sum of (1 / i) * R(i) * product of (1 - R(j)) for j < i`` over the first k places of the
    returned list, where a document of gain g satisfies with the probability
    ``R = (2**g - 1) / 2**max_grade`` [1]_; gains below 0 count as 0. The exponential is part of the
    measure: with labels as grades, leave ``gains=None``.

    `max_grade` is never taken from the data, where it would change with each fold or each query
    set. The default is that of the five-grade scales (0 to 4) for which the measure was made, and
    of TREC's gdeval. On binary labels ``max_grade=1`` gives relevant documents R = 1/2.

    The mean over tied orders is exact.

    Hidden documents leave no gap: hiding documents that do not satisfy improves the value of
    those below them. Unjudged documents have gain 0, and with ``unjudged="drop"`` are removed from
    the list. Forbidden documents satisfy nobody, and only take places.

    References
    ----------
    .. [1] Chapelle, Metzler, Zhang and Grinspan, "Expected Reciprocal Rank for Graded Relevance",
       CIKM 2009.

    Examples
    --------
    >>> from skfilterrank.metrics import err_score
    >>> y_true, groups = [1, 0, 2], ["a"] * 3

    With grades up to 2, label 1 satisfies with probability 1/4 and label 2 with 3/4:
    ``1/1 * 1/4 + 1/3 * (1 - 1/4) * 3/4``.

    >>> err_score(y_true, [3, 2, 1], groups=groups, max_grade=2)
    0.4375
    >>> err_score(y_true, [2, 1, 3], groups=groups, max_grade=2)
    0.78125
    """
    highest = block.gains.max()
    if highest > max_grade:
        raise InputError(
            f"a gain of {np.format_float_positional(highest, trim='-')} is above "
            f"max_grade={max_grade:g}: pass max_grade, the highest grade of the scale (the same "
            "for all data that are compared). ERR takes 2**gain - 1 by itself, so labels need no "
            "{gains='exp2'}.",
            argument="gains='exp2'",
        )
    chances = _satisfied(block.only_retained(block.in_order(block.gains, k)), max_grade)
    stops = chances.copy()
    # A difference of products would lose digits, since probabilities may be as small as 2**-50.
    stops[:, 1:] *= np.cumprod(1 - chances[:, :-1], axis=1)
    if (ties := block.ties(k)) is not None:
        shown = block.only_retained(block.in_order(block.gains))[ties.lists]
        stops[ties.lists] = mean_stops(ties, _satisfied(shown, max_grade), stops.shape[1])
    values = stops @ reciprocal(first_places(stops.shape[1]))
    return np.where(block.n_relevant > 0, values, np.nan)


err_score = Measure(
    "err",
    _err,
    deciding=at_ends,
    undefined="no document of the query is relevant",
    value_range=(0, 1),
    # Up to grade 50, float64 can distinguish the highest grade's probability from 1.
    options={"max_grade": partial(check_number, above=0, most=50)},
)

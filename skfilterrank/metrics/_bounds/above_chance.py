"""How far above random rankings a ranking is, in their standard deviations."""

from functools import partial

import numpy as np

from skfilterrank._lists.additive import BlockFacts, first_places
from skfilterrank._lists.checks import check_count
from skfilterrank._lists.floats import ROUNDING_OF_MEANS
from skfilterrank._lists.lists import ListBlock
from skfilterrank._lists.measure import ParsedMeasure, declare_measure
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metrics._bounds.inner_measure import plain_measure
from skfilterrank.metrics._bounds.simulated_rankings import SimulatedRankings, check_seed


def _check_measure(measure, name) -> ParsedMeasure:
    """A measure of the table for which higher is better."""
    inner = plain_measure(measure, name, "above_chance")
    if not inner.measure.greater_is_better:
        raise InputError(
            f"{name} must be one for which higher is better, got {brief(measure)}: above chance "
            "would be worse."
        )
    return inner


def above_chance(block: ListBlock, k, *, measure, n_samples, random_state):
    """(A - R) / sd."""
    inner = measure.with_cutoff(k)
    if block.tie_rule == "average" and "average" not in inner.measure.ties:
        block = block.with_ties(inner.measure.ties[0])
    kernel = inner.measure.bind(inner.k, inner.options)
    achieved = kernel(block)
    found = _exact_moments(block, inner)
    if found is None:
        rankings = SimulatedRankings(kernel, n_samples, random_state)
        numbers = rankings.pool_numbers(block)
        mean, error = rankings.results[numbers].T
        found = mean, error * np.sqrt(n_samples)
    mean, deviation = found
    values = np.full(len(achieved), np.nan)
    varies = deviation > ROUNDING_OF_MEANS * np.maximum(np.abs(mean), np.abs(achieved))
    np.divide(achieved - mean, deviation, out=values, where=varies)
    return values


def _exact_moments(block, inner):
    """Mean and deviation over all rankings of a sum of weight(document) * worth(place).

    None for other measures.
    """
    form = inner.as_sum(BlockFacts(inner, block))
    if form is None or form.uses_levels or form.finish or form.by_shown:
        return None
    n = np.maximum(block.n_judged, 1)
    weights = np.where(block.judged, form.weights, 0.0)
    mean = weights.sum(axis=1) / n
    spread = np.where(block.judged, weights - mean[:, None], 0.0)
    squares = (spread * spread).sum(axis=1)
    # Equal weights deviate by rounding from their mean, whatever the mean of the measure is.
    squares[np.abs(spread).max(axis=1) <= ROUNDING_OF_MEANS * np.abs(weights).max(axis=1)] = 0.0
    variance = squares / np.maximum(n - 1, 1)
    places, query = first_places(block.width).astype(np.int64), np.arange(len(n))[:, None]
    worth = np.broadcast_to(form.worth(places[None, :], None, query), weights.shape)
    worth = np.where(places <= block.n_judged[:, None], worth, 0.0)
    total, squares = worth.sum(axis=1), (worth * worth).sum(axis=1)
    # The worths of places that are drawn without replacement.
    apart = squares - total * total / n
    apart[apart <= ROUNDING_OF_MEANS * squares] = 0.0
    variance = variance * apart
    return form.offset + mean * total, np.sqrt(variance)


@declare_measure(
    "above_chance",
    above_chance,
    undefined="all rankings of its pool score the same",
    value_range=(-np.inf, np.inf),
    options={
        "measure": _check_measure,
        "n_samples": partial(check_count, least=2),
        "random_state": check_seed,
    },
)
def above_chance_score(*, measure: str = "dcg", n_samples: int = 1000, random_state=0):
    """Above chance: a measure in standard deviations above random rankings of the same documents.

    It makes queries with different shares of relevant documents comparable, as
    :func:`ul_normalized_score` does, and is centred: over random rankings its mean is 0 and its
    standard deviation 1, on every query.

    {parameters}
    measure : str, default="dcg"
        Any other name of the measure table for which higher is better, with a cut-off and options
        where wanted, such as "ap", "err@10" or "ndcg_f".
    n_samples : int, default=1000
        Number of random rankings drawn per query, for measures without a closed form alone.
    random_state : int, RandomState instance or None, default=0
        Seed of these.

    {returns}

    See Also
    --------
    ul_normalized_score : Between what a random and what a perfect ranking scores.
    random_ranking_bound : The mean over random rankings alone.

    Notes
    -----
    ``(A - R) / sd``, with R and sd the mean and the standard deviation of the measure A over all
    rankings of the query's n judged documents. For a sum of ``w(document) * d(place)`` over the
    list, such as DCG, nDCG_f, RBP, precision and recall, they are exact::

        R = mean(w) * sum(d),  sd^2 = sum((w - mean(w))^2) / (n - 1) * (sum(d^2) - sum(d)^2 / n)

    where the sums of d end at ``min(k, n)``. For other measures rankings are drawn, which depend
    on the seed and the gains of the query alone. A perfect ranking has no fixed value: it is the
    higher the more unlikely it is.

    Filtered documents lower A alone, as random rankings hide nothing. Unjudged documents take
    places in A's list and are not part of the random rankings. A measure that does not average
    over tied orders takes its own rule in place of "average".

    References
    ----------
    Karmaker Santu and Feng, "Joint Upper & Lower Bound Normalization for IR Evaluation", 2022, for
    R; the standard deviation is that of sampling without replacement.

    Examples
    --------
    One of four documents is relevant. The precision at 1 is 1/4 in the mean, with a variance of
    3/16:

    >>> from skfilterrank.metrics import above_chance_score
    >>> how = {"groups": ["a"] * 4, "k": 1, "measure": "precision"}
    >>> above_chance_score([1, 0, 0, 0], [4, 3, 2, 1], **how)  # (3/4) / sqrt(3/16)
    1.732...
    >>> above_chance_score([1, 0, 0, 0], [3, 4, 2, 1], **how)
    -0.577...
    """

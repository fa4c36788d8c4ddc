"""Expected value of every prefix of a list, from probabilities of its documents' gains."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from skfilterrank._base.rounding import mean_tolerance
from skfilterrank._lists.additive import RowFacts
from skfilterrank._lists.entry_steps import Entries, changes_of_measure
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.prefixes import Ranking
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.scoring import inverse_dcg_span
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metrics import f_score, ndcg_f_score

# Number of draws of all gains of a list; fewer if the measure is computed prefix by prefix.
N_DRAWS = 128
_N_DRAWS_BY_PREFIX = 32
# Number of scores of a list from which on tied documents count as ranked worst first.
_MOST_TIED = 48
# Largest number of drawn rows that are measured at once.
_MOST_DRAWN = 1 << 20
# Block size for draws, chosen to fit the cache.
_MOST_CELLS = 1 << 12
# Number of places whose draws are made and kept together.
_PART = 256


class ExpectedSteps(NamedTuple):
    """Expected change of a measure when each document is added to the documents above it.

    Documents of equal score are added together; each gets the mean of their changes.

    Attributes
    ----------
    ranking : Ranking
        The ranked lists.
    start : ndarray of shape (n_queries,), float64
        Expected value where nothing is shown.
    rises, falls : ndarray of shape (n_rows,), float64
        Expected increase and decrease by the row, both at least 0; 0 if the score is -inf. A
        document that is good in some draws and bad in others has both.
    """

    ranking: Ranking
    start: np.ndarray
    rises: np.ndarray
    falls: np.ndarray


def expected_steps(
    parsed: ParsedMeasure,
    gains,
    chances,
    scores,
    index: GroupIndex,
    *,
    correlation=0.0,
    plug_in=False,
) -> ExpectedSteps:
    """Compute the expected change of a measure by each document of ranked lists.

    Parameters
    ----------
    parsed : ParsedMeasure
        The measure; changes have the sign by which higher is better.
    gains : ndarray of shape (n_levels,), float64
        The possible gains, ascending.
    chances : ndarray of shape (n_levels - 1, n_rows), float64
        P(gain >= level) of each row, for each level but the lowest.
    scores : ndarray of shape (n_rows,), float64
        Scores that rank the lists; rows with score -inf are ignored.
    index : GroupIndex
        The queries.
    correlation : float, default=0.0
        Correlation of the latent normal variables of two documents of a query.
    plug_in : bool, default=False
        Compute F from expected numbers of relevant documents: faster than draws, but less exact.

    Returns
    -------
    ExpectedSteps
        Exact if the measure is a sum of terms that depend on gain and place, such as DCG and RBP;
        otherwise the mean over fixed draws.
    """
    gains, chances = np.asarray(gains, dtype=np.float64), np.asarray(chances)
    ranking = Ranking(scores, index)
    if is_plain_ndcg_f(parsed):
        return _steps_of_ndcg_f(parsed.k, gains, chances, ranking, correlation)
    if (weights := _weights_of_gains(parsed, gains)) is not None:
        return _steps_of_sum(weights, parsed, chances, ranking)
    if plug_in and parsed.measure is f_score and parsed.k is None:
        beta = parsed.options.get("beta", parsed.measure.defaults["beta"])
        beta = parsed.measure.options["beta"](beta, "beta")
        return _steps_of_f(beta * beta, gains, chances, ranking)
    return _steps_of_draws(parsed, gains, chances, ranking, correlation)


def known_steps(parsed: ParsedMeasure, gains, scores, index) -> np.ndarray:
    """Return the change of a measure by each document of judged lists.

    Parameters
    ----------
    parsed : ParsedMeasure
        The measure; changes have the sign by which higher is better.
    gains : ndarray of shape (n_rows,), float64
        Gain of each row, NaN where unjudged.
    scores : ndarray of shape (n_rows,), float64
        Scores that rank the lists.
    index : GroupIndex
        The queries.

    Returns
    -------
    ndarray of shape (n_rows,), float64
        Changes; tied documents share the mean of their changes. 0 if the score is -inf.
    """
    ranking = Ranking(scores, index)
    number = ranking.tie_number
    keys = np.where(ranking.scores > -np.inf, -number.astype(np.float64), -np.inf)
    codes = np.repeat(np.arange(len(ranking.sizes)), ranking.sizes)
    lists = RankedLists(gains[ranking.order], keys, groups=GroupIndex.from_groups(codes))
    _, changes = _changes(lists, parsed, int(number.max()) + 1)
    n_tied = np.bincount(codes * changes.shape[1] + number, minlength=changes.size)
    changes /= np.maximum(n_tied.reshape(changes.shape), 1)
    return ranking.by_row(np.where(keys > -np.inf, changes[codes, number], 0.0))


def check_has_prefix_values(parsed: ParsedMeasure, who: str) -> None:
    """Raise for a measure without an expected value of each prefix of a list."""
    measure = parsed.measure
    if measure.reads_unjudged:
        why = "is defined by which documents are unjudged"
    elif measure.columns:
        why = f"reads another column of each row ({', '.join(measure.columns)})"
    else:
        return
    raise InputError(
        f"{{measure={brief(parsed.text)}}} {why}, so it has no expected value for each prefix of a "
        f"list: {{{who}}} supports measures such as 'ndcg_f', 'f', 'dcg', 'ap' and 'rbp'.",
        argument=(f"measure={brief(parsed.text)}", who),
    )


def is_plain_ndcg_f(parsed: ParsedMeasure) -> bool:
    """Tell whether the measure is nDCG_f without options that change judgments."""
    return parsed.measure is ndcg_f_score


def best_prefix_of_steps(steps: ExpectedSteps) -> np.ndarray:
    """Return a mask of the rows in the prefix of the highest value of each list.

    Parameters
    ----------
    steps : ExpectedSteps
        Expected changes.

    Returns
    -------
    ndarray of shape (n_rows,), bool
        Mask of these rows, as of :meth:`Ranking.best_prefix`.
    """
    ranking = steps.ranking
    sums = ranking.running_sums((steps.rises - steps.falls)[ranking.order])
    return ranking.best_prefix(sums, mean_tolerance(np.append(steps.rises, steps.falls)))


def path_keys(steps: ExpectedSteps) -> np.ndarray:
    """Return the highest factor on `falls` at which the best prefix of a list holds the row.

    The value of a prefix is ``sum(rises) - factor * sum(falls)``. The best prefix gets
    shorter as the factor grows; it always ends at a corner of the concave hull of the running sums.

    Parameters
    ----------
    steps : ExpectedSteps
        Expected changes.

    Returns
    -------
    ndarray of shape (n_rows,), float64
        Finite keys, which never rise down a list; documents of equal score share one.
    """
    ranking = steps.ranking
    is_listed, ties = ranking.scores > -np.inf, ranking.ties
    # Tied rows enter as one step.
    rise = np.add.reduceat(np.where(is_listed, steps.rises[ranking.order], 0.0), ties)
    fall = np.add.reduceat(np.where(is_listed, steps.falls[ranking.order], 0.0), ties)
    n_ties = np.add.reduceat(ranking.is_first_of_tie, ranking.starts, dtype=np.intp)
    return ranking.by_row(np.repeat(hull_slopes(rise, fall, n_ties), ranking.n_tied))


def hull_slopes(rise, fall, sizes) -> np.ndarray:
    """Return the slope at each step of the concave hull over several sequences of steps.

    Parameters
    ----------
    rise, fall : ndarray of shape (n_steps,), float64
        Vertical length of each step (any sign), and horizontal length (at least 0).
    sizes : ndarray of shape (n_lists,), int
        Lengths of the consecutive sequences.

    Returns
    -------
    ndarray of shape (n_steps,), float64
        Slopes, which never rise within a sequence; the largest float for vertical steps.
    """
    index = GroupIndex.from_groups(np.repeat(np.arange(len(sizes)), sizes))
    slopes = np.empty(len(rise))
    for block in index.blocks():
        up, right = index.take(rise, block, 0.0), index.take(fall, block, 0.0)
        index.put(slopes, block, _hulls_of_block(up, right, block.sizes))
    return slopes


def _hulls_of_block(up, right, sizes):
    """Compute hull slopes of one sequence per row: steps merge while the later one is steeper."""
    n_lists, width = up.shape
    own = np.arange(n_lists)
    ups, rights = np.zeros((n_lists, width + 1)), np.zeros((n_lists, width + 1))
    firsts = np.zeros((n_lists, width + 1), dtype=np.intp)
    top = np.full(n_lists, -1)
    for place in range(width):
        lists = own[place < sizes] if sizes[0] <= place else own
        top[lists] += 1
        ups[lists, top[lists]], rights[lists, top[lists]] = up[lists, place], right[lists, place]
        firsts[lists, top[lists]] = place
        lists = lists[top[lists] > 0]
        while len(lists):
            last = top[lists]
            up_last, right_last = ups[lists, last], rights[lists, last]
            up_first, right_first = ups[lists, last - 1], rights[lists, last - 1]
            is_steeper = up_last * right_first >= up_first * right_last
            # Cross products do not distinguish upward from downward vertical steps.
            of_vertical = np.where(right_last == 0, up_last >= 0, up_first < 0)
            lists = lists[np.where(right_first == 0, of_vertical, is_steeper)]
            last = top[lists]
            ups[lists, last - 1] += ups[lists, last]
            rights[lists, last - 1] += rights[lists, last]
            top[lists] -= 1
            lists = lists[top[lists] > 0]
    largest = np.finfo(np.float64).max
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slopes = np.clip(ups / rights, -largest, largest)
    # Without steps there is nothing to compute.
    slopes[np.isnan(slopes)] = largest
    starts = np.zeros((n_lists, width), dtype=np.intp)
    listed, number = np.nonzero(np.arange(width + 1) <= top[:, None])
    starts[listed, firsts[listed, number]] = 1
    return np.take_along_axis(slopes, np.cumsum(starts, axis=1) - 1, axis=1)


# Sums over documents.


def _weights_of_gains(parsed, gains):
    """Return the weight of a document for each gain; None if weights depend on the list."""
    form = parsed.as_sum(RowFacts(parsed, gains, GroupIndex.from_groups(np.zeros(len(gains)))))
    if (
        form is None
        or form.worth_of != "place"
        or form.by_shown
        or form.finish is not None
        or form.n_items is not None
        or form.is_defined is not None
        or not form.has_one_weight(form.weights)
    ):
        return None
    return form.weights if parsed.measure.greater_is_better else -form.weights


def _steps_of_sum(weights, parsed, chances, ranking):
    """Compute steps of a sum: the expected weight of each document times its place's discount."""
    # Discount of each place, up to the longest list.
    longest = np.zeros(max(1, int(ranking.sizes.max())))
    facts = RowFacts(parsed, longest, GroupIndex.from_groups(np.zeros(len(longest), dtype=int)))
    worth = parsed.as_sum(facts).worth(np.arange(1, len(longest) + 1), None, 0)[ranking.place]
    # A tied document is equally often at each place of its tie.
    worth = ranking.tie_means(worth)
    worth[np.isneginf(ranking.scores)] = 0.0
    of_place, of_kind = ranking.by_row(worth), _of_levels(chances)
    rises, falls = (np.maximum(part, 0.0) @ of_kind * of_place for part in (weights, -weights))
    return ExpectedSteps(ranking, np.zeros(len(ranking.sizes)), rises, falls)


def _steps_of_f(weight, gains, chances, ranking):
    """Compute steps of F from the expected numbers of found and of relevant documents."""
    is_listed = ranking.scores > -np.inf
    relevant = ((gains > 0) @ _of_levels(chances))[ranking.order]
    own = ranking.tie_means(np.where(is_listed, relevant, 0.0))
    found, shown = ranking.running_sums(own), ranking.place + 1.0
    m = np.repeat(found[ranking.starts + ranking.sizes - 1], ranking.sizes)
    with np.errstate(divide="ignore", invalid="ignore"):
        rise = own / (shown + weight * m)
        fall = (found - own) * (1.0 / (shown - 1.0 + weight * m) - 1.0 / (shown + weight * m))
    rises, falls = (
        np.where((m > 0) & is_listed, (1.0 + weight) * values, 0.0) for values in (rise, fall)
    )
    return ExpectedSteps(
        ranking,
        np.zeros(len(ranking.sizes)),
        ranking.by_row(ranking.tie_means(rises)),
        ranking.by_row(ranking.tie_means(falls)),
    )


def _of_levels(chances):
    """Return P(gain = level) for each level."""
    n_rows = chances.shape[1]
    edges = np.concatenate([np.ones((1, n_rows)), chances, np.zeros((1, n_rows))])
    return edges[:-1] - edges[1:]


# nDCG_f: only the normaliser E[1 / (I - W)] needs draws.


def _steps_of_ndcg_f(k, gains, chances, ranking, correlation):
    """Compute expected rises and falls of nDCG_f."""
    discount = 1.0 / np.log2(ranking.place + 2.0)
    if k is not None:
        discount[ranking.place >= k] = 0.0
    discount = ranking.tie_means(discount)
    worth = np.abs(expected_worth(gains, chances, ranking, k=k, correlation=correlation))
    rises, falls = (
        ranking.by_row(ranking.tie_means(part[ranking.order]) * discount) for part in worth
    )
    # The value when nothing is shown is -W / (I - W).
    return ExpectedSteps(ranking, np.zeros(len(ranking.sizes)), rises, falls)


def expected_worth(gains, chances, ranking, *, k, correlation=0.0) -> np.ndarray:
    """Compute E[max(gain, 0) / (I - W)] and E[min(gain, 0) / (I - W)] of each row.

    The result has shape (2, n_rows), with 0 where a row scores -inf.
    """
    index, place = ranking.index, ranking.by_row(ranking.place)
    is_listed = ranking.by_row(ranking.scores > -np.inf)
    chances = np.where(is_listed, chances, 0.0)
    parts = np.array([np.maximum(gains, 0.0), np.minimum(gains, 0.0)]).T
    rises = (parts[1:] - parts[:-1]) / N_DRAWS
    worth = np.zeros((len(place), 2))
    for block in index.blocks(max_cells=_MOST_CELLS):
        # Masks of shape (n_draws, n_queries, n_documents) of gains that reach each level.
        drawn = uniform(block.width, correlation)[:, index.take(place, block, 0)]
        reached = [drawn < index.take(row, block, 0.0) for row in chances]
        n_listed = index.take(is_listed, block, False).sum(axis=-1)
        n_reached = [each.sum(axis=-1) for each in reached]
        inverse = inverse_dcg_span(gains, n_reached, n_listed[None], k)
        means = np.empty((len(n_listed), block.width, 2))
        means[:] = (parts[0] * inverse.mean(axis=0)[:, None])[:, None]
        for rise, each in zip(rises, reached):
            means += rise * np.einsum("dq,dqn->qn", inverse, each)[:, :, None]
        index.put(worth, block, means)
    worth[~is_listed] = 0.0
    return worth.T


# Any other measure: the mean over draws of all gains.


def _steps_of_draws(parsed, gains, chances, ranking, correlation):
    """Compute expected rises and falls by the measure's own values for drawn gains."""
    order, starts, sizes = ranking.order, ranking.starts, ranking.sizes
    place, number, measure = ranking.place, ranking.tie_number, parsed.measure
    n_listed = np.add.reduceat(ranking.scores > -np.inf, starts, dtype=np.intp)
    entry = number
    if _is_sum(parsed, gains):
        counted = number if parsed.k is None else np.where(place < parsed.k, number, 0)
        is_long = np.repeat(np.maximum.reduceat(counted, starts) >= _MOST_TIED, sizes)
        # Tied documents of long lists enter one by one, worst first: sums over places are fast.
        entry = np.where(is_long, place, number)
        if is_long.any():
            mean = np.where(is_long, np.diff(gains) @ chances[:, order], 0.0)
            order = order[np.lexsort((mean, number, np.repeat(np.arange(len(sizes)), sizes)))]
    is_fast = measure.additive is not None or (parsed.k is None and measure.of_set is not None)
    levels, n_draws = chances[:, order], N_DRAWS if is_fast else _N_DRAWS_BY_PREFIX
    start, rises, falls = np.zeros(len(sizes)), np.zeros(len(order)), np.zeros(len(order))
    queries = np.flatnonzero(n_listed)
    # Number of lists per block, limited by the number of drawn rows.
    part = np.cumsum(n_listed[queries]) * n_draws // _MOST_DRAWN
    for chosen in np.split(queries, np.flatnonzero(np.diff(part)) + 1) if len(queries) else ():
        # Hidden rows are last in each list, and are left out.
        own = n_listed[chosen]
        code = np.repeat(np.arange(len(chosen)), own)
        rows = np.arange(len(code)) + np.repeat(starts[chosen] - np.cumsum(own) + own, own)
        drawn = uniform(int(own.max()), correlation, n_draws)[:, place[rows]]
        level = np.zeros(drawn.shape, dtype=np.intp)
        for row in levels[:, rows]:
            level += drawn < row
        codes = (np.arange(n_draws)[:, None] * len(chosen) + code).ravel()
        lists = RankedLists(
            gains[level].ravel(),
            -np.tile(entry[rows], n_draws).astype(np.float64),
            groups=GroupIndex.from_groups(codes),
        )
        width = int(entry[rows].max()) + 1
        starting, changes = _changes(lists, parsed, width)
        start[chosen] = starting.reshape(n_draws, -1).mean(axis=0)
        # One column for each entry, then one for each tie.
        cell, tie = code * width + entry[rows], np.append(True, np.diff(number[rows]) != 0)
        tie |= np.append(True, np.diff(code) != 0)
        is_new = np.append(True, np.diff(cell) != 0)
        changes = changes.reshape(n_draws, -1)[:, cell[is_new]]
        if not tie[is_new].all():
            changes = np.add.reduceat(changes, np.flatnonzero(tie[is_new]), axis=1)
        n_tied = np.diff(np.flatnonzero(tie), append=len(rows))
        for target, part_of in ((rises, changes), (falls, -changes)):
            # The rows of a tie share its change equally.
            target[rows] = np.repeat(np.maximum(part_of, 0.0).mean(axis=0) / n_tied, n_tied)
    by_row = np.empty((2, len(order)))
    by_row[:, order] = rises, falls
    return ExpectedSteps(ranking, start, *by_row)


def _is_sum(parsed, gains):
    """Tell whether the measure computes all prefixes of lists without ties at once."""
    if parsed.k is None and parsed.measure.of_set is not None:
        return True
    form = parsed.as_sum(RowFacts(parsed, gains, GroupIndex.from_groups(np.zeros(len(gains)))))
    return form is not None and not form.by_shown


def _changes(lists, parsed, width):
    """Compute each list's value when nothing is shown, and the change at each of `width` steps.

    Higher is better. Scores are minus the numbers of steps.
    """
    measure, n_lists = parsed.measure, lists.index.n_queries
    start, changes = np.zeros(n_lists), np.zeros((n_lists, width))
    entries = Entries(lists.with_ties(measure.ties[0]))
    for part in changes_of_measure(entries, parsed, 0.0):
        n_own, is_step = len(part.queries), part.keys < np.inf
        cells = (np.arange(n_own)[:, None] * width + part.keys)[is_step].astype(np.intp)
        found = np.bincount(cells, part.changes[is_step], n_own * width)
        start[part.queries], changes[part.queries] = part.start, found.reshape(n_own, width)
    sign = 1.0 if measure.greater_is_better else -1.0
    return sign * start, sign * changes


def uniform(n_places, correlation, n_draws=N_DRAWS):
    """Return numbers in (0, 1) for each draw and place, evenly spread over the draws.

    The numbers of a place do not depend on the length of the list.
    """
    parts = [_uniform_part(at, correlation, n_draws) for at in range(0, n_places, _PART)]
    return (parts[0] if len(parts) == 1 else np.hstack(parts))[:, :n_places]


@lru_cache(maxsize=256)
def _uniform_part(first, correlation, n_draws):
    even = (np.arange(n_draws) + 0.5) / n_draws
    normal = ndtri(even)
    own = np.tile(normal, (_PART, 1))
    # Seeding one generator again is much faster than making one for each place.
    rng = np.random.RandomState(0)
    for place, row in enumerate(own, first):
        rng.seed(place)
        rng.shuffle(row)
    shared = np.sqrt(correlation) * normal
    order = np.argsort(shared + np.sqrt(1.0 - correlation) * own, axis=1)
    np.put_along_axis(own, order, np.broadcast_to(even, own.shape), axis=1)
    return own.T

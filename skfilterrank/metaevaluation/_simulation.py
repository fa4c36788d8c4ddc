"""Random rankings against each other: who agrees with the worst case, and who cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skfilterrank._lists.checks import as_list, check_count, check_counts, check_random_state
from skfilterrank._lists.measure_names import parse_measures
from skfilterrank.exceptions import InputError, brief
from skfilterrank.metaevaluation._recall_levels import resolve_measure


def simulate_agreement(
    n_items: int | ArrayLike,
    *,
    n_queries: int = 10_000,
    n_relevant=(5, 50),
    measures: Sequence = ("tse", "recall@1000", "r_precision", "ap", "ndcg", "random"),
    exposure: str | Callable = "ap",
    persistence: float = 0.8,
    random_state=0,
) -> pd.DataFrame:
    """How often a measure prefers the one of two random rankings with the better worst case.

    Parameters
    ----------
    n_items : int or array-like of shape (n_sizes,)
        Number of ranked items; one row of the result for each.
    n_queries : int, default=10000
        Number of pairs of rankings.
    n_relevant : int or (int, int), default=(5, 50)
        Number of relevant items, or the least and the greatest of which each query's number is
        drawn uniformly, both included.
    measures : sequence of str or callable
        As in :func:`recall_level_metric`; and "lexirecall" and "lexiprecision", which decide by
        the last and the first position that differs, and "random", a coin. The column of a
        callable has its ``__name__``.
    exposure : {"ap", "ndcg", "rbp"} or callable, default="ap"
        Exposure of a position, for "tse".
    persistence : float, default=0.8
        Probability of going on to the next position, in (0, 1), for "rbp".
    random_state : int, RandomState instance or None, default=0
        Seed of the rankings; an int repeats exactly.

    Returns
    -------
    DataFrame of shape (n_sizes, 1 + n_metrics)
        Index "n_items". Column "tied" is the share of pairs with equal worst cases. Each measure's
        column is the share of the *other* pairs in which it prefers the ranking with the better
        worst case, NaN where there are none; where it finds the two equal it does not agree.

    Raises
    ------
    ValueError
        If a number is out of range or a measure unknown.

    See Also
    --------
    worst_case_searcher : The worst case of one ranking.

    Notes
    -----
    Section 4.3 and Table 1 of [1]_. The worst case of a random ranking is decided by the position
    of its last relevant item (theorem A.1), so pairs are drawn as sets of positions; no ranking of
    all items is made. Which pairs count is not printed: these are the ones that give TSE 1.000 and
    recall@1000, at 1,000 items equal for all rankings, 0.000, as in the table.

    The paper says of the table that recall@1000 and R-precision agree less often than a coin. A
    coin always decides, and they often do not: of the pairs that both decide, recall@1000 agrees
    in 51 % to 53 %, as its dependence on the last position suggests.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 4.3.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import simulate_agreement
    >>> simulate_agreement([1000, 10**6], measures=["tse", "r_precision"], random_state=0).round(1)
             tied  tse  r_precision
    n_items
    1000      0.0  1.0          0.3
    1000000   0.0  1.0          0.0
    """
    sizes, compare = check_counts(n_items, "n_items"), _comparisons(measures, exposure, persistence)
    n_queries = check_count(n_queries, "n_queries")
    bounds = _check_bounds(n_relevant, sizes.min())
    rng = check_random_state(random_state)
    rows = []
    for size in sizes:
        orders: list[np.ndarray] = []
        preferences: dict[str, list] = {name: [] for name in compare}
        for first, second in _random_pairs(rng, int(size), n_queries, bounds):
            orders.append(np.sign(second[:, -1] - first[:, -1]))
            for name, prefers in compare.items():
                preferences[name].append(prefers(first, second, rng))
        worst = np.concatenate(orders)
        decided: np.ndarray = worst != 0
        row = {"tied": 1 - decided.mean()}
        for name, parts in preferences.items():
            agrees = (np.concatenate(parts) == worst)[decided]
            row[name] = agrees.mean() if len(agrees) else np.nan
        rows.append(row)
    return pd.DataFrame(rows, index=pd.Index(sizes, name="n_items"))


def simulate_ties(
    n_items: int = 250_000,
    *,
    depths=(10, 100, 1_000, 10_000, 100_000, 250_000),
    n_queries: int = 10_000,
    n_relevant=(5, 50),
    measures: Sequence = ("lexirecall", "tse", "recall@1000", "r_precision", "ap", "ndcg"),
    exposure: str | Callable = "ap",
    persistence: float = 0.8,
    random_state=0,
) -> pd.DataFrame:
    """How often two random rankings are equal when only their first places are returned.

    Parameters
    ----------
    n_items : int, default=250000
        Number of items in the corpus.
    depths : int or array-like of shape (n_depths,)
        Numbers of places that are returned, up to `n_items`. Relevant items further down take the
        last positions of the corpus (pessimistic imputation).
    n_queries : int, default=10000
        Number of pairs of rankings; the same pairs serve all depths.
    n_relevant : int or (int, int), default=(5, 50)
        Number of relevant items, or the least and the greatest of which each query's number is
        drawn uniformly, both included.
    measures : sequence of str or callable
        As in :func:`simulate_agreement`.
    exposure : {"ap", "ndcg", "rbp"} or callable, default="ap"
        Exposure of a position, for "tse".
    persistence : float, default=0.8
        Probability of going on to the next position, in (0, 1), for "rbp".
    random_state : int, RandomState instance or None, default=0
        Seed of the rankings; an int repeats exactly.

    Returns
    -------
    DataFrame of shape (n_depths, n_metrics)
        Index "depth"; the share of pairs with equal values.

    Raises
    ------
    ValueError
        If a number is out of range or a measure unknown.

    See Also
    --------
    tie_probability : Exactly, for complete rankings.

    Notes
    -----
    Figure 7 of [1]_. Values are compared as float64: measures that weight the last positions by
    less than the last bit of their value, such as "rbp", tie there too.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, sections 2.2 and 5.1.

    Examples
    --------
    >>> from skfilterrank.metaevaluation import simulate_ties
    >>> measures = ["lexirecall", "tse"]
    >>> simulate_ties(1000, depths=[10, 1000], measures=measures, random_state=0).round(1)
           lexirecall  tse
    depth
    10            0.6  1.0
    1000          0.0  0.0
    """
    n_items, compare = (
        check_count(n_items, "n_items"),
        _comparisons(measures, exposure, persistence),
    )
    n_queries = check_count(n_queries, "n_queries")
    depths = check_counts(depths, "depths", most=n_items)
    bounds = _check_bounds(n_relevant, n_items)
    rng = check_random_state(random_state)
    ties = np.zeros((len(depths), len(compare)))
    for first, second in _random_pairs(rng, n_items, n_queries, bounds):
        for row, depth in zip(ties, depths, strict=True):
            pair = [_imputed(positions, depth, n_items) for positions in (first, second)]
            row += [np.sum(prefers(*pair, rng) == 0) for prefers in compare.values()]
    return pd.DataFrame(
        ties / n_queries, index=pd.Index(depths, name="depth"), columns=list(compare)
    )


def _random_pairs(rng, n_items, n_queries, bounds):
    """Yield pairs of random sorted positions, the queries of one number of relevant items each."""
    numbers = rng.randint(bounds[0], bounds[1] + 1, size=n_queries)
    for n_relevant, n_pairs in zip(*np.unique(numbers, return_counts=True), strict=True):
        both = _random_positions(rng, n_items, int(n_relevant), 2 * int(n_pairs))
        yield both[:n_pairs], both[n_pairs:]


def _random_positions(rng, n_items, n_relevant, n_rankings):
    """Sets of positions drawn without replacement, ascending; Floyd's algorithm in all rows."""
    chosen = np.empty((n_rankings, n_relevant))
    for column in range(n_relevant):
        last = n_items - n_relevant + column + 1
        drawn = rng.randint(1, last + 1, size=n_rankings, dtype=np.int64)
        taken = (chosen[:, :column] == drawn[:, None]).any(axis=1)
        chosen[:, column] = np.where(taken, last, drawn)
    chosen.sort(axis=1)
    return chosen


def _imputed(positions, depth, n_items):
    """Positions in the whole corpus of rankings of which `depth` places are returned."""
    n_relevant = positions.shape[1]
    at_the_end = np.arange(n_items - n_relevant + 1, n_items + 1, dtype=np.float64)
    return np.where(positions > depth, at_the_end, positions)


def _comparisons(measures, exposure, persistence):
    """By column name, functions to +1 where the first of two rankings is better, -1, or 0."""
    if isinstance(measures, str) or callable(measures):
        raise InputError(
            f"measures must be a sequence of measures, e.g. ['tse'], got {brief(measures)}."
        )
    compare, measures = {}, as_list(measures, "measures", "measures, e.g. ['tse']")
    texts = [each for each in measures if isinstance(each, str) and each not in _PREFERENCES]
    if texts:
        parse_measures(texts)  # Which raises for all of them at once.
    for measure in measures:
        name = measure if isinstance(measure, str) else getattr(measure, "__name__", repr(measure))
        if name in compare or name == "tied":
            raise InputError(
                f"measures must have distinct names other than 'tied', got {brief(name)}."
            )
        if isinstance(measure, str) and measure in _PREFERENCES:
            compare[name] = _PREFERENCES[measure]
        else:
            values = resolve_measure(measure, exposure=exposure, persistence=persistence)
            compare[name] = _by_value(values)
    return compare


def _by_value(values):
    """Prefer the larger value."""
    return lambda first, second, _: np.sign(values(first) - values(second))


def _lexirecall(first, second, _):
    """Prefer by the last position that differs."""
    return _lexiprecision(first[:, ::-1], second[:, ::-1], _)


def _lexiprecision(first, second, _):
    """Prefer by the first position that differs."""
    column = (first != second).argmax(axis=1)[:, None]
    further = np.take_along_axis(second, column, 1) - np.take_along_axis(first, column, 1)
    return np.sign(further[:, 0])


def _coin(first, second, rng):
    """Prefer at random."""
    return 2.0 * rng.randint(2, size=len(first)) - 1


_PREFERENCES = {"lexirecall": _lexirecall, "lexiprecision": _lexiprecision, "random": _coin}


def _check_bounds(n_relevant, n_items):
    """Least and greatest number of relevant items."""
    bounds = check_counts(n_relevant, "n_relevant", most=int(n_items))
    if len(bounds) > 2:
        raise InputError(
            "n_relevant must be a whole number, or the least and the greatest of a range, got "
            f"{brief(n_relevant)}."
        )
    if bounds[0] > bounds[-1]:
        raise InputError(f"n_relevant must be (least, greatest), got {brief(n_relevant)}.")
    return int(bounds[0]), int(bounds[-1])

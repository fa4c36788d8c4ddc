"""How often two random rankings cannot be told apart."""

import numpy as np

from skfilterrank._lists.checks import check_count
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.exceptions import InputError, brief

_CHUNK = 2**20


def tie_probability(measure: str, n_items: int, n_relevant: int, *, k: int | None = None) -> float:
    """Probability that two rankings drawn at random have the same value.

    Parameters
    ----------
    measure : {"tse", "recall", "r_precision", "lexirecall"} or "recall@k"
        What the rankings are compared by: "tse" with any exposure that falls strictly with
        position; "lexirecall" by the positions of all relevant items (as lexiprecision does).
        "recall@1000" is "recall" with ``k=1000``.
    n_items : int
        Number n of ranked items, all of them in the list.
    n_relevant : int
        Number m of relevant items, from 1 to `n_items`.
    k : int, default=None
        Depth of "recall"; not for the others.

    Returns
    -------
    float
        A probability, to 1e-11 of its value or better; 0.0 where it is below the smallest float.

    Raises
    ------
    ValueError
        If `measure` is none of these, if `k` is missing or not wanted, or if a number is out of
        range.

    See Also
    --------
    simulate_ties : The same by simulation, for any measure and for shorter lists.

    Notes
    -----
    Section 5.3 and Table 2 of [1]_. Two independent uniform orders tie with the sum of the
    squares of the probabilities of each outcome, which are

    * "tse": ``C(i - 1, m - 1) / C(n, m)`` for the last position i (theorem A.9, whose statement
      drops the square; its proof and section 5.3 have it),
    * "recall": ``C(k, i) C(n - k, m - i) / C(n, m)`` for i items in the first k,
    * "r_precision": the same with k = m,
    * "lexirecall": ``1 / C(n, m)`` each, for all ``C(n, m)`` outcomes.

    They are built up from the ratios of neighbours, which needs no large number.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023, section 5.3 and
       appendix A.4.

    Examples
    --------
    Ten relevant items among a thousand:

    >>> from skfilterrank.metaevaluation import tie_probability
    >>> round(tie_probability("r_precision", 1000, 10), 5)
    0.82566
    >>> round(tie_probability("tse", 1000, 10), 5)
    0.00529
    >>> tie_probability("lexirecall", 1000, 10)
    3.796...e-24
    """
    entry, k, _ = parse_measure(measure).with_cutoff(k)
    n_items = check_count(n_items, "n_items")
    n_relevant = check_count(n_relevant, "n_relevant", most=n_items)
    if entry.name not in _PROBABILITIES:
        raise InputError(
            "measure must be 'tse', 'recall', 'r_precision' or 'lexirecall', got "
            f"{brief(measure)}: use simulate_ties for others."
        )
    if entry.name == "recall" and k is None:
        raise InputError("k is missing: measure='recall' needs the depth to look at, e.g. 1000.")
    return float(_PROBABILITIES[entry.name](n_items, n_relevant, k and min(k, n_items)))


def _last_position(n_items, n_relevant, _):
    """Sum of squared probabilities of the last relevant position."""
    # P(n) = m / n, and P(i) = P(i + 1) * (i + 1 - m) / i further up.
    probability = n_relevant / n_items
    total = probability**2
    for stop in range(n_items - 1, n_relevant - 1, -_CHUNK):
        i = np.arange(stop, max(stop - _CHUNK, n_relevant - 1), -1, dtype=np.float64)
        probabilities = probability * np.cumprod((i + 1 - n_relevant) / i)
        total += np.square(probabilities).sum()
        probability = probabilities[-1]
        # They fall, so that what is left is at most this.
        if probability**2 * i[-1] < 1e-17 * total:
            break
    return total


def _number_above(n_items, n_relevant, k):
    """Sum of squared probabilities of the number of relevant items in the first k positions."""
    least, most = max(0, n_relevant + k - n_items), min(k, n_relevant)
    mode = (k + 1) * (n_relevant + 1) // (n_items + 2)
    mode = min(max(mode, least), most)
    up = np.arange(mode, most, dtype=np.float64)
    down = np.arange(mode, least, -1, dtype=np.float64)
    missing = n_items - k - n_relevant
    weights = np.concatenate(
        [
            np.cumprod(down * (missing + down) / ((k - down + 1) * (n_relevant - down + 1)))[::-1],
            [1.0],
            np.cumprod((k - up) * (n_relevant - up) / ((up + 1) * (missing + up + 1))),
        ]
    )
    return np.square(weights).sum() / weights.sum() ** 2


def _all_positions(n_items, n_relevant, _):
    """One over the number of sets of positions."""
    chosen = np.arange(1, min(n_relevant, n_items - n_relevant) + 1, dtype=np.float64)
    return np.prod(chosen / (n_items - chosen + 1))


_PROBABILITIES = {
    "tse": _last_position,
    "recall": _number_above,
    "r_precision": lambda n_items, n_relevant, _: _number_above(n_items, n_relevant, n_relevant),
    "lexirecall": _all_positions,
}

"""Passages that a language model answers from, and lists against an order of preference."""

from math import exp, log

OPTIONS = {"compatibility": {"persistence": 0.5}, "harmful_compatibility": {"persistence": 0.5}}


def mean_utility(case):
    top = case.shown[: case.k]
    if not case.pool:
        return None
    return sum(gain if gain > 0 else gain / 3 for gain in top) / len(top) if top else 0.0


def rank_biased_overlap(left, right, k, persistence):
    """As a loop over depths, of the first k of two lists of documents, and the sum behind them."""
    left, right = left[:k], right[:k]
    total, behind = 0.0, -log(1 - persistence) / persistence
    for depth in range(1, max(len(left), len(right)) + 1):
        weight = persistence ** (depth - 1) / depth
        total += weight * len(set(left[:depth]) & set(right[:depth]))
        behind -= weight
    return total + behind * len(set(left) & set(right))


def overlap_with_ideal(shown, pool, k, persistence):
    """Of the gains of a list, and of all judged documents; None where none is above 0."""
    missing = list(pool)
    for gain in shown:
        if gain in missing:
            missing.remove(gain)
    documents = list(enumerate([*shown, *missing]))
    # Sorted by worth, documents of equal worth stay in the order of the list, the missing last.
    ideal = sorted((each for each in documents if each[1] > 0), key=lambda each: -each[1])
    if not ideal:
        return None
    best = rank_biased_overlap(ideal, ideal, k, persistence)
    return rank_biased_overlap(documents[: len(shown)], ideal, k, persistence) / best


def harmful(case, persistence=0.95):
    shown, pool = ([-gain for gain in gains] for gains in (case.shown, case.pool))
    return overlap_with_ideal(shown, pool, case.k, persistence)


def compatibility(case, persistence=0.95):
    helpful = overlap_with_ideal(case.shown, case.pool, case.k, persistence)
    harm = harmful(case, persistence)
    return None if helpful is None and harm is None else (helpful or 0) - (harm or 0)


REFERENCE = {"udcg": mean_utility, "compatibility": compatibility, "harmful_compatibility": harmful}
OF_THE_MEAN = {"udcg": lambda value, case: 1 / (1 + exp(-value))}

"""Measures for incomplete judgments."""

from math import isnan

EPSILON = 1e-5


def bpref(case):
    """trec_eval's rule."""
    n_relevant = sum(gain > 0 for gain in case.pool)
    n_nonrelevant = len(case.pool) - n_relevant
    if not n_relevant:
        return None
    total, above = 0.0, 0
    for gain in case.labels:
        if gain > 0:
            total += 1
            if above:
                total -= min(above, n_relevant) / min(n_relevant, n_nonrelevant)
        elif gain <= 0:
            above += 1
    return total / n_relevant


def induced_ap(case):
    n_relevant = sum(gain > 0 for gain in case.pool)
    if not n_relevant:
        return None
    condensed = [gain for gain in case.labels if not isnan(gain)][: case.k]
    precisions = [
        sum(above > 0 for above in condensed[:place]) / place
        for place, gain in enumerate(condensed, start=1)
        if gain > 0
    ]
    return sum(precisions) / n_relevant


def inferred_ap_of(labels, pooled, n_relevant):
    """The list as labels (None: unjudged) and whether each document was in the pool."""
    if not n_relevant:
        return None
    total = 0.0
    for i, label in enumerate(labels):
        if label is not None and label > 0:
            judged = [above for above in labels[:i] if above is not None]
            n_found = sum(above > 0 for above in judged)
            share = (n_found + EPSILON) / (len(judged) + 2 * EPSILON)
            total += (1 + sum(pooled[:i]) * share) / (i + 1)
    return total / n_relevant


def inferred_ap(case):
    """Every unjudged document was in the pool."""
    labels = [None if isnan(gain) else gain for gain in case.labels]
    n_relevant = sum(gain > 0 for gain in case.pool)
    return inferred_ap_of(labels, [True] * len(labels), n_relevant)


def stat_ap_of(weights, total):
    """The list as 1 / inclusion probability of the relevant, 0 for all others."""
    if not total:
        return None
    terms = [
        weight / place * (1 + sum(weights[: place - 1]))
        for place, weight in enumerate(weights, start=1)
    ]
    return sum(terms) / total


def stat_ap(case):
    """Everything judged was sure to be judged."""
    weights = [1.0 if gain > 0 else 0.0 for gain in case.labels]
    return stat_ap_of(weights, sum(gain > 0 for gain in case.pool))


def judged(case):
    top = case.labels[: case.k]
    return sum(not isnan(gain) for gain in top) / len(top) if top else None


def unjudged(case):
    top = case.labels[: case.k]
    places = case.k or len(top)
    return sum(map(isnan, top)) / places if places else None


def rbp_residual(case):
    top = case.labels[: case.k]
    weights = [0.2 * 0.8**place for place, gain in enumerate(top) if isnan(gain)]
    return sum(weights) + 0.8 ** len(top) if any(map(isnan, case.labels)) else 0.0


REFERENCE = {
    "bpref": bpref,
    "induced_ap": induced_ap,
    "inferred_ap": inferred_ap,
    "stat_ap": stat_ap,
    "judged": judged,
    "unjudged": unjudged,
    "rbp_residual": rbp_residual,
}

WORTH = dict.fromkeys(("judged", "unjudged", "rbp_residual"), lambda gain: not isnan(gain))

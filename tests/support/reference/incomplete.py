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


REFERENCE = {
    "bpref": bpref,
    "induced_ap": induced_ap,
    "inferred_ap": inferred_ap,
    "stat_ap": stat_ap,
    "judged": judged,
}

WORTH = {"judged": lambda gain: not isnan(gain)}

# (1 / 1 and, with smoothing, 1 / 2 * (1 + (1 + 1e-5) / (1 + 2e-5))) / 2, and so on.
ALL_THREE = (1 + (1 + 1.00001 / 1.00002) / 2 + (1 + 2 * 2.00001 / 2.00002) / 3) / 3
BOTH = (1 + (1 + 1.00001 / 1.00002) / 2) / 2
LAST_TWO = ((1 + 2 * 0.00001 / 2.00002) / 3 + (1 + 3 * 1.00001 / 3.00002) / 4) / 2

PLAIN = {
    "the ideal list": {"bpref": 1, "induced_ap": 1, "inferred_ap": BOTH, "stat_ap": 1, "judged": 1},
    "the ideal list of good documents": {
        "bpref": 1,
        "induced_ap": 1,
        "inferred_ap": BOTH,
        "stat_ap": 1,
        "judged": 1,
    },
    "the worst list": {"bpref": 0, "induced_ap": 0, "inferred_ap": 0, "stat_ap": 0, "judged": 1},
    "the worst ranking": {
        "bpref": 0,
        "induced_ap": (1 / 3 + 2 / 4) / 2,
        "inferred_ap": LAST_TWO,
        "stat_ap": (1 / 3 + 2 / 4) / 2,
        "judged": 1,
    },
    "the empty list": {
        "bpref": 0,
        "induced_ap": 0,
        "inferred_ap": 0,
        "stat_ap": 0,
        "judged": None,
    },
    "the empty list, nothing good": {
        "bpref": None,
        "induced_ap": None,
        "inferred_ap": None,
        "stat_ap": None,
        "judged": None,
    },
    "one good document": {
        "bpref": 1,
        "induced_ap": 1,
        "inferred_ap": 1,
        "stat_ap": 1,
        "judged": 1,
    },
    "one unjudged document": {
        "bpref": None,
        "induced_ap": None,
        "inferred_ap": None,
        "stat_ap": None,
        "judged": 0,
    },
    "nothing relevant": {
        "bpref": None,
        "induced_ap": None,
        "inferred_ap": None,
        "stat_ap": None,
        "judged": 1,
    },
    "everything relevant": {
        "bpref": 1,
        "induced_ap": 1,
        "inferred_ap": ALL_THREE,
        "stat_ap": 1,
        "judged": 1,
    },
    "all tied": {
        "bpref": 1 / 2,
        "induced_ap": (1 + 1 / 2) / 2,
        "inferred_ap": (1 + (1 + 0.00001 / 1.00002) / 2) / 2,
        "stat_ap": (1 + 1 / 2) / 2,
        "judged": 1,
    },
}

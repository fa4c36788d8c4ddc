"""Precision, recall and the first relevant document."""


def n_relevant(gains):
    return sum(gain > 0 for gain in gains)


def precision(case):
    divisor = case.k or len(case.shown)
    return n_relevant(case.shown[: case.k]) / divisor if divisor else 0.0


def recall(case):
    n = n_relevant(case.pool)
    return n_relevant(case.shown[: case.k]) / n if n else None


def r_precision(case):
    n = n_relevant(case.pool)
    return n_relevant(case.shown[:n]) / n if n else None


def reciprocal_rank(case):
    if not n_relevant(case.pool):
        return None
    for place, gain in enumerate(case.shown[: case.k], start=1):
        if gain > 0:
            return 1 / place
    return 0.0


def success(case):
    if not n_relevant(case.pool):
        return None
    return 1.0 if n_relevant(case.shown[: case.k]) else 0.0


REFERENCE = {
    "precision": precision,
    "recall": recall,
    "r_precision": r_precision,
    "rr": reciprocal_rank,
    "success": success,
}

# The measures that divide by a cut-off beyond the list's end.

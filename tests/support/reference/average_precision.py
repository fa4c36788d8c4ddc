"""Average precision and the Q-measure."""


def n_relevant(gains):
    return sum(gain > 0 for gain in gains)


def sum_precision(case):
    return sum(
        n_relevant(case.shown[:place]) / place
        for place, gain in enumerate(case.shown[: case.k], start=1)
        if gain > 0
    )


def average_precision(case):
    n = n_relevant(case.pool)
    return sum_precision(case) / n if n else None


def q_measure(case, beta=1):
    """Divided by min(R, k)."""
    ideal = sorted((max(gain, 0) for gain in case.pool), reverse=True)
    n = n_relevant(ideal)
    if not n:
        return None
    total = 0.0
    for place, gain in enumerate(case.shown[: case.k], start=1):
        if gain > 0:
            top = case.shown[:place]
            achieved = sum(max(gain, 0) for gain in top)
            total += (n_relevant(top) + beta * achieved) / (place + beta * sum(ideal[:place]))
    return total / min(n, case.k or n)


REFERENCE = {"sp": sum_precision, "ap": average_precision, "q_measure": q_measure}

PLAIN = {
    "the ideal list": {"sp": 2, "ap": 1, "q_measure": 1},
    "the ideal list of good documents": {"sp": 2, "ap": 1, "q_measure": 1},
    "the worst list": {"sp": 0, "ap": 0, "q_measure": 0},
    "the worst ranking": {
        "sp": 1 / 3 + 2 / 4,
        "ap": (1 / 3 + 2 / 4) / 2,
        "q_measure": ((1 + 1) / (3 + 3) + (2 + 3) / (4 + 3)) / 2,
    },
    "the empty list": {"sp": 0, "ap": 0, "q_measure": 0},
    "the empty list, nothing good": {"sp": 0, "ap": None, "q_measure": None},
    "one good document": {"sp": 1, "ap": 1, "q_measure": 1},
    "one forbidden document": {"sp": 0, "ap": None, "q_measure": None},
    "one unjudged document": {"sp": 0, "ap": None, "q_measure": None},
    "nothing relevant": {"sp": 0, "ap": None, "q_measure": None},
    "everything relevant": {"sp": 3, "ap": 1, "q_measure": 1},
    "all tied": {"sp": (1 + 1 / 2) / 2, "ap": 3 / 4, "q_measure": (1 + 2 / 3) / 2},
}

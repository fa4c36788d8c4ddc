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

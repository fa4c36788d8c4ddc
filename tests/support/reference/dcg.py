"""DCG and its family, and the rates of a filter."""

from math import log2


def dcg_of(gains, k):
    """Section 2 of the paper."""
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains[:k], start=1))


def between(worst, achieved, ideal):
    """Equations 1 to 3; None where undefined."""
    return (achieved - worst) / (ideal - worst) if ideal > worst else None


def ndcg(shown, pool, k):
    return between(0, dcg_of(shown, k), dcg_of(sorted(pool, reverse=True), k))


def ndcg_0(shown, pool, k):
    return ndcg([max(gain, 0) for gain in shown], [max(gain, 0) for gain in pool], k)


def ndcg_min(shown, pool, k):
    ideal = dcg_of(sorted(pool, reverse=True), k)
    return between(dcg_of(sorted(pool), k), dcg_of(shown, k), ideal)


def ndcg_f(shown, pool, k):
    ideal = dcg_of(sorted((gain for gain in pool if gain >= 0), reverse=True), k)
    worst = dcg_of(sorted(gain for gain in pool if gain <= 0), k)
    return between(worst, dcg_of(shown, k), ideal)


def forbidden(shown, pool, k):
    top = shown[:k]
    return sum(gain < 0 for gain in top) / len(top) if top else None


def false_reject_rate(shown, pool, k):
    n_good = sum(gain > 0 for gain in pool)
    n_shown = sum(gain > 0 for gain in shown)
    return (n_good - n_shown) / n_good if n_good else None


def empty_list_rate(shown, pool, k):
    return 0.0 if shown else 1.0


def qwa(shown, pool, k):
    relevant = sorted((gain for gain in pool if gain > 0), reverse=True)
    terminal = sum(shown) / len(relevant) if relevant else 1.0
    length = len(shown) + 1
    return dcg_of([*shown, terminal], length) / dcg_of([*relevant, 1.0], length)


REFERENCE = {
    "dcg": lambda case: dcg_of(case.shown, case.k),
    "ndcg": lambda case: ndcg(case.shown, case.pool, case.k),
    "ndcg_0": lambda case: ndcg_0(case.shown, case.pool, case.k),
    "ndcg_min": lambda case: ndcg_min(case.shown, case.pool, case.k),
    "ndcg_f": lambda case: ndcg_f(case.shown, case.pool, case.k),
    "forbidden": lambda case: forbidden(case.shown, case.pool, case.k),
    "false_reject_rate": lambda case: false_reject_rate(case.shown, case.pool, case.k),
    "empty_list_rate": lambda case: empty_list_rate(case.shown, case.pool, case.k),
    "qwa": lambda case: qwa(case.shown, case.pool, case.k),
}

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

# What each of the named lists scores; None where undefined.
PLAIN = {
    "the ideal list": {
        "ndcg_f": 1,
        "ndcg_0": 1,
        "forbidden": 0,
        "false_reject_rate": 0,
        "empty_list_rate": 0,
    },
    "the ideal list of good documents": {
        "ndcg": 1,
        "ndcg_0": 1,
        "ndcg_min": 1,
        "ndcg_f": 1,
        "forbidden": 0,
    },
    "the worst list": {
        "ndcg_f": 0,
        "ndcg_0": 0,
        "forbidden": 1,
        "false_reject_rate": 1,
        "empty_list_rate": 0,
    },
    "the worst ranking": {"ndcg_min": 0, "forbidden": 1 / 4},
    "the empty list": {
        "dcg": 0,
        "ndcg_f": 1 / 2,
        "forbidden": None,
        "false_reject_rate": 1,
        "qwa": 0,
    },
    "the empty list, nothing forbidden": {
        "dcg": 0,
        "ndcg": 0,
        "ndcg_0": 0,
        "ndcg_f": 0,
        "empty_list_rate": 1,
    },
    "the empty list, nothing good": {
        "dcg": 0,
        "ndcg": None,
        "ndcg_0": None,
        "ndcg_f": 1,
        "false_reject_rate": None,
        "qwa": 1,
    },
    "one good document": {
        "dcg": 2,
        "ndcg": 1,
        "ndcg_0": 1,
        "ndcg_min": None,
        "ndcg_f": 1,
        "forbidden": 0,
    },
    "one forbidden document": {
        "dcg": -2,
        "ndcg": None,
        "ndcg_0": None,
        "ndcg_min": None,
        "ndcg_f": 0,
        "forbidden": 1,
    },
    "one unjudged document": {
        "dcg": 0,
        "ndcg": None,
        "ndcg_min": None,
        "ndcg_f": None,
        "forbidden": 0,
    },
    "nothing relevant": {
        "dcg": 0,
        "ndcg": None,
        "ndcg_min": None,
        "ndcg_f": None,
        "false_reject_rate": None,
    },
    "everything relevant": {
        "ndcg": 1,
        "ndcg_0": 1,
        "ndcg_min": None,
        "ndcg_f": 1,
        "any_forbidden": 0,
    },
    "all tied": {
        "any_forbidden": 1,
        "dcg": 0,
        "ndcg_min": 1 / 2,
        "ndcg_f": 1 / 2,
        "forbidden": 1 / 2,
    },
}

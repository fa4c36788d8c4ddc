"""The measures of one query, from their definitions, in exact arithmetic.

Everything is a `Fraction`. A logarithm is the fraction of its first 60 decimal places, so that what
is made of logarithms is right to 50 digits and more, and all else is exact. Nothing here calls the
library, numpy or any other tool that could be wrong in the same way.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from math import ceil, comb
from typing import NamedTuple


class List(NamedTuple):
    """One query, in one order of its documents."""

    shown: list
    """Gains of the returned list from the top, None where unjudged."""
    pool: list
    """Gains of all judged documents, returned or not."""
    settings: dict
    """Every parameter, see README.md."""

    @property
    def top(self):
        return self.shown[: self.settings["k"]]

    @property
    def n_relevant(self):
        return count(self.relevant, self.pool)

    @property
    def found(self):
        """Places of the relevant documents of the top k, from 1."""
        return [i for i, gain in enumerate(self.top, start=1) if self.relevant(gain)]

    def relevant(self, gain):
        least = self.settings["relevant_from"]
        return gain is not None and gain.numerator > 0 and (not least or gain >= Fraction(least))


def count(condition, gains):
    return sum(bool(condition(gain)) for gain in gains)


def worth(gain):
    return Fraction(0) if gain is None else gain


# Discounted cumulative gain


@cache
def logarithm(number):
    """To base 2, to 60 places."""
    with localcontext(Context(prec=70)):
        places = (Decimal(number).ln() / Decimal(2).ln()).quantize(Decimal(10) ** -60)
    return Fraction(places)


@cache
def discount(place, kind):
    if kind == "log2(place + 1)":
        return 1 / logarithm(place + 1)
    if kind == "max(1, log2(place))":
        return 1 / max(Fraction(1), logarithm(place))
    return Fraction(1, place)


def dcg_of(gains, settings, k):
    kind = settings["discount"]
    return sum(
        (worth(gain) * discount(i, kind) for i, gain in enumerate(gains[:k], start=1)), Fraction(0)
    )


def dcg(case):
    return dcg_of(case.shown, case.settings, case.settings["k"])


def ideal_dcg(case):
    settings = case.settings
    known = case.pool if settings["ideal"] == "judged" else [worth(gain) for gain in case.shown]
    best = sorted(known, reverse=True)
    return dcg_of(best, settings, settings["k"] if settings["ideal_cut"] == "k" else None)


def ndcg(case):
    ideal = ideal_dcg(case)
    return dcg(case) / ideal if ideal > 0 else None


def ndcg_between(case, worst, best):
    settings, k = case.settings, case.settings["k"]
    low = dcg_of(sorted(worst), settings, k)
    high = dcg_of(sorted(best, reverse=True), settings, k)
    return (dcg(case) - low) / (high - low) if high > low else None


def ndcg_min(case):
    return ndcg_between(case, case.pool, case.pool)


def ndcg_f(case):
    good = [gain for gain in case.pool if gain > 0]
    return ndcg_between(case, [gain for gain in case.pool if gain < 0], good)


def qwa(case):
    """Quit While Ahead: one terminal document behind the list, and behind the relevant ones."""
    relevant = sorted((gain for gain in case.pool if gain > 0), reverse=True)
    gains = [worth(gain) for gain in case.shown]
    terminal = sum(gains, Fraction(0)) / len(relevant) if relevant else Fraction(1)
    length = len(gains) + 1
    ideal = dcg_of([*relevant, Fraction(1)], case.settings, length)
    return dcg_of([*gains, terminal], case.settings, length) / ideal


# Average precision and its kin


def precisions(case):
    """Precision at each relevant document of the top k."""
    return [Fraction(n, place) for n, place in enumerate(case.found, start=1)]


def sum_precision(case):
    return sum(precisions(case), Fraction(0))


def ap(case):
    n, k = case.n_relevant, case.settings["k"]
    if not n:
        return None
    divisor = {
        "relevant": n,
        "min(relevant, k)": min(n, k or n),
        "k": k,
        "found": len(case.found) or 1,
    }[case.settings["ap_divisor"]]
    return sum_precision(case) / divisor


def q_measure(case):
    """With beta 1."""
    ideal = sorted((gain for gain in case.pool if gain > 0), reverse=True)
    if not ideal:
        return None
    terms = [
        (n + sum(max(worth(gain), 0) for gain in case.top[:place])) / (place + sum(ideal[:place]))
        for n, place in enumerate(case.found, start=1)
    ]
    return sum(terms, Fraction(0)) / min(len(ideal), case.settings["k"] or len(ideal))


def infap(case):
    """Yilmaz and Aslam's, as trec_eval smooths it."""
    if not case.n_relevant:
        return None
    epsilon, terms = Fraction(1, 100000), []
    for place in case.found:
        above = case.shown[: place - 1]
        judged = [gain for gain in above if gain is not None]
        n_pooled = len(above) if case.settings["unjudged_pooled"] else len(judged)
        share = (count(case.relevant, judged) + epsilon) / (len(judged) + 2 * epsilon)
        terms.append((1 + n_pooled * share) / place)
    return sum(terms, Fraction(0)) / case.n_relevant


def iprec(case):
    """Highest precision where recall is that high."""
    return interpolated(case, ceil(Fraction(case.settings["recall"]) * case.n_relevant))


def eleven_points(case):
    n = case.n_relevant
    if not n:
        return None
    if case.settings["recall_levels"] == "exact":
        needed = [ceil(Fraction(i, 10) * n) for i in range(11)]
    elif case.settings["recall_levels"] == "nearest":
        needed = [int(Fraction(i, 10) * n + Fraction(1, 2)) for i in range(11)]
    else:
        needed = [int(float(f"0.{i}") * n + 0.9) for i in range(10)] + [n]
    return sum(interpolated(case, least) for least in needed) / 11


def interpolated(case, needed):
    """Highest precision where that many relevant documents are found."""
    if not case.n_relevant:
        return None
    return max(precisions(case)[max(1, needed) - 1 :], default=Fraction(0))


# Sets


def precision(case):
    cut = case.settings["k"] if case.settings["precision_divisor"] == "k" else len(case.top)
    divisor = cut or len(case.top)
    return Fraction(len(case.found), divisor) if divisor else Fraction(0)


def recall(case):
    n = case.n_relevant
    if case.settings["recall_divisor"] == "min(relevant, k)":
        n = min(n, case.settings["k"] or n)
    return Fraction(len(case.found), n) if n else None


def r_precision(case):
    n = case.n_relevant
    return Fraction(count(case.relevant, case.shown[:n]), n) if n else None


def reciprocal_rank(case):
    if not case.n_relevant:
        return None
    return Fraction(1, case.found[0]) if case.found else Fraction(0)


def success(case):
    return Fraction(bool(case.found)) if case.n_relevant else None


def f1(case):
    if not case.n_relevant:
        return None
    cut = case.settings["k"] or len(case.shown)
    return Fraction(2 * len(case.found), cut + case.n_relevant)


def set_map(case):
    if not case.n_relevant:
        return None
    return precision(case) * recall(case)


def judged(case):
    if not case.top:
        return None
    return Fraction(count(lambda gain: gain is not None, case.top), len(case.top))


def forbidden(case):
    top = case.top
    return Fraction(count(lambda gain: worth(gain) < 0, top), len(top)) if top else None


def false_reject_rate(case):
    n = case.n_relevant
    return Fraction(n - count(case.relevant, case.shown), n) if n else None


# Users who walk down the list


def rbp(case):
    p, kind = Fraction(case.settings["persistence"]), case.settings["rbp_gain"]
    greatest = max(case.pool, default=0)
    terms = []
    for place, gain in enumerate(case.top, start=1):
        if case.relevant(gain):
            value = {"binary": 1, "label": gain, "label / greatest": gain / (greatest or 1)}[kind]
            terms.append(value * p ** (place - 1))
    return (1 - p) * sum(terms, Fraction(0))


def err(case):
    if not case.n_relevant:
        return None
    greatest = case.settings["err_greatest"]
    if greatest == "of the query":
        greatest = max(case.pool)
    value, going_on = Fraction(0), Fraction(1)
    for place, gain in enumerate(case.top, start=1):
        satisfied = (2 ** int(max(worth(gain), 0)) - 1) / Fraction(2) ** int(greatest)
        value += going_on * satisfied / place
        going_on *= 1 - satisfied
    return value


# Judgments with holes


def bpref(case):
    n_relevant, variant = case.n_relevant, case.settings["bpref"]
    n_other = len(case.pool) - n_relevant
    if not n_relevant:
        return None
    divisor = min(n_relevant, n_other) if variant == "min(n, R) / min(R, N)" else n_relevant
    value, above = Fraction(0), 0
    for gain in case.shown:
        if case.relevant(gain):
            counted = above if variant == "n / R" else min(above, n_relevant)
            value += 1 - (Fraction(counted, divisor) if counted else 0)
        elif gain is not None:
            above += 1
    return value / n_relevant


# Everything relevant, to the last


def positions(case):
    """Of the relevant among `n_items`, those that are missing at the end."""
    n_items = case.settings["n_items"]
    found = [i for i, gain in enumerate(case.shown, start=1) if case.relevant(gain)]
    n_missing = case.n_relevant - len(found)
    return found + list(range(n_items - n_missing + 1, n_items + 1)), n_items


def total_search_efficiency(case):
    places, _ = positions(case)
    return Fraction(1, places[-1]) if places else None


def search_length(case):
    places, _ = positions(case)
    return Fraction(places[-1] - len(places)) if places else None


def recall_error(case):
    places, _ = positions(case)
    return Fraction(sum(places), len(places)) - Fraction(len(places) + 1, 2) if places else None


def lexirecall_share(case):
    """Share of the other placements that are worse, from the last position up."""
    places, n_items = positions(case)
    if not places:
        return None
    n_all = comb(n_items, len(places))
    better = sum(comb(place - 1, level) for level, place in enumerate(places, start=1))
    return Fraction(n_all - 1 - better, n_all - 1) if n_all > 1 else Fraction(1)


# Between a random and the perfect ranking


def _dcg_bounds(case):
    k = case.settings["k"]
    perfect = dcg_of(sorted(case.pool, reverse=True), case.settings, k)
    mean = sum(case.pool, Fraction(0)) / len(case.pool)
    return dcg(case), dcg_of([mean] * len(case.pool), case.settings, k), perfect


def dcg_v1(case):
    achieved, random, perfect = _dcg_bounds(case)
    if perfect == random:
        return None
    return achieved / perfect * achieved / (achieved + random)


def dcg_v2(case):
    """Of the mean over tied orders, so that ties have no place in its vectors."""
    achieved, random, perfect = _dcg_bounds(case)
    if perfect == random:
        return None
    return (achieved - random) / (perfect - random if achieved >= random else random)


MEASURES = {
    "dcg": dcg,
    "ndcg": ndcg,
    "ndcg_min": ndcg_min,
    "ndcg_f": ndcg_f,
    "qwa": qwa,
    "sum_precision": sum_precision,
    "ap": ap,
    "q_measure": q_measure,
    "infap": infap,
    "iprec": iprec,
    "eleven_points": eleven_points,
    "precision": precision,
    "recall": recall,
    "r_precision": r_precision,
    "rr": reciprocal_rank,
    "success": success,
    "f1": f1,
    "set_map": set_map,
    "judged": judged,
    "forbidden": forbidden,
    "false_reject_rate": false_reject_rate,
    "rbp": rbp,
    "err": err,
    "bpref": bpref,
    "total_search_efficiency": total_search_efficiency,
    "search_length": search_length,
    "recall_error": recall_error,
    "lexirecall_share": lexirecall_share,
    "dcg_v1": dcg_v1,
    "dcg_v2": dcg_v2,
}
# Those whose value is a decimal, right to 39 places, where it is no plain fraction.
WITH_LOGARITHMS = {"dcg", "ndcg", "ndcg_min", "ndcg_f", "qwa", "dcg_v1", "dcg_v2"}

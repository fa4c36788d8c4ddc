"""Counts, F, and interpolated precision."""

from fractions import Fraction

from reference.average_precision import average_precision
from reference.precision import n_relevant


def f_measure(case):
    """From precision and recall."""
    n = n_relevant(case.pool)
    if not n:
        return None
    found = n_relevant(case.shown[: case.k])
    if not found:
        return 0.0
    precision, recall = found / (case.k or len(case.shown)), found / n
    return 2 * precision * recall / (precision + recall)


def set_map(case):
    n = n_relevant(case.pool)
    if not n:
        return None
    found = n_relevant(case.shown)
    return found / n * found / len(case.shown) if found else 0.0


def relative_precision(case):
    n = n_relevant(case.pool)
    size = case.k or len(case.shown)
    return n_relevant(case.shown[: case.k]) / (min(n, size) or 1) if n else None


def nonrelevant_retrieved(case):
    return float(sum(gain <= 0 for gain in case.labels))


def interpolated(case, recall):
    """Highest precision where that share of the relevant documents is found, and at least one."""
    n = n_relevant(case.pool)
    if not n:
        return None
    tops = [case.shown[:place] for place in range(1, len(case.shown) + 1)]
    found = [(n_relevant(top), len(top)) for top in tops]
    return max((i / place for i, place in found if i and Fraction(i, n) >= recall), default=0)


def eleven_points(case):
    points = [interpolated(case, Fraction(level, 10)) for level in range(11)]
    return None if None in points else sum(points) / 11


def any_forbidden(case):
    return float(any(gain < 0 for gain in case.shown[: case.k]))


REFERENCE = {
    "num_q": lambda case: 1.0,
    "num_ret": lambda case: float(len(case.shown)),
    "num_rel": lambda case: float(n_relevant(case.pool)),
    "num_rel_ret": lambda case: float(n_relevant(case.shown)),
    "num_nonrel_judged_ret": nonrelevant_retrieved,
    "relative_precision": relative_precision,
    "f": f_measure,
    "set_map": set_map,
    "iprec": lambda case: interpolated(case, 0.5),
    "eleven_points": eleven_points,
    "gm_map": lambda case: average_precision(case._replace(k=None)),
    "any_forbidden": any_forbidden,
}

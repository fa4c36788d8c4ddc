"""Counts, F and interpolated precision, as trec_eval words them."""

from math import floor

from .average_precision import REFERENCE as AVERAGE_PRECISION
from .precision import n_relevant, precision, recall


def f_of(case):
    """Harmonic mean of precision and recall."""
    if not n_relevant(case.pool):
        return None
    p, r = precision(case), recall(case)
    return 2 * p * r / (p + r) if p + r else 0.0


def set_map(case):
    whole = case._replace(k=None)
    return precision(whole) * recall(whole) if n_relevant(case.pool) else None


def interpolated(case, level):
    """The highest precision at a place by which enough relevant documents are found."""
    wanted = max(1, floor(level * n_relevant(case.pool) + 0.9))
    found = [n_relevant(case.shown[: place + 1]) for place in range(len(case.shown))]
    return max((n / (i + 1) for i, n in enumerate(found) if n >= wanted), default=0.0)


def interpolated_precision(case):
    return interpolated(case, 0.5) if n_relevant(case.pool) else None


def eleven_points(case):
    if not n_relevant(case.pool):
        return None
    return sum(interpolated(case, level / 10) for level in range(11)) / 11


REFERENCE = {
    "num_q": lambda case: 1.0,
    "num_ret": lambda case: float(len(case.shown)),
    "num_rel": lambda case: float(n_relevant(case.pool)),
    "num_rel_ret": lambda case: float(n_relevant(case.shown)),
    "f": f_of,
    "set_map": set_map,
    "iprec": interpolated_precision,
    "eleven_points": eleven_points,
    "gm_map": lambda case: AVERAGE_PRECISION["ap"](case._replace(k=None)),
}

PLAIN = {
    "the ideal list": {"num_ret": 2, "num_rel": 2, "num_rel_ret": 2, "f": 1, "eleven_points": 1},
    "the ideal list of good documents": {"f": 4 / 5, "set_map": 2 / 3, "iprec": 1, "gm_map": 1},
    "the worst ranking": {"num_ret": 4, "f": 2 / 3, "set_map": 1 / 2, "iprec": 1 / 2},
    "the empty list": {"num_ret": 0, "num_rel": 1, "f": 0, "set_map": 0, "iprec": 0},
    "one forbidden document": {"num_q": 1, "num_rel": 0, "f": None, "eleven_points": None},
    "nothing relevant": {"num_ret": 3, "num_rel_ret": 0, "set_map": None, "iprec": None},
    "everything relevant": {"f": 1, "set_map": 1, "iprec": 1, "eleven_points": 1, "gm_map": 1},
}

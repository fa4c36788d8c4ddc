"""Which documents of a long query may stand in its first places, on which stretch of the line.

A measure with a cut-off knows nothing of what stands below it. On a stretch between two values of
t, a document that at both ends scores less than each of k others scores less in between too, as
scores are straight lines in t: it can be left out. So the line is cut, again and again, until few
documents are left on each stretch, and only those are compared with each other.
"""

from typing import NamedTuple

import numpy as np

from skfilterrank._lists.floats import ROUNDING_OF_MEANS

# As many documents as there are places, times this, and this many, are not worth another cut.
_PER_PLACE, _FEW = 4, 64
_MOST_CUTS = 40


class Stretch(NamedTuple):
    """Values of t from `begin` to before `end`, and the documents that matter there."""

    begin: float
    end: float
    members: np.ndarray


class _End(NamedTuple):
    """End of a stretch: t, which may be infinite, and a number that scores are proportional to."""

    t: float
    of_score: float
    of_feature: float


_FIRST, _LAST = _End(-np.inf, 0.0, -1.0), _End(np.inf, 0.0, 1.0)


def stretches(scores, feature, n_places: int):
    """Yield the stretches of a query's line, from the left to the right.

    Parameters
    ----------
    scores, feature : ndarray of shape (n_documents,)
        Score at t = 0, and what it rises by with t.
    n_places : int
        How many places matter.
    """
    sizes = np.abs(scores).max(), np.abs(feature).max()
    if not all(1e-100 < size < 1e100 for size in sizes):
        yield Stretch(-np.inf, np.inf, np.arange(len(scores)))
        return
    # In these units, t is of the size of 1, and no product leaves the range of float64.
    scores, feature, unit = scores / sizes[0], feature / sizes[1], sizes[0] / sizes[1]
    few = max(_PER_PLACE * n_places, _FEW)
    stack = [(_FIRST, _LAST, np.arange(len(scores)), 0)]
    while stack:
        left, right, members, n_cuts = stack.pop()
        cut = None
        if len(members) > few and n_cuts < _MOST_CUTS:
            cut = _cut(scores[members], feature[members], left.t, right.t)
        if cut is None:
            yield Stretch(left.t * unit, right.t * unit, members)
            continue
        middle = _End(cut, *np.array([1.0, cut]) / np.hypot(1.0, cut))
        for ends in ((middle, right), (left, middle)):
            kept = members[_may_matter(scores[members], feature[members], *ends, n_places)]
            stack.append((*ends, kept, n_cuts + 1))


def _cut(scores, feature, begin, end):
    """Middle one of the crossings of neighbours within a stretch; None where none cross."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        times = (scores - np.roll(scores, 1)) / (np.roll(feature, 1) - feature)
    times = times[(times > begin) & (times < end)]
    if not len(times):
        return None
    return float(np.partition(times, len(times) // 2)[len(times) // 2])


def _may_matter(scores, feature, left, right, n_places):
    """Which documents may stand in the first places somewhere between two ends."""
    values = [end.of_score * scores + end.of_feature * feature for end in (left, right)]
    # Those that are first in the middle are among the first ones at both ends, or nearly.
    top = np.argpartition(-(values[0] + values[1]), n_places - 1)[:n_places]
    below = []
    for end, value in zip((left, right), values):
        if end.of_score == 0:
            # Where t is infinite, scores are the feature itself, without rounding.
            below.append(value <= value[top].min())
        else:
            off = ROUNDING_OF_MEANS * (
                end.of_score * np.abs(scores) + np.abs(end.of_feature * feature)
            )
            below.append(value + off < (value - off)[top].min())
    kept = ~(below[0] & below[1])
    kept[top] = True
    return kept

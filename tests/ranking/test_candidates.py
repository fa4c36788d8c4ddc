"""The line search for measures that are no sums."""

import numpy as np
import pytest

from line_searches import (
    all_crossings,
    points_between,
)
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.ranking._coordinate_ascent.candidates import CandidateSearch
from skfilterrank.ranking._coordinate_ascent.objective import Objective


@pytest.mark.slow
@pytest.mark.parametrize("name", ["err", "q_measure@3", "qwa", "lexirecall"])
def test_candidates_never_lose_and_find_the_best_of_few(name):
    rng = np.random.default_rng(0)
    for _ in range(10):
        gains = rng.choice([0.0, 1.0, 2.0], 6)
        scores, feature = rng.normal(size=(2, 6))
        index = GroupIndex.from_groups(np.zeros(6))
        objective = Objective(parse_measure(name), gains, index)
        assert objective.as_sum() is None
        points = points_between(all_crossings(scores, feature, index, None))
        best = max(objective(scores + t * feature) for t in points)
        # As many candidates as there are intervals.
        t = CandidateSearch(objective, 16).best(scores, feature, None, 1.0)
        assert objective(scores + t * feature) == pytest.approx(best)
        t = CandidateSearch(objective, 2).best(scores, feature, None, 1.0)
        assert objective(scores + t * feature) >= objective(scores)


def test_candidates_are_searched_twice():
    # Document 0 crosses the others at t = 1, 2, ..., 64; the best interval is around 39.5.
    scores, feature = np.arange(65.0), np.append(1.0, np.zeros(64))
    gains = np.append(1.0, np.zeros(64))

    class Slope:
        """Rises towards a score of 39.5 of the first document."""

        index, parsed = GroupIndex.from_groups(np.zeros(65)), parse_measure("err")

        def __call__(self, scores, threshold=None):
            return -abs(scores[0] - 39.5)

    objective = Slope()
    objective.gains = gains
    # First at 0, 8, ..., 64 crossings passed, then at the 16 between the neighbours of the best.
    assert CandidateSearch(objective, 9).best(scores, feature, None, 1.0) == pytest.approx(
        39.5, abs=1.0
    )
    # A second pass of 17 sees each of the 16.
    assert CandidateSearch(objective, 17).best(scores, feature, None, 1.0) == pytest.approx(39.5)


def test_candidates_pay_for_their_steps():
    # Documents of gain 1 and 0 cross at t = 1; beyond is t = 2, which reciprocal-like err gains.
    gains, index = np.array([1.0, 0.0]), GroupIndex.from_groups(["q", "q"])
    objective = Objective(parse_measure("err"), gains, index)
    scores, feature = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    gain = objective(scores + 2 * feature) - objective(scores)
    assert gain > 0
    for penalty, expected in ((0.49 * gain, 2.0), (0.51 * gain, 0.0)):
        search = CandidateSearch(objective, 4, penalty)
        assert search.best(scores, feature, None, 1.0) == expected
        # The other way round the step is as long.
        assert search.best(scores, -feature, None, 1.0) == -expected

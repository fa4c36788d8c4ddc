"""Samples of an experiment with few labels: seeds, processes, averages."""

import numpy as np
import pytest

from judged_topics import QRELS, RUNS, curve
from pickled_threads import pickled_threads
from skfilterrank.judgments import RandomSelector
from skfilterrank.metaevaluation import judging_curve, leave_teams_out

pytestmark = pytest.mark.slow


def test_the_same_for_any_number_of_processes_and_by_seed():
    options = {"selections": ["random", "mtf"], "shares": [0.1, 0.4], "n_samples": 3}
    with pickled_threads():
        first, second = curve(**options), curve(**options, n_jobs=2)
    assert np.array_equal(first.means, second.means, equal_nan=True)
    other = curve(**options, random_state=1)
    assert not np.array_equal(first.means[0], other.means[0])
    assert np.array_equal(first.means[1], other.means[1], equal_nan=True)
    # A share has the same samples whichever others there are.
    alone = curve(**options | {"shares": 0.4})
    assert np.array_equal(alone.means[:, :, 0], first.means[:, :, 1], equal_nan=True)


def test_a_strategys_own_seed_is_not_used():
    given = {"mine": RandomSelector(random_state=5)}
    first = curve(selections=given, shares=0.2, n_samples=3)
    assert len(np.unique(first.tau[0, 0, 0])) > 1
    assert np.array_equal(first.means, curve(selections="random", shares=0.2, n_samples=3).means)


def test_order_of_rows_runs_and_topics_does_not_matter():
    runs = {name: run.sample(frac=1, random_state=1) for name, run in reversed(RUNS.items())}
    qrels = QRELS.sample(frac=1, random_state=2)
    options = {"missing": "empty", "shares": [0.1, 0.3], "selections": ["pooling", "mtc"]}
    first, second = (
        judging_curve(QRELS, RUNS, **options, random_state=0),
        judging_curve(qrels, runs, **options, random_state=0),
    )
    assert second.means[..., ::-1] == pytest.approx(first.means, nan_ok=True)
    assert second.tau == pytest.approx(first.tau, nan_ok=True)


def test_processes_give_the_same():
    options = {"selections": "random", "missing": "empty", "shares": 0.3, "random_state": 0}
    found = leave_teams_out(QRELS, RUNS, **options)
    with pickled_threads():
        again = leave_teams_out(QRELS, RUNS, **options, n_jobs=2)
    assert np.array_equal(found.bias, again.bias)
    assert found.teams == found.systems
    assert np.isfinite(found.bias).all()

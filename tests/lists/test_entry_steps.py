"""The value of a measure at every threshold: by hand, and as the measure itself has it."""

import numpy as np
import pytest

from skfilterrank.metrics import evaluate
from skfilterrank.thresholds import threshold_curve

# Each measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings("ignore:.*some gains are below 0")

NO = -np.inf


def at(curve, threshold):
    """The value of the curve at any threshold."""
    return curve.value_at(threshold)


class TestByHand:
    """Query 1 has a good document, a bad one and a good one; query 2 a bad and a good one."""

    rows = ([1, 0, 1, 0, 1], [5, 3, 1, 4, 2], [1, 1, 1, 2, 2])

    def test_thresholds_at_which_nothing_changes_are_none(self):
        y_true, y_score, groups = self.rows
        curve = threshold_curve(
            y_true, y_score, groups=groups, measure="forbidden", undefined="drop"
        )
        # A query has a value from its first document on, and none of these is forbidden.
        assert curve.thresholds.tolist() == [np.inf, 5, 4]
        assert curve.values.tolist()[1:] == [0, 0]


ROWS = np.random.default_rng(4)
GROUPS = ROWS.integers(0, 5, 60)
LABELS = ROWS.choice([-1.0, 0.0, 1.0, 2.0], 60)
UNJUDGED = np.where(ROWS.random(60) < 0.3, np.nan, LABELS)
SCORES = ROWS.permutation(60) / 4
# Each way to tell steps: sums with and without levels, at a cut-off, with an end of the collection,
# from a set, and prefix by prefix.
MEASURES = [
    *("ndcg_f@3", "dcg", "rbp", "ap", "ap@2", "rr", "bpref", "tse", "lexirecall(scale=share)"),
    *("metric_lexirecall", "recall_error", "f", "set_map", "forbidden", "judged@3", "induced_ap@3"),
    *("lexirecall", "q_measure@3", "iprec", "inferred_ap", "ndcg_min"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "scores", "undefined"),
    [
        (LABELS, SCORES, 0.0),
        (UNJUDGED, SCORES, "drop"),
        (LABELS, np.floor(SCORES / 2), 0.5),
        (UNJUDGED, np.where(SCORES < 3, NO, np.floor(SCORES / 2)), 0.0),
    ],
    ids=["judged", "unjudged", "tied", "filtered"],
)
def test_the_measures_at_each_threshold(labels, scores, undefined):
    how = {"groups": GROUPS, "undefined": undefined}
    curves = {name: threshold_curve(labels, scores, measure=name, **how) for name in MEASURES}
    shown = np.unique(scores[scores > NO])
    for threshold in [*shown[::9], shown[-1], np.inf]:
        left = np.where(scores >= threshold, scores, NO)
        expected = evaluate(labels, left, MEASURES, **how).means
        found = [at(curves[name], threshold) for name in MEASURES]
        np.testing.assert_allclose(found, expected[MEASURES], rtol=1e-9, atol=1e-12)

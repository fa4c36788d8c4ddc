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


def by_hand(y_true, y_score, groups, measure, expected, **params):
    """Check the curve at each distinct score from the lowest up, and where nothing is shown."""
    curve = threshold_curve(y_true, y_score, groups=groups, measure=measure, **params)
    thresholds = [*np.unique(y_score), np.inf]
    found = [at(curve, threshold) for threshold in thresholds]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


class TestByHand:
    """Query 1 has a good document, a bad one and a good one; query 2 a bad and a good one."""

    rows = ([1, 0, 1, 0, 1], [5, 3, 1, 4, 2], [1, 1, 1, 2, 2])

    @pytest.mark.parametrize(
        ("measure", "first", "second"),
        [
            # AP 1/2, then 1/2 for two thirds more, and 0, then half of 1.
            ("ap", [5 / 6, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 0], [1 / 2, 1 / 2, 0, 0, 0, 0]),
            ("precision@2", [1 / 2, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 0], [1 / 2, 1 / 2, 0, 0, 0, 0]),
            # Twice what is found over what is shown and what is good.
            ("f", [4 / 5, 2 / 4, 2 / 4, 2 / 3, 2 / 3, 0], [2 / 3, 2 / 3, 0, 0, 0, 0]),
            # A grade of 1 out of 4 satisfies in 1 case of 16: 1/16, then 15/16 of that in place 3.
            ("err", [1 / 16 * (1 + 15 / 16 / 3), *[1 / 16] * 4, 0], [1 / 32, 1 / 32, 0, 0, 0, 0]),
            # One over the place of the last good document, which is the fourth where it is hidden.
            ("tse(n_items=4)", [1 / 3] + [1 / 4] * 5, [1 / 2] * 2 + [1 / 4] * 4),
        ],
    )
    def test_kinds_of_measures(self, measure, first, second):
        by_hand(*self.rows, measure, np.add(first, second) / 2)

    def test_weights_of_queries(self):
        first, second = [5 / 6, 1 / 2, 1 / 2, 1 / 2, 1 / 2, 0], [1 / 2, 1 / 2, 0, 0, 0, 0]
        expected = np.array(first) / 4 + np.array(second) * 3 / 4
        by_hand(*self.rows, "ap", expected, query_weight={1: 1, 2: 3})
        # And of what they score where nothing is shown.
        first, second = [1 / 3] + [1 / 4] * 5, [1 / 2] * 2 + [1 / 4] * 4
        expected = np.array(first) / 4 + np.array(second) * 3 / 4
        by_hand(*self.rows, "tse(n_items=4)", expected, query_weight={1: 1, 2: 3})

    def test_queries_without_a_value(self):
        """The share of bad documents, of those queries that show anything."""
        y_true, y_score, groups = [1, -1, -1], [4, 2, 3], [1, 1, 2]
        rows = (y_true, y_score, groups, "forbidden")
        by_hand(*rows, [(1 / 2 + 1) / 2, (0 + 1) / 2, 0, np.nan], undefined="drop")
        by_hand(*rows, [(1 / 2 + 1) / 2, (0 + 1) / 2, 0, 0], undefined=0.0)
        by_hand(*rows, [3 / 4, 1 / 2, (0 + 0.5) / 2, 0.5], undefined=0.5)
        weight = {1: 1, 2: 3}
        expected = [(1 / 2 + 3) / 4, (0 + 3) / 4, 0, np.nan]
        by_hand(*rows, expected, undefined="drop", query_weight=weight)

    def test_thresholds_at_which_nothing_changes_are_none(self):
        y_true, y_score, groups = self.rows
        curve = threshold_curve(
            y_true, y_score, groups=groups, measure="forbidden", undefined="drop"
        )
        # A query has a value from its first document on, and none of these is forbidden.
        assert curve.thresholds.tolist() == [np.inf, 5, 4]
        assert curve.values.tolist()[1:] == [0, 0]

    def test_queries_that_never_have_a_value(self):
        rows = ([1, 0, 0], [3, 2, 1], [1, 1, 2], "ap")
        by_hand(*rows, [1, 1, 1, 0], undefined="drop")
        by_hand(*rows, [(1 + 0.25) / 2, (1 + 0.25) / 2, (1 + 0.25) / 2, 0.125], undefined=0.25)

    def test_tied_documents_come_together(self):
        # Good and bad tied: AP is 1 or 1/2, and the next good one is second or third of all.
        rows = ([1, 0, 1], [2, 2, 1], [1, 1, 1])
        by_hand(*rows, "ap", [((1 + 2 / 3) / 2 + (1 / 2 + 2 / 3) / 2) / 2, 3 / 4 / 2, 0])


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
    for threshold in [*shown[::5], shown[-1], np.inf]:
        left = np.where(scores >= threshold, scores, NO)
        expected = evaluate(labels, left, MEASURES, **how).means
        found = [at(curves[name], threshold) for name in MEASURES]
        np.testing.assert_allclose(found, expected[MEASURES], rtol=1e-9, atol=1e-12)

"""What a fitted filter serves: scores, margins and places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from given_scores import GivenScores
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import Cut, Threshold


class TestByHand:
    # Two queries, one fold each; the score is the feature.
    X = np.array([[0.9], [0.5], [0.2], [0.8], [0.3]])
    y = np.array([2, 1, -1, 1, -1])
    groups = np.array(["a", "a", "a", "b", "b"])

    def test_threshold_lies_between_the_worst_good_and_the_best_bad_score(self):
        model = RankAndFilter(GivenScores(), cv=2).fit(self.X, self.y, groups=self.groups)
        assert model.threshold_ == pytest.approx((0.3 + 0.5) / 2)
        assert model.best_score_ == 1.0
        assert model.score(self.X, self.y, groups=self.groups) == 1.0

    def test_predict_rank_and_margin(self):
        model = RankAndFilter(GivenScores(), cv=2).fit(self.X, self.y, groups=self.groups)
        np.testing.assert_array_equal(model.predict(self.X), [0.9, 0.5, -np.inf, 0.8, -np.inf])
        np.testing.assert_array_equal(model.rank(self.X, groups=self.groups), [1, 2, 0, 1, 0])
        np.testing.assert_allclose(model.decision_function(self.X), self.X[:, 0] - 0.4)

    def test_shuffled_rows_keep_their_places(self):
        model = RankAndFilter(GivenScores(), cv=2).fit(self.X, self.y, groups=self.groups)
        order = [4, 1, 3, 0, 2]
        groups = self.groups[order]
        np.testing.assert_array_equal(model.rank(self.X[order], groups=groups), [0, 2, 1, 1, 0])

    def test_equal_scores_stand_in_row_order(self):
        model = RankAndFilter(GivenScores(), threshold=0.5)
        model.fit(self.X, self.y, groups=self.groups)
        X = [[0.7], [0.9], [0.7], [0.1]]
        np.testing.assert_array_equal(model.rank(X, groups=[7, 7, 7, 7]), [2, 1, 3, 0])

    def test_curve_holds_every_threshold(self):
        model = RankAndFilter(GivenScores(), cv=2).fit(self.X, self.y, groups=self.groups)
        # Nothing shown: W / (I - W) is 1 / (2 + 1 / log2(3) + 1) and 1 / 2.
        nothing = (1 / (3 + 1 / np.log2(3)) + 1 / 2) / 2
        curve = model.threshold_curve_
        assert curve.thresholds[0] == np.inf
        assert curve.values[0] == pytest.approx(nothing)
        assert curve.best_value == 1.0


def filtered_at(threshold, scores, **options):
    """A model that filters these scores, as they are, each row a query of its own."""
    X = np.array(scores, dtype=float)[:, None]
    estimator = GivenScores().fit(X, None)
    model = RankAndFilter(estimator, threshold=threshold, cv="prefit", **options)
    labels = np.where(X[:, 0] >= 0.5, 1, -1)
    return X, model.fit(X, labels, groups=np.arange(len(X)))


class TestContract:
    """Rows with ``score >= threshold_`` are kept, and no others."""

    scores = (0.5, 0.5 - 2**-54, 0.5 + 2**-53)

    def test_a_score_at_the_threshold_is_kept(self):
        X, model = filtered_at(0.5, self.scores)
        np.testing.assert_array_equal(model.predict(X), [0.5, -np.inf, 0.5 + 2**-53])
        np.testing.assert_array_equal(model.rank(X, groups=np.zeros(3)), [2, 0, 1])
        np.testing.assert_array_equal(model.decision_function(X), [0, -(2**-54), 2**-53])

    def test_tuning_keeps_the_score_at_the_threshold(self):
        # No number lies between these scores, so that the threshold is the lowest to keep itself.
        X, model = filtered_at("tune", self.scores)
        assert model.threshold_ == 0.5
        assert model.best_score_ == 1.0
        np.testing.assert_array_equal(model.predict(X), [0.5, -np.inf, 0.5 + 2**-53])
        labels = np.array([1, -1, 1])
        assert model.score(X, labels, groups=np.arange(3)) == 1.0

    def test_each_query_keeps_the_score_at_its_own_threshold(self):
        class Halves(Cut):
            level = 0.0

            def keys(self, scores, more, index):
                return scores - np.where(index.codes() == 0, 0.5, 0.25)

        X, model = filtered_at(Threshold(Halves()), [0.5, 0.25, 0.5, 0.25, 0.125])
        groups = ["a", "a", "b", "b", "b"]
        np.testing.assert_array_equal(
            model.predict(X, groups=groups), [0.5, -np.inf, 0.5, 0.25, -np.inf]
        )

    @pytest.mark.slow
    @given(
        st.lists(st.floats(-10, 10), min_size=1, max_size=8),
        st.data(),
    )
    def test_predict_and_margin_agree(self, scores, data):
        threshold = data.draw(st.one_of(st.sampled_from(scores), st.floats(-10, 10)))
        X, model = filtered_at(threshold, scores)
        kept = X[:, 0] >= threshold
        np.testing.assert_array_equal(model.predict(X), np.where(kept, X[:, 0], -np.inf))
        np.testing.assert_array_equal(model.decision_function(X) >= 0, kept)
        np.testing.assert_array_equal(model.rank(X, groups=np.zeros(len(X))) > 0, kept)


@pytest.mark.parametrize("threshold", [-np.inf, np.inf])
def test_margins_of_an_infinite_threshold_keep_sign_and_order(data, threshold):
    model = RankAndFilter(Ridge(), threshold=threshold).fit(data.X, data.y, groups=data.groups)
    margins, scores = model.decision_function(data.X), model.estimator_.predict(data.X)
    np.testing.assert_array_equal(margins >= 0, np.full(len(scores), threshold < 0))
    np.testing.assert_array_equal(np.argsort(margins), np.argsort(scores))

"""What an estimator is given to learn from: rows, queries, weights, targets, held-out sets."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank.ranking import RankAndFilter
from skfilterrank.ranking._training_rows import prepare_rows


class Spy(BaseEstimator):
    """Keeps what `fit` is given."""

    def _keep(self, X, y, **given):
        self.X_, self.y_, self.given_ = np.asarray(X), np.asarray(y), given
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


class GroupSpy(Spy):
    def fit(self, X, y, sample_weight=None, group=None, eval_set=None, eval_group=None):
        return self._keep(
            X, y, group=group, weight=sample_weight, eval_set=eval_set, eval_group=eval_group
        )


class QidSpy(Spy):
    def fit(self, X, y, sample_weight=None, qid=None, eval_set=None, eval_qid=None):
        return self._keep(X, y, qid=qid, weight=sample_weight, eval_set=eval_set, eval_qid=eval_qid)


class GroupIdSpy(Spy):
    def fit(self, X, y, sample_weight=None, group_id=None):
        return self._keep(X, y, group_id=group_id, weight=sample_weight)


class GroupsSpy(Spy):
    def fit(self, X, y, sample_weight=None, groups=None, eval_set=None, eval_groups=None):
        return self._keep(X, y, groups=groups, weight=sample_weight, eval_groups=eval_groups)


class RegressorSpy(RegressorMixin, Spy):
    def fit(self, X, y, sample_weight=None):
        return self._keep(X, y, weight=sample_weight)


class ClassifierSpy(ClassifierMixin, Spy):
    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        return self._keep(X, y, weight=sample_weight)

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


class TestWhatTheEstimatorIsGiven:
    # Three queries, rows mixed.
    X = np.arange(7.0)[:, None]
    y = np.array([-1, 0, 2, -1, 2, 0, 2])
    groups = np.array(["b", "a", "c", "a", "b", "b", "b"])
    weight = np.array([10, 11, 12, 13, 14, 15, 16])
    in_query_order = (0, 4, 5, 6, 1, 3, 2)

    def fit(self, spy, **kwargs):
        model = RankAndFilter(spy, threshold=None, **kwargs.pop("parameters", {}))
        return model.fit(self.X, self.y, groups=self.groups, **kwargs).estimator_

    def test_group_sizes(self):
        spy = self.fit(GroupSpy(), sample_weight=self.weight)
        np.testing.assert_array_equal(spy.X_.ravel(), self.in_query_order)
        np.testing.assert_array_equal(spy.given_["group"], [4, 2, 1])
        np.testing.assert_array_equal(spy.given_["weight"], [10, 14, 15, 16, 11, 13, 12])
        np.testing.assert_array_equal(spy.y_, [0, 2, 1, 2, 1, 0, 2])

    def test_qid(self):
        weight_of_query = {"a": 1.0, "b": 2.0, "c": 3.0}
        weight = [weight_of_query[query] for query in self.groups]
        spy = self.fit(QidSpy(), sample_weight=weight)
        np.testing.assert_array_equal(spy.X_.ravel(), self.in_query_order)
        np.testing.assert_array_equal(spy.given_["qid"], [0, 0, 0, 0, 1, 1, 2])
        np.testing.assert_array_equal(spy.given_["weight"], [2, 1, 3])

    def test_qid_with_weights_that_differ_within_a_query(self):
        with pytest.raises(ValueError, match="QidSpy weights whole queries"):
            self.fit(QidSpy(), sample_weight=self.weight)

    def test_group_id(self):
        spy = self.fit(GroupIdSpy(), sample_weight=self.weight)
        np.testing.assert_array_equal(spy.X_.ravel(), self.in_query_order)
        np.testing.assert_array_equal(spy.given_["group_id"], [0, 0, 0, 0, 1, 1, 2])
        np.testing.assert_array_equal(spy.given_["weight"], [10, 14, 15, 16, 11, 13, 12])

    def test_groups_in_the_order_of_the_rows(self):
        spy = self.fit(GroupsSpy(), sample_weight=self.weight)
        np.testing.assert_array_equal(spy.X_, self.X)
        np.testing.assert_array_equal(spy.given_["groups"], self.groups)
        np.testing.assert_array_equal(spy.given_["weight"], self.weight)

    def test_sorted_rows_are_handed_on_as_they_are(self):
        order = list(self.in_query_order)
        X = self.X[order]
        model = RankAndFilter(GroupSpy(), threshold=None)
        model.fit(X, self.y[order], groups=self.groups[order])
        assert model.estimator_.X_ is X

    @pytest.mark.filterwarnings("ignore:no label has a gain below 0")
    def test_weights_are_cut_to_the_fold(self):
        folds = [([0, 1, 3, 4, 5, 6], [2])]
        spy = RankAndFilter(GroupIdSpy(), cv=folds, refit=False)
        spy.fit(self.X, self.y, groups=self.groups, sample_weight=self.weight)
        given = spy.estimator_.given_
        np.testing.assert_array_equal(given["group_id"], [0, 0, 0, 0, 1, 1])
        np.testing.assert_array_equal(given["weight"], [10, 14, 15, 16, 11, 13])

    def test_weights_of_unjudged_rows_are_cut_too(self):
        y = self.y.astype(float)
        y[4] = np.nan
        model = RankAndFilter(RegressorSpy(), threshold=None)
        with pytest.warns(UserWarning, match="1 of 7 rows are unjudged"):
            model.fit(self.X, y, groups=self.groups, sample_weight=self.weight)
        np.testing.assert_array_equal(model.estimator_.y_, [-1, 0, 2, -1, 0, 2])
        np.testing.assert_array_equal(model.estimator_.given_["weight"], [10, 11, 12, 13, 15, 16])

    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            ("binary", [0, 0, 1, 0, 1, 0, 1]),
            ("gain", [-10, 0, 3, -10, 3, 0, 3]),
            ("grade", [0, 1, 2, 0, 2, 1, 2]),
            ("label", [-1, 0, 2, -1, 2, 0, 2]),
        ],
    )
    def test_targets(self, target, expected):
        gains = {-1: -10, 0: 0, 2: 3}
        spy = self.fit(RegressorSpy(), parameters={"target": target, "gains": gains})
        np.testing.assert_array_equal(spy.y_, expected)

    @pytest.mark.parametrize(
        ("spy", "expected"),
        [
            (ClassifierSpy(), [0, 0, 1, 0, 1, 0, 1]),
            (RegressorSpy(), [-1, 0, 2, -1, 2, 0, 2]),
            (GroupsSpy(), [-1, 0, 2, -1, 2, 0, 2]),
        ],
    )
    def test_auto_target(self, spy, expected):
        np.testing.assert_array_equal(self.fit(spy).y_, expected)
        pipeline = self.fit(make_pipeline(StandardScaler(), spy))
        np.testing.assert_array_equal(pipeline[-1].y_, expected)

    def test_held_out_sets_are_sorted_and_encoded(self):
        eval_set = [(self.X[:4], self.y[:4]), (self.X[4:], self.y[4:])]
        eval_groups = [self.groups[:4], self.groups[4:]]
        spy = self.fit(GroupSpy(), eval_set=eval_set, eval_groups=eval_groups)
        assert [list(sizes) for sizes in spy.given_["eval_group"]] == [[1, 2, 1], [3]]
        (X, y), (X_other, y_other) = spy.given_["eval_set"]
        np.testing.assert_array_equal(X.ravel(), [0, 1, 3, 2])
        np.testing.assert_array_equal(y, [0, 1, 0, 2])
        np.testing.assert_array_equal(X_other.ravel(), [4, 5, 6])
        np.testing.assert_array_equal(y_other, [2, 1, 2])

    def test_one_held_out_set_may_come_without_a_list(self):
        spy = self.fit(QidSpy(), eval_set=(self.X, self.y), eval_groups=self.groups)
        assert [list(ids) for ids in spy.given_["eval_qid"]] == [[0, 0, 0, 0, 1, 1, 2]]

    def test_held_out_queries_may_come_in_the_index(self):
        y = pd.Series(self.y, index=pd.Index(self.groups, name="qid"))
        spy = self.fit(GroupsSpy(), eval_set=[(self.X, y)])
        np.testing.assert_array_equal(spy.given_["eval_groups"], [self.groups])

    def test_step_parameters_of_a_pipeline(self):
        pipeline = make_pipeline(StandardScaler(), RegressorSpy())
        fitted = self.fit(
            pipeline, standardscaler__sample_weight=self.weight, sample_weight=self.weight
        )
        assert fitted[0].mean_ == pytest.approx(np.average(self.X.ravel(), weights=self.weight))
        np.testing.assert_array_equal(fitted[1].given_["weight"], self.weight)
        named = self.fit(pipeline, regressorspy__sample_weight=self.weight)
        assert named[0].mean_ == 3
        np.testing.assert_array_equal(named[1].given_["weight"], self.weight)


@pytest.mark.filterwarnings("ignore:.*rows are unjudged")
def test_rows_without_a_label_do_not_decide_the_order_of_queries():
    X, groups = np.random.default_rng(0).normal(size=(40, 2)), np.repeat(np.arange(20), 2)
    y = np.where(np.arange(40) % 8, np.arange(40) % 3, np.nan)
    other = np.where(np.isnan(y)[:, None], 9.0, X)
    one, two = (prepare_rows(RegressorSpy(), each, y, groups, gains=None) for each in (X, other))
    np.testing.assert_array_equal(one.groups, two.groups)

"""One score per document from any fitted estimator."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRegressor
from sklearn.compose import make_column_transformer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skfilterrank._estimators.responses import document_scores
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import FilterOnly, QueryRanker, QueryScaler, RankAndFilter

X = np.array([[0.0], [1.0], [2.0], [3.0]])


def test_probability_that_the_gain_is_above_0():
    labels = ["Bad", "Dull", "Good", "Useful"]
    gains = {"Bad": -1, "Dull": 0, "Good": 2, "Useful": 1}
    for classifier in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        classifier.fit(X, labels)
        expected = classifier.predict_proba(X)[:, 2:].sum(axis=1)
        np.testing.assert_allclose(document_scores(classifier, X, gains=gains), expected)


def test_classes_that_are_numbers():
    classifier = LogisticRegression().fit(X, [-1, 0, 1, 2])
    expected = classifier.predict_proba(X)[:, 2:].sum(axis=1)
    np.testing.assert_allclose(document_scores(classifier, X), expected)


@pytest.mark.parametrize("classifier", [LinearSVC(), RidgeClassifier()])
@pytest.mark.parametrize(("bad", "good"), [("bad", "good"), ("spam", "ham"), (-1, 1), (0, 1)])
def test_decision_function_grows_with_the_good_class(classifier, bad, good):
    # scikit-learn's margin grows with the last class in sorted order, which may be the bad one.
    classifier.fit(X, [bad, bad, good, good])
    scores = document_scores(classifier, X, gains={bad: -1, good: 1})
    assert (np.diff(scores) > 0).all()


@pytest.mark.parametrize("labels", [["a", "b", "c", "c"], ["b", "b", "c", "c"]])
def test_classifiers_that_cannot_rank(labels):
    # Three classes, or two that are both good, are not told apart by one margin.
    classifier = LinearSVC().fit(X, labels)
    with pytest.raises(ValueError, match=r"LinearSVC has neither predict_proba nor .*Calibr"):
        document_scores(classifier, X, gains={"a": -1, "b": 1, "c": 2})


def test_classes_without_a_gain():
    classifier = LogisticRegression().fit(X, ["a", "a", "b", "b"])
    with pytest.raises(ValueError, match="the classifier's classes holds labels with no entry"):
        document_scores(classifier, X, gains={"a": 1})


def test_regressors_predict():
    regressor = Ridge().fit(X, [-1, 0, 1, 2])
    np.testing.assert_allclose(document_scores(regressor, X), regressor.predict(X))


class Diverged(Ridge):
    def predict(self, X):
        return np.full(len(X), np.nan)


class ForgetsARow(Ridge):
    def predict(self, X):
        return super().predict(X)[1:]


class FiltersByQuery(Ridge):
    def predict(self, X, groups=None):
        return np.where(np.asarray(groups) == "b", -np.inf, 1.0)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Diverged, "what Diverged predicts holds 4 NaN"),
        (ForgetsARow, r"ForgetsARow predicts .* got 3 scores for 4 rows of X"),
    ],
)
def test_each_row_has_a_score_that_is_a_number(kind, message):
    with pytest.raises(ValueError, match=message):
        document_scores(kind().fit(X, [1, 2, 3, 4]), X)


def test_query_ids_reach_estimators_that_ask():
    model = FiltersByQuery().fit(X, [1, 2, 3, 4])
    scores = document_scores(model, X, groups=["a", "b", "a", "b"])
    assert scores.tolist() == [1, -np.inf, 1, -np.inf]


@pytest.mark.slow
def test_frozen_models_are_seen_through():
    X, y, groups, _ = make_rank_and_filter(60, n_features=4, n_informative=3, random_state=0)
    table = pd.DataFrame(X, columns=list("abcd")).assign(qid=groups)
    # What chooses its columns by name may be given the query ids too.
    choosing = make_pipeline(make_column_transformer(("passthrough", ["a", "b"])), Ridge())
    frozen = FrozenEstimator(choosing.fit(table, y))
    for around in (FilterOnly(frozen), RankAndFilter(frozen, threshold=None, cv="prefit")):
        scores = around.fit(table, y, groups=groups).predict(table, groups=groups)
        assert np.isfinite(scores).all()
    # Steps that want the queries get them.
    scaled = QueryRanker(make_pipeline(QueryScaler(), Ridge())).fit(X, y, groups=groups)
    frozen = RankAndFilter(FrozenEstimator(scaled.estimator_), threshold=None, cv="prefit")
    frozen.fit(X, y, groups=groups)
    np.testing.assert_array_equal(
        frozen.predict(X, groups=groups), scaled.predict(X, groups=groups)
    )
    # And what it is measured by is that of the ranker inside.
    tuned = RankAndFilter(Ridge(), measure="dcg").fit(X, y, groups=groups)
    assert FilterOnly(FrozenEstimator(tuned)).measure == "dcg"


@pytest.mark.slow
@pytest.mark.parametrize("is_searched", [False, True])
def test_columns_are_looked_at_wherever_the_model_stands(is_searched):
    X, y, *_ = make_rank_and_filter(20, n_features=4, n_informative=3, random_state=0)
    table = pd.DataFrame(X, columns=list("abcd"))
    model = LGBMRegressor(n_estimators=3, verbose=-1)
    if is_searched:
        model = GridSearchCV(model, {"num_leaves": [5]}, cv=2, scoring="r2")
    model.fit(table, y)
    for around in (model, FrozenEstimator(model), Pipeline([("a", "passthrough"), ("b", model)])):
        assert np.isfinite(document_scores(around, table)).all()
        with pytest.raises(ValueError, match="must have the columns that LGBMRegressor"):
            document_scores(around, table[list("dcba")])

"""OrdinalRanker: the scores of the paper by hand, odd labels, and life inside scikit-learn."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import OrdinalRanker


class Share(ClassifierMixin, BaseEstimator):
    """P(1) of every row is the weighted share of 1 among the training rows."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.unique(y)
        self.y_ = np.asarray(y)
        self.sample_weight_ = sample_weight
        self.X_ = X
        self.share_ = np.average(y, weights=sample_weight)
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def predict_proba(self, X):
        return np.tile([1 - self.share_, self.share_], (len(X), 1))


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=300, bayes=False, random_state=0)


FIVE_ROWS = np.arange(5.0)[:, None]


def test_each_level_gets_the_question_whether_the_gain_is_above_it():
    ranker = OrdinalRanker(Share()).fit(FIVE_ROWS, [2, -1, 1, 2, 1])
    np.testing.assert_array_equal(ranker.levels_, [-1, 1, 2])
    np.testing.assert_array_equal(ranker.estimators_[0].y_, [1, 0, 1, 1, 1])
    np.testing.assert_array_equal(ranker.estimators_[1].y_, [1, 0, 0, 1, 0])
    np.testing.assert_allclose(ranker.predict_level_proba(FIVE_ROWS[:2]), [[4 / 5, 2 / 5]] * 2)


def test_score_is_the_sum_of_the_probabilities():
    ranker = OrdinalRanker(Share()).fit(FIVE_ROWS, [2, -1, 1, 2, 1])
    np.testing.assert_allclose(ranker.predict(FIVE_ROWS), [4 / 5 + 2 / 5] * 5)


def test_weighted_score_is_the_expected_gain_less_the_lowest():
    labels = [2, -10, 1, 2, 1]
    ranker = OrdinalRanker(Share(), weights="gain").fit(FIVE_ROWS, labels)
    # The steps are -10 -> 1 and 1 -> 2.
    np.testing.assert_allclose(ranker.predict(FIVE_ROWS), [11 * 4 / 5 + 1 * 2 / 5] * 5)
    np.testing.assert_allclose(ranker.predict(FIVE_ROWS), [np.mean(labels) + 10] * 5)


def test_weights_do_not_change_the_classifiers(data):
    plain = OrdinalRanker(gains={-1: -10, 1: 1, 2: 2}).fit(data.X, data.y)
    weighted = OrdinalRanker(gains={-1: -10, 1: 1, 2: 2}, weights="gain").fit(data.X, data.y)
    above = plain.predict_level_proba(data.X)
    np.testing.assert_array_equal(above, weighted.predict_level_proba(data.X))
    np.testing.assert_allclose(plain.predict(data.X), above.sum(axis=1))
    np.testing.assert_allclose(weighted.predict(data.X), above @ [11, 1])


def test_without_weights_only_the_order_of_the_gains_counts(data):
    plain = OrdinalRanker().fit(data.X, data.y).predict(data.X)
    other = OrdinalRanker(gains={-1: -50, 1: 0, 2: 3}).fit(data.X, data.y).predict(data.X)
    np.testing.assert_array_equal(plain, other)


def test_equal_gains_share_a_level(data):
    ranker = OrdinalRanker(gains={-1: -10, 1: 1, 2: 1}).fit(data.X, data.y)
    binary = LogisticRegression().fit(data.X, data.y > 0)
    np.testing.assert_array_equal(ranker.levels_, [-10, 1])
    np.testing.assert_allclose(ranker.predict(data.X), binary.predict_proba(data.X)[:, 1])


def test_labels_may_be_text():
    labels = ["Good", "Bad", "Useful", "Good", "Useful"]
    gains = {"Bad": -1, "Useful": 1, "Good": 2}
    ranker = OrdinalRanker(Share(), gains=gains).fit(FIVE_ROWS, labels)
    np.testing.assert_allclose(ranker.predict_level_proba(FIVE_ROWS[:1]), [[4 / 5, 2 / 5]])


@pytest.mark.filterwarnings("ignore:all 5 judged rows have the gain -3")
@pytest.mark.parametrize("weights", [None, "gain"])
def test_one_level_scores_that_gain(weights):
    ranker = OrdinalRanker(weights=weights).fit(FIVE_ROWS, [-3] * 5)
    np.testing.assert_array_equal(ranker.predict(FIVE_ROWS[:2]), [-3, -3])
    assert ranker.predict_level_proba(FIVE_ROWS).shape == (5, 0)
    assert ranker.n_features_in_ == FIVE_ROWS.shape[1]


def test_unjudged_rows_of_sparse_formats_without_rows(data):
    y = data.y.astype(float)
    y[::7] = np.nan
    with pytest.warns(UserWarning, match="unjudged"):
        expected = OrdinalRanker().fit(data.X, y).predict(data.X)
    with pytest.warns(UserWarning, match="unjudged"):
        ranker = OrdinalRanker().fit(sparse.coo_array(data.X), y)
    np.testing.assert_allclose(ranker.predict(sparse.csr_array(data.X)), expected, atol=1e-6)


def test_texts_through_a_pipeline_inside_and_around():
    texts = ["good answer", "spam", "so so answer", "good good", "spam spam", "so so"]
    labels = [2, -1, 1, 2, -1, 1]
    inside = OrdinalRanker(make_pipeline(CountVectorizer(), LogisticRegression()))
    around = make_pipeline(CountVectorizer(), OrdinalRanker())
    scores = inside.fit(texts, labels).predict(texts)
    np.testing.assert_allclose(around.fit(texts, labels).predict(texts), scores)
    assert min(scores[0], scores[3]) > max(scores[2], scores[5])
    assert min(scores[2], scores[5]) > max(scores[1], scores[4])


class TestMetadataRouting:
    def test_without_routing_fit_parameters_go_to_every_classifier(self):
        ranker = OrdinalRanker(Share()).fit(FIVE_ROWS, [0, 1, 2, 2, 2], sample_weight=range(5))
        for classifier in ranker.estimators_:
            assert list(classifier.sample_weight_) == list(range(5))

    def test_with_routing_the_classifier_must_ask(self):
        with sklearn.config_context(enable_metadata_routing=True):
            asks = OrdinalRanker(Share().set_fit_request(sample_weight=True))
            asks.fit(FIVE_ROWS, [0, 1, 2, 2, 2], sample_weight=np.arange(5))
            assert list(asks.estimators_[1].sample_weight_) == list(range(5))
            with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
                OrdinalRanker(Share()).fit(FIVE_ROWS, [0, 1, 2, 2, 2], sample_weight=np.arange(5))

    def test_an_alias_is_translated(self):
        with sklearn.config_context(enable_metadata_routing=True):
            ranker = OrdinalRanker(Share().set_fit_request(sample_weight="trust"))
            ranker.fit(FIVE_ROWS, [0, 1, 2, 2, 2], trust=np.arange(5))
            assert list(ranker.estimators_[0].sample_weight_) == list(range(5))

    def test_weights_reach_the_classifier_through_a_search(self, data):
        with sklearn.config_context(enable_metadata_routing=True):
            classifier = LogisticRegression().set_fit_request(sample_weight=True)
            search = GridSearchCV(
                OrdinalRanker(classifier),
                {"weights": ["gain"]},
                scoring=make_ranking_scorer("ndcg_f@3"),
                cv=GroupKFold(3),
                error_score="raise",
            )
            weight = np.where(data.y < 0, 5.0, 1.0)
            search.fit(data.X, data.y, groups=data.groups, sample_weight=weight)
        expected = OrdinalRanker(weights="gain").fit(data.X, data.y, sample_weight=weight)
        np.testing.assert_allclose(search.predict(data.X), expected.predict(data.X))


class TestBadInput:
    def test_estimator_without_probabilities(self):
        for estimator in (LinearSVC(), make_pipeline(StandardScaler(), Ridge())):
            with pytest.raises(ValueError, match=r"predict_proba, got (LinearSVC|Ridge)"):
                OrdinalRanker(estimator).fit(FIVE_ROWS, [0, 1, 2, 2, 1])

    def test_weights(self):
        with pytest.raises(ValueError, match="weights must be one of None, 'gain', got 'gains'"):
            OrdinalRanker(weights="gains").fit(FIVE_ROWS, [0, 1, 2, 2, 1])

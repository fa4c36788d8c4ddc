"""RankAndFilter with a second model, which learns what is to be hidden."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank._lists.gains import read_two_labels
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning, InputError, UnjudgedWarning
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import LambdaRankRanker, RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    FirstK,
    FixedThreshold,
    LearnedThreshold,
    TunedThreshold,
)


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=200, n_features=6, bayes=False, random_state=0)


@pytest.fixture(scope="module")
def model(data):
    model = RankAndFilter(Ridge(), filter_estimator=LogisticRegression(), measure="ndcg_f@3")
    return model.fit(data.X, data.y, groups=data.groups)


@pytest.fixture(scope="module")
def two_labels(data):
    """Relevance and harm, each unjudged for rows of its own."""
    relevance, harm = np.maximum(data.y, 0.0), np.where(data.y < 0, 2.0, 0.0)
    relevance[::5], harm[1::7] = np.nan, np.nan
    return np.column_stack([relevance, harm])


def test_labels_of_two_models_by_hand():
    """What is unjudged teaches neither of them."""
    for given, gains in (
        ([2.0, -1.0, 0.0, np.nan], None),
        ([[2.0, 0.0], [1.0, 1.0], [0.0, 0.0], [1.0, np.nan]], None),
        ([1, 2, 0, None], {0: 0, 1: 2, 2: -1}),
    ):
        y = pd.Series(given) if gains else np.array(given)
        labels = read_two_labels(y, gains)
        np.testing.assert_array_equal(labels.harm, [0, 1, 0, np.nan])
        np.testing.assert_array_equal(labels.gains, [2, -1, 0, np.nan])
        relevance = [2, 1, 0, 1] if np.ndim(y) == 2 else [2, 0, 0, np.nan]
        np.testing.assert_array_equal(labels.relevance, relevance)


class TestWhatIsLearned:
    def test_by_a_classifier(self, data, model):
        expected = LogisticRegression().fit(data.X, data.y < 0)
        np.testing.assert_allclose(model.filter_estimator_.coef_, expected.coef_)
        # The other model counts forbidden documents as gain 0.
        expected = Ridge().fit(data.X, np.maximum(data.y, 0))
        np.testing.assert_allclose(model.estimator_.coef_, expected.coef_)

    def test_by_a_regressor(self, data):
        model = RankAndFilter(LogisticRegression(), filter_estimator=Ridge(), measure="ndcg_f@3")
        model.fit(data.X, data.y, groups=data.groups)
        expected = Ridge().fit(data.X, (data.y < 0).astype(float))
        np.testing.assert_allclose(model.filter_estimator_.coef_, expected.coef_)
        assert model.score(data.X, data.y, groups=data.groups) > 0.6

    @pytest.mark.filterwarnings("ignore:queries without a judged")
    def test_of_two_labels_each_from_its_own_rows(self, data, two_labels):
        model = RankAndFilter(Ridge(), filter_estimator=LogisticRegression(), measure="ndcg_f@3")
        with pytest.warns(UnjudgedWarning, match="are unjudged") as told:
            model.fit(data.X, two_labels, groups=data.groups)
        n_rows = len(data.y)
        n_relevance, n_harm = np.isnan(two_labels).sum(axis=0)
        unjudged = [str(each.message) for each in told if each.category is UnjudgedWarning]
        assert unjudged == [
            f"{n_relevance} of {n_rows} rows are unjudged (NaN relevance): estimator skips them.",
            f"{n_harm} of {n_rows} rows are unjudged (NaN harm): filter_estimator skips them.",
        ]
        judged = ~np.isnan(two_labels)
        expected = Ridge().fit(data.X[judged[:, 0]], two_labels[judged[:, 0], 0])
        np.testing.assert_allclose(model.estimator_.coef_, expected.coef_)
        rows = judged[:, 1]
        expected = LogisticRegression().fit(data.X[rows], two_labels[rows, 1] > 0)
        np.testing.assert_allclose(model.filter_estimator_.coef_, expected.coef_)
        # Harm is what a forbidden document costs; where it is unknown, so is the gain.
        relevance, harm = two_labels.T
        gains = np.where(harm > 0, -harm, np.where(np.isnan(harm), np.nan, relevance))
        kept = model.predict(data.X, groups=data.groups)
        expected = ndcg_f_score(gains, kept, groups=data.groups, k=3)
        assert model.score(data.X, two_labels, data.groups) == pytest.approx(expected)

    def test_of_named_columns_in_any_order(self, data):
        y = pd.DataFrame({"harm": (data.y < 0) * 2.0, "relevance": np.maximum(data.y, 0)})
        model = RankAndFilter(Ridge(), filter_estimator=LogisticRegression(), measure="ndcg_f@3")
        model.fit(data.X, y, groups=data.groups)
        expected = Ridge().fit(data.X, y["relevance"])
        np.testing.assert_allclose(model.estimator_.coef_, expected.coef_)
        score = model.score(data.X, y, groups=data.groups)
        by_position = y[["relevance", "harm"]].to_numpy()
        assert model.score(data.X, by_position, groups=data.groups) == score

    @pytest.mark.slow
    def test_of_a_table_with_query_ids(self, data):
        y = np.column_stack([np.maximum(data.y, 0), data.y < 0])
        model = RankAndFilter(Ridge(), filter_estimator=LogisticRegression(), measure="ndcg_f@3")
        one = clone(model).fit(data.X, y, groups=data.groups)
        index = pd.Index(data.groups, name="qid")
        two = clone(model).fit(data.X, pd.DataFrame(y, columns=["good", "bad"], index=index))
        np.testing.assert_array_equal(
            one.predict(data.X, groups=data.groups), two.predict(data.X, groups=data.groups)
        )

    def test_gains_are_those_of_relevance(self, data):
        words = np.array(["off", "fair", "good"], dtype=object)[np.maximum(data.y, 0)]
        y = np.empty((len(words), 2), dtype=object)
        y[:, 0], y[:, 1] = words, (data.y < 0).astype(float)
        gains = {"off": 0, "fair": 1, "good": 2}
        model = RankAndFilter(Ridge(), filter_estimator=LogisticRegression(), gains=gains)
        model.fit(data.X, y, groups=data.groups)
        expected = Ridge().fit(data.X, np.maximum(data.y, 0))
        np.testing.assert_allclose(model.estimator_.coef_, expected.coef_)


class TestWhatIsHidden:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "threshold",
        [
            TunedThreshold("ndcg_f@3"),
            TunedThreshold("ndcg_f@3", max_shown=2),
            CertifiedThreshold({"any_forbidden@3": 0.4}, measure="ndcg_f@3"),
        ],
        ids=str,
    )
    def test_is_that_of_the_threshold_on_both_scores(self, data, threshold):
        ranker = Ridge().fit(data.X, np.maximum(data.y, 0))
        judge = LogisticRegression().fit(data.X, data.y < 0)
        model = RankAndFilter(ranker, threshold, filter_estimator=judge, cv="prefit")
        model.fit(data.X, data.y, groups=data.groups)
        scores, harm = ranker.predict(data.X), judge.predict_proba(data.X)[:, 1]
        given, both = {"groups": data.groups}, np.column_stack([scores, harm])
        alone = clone(threshold).fit(both, data.y, **given)
        np.testing.assert_array_equal(
            model.predict(data.X, groups=data.groups), alone.predict(both, **given)
        )
        np.testing.assert_array_equal(
            model.rank(data.X, groups=data.groups), alone.rank(both, **given)
        )
        assert model.best_score_ == pytest.approx(alone.best_score_)

    def test_harm_hides_what_the_second_model_says(self, data):
        model = RankAndFilter(
            Ridge(), TunedThreshold(rule="harm"), filter_estimator=LogisticRegression()
        ).fit(data.X, data.y, groups=data.groups)
        shown = model.predict(data.X, groups=data.groups)
        kept = shown > -np.inf
        assert 0.1 < kept.mean() < 0.95
        # The order is that of the first model.
        np.testing.assert_allclose(shown[kept], model.estimator_.predict(data.X)[kept])
        harm = model.filter_estimator_.predict_proba(data.X)[:, 1]
        np.testing.assert_array_equal(kept, harm <= -model.filter_.level_)

    @pytest.mark.slow
    def test_row_order_is_no_matter(self, data, model):
        order = np.random.default_rng(0).permutation(len(data.y))
        other = clone(model).fit(data.X[order], data.y[order], groups=data.groups[order])
        np.testing.assert_allclose(
            other.predict(data.X, groups=data.groups), model.predict(data.X, groups=data.groups)
        )


class TestAsEstimator:
    def test_clone_and_pickle(self, data, model):
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(
            copy.predict(data.X, groups=data.groups), model.predict(data.X, groups=data.groups)
        )
        assert not hasattr(clone(model), "filter_estimator_")
        assert not hasattr(model.filter_estimator, "coef_")

    def test_fitting_again_without_it_forgets_it(self, data, model):
        again = pickle.loads(pickle.dumps(model)).set_params(filter_estimator=None)
        again.fit(data.X, data.y, groups=data.groups)
        assert not hasattr(again, "filter_estimator_")
        assert len(again.predict(data.X)) == len(data.y)

    @pytest.mark.slow
    def test_in_a_search(self, data):
        with sklearn.config_context(enable_metadata_routing=True):
            search = GridSearchCV(
                RankAndFilter(Ridge(), filter_estimator=LogisticRegression(), cv=2),
                {"filter_estimator__C": [1e-3, 1.0]},
                cv=GroupKFold(2),
                error_score="raise",
            ).fit(data.X, data.y, groups=data.groups)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()


class TestErrors:
    def fit(self, data, y=None, threshold="tune", filter_estimator=None, **parameters):
        judge = LogisticRegression() if filter_estimator is None else filter_estimator
        model = RankAndFilter(Ridge(), threshold, filter_estimator=judge, **parameters)
        return model.fit(data.X, data.y if y is None else y, groups=data.groups)

    @pytest.mark.parametrize(
        "threshold", [0.3, None, FirstK(), FixedThreshold(0.3), LearnedThreshold()], ids=str
    )
    def test_thresholds_that_look_at_one_score(self, data, threshold):
        with pytest.raises(InputError, match=r"filter_estimator has no effect with (F|LearnedT)"):
            self.fit(data, threshold=threshold)
        if isinstance(threshold, FirstK):
            with pytest.raises(InputError, match="scores has two columns, but FirstK reads one"):
                threshold.fit(np.ones((len(data.y), 2)), data.y, groups=data.groups)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            *[
                ({"filter_estimator": judge}, "filter_estimator must be a classifier or a regr")
                for judge in (LogisticRegression, "logistic", LambdaRankRanker())
            ],
            ({"target": "label"}, "target='label' is not possible with filter_est"),
        ],
    )
    def test_what_cannot_learn_harm(self, data, parameters, message):
        with pytest.raises(InputError, match=message):
            self.fit(data, **parameters)

    def test_labels(self, data):
        three = np.zeros((len(data.y), 3))
        with pytest.raises(InputError, match=r"y must have one column of labels, or two .* got 3"):
            self.fit(data, three)
        with pytest.raises(InputError, match="y has the harm -1: give 0 for a harmless document"):
            self.fit(data, np.column_stack([np.maximum(data.y, 0), data.y]))
        with pytest.raises(InputError, match=r"y has two columns, .* filter_estimator= is None"):
            RankAndFilter(Ridge()).fit(data.X, three[:, :2], groups=data.groups)
        unknown = np.column_stack([np.full(len(data.y), np.nan), data.y < 0])
        with pytest.raises(InputError, match="y holds no judged relevance: expected at least one"):
            self.fit(data, unknown)

    @pytest.mark.parametrize("second", [LogisticRegression(), Ridge()])
    def test_nothing_to_hide(self, data, second):
        model = RankAndFilter(Ridge(), filter_estimator=second, measure="ndcg_f@3")
        with pytest.raises(InputError, match="no row is forbidden, so filter_estimator has noth"):
            model.fit(data.X, np.maximum(data.y, 0), groups=data.groups)

    def test_few_forbidden_rows_are_told(self, data):
        y = np.maximum(data.y, 0)
        y[np.flatnonzero(data.y < 0)[:40]] = -1
        with pytest.warns(FitWarning, match="learns from 40 forbidden rows, fewer than 50"):
            self.fit(data, y)


@pytest.mark.parametrize("filter_estimator", [None, LogisticRegression()])
def test_a_second_model_set_after_fit_waits_for_the_next_one(filter_estimator, data):
    X, y, groups = data.X, data.y, data.groups
    model = RankAndFilter(LogisticRegression(), filter_estimator=filter_estimator)
    before = model.fit(X, y, groups=groups).predict(X, groups=groups)
    model.set_params(filter_estimator=LogisticRegression() if filter_estimator is None else None)
    np.testing.assert_array_equal(model.predict(X, groups=groups), before)


def test_a_certificate_says_that_the_second_model_knows_the_queries():
    X, y, groups, _ = make_rank_and_filter(200, random_state=0)
    ours = groups < 100
    one = RankAndFilter(LogisticRegression(), None).fit(X[~ours], y[~ours], groups=groups[~ours])
    two = RankAndFilter(Ridge(), None).fit(X, np.where(y < 0, 1.0, 0.0), groups=groups)
    safe = CertifiedThreshold({"any_forbidden@3": 0.4}, confidence_level=0.8)
    model = RankAndFilter(one, safe, filter_estimator=two, cv="prefit")
    with pytest.warns(FitWarning, match="are queries that the estimator was fitted on"):
        model.fit(X[ours], y[ours], groups=groups[ours])
    assert not model.certificate_.facts["exact"]

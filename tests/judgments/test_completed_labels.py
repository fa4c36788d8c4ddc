"""CompletedLabels and make_completed_scorer: what they complete, and what they do not look at."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from completions import NAN, Recorder, make_data
from scikit_learn_checks import assert_passes_checks
from selections import mask
from skfilterrank.exceptions import DataWarning, FitWarning
from skfilterrank.judgments import (
    CompletedLabels,
    LabelPredictor,
    MaxRepSelector,
    make_completed_scorer,
)
from skfilterrank.metrics import average_precision_score, make_ranking_scorer
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import PerQueryThreshold


@pytest.fixture
def data():
    """Rows of which half are unjudged, queries in the index of y."""
    return make_data(12)


@pytest.fixture
def less_data():
    """The same of fewer queries, for what is completed many times."""
    return make_data(5)


@pytest.mark.slow
def test_the_estimator_gets_completed_labels():
    X, y, _, truth = make_data(24)
    model = CompletedLabels(Recorder()).fit(X, y)
    known = y.notna().to_numpy()
    found = model.estimator_.y_
    assert found.index.equals(y.index)
    np.testing.assert_array_equal(found[known], y[known])
    assert found.notna().all()
    # Better than the commonest label everywhere (0.40 of the rows), and in the right order.
    is_right = (found == truth)[~known].mean()
    assert is_right > truth[~known].value_counts(normalize=True).max() + 0.05
    assert np.corrcoef(found[~known], truth[~known])[0, 1] > 0.35
    assert model.n_imputed_ == (~known).sum()
    assert model.n_left_ == 0
    np.testing.assert_array_equal(model.predictor_.imputed_, ~known)
    assert y.isna().any()


class TellsJudges(Recorder):
    """Takes who gave a label."""

    takes_judged_by = True

    def fit(self, X, y, groups=None, sample_weight=None, judged_by=None):
        self.judged_by_ = judged_by
        return super().fit(X, y, groups, sample_weight)


def test_who_gave_a_label_is_told_to_whom_it_matters(less_data):
    X, y, _, _ = less_data
    model = CompletedLabels(TellsJudges()).fit(X, y)
    expected = np.where(y.notna(), "people", "predicted")
    assert model.estimator_.judged_by_.tolist() == expected.tolist()


@pytest.mark.slow
def test_queries_by_argument_or_by_index(less_data):
    X, y, groups, _ = less_data
    expected = CompletedLabels(Recorder()).fit(X, y).estimator_
    model = CompletedLabels(Recorder()).fit(X, y.to_numpy(), groups=groups)
    assert isinstance(model.estimator_.y_, np.ndarray)
    np.testing.assert_array_equal(model.estimator_.y_, expected.y_)
    np.testing.assert_array_equal(model.estimator_.groups_, groups)
    np.testing.assert_array_equal(expected.groups_, groups)
    with pytest.raises(ValueError, match="groups is missing"):
        CompletedLabels(Recorder()).fit(X, y.to_numpy())
    # In a Pipeline the queries go to the last step.
    model = CompletedLabels(make_pipeline(sklearn.preprocessing.StandardScaler(), Recorder()))
    np.testing.assert_array_equal(model.fit(X, y).estimator_[-1].groups_, groups)


@pytest.mark.filterwarnings("ignore:.*labels are -1")
def test_what_is_judged_is_passed_on_as_it_is(data):
    X, _, _, truth = data
    labels = truth.to_numpy().astype(int)
    assert (labels == -1).any()
    model = CompletedLabels(Recorder()).fit(X, labels)
    assert model.estimator_.y_ is labels
    assert model.predictor_ is None
    assert model.n_imputed_ == model.n_left_ == 0
    scorer = make_completed_scorer("ndcg_f@5")
    fitted = CompletedLabels(Ridge()).fit(X, labels)
    assert scorer(fitted, X, truth) == make_ranking_scorer("ndcg_f@5")(fitted, X, truth)


@pytest.mark.slow
def test_kinds_of_documents(less_data):
    """The same labels from texts in a list, a column, and by the predictor's own table."""
    X, y, groups, _ = less_data
    words = np.array(["bad", "fair", "good"])
    texts = [
        " ".join([words[int(value > 0)], *np.where(row[:6] > 0, list("abcdef"), "z")])
        + " x y zz qq"
        for value, row in zip(X[:, 0], X)
    ]
    T = pd.DataFrame({"qid": groups, "text": texts, "label": y.to_numpy()})
    expected = LabelPredictor().fit_transform(T)["label"].to_numpy()
    series = pd.Series(texts)
    for given in (series, np.array(texts, dtype=object), T):
        model = CompletedLabels(Recorder()).fit(given, y)
        np.testing.assert_array_equal(model.estimator_.y_, expected)
    features = pd.DataFrame(X[:, :3], columns=["a", "b", "c"])
    table = features.assign(qid=groups, label=y.to_numpy())
    expected = LabelPredictor(text=None, features=["a", "b"]).fit_transform(table)["label"]
    model = CompletedLabels(Recorder(), predictor=LabelPredictor(text=None, features=["a", "b"]))
    np.testing.assert_array_equal(model.fit(features, y).estimator_.y_, expected)
    dense = CompletedLabels(Recorder()).fit(X[:, :3], y).estimator_.y_
    np.testing.assert_array_equal(CompletedLabels(Recorder()).fit(features, y).estimator_.y_, dense)
    rows = sparse.csr_array(X[:, :3])
    found = CompletedLabels(Recorder()).fit(rows, y).estimator_.y_
    np.testing.assert_array_equal(
        CompletedLabels(Recorder()).fit(rows.tocoo(), y).estimator_.y_, found
    )
    # Sparse columns are scaled but not centred, so that some rows at the edge differ.
    assert (found == dense).mean() >= 0.95
    with pytest.raises(ValueError, match="labels cannot be predicted from X"):
        CompletedLabels(Recorder()).fit(T[["text"]].rename(columns={"text": "words"}), y)


@pytest.mark.slow
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, sparse.csc_matrix])
def test_units_of_the_columns_do_not_matter(data, container):
    X, y, _, _ = data
    y = y.iloc[:100]
    # Powers of two, so that scaling is exact.
    units = 2.0 ** np.array([12, -9, *[0] * (X.shape[1] - 2)])
    plain, other = container(X[:100]), container(X[:100] * units)
    expected = CompletedLabels(Recorder()).fit(plain, y)
    found = CompletedLabels(Recorder()).fit(other, y)
    np.testing.assert_array_equal(found.estimator_.y_, expected.estimator_.y_)
    np.testing.assert_allclose(found.predictor_.confidence_, expected.predictor_.confidence_)
    # What the estimator learns from is not scaled.
    assert abs(found.estimator_.X_ - other).max().max() == 0


def test_numbers_are_scaled_as_feature_columns_are(less_data):
    X, y, groups, _ = less_data
    T = pd.DataFrame(X * 50, columns=[f"f{i}" for i in range(X.shape[1])])
    names = list(T.columns)
    table = T.assign(qid=groups, label=y.to_numpy())
    expected = LabelPredictor(text=None, features=names).fit_transform(table)["label"]
    found = CompletedLabels(Recorder()).fit(X * 50, y).estimator_.y_
    np.testing.assert_array_equal(found, expected)


def test_rows_that_stay_unjudged_are_left_out(less_data):
    X, y, groups, _ = less_data
    y = y.mask(y.index == groups[0])
    weights = np.arange(len(y), dtype=float)
    with pytest.warns(UserWarning, match="stay unjudged"):
        model = CompletedLabels(Recorder()).fit(X, y, sample_weight=weights)
    kept = np.asarray(groups) != groups[0]
    assert model.n_left_ == (~kept).sum()
    np.testing.assert_array_equal(model.estimator_.X_, X[kept])
    np.testing.assert_array_equal(model.estimator_.groups_, np.asarray(groups)[kept])
    np.testing.assert_array_equal(model.estimator_.weights_, weights[kept])
    assert not np.isnan(model.estimator_.y_).any()


@pytest.mark.slow
def test_the_estimators_methods(less_data):
    X, y, groups, truth = less_data
    model = CompletedLabels(LogisticRegression()).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.estimator_.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), model.estimator_.predict_proba(X))
    np.testing.assert_array_equal(model.decision_function(X), model.estimator_.decision_function(X))
    assert model.score(X, truth) == model.estimator_.score(X, truth)
    assert model.classes_.tolist() == [-1, 1, 2]
    assert model.n_features_in_ == X.shape[1]
    assert is_classifier(model)
    assert is_regressor(CompletedLabels(Ridge()))
    assert not hasattr(CompletedLabels(Ridge()), "predict_proba")
    assert not hasattr(CompletedLabels(OneClassSVM()), "score")
    model = CompletedLabels(RankAndFilter(Ridge(), threshold=0.5)).fit(X, y, groups=groups)
    scores = model.predict(X)
    assert np.isneginf(scores).any()
    assert model.score(X, truth) == model.estimator_.score(X, truth)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), scores)
    per_query = RankAndFilter(Ridge(), PerQueryThreshold(), measure="ndcg_f@3")
    model = CompletedLabels(per_query).fit(X, y)
    expected = model.estimator_.predict(X, groups=groups)
    np.testing.assert_array_equal(model.predict(X, groups=groups), expected)


# Leakage.


@pytest.mark.slow
def test_a_training_fold_is_completed_by_itself(less_data):
    """Labels of the held-out queries, right or wrong, change nothing in the training."""
    X, y, groups, _ = less_data
    rng = np.random.RandomState(1)
    for train, test in GroupKFold(2).split(X, y, groups):
        shuffled = y.copy()
        shuffled.iloc[test] = rng.permutation(y.iloc[test].to_numpy())
        runs = [
            cross_validate(
                CompletedLabels(Recorder()), X, labels, cv=[(train, test)],
                scoring=lambda *args: 0.0, return_estimator=True,
            )["estimator"][0]
            for labels in (y, shuffled)
        ]  # fmt: skip
        alone = CompletedLabels(Recorder()).fit(X[train], y.iloc[train])
        for model in runs:
            np.testing.assert_array_equal(model.estimator_.y_, alone.estimator_.y_)


# Model selection.


@pytest.mark.slow
def test_grid_search_over_the_estimator_and_the_predictor(less_data):
    X, y, groups, _ = less_data
    search = GridSearchCV(
        CompletedLabels(
            RankAndFilter(Ridge(), measure="ndcg_f@5", cv=2), predictor=LabelPredictor()
        ),
        [{"estimator__estimator__alpha": [0.1, 10.0]}, {"predictor__output": ["soft"]}],
        scoring=make_completed_scorer("ndcg_f@5"),
        cv=GroupKFold(2),
        error_score="raise",
    ).fit(X, y, groups=groups)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.5


@pytest.mark.slow
def test_grid_search_over_the_selector(less_data):
    """With a budget, the strategy says which labels are learned from: others are hidden."""
    X, _, groups, truth = less_data
    model = CompletedLabels(
        Recorder(), predictor=LabelPredictor(selector=MaxRepSelector(), n_per_query=4)
    )
    assert "predictor__selector__threshold" in model.get_params()
    fitted = clone(model).fit(X, truth)
    asked = mask(MaxRepSelector().fit(StandardScaler().fit_transform(X), groups=groups), 4)
    np.testing.assert_array_equal(fitted.predictor_.imputed_, ~asked)
    np.testing.assert_array_equal(fitted.estimator_.y_[asked], truth[asked])
    assert (fitted.estimator_.y_ != truth)[~asked].mean() > 0.2
    hidden = CompletedLabels(Recorder()).fit(X, truth.where(asked))
    pd.testing.assert_series_equal(fitted.estimator_.y_, hidden.estimator_.y_)
    search = GridSearchCV(
        CompletedLabels(
            Ridge(), predictor=LabelPredictor(selector=MaxRepSelector(), n_per_query=4)
        ),
        {"predictor__selector__threshold": [0.3, 0.9], "predictor__n_per_query": [3, 0.5]},
        scoring=make_ranking_scorer("ndcg_f@5"),
        cv=GroupKFold(2),
        error_score="raise",
    ).fit(X, truth, groups=groups)
    assert len(set(search.cv_results_["mean_test_score"])) == 4


def test_a_selector_without_a_budget_says_nothing(data):
    X, y, _, _ = data
    model = CompletedLabels(Recorder(), predictor=LabelPredictor(selector=MaxRepSelector()))
    with pytest.warns(FitWarning, match=r"selector=MaxRepSelector\(\) has no effect: with n_per"):
        model.fit(X, y)


@pytest.mark.slow
def test_text_in_a_pipeline():
    _, y, groups, truth = make_data(8)
    rng = np.random.RandomState(0)
    words = {-1.0: "spam offer", 1.0: "plain answer", 2.0: "great helpful"}
    texts = [f"{words[label]} {' '.join(rng.choice(list('abcdefgh'), 3))} d" for label in truth]
    table = pd.DataFrame({"text": texts}, index=y.index)
    ranker = make_pipeline(make_column_transformer((TfidfVectorizer(), "text")), Ridge())
    scores = cross_val_score(
        CompletedLabels(RankAndFilter(ranker, cv=2)), table, y, groups=groups, cv=GroupKFold(3),
        scoring=make_completed_scorer("ndcg_f"), error_score="raise",
    )  # fmt: skip
    assert scores.min() > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("kind", [float, int, "Int64"])
def test_minus_one_where_nothing_is_missing(data, kind):
    X, y, _, _ = data
    coded = y.fillna(-1).astype(kind)
    message = r"y has no NaN.* \d+ of its 240 labels are -1.*forbidden. Use NaN"
    with pytest.warns(UserWarning, match=message) as caught:
        model = CompletedLabels(Recorder()).fit(X, coded)
    assert caught[0].filename == __file__
    assert model.predictor_ is None
    with pytest.warns(UserWarning, match=message) as caught:
        make_completed_scorer("ndcg@5")(model, X, coded)
    assert caught[0].filename == __file__
    # Other labels below 0, or a NaN, are no reason.
    CompletedLabels(Recorder()).fit(X, coded.replace(-1, -2))
    CompletedLabels(Recorder()).fit(X, coded.astype(float).where(np.arange(len(y)) != 3))


def test_bad_input(data):
    X, y, _, _ = data
    with pytest.raises(ValueError, match="predictor must be a LabelPredictor or None"):
        make_completed_scorer("ap", predictor=Ridge())
    with pytest.raises(ValueError, match="predictor must be a LabelPredictor or None"):
        CompletedLabels(Ridge(), predictor="svm").fit(X, y)
    with pytest.raises(ValueError, match="no row is judged"):
        CompletedLabels(Ridge()).fit(X, y * NAN)
    model = CompletedLabels(Ridge()).fit(X, y)
    with pytest.raises(ValueError, match="y has no judged row in the held-out fold: all 240"):
        make_completed_scorer("ap")(model, X, y * NAN)
    with pytest.raises(ValueError, match="y has 3 labels but X has 240 rows"):
        CompletedLabels(Ridge()).fit(X, y.iloc[:3])
    with pytest.raises(ValueError, match="y must hold numbers, NaN where unjudged, got 'good'"):
        CompletedLabels(Ridge()).fit(X, y.astype(object).where(y.isna(), "good"))
    with pytest.raises(ValueError, match="output must be one of"):
        CompletedLabels(Ridge(), predictor=LabelPredictor(output="none")).fit(X, y)
    with pytest.raises(AttributeError, match="no attribute 'n_features_in_'"):
        _ = CompletedLabels(Ridge()).n_features_in_
    assert repr(make_completed_scorer("ap@10")) == "make_completed_scorer('ap@10', predictor=None)"
    assert clone(CompletedLabels(Ridge())).predictor is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [pytest.param(Ridge(), marks=pytest.mark.nightly), LogisticRegression(C=0.1)],
)
def test_scikit_learn_checks(learner):
    assert_passes_checks(CompletedLabels(learner))


pytestmark = pytest.mark.slow


@pytest.fixture
def fewer_rows():
    """The same of fewer queries, for what is completed many times."""
    return make_data(5)


@pytest.mark.parametrize(
    "predictor",
    [
        LabelPredictor(),
        LabelPredictor(one_class="pool", unjudged_query="pool", output="soft"),
    ],
    ids=str,
)
def test_a_held_out_fold_is_completed_by_itself(fewer_rows, predictor):
    """Labels of the training queries change nothing in the truth, nor does the model scored."""
    X, y, groups, _ = fewer_rows
    rng = np.random.RandomState(1)
    train, test = next(GroupKFold(4).split(X, y, groups))
    seen = []

    class Spy:
        arguments = "'ap'"

        def __call__(self, estimator, X, y, groups=None, query_weight=None):
            seen.append(np.asarray(y))
            return 0.0

    scorer = make_completed_scorer("ap", predictor=predictor)
    scorer._scorer = Spy()
    shuffled = y.copy()
    shuffled.iloc[train] = rng.permutation(y.iloc[train].to_numpy())
    for labels, model in ((y, Ridge()), (y, Ridge(1e6)), (shuffled, Ridge())):
        cross_val_score(
            CompletedLabels(model, predictor=predictor), X, labels, cv=[(train, test)],
            scoring=scorer, error_score="raise",
        )  # fmt: skip
    assert len(seen) == 3
    for labels in seen[1:]:
        np.testing.assert_array_equal(labels, seen[0])
    known = y.iloc[test].notna().to_numpy()
    np.testing.assert_array_equal(seen[0][known], y.iloc[test][known])
    assert not np.isnan(seen[0]).any()


@pytest.mark.nightly
@pytest.mark.parametrize("predictor", [None, LabelPredictor(one_class="pool")], ids=str)
def test_random_labels_give_chance_scores(predictor):
    """Labels drawn at random cannot be learned; a leak of any kind would show."""
    rng = np.random.RandomState(0)
    found, chance = [], []
    for _ in range(10):
        X = rng.normal(size=(180, 5))
        groups = np.repeat(np.arange(6), 30)
        y = pd.Series(rng.rand(180) < 0.4, index=pd.Index(groups, name="qid"), dtype=float)
        y[rng.rand(180) < 0.4] = NAN
        scorer = make_completed_scorer("ap", predictor=predictor)
        model = CompletedLabels(Ridge(), predictor=predictor)
        found.append(
            cross_val_score(model, X, y, groups=groups, cv=GroupKFold(3), scoring=scorer).mean()
        )
        # Many scores at random against labels that are completed once.
        labels = CompletedLabels(Recorder(), predictor=predictor).fit(X, y).estimator_.y_
        scores = rng.rand(20, 180)
        chance.append(
            np.mean([average_precision_score(labels, each, groups=groups) for each in scores])
        )
    difference = np.array(found) - chance
    assert abs(difference.mean()) < 3 * difference.std(ddof=1) / np.sqrt(len(difference))
    assert abs(difference.mean()) < 0.05


def test_score_is_the_measure_of_completed_labels(fewer_rows):
    X, y, groups, _ = fewer_rows
    model = Ridge().fit(X, y.fillna(0))
    fitted = CompletedLabels(Recorder()).fit(X, y)
    expected = average_precision_score(fitted.estimator_.y_, model.predict(X), groups=groups)
    assert make_completed_scorer("ap")(model, X, y) == expected
    low = make_completed_scorer("forbidden@3")
    assert low(model, X, y) <= 0


def test_ap_by_labels_from_texts_is_warned_of(fewer_rows):
    X, y, groups, _ = fewer_rows
    words = np.array(["bad", "good"])
    texts = pd.DataFrame({"text": [f"{words[int(row[0] > 0)]} answer" for row in X]})

    class Fixed(RegressorMixin, BaseEstimator):
        def predict(self, X):
            return np.arange(len(X), dtype=float)

    y.index = pd.Index(groups, name="qid")
    with pytest.warns(DataWarning, match=r"AP by labels .* unjudged='drop'"):
        make_completed_scorer(["ndcg_f@5", "ap"])(Fixed(), texts, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        make_completed_scorer("ndcg_f@5")(Fixed(), texts, y)
        make_completed_scorer("ap")(Fixed(), X, y)


def test_metadata_routing(fewer_rows):
    X, y, groups, _ = fewer_rows
    ranker = RankAndFilter(Ridge(), measure="ndcg_f@5", cv=2)
    expected = cross_val_score(
        CompletedLabels(ranker), X, y, groups=groups, cv=GroupKFold(2),
        scoring=make_completed_scorer("ndcg_f@5"),
    )  # fmt: skip
    with sklearn.config_context(enable_metadata_routing=True):
        for model in (CompletedLabels(ranker), CompletedLabels(Ridge())):
            found = cross_val_score(
                model, X, y.to_numpy(), params={"groups": groups}, cv=GroupKFold(2),
                scoring=make_completed_scorer("ndcg_f@5"), error_score="raise",
            )  # fmt: skip
            if isinstance(model.estimator, RankAndFilter):
                np.testing.assert_array_equal(found, expected)

"""Held-out rows are completed from themselves before they are scored."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, cross_val_score

from completions import NAN, Recorder, make_data
from skfilterrank.exceptions import DataWarning
from skfilterrank.judgments import (
    CompletedLabels,
    LabelPredictor,
    make_completed_scorer,
)
from skfilterrank.metrics import average_precision_score
from skfilterrank.ranking import RankAndFilter

pytestmark = pytest.mark.slow


@pytest.fixture
def less_data():
    """The same of fewer topics, for what is completed many times."""
    return make_data(5)


@pytest.mark.parametrize(
    "predictor",
    [
        LabelPredictor(),
        LabelPredictor(one_class="pool", unjudged_topic="pool", output="soft"),
    ],
    ids=str,
)
def test_a_held_out_fold_is_completed_by_itself(less_data, predictor):
    """Labels of the training topics change nothing in the truth, nor does the model scored."""
    X, y, groups, _ = less_data
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


def test_score_is_the_measure_of_completed_labels(less_data):
    X, y, groups, _ = less_data
    model = Ridge().fit(X, y.fillna(0))
    fitted = CompletedLabels(Recorder()).fit(X, y)
    expected = average_precision_score(fitted.estimator_.y_, model.predict(X), groups=groups)
    assert make_completed_scorer("ap")(model, X, y) == expected
    low = make_completed_scorer("forbidden@3")
    assert low(model, X, y) <= 0


def test_ap_by_labels_from_texts_is_warned_of(less_data):
    X, y, groups, _ = less_data
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


def test_metadata_routing(less_data):
    X, y, groups, _ = less_data
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

"""RankAndFilter with every kind of threshold, and its parameters in searches."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold

from all_thresholds import THRESHOLDS
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError, UnjudgedWarning
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    Threshold,
    TunedThreshold,
)
from skfilterrank.thresholds._cuts import ByScore


@pytest.fixture(scope="module")
def few():
    return make_rank_and_filter(80, n_features=8, random_state=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", THRESHOLDS)
def test_every_threshold(few, name):
    model = RankAndFilter(LinearRegression(), THRESHOLDS[name], measure="ndcg_f@3")
    model.fit(few.X, few.y, groups=few.groups)
    assert model.score(few.X, few.y, groups=few.groups) > 0.6
    is_by_score = name in ("all", "fixed", "tuned", "certified")
    assert (model.threshold_ is None) != is_by_score
    # What the model shows is what its threshold shows of its scores.
    scores = model.estimator_.predict(few.X)
    np.testing.assert_array_equal(
        model.predict(few.X, groups=few.groups), model.filter_.predict(scores, groups=few.groups)
    )
    assert type(model.filter_) is type(THRESHOLDS[name])
    assert not hasattr(THRESHOLDS[name], "level_")


@pytest.mark.parametrize(
    ("threshold", "kind"),
    [("tune", TunedThreshold), (0.5, FixedThreshold), (None, FixedThreshold)],
)
def test_short_forms(few, threshold, kind):
    model = RankAndFilter(Ridge(), threshold, measure="ndcg_f@3")
    model.fit(few.X, few.y, groups=few.groups)
    assert type(model.filter_) is kind
    assert model.filter_.measure == "ndcg_f@3"


def test_a_measure_of_its_own_tunes_the_threshold_and_another_scores(few):
    model = RankAndFilter(Ridge(), TunedThreshold("f@3"), measure="ndcg_f@3")
    y = np.maximum(few.y, 0)
    model.fit(few.X, y, groups=few.groups)
    assert (model.measure_, model.filter_.measure_) == ("ndcg_f@3", "f@3")
    kept = model.predict(few.X)
    expected = ndcg_f_score(y, kept, groups=few.groups, k=3)
    assert model.score(few.X, y, groups=few.groups) == pytest.approx(expected)


@pytest.mark.parametrize("threshold", ["tune", 0.5, None])
def test_parameters_of_no_threshold_estimator(threshold):
    message = (
        f"threshold__max_shown is a parameter of a threshold estimator, but threshold is "
        f"{threshold!r}. Give one, such as threshold=TunedThreshold"
    )
    with pytest.raises(InputError, match=message):
        RankAndFilter(Ridge(), threshold).set_params(threshold__max_shown=3)
    model = RankAndFilter(Ridge(), threshold)
    model.set_params(threshold=TunedThreshold(), threshold__max_shown=3)
    assert model.threshold.max_shown == 3


@pytest.mark.slow
def test_search_over_thresholds(few):
    y = pd.Series(few.y, index=pd.Index(few.groups, name="qid"))
    search = GridSearchCV(
        RankAndFilter(LogisticRegression(), TunedThreshold(), measure="ndcg_f@3", cv=2),
        [
            {"threshold__max_shown": [1, 3]},
            {"threshold": ["tune", ExpectedThreshold(), 0.5]},
            {"threshold": [CertifiedThreshold({"any_forbidden@3": 0.6})]},
        ],
        cv=GroupKFold(2),
        error_score="raise",
    ).fit(few.X, y, groups=few.groups)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert scores[0] < scores[1]


def test_sets_of_thresholds_stay_unfitted(few):
    threshold = FirstK(max_shown=2)
    model = RankAndFilter(Ridge(), threshold, measure="ndcg_f@3")
    model.fit(few.X, few.y, groups=few.groups)
    assert threshold.measure is None
    assert model.threshold is threshold
    assert clone(model).get_params()["threshold__max_shown"] == 2


class Recorded(ByScore):
    """Remembers which rows it learned from and which it was tried on."""

    splits: ClassVar[list] = []

    def learn(self, judged, parsed):
        for train, test in judged.fold_rows():
            self.splits.append((judged.names[0][train], judged.names[0][test]))
        return judged.scores


def test_a_query_held_out_twice_is_never_split(few):
    """Two lists of one query are one cluster."""
    splits = [
        split
        for seed in range(2)
        for split in GroupKFold(3, shuffle=True, random_state=seed).split(few.y, groups=few.groups)
    ]
    Recorded.splits.clear()
    model = RankAndFilter(Ridge(), Threshold(Recorded()), measure="ndcg_f@3", cv=splits)
    # Thresholds get the ids of queries only to name documents without a label.
    labels = few.y.astype(np.float64)
    labels[np.argmax(few.groups == np.bincount(few.groups).argmax())] = np.nan
    with pytest.warns(UnjudgedWarning):
        model.fit(few.X, labels, groups=few.groups)
    assert Recorded.splits
    for train, test in Recorded.splits:
        assert not set(train) & set(test)
    # All rows are tried twice, once for each time they were held out.
    tried = np.concatenate([test for _, test in Recorded.splits[:5]])
    counts = np.bincount(tried)
    np.testing.assert_array_equal(counts, 2 * np.bincount(few.groups))

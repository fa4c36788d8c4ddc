"""Cuts: keys of rows, and thresholds of a cut that a user has written."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.thresholds import Cut, Threshold
from skfilterrank.thresholds._cuts import ByPlace, known_cuts

INF = np.inf


class BelowTheBest(Cut):
    """Keys are distances to the best score of the list."""

    def keys(self, scores, more, index):
        best = np.full(index.n_queries, -INF)
        np.maximum.at(best, index.codes(), scores)
        return scores - best[index.codes()]


def test_places_by_hand():
    index = GroupIndex.from_groups([0, 0, 1, 0])
    assert ByPlace().keys(np.array([1.0, 3, 5, 1]), None, index).tolist() == [-2, -1, -1, -3]


def test_level_of_keys_is_tuned(few):
    model = Threshold(BelowTheBest(), "ndcg_f@3")
    model.fit(few.bayes_scores, few.y, groups=few.groups)
    best = pd.Series(few.bayes_scores).groupby(few.groups).transform("max").to_numpy()
    behind = few.bayes_scores - best
    value = {
        level: ndcg_f_score(
            few.y, np.where(behind >= level, few.bayes_scores, -INF), groups=few.groups, k=3
        )
        for level in [*np.unique(behind)[::5], model.level_]
    }
    assert model.best_score_ == pytest.approx(value[model.level_])
    assert max(value.values()) == pytest.approx(model.best_score_)
    assert model.threshold_ is None
    shown = model.predict(few.bayes_scores, groups=few.groups) > -INF
    np.testing.assert_array_equal(shown, behind >= model.level_)


@pytest.mark.parametrize("most", [None, 2])
def test_a_cut_of_more_columns_serves_those_of_fit(few, most):
    class OfMore(BelowTheBest):
        n_more = most

    scores = few.bayes_scores
    model = Threshold(OfMore(), "f").fit(scores, few.y, groups=few.groups)
    one = Threshold(BelowTheBest(), "f").fit(scores, few.y, groups=few.groups)
    served = model.predict(scores, groups=few.groups)
    np.testing.assert_array_equal(served, one.predict(scores, groups=few.groups))
    with pytest.raises(InputError, match=r"scores (has 2 columns|must have shape)"):
        model.predict(np.column_stack([scores, scores]), groups=few.groups)


def test_the_parameter_stays_unfitted_and_the_threshold_can_be_copied(few, tmp_path):
    cut = BelowTheBest()
    model = clone(Threshold(cut, "f")).fit(few.bayes_scores, few.y, groups=few.groups)
    assert model.cut_ is not model.cut
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib")
    found = loaded.predict(few.bayes_scores, groups=few.groups)
    np.testing.assert_array_equal(found, model.predict(few.bayes_scores, groups=few.groups))
    with pytest.raises(InputError, match=r"cut of Threshold is .* which JSON cannot hold"):
        model.save(tmp_path / "model.json")


@pytest.mark.parametrize("cut", [None, BelowTheBest, "score"])
def test_what_is_no_cut(few, cut):
    with pytest.raises(InputError, match="cut must be an object of a subclass of Cut, got"):
        Threshold(cut).fit(few.bayes_scores, few.y, groups=few.groups)


def test_a_cut_without_keys(few):
    with pytest.raises(NotImplementedError, match=r"Cut must define keys\(scores, more, index\)"):
        Threshold(Cut()).fit(few.bayes_scores, few.y, groups=few.groups)


def test_files_know_the_cuts_of_the_library_alone():
    assert "BelowTheBest" not in known_cuts()
    assert known_cuts()["ByPlace"] is ByPlace


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (lambda n: np.ones(3), r"keys of Odd must be one number for each of 8 rows, got shape \(3"),
        (lambda n: np.full(n, "a"), "got shape .* and dtype <U1"),
        (lambda n: np.full(n, np.nan), "keys of Odd must be numbers, got NaN at row 0"),
    ],
)
def test_keys_that_are_none(keys, message):
    class Odd(Cut):
        def keys(self, scores, more, index):
            return keys(len(scores))

    with pytest.raises(InputError, match=message):
        Threshold(Odd()).fit(np.arange(8.0), [1, -1] * 4, groups=np.arange(8) // 2)

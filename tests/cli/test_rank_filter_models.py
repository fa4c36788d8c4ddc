"""Models that ``rank-filter`` compares: what they are fitted on, and the scores of baselines."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold

from skfilterrank.cli._rank_filter import compare_models
from skfilterrank.cli._rows import JudgedRows
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score, rank_filter_report
from skfilterrank.ranking import RankAndFilter

pytestmark = pytest.mark.slow

X, Y, GROUPS, _ = make_rank_and_filter(n_queries=150, random_state=0)
TRAIN = GROUPS < 100
MODELS = {
    "bce": RankAndFilter(LogisticRegression(), measure="ndcg_f@3", cv=3),
    "mse": RankAndFilter(Ridge(), measure="ndcg_f@3", cv=3),
}
FIXED = {"0.4": RankAndFilter(LogisticRegression(), threshold=0.4, measure="ndcg_f@3")} | {
    "0.9": RankAndFilter(LogisticRegression(), threshold=0.9, measure="ndcg_f@3")
}


def rows(chosen=slice(None), X=X):
    queries = pd.Index(GROUPS[chosen], name="qid")
    return JudgedRows(X[chosen], pd.Series(Y[chosen]), queries, np.arange(len(queries)))


def splits_of(data):
    return list(GroupKFold(4).split(data.y, groups=data.groups))


@pytest.fixture(scope="module")
def on_test():
    return compare_models(MODELS, rows(TRAIN), rows(~TRAIN), splits=[], refit=True)


def test_scores_of_test_rows_are_those_of_the_models(on_test):
    baselines = [f"{part}-only ({name})" for part in ("rank", "filter") for name in MODELS]
    assert list(on_test.scores) == [*MODELS, *baselines, "filter-all"]
    for name, model in MODELS.items():
        fitted = model.fit(X[TRAIN], Y[TRAIN], groups=GROUPS[TRAIN])
        np.testing.assert_array_equal(on_test.scores[name], fitted.predict(X[~TRAIN]))
        assert on_test.cv_scores[name] == fitted.best_score_
    assert on_test.best == max(on_test.cv_scores, key=on_test.cv_scores.get)
    assert list(on_test.models) == list(MODELS)
    assert {model.verbose for model in on_test.models.values()} == {0}


def test_out_of_fold_scores_come_from_models_that_have_not_seen_the_query():
    found = compare_models(MODELS, rows(), None, splits=splits_of(rows()), refit=True)
    for train, test in splits_of(rows()):
        fitted = MODELS["mse"].fit(X[train], Y[train], groups=GROUPS[train])
        np.testing.assert_array_equal(found.scores["mse"][test], fitted.predict(X[test]))
    expected = ndcg_f_score(Y, found.scores["mse"], groups=GROUPS, k=3)
    assert found.cv_scores["mse"] == expected
    assert list(found.models) == [found.best]
    fitted = MODELS[found.best].fit(X, Y, groups=GROUPS)
    np.testing.assert_array_equal(found.models[found.best].predict(X), fitted.predict(X))


def test_baselines(on_test):
    for name in MODELS:
        kept, ranked = on_test.scores[name], on_test.scores[f"rank-only ({name})"]
        shown = np.isfinite(kept)
        assert 0 < shown.sum() < len(shown)
        assert np.isfinite(ranked).all()
        np.testing.assert_array_equal(np.argsort(kept[shown]), np.argsort(ranked[shown]))
        shuffled = on_test.scores[f"filter-only ({name})"]
        np.testing.assert_array_equal(shuffled, np.where(shown, 0.0, -np.inf))
    assert np.isneginf(on_test.scores["filter-all"]).all()


def test_each_model_against_its_own_ranking(on_test):
    assert on_test.own_baselines == {name: f"rank-only ({name})" for name in MODELS}
    held_out = {"groups": GROUPS[~TRAIN]}
    report = rank_filter_report(
        Y[~TRAIN],
        on_test.scores,
        baseline="rank-only (bce)",
        own_baselines=on_test.own_baselines,
        **held_out,
    )
    alone = rank_filter_report(Y[~TRAIN], on_test.scores, baseline="rank-only (mse)", **held_out)
    own, one = ["own_difference", "own_p_value"], ["difference", "p_value"]
    assert report.loc["mse", own].tolist() == alone.loc["mse", one].tolist()
    assert report.loc["bce", own].tolist() == report.loc["bce", one].tolist()
    assert report.loc["mse", own].tolist() != report.loc["mse", one].tolist()
    assert report.drop(index=MODELS)[own].isna().all(axis=None)


def test_the_best_of_fixed_thresholds_is_chosen_on_training_rows_alone():
    # With their features turned around, filtering nearly everything would win on the test rows.
    train, turned = rows(TRAIN), rows(~TRAIN, -X)
    splits = splits_of(train)
    found = compare_models(FIXED, train, turned, splits=splits, refit=True)
    out_of_fold = compare_models(FIXED, train, None, splits=splits, refit=False)
    assert found.cv_scores == out_of_fold.cv_scores
    assert found.best == out_of_fold.best == "0.4"
    assert out_of_fold.models == {}
    only = compare_models({"only": FIXED["0.9"]}, train, turned, splits=[], refit=True)
    assert (only.best, only.cv_scores) == ("only", {})


def test_folds_do_not_warn_of_filters_that_do_not_pay():
    noise = rows(X=np.random.default_rng(0).normal(size=X.shape))
    for refit in (False, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compare_models(
                {"bce": MODELS["bce"]}, noise, None, splits=splits_of(noise), refit=refit
            )
        assert sum("not shown to pay" in str(each.message) for each in caught) == refit

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score, rank_filter_report
from skfilterrank.ranking import RankAndFilter, RankFusion, compare_rankers, make_ranker

X, Y, GROUPS, _ = make_rank_and_filter(n_queries=150, random_state=0)
TRAIN = GROUPS < 100
MODELS = {
    "bce": RankAndFilter(LogisticRegression(), measure="ndcg_f@3", cv=3),
    "mse": RankAndFilter(Ridge(), measure="ndcg_f@3", cv=3),
}
FIXED = {"0.4": RankAndFilter(LogisticRegression(), threshold=0.4, measure="ndcg_f@3")} | {
    "0.9": RankAndFilter(LogisticRegression(), threshold=0.9, measure="ndcg_f@3")
}


def on_test(models, **options):
    return compare_rankers(
        models,
        X[TRAIN],
        Y[TRAIN],
        groups=GROUPS[TRAIN],
        X_test=X[~TRAIN],
        groups_test=GROUPS[~TRAIN],
        **options,
    )


@pytest.mark.slow
def test_systems_and_their_order():
    assert list(on_test(MODELS).scores) == [
        "bce",
        "mse",
        "rank-only (bce)",
        "rank-only (mse)",
        "filter-only (bce)",
        "filter-only (mse)",
        "filter-all",
    ]


@pytest.mark.slow
def test_scores_of_test_rows_are_those_of_the_models():
    comparison = on_test(MODELS)
    for name, model in MODELS.items():
        fitted = model.fit(X[TRAIN], Y[TRAIN], groups=GROUPS[TRAIN])
        np.testing.assert_array_equal(comparison.scores[name], fitted.predict(X[~TRAIN]))
        assert comparison.cv_scores[name] == fitted.best_score_
    assert comparison.best == max(comparison.cv_scores, key=comparison.cv_scores.get)
    assert list(comparison.models) == list(MODELS)


@pytest.mark.slow
def test_out_of_fold_scores_come_from_models_that_have_not_seen_the_query():
    splits = list(GroupKFold(3).split(X, Y, GROUPS))
    comparison = compare_rankers(MODELS, X, Y, groups=GROUPS, cv=GroupKFold(3))
    for train, test in splits:
        fitted = MODELS["mse"].fit(X[train], Y[train], groups=GROUPS[train])
        np.testing.assert_array_equal(comparison.scores["mse"][test], fitted.predict(X[test]))
    expected = ndcg_f_score(Y, comparison.scores["mse"], groups=GROUPS, k=3)
    assert comparison.cv_scores["mse"] == expected


@pytest.mark.slow
def test_after_cross_validation_the_best_model_is_fitted_on_all_rows():
    comparison = compare_rankers(MODELS, X, Y, groups=GROUPS, cv=2)
    assert list(comparison.models) == [comparison.best]
    fitted = MODELS[comparison.best].fit(X, Y, groups=GROUPS)
    found = comparison.models[comparison.best]
    np.testing.assert_array_equal(found.predict(X), fitted.predict(X))
    assert compare_rankers(MODELS, X, Y, groups=GROUPS, cv=2, refit=False).models == {}


@pytest.mark.slow
def test_baselines():
    scores = on_test(MODELS).scores
    for name in MODELS:
        kept, ranked = scores[name], scores[f"rank-only ({name})"]
        shuffled = scores[f"filter-only ({name})"]
        shown = np.isfinite(kept)
        assert 0 < shown.sum() < len(shown)
        assert np.isfinite(ranked).all()
        np.testing.assert_array_equal(np.argsort(kept[shown]), np.argsort(ranked[shown]))
        np.testing.assert_array_equal(np.isfinite(shuffled), shown)
        assert set(shuffled[shown]) == {0}
    assert np.isneginf(scores["filter-all"]).all()


@pytest.mark.slow
def test_what_the_filter_keeps_has_the_mean_value_of_all_its_orders():
    comparison = on_test(MODELS)
    tied = comparison.scores["filter-only (bce)"]
    params = {"groups": GROUPS[~TRAIN], "k": 3}
    found = ndcg_f_score(Y[~TRAIN], tied, **params)
    rng = np.random.default_rng(0)
    shuffled = [
        ndcg_f_score(Y[~TRAIN], np.where(tied == 0, rng.random(len(tied)), tied), **params)
        for _ in range(300)
    ]
    error = np.std(shuffled, ddof=1) / np.sqrt(300)
    assert error > 0
    assert abs(np.mean(shuffled) - found) < 4 * error


@pytest.mark.slow
def test_each_model_against_its_own_ranking():
    comparison = on_test(MODELS)
    assert comparison.own_baselines == {name: f"rank-only ({name})" for name in MODELS}
    report = rank_filter_report(
        Y[~TRAIN],
        comparison.scores,
        groups=GROUPS[~TRAIN],
        baseline="rank-only (bce)",
        own_baselines=comparison.own_baselines,
    )
    alone = rank_filter_report(
        Y[~TRAIN], comparison.scores, groups=GROUPS[~TRAIN], baseline="rank-only (mse)"
    )
    own, one = ["own_difference", "own_p_value"], ["difference", "p_value"]
    assert report.loc["mse", own].tolist() == alone.loc["mse", one].tolist()
    assert report.loc["bce", own].tolist() == report.loc["bce", one].tolist()
    assert report.loc["mse", own].tolist() != report.loc["mse", one].tolist()
    assert report.drop(index=MODELS)[own].isna().all(axis=None)


@pytest.mark.slow
def test_the_best_of_fixed_thresholds_is_cross_validated_on_training_rows():
    comparison = on_test(FIXED, cv=4)
    out_of_fold = compare_rankers(FIXED, X[TRAIN], Y[TRAIN], groups=GROUPS[TRAIN], cv=4)
    assert comparison.cv_scores == out_of_fold.cv_scores
    assert comparison.best == out_of_fold.best == "0.4"


@pytest.mark.slow
def test_the_test_rows_have_no_say_in_the_choice():
    # With their features turned around, filtering nearly everything would win there.
    comparison = compare_rankers(
        FIXED,
        X[TRAIN],
        Y[TRAIN],
        groups=GROUPS[TRAIN],
        X_test=-X[~TRAIN],
        groups_test=GROUPS[~TRAIN],
    )
    assert comparison.best == "0.4"


def test_one_fixed_threshold_leaves_no_choice():
    comparison = on_test({"only": FIXED["0.9"]})
    assert comparison.best == "only"
    assert comparison.cv_scores == {}


def test_models_are_cloned_and_keep_their_parameters():
    model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3", cv=2)
    comparison = on_test({"a": model}, verbose=0)
    assert not hasattr(model, "estimator_")
    assert comparison.models["a"].verbose == 0


@pytest.mark.slow
def test_progress_leaves_no_trace_in_the_models(capsys):
    comparison = on_test(MODELS, verbose=2)
    assert "2/2" in capsys.readouterr().err
    assert {model.verbose for model in comparison.models.values()} == {0}


@pytest.mark.slow
def test_queries_from_an_index_and_shuffled_rows():
    order = np.random.RandomState(0).permutation(len(Y))
    y = pd.Series(Y[order], index=pd.Index([f"q{group}" for group in GROUPS[order]], name="qid"))
    comparison = compare_rankers(MODELS, X[order], y, cv=2)
    report = rank_filter_report(y, comparison.scores, baseline="filter-all")
    assert report["ndcg_f@3"].idxmax() not in ("filter-all", "filter-only (bce)")


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ({}, "models must be a dict"),
        ([MODELS["bce"]], "models must be a dict"),
        ({"all": RankFusion()}, "'all' is a RankFusion: wrap it as RankAndFilter"),
        (
            MODELS | {"deep": RankAndFilter(Ridge(), measure="ndcg_f@9")},
            "bce: ndcg_f@3, .* deep: ndcg_f@9",
        ),
        ({"a": RankAndFilter(Ridge(), cv="prefit")}, "'a' has cv='prefit'"),
    ],
)
def test_wrong_models(models, message):
    with pytest.raises(ValueError, match=message):
        compare_rankers(models, X, Y, groups=GROUPS)


def test_wrong_rows():
    with pytest.raises(ValueError, match="groups is missing"):
        compare_rankers(MODELS, X, Y)
    with pytest.raises(ValueError, match=r"groups_test is missing.* X_test as a DataFrame"):
        compare_rankers(MODELS, X, Y, groups=GROUPS, X_test=X)
    split = [(np.arange(10, len(Y)), np.arange(10))]
    with pytest.raises(ValueError, match="holds out 294 rows never"):
        compare_rankers({"a": FIXED["0.4"]}, X, Y, groups=np.arange(len(Y)), cv=split)


@pytest.mark.slow
def test_folds_do_not_warn_of_filters_that_do_not_pay():
    noise = np.random.default_rng(0).normal(size=X.shape)
    models = {"filter": RankAndFilter(LogisticRegression(), measure="ndcg_f@3")}
    for refit in (False, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compare_rankers(models, noise, Y, groups=GROUPS, cv=2, refit=refit)
        told = [each for each in caught if "not shown to pay" in str(each.message)]
        assert len(told) == refit


@pytest.mark.slow
def test_folds_do_not_divide_clusters(monkeypatch):
    X, y, groups, _ = make_rank_and_filter(n_queries=60, random_state=0)
    users = pd.Series(groups // 3, name="user")
    seen = []
    fit = RankAndFilter.fit

    def noting(self, X, y, groups=None, **given):
        seen.append((np.unique(groups), given["clusters"]))
        return fit(self, X, y, groups=groups, **given)

    monkeypatch.setattr(RankAndFilter, "fit", noting)
    models = {"bce": RankAndFilter(make_ranker("bce", random_state=0), measure="ndcg_f@3")}
    compare_rankers(models, X, y, groups=groups, cv=3, clusters=users)
    assert len(seen) == 4
    for queries, clusters in seen:
        # All three queries of each user are there, or none.
        assert (np.bincount(queries // 3)[np.unique(queries // 3)] == 3).all()
        assert clusters.name == "user"

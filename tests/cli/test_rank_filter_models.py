"""Models that ``rank-filter`` compares: what they are fitted on, and the scores of baselines."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold

from skfilterrank.cli._rows import JudgedRows
from skfilterrank.cli.rank_filter import compare_models
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score, rank_filter_report
from skfilterrank.ranking import RankAndFilter

pytestmark = pytest.mark.slow

X, Y, GROUPS, _ = make_rank_and_filter(n_queries=90, random_state=0)
TRAIN = GROUPS < 60
MODELS = {
    "bce": RankAndFilter(LogisticRegression(), measure="ndcg_f@3", cv=2),
    "mse": RankAndFilter(Ridge(), measure="ndcg_f@3", cv=2),
}
FIXED = {"0.4": RankAndFilter(LogisticRegression(), threshold=0.4, measure="ndcg_f@3")} | {
    "0.9": RankAndFilter(LogisticRegression(), threshold=0.9, measure="ndcg_f@3")
}


def rows(chosen=slice(None), X=X):
    queries = pd.Index(GROUPS[chosen], name="qid")
    return JudgedRows(X[chosen], pd.Series(Y[chosen]), queries, np.arange(len(queries)))


def splits_of(data):
    return list(GroupKFold(3).split(data.y, groups=data.groups))


@pytest.fixture(scope="module")
def on_test():
    return compare_models(MODELS, rows(TRAIN), rows(~TRAIN), splits=[], refit=True)


def test_scores_of_test_rows_are_those_of_the_models(on_test):
    parts = {
        "bce": ["everything", "first k", "filter-only"],
        "mse": ["everything", "first k", "hide below 0", "filter-only"],
    }
    of = {f"{part} ({name})": name for name, each in parts.items() for part in each}
    assert on_test.models_of == of
    assert list(on_test.scores) == [*MODELS, *of, "nothing"]
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
        kept, ranked = on_test.scores[name], on_test.scores[f"everything ({name})"]
        shown = np.isfinite(kept)
        assert 0 < shown.sum() < len(shown)
        assert np.isfinite(ranked).all()
        np.testing.assert_array_equal(np.argsort(kept[shown]), np.argsort(ranked[shown]))
        shuffled = on_test.scores[f"filter-only ({name})"]
        np.testing.assert_array_equal(shuffled, np.where(shown, 0.0, -np.inf))
        answers = on_test.models[name].answers(X[~TRAIN], groups=GROUPS[~TRAIN])
        (first,) = (scores for answer, scores in answers.items() if answer.startswith("first"))
        np.testing.assert_array_equal(on_test.scores[f"first k ({name})"], first)
    assert np.isneginf(on_test.scores["nothing"]).all()


def test_baselines_are_compared_with_their_model_and_models_with_the_best(on_test):
    report = on_test.report(rows(~TRAIN), k=3)
    held_out, best = {"groups": GROUPS[~TRAIN]}, on_test.best
    for name in on_test.scores:
        other = on_test.models_of.get(name, best)
        ranking = f"everything ({on_test.models_of.get(name, name)})"
        few = {each: on_test.scores.get(each) for each in (name, other, ranking)}
        alone = rank_filter_report(
            Y[~TRAIN],
            {each: scores for each, scores in few.items() if scores is not None},
            baseline={} if name == best else {name: other},
            rankings={name: ranking} if ranking in on_test.scores else {},
            **held_out,
        )
        pd.testing.assert_series_equal(report.loc[name, alone.columns], alone.loc[name])
    (name,) = report.index[report["false_reject_rate@3"].isna()]
    assert name == "nothing"


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


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.SkfilterrankWarning")
def test_a_warning_of_scores_names_the_model_and_its_option(run, tmp_path):
    rng = np.random.default_rng(0)
    queries = np.repeat(np.arange(60), 8)
    label = rng.choice([-1, 1, 2], len(queries))
    # The score of a document depends on its query far more than on its label.
    x = label + rng.normal(scale=5, size=60)[queries] + rng.normal(scale=0.5, size=len(queries))
    path, saved = tmp_path / "a.csv", tmp_path / "m.joblib"
    pd.DataFrame({"qid": queries, "x": x, "label": label}).to_csv(path, index=False)
    how = ["--learner", "linear", "--threshold", "expected", "--cv", "2", "--save", saved]
    _, _, err = run("rank-filter", path, "--models", "mse", *how)
    (told,) = [line for line in err.splitlines() if "in every list" in line]
    assert told.startswith("skfilterrank: warning: mse: Scores do not compare between queries: ")
    assert told.endswith(
        "--threshold expected takes a score to mean the same in every list: compare its held-out "
        "value with those of --threshold first_k and --threshold learned."
    )


def test_folds_do_not_warn_of_filters_that_do_not_pay():
    noise = rows(X=np.random.default_rng(3).normal(size=X.shape))
    for refit in (False, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compare_models(
                {"bce": MODELS["bce"]}, noise, None, splits=splits_of(noise), refit=refit
            )
        told = [str(each.message) for each in caught if "as good on held-out" in str(each.message)]
        assert len(told) == refit
        assert all(each.startswith("bce: ") for each in told)

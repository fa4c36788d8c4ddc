"""LightGBM, XGBoost and CatBoost stop by the measure of a QueryRanker."""

import pickle

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostRanker
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBClassifier, XGBRanker, XGBRegressor

from dealt import numbers_of_queries
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.metrics import forbidden_at_k, ndcg_f_score, rbp_score
from skfilterrank.ranking import QueryRanker, RankAndFilter, make_ranker
from skfilterrank.ranking._held_out_sets import held_out_rows
from thinned import thinned

# Names, what they stand for, and whether higher is better. XGBoost would minimize "rbp" by its
# name, and maximize "ndcg_f" whatever it is told of "forbidden".
MEASURES = {
    "ndcg_f@3": (lambda y, s, g: ndcg_f_score(y, s, groups=g, k=3), True),
    "rbp(persistence=0.5)": (lambda y, s, g: rbp_score(y, s, groups=g, persistence=0.5), True),
    "forbidden@3": (lambda y, s, g: forbidden_at_k(y, s, groups=g, k=3), False),
}
PATIENCE = 5
CAT = {"thread_count": 1, "verbose": 0, "allow_writing_files": False, "random_seed": 0}
HOW = {"n_estimators": 80, "early_stopping_rounds": PATIENCE}
RANKERS = {
    "lightgbm": LGBMRanker(**HOW, verbose=-1, n_jobs=1),
    "xgboost": XGBRanker(**HOW, n_jobs=1),
    "catboost": CatBoostRanker(**HOW, **CAT),
}
SOLE = {
    "LGBMRegressor": LGBMRegressor(**HOW, verbose=-1, n_jobs=1),
    "LGBMClassifier": LGBMClassifier(**HOW, verbose=-1, n_jobs=1),
    "XGBRegressor": XGBRegressor(**HOW, n_jobs=1),
    "XGBClassifier": XGBClassifier(**HOW, n_jobs=1),
    "Pipeline": make_pipeline(StandardScaler(), RANKERS["xgboost"]),
}


class Split:
    """Training and held-out queries of different sizes, rows shuffled, ids out of order."""

    def __init__(self):
        X, y, groups, _ = make_rank_and_filter(120, random_state=0, documents_per_query=8)
        rng = np.random.default_rng(0)
        kept = np.flatnonzero(rng.uniform(size=len(y)) < 0.6)
        # One query of one document, which XGBoost's own mean would give the value 1.
        kept = rng.permutation(
            np.append(kept[groups[kept] != 119], np.flatnonzero(groups == 119)[0])
        )
        X, y, groups = X[kept], y[kept].astype(float), groups[kept]
        held = groups % 2 == 1
        names = np.array([f"q{(7 * number) % 120}" for number in range(120)])
        self.X, self.y, self.groups = X, y, names[groups]
        self.learn = X[~held], y[~held], names[groups[~held]]
        self.held = X[held], y[held], names[groups[held]]
        self.sets = {"eval_set": [self.held[:2]], "eval_groups": [self.held[2]]}


@pytest.fixture(scope="module")
def split():
    return Split()


def rounds_of(fitted, name):
    """Values of the measure by round, and the number of rounds that predict."""
    final = fitted.estimator_
    final = final[-1] if hasattr(final, "steps") else final
    if isinstance(final, lgb.LGBMModel):
        return final.evals_result_["valid_0"][name], final.best_iteration_
    if hasattr(final, "get_evals_result"):
        return final.get_evals_result()["validation"]["CatBoostMetric"], final.tree_count_
    return final.evals_result()["validation_0"][name], final.best_iteration + 1


def check_rounds(fitted, name, X, y, groups):
    """Check that the best round is the function's best, and the last one within patience."""
    function, higher = MEASURES[name]
    values, n_rounds = rounds_of(fitted, name)
    best = int(np.argmax(values if higher else -np.asarray(values))) + 1
    assert n_rounds == best
    assert len(values) == best + PATIENCE  # so it did stop early
    assert values[best - 1] == pytest.approx(function(y, fitted.predict(X), groups), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("lightgbm", "ndcg_f@3"),
        ("lightgbm", "forbidden@3"),
        ("catboost", "forbidden@3"),
        *(("xgboost", name) for name in MEASURES),
    ],
)
def test_rankers_stop_by_the_value_of_the_function(split, library, name):
    ranker = QueryRanker(RANKERS[library], measure=name).fit(*split.learn, **split.sets)
    check_rounds(ranker, name, *split.held)


@pytest.mark.slow
@pytest.mark.parametrize("library", RANKERS)
def test_held_out_training_queries_are_measured_on_their_gains(split, library):
    X, y, groups = split.X, split.y, split.groups
    held = held_out_rows(0.3, numbers_of_queries(X, y, groups))
    ranker = QueryRanker(
        RANKERS[library],
        validation_fraction=0.3,
        measure="ndcg_f@3",
        gains={-1: -3, 0: 0, 1: 1, 2: 5},
    ).fit(X, y, groups=groups)
    values, best = rounds_of(ranker, "ndcg_f@3")
    expected = ndcg_f_score(
        y[held], ranker.predict(X[held]), groups=groups[held], k=3, gains=ranker.gains
    )
    assert values[best - 1] == max(values) == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOLE)
def test_what_knows_no_queries_stops_by_a_measure_of_queries(split, kind):
    ranker = QueryRanker(SOLE[kind], measure="ndcg_f@3").fit(*split.learn, **split.sets)
    check_rounds(ranker, "ndcg_f@3", *split.held)


@pytest.mark.parametrize("around", [QueryRanker, RankAndFilter])
@pytest.mark.parametrize("inner", [*RANKERS.values(), SOLE["LGBMRegressor"], SOLE["Pipeline"]])
def test_held_out_sets_have_the_columns_of_the_rows(split, inner, around):
    (X, y, groups), (held_X, held_y, held_groups) = split.learn, split.held
    for form, message in [
        (lambda X: X[:, :3], r"X( of eval_set)? has 3 (columns|features),? but "),
        (lambda X: np.hstack([X, X]), r"X( of eval_set)? has 40 (columns|features),? but "),
        (lambda X: pd.DataFrame(X).add_prefix("f")[[f"f{i}" for i in range(19, -1, -1)]], "order"),
    ]:
        train = pd.DataFrame(X).add_prefix("f") if message == "order" else X
        with pytest.raises(ValueError, match=message):
            around(inner).fit(
                train, y, groups, eval_set=[(form(held_X), held_y)], eval_groups=[held_groups]
            )


@pytest.mark.parametrize("library", ["lightgbm", "catboost"])
def test_sets_that_cannot_be_told_apart(library):
    X, y, groups = np.arange(60.0)[:, None] % 7, np.tile([1, 0, 2], 20), np.repeat(range(20), 3)
    ranker = QueryRanker(clone(RANKERS[library]).set_params(n_estimators=2))
    sets = {"eval_set": [(X, y), (-X, y)]}
    ranker.fit(X, y, groups, **sets, eval_groups=[groups, 100 - groups])
    with pytest.raises(InputError, match="two sets of eval_set have equal targets"):
        ranker.fit(X, y, groups, **sets, eval_groups=[groups, groups // 2])


@pytest.mark.parametrize(("form", "other"), [(np.asarray, csr_array), (csr_array, np.asarray)])
def test_xgboost_takes_zeros_of_sparse_rows_for_missing_values(split, form, other):
    (X, y, groups), (held_X, held_y, held_groups) = split.learn, split.held
    X, held_X = (np.where(abs(rows) < 0.5, 0, rows) for rows in (X, held_X))
    sets = {"eval_set": (form(held_X), held_y), "eval_groups": held_groups}
    ranker = QueryRanker(RANKERS["xgboost"]).fit(form(X), y, groups, **sets)
    ranker.predict(form(X))
    with pytest.warns(DataWarning, match="but X of fit is .* zeros of a sparse X for missing"):
        assert (ranker.predict(other(X)) != ranker.predict(form(X))).any()
    sets["eval_set"] = (other(held_X), held_y)
    with pytest.warns(DataWarning, match="^X of eval_set is .*, but X of fit is"):
        ranker.fit(form(X), y, groups, **sets)
    QueryRanker(RANKERS["lightgbm"]).fit(form(X), y, groups, **sets).predict(other(X))


def test_columns_of_held_out_sets_may_be_picked_by_name(split):
    (X, y, groups), (held_X, held_y, held_groups) = split.learn, split.held
    table, held = (pd.DataFrame(rows).add_prefix("f") for rows in (X, held_X))
    picked = make_column_transformer(("passthrough", list(table)))
    ranker = QueryRanker(make_pipeline(picked, RANKERS["lightgbm"]))
    found = [
        ranker.fit(table, y, groups, eval_set=(rows, held_y), eval_groups=held_groups).predict(held)
        for rows in (held, held[held.columns[::-1]])
    ]
    np.testing.assert_array_equal(*found)


@pytest.mark.slow
@pytest.mark.parametrize("library", thinned(RANKERS))
def test_folds_and_searches_stop_by_the_measure(split, library):
    ranker = QueryRanker(RANKERS[library], validation_fraction=0.25, measure="ndcg_f@3")
    model = RankAndFilter(ranker, measure="ndcg_f@3", cv=2)
    model.fit(split.X, split.y, groups=split.groups)
    values, best = rounds_of(model.estimator_, "ndcg_f@3")
    assert len(values) == best + PATIENCE
    labels = pd.Series(split.y, index=pd.Index(split.groups, name="qid"))
    search = GridSearchCV(ranker, {"estimator__max_depth": [2]}, cv=GroupKFold(2))
    search.fit(split.X, labels, groups=split.groups)
    values, best = rounds_of(search.best_estimator_, "ndcg_f@3")
    assert len(values) == best + PATIENCE


@pytest.mark.slow
@pytest.mark.parametrize("library", RANKERS)
def test_fitted_estimators_have_their_own_parameters_and_no_held_out_rows(split, library):
    ranker = QueryRanker(RANKERS[library], measure="ndcg_f@3").fit(*split.learn, **split.sets)
    given = RANKERS[library].get_params()
    assert {k: v for k, v in ranker.estimator_.get_params().items() if v is not None} == {
        name: value for name, value in given.items() if value is not None
    }
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict(split.X), ranker.predict(split.X))
    refitted = clone(ranker).set_params(estimator=clone(ranker.estimator_))
    refitted.fit(*split.learn, **split.sets)
    np.testing.assert_array_equal(refitted.predict(split.X), ranker.predict(split.X))


@pytest.mark.slow
@pytest.mark.parametrize("library", RANKERS)
def test_a_metric_of_the_user_stays(split, library):
    own = {"metric": "map"} if library == "lightgbm" else {"eval_metric": "NDCG"}
    own = {"eval_metric": "rmse"} if library == "xgboost" else own
    ranker = QueryRanker(clone(RANKERS[library]).set_params(**own), measure="forbidden@3")
    ranker.fit(*split.learn, **split.sets)
    final = ranker.estimator_
    log = final.get_evals_result() if library == "catboost" else None
    log = log or (final.evals_result_ if library == "lightgbm" else final.evals_result())
    (held,) = (log[name] for name in log if name.startswith("valid"))
    assert not {"forbidden@3", "CatBoostMetric"} & held.keys()


def test_the_last_of_several_sets_stops_xgboost_and_each_is_known(split):
    X, y, groups = split.held
    first = groups < "q5"
    sets = {
        "eval_set": [(X[first], y[first]), (X[~first], y[~first])],
        "eval_groups": [groups[first], groups[~first]],
    }
    for library in ("lightgbm", "xgboost"):
        ranker = clone(RANKERS[library]).set_params(n_estimators=3)
        fitted = QueryRanker(ranker, measure="ndcg_f@3").fit(*split.learn, **sets).estimator_
        log = fitted.evals_result_ if library == "lightgbm" else fitted.evals_result()
        last = [values["ndcg_f@3"] for values in log.values() if "ndcg_f@3" in values]
        parts = [first, ~first] if library == "lightgbm" else [~first]
        n_rounds = len(last[-1])
        scores = (
            fitted.predict(X, num_iteration=n_rounds)
            if library == "lightgbm"
            else fitted.predict(X, iteration_range=(0, n_rounds))
        )
        expected = [ndcg_f_score(y[part], scores[part], groups=groups[part], k=3) for part in parts]
        assert [each[-1] for each in last] == pytest.approx(expected, abs=1e-12)


def test_xgboost_measures_rows_as_it_learns_from_them(split):
    X, y, groups = split.held
    coded = [np.where(table > 1, -999, table) for table in (split.learn[0], X)]
    ranker = QueryRanker(XGBRanker(**HOW, n_jobs=1, missing=-999), measure="ndcg_f@3")
    ranker.fit(coded[0], *split.learn[1:], eval_set=[(coded[1], y)], eval_groups=[groups])
    values, best = rounds_of(ranker, "ndcg_f@3")
    scores = ranker.estimator_.predict(coded[1])
    expected = ndcg_f_score(y, scores, groups=groups, k=3)
    assert values[best - 1] == pytest.approx(expected, abs=1e-12)


def test_without_queries_there_is_no_measure_of_them(split):
    X, y, _ = split.learn
    ranker = QueryRanker(SOLE["LGBMRegressor"], validation_fraction=0.25).fit(X, y)
    assert "l2" in ranker.estimator_.evals_result_["valid_0"]
    with pytest.raises(InputError, match="eval_groups is missing"):
        QueryRanker(SOLE["LGBMRegressor"]).fit(*split.learn, eval_set=[split.held[:2]])


def test_rankers_by_name_stop_by_the_measure(split):
    for name in ("lambdamart", "ranknet", "listnet"):
        ranker = make_ranker(name, **HOW, validation_fraction=0.25, measure="ndcg_f@3")
        values, best = rounds_of(ranker.fit(split.X, split.y, groups=split.groups), "ndcg_f@3")
        assert len(values) == best + PATIENCE


class RefusesToStop(RegressorMixin, BaseEstimator):
    """An estimator whose error speaks of early stopping."""

    def fit(self, X, y):
        raise ValueError("early stopping is not for this")

    def predict(self, X):
        return np.zeros(len(X))


def test_only_boosting_without_sets_is_told_to_pass_them():
    X, y, groups, _ = make_rank_and_filter(30, random_state=0)
    with pytest.raises(ValueError, match=r"^early stopping is not for this$"):
        QueryRanker(RefusesToStop()).fit(X, y, groups=groups)
    model = LGBMRanker(metric="None", early_stopping_round=3, verbose=-1)
    with pytest.raises(ValueError, match="at least one dataset and eval metric"):
        QueryRanker(model).fit(X, y, groups=groups, eval_set=(X, y), eval_groups=groups)

"""Parameters of filters that make no sense are told."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from xgboost import XGBRanker

from given_scores import Constant
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import (
    AdaRankRanker,
    CalibratedRanker,
    CoordinateAscentRanker,
    FilterOnly,
    LambdaRankRanker,
    OrdinalRanker,
    QueryRanker,
    RankAndFilter,
    RankBoostRanker,
    make_ranker,
)
from skfilterrank.thresholds import CertifiedThreshold, PerQueryThreshold, TunedThreshold

SCORER = make_ranking_scorer("ndcg_f@3")


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=200, n_features=5, bayes=False, random_state=0)


class TestBadInput:
    def fit(self, data, estimator=None, groups=True, X=None, y=None, fit=None, **parameters):
        model = RankAndFilter(Ridge() if estimator is None else estimator, **parameters)
        return model.fit(
            data.X if X is None else X,
            data.y if y is None else y,
            groups=data.groups if groups is True else groups,
            **(fit or {}),
        )

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            (
                {"threshold": "tuned"},
                "threshold must be 'tune', 'better', a number, None or a threshold estimator",
            ),
            ({"threshold": np.nan}, "threshold must be .* got nan"),
            ({"threshold": True}, "threshold must be .* got True"),
            ({"target": "gains"}, "target must be one of 'auto', .*, got 'gains'"),
            ({"measure": "mapp"}, "'mapp' is not a measure: did you mean 'MAP'"),
            ({"threshold": TunedThreshold}, "threshold must be .* got <class"),
            ({"threshold": TunedThreshold("mapp")}, "'mapp' is not a measure"),
            ({"threshold": TunedThreshold(max_shown=0)}, "max_shown must be None or a whole"),
            ({"threshold": TunedThreshold(gains={1: 1})}, "Set gains on RankAndFilter alone"),
            ({"cv": 1}, "cv must be None, a number of folds from 2 up.*got 1"),
            ({"cv": 1.5}, "cv must be None.*got 1.5"),
            ({"cv": True}, "cv must be None.*got True"),
            ({"cv": "five"}, "cv must be None.*got 'five'"),
            ({"cv": []}, "cv makes no split"),
            ({"refit": False}, "refit=False keeps the model of the only split, but cv makes 5"),
            ({"cv": [(range(100), [100, 9999])]}, "cv names row 9999 but there are"),
            *[({"refit": value}, "refit must be one of True, False") for value in ("x", None, 2)],
            ({"gains": "exp3"}, "gains must be None, 'exp2', a dict"),
            ({"gains": {-1: -1, 1: 1}}, "y holds labels with no entry in gains: 2"),
        ],
    )
    def test_parameters(self, data, parameters, message):
        with pytest.raises(ValueError, match=message):
            self.fit(data, **parameters)

    def test_lengths(self, data):
        n_rows = len(data.y)
        with pytest.raises(ValueError, match=f"groups has {n_rows - 1} entries but there are"):
            self.fit(data, groups=data.groups[1:])
        with pytest.raises(ValueError, match=f"y has {n_rows - 1} labels but X has {n_rows}"):
            self.fit(data, y=data.y[1:])
        with pytest.raises(ValueError, match="sample_weight has 3 entries but X has"):
            self.fit(data, fit={"sample_weight": np.ones(3)})

    @pytest.mark.parametrize("name", ["X", "groups", "sample_weight"])
    def test_rows_in_another_order(self, data, name):
        given = {"X": pd.DataFrame(data.X), "groups": pd.Series(data.groups)}
        given["sample_weight"] = pd.Series(1.0 + data.groups)
        given[name] = given[name][::-1]
        model = RankAndFilter(LogisticRegression())
        with pytest.raises(InputError, match=f"{name} and y have the same index in another order"):
            model.fit(y=pd.Series(data.y), **given)

    def test_groups_that_a_search_kept(self, data):
        search = GridSearchCV(
            RankAndFilter(LambdaRankRanker()), {"measure": ["ndcg_f@3"]}, cv=GroupKFold(2)
        )
        with pytest.raises(ValueError, match="model selection, groups= is used for the folds only"):
            search.fit(data.X, data.y, groups=data.groups)

    @pytest.mark.parametrize(
        ("estimator", "name"),
        [
            (LGBMRanker(), "LGBMRanker"),
            (XGBRanker(), "XGBRanker"),
            (make_pipeline(StandardScaler(), LGBMRanker()), "LGBMRanker"),
            (make_ranker("lambdamart", n_estimators=2), "LGBMRanker"),
            (QueryRanker(make_pipeline(StandardScaler(), XGBRanker())), "XGBRanker"),
            (GridSearchCV(QueryRanker(LGBMRanker()), {"gains": [None]}), "LGBMRanker"),
            (CalibratedRanker(make_ranker("lambdamart")), "LGBMRanker"),
            (make_pipeline(StandardScaler(), LambdaRankRanker()), "LambdaRankRanker"),
            (CoordinateAscentRanker(), "CoordinateAscentRanker"),
            (AdaRankRanker(), "AdaRankRanker"),
            (CalibratedRanker(RankBoostRanker()), "RankBoostRanker"),
        ],
        ids=lambda value: type(value).__name__,
    )
    @pytest.mark.parametrize("wrap", [RankAndFilter, CalibratedRanker])
    def test_missing_groups_for_what_learns_within_queries(self, data, wrap, estimator, name):
        with pytest.raises(ValueError, match=f"^{name} needs queries: pass groups="):
            wrap(estimator).fit(data.X, data.y)
        if wrap is RankAndFilter:
            with pytest.raises(ValueError, match=f"^{name} needs queries"):
                FilterOnly(wrap(estimator)).fit(data.X, data.y)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "estimator",
        [
            QueryRanker(Ridge()),
            GridSearchCV(Ridge(), {"alpha": [1.0]}, cv=GroupKFold(2)),
            CalibratedRanker(QueryRanker(Ridge())),
            OrdinalRanker(),
            LambdaRankRanker(gamma=1.0, n_estimators=2, n_jobs=1),
            CoordinateAscentRanker(filter=True, max_iter=1),
        ],
    )
    def test_others_learn_without_groups(self, data, estimator):
        with pytest.warns(UserWarning, match="without query ids"):
            model = self.fit(data, estimator, groups=None, threshold=None)
        assert np.ptp(model.predict(data.X)) > 0

    @pytest.mark.slow
    def test_a_search_may_hold_what_learns_within_queries(self, data):
        search = GridSearchCV(
            QueryRanker(LGBMRanker(n_estimators=2, verbose=-1, n_jobs=1)),
            {"gains": [None]},
            scoring=SCORER,
            cv=GroupKFold(2),
        )
        assert np.ptp(self.fit(data, search, threshold=None).predict(data.X)) > 0

    def test_missing_query_id(self, data):
        groups = np.where(data.groups == 3, np.nan, data.groups)
        with pytest.raises(ValueError, match=r"groups has .* missing id"):
            self.fit(data, groups=groups)

    def test_labels(self, data):
        with pytest.raises(ValueError, match=r"labels that are not numbers .* pass gains"):
            self.fit(data, y=np.where(data.y > 0, "good", "bad"))
        with pytest.raises(ValueError, match="no judged row"):
            self.fit(data, y=np.full(len(data.y), np.nan))
        with pytest.raises(ValueError, match="requires y to be passed"):
            RankAndFilter(Ridge()).fit(data.X, None, groups=data.groups)

    def test_fewer_queries_than_folds(self, data):
        few = data.groups < 3
        message = (
            r"cv=5 needs at least 5 queries but their number is 3 \(n_samples=.*\): lower cv or "
            "give more queries"
        )
        rows = {"X": data.X[few], "y": data.y[few], "groups": data.groups[few]}
        message += r"; cv='prefit' with an estimator fitted on other queries needs no folds\.$"
        for threshold in ("tune", PerQueryThreshold()):
            with pytest.raises(ValueError, match=message):
                self.fit(data, **rows, threshold=threshold)
        with pytest.raises(ValueError, match=message):
            self.fit(data, **rows, threshold=CertifiedThreshold({"any_forbidden": 0.1}), cv=5)
        with pytest.raises(ValueError, match=message):
            CalibratedRanker(Ridge()).fit(**rows)
        with pytest.raises(ValueError, match=r"cv=0\.2 needs at least 2 queries .*: give more"):
            self.fit(data, groups=np.zeros(len(data.y)), cv=0.2)

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_scores_that_are_no_numbers(self, data, value):
        with pytest.raises(ValueError, match=r"what Constant predicts holds .*(NaN|inf)"):
            self.fit(data, Constant(value))

    def test_classifier_of_labels_without_probabilities(self, data):
        with pytest.raises(ValueError, match="LinearSVC has neither predict_proba nor"):
            self.fit(data, LinearSVC(), target="label")

    @pytest.mark.parametrize(
        ("estimator", "shift", "message"),
        [
            (
                LGBMRanker(n_estimators=2, n_jobs=1, verbose=-1),
                5,
                "eval_set holds the gain 7, which does not occur in y",
            ),
            (Ridge(), 0, "fit of Ridge takes no held-out queries: leave eval_set"),
        ],
    )
    def test_held_out_sets(self, data, estimator, shift, message):
        held_out = {"eval_set": [(data.X, data.y + shift)], "eval_groups": [data.groups]}
        with pytest.raises(ValueError, match=message):
            self.fit(data, estimator, fit=held_out)

    @pytest.mark.slow
    def test_after_the_fit(self, data):
        with pytest.raises(NotFittedError):
            RankAndFilter(Ridge()).predict(data.X)
        with pytest.raises(NotFittedError):
            RankAndFilter(Ridge()).score(data.X, data.y, groups=data.groups)
        model = self.fit(data)
        with pytest.raises(ValueError, match="groups is missing"):
            model.score(data.X, data.y)
        with pytest.raises(ValueError, match="groups has 3 entries"):
            model.rank(data.X, groups=[1, 2, 3])
        model = self.fit(data, threshold=PerQueryThreshold())
        page = data.X[data.groups == data.groups[0]]
        for method in (model.predict, model.rank):
            expected = method(page, groups=np.zeros(len(page)))
            np.testing.assert_array_equal(method(page), expected)
            twice = pd.DataFrame(data.X[:2], index=["q1", "q1"])
            with pytest.warns(DataWarning, match="although their index repeats labels"):
                method(twice)

    def test_prefit_estimator_that_is_not_fitted(self, data):
        with pytest.raises(NotFittedError):
            self.fit(data, Ridge(), cv="prefit")


class TestWordsOfErrors:
    """What would otherwise fail deep inside, or not at all."""

    def test_scores_have_thresholds(self, data):
        with pytest.raises(ValueError, match=r"got 'passthrough'.*\.TunedThreshold on them"):
            RankAndFilter("passthrough").fit(data.X[:, :1], data.y, groups=data.groups)

    def test_a_fold_without_a_label_is_named(self):
        X, y, groups = np.arange(12.0)[:, None], np.array([1] * 10 + [-1] * 2), np.arange(12)
        cv = [(np.arange(10), np.arange(10, 12))]
        with pytest.raises(ValueError, match=r"class") as caught:
            RankAndFilter(LogisticRegression(), cv=cv).fit(X, y, groups=groups)
        assert "with 10 of 12 rows to learn from" in caught.value.__notes__[0]

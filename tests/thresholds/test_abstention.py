"""How sure a list's scores are of it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from all_thresholds import PLAIN
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.thresholds import TunedThreshold, risk_coverage_curve

INF = np.inf


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(300, random_state=0)


class TestConfidence:
    def test_names_are_statistics_of_the_scores(self, data):
        lists = pd.Series(data.bayes_scores).groupby(data.groups)
        named = {
            "best_score": lists.max(),
            "score_gap": lists.agg(lambda s: np.diff(np.sort(s)[-2:]).sum()),
            "score_std": lists.std(ddof=0),
        }
        params = {"groups": data.groups, "measure": "ndcg_f@3"}
        for name, values in named.items():
            one = risk_coverage_curve(data.y, data.bayes_scores, confidence=name, **params)
            two = risk_coverage_curve(
                data.y, data.bayes_scores, confidence=values.to_numpy(), **params
            )
            np.testing.assert_allclose(one.values, two.values, err_msg=name)
            assert one.area == pytest.approx(two.area)

    def test_the_regression_has_not_seen_the_query(self, data):
        top = np.empty((300, 10))
        for query in range(300):
            best = np.sort(data.bayes_scores[data.groups == query])[::-1][:10]
            top[query] = np.append(best, np.full(10 - len(best), best[-1]))
        empty = np.full(len(data.y), -INF)
        worth = [
            ndcg_f_score(data.y, scores, groups=data.groups, k=3, average=None)
            for scores in (data.bayes_scores, empty)
        ]
        worth = worth[0] - worth[1]
        predicted = np.empty(300)
        for train, test in KFold(5, shuffle=True, random_state=0).split(top):
            scaler = StandardScaler().fit(top[train])
            ridge = Ridge(10.0).fit(scaler.transform(top[train]), worth[train])
            predicted[test] = ridge.predict(scaler.transform(top[test]))
        params = {"groups": data.groups, "measure": "ndcg_f@3"}
        one = risk_coverage_curve(
            data.y, data.bayes_scores, confidence="score_regression", **params
        )
        two = risk_coverage_curve(data.y, data.bayes_scores, confidence=predicted, **params)
        np.testing.assert_allclose(one.values, two.values)


@pytest.fixture(scope="module")
def few():
    return make_rank_and_filter(80, random_state=0)


@pytest.fixture(scope="module")
def new():
    return make_rank_and_filter(300, random_state=1)


def fitted(data, name, **parameters):
    model = clone(PLAIN[name]).set_params(**parameters)
    return model.fit(data.bayes_scores, data.y, groups=data.groups)


def n_shown(model, data):
    shown = model.predict(data.bayes_scores, groups=data.groups) > -INF
    return np.bincount(data.groups, shown)


class TestAbstention:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["best_score", "score_gap", "score_std"])
    @pytest.mark.parametrize("rule", ["all", "tuned", "largest_gap"])
    def test_the_level_is_the_best_of_all(self, few, name, rule):
        model = fitted(few, rule, abstain=name)
        frame = pd.DataFrame({"q": few.groups, "s": few.bayes_scores})
        lists = frame.sort_values("s", ascending=False).groupby("q")["s"]
        confidence = {
            "best_score": lists.max(),
            "score_gap": lists.agg(lambda s: s.iloc[0] - s.iloc[1] if len(s) > 1 else 0.0),
            "score_std": lists.std(ddof=0),
        }[name].to_numpy()
        plain = fitted(few, rule).predict(few.bayes_scores, groups=few.groups)

        def value(level):
            kept = np.where((confidence >= level)[few.groups], plain, -INF)
            return ndcg_f_score(few.y, kept, groups=few.groups, k=3)

        best = max(value(level) for level in [*np.unique(confidence), INF])
        assert model.best_score_ == pytest.approx(best)
        assert value(model.answer_level_) == pytest.approx(best)
        assert model.confidence_.out_of_fold_ == pytest.approx(confidence, abs=1e-9)

    def test_a_query_is_shown_nothing(self, data, new):
        empty = n_shown(fitted(data, "all", abstain="best_score"), new) == 0
        assert 0.01 < empty.mean() < 0.5
        best = np.full(300, -INF)
        np.maximum.at(best, new.groups, new.bayes_scores)
        assert best[empty].max() < best[~empty].min()

    def test_weights_of_queries(self, data):
        heavy = np.where(data.groups < 150, 1.0, 0.0)
        model = TunedThreshold("ndcg_f@3", abstain="best_score")
        one = model.fit(data.bayes_scores, data.y, groups=data.groups, query_weight=heavy)
        half = data.groups < 150
        two = clone(model).fit(data.bayes_scores[half], data.y[half], groups=data.groups[half])
        assert one.threshold_ == two.threshold_
        assert one.answer_level_ == two.answer_level_
        assert one.best_score_ == pytest.approx(two.best_score_)

"""RankAndFilter with cuts, abstention and caps: fitted, served, saved, searched."""

import functools
import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skfilterrank.ranking._filtering.parameters import CUTS
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold

from profiles import times
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FileFormatError, FitWarning
from skfilterrank.io import load_model, save_model
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import RankAndFilter, read_filter, write_filter
from skfilterrank.thresholds import FixedThreshold, LargestGap, TunedThreshold, threshold_curve

INF = np.inf


LISTS = [
    {},
    {"abstain": "best_score"},
    {"abstain": "score_regression"},
    {"max_shown": 2},
    {"min_shown": 1},
    {"min_shown": 1, "max_shown": 3},
]


MODES = [None, 0.0, "tune", "per_query", "expected", "first_k", "largest_gap", "surprise"]


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(300, random_state=0)


@pytest.fixture(scope="module")
def few():
    return make_rank_and_filter(80, random_state=0)


@pytest.fixture(scope="module")
def new():
    return make_rank_and_filter(300, random_state=1)


@pytest.fixture(scope="module")
def few_new():
    return make_rank_and_filter(80, random_state=1)


def fitted(data, **parameters):
    model = TunedThreshold("ndcg_f@3", **parameters)
    return model.fit(data.bayes_scores, data.y, groups=data.groups)


@pytest.fixture(scope="module")
def fitted_once(few):
    """A clone fitted on few queries, which the tests of one mode share."""

    @functools.cache
    def of(mode, lists):
        model = clone(TODO_THRESHOLD(mode, measure="ndcg_f@3", **dict(lists)))
        return model.fit(few.bayes_scores, few.y, groups=few.groups)

    return lambda mode, lists: of(mode, tuple(lists.items()))


def n_shown(model, data):
    shown = model.predict(data.bayes_scores, groups=data.groups) > -INF
    return np.bincount(data.groups, shown)


def modes_and_lists():
    """Each mode alone, and each rule of lists with two modes; the other pairs at night."""
    for i, mode in enumerate(MODES):
        for j, lists in enumerate(LISTS):
            by_day = not lists or (i - j) % len(MODES) in (1, 2)
            name = f"{mode}-{lists}"
            yield pytest.param(mode, lists, id=name, marks=() if by_day else pytest.mark.nightly)


@pytest.mark.parametrize(("mode", "lists"), list(modes_and_lists()))
class TestEveryMode:
    @pytest.mark.slow
    def test_all_ways_to_serve_agree(self, fitted_once, few_new, mode, lists):
        model, new = fitted_once(mode, lists), few_new
        rows = np.random.RandomState(0).permutation(len(new.y))
        scores, groups = new.bayes_scores[rows], new.groups[rows]
        predicted = model.predict(scores, groups=groups)
        shown = predicted > -INF
        np.testing.assert_array_equal(predicted[shown], scores[shown])
        np.testing.assert_array_equal(model.rank(scores, groups=groups) > 0, shown)
        if mode is not None or lists:
            np.testing.assert_array_equal(
                model.decision_function(scores, groups=groups) >= 0, shown
            )
        # What is shown is the head of each list.
        for query in range(20):
            own = groups == query
            assert scores[own & shown].min(initial=INF) > scores[own & ~shown].max(initial=-INF)
        # No query is looked at by another.
        one = groups == 7
        np.testing.assert_array_equal(
            model.predict(scores[one], groups=groups[one]), predicted[one]
        )

    @pytest.mark.slow
    def test_files(self, fitted_once, few_new, mode, lists, tmp_path):
        model, new = fitted_once(mode, lists), few_new
        expected = model.predict(new.bayes_scores, groups=new.groups)
        write_filter(tmp_path / "filter.json", model)
        save_model(model, tmp_path / "model.skops")
        read = read_filter(tmp_path / "filter.json")
        for each in (read, load_model(tmp_path / "model.skops")):
            np.testing.assert_array_equal(
                each.predict(new.bayes_scores, groups=new.groups), expected
            )
            assert each.get_params(deep=False)["threshold"] == mode or mode == "tune"
        write_filter(tmp_path / "again.json", read)
        assert (tmp_path / "again.json").read_text() == (tmp_path / "filter.json").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_best_score_is_the_measure_of_what_is_shown(few, fitted_once, mode):
    """Of a cut that learns nothing, `predict` shows the training lists as they were tuned."""
    for lists in LISTS[1:2] + LISTS[3:]:
        model = fitted_once(mode, lists)
        if not hasattr(model, "best_score_") or mode in ("per_query", "expected"):
            continue
        score = model.score(few.bayes_scores, few.y, groups=few.groups)
        assert model.best_score_ == pytest.approx(score, abs=1e-12)


class TestCaps:
    @pytest.mark.slow
    def test_show_at_most_and_at_least(self, few, few_new):
        data, new = few, few_new
        sizes = np.bincount(new.groups)
        for mode in MODES:
            most = n_shown(fitted(data, threshold=mode, max_shown=2), new)
            least = n_shown(fitted(data, threshold=mode, min_shown=2), new)
            both = n_shown(fitted(data, threshold=mode, min_shown=2, max_shown=2), new)
            assert most.max() <= 2
            assert (least >= np.minimum(sizes, 2)).all()
            assert (both == np.minimum(sizes, 2)).all()

    def test_the_threshold_is_the_best_under_the_cap(self, data):
        model = fitted(data, threshold="tune", max_shown=2)
        rank = FixedThreshold(None).fit(data.bayes_scores, data.y, groups=data.groups)
        place = rank.rank(data.bayes_scores, groups=data.groups)
        capped = np.where(place <= 2, data.bayes_scores, -INF)
        curve = threshold_curve(data.y, capped, groups=data.groups, measure="ndcg_f@3")
        assert model.best_score_ == pytest.approx(curve.best_value)
        assert model.threshold_ == pytest.approx(curve.best_threshold)

    def test_documents_of_one_score_stand_in_the_order_of_the_rows(self):
        scores, groups = np.array([0.5, 0.5, 0.5, 0.5, 0.2]), np.array([0, 0, 0, 1, 1])
        model = FixedThreshold(0.3, max_shown=2)
        model.fit(scores, [1, -1, 1, 1, -1], groups=groups)
        shown = [True, True, False, True, False]
        assert (model.predict(scores, groups=groups) > -INF).tolist() == shown
        assert (model.decision_function(scores, groups=groups) >= 0).tolist() == shown
        assert model.rank(scores, groups=groups).tolist() == [1, 2, 0, 1, 0]

    @pytest.mark.parametrize("threshold", [-INF, -1.0, 0.3, INF])
    def test_margins_of_infinite_scores_are_finite(self, threshold):
        model = TODO_THRESHOLD(threshold)
        scores = np.array([-INF, -1e308, 0.5, 1e308])
        model.fit([0.5, 0.2], [1, -1], groups=[0, 0])
        margins = model.decision_function(scores)
        assert np.isfinite(margins).all()
        assert (margins >= 0).tolist() == (model.predict(scores) > -INF).tolist()
        assert (np.diff(margins) >= 0).all()

    def test_what_scores_minus_infinity_is_never_shown(self):
        scores, groups = np.array([-INF, 0.5, -INF]), np.array([0, 0, 1])
        model = FixedThreshold(0.9, min_shown=2)
        model.fit(scores, [1, -1, 1], groups=groups)
        assert (model.predict(scores, groups=groups) > -INF).tolist() == [False, True, False]

    def test_a_promise_holds_of_what_the_cap_leaves(self, data):
        model = fitted(data, threshold="risk", risk="any_forbidden", max_risk=0.3, max_shown=1)
        rank = FixedThreshold(None).fit(data.bayes_scores, data.y, groups=data.groups)
        first = rank.rank(data.bayes_scores, groups=data.groups) == 1
        shown = first & (data.bayes_scores >= model.threshold_)
        forbidden = np.bincount(data.groups, shown & (data.y < 0)) > 0
        observed = model.certificate_.promises["any_forbidden"].observed
        assert observed == pytest.approx(forbidden.mean())
        free = fitted(data, threshold="risk", risk="any_forbidden", max_risk=0.3)
        assert model.threshold_ < free.threshold_  # the cap alone removes many failures

    def test_no_queries_at_predict(self, data):
        model = fitted(data, max_shown=2)
        with pytest.raises(ValueError, match="groups"):
            model.predict(data.bayes_scores)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"max_shown": 0}, "max_shown must be None or a whole number from 1 up, got 0"),
            ({"min_shown": 1.5}, "min_shown must be None or a whole number from 1 up, got 1.5"),
            ({"min_shown": 3, "max_shown": 2}, "min_shown must be at most max_shown, got min_sh"),
            ({"min_shown": 1, "abstain": "score_gap"}, "leave out one of the two"),
            ({"abstain": "gap"}, "abstain must be one of 'best_score'"),
            (
                {"threshold": "risk", "risk": "any_forbidden", "min_shown": 1},
                "threshold='risk' can promise nothing",
            ),
            (
                {"threshold": "risk", "risk": "any_forbidden", "abstain": "score_gap"},
                "threshold='risk' promises a rate",
            ),
            ({"threshold": "expected", "measure": "ap"}, "threshold='expected' maximises nDCG_f"),
        ],
    )
    def test_bad_input(self, data, parameters, message):
        with pytest.raises(ValueError, match=message):
            fitted(data, **parameters)


def _dear(labels):
    """Gains at which a forbidden document costs ten times as much."""
    return np.where(labels < 0, 10 * labels, labels)


class TestHeldOutScore:
    def test_is_that_of_thresholds_chosen_without_the_query(self, data):
        model = fitted(data)
        kept = np.full(len(data.y), -INF)
        folds = GroupKFold(5, shuffle=True, random_state=0)
        for train, test in folds.split(data.y, groups=data.groups):
            curve = threshold_curve(
                data.y[train],
                data.bayes_scores[train],
                groups=data.groups[train],
                measure="ndcg_f@3",
            )
            is_shown = data.bayes_scores[test] >= curve.best_threshold
            kept[test] = np.where(is_shown, data.bayes_scores[test], -INF)
        expected = ndcg_f_score(data.y, kept, groups=data.groups, k=3)
        assert model.held_out_score_ == pytest.approx(expected)

    @pytest.mark.nightly
    def test_is_nearer_to_new_queries_than_the_best_in_sample(self):
        every = make_rank_and_filter(4800, random_state=5)
        scores, y, groups = every.bayes_scores, every.y, every.groups
        new = groups >= 1800
        best, held_out, truth = [], [], []
        for start in range(0, 1800, 60):
            own = (groups >= start) & (groups < start + 60)
            model = TunedThreshold("ndcg_f@3").fit(scores[own], y[own], groups=groups[own])
            best.append(model.best_score_)
            held_out.append(model.held_out_score_)
            kept = np.where(scores[new] >= model.threshold_, scores[new], -INF)
            truth.append(ndcg_f_score(y[new], kept, groups=groups[new], k=3))
        best, held_out, truth = map(np.mean, (best, held_out, truth))
        assert best > truth + 0.005
        assert abs(held_out - truth) < 0.5 * (best - truth)

    def test_a_query_held_out_twice_is_left_out_twice(self, data):
        splits = [
            split
            for seed in range(2)
            for split in GroupKFold(3, shuffle=True, random_state=seed).split(
                data.y, groups=data.groups
            )
        ]
        model = TunedThreshold("ndcg_f@3", cv=splits)
        model.fit(data.bayes_scores, data.y, groups=data.groups)
        # The scores are the same in every fold, so that twice all queries is as much as once.
        assert model.held_out_score_ == pytest.approx(fitted(data).held_out_score_, abs=0.003)

    def test_is_negated_where_lower_is_better(self, data):
        model = TunedThreshold("forbidden@3", min_shown=1)
        model.fit(data.bayes_scores, data.y, groups=data.groups)
        assert model.held_out_score_ < 0

    @pytest.mark.slow
    def test_without_the_filter(self, data):
        expected = ndcg_f_score(data.y, data.bayes_scores, groups=data.groups, k=3)
        for threshold in CUTS.keys() - {"risk"}:
            model = fitted(data, threshold=threshold)
            assert model.held_out_score_unfiltered_ == pytest.approx(expected, abs=1e-12)
        first = np.empty(len(data.y), dtype=bool)
        for query in np.unique(data.groups):
            own = np.flatnonzero(data.groups == query)
            first[own] = np.argsort(np.argsort(-data.bayes_scores[own], kind="stable")) < 2
        capped = np.where(first, data.bayes_scores, -INF)
        above = np.where(data.bayes_scores >= 0.5, data.bayes_scores, -INF)
        for params, scores in (
            ({"max_shown": 2}, capped),
            ({"threshold": 0.5, "abstain": "best_score"}, above),
        ):
            expected = ndcg_f_score(data.y, scores, groups=data.groups, k=3)
            assert fitted(data, **params).held_out_score_unfiltered_ == pytest.approx(expected)

    @pytest.mark.parametrize("weights", [False, True])
    def test_a_filter_that_does_not_pay(self, data, weights):
        scores, rows = data.bayes_scores, data.groups < 30 * (1 + weights)
        heavy = np.where(data.groups < 30, 1.0, 0.0)[rows] if weights else None
        expected = "not shown to pay.*Use threshold=None to show every document, or judge more"
        with pytest.warns(FitWarning, match=expected) as caught:
            model = TunedThreshold("ndcg_f@3").fit(
                scores[rows], data.y[rows], groups=data.groups[rows], query_weight=heavy
            )
        (text,) = {str(each.message) for each in caught}
        assert f"score {model.held_out_score_:.4f} with it" in text
        assert f"and {model.held_out_score_unfiltered_:.4f} without it" in text
        with pytest.warns(FitWarning, match="Use abstain=None to answer every query"):
            FixedThreshold(None, measure="ndcg_f@3", abstain="best_score").fit(
                scores[data.groups < 30],
                data.y[data.groups < 30],
                groups=data.groups[data.groups < 30],
            )

    def test_lists_of_one_query_count_once(self, data):
        rows = data.groups < 60
        y, scores, groups = data.y[rows], data.bayes_scores[rows], data.groups[rows]
        splits = list(GroupKFold(3, shuffle=True, random_state=0).split(y, groups=groups))
        said = set()
        for times_held_out in (1, 4):
            model = LargestGap("ndcg_f@3")
            with pytest.warns(FitWarning, match="not shown to pay") as caught:
                model.set_params(cv=splits * times_held_out).fit(scores, y, groups=groups)
            said |= {str(each.message) for each in caught}
        assert len(said) == 1

    @pytest.mark.slow
    @pytest.mark.parametrize("threshold", ["tune", "expected", "per_query"])
    def test_a_filter_that_pays(self, data, threshold):
        model = TODO_THRESHOLD(threshold, measure="ndcg_f@3", gains=_dear)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=".*below 0")
            model.fit(data.bayes_scores, data.y, groups=data.groups)
        assert model.held_out_score_ > model.held_out_score_unfiltered_ + 0.01

    def test_is_not_said_of_a_promise_and_forgotten(self, data):
        model = fitted(data)
        model.set_params(threshold="risk", risk="any_forbidden", max_risk=0.3)
        model.fit(data.bayes_scores, data.y, groups=data.groups)
        assert not hasattr(model, "held_out_score_")
        assert not hasattr(model, "held_out_score_unfiltered_")


@pytest.mark.slow
def test_search_over_thresholds(few):
    data = few
    y = pd.Series(data.y, index=pd.Index(data.groups, name="qid"))
    search = GridSearchCV(
        RankAndFilter(LogisticRegression(), measure="ndcg_f@3", cv=2),
        {"threshold": ["tune", "expected"], "max_shown": [None, 2]},
        cv=GroupKFold(2),
    ).fit(data.X, y, groups=data.groups)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_params_["max_shown"] is None


@pytest.mark.slow
def test_estimators_with_features(few):
    data = few
    for mode in CUTS:
        risk = {"risk": "any_forbidden", "max_risk": 0.4} if mode == "risk" else {}
        model = RankAndFilter(LinearRegression(), threshold=mode, measure="ndcg_f@3", **risk)
        model.fit(data.X, data.y, groups=data.groups)
        assert model.score(data.X, data.y, groups=data.groups) > 0.6
        assert (model.threshold_ is None) == (mode not in ("tune", "risk"))


def test_changed_file(data):
    file = io.StringIO()
    write_filter(file, fitted(data, threshold="surprise", max_shown=3))
    content = json.loads(file.getvalue())
    content["lists"]["max_shown"] = 5
    with pytest.raises(FileFormatError, match="checksum"):
        read_filter(io.StringIO(json.dumps(content)))


@pytest.mark.slow
@times(1 / 3)  # each is fitted twice
@given(st.sampled_from(["first_k", "surprise", "largest_gap", "expected"]), st.integers(0, 10**6))
def test_order_of_rows_is_no_matter(mode, seed):
    rng = np.random.RandomState(seed)
    groups, y = rng.randint(0, 8, 40), rng.choice([-1, 1, 2], 40)
    scores = rng.permutation(40) / 40.0
    order = rng.permutation(40)
    model = TODO_THRESHOLD(mode, max_shown=4, abstain="score_gap", cv=2)
    one, two = (
        clone(model).fit(scores[rows], y[rows], groups=groups[rows])
        for rows in (np.arange(40), order)
    )
    np.testing.assert_array_equal(
        one.predict(scores, groups=groups)[order],
        two.predict(scores[order], groups=groups[order]),
    )

"""What all thresholds have in common: levels, caps, what is shown, and how they are fitted."""

import functools
import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

import skfilterrank.thresholds
from all_thresholds import MEASURE, PLAIN, THRESHOLDS
from rows_of_queries import lists_of
from scikit_learn_checks import assert_passes_checks
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import places
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.metrics import evaluate, ndcg_f_score
from skfilterrank.ranking import fuse_runs
from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    FixedThreshold,
    LearnedThreshold,
    PerQueryThreshold,
    RiskMonitor,
    TunedThreshold,
    _list_models,
    load_threshold,
)
from skfilterrank.thresholds._curves import ThresholdCurve

INF = np.inf


@pytest.fixture(scope="module")
def few_new():
    return make_rank_and_filter(80, random_state=1)


@pytest.fixture(scope="module")
def fitted_once(few):
    """A clone fitted on few queries, which the tests of one threshold share."""

    @functools.cache
    def of(name, lists):
        model = clone(THRESHOLDS[name]).set_params(**dict(lists))
        return model.fit(few.bayes_scores, few.y, groups=few.groups)

    return lambda name, lists=None: of(name, tuple((lists or {}).items()))


def n_shown(model, data):
    shown = model.predict(data.bayes_scores, groups=data.groups) > -INF
    return np.bincount(data.groups, shown)


def level_curve(lists, keys, parsed):
    return ThresholdCurve.of(
        EntryValues.of(lists.with_ties(parsed.measure.ties[0]), parsed, keys), parsed
    )


class TestLevels:
    """The best level of keys is found as if each were tried."""

    @pytest.mark.slow
    @pytest.mark.parametrize("measure", ["ndcg_f@3", "ap", "rbp", "f@5", "forbidden@3"])
    @pytest.mark.parametrize("seed", range(3))
    def test_values_are_those_of_the_lists_that_are_shown(self, measure, seed):
        y, scores, groups = lists_of(seed)
        # Documents of one score that a cut parts stand in the order of the rows.
        scores = scores + np.arange(40) / 1000
        y = y if measure in ("ndcg_f@3", "forbidden@3") else np.maximum(y, 0)
        index = GroupIndex.from_groups(groups)
        rng = np.random.RandomState(seed)
        per_query = rng.randint(0, 3, index.n_queries).astype(float)
        keys = per_query[index.codes()] - places(scores, index) // 2
        keys[rng.rand(40) < 0.1 * (places(scores, index) == 0)] = INF
        keys[scores == -INF] = -INF
        parsed = parse_measure(measure)
        curve = level_curve(RankedLists(y, scores, groups=groups), keys, parsed)
        sign = 1 if parsed.measure.greater_is_better else -1
        for level, value in zip(curve.thresholds, curve.values):
            kept = np.where(keys >= level, scores, -INF)
            expected = evaluate(y, kept, [measure], groups=groups).means[measure]
            assert value == pytest.approx(sign * float(expected))
        assert curve.best_value == curve.values.max()
        kept = np.where(keys >= curve.best_threshold, scores, -INF)
        best = evaluate(y, kept, [measure], groups=groups).means[measure]
        assert curve.best_value == pytest.approx(sign * float(best))

    def test_hidden_and_shown_whatever_the_level(self):
        y, scores, groups = [1.0, -1, 1], [3.0, 2, 1], [0, 0, 0]
        keys = np.array([INF, 1.0, -INF])
        curve = level_curve(RankedLists(y, scores, groups=groups), keys, parse_measure("ndcg_f"))
        assert curve.thresholds.tolist() == [INF, 1.0]
        shown = [[3.0, -INF, -INF], [3.0, 2, -INF]]
        expected = [ndcg_f_score(y, kept, groups=groups) for kept in shown]
        np.testing.assert_allclose(curve.values, expected)
        assert curve.best_threshold == INF


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "lists"),
    [
        *product(PLAIN, [{}, {"min_shown": 1, "max_shown": 3}]),
        ("certified", {}),
        *(
            pytest.param(name, lists, marks=pytest.mark.nightly)
            for name, lists in product(PLAIN, [{"max_shown": 2}, {"min_shown": 1}])
        ),
    ],
)
class TestEveryThreshold:
    def test_all_ways_to_serve_agree(self, fitted_once, few_new, name, lists):
        model, new = fitted_once(name, lists), few_new
        rows = np.random.RandomState(0).permutation(len(new.y))
        scores, groups = new.bayes_scores[rows], new.groups[rows]
        predicted = model.predict(scores, groups=groups)
        shown = predicted > -INF
        np.testing.assert_array_equal(predicted[shown], scores[shown])
        np.testing.assert_array_equal(model.rank(scores, groups=groups) > 0, shown)
        if name != "all" or lists:
            margins = model.decision_function(scores, groups=groups)
            np.testing.assert_array_equal(margins >= 0, shown)
        # What is shown is the head of each list.
        for query in range(20):
            own = groups == query
            assert scores[own & shown].min(initial=INF) > scores[own & ~shown].max(initial=-INF)
        # No query is looked at by another.
        one = groups == 7
        np.testing.assert_array_equal(
            model.predict(scores[one], groups=groups[one]), predicted[one]
        )
        # Query ids may stand in the index, and scores in a column.
        frame = pd.DataFrame({"score": scores}, index=pd.Index(groups, name="qid"))
        for table in (frame, frame["score"], frame.assign(other="x")):
            np.testing.assert_array_equal(model.predict(table), predicted)
        np.testing.assert_array_equal(
            model.predict(scores[:, np.newaxis], groups=groups), predicted
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in PLAIN if n not in ("per_query", "expected")])
def test_best_score_is_the_measure_of_what_is_shown(few, fitted_once, name):
    """Of a rule that learns nothing, `predict` shows the training lists as they were tuned."""
    for lists in ({"max_shown": 2}, {"min_shown": 1, "max_shown": 3}):
        model = fitted_once(name, lists)
        if hasattr(model, "best_score_"):
            score = model.score(few.bayes_scores, few.y, groups=few.groups)
            assert model.best_score_ == pytest.approx(score, abs=1e-12)


class TestCaps:
    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["fixed", "tuned", "expected", "first_k"])
    def test_show_at_most_and_at_least(self, fitted_once, few_new, name):
        sizes = np.bincount(few_new.groups)
        most = n_shown(fitted_once(name, {"max_shown": 2}), few_new)
        least = n_shown(fitted_once(name, {"min_shown": 2}), few_new)
        both = n_shown(fitted_once(name, {"min_shown": 2, "max_shown": 2}), few_new)
        assert most.max() <= 2
        assert (least >= np.minimum(sizes, 2)).all()
        assert (both == np.minimum(sizes, 2)).all()

    def test_what_scores_minus_infinity_is_never_shown(self):
        scores, groups = np.array([-INF, 0.5, -INF]), np.array([0, 0, 1])
        model = FixedThreshold(0.9, min_shown=2).fit(scores, [1, -1, 1], groups=groups)
        assert (model.predict(scores, groups=groups) > -INF).tolist() == [False, True, False]

    @pytest.mark.parametrize("name", PLAIN)
    def test_one_request_is_one_query(self, fitted_once, few_new, name):
        model = fitted_once(name, {"max_shown": 2})
        scores = few_new.bayes_scores[few_new.groups == few_new.groups[0]]
        one = np.zeros(len(scores))
        for method in (model.predict, model.decision_function, model.rank):
            np.testing.assert_array_equal(method(scores), method(scores, groups=one))
            series = pd.Series(scores, index=[f"d{place}" for place in range(len(scores))])
            np.testing.assert_array_equal(method(series), method(scores))

    def test_rows_that_seem_to_be_of_several_queries(self, few, fitted_once):
        model = fitted_once("tuned", {"max_shown": 2})
        assert model.list_sizes_[1] * 3 < len(few.y)
        for method in (model.predict, model.rank):
            with pytest.warns(DataWarning, match=r"taken as one query, although lists of fit had "):
                method(few.bayes_scores)
            scores = pd.Series([0.5, 0.4], index=["q1", "q1"])
            with pytest.warns(DataWarning, match="although their index repeats labels. Pass gro"):
                method(scores)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"max_shown": 0}, "max_shown must be None or a whole number from 1 up, got 0"),
            ({"min_shown": 1.5}, "min_shown must be None or a whole number from 1 up, got 1.5"),
            ({"min_shown": 3, "max_shown": 2}, "min_shown must be at most max_shown, got min_sh"),
            ({"measure": "rdp"}, "'rdp' is not a measure"),
            ({"gains": "exp3"}, "gains must be None, 'exp2', a dict"),
        ],
    )
    def test_bad_parameters(self, few, parameters, message):
        with pytest.raises(ValueError, match=message):
            TunedThreshold(**parameters).fit(few.bayes_scores, few.y, groups=few.groups)


class TestRows:
    """What `fit` and `predict` take."""

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"scores": [[1.0, 2, 3], [1, 2, 3]]}, r"scores must have shape .* got \(2, 3\)"),
            (
                {"scores": pd.DataFrame({"a": [1, 2], "b": [1, 2], "c": [1, 2]})},
                "or one named 'score'",
            ),
            ({"scores": [1.0, np.nan]}, "scores .*NaN"),
            ({"scores": [1.0, INF]}, "scores .*inf"),
            ({"scores": ["a", "b"]}, "scores must hold numbers"),
            ({"scores": 1.0}, "scores must hold one score per row"),
            ({"scores": [], "y": [], "groups": []}, "is empty: expected at least one row"),
            ({"y": [1]}, "y has 1 labels but there are 2 scores"),
            ({"y": None}, "TunedThreshold requires y to be passed"),
            ({"y": ["a", "b"]}, "y holds labels that are not numbers .* pass gains"),
            ({"groups": [1]}, "groups has 1 entries but there are 2 rows"),
            ({"groups": [1, np.nan]}, "groups has .* missing id"),
            ({"y": [1j, 2]}, "Complex data not supported: y must hold"),
            ({"groups": pd.MultiIndex.from_tuples([(1, 2)] * 2)}, "groups has several levels"),
            ({"clusters": [1]}, "clusters has 1 entries.* one cluster id per row"),
            ({"clusters": [1, "a"]}, "clusters holds cluster ids of different types"),
            ({"groups": [1, 1], "clusters": [1, 2]}, "clusters has several clusters for query 1"),
        ],
    )
    def test_bad_rows(self, changed, message):
        rows = {"scores": [1.0, 2.0], "y": [1, -1], "groups": [1, 2]} | changed
        with pytest.raises(ValueError, match=message):
            TunedThreshold().fit(**rows)

    def test_without_queries_each_row_is_its_own(self, few):
        with pytest.warns(FitWarning, match="TunedThreshold was fitted without query ids"):
            model = TunedThreshold().fit(few.bayes_scores, few.y)
        rows = np.arange(len(few.y))
        other = TunedThreshold().fit(few.bayes_scores, few.y, groups=rows)
        assert model.threshold_ == other.threshold_
        assert model.score(few.bayes_scores, few.y) == pytest.approx(model.best_score_)


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        (FixedThreshold(0.2), {"threshold": None}),
        (FixedThreshold(None), {"threshold": 0.5}),
        (TunedThreshold(max_shown=2), {"max_shown": 1}),
        (TunedThreshold(min_shown=1), {"min_shown": None}),
    ],
)
def test_parameters_set_after_fit_wait_for_the_next_one(model, parameters, tmp_path):
    _, y, groups, scores = make_rank_and_filter(60, random_state=0)
    fitted = clone(model).fit(scores, y, groups=groups)
    fitted.save(tmp_path / "threshold.json")
    for one in (fitted, skfilterrank.thresholds.load_threshold(tmp_path / "threshold.json")):
        before = one.predict(scores, groups=groups), one.decision_function(scores, groups=groups)
        one.set_params(**parameters)
        after = one.predict(scores, groups=groups), one.decision_function(scores, groups=groups)
        np.testing.assert_array_equal(before, after)


def test_whole_numbers_that_float64_takes_for_equal_are_refused():
    _, y, groups, scores = make_rank_and_filter(60, random_state=0)
    large = scores.argsort().argsort() + 2**53
    given = {"groups": groups}
    level, risks = float(2**53), {"any_forbidden@3": 0.5}
    for ask in (
        lambda: TunedThreshold().fit(large, y, **given),
        lambda: TunedThreshold().fit(pd.DataFrame({0: scores, 1: large}), y, **given),
        lambda: FixedThreshold(level).fit().predict(-large),
        lambda: fuse_runs({"a": scores, "b": large}, **given),
        lambda: skfilterrank.thresholds.threshold_curve(y, large, **given),
        lambda: skfilterrank.thresholds.risk_coverage_curve(y, large, **given),
        lambda: skfilterrank.thresholds.risk_certificate(y, large, level, risks=risks, **given),
    ):
        with pytest.raises(InputError, match="which float64 rounds to one number"):
            ask()
    spread = (scores.argsort().argsort() + 2**50) * 2**12
    forms = spread, spread.astype(float), spread.astype(np.longdouble)
    one, two, wide = (TunedThreshold().fit(each, y, **given).threshold_ for each in forms)
    assert one == two == wide > 2**53


def test_swapped_labels_and_scores_are_told():
    _, y, groups, scores = make_rank_and_filter(60, random_state=0)
    risks, given = {"any_forbidden@3": 0.9}, {"groups": groups}
    with pytest.warns(DataWarning, match="swapped: the order is scores, then labels"):
        CertifiedThreshold(risks).fit(y, scores, **given)
    for ask in (
        RiskMonitor(risks).update,
        skfilterrank.thresholds.threshold_curve,
        skfilterrank.thresholds.risk_coverage_curve,
        functools.partial(skfilterrank.thresholds.risk_certificate, threshold=-2.0, risks=risks),
    ):
        with pytest.warns(DataWarning, match="swapped: the order is labels, then scores"):
            ask(scores, y, **given)
    # More than 50 labels, and at most 50 scores.
    rows = np.arange(60)
    with pytest.warns(DataWarning, match="y_true has 51 values and y_score 50"):
        skfilterrank.thresholds.threshold_curve(rows % 51, rows % 50, groups=rows // 10)
    with warnings.catch_warnings(action="error"):
        skfilterrank.thresholds.threshold_curve(rows % 50, rows % 50, groups=rows // 10)


@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_scores_of_hidden_rows_have_finite_margins(dtype):
    _, y, groups, scores = make_rank_and_filter(60, random_state=0)
    narrow = np.where(scores < -1, -INF, scores).astype(dtype)
    for given in (narrow, np.column_stack([narrow, -scores.astype(dtype)])):
        wide = given.astype(np.float64)
        with np.errstate(over="raise"):
            found = TunedThreshold().fit(given, y, groups=groups)
            margins = found.decision_function(given, groups=groups)
        np.testing.assert_array_equal(margins, found.decision_function(wide, groups=groups))
        assert np.isfinite(margins).all()
    # Squares of these numbers overflow float16.
    large = (scores * 200).astype(dtype)
    forms = large, large.astype(np.float64)
    narrow, wide = (TunedThreshold().fit(each, y, groups=groups).comparability_ for each in forms)
    assert narrow.ratio == wide.ratio


@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
def test_both_columns_of_predict_proba_are_told():
    _, y, groups, scores = make_rank_and_filter(60, random_state=0)
    chances = expit(scores).astype(np.float32)
    both = np.column_stack([1 - chances, chances])
    with pytest.warns(DataWarning, match="two columns of scores sum to 1, as those of predict_pr"):
        TunedThreshold().fit(both, y, groups=groups)


class TestClusters:
    """Lists of one cluster are never on both sides of a split."""

    def test_lists_of_one_cluster_count_once(self, few):
        """A query that is held out several times says no more than once."""
        rows = few.groups < 60
        y, groups = few.y[rows], few.groups[rows]
        scores = np.random.default_rng(1).normal(size=len(y))
        said = set()
        for n_times in (1, 4):
            copies = np.repeat(np.arange(n_times), len(y)) * 1000
            clusters = np.tile(groups, n_times)
            with pytest.warns(FitWarning, match="as good on held-out") as caught:
                TunedThreshold(MEASURE).fit(
                    np.tile(scores, n_times),
                    np.tile(y, n_times),
                    groups=clusters + copies,
                    clusters=clusters,
                )
            said |= {str(each.message) for each in caught}
        assert len(said) == 1

    def test_a_query_held_out_twice_is_left_out_twice(self, few):
        one = TunedThreshold(MEASURE).fit(few.bayes_scores, few.y, groups=few.groups)
        two = TunedThreshold(MEASURE).fit(
            np.tile(few.bayes_scores, 2),
            np.tile(few.y, 2),
            groups=np.append(few.groups, few.groups + 1000),
            clusters=np.tile(few.groups, 2),
        )
        assert two.held_out_.loc["threshold", "value"] == pytest.approx(
            one.held_out_.loc["threshold", "value"], abs=1e-12
        )

    def test_one_cluster_has_no_held_out_score(self, few):
        model = TunedThreshold(MEASURE)
        model.fit(few.bayes_scores, few.y, groups=few.groups, clusters=np.zeros(len(few.y)))
        assert not hasattr(model, "held_out_")


class TestSearch:
    """A threshold alone in scikit-learn's searches."""

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["tuned", "certified"])
    def test_query_ids_in_the_index(self, few, name):
        y = pd.Series(few.y, index=pd.Index(few.groups, name="qid"))
        search = GridSearchCV(
            clone(THRESHOLDS[name]), {"max_shown": [1, 3]}, cv=GroupKFold(2), error_score="raise"
        ).fit(few.bayes_scores[:, np.newaxis], y, groups=few.groups)
        assert search.best_params_ == {"max_shown": 3}
        # `score` has the same measure in each fold.
        folds = GroupKFold(2).split(few.bayes_scores, groups=few.groups)
        for fold, (train, test) in enumerate(folds):
            model = clone(THRESHOLDS[name]).set_params(max_shown=3)
            model.fit(few.bayes_scores[train], few.y[train], groups=few.groups[train])
            kept = model.predict(few.bayes_scores[test], groups=few.groups[test])
            expected = ndcg_f_score(few.y[test], kept, groups=few.groups[test], k=3)
            found = search.cv_results_[f"split{fold}_test_score"]
            assert found[1] == pytest.approx(expected)

    @pytest.mark.slow
    def test_metadata_routing(self, few):
        with sklearn.config_context(enable_metadata_routing=True):
            search = GridSearchCV(
                TunedThreshold(MEASURE),
                {"max_shown": [1, 3]},
                cv=GroupKFold(2),
                error_score="raise",
            ).fit(
                few.bayes_scores[:, np.newaxis],
                few.y,
                groups=few.groups,
                clusters=few.groups // 2,
                query_weight=np.ones(len(few.y)),
            )
        assert search.best_params_ == {"max_shown": 3}


class TestTwoLabels:
    """Relevance and harm, whose gain is -harm where that is above 0."""

    SCORES = np.array([3.0, 2.0, 1.0, 2.0, 1.0])
    QID = np.array(["a", "a", "a", "b", "b"])
    RELEVANCE, HARM = [2.0, np.nan, 1.0, 1.0, 1.0], [0.0, 5.0, 0.0, 0.0, np.nan]
    GAINS = np.array([2.0, -5.0, 1.0, 1.0, np.nan])

    def table(self, **index):
        return pd.DataFrame({"harm": self.HARM, "relevance": self.RELEVANCE}, **index)

    def test_fit_and_score_by_hand(self):
        # DCG of the two queries, by what is shown: 2 and 0 from 3 on; 2 - 5 / log2(3) and 1 from 2
        # on; 2 - 5 / log2(3) + 1 / 2 and 1 with all.
        y = self.table()
        cut = TunedThreshold("dcg").fit(self.SCORES, y, groups=self.QID)
        np.testing.assert_array_equal(cut.predict(self.SCORES), [3, -INF, -INF, -INF, -INF])
        assert cut.best_score_ == cut.score(self.SCORES, y, groups=self.QID) == 1.0
        assert cut.n_unjudged_ == 1
        kept = FixedThreshold(2.0, measure="dcg").fit(self.SCORES, y, groups=self.QID)
        expected = (3 - 5 / np.log2(3)) / 2
        assert kept.score(self.SCORES, y, groups=self.QID) == pytest.approx(expected)

    def test_query_ids_of_a_table(self):
        y = self.table(index=pd.Index(self.QID, name="qid"))
        cut = TunedThreshold("dcg").fit(self.SCORES, y)
        assert cut.best_score_ == cut.score(self.SCORES, y) == 1.0

    def test_gains_are_those_of_relevance(self):
        y = np.column_stack([np.nan_to_num(self.RELEVANCE), np.nan_to_num(self.HARM)])
        cut = FixedThreshold(3.0, measure="dcg", gains={0: 0, 1: 1, 2: 10})
        assert cut.fit(self.SCORES, y, groups=self.QID).score(self.SCORES, y, self.QID) == 5.0

    @pytest.mark.filterwarnings("ignore:only 35 of the rows are forbidden")
    @pytest.mark.parametrize("rule", ["ratio", "harm"])
    def test_second_scores(self, few, rule):
        y = np.column_stack([np.maximum(few.y, 0), 2.0 * (few.y < 0)])
        gains = np.where(few.y < 0, -2.0, few.y)
        given, both = {"groups": few.groups}, np.column_stack([few.bayes_scores, -few.bayes_scores])
        two = TunedThreshold(MEASURE, rule=rule).fit(both, y, **given)
        one = TunedThreshold(MEASURE, rule=rule).fit(both, gains, **given)
        assert (two.level_, two.best_score_) == (one.level_, one.best_score_)
        assert two.score(both, y, **given) == one.score(both, gains, **given)

    def test_errors(self):
        with pytest.raises(InputError, match="y has the harm -5: give 0 for a harmless document"):
            TunedThreshold().fit(self.SCORES, -self.table().fillna(0), groups=self.QID)
        with pytest.raises(InputError, match=r"y must hold one label per row .* \(5, 3\)"):
            TunedThreshold().fit(self.SCORES, np.zeros((5, 3)), groups=self.QID)


class OfFirstColumn:
    """For scikit-learn's checks, which know tables of features and no queries."""

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        n_features = self.n_features_in_
        super().fit(X[:, 0], y, groups=np.arange(len(y)))
        self.n_features_in_ = n_features
        return self

    def _asked(self, method, X, *args):
        X = validate_data(self, X, reset=False)
        return getattr(super(), method)(X[:, 0], *args, groups=np.arange(len(X)))

    def predict(self, X, groups=None):
        return self._asked("predict", X)

    def decision_function(self, X, groups=None):
        return self._asked("decision_function", X)

    def score(self, X, y):
        return super().score(X, y, groups=np.arange(len(X)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        return tags


def checked(kind):
    """A kind of threshold for scikit-learn's checks, which pickle can find."""
    members = {"__init__": kind.__init__, "__module__": __name__}
    globals()[kind.__name__ + "OfFirstColumn"] = made = type(
        kind.__name__ + "OfFirstColumn", (OfFirstColumn, kind), members
    )
    return made


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=() if n in ("fixed", "tuned") else pytest.mark.nightly)
        for n in THRESHOLDS
    ],
)
def test_scikit_learn_checks(name):
    threshold = THRESHOLDS[name]
    params = threshold.get_params()
    if name == "certified":
        params |= {"risks": {"any_forbidden@3": 0.9}, "confidence_level": 0.3}
    assert_passes_checks(checked(type(threshold))(**params))


def test_of_two_columns_scikit_learn_knows_nothing():
    tags = get_tags(TunedThreshold()).input_tags
    assert (tags.one_d_array, tags.two_d_array) == (True, False)


def test_no_judged_row_is_refused():
    with pytest.raises(ValueError, match=r"^y has no judged row: .* Pass labels of some rows"):
        TunedThreshold().fit([3.0, 2.0, 1.0], [np.nan] * 3, groups=[0, 0, 1])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [ExpectedThreshold, PerQueryThreshold, LearnedThreshold])
def test_learned_cuts_do_not_depend_on_the_scale(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(_list_models, "_ROUNDS", 10)
    _, y, groups, scores = make_rank_and_filter(40, random_state=0)
    cut = kind("f", random_state=0, cv=2) if kind is LearnedThreshold else kind("f")
    with warnings.catch_warnings(action="ignore", category=FitWarning):
        expected = cut.fit(scores, y, groups=groups).rank(scores, groups=groups)
        assert (expected == 0).any()
        for scale in (1e-200, 1e200):
            cut.fit(scores * scale, y, groups=groups)
            cut.save(tmp_path / "cut.json")
            for each in (cut, load_threshold(tmp_path / "cut.json")):
                np.testing.assert_array_equal(each.rank(scores * scale, groups=groups), expected)


def test_queries_without_a_judged_document_are_named_on_fit(few):
    y = np.where(few.groups < 3, np.nan, few.y)
    with pytest.warns(DataWarning, match=r"without a judged document \(3 of 80\)"):
        TunedThreshold(MEASURE).fit(few.bayes_scores, y, groups=few.groups)

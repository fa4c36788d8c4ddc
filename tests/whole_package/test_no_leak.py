"""No value of a held-out query comes from a model, a threshold or a weight that has seen it."""

import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from dealt import dealt_splits
from given_scores import GivenScores
from skfilterrank.cli import main
from skfilterrank.cli._rows import JudgedRows
from skfilterrank.cli.rank_filter import compare_models
from skfilterrank.exceptions import DataWarning, FitWarning, InputError, SkfilterrankWarning
from skfilterrank.metrics import make_ranking_scorer, ndcg_f_score
from skfilterrank.ranking import CalibratedRanker, FilterOnly, QueryRanker, RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    FirstK,
    PerQueryThreshold,
    TunedThreshold,
)
from thinned import is_nightly, thinned

pytestmark = pytest.mark.filterwarnings("ignore:.*as good on held-out queries")

_N_DOCUMENTS = 6
# Largest number of queries whose labels are changed, one query at a time.
_N_TURNED = 20 if is_nightly() else 3
# Columns of X: a score that is correlated with the label, the number of the query, and the label.
_SCORE, _QUERY, _LABEL = range(3)


class Canary(RegressorMixin, BaseEstimator):
    """Regressor that ranks rows by their labels if it knows these, to reveal leaks.

    `knows` is "nothing", "queries of fit" or "everything". Rows with known labels get the scores
    from the first column of X, sorted by label. Their mean and spread stay the same, so that a
    common scaling of the scores of folds is not reported as a leak.
    """

    def __init__(self, knows="nothing"):
        self.knows = knows

    def fit(self, X, y):
        """Store the queries of the training rows."""
        X, y = validate_data(self, X, y, y_numeric=True)
        self.queries_ = np.unique(X[:, _QUERY])
        return self

    def predict(self, X):
        """Return the first column of X; rows with known labels are sorted by label."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        scores = X[:, _SCORE].copy()
        if self.knows == "everything":
            known = np.arange(len(X))
        elif self.knows == "queries of fit":
            known = np.flatnonzero(np.isin(X[:, _QUERY], self.queries_))
        else:
            return scores
        order = np.lexsort((scores[known], X[known, _LABEL]))
        scores[known[order]] = np.sort(scores[known])
        return scores


def check_no_leak(held_out, *, n_queries=20):
    """Check that no value of a held-out query comes from a model that has seen this query.

    ``held_out(estimator, X, y, groups)`` runs the code to check around a clone of the given
    regressor. It returns a number, an array, a Series, a DataFrame, or a dict, list or tuple of
    these. An array with one entry per row has the values of the rows.

    It is called with an estimator that scores by its first feature alone, with one that remembers
    the labels of the queries of its fit (a value that differs comes from a model that was fitted on
    the query), and with one that knows all labels (no value differs: nothing is checked). Values of
    rows must also stay if labels of their own query change: this finds a threshold of all queries.
    """
    rng = np.random.default_rng(0)
    X, y, groups = _rows(n_queries, rng)
    plain = _asked(held_out, Canary(), X, y, groups)
    again = _asked(held_out, Canary(), X, y, groups)
    assert not _different(plain, again), "other values when called again"
    remembered = _asked(held_out, Canary("queries of fit"), X, y, groups)
    found = _different(plain, remembered)
    assert not found, f"{found} changes if the estimator remembers the queries of its fit"
    _check_own_labels(held_out, plain, X, y, groups, rng)
    known = _asked(held_out, Canary("everything"), X, y, groups)
    assert _different(plain, known), "no value changes if the estimator knows all labels"


def _check_own_labels(held_out, plain, X, y, groups, rng):
    """Check that values of rows do not change with the labels of their own query."""
    of_rows = [name for name, values in plain.items() if values.shape[:1] == y.shape]
    queries = np.unique(groups)
    drawn = rng.choice(queries, min(_N_TURNED, len(queries)), replace=False) if of_rows else ()
    for query in drawn:
        own = np.flatnonzero(groups == query)
        by_score = own[np.argsort(X[own, _SCORE])]
        # One document keeps the opposite label, because measures may need good and forbidden ones.
        for other, but, label in ((2.0, by_score[-1], -1.0), (-1.0, by_score[0], 2.0)):
            turned = y.copy()
            turned[own] = other
            turned[but] = label
            changed = _asked(held_out, Canary(), X, turned, groups)
            for name in of_rows:
                assert _are_same(plain[name][own], changed[name][own]), (
                    f"{name} of query {query} changes with the labels of its own query"
                )


def _rows(n_queries, rng):
    """Draw X, y and groups, with the rows of the queries in mixed order."""
    groups = rng.permutation(np.repeat(np.arange(n_queries), _N_DOCUMENTS))
    y = np.empty(len(groups))
    for query in range(n_queries):
        # Each query has a forbidden and a good document, so that all measures are defined.
        others = rng.choice([-1.0, 0.0, 1.0, 2.0], _N_DOCUMENTS - 2)
        y[groups == query] = rng.permutation(np.append(others, [-1.0, 2.0]))
    X = np.column_stack([y + rng.normal(0.0, 1.5, len(y)), groups, y])
    return X, y, groups


def _asked(held_out, estimator, X, y, groups):
    """Call `held_out`, and return its values as arrays by name."""
    with warnings.catch_warnings(action="ignore", category=SkfilterrankWarning):
        return dict(_flat(held_out(estimator, X.copy(), y.copy(), groups.copy()), "value"))


def _flat(value, name):
    """Yield (name, array) for each number or array in a returned value, at any depth."""
    if isinstance(value, pd.DataFrame | Mapping):
        for key, each in value.items():
            yield from _flat(each, f"{name} {key}")
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _flat(each, f"{name} {number}")
    else:
        yield name, np.asarray(value, dtype=np.float64)


def _different(plain, found):
    """Return the names of the values that differ."""
    return [name for name, values in plain.items() if not _are_same(values, found[name])]


def _are_same(values, others):
    """Return True if values differ by no more than rounding."""
    return values.shape == others.shape and np.allclose(
        values, others, rtol=1e-7, atol=1e-9, equal_nan=True
    )


def repeated(X, y, groups):
    """Three times two folds of whole queries."""
    return [
        split
        for seed in range(3)
        for split in GroupKFold(2, shuffle=True, random_state=seed).split(X, y, groups)
    ]


SPLITS = {
    "whole": lambda *data: 3,
    "partial": lambda *data: 0.25,
    "repeated": repeated,
    "drawn": lambda *data: list(GroupShuffleSplit(3, random_state=0).split(*data)),
}


def of_filter(threshold="tune", splits="whole", **params):
    """What a RankAndFilter says of held-out queries."""

    def held_out(estimator, X, y, groups):
        cv = SPLITS[splits](X, y, groups)
        model = RankAndFilter(estimator, threshold, measure="ndcg_f@3", cv=cv, **params)
        model.fit(X, y, groups=groups)
        found = {"best": model.best_score_, "compared": model.held_out_["value"].to_numpy()}
        found["cv"] = model.cv_results_["test_score"]
        if hasattr(model, "threshold_curve_"):
            found["values"] = model.threshold_curve_.values
        return found

    return held_out


def of_risk(estimator, X, y, groups):
    safe = CertifiedThreshold({"forbidden@3": 0.6}, confidence_level=0.9)
    model = RankAndFilter(estimator, safe, measure="ndcg_f@3", cv=0.5)
    certificate = model.fit(X, y, groups=groups).certificate_
    return certificate.to_frame().select_dtypes("number"), certificate.threshold


def of_filter_only(estimator, X, y, groups):
    model = FilterOnly(RankAndFilter(estimator, cv=2), random_state=0).fit(X, y, groups=groups)
    return model.estimator_.held_out_.loc["threshold", "value"]


def of_calibration(estimator, X, y, groups):
    model = CalibratedRanker(estimator, target="gain", cv=3).fit(X, y, groups=groups)
    return model.auc_


def of_calibrated_filter(estimator, X, y, groups):
    inner = CalibratedRanker(estimator, target="gain", cv=2)
    return RankAndFilter(inner, cv=2).fit(X, y, groups=groups).held_out_.loc["threshold", "value"]


def of_comparison(estimator, X, y, groups):
    models = {
        "by query": RankAndFilter(estimator, ExpectedThreshold(), cv=2),
        "fixed": RankAndFilter(estimator, threshold=0.5),
    }
    rows = JudgedRows(X, pd.Series(y), pd.Index(groups), np.arange(len(y)))
    splits = list(GroupKFold(2).split(X, y, groups))
    found = compare_models(models, rows, None, splits=splits, refit=False)
    return {name: found.scores[name] for name in models} | {"cv": list(found.cv_scores.values())}


def of_scorer(estimator, X, y, groups):
    scorer = make_ranking_scorer(["ndcg_f@3", "ap"])
    labels = pd.Series(y, index=pd.Index(groups, name="qid"))
    model = RankAndFilter(QueryRanker(estimator), threshold=0.5)
    cv = GroupKFold(2)
    found = cross_validate(model, X, labels, groups=groups, scoring=scorer, cv=cv)
    return {name: values for name, values in found.items() if name.startswith("test")}


DOORS = {
    **{f"{splits} splits": of_filter(splits=splits) for splits in SPLITS},
    **{
        type(threshold).__name__: of_filter(threshold, splits)
        for threshold, splits in (
            (PerQueryThreshold(), "repeated"),
            (ExpectedThreshold(), "whole"),
            (FirstK(), "partial"),
        )
    },
    "the only split": of_filter(splits="partial", refit=False),
    "promises": of_risk,
    "filter alone": of_filter_only,
    "calibration": of_calibration,
    "calibrated filter": of_calibrated_filter,
    "comparison": of_comparison,
    "scorers": of_scorer,
}


@pytest.mark.slow
@pytest.mark.parametrize("door", DOORS)
def test_models_have_not_seen_what_they_are_measured_on(door):
    # Each query is turned in a call of its own, and comparisons fit many models in a call.
    check_no_leak(DOORS[door], n_queries=6 if door == "comparison" else 8)


def test_a_threshold_of_all_queries_is_found():
    """And values that no model has a part in, of which nothing can be said."""

    def above_the_forbidden(estimator, X, y, groups):
        scores = cross_val_predict(estimator, X, y, groups=groups, cv=GroupKFold(5))
        return scores - scores[y < 0].mean()

    with pytest.raises(AssertionError, match="changes with the labels of its own query"):
        check_no_leak(above_the_forbidden)
    with pytest.raises(AssertionError, match="no value changes if the estimator knows all labels"):
        check_no_leak(lambda estimator, X, y, groups: y.mean())


def test_splits_of_rows_are_told_and_found():
    """One query on both sides of a split."""

    def of_rows(estimator, X, y, groups):
        cv = list(KFold(2, shuffle=True, random_state=0).split(X))
        return (
            RankAndFilter(estimator, cv=cv)
            .fit(X, y, groups=groups)
            .held_out_.loc["threshold", "value"]
        )

    with pytest.raises(AssertionError, match="remembers the queries of its fit"):
        check_no_leak(of_rows)
    groups, y = np.repeat([0, 1, 2], 2), np.array([1.0, -1.0] * 3)
    splits = [([0, 1], [2, 3, 4, 5]), ([2, 3, 4, 5], [0, 1]), ([0, 1, 2], [3, 4, 5])]
    with pytest.warns(DataWarning, match="cv splits queries: 1 have rows on both sides"):
        RankAndFilter(GivenScores(), cv=splits).fit(y, y, groups=groups)


def test_a_promise_counts_no_query_twice():
    rng = np.random.default_rng(0)
    groups, y = np.repeat(np.arange(40), 3), rng.choice([-1.0, 1.0], 120)
    X = y + rng.normal(size=120)
    safe = RankAndFilter(GivenScores(), CertifiedThreshold({"forbidden": 0.5}))
    safe.set_params(cv=repeated(X, y, groups))
    with pytest.raises(InputError, match="40 queries occur several times"):
        safe.fit(X, y, groups=groups)
    safe.set_params(cv=repeated(X, y, groups)[:2]).fit(X, y, groups=groups)
    assert safe.certificate_.risks["forbidden"].n_queries == 40


# Five queries, so that what is held out is one query, whatever the folds are.
FIVE = np.repeat(np.arange(5), 6)
FIVE_Y = np.array(
    [
        *(-1, -1, -1, -1, -1, 1),
        *(-1, -1, 2, 1, 1, 1),
        *(-1, -1, -1, -1, -1, 2),
        *(1, -1, 2, -1, -1, -1),
        *(1, 2, 1, -1, -1, -1),
    ],
    dtype=float,
)
FIVE_SCORES = np.array(
    [
        *(-0.76, -0.40, -0.39, -2.48, -2.10, 0.09),
        *(-1.55, -0.36, -0.16, 0.22, -1.20, -1.35),
        *(-1.79, -0.31, -3.29, -2.08, -2.64, 0.15),
        *(1.37, -0.10, 1.67, -1.98, -0.25, 0.81),
        *(-0.12, 1.45, -1.64, -1.39, -0.61, -1.76),
    ]
)
LEARNED = [TunedThreshold(), PerQueryThreshold(), ExpectedThreshold(), FirstK()]


def filtered(n_times, y=FIVE_Y, threshold="tune"):
    """A filter of the five queries, each held out so many times."""
    splits = list(GroupKFold(5).split(FIVE, groups=FIVE)) * n_times
    model = RankAndFilter(GivenScores(), threshold, measure="ndcg_f@3", cv=splits)
    return model.fit(FIVE_SCORES, y, groups=FIVE)


def held_out_by_hand(n_times, y=FIVE_Y, threshold="tune"):
    """The value of each query, filtered by a model of the others."""
    values = []
    for query in range(5):
        rest, own = query != FIVE, query == FIVE
        splits = list(GroupKFold(4).split(FIVE[rest], groups=FIVE[rest])) * n_times
        model = RankAndFilter(GivenScores(), threshold, measure="ndcg_f@3", cv=splits)
        model.fit(FIVE_SCORES[rest], y[rest], groups=FIVE[rest])
        shown = model.predict(FIVE_SCORES[own], groups=FIVE[own])
        values.append(ndcg_f_score(y[own], shown, groups=FIVE[own], k=3))
    return np.array(values)


def values_unfiltered(y=FIVE_Y):
    return np.asarray(ndcg_f_score.per_query(y, FIVE_SCORES, groups=FIVE, k=3))


@pytest.mark.slow
@pytest.mark.parametrize("threshold", LEARNED, ids=str)
@pytest.mark.parametrize("n_times", thinned([2, 1], parts=2))
def test_a_held_out_query_is_filtered_by_what_the_others_say(threshold, n_times):
    """Also where each query is held out twice: neither of its lists is learned from."""
    model = filtered(n_times, threshold=threshold)
    expected = held_out_by_hand(n_times, threshold=threshold).mean()
    assert model.held_out_.loc["threshold", "value"] == pytest.approx(expected, abs=1e-12)
    if isinstance(threshold, PerQueryThreshold | ExpectedThreshold):
        # There is no level to choose.
        assert model.best_score_ == pytest.approx(expected, abs=1e-12)
    if threshold.max_shown is None:
        plain = values_unfiltered().mean()
        assert model.held_out_.loc["everything", "value"] == pytest.approx(plain, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("n_times", [1, 2])
def test_the_error_of_what_a_filter_gains_is_that_of_queries(n_times):
    """A query that is held out twice makes the error no smaller."""
    y = FIVE_Y[::-1]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = filtered(n_times, y)
    with_filter, plain = held_out_by_hand(n_times, y), values_unfiltered(y)
    gained = with_filter - plain
    error = np.sqrt(((gained - gained.mean()) ** 2).sum() / 4 / 5)
    (text,) = [str(each.message) for each in caught if each.category is FitWarning]
    assert f"and {with_filter.mean():.4f} with the threshold" in text
    assert model.held_out_.loc["everything"].tolist() == pytest.approx(
        [plain.mean(), gained.mean(), error, *stats.ttest_1samp(gained, 0).confidence_interval()]
    )
    assert model.held_out_.loc["threshold", "value"] == pytest.approx(with_filter.mean())


class TestQueryWeights:
    """Each query counts by its own weight, and those that are not held out by none."""

    y = np.array([1, -1, 2, -1, 1, -1, 1, -1, -1, 1.0, 1, -1])
    scores = np.array([0.9, 0.8, 0.7, 0.2, 0.6, 0.5, 0.4, 0.1, 0.9, 0.3, 0.8, 0.7])
    groups = np.repeat(["f", "b", "d", "a", "e", "c"], 2)

    def fitted(self, cv, weights):
        model = RankAndFilter(GivenScores(), cv=cv)
        return model.fit(self.scores, self.y, groups=self.groups, query_weight=weights)

    @pytest.mark.parametrize("n_times", [1, 3])
    def test_of_a_partial_split(self, n_times):
        """Queries b, c and e are held out: places 1, 2 and 4 of the sorted six."""
        test = np.flatnonzero(np.isin(self.groups, ["b", "c", "e"]))
        splits = [(np.setdiff1d(np.arange(12), test), test)] * n_times
        weights = {"a": 50.0, "b": 1.0, "c": 4.0, "d": 70.0, "e": 0.5, "f": 90.0}
        model = self.fitted(splits, weights)
        counted = np.array([1.0, 4.0, 0.5])
        of_levels = {}
        for level in [-np.inf, *np.unique(self.scores[test]), np.inf]:
            shown = np.where(self.scores[test] >= level, self.scores[test], -np.inf)
            own = ndcg_f_score.per_query(self.y[test], shown, groups=self.groups[test])
            of_levels[level] = float(np.average(own, weights=counted))
        assert model.best_score_ == pytest.approx(max(of_levels.values()))
        np.testing.assert_allclose(
            model.threshold_curve_.values,
            [of_levels[level] for level in model.threshold_curve_.thresholds],
        )
        np.testing.assert_allclose(model.cv_results_["test_score"], model.best_score_)
        others = weights | {"a": 1e6, "d": 0.0, "f": 1e-6}
        again = self.fitted(splits, others)
        assert again.threshold_ == model.threshold_
        assert again.held_out_.loc["threshold", "value"] == pytest.approx(
            model.held_out_.loc["threshold", "value"], abs=1e-12
        )

    def test_of_a_share(self):
        """cv=0.25 holds out the same queries whatever they weigh."""
        even = self.fitted(0.25, None)
        ((_, held_out),) = dealt_splits(0.25, self.scores, self.y, self.groups)
        names = np.unique(self.groups[held_out])
        assert even.cv_results_["n_queries"].tolist() == [len(names)] == [2]
        for heavy, light in (names, names[::-1]):
            weights = dict.fromkeys(np.unique(self.groups), 1000.0) | {heavy: 1.0, light: 0.0}
            own = self.groups == heavy
            alone = []
            for level in [-np.inf, *self.scores[own], np.inf]:
                shown = np.where(self.scores[own] >= level, self.scores[own], -np.inf)
                alone.append(ndcg_f_score(self.y[own], shown, groups=self.groups[own]))
            model = self.fitted(0.25, weights)
            assert model.best_score_ == pytest.approx(max(alone))


class Recorder(RegressorMixin, BaseEstimator):
    """Remembers the queries that it learns from, and those that it is told to stop by."""

    def fit(self, X, y, eval_set=None):
        self.learned_ = set(X[:, 0])
        self.stopped_by_ = [set(held_out[0][:, 0]) for held_out in eval_set or []]
        return self

    def predict(self, X):
        return X[:, 0]


def test_a_ranker_stops_by_queries_that_it_does_not_learn_from():
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(12), 3))
    X, y = groups[:, None].astype(float), np.resize([1.0, -1.0, 2.0], 36)
    ranker = QueryRanker(Recorder(), validation_fraction=0.25).fit(X, y, groups=groups)
    (held_out,) = ranker.estimator_.stopped_by_
    assert len(held_out) == 3
    assert ranker.estimator_.learned_ == set(range(12)) - held_out


@pytest.mark.slow
def test_lists_that_the_command_holds_out_do_not_know_their_labels(tmp_path, capsys):
    """Without test data, rank-filter writes the lists of held-out folds."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"query": np.repeat(np.arange(6), 5), "label": np.resize([1, -1, 2], 30)})
    table["docno"] = [f"d{row}" for row in range(30)]
    table["a"], table["b"] = table["label"] + rng.normal(size=30), rng.normal(size=30)

    def lists(labels):
        table.assign(label=labels).to_csv(tmp_path / "rows.csv", index=False)
        options = ["--cv", "2", "--models", "mse", "--learner", "linear", "--threshold", "0.5"]
        options += ["--columns", "qid=query,label=label,docno=docno"]
        options += ["--numeric", "a,b", "--out-run", str(tmp_path / "lists.csv"), "--n-jobs", "1"]
        assert main(["rank-filter", str(tmp_path / "rows.csv"), *options]) == 0
        capsys.readouterr()
        return pd.read_csv(tmp_path / "lists.csv")

    plain = lists(table["label"])
    query = plain.columns[0]
    own = table["query"] == 3
    turned = lists(table["label"].where(~own, 1 - table["label"]))
    pd.testing.assert_frame_equal(
        turned[turned[query] == 3].reset_index(drop=True),
        plain[plain[query] == 3].reset_index(drop=True),
    )
    assert not turned.equals(plain)

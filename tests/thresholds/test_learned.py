"""Cuts that are learned from features of whole lists."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_info

from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.metrics import f_score
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    LearnedThreshold,
    TunedThreshold,
    _learned,
    _list_models,
    load_threshold,
)
from skfilterrank.thresholds._answers import held_out_values
from skfilterrank.thresholds._judged_scores import JudgedScores
from skfilterrank.thresholds._list_models import (
    Booster,
    Curves,
    Linear,
    Trees,
    best_share,
    fit_member,
    mixture,
)

INF = np.inf
QUICK = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000))


def two_kinds(n_queries=40, n_documents=8, seed=0):
    """Scores on a scale of each query's own, and labels."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_queries), n_documents)
    behind = rng.normal(size=len(groups))
    y = (behind + 0.5 * rng.normal(size=len(groups)) > 0.3).astype(float)
    scores = (
        behind * np.exp(rng.normal(size=n_queries))[groups] + 5 * rng.normal(size=n_queries)[groups]
    )
    return scores, y, groups


def judged_scores(scores, y, groups, clusters=None):
    lists = RankedLists(y, scores, groups=groups)
    n = lists.index.n_queries
    clusters = np.arange(n) if clusters is None else clusters
    return JudgedScores(lists, clusters, np.empty((len(y), 0)), [])


def test_follows_the_list_where_one_threshold_does_not():
    scores, y, groups = two_kinds(80)
    new, labels, queries = two_kinds(80, seed=1)
    learned = LearnedThreshold("f", estimator=QUICK, cv=3).fit(scores, y, groups=groups)
    assert learned.cut_.learner.shares == {"estimator": 1.0}
    one = TunedThreshold("f").fit(scores, y, groups=groups)
    values = [
        f_score(labels, cut.predict(new, groups=queries), groups=queries) for cut in (learned, one)
    ]
    assert values[0] > values[1] + 0.05


@pytest.mark.parametrize("share_a_cluster", [False, True])
def test_keys_do_not_depend_on_the_labels_of_their_own_query(share_a_cluster):
    scores, y, groups = two_kinds(12)
    clusters = np.arange(12) // 2 if share_a_cluster else np.arange(12)
    cut, parsed = LearnedThreshold("f", estimator=QUICK, cv=4)._cut_of(0), parse_measure("f")
    before = cut.learn(judged_scores(scores, y, groups, clusters), parsed)
    changed = y.copy()
    own = groups == 3
    changed[own] = 1 - changed[own]
    after = cut.learn(judged_scores(scores, changed, groups, clusters), parsed)
    same = np.isin(groups, [2, 3]) if share_a_cluster else own
    np.testing.assert_array_equal(before[same], after[same])
    assert (before[~same] != after[~same]).any()


def test_the_factor_of_a_held_out_query_is_that_of_the_other_by_hand():
    judged = judged_scores(np.array([2.0, 1.0, 2.0, 1.0]), [1.0, 1.0, -1.0, -1.0], [0, 0, 1, 1])
    parsed, cut = parse_measure("dcg"), LearnedThreshold("dcg")._cut_of(0)
    keys = np.array([3.0, 0.5, 3.0, 0.5])
    entries = EntryValues.of(judged.lists, parsed, keys)
    # Query 1 is best cut at 1, and query 0, alone or with query 1, at 10.
    cut.best_level = lambda judged, keys, entries, among: 10.0 if among[0] else 1.0
    # So query 0 shows its first document, and query 1 nothing.
    assert held_out_values(judged, cut, keys, entries).tolist() == [1.0, 0.0]


@pytest.mark.filterwarnings("ignore:queries without a judged")
def test_hidden_rows_ties_and_short_lists():
    scores = np.array([2.0, 2, 1, -INF, 0.5, -INF, 3, 1, 1, 0] * 3)
    groups = np.repeat(np.arange(15), [4, 1, 1, 2, 2] * 3)
    y = np.array([1.0, 0, 0, 1, 1, np.nan, 1, 0, np.nan, 0] * 3)
    cut = LearnedThreshold("f", estimator=QUICK, cv=2).fit(scores, y, groups=groups)
    shown = cut.predict(scores, groups=groups) > -INF
    assert not shown[scores == -INF].any()
    assert shown[0] == shown[1]
    order = np.random.RandomState(0).permutation(len(scores))
    again = cut.predict(scores[order], groups=groups[order]) > -INF
    np.testing.assert_array_equal(again, shown[order])


@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
def test_lists_of_equal_content_may_have_any_ids_and_order(monkeypatch):
    monkeypatch.setattr(_list_models, "_ROUNDS", 10)
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(16), rng.randint(1, 7, 16))
    scores, y = rng.randn(len(groups)), rng.randint(-1, 3, len(groups)).astype(float)
    # Some lists have equal content.
    scores, y, groups = np.tile(scores, 2), np.tile(y, 2), np.append(groups, groups + 16)
    y[:5] = np.arange(5) % 2
    cut = LearnedThreshold("ndcg_f@3", cv=2, random_state=0)
    shown = cut.fit(scores, y, groups=groups).predict(scores, groups=groups)
    level, value = cut.level_, cut.best_score_
    renamed, order = rng.permutation(32)[groups], rng.permutation(len(scores))
    cut.fit(scores[order], y[order], groups=renamed[order])
    np.testing.assert_array_equal(cut.predict(scores, groups=renamed), shown)
    assert (cut.level_, cut.best_score_) == (level, value)


def test_one_query_and_one_kind():
    cut = LearnedThreshold("dcg", estimator=QUICK)
    assert cut.fit([3.0, 2, 1], [1, 1, 1], groups=[0, 0, 0]).rank([1.0], [0]).tolist() == [1]
    cut.fit([3.0, 2, 1], [1, 0, 0], groups=[0, 0, 0])
    assert cut.predict([3.0, 2, 1], groups=[1, 1, 1]).shape == (3,)


def test_the_factor_stays_at_1_unless_another_is_better_than_noise():
    scores, y, groups = two_kinds(60)
    cut = LearnedThreshold("f", estimator=QUICK, cv=3).fit(scores, y, groups=groups)
    curve = cut.threshold_curve_
    assert curve.best_value >= cut.best_score_
    assert 0.2 < cut.level_ < 5


@pytest.mark.parametrize("kinds", [2, 3])
def test_several_kinds_of_gain(kinds):
    scores, y, groups = two_kinds(30)
    if kinds == 3:
        y = y - (scores < np.median(scores)) * (1 - y)
    cut = LearnedThreshold("dcg", estimator=QUICK, cv=2).fit(scores, y, groups=groups)
    assert cut.cut_.learner.gains.tolist() == np.unique(y).tolist()
    assert len(cut.cut_.learner.members) == 1


def test_own_columns():
    scores, y, groups = two_kinds(30)
    table = pd.DataFrame({"score": scores, "length": y + 0.1})
    cut = LearnedThreshold("f", estimator=QUICK, cv=2).fit(table, y, groups=groups)
    assert cut.cut_.learner.columns == ["length"]
    alone = LearnedThreshold("f", estimator=QUICK, cv=2).fit(scores, y, groups=groups)
    assert cut.best_score_ > alone.best_score_ + 0.05
    with pytest.raises(ValueError, match="scores lacks the columns"):
        cut.predict(scores, groups=groups)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cv": 1}, "cv must be"),
        ({"measure": "bpref"}, "LearnedThreshold supports measures such as"),
        ({"estimator": "trees"}, "estimator must be a classifier"),
        ({"min_shown": 3, "max_shown": 2}, "min_shown must be at most max_shown"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        LearnedThreshold(**parameters).fit([1.0, 2], [0, 1], groups=[0, 0])


def test_a_file_cannot_hold_another_estimator(tmp_path):
    scores, y, groups = two_kinds(10)
    cut = LearnedThreshold("f", estimator=QUICK, cv=2).fit(scores, y, groups=groups)
    with pytest.raises(ValueError, match=r"joblib\.dump"):
        cut.save(tmp_path / "cut.json")


@pytest.mark.nightly
@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_is_saved_and_repeats(tmp_path, kinds):
    if kinds == 3:
        _, y, groups, scores = make_rank_and_filter(60, random_state=0)
    else:
        scores, y, groups = two_kinds(60)
        y = np.ones(len(y)) if kinds == 1 else y
    cut = LearnedThreshold("dcg", cv=2, random_state=0).fit(scores, y, groups=groups)
    shown = cut.predict(scores, groups=groups)
    cut.save(tmp_path / "cut.json")
    loaded = load_threshold(tmp_path / "cut.json")
    np.testing.assert_array_equal(loaded.predict(scores, groups=groups), shown)
    again = clone(cut).fit(scores, y, groups=groups)
    np.testing.assert_array_equal(again.predict(scores, groups=groups), shown)


@pytest.mark.slow
def test_models_give_probabilities():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(300, 5))
    kinds = (features[:, 0] + rng.normal(size=300) > 0).astype(int)
    found = []
    for model in (Booster, Linear, Curves):
        fitted = model.fitted(features, kinds, 2, 0, 30)
        chances = fitted.predict(features)
        np.testing.assert_allclose(chances.sum(axis=0), 1)
        assert chances[1, kinds == 1].mean() > chances[1, kinds == 0].mean() + 0.1
        found.append(chances)
    lists = np.arange(300) // 10
    wrong = found[0][::-1]
    assert best_share(found[0], wrong, kinds, lists) == 1
    assert best_share(found[0], found[0], kinds, lists, simple=True) == 0
    np.testing.assert_allclose(mixture([found[0], wrong], [0.5, 0.5]), 0.5)


@pytest.mark.parametrize("n_queries", [20, 80])
def test_models_are_fitted_once_for_each_fold_and_once_for_all(monkeypatch, n_queries):
    """Their number does not grow with the rows, and trees have a fixed number of rounds."""
    rows = []

    def counted(make, features, *rest):
        rows.append(len(features))
        return fit_member(Curves.fitted, features, *rest)

    monkeypatch.setattr(_learned, "fit_member", counted)
    scores, y, groups = two_kinds(n_queries)
    LearnedThreshold("f", cv=4).fit(scores, y, groups=groups)
    assert len(rows) == 3 * (4 + 1)
    assert sum(rows) == 3 * (3 + 1) * len(scores)
    assert _list_models._ROUNDS <= 60


@pytest.mark.slow
@pytest.mark.parametrize("n_kinds", [2, 3])
def test_trees_predict_what_lightgbm_does(monkeypatch, n_kinds):
    monkeypatch.setattr(_list_models, "_ROUNDS", 20)
    rng = np.random.default_rng(0)
    features = np.round(rng.normal(size=(200, 4)), 1)
    kinds = np.arange(200) % n_kinds
    model = Booster.fitted(features, kinds, n_kinds, 0, 20)
    trees = Trees.of(model.booster)
    found = trees.predict(features)
    expected = model.booster.predict(features).T
    np.testing.assert_allclose(found[1] if n_kinds == 2 else found, expected, rtol=1e-14)
    np.testing.assert_array_equal(model.predict(features), found)
    assert trees.predict(features[:0]).shape == (n_kinds, 0)
    alone = Booster.fitted(0 * features, kinds, n_kinds, 0, 20)
    # Without a split, each tree is one leaf.
    assert len(Trees.of(alone.booster).numbers) <= 20 * n_kinds


def test_threads_of_blas_do_not_wait_for_each_other():
    scores, y, groups = two_kinds(10)
    threads = []

    class Seen(LogisticRegression):
        def fit(self, X, y):
            found = [each for each in threadpool_info() if each["user_api"] == "blas"]
            threads.extend(each["num_threads"] for each in found)
            return super().fit(X, y)

    LearnedThreshold("f", estimator=Seen(C=0.01, max_iter=1000), cv=2).fit(scores, y, groups=groups)
    assert set(threads) == {1}


@pytest.mark.nightly
def test_robust04(data_dir):
    import gzip

    folder = data_dir / "robust04-truncation"
    if not folder.is_dir():
        pytest.skip("needs robust04-truncation")
    with gzip.open(folder / "qrels.txt.gz", "rt") as lines:
        relevant = {(row[0], row[2]) for row in map(str.split, lines)}
    parts = []
    for part in ("train", "test"):
        with gzip.open(folder / f"drmm_tks.{part}.run.gz", "rt") as lines:
            rows = [line.split() for line in lines]
        labels = np.array([float((row[0], row[2]) in relevant) for row in rows])
        scores, groups = np.array([float(row[4]) for row in rows]), np.array([r[0] for r in rows])
        parts.append((scores, labels, groups))
    (scores, y, groups), (new, labels, queries) = parts
    cut = LearnedThreshold("f", random_state=0).fit(scores, y, groups=groups)
    assert f_score(labels, cut.predict(new, groups=queries), groups=queries) > 0.795


@pytest.mark.slow
def test_whole_scores_are_those_as_floats(monkeypatch):
    monkeypatch.setattr(_list_models, "_ROUNDS", 10)
    _, y, groups, scores = make_rank_and_filter(40, random_state=0)
    scores = np.round(100 * scores)
    cut = LearnedThreshold("f", cv=2, random_state=0)
    with warnings.catch_warnings(action="ignore", category=FitWarning):
        found, expected = (
            cut.fit(each, y, groups=groups).rank(each, groups=groups)
            for each in (scores.astype(int), scores)
        )
    np.testing.assert_array_equal(found, expected)


@pytest.fixture(scope="module")
def table():
    scores, y, groups = two_kinds(30)
    level = pd.Series(scores).groupby(groups).transform("mean").to_numpy()
    X = pd.DataFrame({"own": scores, "level": level, "text": 1.0 * (np.arange(len(y)) % 3)})
    return X, y, groups


class TestColumnsOfX:
    """Columns of the features of RankAndFilter are features of the threshold, too."""

    @staticmethod
    def model(columns):
        cut = LearnedThreshold("f", estimator=QUICK, columns=columns, cv=2)
        return RankAndFilter(LogisticRegression(), cut, cv=2)

    def test_is_the_fit_on_a_table_of_scores_and_columns(self, table):
        X, y, groups = table
        model = self.model(["level"]).fit(X, y, groups=groups)
        assert model.filter_.cut_.learner.columns == ["level"]
        scored = pd.DataFrame({"score": model.estimator_.predict_proba(X)[:, 1], "x": X["text"]})
        scored["level"] = X["level"]
        expected = model.filter_.predict(scored, groups=groups)
        np.testing.assert_array_equal(model.predict(X, groups=groups), expected)
        by_index = X.set_axis(pd.Index(groups, name="qid"))
        np.testing.assert_array_equal(model.predict(by_index), expected)
        assert (model.rank(X, groups=groups) > 0).tolist() == (expected > -INF).tolist()
        other = X.assign(level=-X["level"])
        assert (model.predict(other, groups=groups) != expected).any()

    def test_numbers_name_columns_of_arrays(self, table):
        X, y, groups = table
        named = self.model(["level", "own"]).fit(X, y, groups=groups)
        expected = named.predict(X, groups=groups)
        for array, columns in (
            (X.to_numpy().tolist(), np.array([1, 0])),
            (csr_array(X.to_numpy()), (np.int64(1), 0)),
        ):
            numbered = self.model(columns).fit(array, y, groups=groups)
            assert numbered.filter_.cut_.learner.columns == [1, 0]
            np.testing.assert_allclose(numbered.predict(array, groups=groups), expected)

    def test_a_table_of_scores_may_hold_more(self, table):
        X, y, groups = table
        scored = X.rename(columns={"own": "score"})
        some = LearnedThreshold("f", estimator=QUICK, columns=["level"], cv=3)
        some.fit(scored, y, groups=groups)
        assert some.cut_.learner.columns == ["level"]
        np.testing.assert_array_equal(
            some.predict(scored, groups=groups),
            some.predict(scored[["score", "level"]], groups=groups),
        )
        with pytest.raises(InputError, match=r"lacks the columns 'absent'.* RankAndFilter"):
            some.set_params(columns=["absent"]).fit(scored, y, groups=groups)

    @pytest.mark.parametrize(("columns", "unknown"), [(["absent"], "'absent'"), ([7], "7")])
    def test_columns_that_x_lacks_are_refused(self, table, columns, unknown):
        X, y, groups = table
        message = f"columns must name .*X has no {unknown}. Its columns are '"
        with pytest.raises(InputError, match=message):
            self.model(columns).fit(X, y, groups=groups)

    def test_a_table_is_read_by_its_labels(self, table):
        X, y, groups = table
        with pytest.raises(InputError, match=r"X has no 1[.] Its columns are 'own'"):
            self.model([1]).fit(X, y, groups=groups)
        numbers = X.set_axis([1, 0, 2], axis=1)
        expected = self.model(["level"]).fit(X, y, groups=groups).predict(X, groups=groups)
        found = self.model([0]).fit(numbers, y, groups=groups).predict(numbers, groups=groups)
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize("form", [pl.DataFrame, pa.table])
    def test_columns_of_other_tables(self, table, form):
        X, y, groups = table
        X = X[["own", "level"]]
        expected = self.model(["level"]).fit(X, y, groups=groups).predict(X, groups=groups)
        X = form({name: X[name].to_numpy() for name in X})
        found = self.model(["level"]).fit(X, y, groups=groups).predict(X, groups=groups)
        np.testing.assert_array_equal(found, expected)

    def test_the_score_is_named_or_the_only_other_column(self, table):
        X, y, groups = table
        cut = LearnedThreshold("f", estimator=QUICK, columns=["level"], cv=3)
        for scored in (X, X[["level"]]):
            with pytest.raises(InputError, match="Name the column of the score 'score'"):
                cut.fit(scored, y, groups=groups)
        two = X[["level", "own"]]
        found = cut.fit(two, y, groups=groups).predict(two, groups=groups)
        named = two.rename(columns={"own": "score"})
        expected = clone(cut).fit(named, y, groups=groups).predict(named, groups=groups)
        np.testing.assert_array_equal(found, expected)
        with pytest.raises(InputError, match="besides 'level' 2 columns: 'own', 'text'"):
            cut.predict(X, groups=groups)

    @pytest.mark.parametrize(
        "columns", ["level", ["score"], 3, [True, False], np.array(0), {"level"}, [["level"]]]
    )
    def test_columns_are_a_list_without_the_score(self, columns):
        is_text = isinstance(columns, str)
        message = r"got 'level': write \[.level.\]" if is_text else "must be a list of names"
        with pytest.raises(InputError, match=f"columns .*{message}"):
            self.model(columns).fit([[1.0], [2.0]], [0, 1], groups=[0, 1])

    def test_a_saved_threshold_keeps_its_columns(self, table, tmp_path):
        X, y, groups = table
        scored = X.rename(columns={"own": "score"})
        cut = LearnedThreshold("f", columns=["level"], cv=2, random_state=0)
        cut.fit(scored, y, groups=groups).save(tmp_path / "cut.json")
        loaded = load_threshold(tmp_path / "cut.json")
        assert loaded.columns == ["level"]
        found, expected = (each.predict(scored, groups=groups) for each in (loaded, cut))
        np.testing.assert_array_equal(found, expected)

    @pytest.mark.parametrize("columns", [None, [np.int64(7)]])
    def test_a_file_keeps_whole_numbers_as_names(self, table, tmp_path, monkeypatch, columns):
        monkeypatch.setattr(_list_models, "_ROUNDS", 2)
        X, y, groups = table
        scored = pd.DataFrame({"score": X["own"], 7: X["level"]})
        cut = LearnedThreshold("f", columns=columns, cv=2, random_state=0)
        cut.fit(scored, y, groups=groups).save(tmp_path / "cut.json")
        found = load_threshold(tmp_path / "cut.json").predict(scored, groups=groups)
        np.testing.assert_array_equal(found, cut.predict(scored, groups=groups))

    @pytest.mark.parametrize("keep_if", [None, "better"])
    def test_columns_that_are_not_chosen_are_not_read(self, table, keep_if):
        X, y, groups = table
        scored = X.rename(columns={"own": "score"})
        wider = scored.assign(docno="d", gap=np.nan)
        cut = LearnedThreshold("f", estimator=QUICK, columns=["level"], cv=3, keep_if=keep_if)
        found = cut.fit(wider, y, groups=groups).predict(wider, groups=groups)
        np.testing.assert_array_equal(found, cut.predict(scored, groups=groups))
        expected = clone(cut).fit(scored, y, groups=groups).predict(scored, groups=groups)
        np.testing.assert_array_equal(found, expected)

    def test_a_cut_that_was_kept_reads_the_columns_of_fit(self, table, tmp_path):
        rng, groups = np.random.default_rng(0), table[2]
        scored = pd.DataFrame({"score": rng.normal(size=len(groups)), "level": 0.0, "docno": "d"})
        cut = LearnedThreshold("f", estimator=QUICK, columns=["level"], cv=3, keep_if="better")
        cut.fit(scored, rng.integers(0, 2, len(groups)), groups=groups)
        assert not hasattr(cut.cut_, "learner")
        expected = cut.predict(scored, groups=groups)
        cut.set_params(estimator=None).save(tmp_path / "cut.json")
        for later in (cut, load_threshold(tmp_path / "cut.json")):
            later.set_params(columns=["docno"])
            np.testing.assert_array_equal(later.predict(scored, groups=groups), expected)

    @pytest.mark.parametrize(
        ("values", "told"), [(np.nan, "a feature must be a number"), ("d", "must hold numbers")]
    )
    def test_chosen_columns_hold_numbers(self, table, values, told):
        X, y, groups = table
        scored = X.rename(columns={"own": "score"}).assign(level=values)
        cut = LearnedThreshold("f", estimator=QUICK, columns=["level"], cv=3)
        with pytest.raises(InputError, match=f"column 'level' of scores .*{told}"):
            cut.fit(scored, y, groups=groups)

    def test_fitted_columns_are_served_whatever_the_parameter(self, table):
        X, y, groups = table
        model = self.model(["level"]).fit(X, y, groups=groups)
        expected = model.predict(X, groups=groups)
        model.filter_.set_params(columns=["text"])
        np.testing.assert_array_equal(model.predict(X, groups=groups), expected)

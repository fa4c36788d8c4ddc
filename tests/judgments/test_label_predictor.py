"""LabelPredictor: what is completed, how, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks

from judgment_tables import NAN, WORDS, make_table, parts
from selections import budget, mask
from skfilterrank.datasets import fetch_cranfield
from skfilterrank.exceptions import InputError, UnjudgedWarning
from skfilterrank.judgments import (
    LabelPredictor,
    MaxRepSelector,
    PoolingSelector,
    PriorSelector,
    RandomSelector,
    StatAPSelector,
)
from skfilterrank.judgments._label_predictor import concordance
from skfilterrank.judgments._selector import QuerySelector


def test_labels_by_a_vector_machine_of_each_query(T):
    """The same by scikit-learn alone, query by query."""
    found = LabelPredictor().fit_transform(*parts(T)).to_numpy()
    X = TfidfVectorizer().fit(T["text"].unique()).transform(T["text"])
    for query in WORDS:
        rows = (T["qid"] == query).to_numpy()
        judged = rows & T["label"].notna().to_numpy()
        todo = rows & ~judged
        svm = LinearSVC(class_weight="balanced", random_state=0)
        svm.fit(X[judged], T["label"][judged].astype(int))
        np.testing.assert_array_equal(found[todo], svm.predict(X[todo]))
    assert (found == T["truth"]).mean() > 0.9


def test_known_labels_stay_and_the_rest_is_marked(T):
    predictor = LabelPredictor()
    X, y = parts(T)
    found = predictor.fit_transform(X, y)
    known = y.notna()
    pd.testing.assert_series_equal(found[known], y[known])
    np.testing.assert_array_equal(predictor.imputed_, ~known)
    assert predictor.n_imputed_ == (~known).sum()
    assert predictor.n_left_ == len(predictor.empty_texts_) == 0
    assert predictor.fallback_queries_ == {}
    assert y.isna().any()  # the input is as it was


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_labels", "params"),
    [
        (2, {}),
        (2, {"estimator": LogisticRegression(), "output": "soft"}),
        (3, {"estimator": make_pipeline(RandomForestClassifier(3)), "random_state": 3}),
        (3, {"vectorizer": HashingVectorizer(n_features=256)}),
        (2, {"vectorizer": TfidfVectorizer(), "estimator": MultinomialNB(), "output": "soft"}),
    ],
    ids=str,
)
def test_fit_transform_is_fit_and_predict(n_labels, params):
    labels = [(0.0, 1.0), (-1.0, 0.0, 2.0)][n_labels - 2]
    X, y = parts(make_table(labels=labels, n_docs=16))
    predictor = LabelPredictor(**params)
    at_once = predictor.fit_transform(X, y)
    hidden = predictor.imputed_
    fitted = clone(predictor).fit(X, y)
    found = fitted.predict(X, y.index)
    np.testing.assert_allclose(found[hidden], at_once[hidden], rtol=1e-12)
    if not params or "random_state" in params:
        # In threads the solvers of liblinear share one generator of random numbers.
        again = clone(predictor).set_params(n_jobs=2).fit_transform(X, y)
        pd.testing.assert_series_equal(again, at_once)
    loaded = pickle.loads(pickle.dumps(predictor))
    np.testing.assert_array_equal(loaded.predict(X, y.index), found)
    assert at_once.between(min(labels), max(labels)).all()


def test_columns_of_texts_and_numbers_by_a_column_transformer(T):
    T["n"] = np.random.RandomState(1).normal(size=len(T))
    columns = ColumnTransformer([("text", TfidfVectorizer(), "text"), ("n", "passthrough", ["n"])])
    vectors = columns.fit_transform(T)
    _, y = parts(T)
    by_columns = LabelPredictor(vectorizer=columns)
    found = by_columns.fit_transform(T[["text", "n"]], y)
    pd.testing.assert_series_equal(found, LabelPredictor().fit_transform(vectors, y))
    assert by_columns.feature_names_in_.tolist() == ["text", "n"]
    rows = by_columns.select(T[["text", "n"]], y, n_per_query=3)
    assert rows.tolist() == LabelPredictor().select(vectors, y, n_per_query=3).tolist()


def test_new_documents(T):
    predictor = LabelPredictor().fit(*parts(T))
    assert predictor.predict(["wing flap lift", "paper plate"], ["wings"] * 2).tolist() == [1, 0]


def test_order_of_rows_and_names_of_queries_do_not_matter(T):
    # The vector machine visits rows in a random order, so that margins differ a little.
    found = LabelPredictor(output="soft", calibration=None).fit_transform(*parts(T))
    order = np.random.RandomState(7).permutation(len(T))
    shuffled = T.iloc[order].replace({"qid": {"wings": 3, "heat": 11}})
    other = LabelPredictor(output="soft", calibration=None).fit_transform(*parts(shuffled))
    np.testing.assert_allclose(other, found.iloc[order], atol=2e-3)


def test_confidence_of_hard_labels(T):
    predictor = LabelPredictor().fit(*parts(T))
    assert predictor.calibration_ is None
    assert (predictor.confidence_[predictor.imputed_] >= 0.5).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:no document is judged of 1 query")
@pytest.mark.filterwarnings("ignore:all labels to learn from are the same one in 1 query")
@pytest.mark.parametrize(
    ("one_class", "unjudged_query", "one", "none"),
    [
        ("copy", "leave", [1, 1], [NAN, NAN]),
        ("leave", "leave", [NAN, NAN], [NAN, NAN]),
        ("pool", "leave", [0, 1], [NAN, NAN]),
        ("copy", "pool", [1, 1], [1, 0]),
        ("leave", "pool", [NAN, NAN], [1, 0]),
        ("pool", "pool", [0, 1], [1, 0]),
        ("auto", "pool", [NAN, NAN], [1, 0]),
    ],
)
def test_fallbacks(poor, one_class, unjudged_query, one, none):
    predictor = LabelPredictor(one_class=one_class, unjudged_query=unjudged_query)
    labels = predictor.fit_transform(*parts(poor)).to_numpy()
    assert predictor.fallback_queries_ == {
        "one": "judged labels all 1", "none": "no judged document",
    }  # fmt: skip
    np.testing.assert_array_equal(labels[-4:-2], one)
    np.testing.assert_array_equal(labels[-2:], none)
    left = np.isnan(one).sum() + np.isnan(none).sum()
    assert predictor.n_left_ == left == np.isnan(labels).sum()
    np.testing.assert_array_equal(predictor.imputed_[-4:], ~np.isnan([*one, *none]))
    assert (predictor.pool_model_ is None) == (one_class != "pool" and unjudged_query != "pool")
    # A query that fit has not seen is like one without judgments.
    if unjudged_query == "pool":
        new = poor["text"].tail(2).tolist()
        np.testing.assert_array_equal(predictor.predict(new, ["new"] * 2), none)


def test_rows_that_are_left_are_told(poor):
    with (
        pytest.warns(UserWarning, match="no document is judged of 1 query, such as 'none'"),
        pytest.warns(UserWarning, match="same one in 1 query, such as 'one': the other documents"),
    ):
        predictor = LabelPredictor().fit(*parts(poor))
    with pytest.warns(UserWarning, match="such as 'new'.*stay unjudged") as told:
        found = predictor.predict(["wing"], ["new"])
    assert len(told) == 1
    assert np.isnan(found).all()
    with pytest.raises(ValueError, match=r"no document is judged of 1 query.*unjudged_query="):
        LabelPredictor(unjudged_query="raise").fit(*parts(poor))
    fitted = LabelPredictor(one_class="copy", unjudged_query="raise").fit(
        *parts(poor[poor["qid"] != "none"])
    )
    with pytest.raises(ValueError, match="such as 'none'"):
        fitted.predict(poor["text"], poor["qid"])


@pytest.mark.slow
def test_queries_of_one_label_are_left_where_there_are_texts_alone(poor):
    """Numbers mean the same in every query, and so the model of all queries is asked."""
    poor = poor[poor["qid"] != "none"]
    _, y = parts(poor)
    wings = poor[["text"]].apply(lambda column: column.str.count("wing"))
    found = LabelPredictor().fit_transform(wings, y)
    pd.testing.assert_series_equal(found, LabelPredictor(one_class="pool").fit_transform(wings, y))
    assert found.notna().all()


def test_a_shared_model_of_one_label_gives_it_to_all(T):
    X, y = parts(T)
    assert (LabelPredictor(shared=True).fit_transform(X, y * 0) == 0).all()


def test_labels_that_were_hidden_are_none_to_learn_from(T):
    with pytest.warns(UnjudgedWarning, match=r"to learn from are the same one in 2 queries, such"):
        assert LabelPredictor(n_per_query=1).fit(*parts(T)).n_left_ > 0


def test_other_documents_of_queries_of_one_label_are_told_of(poor):
    """By whatever leaves them unjudged."""
    message = "the same one in 1 query, such as 'one'"
    poor = poor[poor["qid"] != "none"]
    with pytest.warns(UnjudgedWarning, match=message):
        fitted = LabelPredictor().fit(*parts(poor))
    with pytest.warns(UnjudgedWarning, match=message):
        assert np.isnan(fitted.predict(["wing"], ["one"])).all()


def test_agreement_of_numbers():
    # Variances 2/3 and 2/9, means 1 and 2/3: apart by 1/3 of 1, which is expected by chance.
    assert concordance(np.array([0, 1, 2]), np.array([0, 1, 1])) == pytest.approx(2 / 3)
    # Apart by their last bit alone.
    same = np.full(3, 0.1)
    assert concordance(same, np.nextafter(same, 1)) == 1


def test_one_label_in_all_queries(T):
    X, y = parts(T)
    for one_class in ("copy", "pool"):
        assert (LabelPredictor(one_class=one_class).fit_transform(X, y * 0) == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("labels", [(0.0, 1.0), (-1.0, 0.0, 2.0)], ids=str)
def test_score_is_cohens_kappa_of_masked_labels(labels):
    T = make_table(labels=labels, n_docs=40)
    # Some assessors err, so that the agreement is not perfect.
    errs = np.random.RandomState(0).rand(len(T)) < 0.2
    T["truth"] = T["truth"].where(~errs, T["truth"].sample(frac=1, random_state=0).to_numpy())
    T = T.assign(label=T["truth"])
    train, test = T.iloc[:40], T.iloc[40:]
    predictor = LabelPredictor().fit(*parts(train))
    found = predictor.predict(test["text"], test["qid"])
    levels = list(range(int(min(labels)), int(max(labels)) + 1))
    expected = cohen_kappa_score(
        test["truth"].astype(int), found.astype(int), weights="quadratic", labels=levels
    )
    X, y = parts(test)
    assert predictor.score(X, y) == pytest.approx(expected, abs=1e-12)
    assert 0.3 < expected < 1
    # Rows without a label do not count.
    some = y.where(np.arange(len(test)) % 2 == 0)
    assert predictor.score(X, some) == pytest.approx(predictor.score(X[::2], y[::2]), abs=1e-12)
    assert predictor.score(X, sum(labels[::2]) - y) < 0


def test_score_of_expected_labels_by_hand(T):
    soft = LabelPredictor(output="soft", calibration=None).fit(*parts(T))
    x = T["truth"].to_numpy()
    y = soft.predict(T["text"], T["qid"])
    # Lin's coefficient: twice the covariance over the variances and the squared difference.
    lin = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert soft.score(T["text"], x, T["qid"]) == pytest.approx(lin, abs=1e-12)


@pytest.mark.filterwarnings("ignore:no document is judged of 1 query")
def test_rows_that_are_left_count_as_0(T):
    predictor = LabelPredictor().fit(*parts(T[T["qid"] == "heat"]))
    x = T["truth"].to_numpy()
    y = np.nan_to_num(predictor.predict(T["text"], T["qid"]))
    lin = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert predictor.score(T["text"], x, T["qid"]) == pytest.approx(lin, abs=1e-12)
    known = T[T["qid"] == "heat"]
    assert lin < predictor.score(known["text"], known["truth"], known["qid"])


def test_score_where_nothing_varies(T):
    X, y = parts(T.assign(label=1.0))
    assert LabelPredictor(one_class="copy").fit(X, y).score(X, y) == 1.0
    with pytest.raises(ValueError, match=r"y has no label in any of 48 rows"):
        LabelPredictor().fit(*parts(T)).score(X, y * NAN)


@pytest.mark.slow
def test_grid_search_tunes_the_predictor():
    X, y = parts(make_table(n_docs=40, share=0.8))
    folds = list(StratifiedKFold(2, shuffle=True, random_state=0).split(X, y.index))
    grid = {"n_per_query": [2, None], "selector": [MaxRepSelector(0.3), RandomSelector()]}
    grid["selector"][1].set_params(random_state=0)
    predictor = LabelPredictor(one_class="copy")
    search = GridSearchCV(predictor, grid, cv=folds, error_score="raise")
    search.fit(X, y)
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)
    assert (scores[0] < scores[1]).all()  # two labels a query against all
    assert scores[0, 0] != scores[0, 1]  # by another strategy
    assert scores[1, 0] == scores[1, 1]
    assert search.best_params_["n_per_query"] != 2
    # The nested threshold of the strategy.
    inner = GridSearchCV(
        LabelPredictor(one_class="copy", selector=MaxRepSelector(), n_per_query=2),
        {"selector__threshold": [0.05, 0.5]}, cv=folds, error_score="raise",
    ).fit(X, y)  # fmt: skip
    assert len(set(inner.cv_results_["mean_test_score"])) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"output": "probability"}, "output must be one of 'hard', 'soft'"),
        ({"one_class": "zero"}, "one_class must be one of"),
        ({"unjudged_query": "drop"}, "unjudged_query must be one of"),
        ({"calibration": "isotonic"}, "calibration must be one of"),
        ({"estimator": TfidfVectorizer()}, "estimator must be a classifier"),
        ({"selector": "maxrep"}, r"selector must be a strategy such as MaxRepSelector\(\), 'unc"),
        ({"selector": MaxRepSelector}, "selector must be a strategy such as"),
        ({"n_per_query": 0}, "n_per_query must be a whole number from 1 up, got 0"),
        ({"n_per_query": 0.05}, "n_per_query must be a whole number, got 0.05: pass share="),
        ({"share": 2}, "share must be a finite number above 0 and up to 1, got 2"),
        ({"share": 0.5, "n_per_query": 2}, "several budgets: give one of"),
        (
            {"n_per_query": 2, "selector": "uncertainty"},
            "n_per_query and share need a selector that works without labels",
        ),
    ],
)
def test_bad_parameters(T, params, message):
    with pytest.raises(ValueError, match=message):
        LabelPredictor(**params).fit(*parts(T))


class Picky(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("too little")


def test_an_error_of_a_classifier_names_the_query(T):
    with pytest.raises(ValueError, match="too little") as caught:
        LabelPredictor(Picky()).fit(*parts(T))
    assert "in query 'heat'" in caught.value.__notes__[0]


@pytest.mark.slow
def test_random_state_seeds_every_query(T):
    forest = RandomForestClassifier(3, max_depth=1)
    soft = {"output": "soft", "calibration": None}
    first = LabelPredictor(forest, random_state=0, **soft).fit_transform(*parts(T))
    seed = np.random.RandomState(0)
    again = LabelPredictor(forest, random_state=seed, **soft).fit_transform(*parts(T))
    other = LabelPredictor(forest, random_state=1, **soft).fit_transform(*parts(T))
    pd.testing.assert_series_equal(first, again)
    assert not first.equals(other)
    # Two queries of the same rows have forests of their own.
    twice = pd.concat([T.assign(qid="a"), T.assign(qid="b")], ignore_index=True)
    found = LabelPredictor(forest, random_state=0, **soft).fit_transform(*parts(twice))
    assert found["a"].tolist() != found["b"].tolist()


# scikit-learn's checks that do not fit on arrays; a matrix of numbers is no judgment table.
CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
    "check_do_not_raise_errors_in_init_or_set_params",
]


@pytest.mark.parametrize("name", CHECKS)
def test_scikit_learn_checks(name):
    getattr(estimator_checks, name)("LabelPredictor", LabelPredictor())


def test_unfitted(T):
    with pytest.raises(sklearn.exceptions.NotFittedError):
        LabelPredictor().predict(*parts(T))


@pytest.mark.nightly
def test_better_than_unjudged_is_not_relevant(data_dir):
    """MAP of runs over queries of Cranfield, 30 % of their pool judged, against all judged."""
    collection = fetch_cranfield(data_home=data_dir, download_if_missing=False)
    docs = collection.documents.set_index("docno")["text"]
    queries = collection.queries.set_index("qid")["text"][:100]
    qrels = collection.qrels.query("label > 0")
    relevant = pd.MultiIndex.from_frame(qrels[["qid", "docno"]])
    tops = []
    for params in ({}, {"sublinear_tf": True}, {"use_idf": False}, {"ngram_range": (1, 2)}):
        vectorizer = TfidfVectorizer(**params)
        X = vectorizer.fit_transform(docs)
        tops.append(np.argsort(-(vectorizer.transform(queries) @ X.T).toarray(), axis=1)[:, :20])
    qids = np.repeat(queries.index.to_numpy(), 20)
    lists = [pd.MultiIndex.from_arrays([qids, docs.index[top.ravel()]]) for top in tops]
    pool = lists[0].append(lists[1:]).unique().to_frame(index=False, name=["qid", "docno"])
    truth = pd.MultiIndex.from_frame(pool).isin(relevant).astype(float)
    judged = np.random.RandomState(0).rand(len(pool)) < 0.3
    T = pool.assign(text=docs.loc[pool["docno"]].to_numpy(), label=np.where(judged, truth, NAN))

    def maps(labels):
        labels = pd.Series(labels, index=pd.MultiIndex.from_frame(pool))
        n_relevant = labels.groupby(level=0).sum().loc[queries.index].to_numpy()
        values = []
        for listed in lists:
            found = labels.loc[listed].to_numpy().reshape(-1, 20)
            precision = found.cumsum(axis=1) / np.arange(1, 21)
            values.append(np.mean((found * precision).sum(axis=1) / np.maximum(n_relevant, 1)))
        return np.array(values)

    predictor = LabelPredictor(one_class="leave")
    predicted = predictor.fit_transform(*parts(T)).fillna(0.0).to_numpy()
    none = np.where(judged, truth, 0.0)
    errors = [np.sqrt(np.mean((maps(found) - maps(truth)) ** 2)) for found in (predicted, none)]
    assert errors[0] < errors[1]
    assert 0 < len(predictor.fallback_queries_) < len(queries)


class TestShared:
    """One model of all queries."""

    rng = np.random.default_rng(0)
    X = StandardScaler().fit_transform(rng.normal(size=(60, 3)))
    queries = np.repeat(["a", "b", "c"], 20)
    truth = (X[:, 0] + 0.3 * rng.normal(size=60) > 0).astype(float)
    # Nobody judged query c, and query b has one label alone.
    y = np.where((np.arange(60) % 2 == 0) & (queries != "c"), truth, NAN)
    y[(queries == "b") & (truth == 0)] = NAN

    def test_it_is_a_model_of_all_judged_rows(self):
        known = ~np.isnan(self.y)
        model = LogisticRegression().fit(self.X[known], self.y[known])
        chance = model.predict_proba(self.X)[:, 1]
        for output, expected in (("hard", (chance > 0.5).astype(float)), ("soft", chance)):
            predictor = LabelPredictor(LogisticRegression(), shared=True, output=output)
            found = predictor.fit_transform(self.X, self.y, self.queries)
            assert found[~known].tolist() == pytest.approx(expected[~known].tolist())
            assert (found[known] == self.y[known]).all()

    def test_queries_do_not_matter(self):
        fitted = LabelPredictor(shared=True).fit(self.X, self.y, self.queries)
        assert fitted.fallback_queries_ == {}
        assert fitted.n_left_ == 0
        renamed = fitted.predict(self.X, ["never seen"] * 60)
        assert renamed.tolist() == fitted.predict(self.X, self.queries).tolist()

    def test_flag(self):
        with pytest.raises(InputError, match="shared must be True or False"):
            LabelPredictor(shared="yes").fit(self.X, self.y, self.queries)


def asked_of(predictor, T, n=None, **params):
    """Rows that `predictor.select` gives under a budget, as a mask."""
    asked = np.zeros(len(T), dtype=bool)
    asked[predictor.select(*parts(T), **budget(n), **params)] = True
    return asked


def test_query_asks_for_what_is_least_sure(T):
    predictor = LabelPredictor(output="soft", calibration=None, selector="uncertainty").fit(
        *parts(T)
    )
    asked = asked_of(predictor, T, 2)
    assert T["label"][asked].isna().all()
    for query in WORDS:
        rows = ((T["qid"] == query) & T["label"].isna()).to_numpy()
        assert (rows & asked).sum() == 2
        others = predictor.confidence_[rows & ~asked]
        assert predictor.confidence_[rows & asked].max() <= others.min()
    np.testing.assert_array_equal(asked_of(predictor, T, 1000), T["label"].isna())


@pytest.mark.filterwarnings("ignore:no document is judged of 1 query")
def test_query_in_queries_without_a_model(poor):
    predictor = LabelPredictor(one_class="pool", selector="uncertainty")
    asked = asked_of(predictor.fit(*parts(poor)), poor, 1)
    assert asked[-5:].tolist() == [False, True, False, True, False]


class Longest(QuerySelector):
    """The longest texts first."""

    def _prepare(self, X, y, index):
        return np.array([len(text) for text in X])

    def _rank_query(self, X, prior, random_state):
        return np.argsort(-X, kind="stable"), np.full(len(X), np.nan)


def test_query_by_a_selector(T):
    predictor = LabelPredictor(selector=Longest()).fit(*parts(T))
    asked = asked_of(predictor, T, 3)
    for query in WORDS:
        rows = ((T["qid"] == query) & T["label"].isna()).to_numpy()
        lengths = T["text"].str.len()
        assert lengths[rows & asked].min() >= lengths[rows & ~asked].max()
        assert (rows & asked).sum() == 3
    # A prior goes to the selector.
    prior = np.arange(len(T), dtype=float)
    asked = asked_of(LabelPredictor(selector=PriorSelector()).fit(*parts(T)), T, 1, prior=prior)
    for query in WORDS:
        rows = np.flatnonzero((T["qid"] == query) & T["label"].isna())
        assert asked[rows].tolist() == [False] * (len(rows) - 1) + [True]


def with_copies():
    """Make a query of three kinds of text, four rows each, the first of which are judged."""
    texts = ["lift of a wing", "heat in slabs", "soup with bread"] * 4
    labels = [1.0, 0.0] + 10 * [NAN]
    return pd.DataFrame({"qid": "1", "text": texts, "label": labels})


def test_maxrep_is_the_default_and_starts_from_what_is_judged():
    C = with_copies()
    prior = np.tile([3.0, 2.0, 1.0], 4)
    # Copies of the judged texts stand higher by the prior, and tell nothing new.
    assert np.flatnonzero(asked_of(LabelPredictor(), C, 1, prior=prior)).tolist() == [2]
    asked = asked_of(LabelPredictor(selector=MaxRepSelector()).fit(*parts(C)), C, 3, prior=prior)
    assert np.flatnonzero(asked).tolist() == [2, 3, 6]
    # Whatever was judged, also what no strategy would have asked for first.
    other = C.assign(label=[NAN] * 3 + [1.0] + [NAN] * 8)
    assert np.flatnonzero(asked_of(LabelPredictor(), other, 2, prior=prior)).tolist() == [1, 2]
    # Without labels, the first round needs no fit: one of each kind.
    first = asked_of(LabelPredictor(), C.assign(label=NAN), 3)
    assert np.flatnonzero(first).tolist() == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("selector", [None, Longest(), "uncertainty"])
def test_a_share_of_the_documents(T, selector):
    predictor = LabelPredictor(selector=selector).fit(*parts(T))
    for share, number in ((1 / 24, 1), (0.125, 3), (0.2, 5)):
        asked = asked_of(predictor, T, share)
        np.testing.assert_array_equal(asked, asked_of(predictor, T, number))
        assert T["qid"][asked].value_counts().tolist() == [number, number]


@pytest.mark.slow
def test_only_what_a_strategy_asks_for_is_learned_from(T):
    full = T.assign(label=T["truth"])
    for few, number in (({"n_per_query": 5}, 5), ({"share": 0.25}, 6)):
        params = {"one_class": "pool"}
        predictor = LabelPredictor(selector=Longest(), **few, **params).fit(*parts(full))
        asked = mask(Longest().fit(T["text"], groups=T["qid"]), number)
        hidden = LabelPredictor(**params).fit(*parts(T.assign(label=T["truth"].where(asked))))
        np.testing.assert_array_equal(predictor.imputed_, ~asked)
        expected = hidden.predict(T["text"], T["qid"])
        np.testing.assert_array_equal(predictor.predict(T["text"], T["qid"]), expected)
    # Labels that are there stay.
    assert predictor.fit_transform(*parts(full)).tolist() == T["truth"].tolist()


def test_a_strategy_chooses_among_what_is_judged(T):
    """As if the judged documents were the pool."""
    judged = T["label"].notna()
    predictor = LabelPredictor(n_per_query=3).fit(*parts(T))
    asked = mask(MaxRepSelector().fit(T["text"][judged], groups=T["qid"][judged]), 3)
    np.testing.assert_array_equal(~predictor.imputed_[judged], asked)
    assert predictor.imputed_[~judged].all()
    everything = LabelPredictor(n_per_query=1000).fit(*parts(T))
    np.testing.assert_array_equal(everything.imputed_, ~judged)


def test_bad_queries(T):
    predictor = LabelPredictor().fit(*parts(T))
    with pytest.raises(ValueError, match="n_per_query must be a whole number from 1 up, got 0"):
        asked_of(predictor, T, 0)
    unsure = LabelPredictor(selector="uncertainty")
    with pytest.raises(sklearn.exceptions.NotFittedError):
        asked_of(unsure, T, 1)
    with pytest.raises(ValueError, match="prior needs a strategy: 'uncertainty' does not use it"):
        asked_of(unsure.fit(*parts(T)), T, 1, prior=np.ones(len(T)))
    sampling = LabelPredictor(selector=StatAPSelector())
    with pytest.raises(
        ValueError, match=r"selector must be .* one order.*StatAPSelector\(.*select"
    ):
        asked_of(sampling, T, 1, prior=np.ones(len(T)))
    with pytest.raises(ValueError, match="X must be a rank table, or a dict"):
        asked_of(LabelPredictor(selector=PoolingSelector()), T, 1)


def test_a_pipeline_of_a_vectorizer_and_the_predictor(T):
    X, y = parts(T)
    alone = LabelPredictor().fit(X, y)
    pipeline = make_pipeline(TfidfVectorizer(), LabelPredictor())
    expected = LabelPredictor().fit_transform(X, y)
    pd.testing.assert_series_equal(pipeline.fit_transform(X, y), expected)
    by_array = pipeline.fit_transform(X, y.to_numpy(), labelpredictor__groups=T["qid"])
    assert isinstance(by_array, np.ndarray)
    np.testing.assert_array_equal(by_array, expected)
    predicted = pipeline.predict(X, groups=T["qid"])
    np.testing.assert_array_equal(predicted, alone.predict(X, T["qid"]))
    assert pipeline.score(X, y) == pytest.approx(alone.score(X, y), abs=1e-12)


def test_kinds_of_documents(T):
    X, y = parts(T)
    expected = LabelPredictor().fit_transform(X, y)
    for texts in (T["text"], np.array(X, dtype=object), tuple(X)):
        pd.testing.assert_series_equal(LabelPredictor().fit_transform(texts, y), expected)
    # Numbers are taken as they come.
    numbers = np.random.RandomState(0).rand(len(T), 3)
    by_array = LabelPredictor().fit_transform(numbers, y)
    for given in (pd.DataFrame(numbers), sparse.csr_array(numbers), numbers.tolist()):
        pd.testing.assert_series_equal(LabelPredictor().fit_transform(given, y), by_array)


def test_a_search_over_a_pipeline(T):
    X, y = parts(T)
    search = GridSearchCV(
        make_pipeline(TfidfVectorizer(), LabelPredictor()),
        {"labelpredictor__n_per_query": [2, None]},
        cv=KFold(3, shuffle=True, random_state=0),
        error_score="raise",
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.predict(X, groups=T["qid"]).shape == (len(T),)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (["a", "b"], [1.0, 0.0, NAN], "y has 3 labels but X has 2 rows"),
        (["a word", "b"], [NAN, NAN], "no row is judged"),
        (["a", "b"], ["good", NAN], "y must hold numbers, NaN where unjudged, got 'good'"),
        (["a", "b"], [np.inf, 1.0], "y holds an infinite label in row 0"),
        (["a", "b"], [-1, 1], "y holds integers, 1 of them -1, and no NaN.*marked by NaN"),
        (["a word", 1.5], [1.0, 0.0], "X must hold texts, got 1.5 at row 1"),
        ([1.5, 2.5], [1.0, 0.0], r"X must hold texts or vectors of numbers, got shape \(2,\)"),
        (pd.DataFrame({"text": ["a", "b"]}), [1.0, 0.0], "labels cannot be predicted from X"),
    ],
)
def test_bad_documents_and_labels(X, y, message):
    with pytest.raises(ValueError, match=message):
        LabelPredictor().fit(X, y, groups=["q"] * 2)


def test_queries_are_needed_and_a_document_counts_once(T):
    with pytest.raises(ValueError, match="groups is missing"):
        LabelPredictor().fit(T["text"], T["label"].to_numpy())
    X = T.set_index(["qid", "docno"])["text"]
    twice = pd.concat([X, X.iloc[[3]]])
    with pytest.raises(ValueError, match=r"X holds document '\w+' twice in query '\w+', again in"):
        LabelPredictor().fit(twice, [*T["label"], NAN])


@pytest.mark.parametrize("kind", [float, object, "Float64"])
def test_minus_one_is_a_judgment(T, kind):
    """Without a NaN, it may be a mistake."""
    X, y = parts(T)
    floats = y.fillna(-1).astype(kind)
    message = r"y has no NaN.* \d+ of its 48 labels are -1.*forbidden.*NaN"
    with pytest.warns(UserWarning, match=message) as caught:
        predictor = LabelPredictor().fit(X, floats)
    assert caught[0].filename == __file__
    assert "silence this by warnings.filterwarnings" in str(caught[0].message)
    assert predictor.labels_.tolist() == [-1, 0, 1]
    assert predictor.n_imputed_ == 0
    floats.iloc[0] = np.nan
    assert -1 in LabelPredictor().fit(X, floats).labels_


def test_a_text_counts_once_however_many_queries_it_is_in(T):
    again = pd.concat([T, T.assign(qid=T["qid"] + "2"), T.assign(qid=T["qid"] + "3")])
    first, second = LabelPredictor().fit(*parts(T)), LabelPredictor().fit(*parts(again))
    np.testing.assert_array_equal(first.vectorizer_.idf_, second.vectorizer_.idf_)


def test_empty_texts(T):
    unjudged = T.index[T["label"].isna() & (T["qid"] == "heat")]
    T["text"] = T["text"].astype(object)
    T.loc[unjudged[:3], "text"] = ["", None, "a ."]
    judged = T.index[T["label"].notna() & (T["qid"] == "wings")][0]
    T.loc[judged, "text"] = " "
    predictor = LabelPredictor()
    empty = sorted([*unjudged[:3], judged])
    rows = ", ".join(map(str, empty))
    message = rf"no known term in 4 of 48 rows \(1 of them judged\), such as {rows} "
    with pytest.warns(UserWarning, match=message) as caught:
        found = predictor.fit_transform(*parts(T)).to_numpy()
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert predictor.empty_texts_.tolist() == empty
    intercept = predictor.models_["heat"].classifiers[0].intercept_[0]
    assert (found[unjudged[:3]] == (intercept > 0)).all()
    with pytest.raises(ValueError, match=r"give no terms to learn from.*all empty or stop words"):
        LabelPredictor(vectorizer=TfidfVectorizer(stop_words=["the"])).fit(
            ["the"] * 2, [0, 1], ["q"] * 2
        )

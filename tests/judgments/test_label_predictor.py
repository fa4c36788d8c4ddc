"""LabelPredictor: what is completed, how, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks

from judgment_tables import NAN, WORDS, make_table
from selections import mask
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
    found = LabelPredictor().fit_transform(T)
    X = TfidfVectorizer().fit(T["text"].unique()).transform(T["text"])
    for query in WORDS:
        rows = (T["qid"] == query).to_numpy()
        judged = rows & T["label"].notna().to_numpy()
        todo = rows & ~judged
        svm = LinearSVC(class_weight="balanced", random_state=0)
        svm.fit(X[judged], T["label"][judged].astype(int))
        np.testing.assert_array_equal(found["label"][todo], svm.predict(X[todo]))
    assert (found["label"] == T["truth"]).mean() > 0.9


def test_known_labels_stay_and_the_rest_is_marked(T):
    predictor = LabelPredictor(document="docno")
    found = predictor.fit_transform(T)
    known = T["label"].notna()
    pd.testing.assert_frame_equal(found[T.columns.drop("label").tolist()], T.drop(columns="label"))
    pd.testing.assert_series_equal(found["label"][known], T["label"][known])
    np.testing.assert_array_equal(found["imputed"], ~known)
    np.testing.assert_array_equal(predictor.imputed_, ~known)
    columns = [*T.columns, "imputed", "judged_by"]
    assert list(found.columns) == columns == list(predictor.get_feature_names_out())
    assert found["judged_by"].tolist() == np.where(known, "people", "predicted").tolist()
    assert predictor.n_imputed_ == (~known).sum()
    assert predictor.n_left_ == predictor.n_empty_texts_ == 0
    assert predictor.fallback_queries_ == {}
    assert T["label"].isna().any()  # the input is as it was


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_labels", "params"),
    [
        (2, {}),
        (2, {"estimator": LogisticRegression(), "output": "soft"}),
        (3, {"estimator": make_pipeline(RandomForestClassifier(3)), "random_state": 3}),
        (3, {"vectorizer": HashingVectorizer(n_features=256), "imputed": None}),
        (2, {"vectorizer": TfidfVectorizer(), "estimator": MultinomialNB(), "output": "soft"}),
        (2, {"text": None, "features": ["f0", "f1"], "one_class": "pool"}),
        (3, {"features": ["f0"], "output": "soft", "unjudged_query": "pool"}),
    ],
    ids=str,
)
def test_fit_transform_is_fit_and_transform(n_labels, params):
    labels = [(0.0, 1.0), (-1.0, 0.0, 2.0)][n_labels - 2]
    T = make_table(labels=labels, n_docs=16)
    rng = np.random.RandomState(1)
    T = T.assign(f0=T["truth"] + rng.normal(size=len(T)), f1=rng.normal(size=len(T)))
    predictor = LabelPredictor(**params)
    at_once = predictor.fit_transform(T)
    pd.testing.assert_frame_equal(clone(predictor).fit(T).transform(T), at_once)
    if not params or "random_state" in params:
        # In threads the solvers of liblinear share one generator of random numbers.
        again = clone(predictor).set_params(n_jobs=2).fit_transform(T)
        pd.testing.assert_frame_equal(again, at_once)
    loaded = pickle.loads(pickle.dumps(predictor))
    pd.testing.assert_frame_equal(loaded.transform(T), at_once)
    assert at_once["label"].notna().all()
    assert at_once["label"].between(min(labels), max(labels)).all()


def test_new_documents_and_a_table_without_labels(T):
    predictor = LabelPredictor().fit(T)
    new = pd.DataFrame({"text": ["wing flap lift", "paper plate"], "qid": ["wings", "wings"]})
    found = predictor.transform(new)
    assert found.to_dict("list") == {
        "text": ["wing flap lift", "paper plate"],
        "qid": ["wings", "wings"],
        "label": [1.0, 0.0],
        "imputed": [True, True],
        "judged_by": ["predicted", "predicted"],
    }
    # What is known of them is kept, and nothing is learned from it.
    known = predictor.transform(new.assign(label=[0.0, NAN]))
    assert known["label"].tolist() == [0.0, 0.0]


def test_order_of_rows_and_names_of_queries_do_not_matter(T):
    # The vector machine visits rows in a random order, so that margins differ a little.
    found = LabelPredictor(output="soft", calibration=None).fit_transform(T)
    shuffled = T.sample(frac=1, random_state=7)
    other = LabelPredictor(output="soft", calibration=None).fit_transform(
        shuffled.assign(qid=shuffled["qid"].map({"wings": 3, "heat": 11}))
    )
    np.testing.assert_allclose(other["label"].sort_index(), found["label"], atol=2e-3)


def test_confidence_of_hard_labels(T):
    predictor = LabelPredictor().fit(T)
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
    found = predictor.fit_transform(poor)
    assert predictor.fallback_queries_ == {
        "one": "judged labels all 1", "none": "no judged document",
    }  # fmt: skip
    labels = found["label"].to_numpy()
    np.testing.assert_array_equal(labels[-4:-2], one)
    np.testing.assert_array_equal(labels[-2:], none)
    left = np.isnan(one).sum() + np.isnan(none).sum()
    assert predictor.n_left_ == left == found["label"].isna().sum()
    np.testing.assert_array_equal(found["imputed"][-4:], ~np.isnan([*one, *none]))
    assert (predictor.pool_model_ is None) == (one_class != "pool" and unjudged_query != "pool")
    # A query that fit has not seen is like one without judgments.
    if unjudged_query == "pool":
        new = poor.tail(2).assign(qid="new").drop(columns="label")
        np.testing.assert_array_equal(predictor.transform(new)["label"], none)


def test_rows_that_are_left_are_told(poor):
    with (
        pytest.warns(UserWarning, match="no document is judged of 1 query, such as 'none'"),
        pytest.warns(UserWarning, match="same one in 1 query, such as 'one': the other documents"),
    ):
        predictor = LabelPredictor().fit(poor)
    new = pd.DataFrame({"qid": ["new"], "text": ["wing"]})
    with pytest.warns(UserWarning, match="such as 'new'.*stay unjudged") as told:
        found = predictor.transform(new)
    assert len(told) == 1
    assert found["label"].isna().all()
    assert not found["imputed"].any()
    with pytest.raises(ValueError, match=r"no document is judged of 1 query.*unjudged_query="):
        LabelPredictor(unjudged_query="raise").fit(poor)
    fitted = LabelPredictor(one_class="copy", unjudged_query="raise").fit(
        poor[poor["qid"] != "none"]
    )
    with pytest.raises(ValueError, match="such as 'none'"):
        fitted.transform(poor)
    # Nothing is asked about a query of which every row is judged.
    fitted.transform(pd.DataFrame({"qid": ["new"], "text": ["wing"], "label": [1.0]}))


@pytest.mark.slow
def test_queries_of_one_label_are_left_where_there_are_texts_alone(poor):
    """Numbers mean the same in every query, and so the model of all queries is asked."""
    poor = poor[poor["qid"] != "none"].assign(wings=poor["text"].str.count("wing"))
    for columns in ({"features": ["wings"]}, {"text": None, "features": ["wings"]}):
        found = LabelPredictor(**columns).fit_transform(poor)
        pooled = LabelPredictor(one_class="pool", **columns).fit_transform(poor)
        pd.testing.assert_frame_equal(found, pooled)
        assert found["label"].notna().all()


def test_a_shared_model_of_one_label_gives_it_to_all(T):
    ones = T.assign(label=T["label"] * 0)
    assert (LabelPredictor(shared=True).fit_transform(ones)["label"] == 0).all()


def test_labels_that_were_hidden_are_none_to_learn_from(T):
    with pytest.warns(UnjudgedWarning, match=r"to learn from are the same one in 2 queries, such"):
        assert LabelPredictor(n_per_query=1).fit(T).n_left_ > 0


def test_other_documents_of_queries_of_one_label_are_told_of(poor):
    """By whatever leaves them unjudged."""
    message = "the same one in 1 query, such as 'one'"
    poor = poor[poor["qid"] != "none"]
    with pytest.warns(UnjudgedWarning, match=message):
        fitted = LabelPredictor().fit(poor)
    with pytest.warns(UnjudgedWarning, match=message):
        assert fitted.transform(poor.assign(label=NAN)[poor["qid"] == "one"])["label"].isna().all()


def test_agreement_of_numbers():
    # Variances 2/3 and 2/9, means 1 and 2/3: apart by 1/3 of 1, which is expected by chance.
    assert concordance(np.array([0, 1, 2]), np.array([0, 1, 1])) == pytest.approx(2 / 3)
    # Apart by their last bit alone.
    same = np.full(3, 0.1)
    assert concordance(same, np.nextafter(same, 1)) == 1


def test_a_table_of_one_label(T):
    T = T.assign(label=T["label"] * 0)
    for one_class in ("copy", "pool"):
        found = LabelPredictor(one_class=one_class).fit_transform(T)
        assert (found["label"] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("labels", [(0.0, 1.0), (-1.0, 0.0, 2.0)], ids=str)
def test_score_is_cohens_kappa_of_masked_labels(labels):
    T = make_table(labels=labels, n_docs=40)
    # Some assessors err, so that the agreement is not perfect.
    errs = np.random.RandomState(0).rand(len(T)) < 0.2
    T["truth"] = T["truth"].where(~errs, T["truth"].sample(frac=1, random_state=0).to_numpy())
    T = T.assign(label=T["truth"])
    train, test = T.iloc[:40], T.iloc[40:]
    predictor = LabelPredictor().fit(train)
    found = predictor.transform(test.drop(columns="label"))["label"]
    levels = list(range(int(min(labels)), int(max(labels)) + 1))
    expected = cohen_kappa_score(
        test["truth"].astype(int), found.astype(int), weights="quadratic", labels=levels
    )
    assert predictor.score(test) == pytest.approx(expected, abs=1e-12)
    assert 0.3 < expected < 1
    # The table's own labels are masked, and rows without one do not count.
    some = test.assign(label=test["truth"].where(np.arange(len(test)) % 2 == 0))
    assert predictor.score(some) == pytest.approx(predictor.score(test.iloc[::2]), abs=1e-12)
    wrong = test.assign(label=sum(labels[::2]) - test["truth"])
    assert predictor.score(wrong) < 0
    assert predictor.fit(train).score(test, y=test["qid"]) == pytest.approx(expected, abs=1e-12)


def test_score_of_expected_labels_by_hand(T):
    soft = LabelPredictor(output="soft", calibration=None).fit(T)
    full = T.assign(label=T["truth"])
    x = T["truth"].to_numpy()
    y = soft.transform(T.drop(columns="label"))["label"].to_numpy()
    # Lin's coefficient: twice the covariance over the variances and the squared difference.
    lin = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert soft.score(full) == pytest.approx(lin, abs=1e-12)


@pytest.mark.filterwarnings("ignore:no document is judged of 1 query")
def test_rows_that_are_left_count_as_0(T):
    only = T[T["qid"] == "heat"]
    predictor = LabelPredictor().fit(only)
    full = T.assign(label=T["truth"])
    x = full["label"].to_numpy()
    y = np.nan_to_num(predictor.transform(T.drop(columns="label"))["label"].to_numpy())
    lin = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert predictor.score(full) == pytest.approx(lin, abs=1e-12)
    assert predictor.score(full) < predictor.score(full[full["qid"] == "heat"])


def test_score_where_nothing_varies(T):
    ones = T.assign(label=1.0)
    assert LabelPredictor(one_class="copy").fit(ones).score(ones) == 1.0
    with pytest.raises(ValueError, match=r"column 'label' of X has no label in any of 48 rows"):
        LabelPredictor().fit(T).score(T.assign(label=NAN))


@pytest.mark.slow
def test_grid_search_tunes_the_predictor():
    T = make_table(n_docs=40, share=0.8)
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    grid = {"n_per_query": [2, None], "selector": [MaxRepSelector(0.3), RandomSelector()]}
    grid["selector"][1].set_params(random_state=0)
    predictor = LabelPredictor(one_class="copy")
    search = GridSearchCV(predictor, grid, cv=folds, error_score="raise")
    search.fit(T, T["qid"])
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)
    assert (scores[0] < scores[1]).all()  # two labels a query against all
    assert scores[0, 0] != scores[0, 1]  # by another strategy
    assert scores[1, 0] == scores[1, 1]
    assert search.best_params_["n_per_query"] != 2
    # The nested threshold of the strategy.
    inner = GridSearchCV(
        LabelPredictor(one_class="copy", selector=MaxRepSelector(), n_per_query=2),
        {"selector__threshold": [0.05, 0.5]}, cv=folds, error_score="raise",
    ).fit(T, T["qid"])  # fmt: skip
    assert len(set(inner.cv_results_["mean_test_score"])) == 2
    alone = cross_val_score(LabelPredictor(one_class="copy", n_per_query=2), T, T["qid"], cv=folds)
    assert alone.shape == (2,)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"output": "probability"}, "output must be one of 'hard', 'soft'"),
        ({"one_class": "zero"}, "one_class must be one of"),
        ({"unjudged_query": "drop"}, "unjudged_query must be one of"),
        ({"calibration": "isotonic"}, "calibration must be one of"),
        ({"features": "f0"}, "features must be None or a list"),
        ({"features": ["docno"]}, "features must name columns of numbers"),
        ({"text": None}, "text and features are both None"),
        ({"estimator": TfidfVectorizer()}, "estimator must be a classifier"),
        ({"features": ["f9"]}, "X has no column 'f9'.*by features="),
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
        LabelPredictor(**params).fit(T)


class Picky(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        raise ValueError("too little")


def test_an_error_of_a_classifier_names_the_query(T):
    with pytest.raises(ValueError, match="too little") as caught:
        LabelPredictor(Picky()).fit(T)
    assert "in query 'heat'" in caught.value.__notes__[0]


@pytest.mark.slow
def test_random_state_seeds_every_query(T):
    forest = RandomForestClassifier(3, max_depth=1)
    soft = {"output": "soft", "calibration": None}
    first = LabelPredictor(forest, random_state=0, **soft).fit_transform(T)
    again = LabelPredictor(forest, random_state=np.random.RandomState(0), **soft).fit_transform(T)
    other = LabelPredictor(forest, random_state=1, **soft).fit_transform(T)
    pd.testing.assert_frame_equal(first, again)
    assert not first["label"].equals(other["label"])
    # Two queries of the same rows have forests of their own.
    twice = pd.concat([T.assign(qid="a"), T.assign(qid="b")], ignore_index=True)
    found = LabelPredictor(forest, random_state=0, **soft).fit_transform(twice)["label"]
    assert found[: len(T)].tolist() != found[len(T) :].tolist()


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
    for method in ("transform", "get_feature_names_out"):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            getattr(LabelPredictor(), method)(T)


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
    predicted = predictor.fit_transform(T)["label"].fillna(0.0).to_numpy()
    none = np.where(judged, truth, 0.0)
    errors = [np.sqrt(np.mean((maps(found) - maps(truth)) ** 2)) for found in (predicted, none)]
    assert errors[0] < errors[1]
    assert 0 < len(predictor.fallback_queries_) < len(queries)


class TestShared:
    """One model of all queries."""

    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["x", "y", "z"])
    table["qid"] = np.repeat(["a", "b", "c"], 20)
    truth = (table["x"] + 0.3 * rng.normal(size=60) > 0).astype(float)
    # Nobody judged query c, and query b has one label alone.
    table["label"] = truth.where((table.index % 2 == 0) & (table["qid"] != "c"))
    table.loc[(table["qid"] == "b") & (truth == 0), "label"] = np.nan

    def predictor(self, **options):
        return LabelPredictor(
            LogisticRegression(), text=None, features=["x", "y", "z"], shared=True, **options
        )

    def test_it_is_a_model_of_all_judged_rows(self):
        X = StandardScaler().fit_transform(self.table[["x", "y", "z"]])
        known = self.table["label"].notna()
        model = LogisticRegression().fit(X[known], self.table["label"][known])
        chance = model.predict_proba(X)[:, 1]
        for output, expected in (("hard", (chance > 0.5).astype(float)), ("soft", chance)):
            found = self.predictor(output=output).fit_transform(self.table)["label"]
            assert found[~known].tolist() == pytest.approx(expected[~known].tolist())
            assert (found[known] == self.table["label"][known]).all()

    def test_queries_do_not_matter(self):
        fitted = self.predictor().fit(self.table)
        assert fitted.fallback_queries_ == {}
        assert fitted.n_left_ == 0
        other = self.table.drop(columns="label")
        renamed = fitted.transform(other.assign(qid="never seen"))["label"]
        assert renamed.tolist() == fitted.transform(other)["label"].tolist()

    def test_flag(self):
        with pytest.raises(InputError, match="shared must be True or False"):
            LabelPredictor(shared="yes").fit(self.table.assign(text="a word"))


def test_query_asks_for_what_is_least_sure(T):
    predictor = LabelPredictor(output="soft", calibration=None, selector="uncertainty").fit(T)
    asked = mask(predictor, T, 2)
    assert asked.dtype == bool
    assert T["label"][asked].isna().all()
    for query in WORDS:
        rows = ((T["qid"] == query) & T["label"].isna()).to_numpy()
        assert (rows & asked).sum() == 2
        others = predictor.confidence_[rows & ~asked]
        assert predictor.confidence_[rows & asked].max() <= others.min()
    np.testing.assert_array_equal(mask(predictor, T, 1000), T["label"].isna())


@pytest.mark.filterwarnings("ignore:no document is judged of 1 query")
def test_query_in_queries_without_a_model(poor):
    predictor = LabelPredictor(one_class="pool", selector="uncertainty")
    asked = mask(predictor.fit(poor), poor, 1)
    assert asked[-5:].tolist() == [False, True, False, True, False]


class Longest(QuerySelector):
    """The longest texts first."""

    def _prepare(self, X, y, index):
        return np.array([len(text) for text in X])

    def _rank_query(self, X, prior, random_state):
        return np.argsort(-X, kind="stable"), np.full(len(X), np.nan)


def test_query_by_a_selector(T):
    predictor = LabelPredictor(selector=Longest()).fit(T)
    asked = mask(predictor, T, 3)
    for query in WORDS:
        rows = ((T["qid"] == query) & T["label"].isna()).to_numpy()
        lengths = T["text"].str.len()
        assert lengths[rows & asked].min() >= lengths[rows & ~asked].max()
        assert (rows & asked).sum() == 3
    # A prior goes to the selector.
    prior = np.arange(len(T), dtype=float)
    asked = mask(LabelPredictor(selector=PriorSelector()).fit(T), T, 1, prior=prior)
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
    assert np.flatnonzero(mask(LabelPredictor(), C, 1, prior=prior)).tolist() == [2]
    asked = mask(LabelPredictor(selector=MaxRepSelector()).fit(C), C, 3, prior=prior)
    assert np.flatnonzero(asked).tolist() == [2, 3, 6]
    # Whatever was judged, also what no strategy would have asked for first.
    other = C.assign(label=[NAN] * 3 + [1.0] + [NAN] * 8)
    assert np.flatnonzero(mask(LabelPredictor(), other, 2, prior=prior)).tolist() == [1, 2]
    # Without labels, the first round needs no fit: one of each kind.
    first = mask(LabelPredictor(), C.drop(columns="label"), 3)
    assert np.flatnonzero(first).tolist() == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("selector", [None, Longest(), "uncertainty"])
def test_a_share_of_the_documents(T, selector):
    predictor = LabelPredictor(selector=selector).fit(T)
    for share, number in ((1 / 24, 1), (0.125, 3), (0.2, 5)):
        asked = mask(predictor, T, share)
        np.testing.assert_array_equal(asked, mask(predictor, T, number))
        assert T["qid"][asked].value_counts().tolist() == [number, number]


@pytest.mark.slow
def test_only_what_a_strategy_asks_for_is_learned_from(T):
    full = T.assign(label=T["truth"])
    for budget, number in (({"n_per_query": 5}, 5), ({"share": 0.25}, 6)):
        params = {"one_class": "pool"}
        predictor = LabelPredictor(selector=Longest(), **budget, **params).fit(full)
        asked = mask(Longest().fit(T["text"], groups=T["qid"]), number)
        hidden = LabelPredictor(**params).fit(full.assign(label=T["truth"].where(asked)))
        np.testing.assert_array_equal(predictor.imputed_, ~asked)
        new = T.drop(columns=["label", "docno"])
        pd.testing.assert_frame_equal(predictor.transform(new), hidden.transform(new))
    # Labels that are there stay.
    assert predictor.fit_transform(full)["label"].tolist() == T["truth"].tolist()
    assert not predictor.fit_transform(full)["imputed"].any()
    pd.testing.assert_frame_equal(predictor.fit_transform(T), predictor.fit(T).transform(T))


def test_a_strategy_chooses_among_what_is_judged(T):
    """As if the judged documents were the pool."""
    judged = T["label"].notna()
    predictor = LabelPredictor(n_per_query=3).fit(T)
    asked = mask(MaxRepSelector().fit(T["text"][judged], groups=T["qid"][judged]), 3)
    np.testing.assert_array_equal(~predictor.imputed_[judged], asked)
    assert predictor.imputed_[~judged].all()
    everything = LabelPredictor(n_per_query=1000).fit(T)
    np.testing.assert_array_equal(everything.imputed_, ~judged)


def test_bad_queries(T):
    predictor = LabelPredictor().fit(T)
    with pytest.raises(ValueError, match="n_per_query must be a whole number from 1 up, got 0"):
        mask(predictor, T, 0)
    unsure = LabelPredictor(selector="uncertainty")
    with pytest.raises(sklearn.exceptions.NotFittedError):
        mask(unsure, T, 1)
    with pytest.raises(ValueError, match="prior needs a strategy: 'uncertainty' does not use it"):
        mask(unsure.fit(T), T, 1, prior=np.ones(len(T)))
    sampling = LabelPredictor(selector=StatAPSelector())
    with pytest.raises(
        ValueError, match=r"selector must be .* one order.*StatAPSelector\(.*select"
    ):
        mask(sampling, T, 1, prior=np.ones(len(T)))
    with pytest.raises(ValueError, match="X must be a rank table, or a dict"):
        mask(LabelPredictor(selector=PoolingSelector()), T, 1)


def test_labels_as_y_behind_a_vectorizer_are_those_of_a_table(T):
    """A Pipeline of tf-idf and the predictor does what the predictor does with a table."""
    table = LabelPredictor().fit(T)
    pipeline = make_pipeline(TfidfVectorizer(), LabelPredictor())
    completed = pipeline.fit_transform(T["text"], T["label"], labelpredictor__groups=T["qid"])
    expected = table.transform(T)["label"]
    assert isinstance(completed, pd.Series)
    np.testing.assert_array_equal(completed, expected)
    predicted = pipeline.predict(T["text"], groups=T["qid"])
    np.testing.assert_array_equal(predicted, table.predict(T))
    unjudged = T["label"].isna().to_numpy()
    np.testing.assert_array_equal(predicted[unjudged], expected[unjudged])
    # Queries in the index of y need not be passed.
    y = T.set_index("qid")["label"]
    np.testing.assert_array_equal(pipeline.fit_transform(T["text"], y), expected)
    assert pipeline.score(T["text"], y) == pytest.approx(table.score(T), abs=1e-12)


def test_kinds_of_documents_with_labels_as_y(T):
    expected = LabelPredictor().fit_transform(T)["label"]
    y, groups = T["label"].to_numpy(), T["qid"].to_numpy()
    for X in (T["text"], T["text"].tolist(), T[["text"]], T[["qid", "text"]]):
        found = LabelPredictor().fit_transform(X, y, groups=groups)
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, expected)
    # Columns of numbers are taken as they come.
    numbers = np.random.RandomState(0).rand(len(T), 3)
    frame = pd.DataFrame(numbers, columns=list("abc")).assign(qid=groups)
    by_array = LabelPredictor().fit_transform(numbers, y, groups=groups)
    np.testing.assert_array_equal(LabelPredictor().fit_transform(frame, y), by_array)
    np.testing.assert_array_equal(
        LabelPredictor().fit_transform(sparse.csr_array(numbers), y, groups=groups), by_array
    )


def test_a_search_over_a_pipeline_with_labels_as_y(T):
    y = T.set_index("qid")["label"]
    search = GridSearchCV(
        make_pipeline(TfidfVectorizer(), LabelPredictor()),
        {"labelpredictor__n_per_query": [2, None]},
        cv=KFold(3, shuffle=True, random_state=0),
        error_score="raise",
    ).fit(T["text"].to_numpy(), y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    best = search.best_estimator_
    assert best.predict(T["text"].to_numpy(), groups=T["qid"]).shape == (len(T),)


def test_selection_with_labels_as_y(T):
    rows = LabelPredictor().select(T, n_per_query=3)
    found = LabelPredictor().select(T["text"], T["label"], groups=T["qid"], n_per_query=3)
    np.testing.assert_array_equal(found, rows)


def test_labels_as_y_that_are_wrong(T):
    with pytest.raises(ValueError, match="labels are given twice, as y and in column 'label'"):
        LabelPredictor().fit(T, T["label"])
    with pytest.raises(ValueError, match="y has 3 labels but X has"):
        LabelPredictor().fit(T["text"], [1.0, 0.0, np.nan], groups=T["qid"])
    with pytest.raises(ValueError, match="groups is missing"):
        LabelPredictor().fit(T["text"], T["label"].to_numpy())
    with pytest.raises(TypeError, match="or pass labels as y and queries as groups"):
        LabelPredictor().fit(T["text"])

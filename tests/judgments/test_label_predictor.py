"""LabelPredictor: which labels are predicted or drawn, how, and which input is refused."""

from itertools import pairwise

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
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import estimator_checks

from judgment_tables import NAN, WORDS, make_table, parts
from pickled_threads import pickled_threads
from selections import budget
from skfilterrank.exceptions import InputError, UnjudgedWarning
from skfilterrank.io import read_qrels
from skfilterrank.judgments import LabelPredictor, MaxRepSelector, PoolingSelector, PriorSelector
from skfilterrank.judgments._label_predictor import concordance
from skfilterrank.judgments._pair_features import PairFeatures
from skfilterrank.judgments._predictor_models import sample_labels
from skfilterrank.judgments._selector import QuerySelector
from thinned import thinned

THREE = (-1.0, 0.0, 2.0)


def by_hand(T):
    """Predict query by query and label by label, with scikit-learn alone."""
    X = TfidfVectorizer().fit(T["text"].unique()).transform(T["text"])
    found = T["label"].copy()
    for query in T["qid"].unique():
        own = T["qid"] == query
        judged = np.flatnonzero(own & T["label"].notna())
        levels = np.unique(T["label"].iloc[judged])
        for row in np.flatnonzero(own & T["label"].isna()):
            found.iloc[row] = levels[0]
            for lower, upper in pairwise(levels):
                svm = LinearSVC(class_weight="balanced", random_state=0)
                svm.fit(X[judged], (T["label"].iloc[judged] > lower).astype(int))
                if svm.predict(X[[row]])[0] == 0:
                    break
                found.iloc[row] = upper
    return found.to_numpy()


@pytest.mark.slow
@pytest.mark.parametrize("labels", [(0.0, 1.0), THREE], ids=str)
def test_labels_by_vector_machines_of_each_query(labels):
    T = make_table(labels=labels, n_docs=16)
    found = LabelPredictor().fit_transform(*parts(T)).to_numpy()
    np.testing.assert_array_equal(found, by_hand(T))
    assert (found == T["truth"]).mean() > 0.8


def test_known_labels_stay_and_the_rest_is_marked(T):
    predictor = LabelPredictor()
    X, y = parts(T)
    found = predictor.fit_transform(X, y)
    known = y.notna()
    pd.testing.assert_series_equal(found[known], y[known])
    np.testing.assert_array_equal(predictor.imputed_, ~known)
    assert predictor.classes_.tolist() == [0, 1]
    assert y.isna().any()  # the input is as it was
    pd.testing.assert_series_equal(predictor.transform(X, y), found)
    assert found.iloc[0] is not predictor.transform(X, y).iloc[0]
    everything = LabelPredictor().fit(X, y.fillna(0.0))
    assert not everything.imputed_.any()
    assert everything.sample(2).tolist() == [y.fillna(0.0).tolist()] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_labels", "params"),
    [
        (2, {}),
        (3, {"model": "pairs"}),
        *(
            pytest.param(n_labels, params, marks=pytest.mark.nightly)
            for n_labels, params in (
                (3, {"estimator": make_pipeline(RandomForestClassifier(3, random_state=3))}),
                (3, {"vectorizer": HashingVectorizer(n_features=256)}),
                (2, {"model": "pairs", "estimator": RandomForestClassifier(3, random_state=3)}),
            )
        ),
    ],
    ids=str,
)
def test_fit_transform_is_fit_and_predict(n_labels, params):
    labels = [(0.0, 1.0), THREE][n_labels - 2]
    X, y = parts(make_table(labels=labels, n_docs=16))
    predictor = LabelPredictor(**params)
    at_once = predictor.fit_transform(X, y)
    hidden = predictor.imputed_
    fitted = clone(predictor).fit(X, y)
    found = fitted.predict(X, y.index)
    np.testing.assert_allclose(found[hidden], at_once[hidden], rtol=1e-12)
    with pickled_threads():
        again = clone(predictor).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.transform(X, y), at_once)
    np.testing.assert_array_equal(again.sample(3, random_state=0), fitted.sample(3, random_state=0))
    chances = fitted.predict_proba(X, y.index)
    assert chances.shape == (len(X), n_labels)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert set(at_once) <= set(labels)


def test_chances_are_those_of_the_classifier(T):
    predictor = LabelPredictor(LogisticRegression()).fit(*parts(T))
    chances = predictor.predict_proba(*(T[name] for name in ("text", "qid")))
    X = TfidfVectorizer().fit_transform(T["text"])
    for query in WORDS:
        rows = (T["qid"] == query).to_numpy()
        judged = rows & T["label"].notna().to_numpy()
        model = LogisticRegression().fit(X[judged], T["label"][judged].astype(int))
        np.testing.assert_allclose(chances[rows], model.predict_proba(X[rows]), atol=1e-6)


@pytest.mark.filterwarnings("ignore:documents of 1 query stay unjudged")
def test_chances_of_labels_that_a_query_lacks_are_0(T):
    T.loc[T["qid"] == "heat", "label"] *= 2
    X, y = parts(T)
    other = [*X, "wing"], pd.concat([y, pd.Series([NAN], pd.Index(["none"], name="qid"))])
    predictor = LabelPredictor().fit(*other)
    assert predictor.classes_.tolist() == [0, 1, 2]
    chances = predictor.predict_proba(other[0], other[1].index)
    assert np.isnan(chances[-1]).all()
    assert np.isnan(predictor.sample(3)[:, -1]).all()
    is_heat = (T["qid"] == "heat").to_numpy()
    assert (chances[:-1][is_heat, 1] == 0).all()
    assert (chances[:-1][~is_heat, 2] == 0).all()
    assert (chances[:-1][is_heat, 2] > 0).all()


def test_drawn_labels_have_their_chances(T):
    X, y = parts(T)
    predictor = LabelPredictor(LogisticRegression()).fit(X, y)
    drawn = predictor.sample(4000, random_state=0)
    known = y.notna().to_numpy()
    assert (drawn[:, known] == y.to_numpy()[known]).all()
    chances = predictor.predict_proba(X, y.index)[~known, 1]
    assert np.abs(drawn[:, ~known].mean(axis=0) - chances).max() < 0.03
    assert predictor.sample(2, random_state=0).tolist() != predictor.sample(2).tolist()
    assert drawn[:2].tolist() == predictor.sample(2, random_state=0).tolist()
    with pytest.raises(ValueError, match="n_draws must be a whole number from 1 up, got 0"):
        predictor.sample(0)


class TestPairs:
    """One classifier of all pairs of query and document."""

    def test_columns_of_pairs_and_a_classifier_by_hand(self, T):
        X, y = T[["text"]].assign(query=T["qid"]), T["label"].to_numpy()
        predictor = LabelPredictor(model="pairs").fit(X, y, T["qid"])
        columns = PairFeatures()
        made, known = columns.fit_transform(X, y, T["qid"]), ~np.isnan(y)
        model = LogisticRegression(max_iter=300).fit(made[known], y[known].astype(int))
        expected = np.where(known, y, model.predict(made))
        np.testing.assert_array_equal(predictor.transform(X, y, T["qid"])[known], y[known])
        np.testing.assert_array_equal(predictor._completed, expected)
        new = X.iloc[:4], T["qid"].iloc[:4]
        chances = model.predict_proba(columns.transform(*new))
        np.testing.assert_allclose(predictor.predict_proba(*new), chances)
        drawn = sample_labels(made, y, T["qid"], n_draws=3, random_state=1)
        np.testing.assert_array_equal(predictor.sample(3, random_state=1), drawn)

    def test_every_query_gets_labels(self, poor):
        X, y = parts(poor)
        predictor = LabelPredictor(model="pairs").fit(X, y)
        assert predictor.imputed_.tolist() == y.isna().tolist()
        assert np.isfinite(predictor.predict(["wing"], ["never seen"])).all()

    def test_another_transformer_needs_no_queries(self, T):
        X = np.column_stack([T["text"].str.count(word) for word in ("wing", "heat", "the")])
        y = T["label"].to_numpy()
        predictor = LabelPredictor(model="pairs", vectorizer=StandardScaler())
        found = predictor.fit_transform(X, y, T["qid"])
        known = ~np.isnan(y)
        scaled = StandardScaler().fit_transform(X)
        model = LogisticRegression(max_iter=300).fit(scaled[known], y[known])
        np.testing.assert_array_equal(found[~known], model.predict(scaled[~known]))

    def test_one_label_in_all_queries(self, T):
        X, y = parts(T)
        predictor = LabelPredictor(model="pairs").fit(X, y * 0 + 2)
        assert (predictor.predict(X, y.index) == 2).all()
        assert (predictor.predict_proba(X, y.index) == 1).all()
        assert (predictor.sample(2) == 2).all()

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"one_class": "copy"}, "one_class='copy' is for model='per_query': leave it out"),
            ({"estimator": LinearSVC()}, "estimator must have predict_proba for model='pairs'"),
        ],
    )
    def test_bad_parameters(self, T, params, message):
        with pytest.raises(InputError, match=message):
            LabelPredictor(model="pairs", **params).fit(*parts(T))


def test_a_table_of_texts_and_numbers(T):
    T["n"] = np.random.RandomState(1).normal(size=len(T), scale=50)
    columns = ColumnTransformer(
        [("text", TfidfVectorizer(), "text"), ("n", StandardScaler(), ["n"])]
    )
    vectors = columns.fit_transform(T)
    _, y = parts(T)
    expected = LabelPredictor().fit_transform(vectors, y)
    table = T[["text", "n"]].assign(text=T["text"].astype(object))
    for vectorizer in (None, columns):
        predictor = LabelPredictor(vectorizer=vectorizer)
        pd.testing.assert_series_equal(predictor.fit_transform(table, y), expected)
        assert predictor.feature_names_in_.tolist() == ["text", "n"]
        assert predictor.predict(table, T["qid"])[y.isna()].tolist() == expected[y.isna()].tolist()
        rows = predictor.select(table, y, n_per_query=3)
        assert rows.tolist() == LabelPredictor().select(vectors, y, n_per_query=3).tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        predictor.predict(table[["n", "text"]], T["qid"])
    # A missing text is empty, and a column of texts alone is an array of them.
    table.loc[3, "text"] = None
    assert LabelPredictor().fit_transform(table, y).notna().all()
    alone = LabelPredictor().fit_transform(T[["text"]], y)
    pd.testing.assert_series_equal(alone, LabelPredictor().fit_transform(T["text"], y))


@pytest.mark.parametrize("name", ["qid", "docno"])
def test_ids_are_not_learned_from(T, name):
    message = rf"X has a column '{name}', which would be learned from: .*X.set_index"
    with pytest.raises(InputError, match=message):
        LabelPredictor().fit(T[["text", name]], T["label"], T["qid"])


def test_new_documents(T):
    predictor = LabelPredictor().fit(*parts(T))
    assert predictor.predict(["wing flap lift", "paper plate"], ["wings"] * 2).tolist() == [1, 0]


@pytest.mark.filterwarnings("ignore:documents of . quer.* stay unjudged")
@pytest.mark.parametrize(
    ("one_class", "one"), [("copy", [1, 1]), ("leave", [NAN, NAN])], ids=["copy", "leave"]
)
def test_queries_of_one_label_or_none(poor, one_class, one):
    predictor = LabelPredictor(one_class=one_class)
    labels = predictor.fit_transform(*parts(poor)).to_numpy()
    np.testing.assert_array_equal(labels[-4:], [*one, NAN, NAN])
    np.testing.assert_array_equal(predictor.imputed_[-4:], ~np.isnan([*one, NAN, NAN]))
    found = predictor.predict(["wing"] * 3, ["one", "none", "new"])
    np.testing.assert_array_equal(found, [one[0], NAN, NAN])


def test_rows_that_are_left_are_told(poor):
    message = r"of 2 queries stay unjudged, such as of 'none', 'one': none is judged, or all labels"
    with pytest.warns(UnjudgedWarning, match=message):
        predictor = LabelPredictor().fit(*parts(poor))
    for ask in (predictor.predict, predictor.predict_proba):
        with pytest.warns(
            UnjudgedWarning, match="of 1 query stay unjudged, such as of 'new'"
        ) as told:
            assert np.isnan(ask(["wing"], ["new"])).all()
        assert told[0].filename == __file__
    # A known label needs no prediction.
    assert predictor.transform(["wing"], [1.0], ["new"]).tolist() == [1]


def test_agreement_of_numbers():
    # Variances 2/3 and 2/9, means 1 and 2/3: apart by 1/3 of 1, which is expected by chance.
    assert concordance(np.array([0, 1, 2]), np.array([0, 1, 1])) == pytest.approx(2 / 3)
    # Apart by their last bit alone.
    same = np.full(3, 0.1)
    assert concordance(same, np.nextafter(same, 1)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("labels", [(0.0, 1.0), THREE], ids=str)
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


@pytest.mark.filterwarnings("ignore:documents of 1 query stay unjudged")
def test_rows_that_are_left_count_as_0(T):
    predictor = LabelPredictor().fit(*parts(T[T["qid"] == "heat"]))
    x = T["truth"].to_numpy()
    y = np.nan_to_num(predictor.predict(T["text"], T["qid"]))
    lin = 2 * np.cov(x, y, ddof=0)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)
    assert predictor.score(T["text"], x, T["qid"]) == pytest.approx(lin, abs=1e-12)


def test_score_where_nothing_varies(T):
    X, y = parts(T.assign(label=1.0))
    assert LabelPredictor(one_class="copy").fit(X, y).score(X, y) == 1.0
    with pytest.raises(ValueError, match=r"y has no label in any of 48 rows"):
        LabelPredictor().fit(*parts(T)).score(X, y * NAN)


@pytest.mark.slow
def test_grid_search_tunes_the_predictor():
    X, y = parts(make_table(n_docs=40, share=0.8))
    folds = list(StratifiedKFold(2, shuffle=True, random_state=0).split(X, y.index))
    grid = {"estimator__C": [1e-6, 1.0]}
    predictor = LabelPredictor(LinearSVC(random_state=0), one_class="copy")
    search = GridSearchCV(predictor, grid, cv=folds, error_score="raise").fit(X, y)
    worse, better = search.cv_results_["mean_test_score"]
    assert worse < better
    assert search.best_params_ == {"estimator__C": 1.0}


@pytest.mark.slow
def test_grid_search_over_whole_queries():
    """The model of pairs predicts queries that it has not seen, by what their documents are."""
    rng = np.random.RandomState(0)
    groups = np.repeat(np.arange(12), 10)
    X = rng.normal(size=(120, 3))
    y = pd.Series((X[:, 0] > 0).astype(float))
    y[rng.rand(120) < 0.3] = NAN
    predictor = LabelPredictor(model="pairs")
    grid = {"estimator": [LogisticRegression(C=c) for c in (1e-6, 1.0)]}
    by_index = y.set_axis(pd.Index(groups, name="qid"))
    search = GridSearchCV(predictor, grid, cv=GroupKFold(3), error_score="raise")
    search.fit(X, by_index, groups=groups)
    assert search.best_params_["estimator"].C == 1.0
    assert search.best_score_ > 0.6
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(search).fit(X, y.to_numpy(), groups=groups)
    assert routed.best_score_ == pytest.approx(search.best_score_)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"model": "shared"}, "model must be one of 'per_query', 'pairs'"),
        ({"one_class": "zero"}, "one_class must be one of 'leave', 'copy'"),
        ({"estimator": TfidfVectorizer()}, "estimator must be a classifier"),
        (
            {"selector": "maxrep"},
            r"selector must be a strategy such as MaxRepSelector\(\), or None for this one, got '",
        ),
        ({"selector": MaxRepSelector}, "selector must be a strategy such as"),
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
    for ask in ("predict", "predict_proba", "transform"):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            getattr(LabelPredictor(), ask)(T["text"], groups=T["qid"])
    with pytest.raises(sklearn.exceptions.NotFittedError):
        LabelPredictor().sample()


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore:documents of .* stay unjudged")
def test_better_than_unjudged_is_not_relevant(data_dir):
    """MAP of runs over queries of Cranfield, 30 % of their pool judged, against all judged."""
    folder = data_dir / "cranfield"
    docs, queries = (
        pd.read_json(folder / file, lines=True, dtype=str).fillna("").set_index(key)["text"]
        for file, key in (("docs.jsonl.gz", "docid"), ("queries.jsonl", "qid"))
    )
    queries = queries[:100]
    qrels = read_qrels(folder / "qrels.txt", unjudged_label=None).query("label > 0")
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

    predictor = LabelPredictor()
    predicted = predictor.fit_transform(*parts(T)).fillna(0.0).to_numpy()
    none = np.where(judged, truth, 0.0)
    errors = [np.sqrt(np.mean((maps(found) - maps(truth)) ** 2)) for found in (predicted, none)]
    assert errors[0] < errors[1]
    assert 0 < (~predictor.imputed_ & ~judged).sum() < (~judged).sum()


def asked_of(predictor, T, n=None, **params):
    """Rows that `predictor.select` gives under a budget, as a mask."""
    asked = np.zeros(len(T), dtype=bool)
    asked[predictor.select(*parts(T), **budget(n), **params)] = True
    return asked


class Longest(QuerySelector):
    """The longest texts first."""

    def _prepare(self, X, y, index):
        return np.array([len(text) for text in X])

    def _rank_query(self, X, prior, random_state):
        return np.argsort(-X, kind="stable"), np.full(len(X), np.nan)


def test_query_by_a_selector(T):
    predictor = LabelPredictor(selector=Longest())
    asked = asked_of(predictor, T, 3)
    for query in WORDS:
        rows = ((T["qid"] == query) & T["label"].isna()).to_numpy()
        lengths = T["text"].str.len()
        assert lengths[rows & asked].min() >= lengths[rows & ~asked].max()
        assert (rows & asked).sum() == 3
    np.testing.assert_array_equal(asked_of(predictor, T, 1000), T["label"].isna())
    # A prior goes to the selector.
    prior = np.arange(len(T), dtype=float)
    asked = asked_of(LabelPredictor(selector=PriorSelector()), T, 1, prior=prior)
    for query in WORDS:
        rows = np.flatnonzero((T["qid"] == query) & T["label"].isna())
        assert asked[rows].tolist() == [False] * (len(rows) - 1) + [True]


def with_copies():
    """Make a query of three kinds of text, four rows each, the first of which are judged."""
    texts = ["lift of a wing", "heat in slabs", "soup with bread"] * 4
    labels = [1.0, 0.0] + 10 * [NAN]
    return pd.DataFrame({"qid": "1", "text": texts, "label": labels})


@pytest.mark.parametrize("model", ["per_query", "pairs"])
def test_maxrep_is_the_default_and_starts_from_what_is_judged(model):
    C = with_copies()
    prior = np.tile([3.0, 2.0, 1.0], 4)
    predictor = LabelPredictor(model=model)
    # Copies of the judged texts stand higher by the prior, and tell nothing new.
    assert np.flatnonzero(asked_of(predictor, C, 1, prior=prior)).tolist() == [2]
    asked = asked_of(LabelPredictor(selector=MaxRepSelector()), C, 3, prior=prior)
    assert np.flatnonzero(asked).tolist() == [2, 3, 6]
    # Whatever was judged, also what no strategy would have asked for first.
    other = C.assign(label=[NAN] * 3 + [1.0] + [NAN] * 8)
    assert np.flatnonzero(asked_of(predictor, other, 2, prior=prior)).tolist() == [1, 2]
    # Without labels: one of each kind.
    first = asked_of(predictor, C.assign(label=NAN), 3)
    assert np.flatnonzero(first).tolist() == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("selector", [None, Longest()])
def test_a_share_of_the_documents(T, selector):
    predictor = LabelPredictor(selector=selector)
    for share, number in ((1 / 24, 1), (0.125, 3), (0.2, 5)):
        asked = asked_of(predictor, T, share)
        np.testing.assert_array_equal(asked, asked_of(predictor, T, number))
        assert T["qid"][asked].value_counts().tolist() == [number, number]


def test_a_total_is_divided_among_what_is_not_judged():
    C = with_copies()
    T = pd.concat([C.assign(label=C["label"].where(C.index > 9, 0.0)), C.assign(qid="2")])
    for n_total, number in ((6, [2, 4]), (9, [2, 7]), (12, [2, 10]), (13, [2, 10])):
        rows = LabelPredictor().select(*parts(T), n_total=n_total)
        assert T["qid"].iloc[rows].value_counts(sort=False).tolist() == number


def test_bad_queries(T):
    with pytest.raises(ValueError, match="n_per_query must be a whole number from 1 up, got 0"):
        asked_of(LabelPredictor(), T, 0)
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
    chances = pipeline.predict_proba(X, groups=T["qid"])
    np.testing.assert_allclose(chances, alone.predict_proba(X, T["qid"]), atol=1e-3)
    assert pipeline.score(X, y) == pytest.approx(alone.score(X, y), abs=1e-12)


def test_kinds_of_documents():
    T = make_table(n_docs=12)
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
        {"labelpredictor__one_class": ["leave", "copy"]},
        cv=KFold(2, shuffle=True, random_state=0),
        error_score="raise",
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.predict(X, groups=T["qid"]).shape == (len(T),)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (["a", "b"], [1.0, 0.0, NAN], "y has 3 labels but X has 2 rows"),
        (["a word", "b"], [NAN, NAN], "no row is judged"),
        (["a", "b"], ["good", NAN], "y must hold numbers, NaN where unjudged: map labels to"),
        (["a", "b"], [np.inf, 1.0], "y holds an infinite label.* the first at row 0"),
        (["a word", 1.5], [1.0, 0.0], "X must hold texts, got 1.5 at row 1"),
        ([], [], "groups is empty: expected one query id per row"),
        ([1.5, 2.5], [1.0, 0.0], "Expected 2D array, got 1D array instead"),
        (pd.DataFrame({"n": [pd.Timestamp(0)] * 2}), [1.0, 0.0], "column 'n' of X must hold texts"),
        (["a", "b"], [1.0, 0.0], "empty vocabulary"),
    ],
)
def test_bad_documents_and_labels(X, y, message):
    with pytest.raises(ValueError, match=message):
        LabelPredictor().fit(X, y, groups=["q"] * len(X))


def test_documents_are_of_one_kind(T):
    numbers = np.zeros((2, 3))
    with pytest.raises(InputError, match="X must hold texts, as in fit"):
        LabelPredictor().fit(*parts(T)).predict(numbers, ["heat"] * 2)
    with pytest.raises(InputError, match="X must hold no texts, as in fit"):
        LabelPredictor().fit(np.eye(4), [1, 0, 1, 0], ["heat"] * 4).predict(
            ["a", "b"], ["heat"] * 2
        )


def test_queries_are_needed_and_a_document_counts_once(T):
    with pytest.raises(ValueError, match="groups is missing"):
        LabelPredictor().fit(T["text"], T["label"].to_numpy())
    X = T.set_index(["qid", "docno"])["text"]
    twice = pd.concat([X, X.iloc[[3]]])
    with pytest.raises(ValueError, match=r"X holds document '\w+' twice in query '\w+', again in"):
        LabelPredictor().fit(twice, [*T["label"], NAN])


@pytest.mark.parametrize("kind", thinned([int, "Float64"], turn=1, parts=2))
def test_minus_one_is_a_judgment(T, kind):
    """Without a NaN, it may be a mistake."""
    X, y = parts(T)
    labels = y.fillna(-1).astype(kind)
    message = r"y has no NaN.* \d+ of its 48 labels are -1.*forbidden.*NaN"
    with pytest.warns(UserWarning, match=message) as caught:
        predictor = LabelPredictor().fit(X, labels)
    assert caught[0].filename == __file__
    assert "silence this by warnings.filterwarnings" in str(caught[0].message)
    assert predictor.classes_.tolist() == [-1, 0, 1]
    assert not predictor.imputed_.any()
    labels = labels.astype(float)
    labels.iloc[0] = np.nan
    assert -1 in LabelPredictor().fit(X, labels).classes_


def test_a_text_counts_once_however_many_queries_it_is_in(T):
    again = pd.concat([T, T.assign(qid=T["qid"] + "2")])
    first, second = LabelPredictor().fit(*parts(T)), LabelPredictor().fit(*parts(again))
    np.testing.assert_array_equal(first.vectorizer_.idf_, second.vectorizer_.idf_)


def test_empty_texts(T):
    unjudged = T.index[T["label"].isna() & (T["qid"] == "heat")]
    T["text"] = T["text"].astype(object)
    T.loc[unjudged[:3], "text"] = ["", None, "a ."]
    judged = T.index[T["label"].notna() & (T["qid"] == "wings")][0]
    T.loc[judged, "text"] = " "
    empty = sorted([*unjudged[:3], judged])
    rows = ", ".join(map(str, empty))
    message = rf"no known term in 4 of 48 rows \(1 of them judged\), such as {rows}: these rows"
    with pytest.warns(UserWarning, match=message) as caught:
        LabelPredictor().fit(*parts(T))
    assert len(caught) == 1
    assert caught[0].filename == __file__

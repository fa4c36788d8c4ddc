"""A filter of its own for each segment: as if each were fitted alone, in whatever form X comes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline

from skfilterrank.comparison import compare_slices
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.io import load_model, save_model
from skfilterrank.metrics import evaluate
from skfilterrank.ranking import (
    QueryRanker,
    RankAndFilter,
    SegmentedFilter,
    read_filter,
    risk_certificate,
    write_filter,
)

RISK = {"threshold": "risk", "risk": "any_forbidden", "max_risk": 0.2}


@pytest.fixture(scope="module")
def data():
    """Scores that mean another thing in French; labels, queries and languages in mixed order."""
    _, y, groups, scores = make_rank_and_filter(300, random_state=0)
    language = np.where(groups % 3 == 0, "fr", "en")
    scores = np.where(language == "fr", scores - 3.0, scores)
    order = np.random.default_rng(0).permutation(len(y))
    X = pd.DataFrame({"score": scores, "language": language}).iloc[order].reset_index(drop=True)
    return X, y[order], groups[order]


@pytest.mark.slow
@pytest.mark.parametrize(
    "params",
    [{"threshold": "tune"}, {"threshold": "per_query"}, RISK, {"threshold": None}],
    ids=lambda params: str(params["threshold"]),
)
def test_each_segment_is_as_if_alone(data, params):
    X, y, groups = data
    model = SegmentedFilter(RankAndFilter("passthrough", k=3, **params), segment="language")
    model.fit(X, y, groups=groups)
    assert list(model.filters_) == ["en", "fr"]
    for name in ("en", "fr"):
        rows = (X["language"] == name).to_numpy()
        alone = RankAndFilter("passthrough", k=3, **params)
        alone.fit(X["score"][rows], y[rows], groups=groups[rows])
        for method in ("predict", "rank", "decision_function"):
            expected = getattr(alone, method)(X["score"][rows], groups=groups[rows])
            found = getattr(model, method)(X, groups=groups)[rows]
            np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_it_earns_its_keep_where_scores_mean_other_things():
    _, y, groups, scores = make_rank_and_filter(600, random_state=0)
    language = np.where(groups % 3 == 0, "fr", "en")
    X = pd.DataFrame({"score": scores - 3.0 * (language == "fr"), "language": language})
    y = pd.Series(y, index=pd.Index(groups, name="qid"))
    model = SegmentedFilter(RankAndFilter("passthrough", k=3))
    search = GridSearchCV(
        model, {"segment": [None, "language"], "estimator__measure": ["ndcg_f"]}, cv=GroupKFold(3)
    ).fit(X.set_axis(y.index), y, groups=groups)
    assert search.best_params_["segment"] == "language"
    one, several = search.cv_results_["mean_test_score"]
    assert several > one + 0.01


@pytest.mark.slow
def test_text_is_left_out_without_segments(data):
    X, y, groups = data
    model = SegmentedFilter(RankAndFilter(Ridge(), k=3))
    alone = model.fit(X[["score"]], y, groups=groups).predict(X[["score"]])
    text = X.assign(language=X["language"].astype(str))
    np.testing.assert_array_equal(model.fit(text, y, groups=groups).predict(text), alone)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["index level", "series", "polars"])
def test_where_the_segment_stands(data, form):
    X, y, groups = data
    model = SegmentedFilter(RankAndFilter("passthrough", k=3), segment="language")
    expected = model.fit(X, y, groups=groups).predict(X, groups=groups)
    if form == "polars":
        other = pl.from_pandas(X)
    else:
        other = X.set_index("language")
        other = other["score"] if form == "series" else other
    found = clone(model).fit(other, y, groups=groups).predict(other, groups=groups)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.slow
def test_a_shared_model_has_a_threshold_for_each():
    X, y, groups, _ = make_rank_and_filter(400, random_state=1)
    table = pd.DataFrame(X).rename(columns=str).assign(language=np.where(groups % 2, "a", "b"))
    train = groups < 100
    ranker = LogisticRegression().fit(table[train].drop(columns="language"), y[train] > 0)
    model = SegmentedFilter(
        RankAndFilter(FrozenEstimator(ranker), k=3, cv="prefit"), segment="language"
    ).fit(table[~train], y[~train], groups=groups[~train])
    raw = ranker.predict_proba(table.drop(columns="language"))[:, 1]
    shown = model.predict(table, groups=groups)
    assert np.ptp([each.threshold_ for each in model.filters_.values()]) > 0
    for name, each in model.filters_.items():
        rows = (table["language"] == name).to_numpy()
        np.testing.assert_allclose(
            shown[rows], np.where(raw >= each.threshold_, raw, -np.inf)[rows], rtol=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize("params", [{}, {"threshold": "per_query"}, RISK])
def test_saved_and_read(data, params, tmp_path):
    X, y, groups = data
    model = SegmentedFilter(RankAndFilter("passthrough", k=3, **params), segment="language")
    model.fit(X, y, groups=groups)
    said = model.predict(X, groups=groups)
    write_filter(tmp_path / "filter.json", model)
    read = read_filter(tmp_path / "filter.json")
    assert isinstance(read, SegmentedFilter)
    np.testing.assert_array_equal(read.predict(X, groups=groups), said)
    if params == RISK:
        for name, each in model.filters_.items():
            found = read.filters_[name].risk_certificate_.to_frame()
            pd.testing.assert_frame_equal(found, each.risk_certificate_.to_frame())
    assert read.score(X, y, groups=groups) == model.score(X, y, groups=groups)
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(loaded.predict(X, groups=groups), said)
    clone(read).fit(X, y, groups=groups)


@pytest.mark.slow
def test_certificates_and_slices_agree(data):
    X, y, groups = data
    model = SegmentedFilter(RankAndFilter("passthrough", k=3, **RISK), segment="language")
    shown = model.fit(X, y, groups=groups).predict(X, groups=groups)
    names = pd.Series(X["language"].to_numpy(), index=groups)
    rates = evaluate(y, shown, "any_forbidden@3", groups=groups)["any_forbidden@3"]
    slices = compare_slices([rates.to_numpy()], dict(zip(range(len(rates)), names.groupby(
        level=0).first()))).to_frame().set_index("slice")  # fmt: skip
    for name, each in model.filters_.items():
        promise = each.risk_certificate_.promises["any_forbidden"]
        assert promise.observed == pytest.approx(slices.loc[name, "value"])
        rows = (X["language"] == name).to_numpy()
        again = risk_certificate(
            y[rows], shown[rows], -np.inf, groups=groups[rows], risk="any_forbidden", k=3
        )
        assert again.promises["any_forbidden"].observed == pytest.approx(promise.observed)


def test_without_queries_rows_are_counted(data):
    X, y, _ = data
    model = SegmentedFilter(RankAndFilter("passthrough"), segment="language")
    with pytest.warns(UserWarning, match="fitted without query ids"):
        model.fit(X, y)
    assert model.predict(X).shape == y.shape


def test_one_query_is_served(data):
    X, y, groups = data
    model = SegmentedFilter(RankAndFilter("passthrough", k=3), segment="language")
    model.fit(X, y, groups=groups)
    rows = np.flatnonzero(groups == 3)
    np.testing.assert_array_equal(
        model.rank(X.iloc[rows], groups=groups[rows]), model.rank(X, groups=groups)[rows]
    )


def test_a_parameter_set_later_waits(data):
    X, y, groups = data
    model = SegmentedFilter(RankAndFilter("passthrough", k=3), segment="language")
    said = model.fit(X, y, groups=groups).predict(X)
    np.testing.assert_array_equal(model.set_params(segment=None).predict(X), said)


def fit(X, y, groups, **params):
    params = {"segment": "language"} | params
    return SegmentedFilter(RankAndFilter("passthrough", k=3), **params).fit(X, y, groups=groups)


def test_bad_segments(data):
    X, y, groups = data
    with pytest.raises(InputError, match="X has no column or index level of this name"):
        fit(X, y, groups, segment="source")
    with pytest.raises(InputError, match="X has both a column and an index level"):
        fit(X.set_index("language", drop=False), y, groups)
    with pytest.raises(InputError, match="'fr' has 100 judged queries"):
        fit(X, y, groups, min_queries=101)
    few = y.astype(float)
    few[(X["language"] == "fr").to_numpy() & (groups > 12)] = np.nan
    with pytest.raises(InputError, match=r"min_queries=10: 'fr' has 5 judged queries\."):
        fit(X, few, groups)
    with pytest.raises(InputError, match="query 7 has rows in several segments of 'language'"):
        fit(X.assign(language=X["language"].where(np.arange(len(X)) != (groups == 7).argmax(),
            "fr")), y, groups)  # fmt: skip
    missing = X.assign(language=X["language"].where(np.arange(len(X)) != 5))
    with pytest.raises(InputError, match="no segment in 'language' at row 5"):
        fit(missing, y, groups)
    with pytest.raises(InputError, match="min_queries must be a whole number from 1 up"):
        fit(X, y, groups, min_queries=0)
    with pytest.raises(InputError, match="y has 3 labels"):
        fit(X, y[:3], groups)
    model = fit(X, y, groups)
    with pytest.raises(InputError, match=r"not seen: 'it'\. Known are 'en', 'fr': fit"):
        model.predict(X.replace({"language": {"fr": "it"}}))


def test_a_promise_with_too_few_queries_names_the_segment(data):
    X, y, groups = data
    rows = (X["language"] == "en").to_numpy() | (groups < 36)
    model = SegmentedFilter(RankAndFilter("passthrough", k=3, **RISK | {"max_risk": 0.1}))
    model.set_params(segment="language")
    with pytest.raises(InputError, match=r"segment 'fr': risk='any_forbidden' .* got 12"):
        model.fit(X[rows], y[rows], groups=groups[rows])


def test_names_that_no_file_holds(data, tmp_path):
    X, y, groups = data
    model = fit(X.assign(language=X["language"].map({"en": (1, 2), "fr": (3, 4)})), y, groups)
    with pytest.raises(InputError, match="which JSON cannot hold"):
        write_filter(tmp_path / "filter.json", model)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("model", [Ridge(), LogisticRegression(), make_pipeline(Ridge())])
def test_models_that_know_no_queries(data, model):
    X, y, groups = data
    y = (np.asarray(y) > 0).astype(int)
    fitted = SegmentedFilter(model, segment="language").fit(X, y, groups=groups)
    alone = SegmentedFilter(QueryRanker(model), segment="language").fit(X, y, groups=groups)
    scores = fitted.predict(X, groups=groups)
    np.testing.assert_array_equal(scores, alone.predict(X, groups=groups))
    np.testing.assert_array_equal(scores, fitted.predict(X))

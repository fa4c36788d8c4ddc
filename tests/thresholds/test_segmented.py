"""A threshold of its own for each segment: as if each were fitted alone, in any form of table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.io import load_model, save_model
from skfilterrank.metrics import evaluate
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    FirstK,
    FixedThreshold,
    SegmentedThreshold,
    TunedThreshold,
    load_threshold,
    risk_certificate,
)

SAFE = CertifiedThreshold({"any_forbidden@3": 0.2}, confidence_level=0.9, measure="ndcg_f@3")
TUNED = TunedThreshold("ndcg_f@3")


@pytest.fixture(scope="module")
def data():
    """Scores that mean another thing in French; labels, queries and languages in mixed order."""
    _, y, groups, scores = make_rank_and_filter(300, random_state=0)
    language = np.where(groups % 3 == 0, "fr", "en")
    scores = np.where(language == "fr", scores - 3.0, scores)
    order = np.random.default_rng(0).permutation(len(y))
    table = pd.DataFrame({"score": scores, "language": language})
    return table.iloc[order].reset_index(drop=True), y[order], groups[order]


def fit(table, y, groups, threshold=TUNED, **parameters):
    parameters = {"segment": "language"} | parameters
    return SegmentedThreshold(threshold, **parameters).fit(table, y, groups=groups)


@pytest.mark.parametrize(
    "threshold", [TUNED, FirstK("dcg", max_shown=4), SAFE, FixedThreshold()], ids=repr
)
def test_each_segment_is_as_if_alone(data, threshold):
    table, y, groups = data
    model = fit(*data, threshold)
    assert list(model.thresholds_) == ["en", "fr"]
    for name in ("en", "fr"):
        rows = (table["language"] == name).to_numpy()
        scores = table["score"][rows]
        alone = clone(threshold).fit(scores, y[rows], groups=groups[rows])
        for method in ("predict", "rank", "decision_function"):
            expected = getattr(alone, method)(scores, groups=groups[rows])
            found = getattr(model, method)(table, groups=groups)[rows]
            np.testing.assert_array_equal(found, expected)


def test_parameters_of_rows_are_cut(data):
    table, y, groups = data
    weight = {query: 1.0 + query % 2 for query in np.unique(groups)}
    by_row = np.array([weight[query] for query in groups])
    model = SegmentedThreshold(TUNED, segment="language")
    expected = model.fit(table, y, groups, query_weight=weight, clusters=groups // 6)
    levels = [each.threshold_ for each in expected.thresholds_.values()]
    found = clone(model).fit(table, y, groups, query_weight=by_row)
    assert [each.threshold_ for each in found.thresholds_.values()] == levels
    rows = (table["language"] == "fr").to_numpy()
    own = clone(TUNED).fit(table["score"][rows], y[rows], groups[rows], query_weight=by_row[rows])
    assert own.threshold_ == levels[1]
    with pytest.raises(InputError, match="clusters has 3 entries but there are"):
        model.fit(table, y, groups, clusters=[1, 2, 3])


def test_it_pays_where_scores_mean_other_things():
    _, y, groups, scores = make_rank_and_filter(600, random_state=0)
    language = np.where(groups % 3 == 0, "fr", "en")
    table = pd.DataFrame({"score": scores - 3.0 * (language == "fr"), "language": language})
    y = pd.Series(y, index=pd.Index(groups, name="qid"))
    search = GridSearchCV(
        SegmentedThreshold(TUNED),
        {"segment": [None, "language"], "threshold__measure": ["ndcg_f@3"]},
        cv=GroupKFold(3),
    ).fit(table.set_axis(y.index), y, groups=groups)
    assert search.best_params_["segment"] == "language"
    one, several = search.cv_results_["mean_test_score"]
    assert several > one + 0.01


@pytest.mark.parametrize("form", ["index level", "series", "polars"])
def test_where_the_segment_stands(data, form):
    table, y, groups = data
    model = fit(*data)
    expected = model.predict(table, groups=groups)
    if form == "polars":
        other = pl.from_pandas(table)
    else:
        other = table.set_index("language")
        other = other["score"] if form == "series" else other
    found = clone(model).fit(other, y, groups=groups).predict(other, groups=groups)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("threshold", [TUNED, FirstK("dcg"), SAFE], ids=repr)
def test_saved_and_loaded(data, threshold, tmp_path):
    table, y, groups = data
    model = fit(*data, threshold)
    expected = model.predict(table, groups=groups)
    model.save(tmp_path / "threshold.json")
    loaded = load_threshold(tmp_path / "threshold.json")
    assert repr(loaded) == repr(model)
    np.testing.assert_array_equal(loaded.predict(table, groups=groups), expected)
    if threshold is SAFE:
        for name, each in model.thresholds_.items():
            found = loaded.thresholds_[name].certificate_.to_frame()
            pd.testing.assert_frame_equal(found, each.certificate_.to_frame())
    assert loaded.score(table, y, groups=groups) == model.score(table, y, groups=groups)
    save_model(model, tmp_path / "model.skops")
    by_skops = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(by_skops.predict(table, groups=groups), expected)
    clone(loaded).fit(table, y, groups=groups)


def test_certificates_are_of_the_segments(data):
    table, y, groups = data
    model = fit(*data, SAFE)
    shown = model.predict(table, groups=groups)
    for name, each in model.thresholds_.items():
        promise = each.certificate_.promises["any_forbidden@3"]
        rows = (table["language"] == name).to_numpy()
        rates = evaluate(y[rows], shown[rows], "any_forbidden@3", groups=groups[rows])
        assert rates["any_forbidden@3"].mean() == pytest.approx(promise.observed)
        again = risk_certificate(
            y[rows], shown[rows], -np.inf, groups=groups[rows], risks={"any_forbidden@3": 0.2}
        )
        assert again.promises["any_forbidden@3"].observed == pytest.approx(promise.observed)


def test_without_segments_it_is_the_threshold(data):
    table, y, groups = data
    alone = clone(TUNED).fit(table["score"], y, groups=groups)
    model = fit(*data, segment=None)
    assert list(model.thresholds_) == ["all"]
    np.testing.assert_array_equal(model.predict(table), alone.predict(table["score"]))


def test_without_queries_rows_are_counted(data):
    table, y, _ = data
    model = SegmentedThreshold(TunedThreshold(), segment="language")
    with pytest.warns(UserWarning, match="fitted without query ids"):
        model.fit(table, y)
    assert model.predict(table).shape == y.shape


def test_one_query_is_served(data):
    table, _, groups = data
    model = fit(*data)
    rows = np.flatnonzero(groups == 3)
    np.testing.assert_array_equal(
        model.rank(table.iloc[rows], groups=groups[rows]), model.rank(table, groups=groups)[rows]
    )
    assert model.rank(table[:0], groups=[]).dtype == np.int64


def test_a_parameter_set_later_waits(data):
    table = data[0]
    model = fit(*data)
    expected = model.predict(table)
    np.testing.assert_array_equal(model.set_params(segment=None).predict(table), expected)


def test_bad_segments(data):
    table, y, groups = data
    with pytest.raises(InputError, match="scores have no column or index level of this name"):
        fit(table, y, groups, segment="source")
    with pytest.raises(InputError, match="scores have both a column and an index level"):
        fit(table.set_index("language", drop=False), y, groups)
    with pytest.raises(InputError, match="'fr' has 100 judged queries"):
        fit(table, y, groups, min_queries=101)
    few = y.astype(float)
    few[(table["language"] == "fr").to_numpy() & (groups > 12)] = np.nan
    with pytest.raises(InputError, match=r"min_queries=10: 'fr' has 5 judged queries\."):
        fit(table, few, groups)
    first = np.arange(len(table)) == (groups == 7).argmax()
    with pytest.raises(InputError, match="query 7 has rows in several segments of 'language'"):
        fit(table.assign(language=table["language"].mask(first, "fr")), y, groups)
    missing = table.assign(language=table["language"].where(np.arange(len(table)) != 5))
    with pytest.raises(InputError, match="no segment in 'language' at row 5"):
        fit(missing, y, groups)
    with pytest.raises(InputError, match="min_queries must be a whole number from 1 up"):
        fit(table, y, groups, min_queries=0)
    with pytest.raises(InputError, match="y has 3 entries"):
        fit(table, y[:3], groups)
    with pytest.raises(InputError, match="threshold must be a threshold estimator"):
        fit(table, y, groups, "tune")
    model = fit(table, y, groups)
    with pytest.raises(InputError, match=r"not seen: 'it'\. Known are 'en', 'fr': fit"):
        model.predict(table.replace({"language": {"fr": "it"}}))


def test_a_certificate_with_too_few_queries_names_the_segment(data):
    table, y, groups = data
    rows = (table["language"] == "en").to_numpy() | (groups < 36)
    with pytest.raises(InputError, match=r"segment 'fr': .*'any_forbidden@3' .* got 12"):
        fit(table[rows], y[rows], groups[rows], clone(SAFE).set_params(
            risks={"any_forbidden@3": 0.1}))  # fmt: skip


def test_names_that_no_file_holds(data, tmp_path):
    table, y, groups = data
    table = table.assign(language=table["language"].map({"en": (1, 2), "fr": (3, 4)}))
    model = fit(table, y, groups)
    with pytest.raises(InputError, match="which JSON cannot hold"):
        model.save(tmp_path / "threshold.json")
    assert not list(tmp_path.iterdir())


def test_it_goes_into_no_ranker_and_must_be_fitted():
    X, y, groups, _ = make_rank_and_filter(30, random_state=0)
    model = RankAndFilter(LogisticRegression(), SegmentedThreshold(TUNED))
    with pytest.raises(InputError, match="needs scores in a table that names the segment"):
        model.fit(X, y, groups=groups)
    with pytest.raises(NotFittedError):
        SegmentedThreshold(TUNED).predict(pd.DataFrame({"score": [1.0], "segment": ["a"]}))


def test_one_warning_for_all_segments():
    _, y, groups, scores = make_rank_and_filter(120, random_state=0)
    # In three of four segments good documents have the low scores.
    scores = np.where(groups % 4 == 0, y, -y) + 1e-3 * scores
    table = pd.DataFrame({"score": scores, "segment": groups % 4})
    risk = CertifiedThreshold({"any_forbidden@3": 0.2}, confidence_level=0.8)
    with pytest.warns(FitWarning, match="hides every document") as caught:
        SegmentedThreshold(risk).fit(table, y, groups=groups)
    told = [text for each in caught if "hides every" in (text := str(each.message))]
    assert len(told) == 1
    assert told[0].endswith(" In 3 of 4 segments: 1, 2, 3; the figures are of the first.")
    kept = groups % 4 < 2
    with pytest.warns(FitWarning, match="hides every .* In 1 of 2 segments: 1.$"):
        SegmentedThreshold(risk).fit(table[kept], y[kept], groups=groups[kept])
    with pytest.warns(FitWarning) as caught:
        SegmentedThreshold(risk, segment=None).fit(-y, y, groups=groups)
    assert not any("segments" in str(each.message) for each in caught)


@pytest.mark.parametrize("name", ["filter_scores", "clusters", "judged_by", "times"])
def test_rows_in_another_order(name):
    """Rows of a segment alone would not show it."""
    numbers = np.arange(20)
    scores = pd.DataFrame({"score": np.arange(20.0), "segment": ["a", "b"] * 10})
    given = {"filter_scores": numbers, "clusters": numbers, "times": numbers}
    given |= {"judged_by": np.full(20, "people")}
    model = SegmentedThreshold(CertifiedThreshold({"any_forbidden": 0.5}))
    with pytest.raises(InputError, match=f"^{name} and scores have the same index in another ord"):
        model.fit(scores, np.ones(20), groups=numbers, **{name: pd.Series(given[name])[::-1]})

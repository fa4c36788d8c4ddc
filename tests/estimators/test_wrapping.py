"""Estimators around others: which columns they take, and what they pass on."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank.exceptions import InputError
from skfilterrank.ranking import QueryRanker, RankAndFilter

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 5.0]])
TABLE = pd.DataFrame(X, columns=["a", "b"])
NUMBERED = pd.DataFrame(X, columns=[7, 8])
Y = [0, 1, 0, 1]


def test_what_the_estimator_inside_knows():
    ranker = QueryRanker(make_pipeline(StandardScaler(), Ridge(alpha=0.5))).fit(TABLE, Y)
    assert ranker.n_features_in_ == 2
    assert ranker.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(ranker.coef_, ranker.estimator_[-1].coef_)
    assert not hasattr(ranker, "feature_importances_")


def test_importances_of_the_last_step():
    forest = RandomForestRegressor(2, random_state=0)
    ranker = QueryRanker(make_pipeline(StandardScaler(), forest)).fit(X, Y)
    expected = ranker.estimator_[-1].feature_importances_
    np.testing.assert_array_equal(ranker.feature_importances_, expected)
    assert not hasattr(ranker, "coef_")


def test_nothing_is_known_before_fit():
    for name in ("coef_", "feature_importances_", "n_features_in_", "feature_names_in_"):
        assert not hasattr(QueryRanker(Ridge()), name)
    with pytest.raises(AttributeError, match="QueryRanker is not fitted: no fitted estimator has"):
        QueryRanker(Ridge()).coef_  # noqa: B018
    with pytest.raises(NotFittedError):
        QueryRanker(Ridge()).predict(X)


@pytest.mark.parametrize(
    ("fitted", "given", "message"),
    [
        (TABLE, TABLE[["b", "a"]], "feature names should match"),
        (TABLE, TABLE.rename(columns={"b": "c"}), "feature names should match"),
        (NUMBERED, NUMBERED[[8, 7]], r"columns of fit, in their order, which are \[7, 8\]; got"),
        (X, X[:, :1], "X has 1 features, but QueryRanker is expecting 2 features"),
        (X, X[:, 0], "X must be 2-D, one row for each document"),
        (X, np.array(["2020-01-01"] * 4, dtype="M8[D]")[:, None], "dates or durations"),
    ],
)
def test_other_columns_than_fit_was_given(fitted, given, message):
    ranker = QueryRanker(Ridge()).fit(fitted, Y)
    with pytest.raises(ValueError, match=message):
        ranker.predict(given)
    # What looks at its columns by name takes them in any order, and others beside.
    assert ranker.predict(fitted).shape == (4,)


def test_a_transformer_that_chooses_columns_looks_itself():
    dated = TABLE.assign(day=pd.Timestamp("2020-01-01"))
    chooser = make_pipeline(make_column_transformer(("passthrough", ["b", "a"])), Ridge())
    ranker = QueryRanker(chooser).fit(dated, Y)
    expected = ranker.predict(dated)
    np.testing.assert_array_equal(ranker.predict(dated[["day", "b", "a"]]), expected)
    with pytest.raises(InputError, match="X has 1 column of dates or durations, such as 'day'"):
        QueryRanker(Ridge()).fit(dated, Y)


def test_texts_are_no_columns():
    texts = ["good", "bad words", "good words", "bad"]
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    ranker = QueryRanker(model).fit(texts, Y)
    assert not hasattr(ranker, "n_features_in_")
    assert ranker.predict(texts[:1]).shape == (1,)


def test_a_second_fit_forgets_the_columns_of_the_first():
    ranker = QueryRanker(Ridge()).fit(TABLE, Y).fit(NUMBERED, Y)
    assert not hasattr(ranker, "feature_names_in_")
    ranker.fit(X[:, :1], Y)
    assert ranker.n_features_in_ == 1
    assert ranker.predict(X[:, :1]).shape == (4,)


def test_fit_parameters_are_routed_to_the_estimator_inside():
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight="weight")
        router = RankAndFilter(inner).get_metadata_routing()
        assert router.consumes("fit", ["weight", "groups", "other"]) == {"weight", "groups"}
        assert not router.consumes("fit", ["sample_weight"])

"""What holds the features is no matter, whatever the library inside takes."""

import functools
from itertools import product

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMRanker, LGBMRegressor
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.ranking import QueryRanker, RankAndFilter
from thinned import thinned

catboost = pytest.importorskip("catboost")
xgboost = pytest.importorskip("xgboost")
pa = pytest.importorskip("pyarrow")

X, y, groups, _ = make_rank_and_filter(40, n_features=4, n_informative=3, random_state=0)
TABLE = pd.DataFrame(X, columns=list("abcd"))
LGBM = {"n_estimators": 3, "verbose": -1, "n_jobs": 1}
CAT = {"iterations": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
MODELS = {
    "LGBMRanker": LGBMRanker(**LGBM),
    "LGBMRegressor": LGBMRegressor(**LGBM),
    "XGBRanker": xgboost.XGBRanker(n_estimators=3, n_jobs=1),
    "CatBoostRanker": catboost.CatBoostRanker(**CAT),
    "CatBoostRegressor": catboost.CatBoostRegressor(**CAT),
    "Pipeline": make_pipeline(MaxAbsScaler(), catboost.CatBoostRanker(**CAT)),
}
SPARSE = [sparse.csr_array, sparse.coo_array, sparse.csc_array, sparse.csc_matrix]


@functools.cache
def of_sparse_rows(name):
    """What each model predicts of sparse rows."""
    rows = sparse.csr_matrix(X)
    params = {"eval_set": [(rows, y)], "eval_groups": [groups]}
    return QueryRanker(MODELS[name]).fit(rows, y, groups=groups, **params).predict(rows)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), thinned(product(MODELS, SPARSE)))
def test_sparse_forms(name, form):
    params = {"eval_set": [(form(X), y)], "eval_groups": [groups]}
    ranker = QueryRanker(MODELS[name]).fit(form(X), y, groups=groups, **params)
    np.testing.assert_array_equal(ranker.predict(form(X)), of_sparse_rows(name))


@pytest.mark.slow
@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize("dtype", [">i4", ">f4", ">f8"])
@pytest.mark.parametrize("name", ["LGBMRanker", "XGBRanker", "CatBoostRanker"])
def test_byte_orders(name, dtype, form):
    whole, weights = np.round(10 * X), 1.0 + groups % 3
    usual, odd = form(whole.astype(dtype[1:])), form(whole.astype(dtype))
    params = {"eval_set": (odd, y), "eval_groups": groups, "sample_weight": weights.astype(dtype)}
    found = QueryRanker(MODELS[name]).fit(odd, y, groups=groups, **params)
    params |= {"eval_set": (usual, y), "sample_weight": weights}
    expected = QueryRanker(MODELS[name]).fit(usual, y, groups=groups, **params)
    np.testing.assert_array_equal(found.predict(usual), expected.predict(usual))
    np.testing.assert_array_equal(found.predict(odd), expected.predict(usual))


FORMS = {
    "pyarrow table": lambda: pa.Table.from_pandas(TABLE),
    "Arrow types": lambda: TABLE.astype("float64[pyarrow]"),
    "nullable types": TABLE.convert_dtypes,
}


@functools.cache
def of_table(around, name):
    """What each model predicts of a DataFrame of float64."""
    return around(clone(MODELS[name])).fit(TABLE, y, groups=groups).predict(TABLE)


def filtering(ranker):
    return RankAndFilter(ranker, cv=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("around", "name", "kind"),
    [
        *thinned(
            (
                (QueryRanker, name, kind)
                for name in MODELS
                for kind in FORMS
                # scikit-learn's own scalers take no tables of pyarrow.
                if (name, kind) != ("Pipeline", "pyarrow table")
            ),
            turn=1,
            parts=2,
        ),
        (filtering, "LGBMRanker", "pyarrow table"),
        (filtering, "XGBRanker", "Arrow types"),
        (filtering, "CatBoostRegressor", "nullable types"),
    ],
)
def test_tables(around, name, kind):
    table = FORMS[kind]()
    found = around(clone(MODELS[name])).fit(table, y, groups=groups).predict(table)
    np.testing.assert_allclose(found, of_table(around, name))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64[pyarrow]", "int64[pyarrow]"])
def test_missing_numbers_of_arrow(dtype):
    table = TABLE.assign(a=TABLE["a"].round()).astype({"a": dtype})
    table.loc[::5, "a"] = None
    expected = QueryRanker(LGBMRanker(**LGBM)).fit(table.astype("float64"), y, groups=groups)
    found = QueryRanker(LGBMRanker(**LGBM)).fit(table, y, groups=groups)
    np.testing.assert_array_equal(found.predict(table), expected.predict(table.astype("float64")))


def categories_of(library):
    values = ["a", "b"] * (len(y) // 2) + ["a"] * (len(y) % 2)
    if library == "pyarrow":
        return pa.Table.from_pandas(TABLE.assign(kind=pd.Categorical(values)))
    pl = pytest.importorskip("polars")
    columns = {name: TABLE[name].to_numpy() for name in TABLE}
    return pl.DataFrame(columns | {"kind": pl.Series(values, dtype=pl.Categorical)})


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize("around", [QueryRanker, RankAndFilter])
def test_categories_at_which_lightgbm_ends_the_process(around, library):
    with pytest.raises(
        InputError, match=f"takes no categories of {library}, such as column 'kind'"
    ):
        around(LGBMRanker(**LGBM)).fit(categories_of(library), y, groups=groups)


def test_catboost_reads_categories_of_polars_as_those_of_pandas():
    table, frame = categories_of("pyarrow").to_pandas(), categories_of("polars")
    ranker = QueryRanker(catboost.CatBoostRanker(**CAT, cat_features=("kind",)))
    expected = ranker.fit(table, y, groups=groups).predict(table)
    np.testing.assert_array_equal(ranker.fit(frame, y, groups=groups).predict(frame), expected)


@pytest.mark.slow
@pytest.mark.parametrize("around", [QueryRanker, RankAndFilter])
@pytest.mark.parametrize("name", sorted(MODELS.keys() - {"Pipeline"}))
def test_columns_of_text_are_named(around, name):
    table = TABLE.assign(words="some text")
    message = f"1 column that {name} does not support, such as 'words'"
    with pytest.raises(ValueError, match=message):
        around(MODELS[name]).fit(table, y, groups=groups)
    if name.startswith("CatBoost"):
        return  # which predicts of such columns
    fitted = around(MODELS[name]).fit(table.assign(words=1.0), y, groups=groups)
    with pytest.raises(ValueError, match=message):
        fitted.predict(table, groups=groups)


@pytest.mark.parametrize(
    ("ranker", "reason"),
    [
        (xgboost.XGBRanker(n_estimators=1, objective="rank:map"), r" binary labels\.$"),
        (catboost.CatBoostRanker(**CAT, depth=50), "depth"),
    ],
)
def test_errors_of_libraries_are_a_sentence(ranker, reason):
    name = type(ranker).__name__
    with pytest.raises(InputError, match=rf"{name} cannot learn from this: .*{reason}"):
        QueryRanker(ranker).fit(X, y, groups=groups)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("around", [QueryRanker, RankAndFilter])
def test_bad_weights(around, bad):
    weight, labels = np.ones(len(y)), y.astype(float)
    weight[3] = bad
    with pytest.raises(ValueError, match=rf"from 0 up, got {bad:g} for 1 judged row\."):
        around(Ridge()).fit(X, labels, groups=groups, sample_weight=weight)


def test_weights_of_unjudged_rows_are_not_looked_at():
    weight, labels = np.ones(len(y)), y.astype(float)
    weight[3] = labels[3] = np.nan
    with pytest.warns(UserWarning, match="1 of .* unjudged"):
        QueryRanker(Ridge()).fit(X, labels, groups=groups, sample_weight=weight)

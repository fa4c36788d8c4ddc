"""Tables of judgments: kinds, who gave a label, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

from judgment_tables import NAN
from selections import mask
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.io import read_qrels, write_qrels
from skfilterrank.judgments import LabelPredictor
from skfilterrank.judgments._label_table import key_columns, refuse_repeated

FRAME = pd.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": [0.0, 2.0]})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_labels_of_machines_are_not_learned_from(T, kind):
    completed = LabelPredictor().fit_transform(T)
    T = T.assign(label=T["label"].where(T["qid"] == "heat"))
    marked = completed.assign(
        label=np.where(T["label"].notna() | completed["imputed"], completed["label"], NAN),
        judged_by=np.where(completed["imputed"], "large", "people"),
    ).drop(columns="imputed")
    expected = LabelPredictor(unjudged_query="pool").fit_transform(T)
    marked = pl.from_pandas(marked) if kind == "polars" else marked
    predictor = LabelPredictor(unjudged_query="pool")
    n_machine = int(completed["imputed"].sum())
    message = rf"X holds {n_machine} labels that machines gave \(column 'judged_by': large\)"
    with pytest.warns(DataWarning, match=message):
        found = predictor.set_output(transform="pandas").fit_transform(marked)
    assert found["label"].tolist() == expected["label"].tolist()
    assert found["judged_by"].tolist() == expected["judged_by"].tolist()
    assert list(found.columns) == [*T.columns, "judged_by", "imputed"]
    assert list(found.columns) == list(predictor.get_feature_names_out())


@pytest.mark.filterwarnings("ignore:no document is judged of 1 query")
def test_the_mark_survives_a_file(poor, tmp_path):
    poor["docno"] = [f"d{row}" for row in range(len(poor))]
    found = LabelPredictor(one_class="leave").fit_transform(poor)
    assert found["judged_by"][found["label"].isna()].isna().all()
    assert set(found["judged_by"].dropna()) == {"people", "predicted"}
    write_qrels(tmp_path / "qrels.txt", found, unjudged_label=-9)
    back = read_qrels(tmp_path / "qrels.txt", unjudged_label=-9, predicted="use")
    is_predicted = back["judged_by"] == "predicted"
    np.testing.assert_array_equal(is_predicted, found["imputed"])


@pytest.mark.slow
def test_polars(T):
    found = LabelPredictor().fit_transform(T)
    given = pl.DataFrame({name: T[name].tolist() for name in T.columns})
    assert given["label"].null_count() == 0
    nulls = given.with_columns(pl.col("label").fill_nan(None))
    for frame in (given, nulls, nulls.with_columns(pl.col("label").cast(pl.Int64))):
        polars = LabelPredictor().fit_transform(frame)
        assert isinstance(polars, pl.DataFrame)
        assert polars.columns == list(found.columns)
        assert polars["label"].to_list() == found["label"].tolist()
        assert polars["imputed"].to_list() == found["imputed"].tolist()
        assert polars["text"].to_list() == T["text"].tolist()


@pytest.mark.slow
def test_set_output(T):
    expected = LabelPredictor().fit_transform(T)
    predictor = LabelPredictor()
    assert predictor.set_output(transform="polars") is predictor
    polars = clone(predictor).fit_transform(T.set_index("qid"))
    assert isinstance(polars, pl.DataFrame)
    assert polars["label"].to_list() == expected["label"].tolist()
    assert polars["qid"].to_list() == T["qid"].tolist()
    back = (
        LabelPredictor()
        .set_output(transform="pandas")
        .fit_transform(polars.drop("imputed", "judged_by"))
    )
    pd.testing.assert_frame_equal(
        back[["text", "label"]], expected[["text", "label"]], check_dtype=False
    )
    with sklearn.config_context(transform_output="polars"):
        assert isinstance(LabelPredictor().fit_transform(T), pl.DataFrame)
    assert isinstance(predictor.set_output(transform="default").fit_transform(T), pd.DataFrame)
    with pytest.raises(ValueError, match="transform must be one of"):
        predictor.set_output(transform="numpy")
    # Nothing is left of a missing label in polars either.
    poor = pd.concat([T, pd.DataFrame({"qid": ["none"], "text": ["wing"]})])
    with pytest.warns(UserWarning, match="stay unjudged"):
        left = LabelPredictor().set_output(transform="polars").fit_transform(poor)
    assert left["label"].null_count() == 1


def test_queries_and_documents_in_the_index(T):
    expected = LabelPredictor().fit_transform(T)
    found = LabelPredictor(document="docno").fit_transform(T.set_index(["qid", "docno"]))
    assert found.index.names == ["qid", "docno"]
    assert found["label"].tolist() == expected["label"].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "Float64", "Int64", object])
def test_kinds_of_label_columns(T, dtype):
    found = LabelPredictor().fit_transform(T.assign(label=T["label"].astype(dtype)))
    assert found["label"].dtype == np.float64
    assert found["label"].tolist() == LabelPredictor().fit_transform(T)["label"].tolist()


@pytest.mark.slow
def test_minus_one_is_not_missing(T):
    coded = T.assign(label=T["label"].fillna(-1).astype(int))
    with pytest.raises(ValueError, match=r"integers, \d+ of them -1, and no NaN.*marked by NaN"):
        LabelPredictor().fit(coded)
    polars = pl.DataFrame({name: coded[name].tolist() for name in coded.columns})
    with pytest.raises(ValueError, match="unjudged rows are marked by NaN"):
        LabelPredictor().fit(polars)
    # Among floats, -1 is a judgment: forbidden. Without a NaN that may be a mistake.
    for kind in (float, object, "Float64"):
        floats = coded.assign(label=coded["label"].astype(float).astype(kind))
        message = r"column 'label' of X has no NaN.* \d+ of its 48 labels are -1.*forbidden.*NaN"
        with pytest.warns(UserWarning, match=message) as caught:
            predictor = LabelPredictor().fit(floats)
        assert caught[0].filename == __file__
        assert "silence this by warnings.filterwarnings" in str(caught[0].message)
        assert predictor.labels_.tolist() == [-1, 0, 1]
        assert predictor.n_imputed_ == 0
    # Beside a NaN it is none, nor in a table that is only transformed.
    predictor = LabelPredictor().fit(floats.assign(label=[NAN, *floats["label"][1:]]))
    assert -1 in predictor.labels_
    predictor.transform(floats)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda T: T.to_numpy(), "X must be a pandas or polars DataFrame"),
        (lambda T: T.iloc[:0], "X has no rows"),
        (lambda T: T.drop(columns="qid"), "X has no column 'qid'.*Name the right one by query="),
        (lambda T: T.drop(columns="text"), "X has no column 'text'.*by text="),
        (lambda T: T.drop(columns="label"), "X has no column 'label'.*by label="),
        (lambda T: T.assign(label=NAN), "no row is judged"),
        (lambda T: T.assign(label="good"), "must hold numbers, NaN where unjudged, got 'good'"),
        (lambda T: T.assign(label=np.inf), "infinite label in row 0"),
        (lambda T: T.assign(text=1.5), "column 'text' of X must hold texts, got 1.5"),
        (lambda T: T.assign(imputed=False), "X has a column 'imputed' already"),
        (
            lambda T: T.assign(qid=[None, *T["qid"][1:]]),
            "X, column 'qid', has 1 missing .*, the first at row 0",
        ),
        (
            lambda T: pd.concat([T, T.iloc[[3]]]),
            r"document '\w+' twice in query '\w+', again in row 48",
        ),
        (lambda T: pd.concat([T, T["text"]], axis=1), "X has several columns 'text'"),
    ],
)
def test_bad_tables(T, change, message):
    with pytest.raises((ValueError, TypeError), match=message):
        LabelPredictor().fit(change(T))


def test_document_ids_need_not_be_there(T):
    expected = LabelPredictor().fit_transform(T)["label"]
    bare = T.drop(columns="docno")
    assert LabelPredictor().fit_transform(bare)["label"].equals(expected)
    with pytest.raises(ValueError, match=r"X has no column 'docid'.*by document="):
        LabelPredictor(document="docid").fit(T)
    twice = pd.concat([T, T.iloc[[3]]])
    LabelPredictor(document=None).fit(twice)
    with pytest.raises(ValueError, match=r"holds document '\w+' twice in query"):
        LabelPredictor().fit(twice.set_index("docno"))
    LabelPredictor().fit(T.assign(docno=None))  # no id is no document twice


def test_a_document_counts_once_however_many_queries_it_is_in(T):
    again = pd.concat([T, T.assign(qid=T["qid"] + "2"), T.assign(qid=T["qid"] + "3")])
    first, second = LabelPredictor().fit(T), LabelPredictor().fit(again)
    np.testing.assert_array_equal(first.vectorizer_.idf_, second.vectorizer_.idf_)


def test_empty_texts(T):
    T = T.copy()
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
        found = predictor.fit_transform(T)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert predictor.empty_texts_.tolist() == empty
    assert predictor.n_empty_texts_ == 4
    intercept = predictor.models_["heat"].classifiers[0].intercept_[0]
    assert (found["label"][unjudged[:3]] == (intercept > 0)).all()
    with pytest.raises(ValueError, match=r"give no terms to learn from.*all empty or stop words"):
        LabelPredictor(vectorizer=TfidfVectorizer(stop_words=["the"])).fit(T.assign(text="the"))


def test_features_are_selected_by_in_any_unit(T):
    rng = np.random.RandomState(0)
    T = T.assign(f0=rng.rand(len(T)), f1=rng.rand(len(T)))
    predictor = LabelPredictor(text=None, features=["f0", "f1"])
    expected = mask(predictor, T, 5)
    np.testing.assert_array_equal(mask(predictor, T.assign(f0=1 + 1000 * T["f0"]), 5), expected)


@pytest.mark.parametrize(
    "table",
    [
        FRAME,
        FRAME.set_index(["qid", "docno"]),
        FRAME.set_index("docno"),
        FRAME.set_index(["qid", "docno"])["label"],
    ],
)
def test_levels_are_columns(table):
    found = key_columns(table, "table", "label")
    assert found["docno"].tolist() == ["a", "b"]
    assert found["label"].tolist() == [0.0, 2.0]


def test_an_index_is_a_table_of_its_levels():
    found = key_columns(FRAME.set_index(["qid", "docno"]).index, "pool")
    pd.testing.assert_frame_equal(found, FRAME[["qid", "docno"]])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1], r"known must be a DataFrame or MultiIndex with 'qid', 'docno', 'label', got \[1\]"),
        (FRAME[["qid"]], "known must be .*'docno', 'label', got columns 'qid'"),
    ],
)
def test_other_tables(table, message):
    with pytest.raises(InputError, match=message):
        key_columns(table, "known", "label")


def test_the_first_repeated_pair_is_named():
    refuse_repeated([1, 1, 2], ["a", "b", "a"], "X")
    # Documents without an id are different ones.
    refuse_repeated([1, 1], [None, np.nan], "X")
    with pytest.raises(InputError, match="X holds document 'b' twice in query 2, again in row 3"):
        refuse_repeated([1, 2, 2, 2, 1], ["a", "b", "a", "b", "a"], "X")

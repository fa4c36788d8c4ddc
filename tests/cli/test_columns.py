"""What each column of a table is for."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli._columns import Columns
from skfilterrank.cli._data import read_rows, settings_of


def options(**given):
    roles = ["text", "query_text", "same", "numeric", "categorical"]
    names = ["query", "label", "document", "input_format", *roles]
    return SimpleNamespace(**dict.fromkeys(names) | given)


@pytest.fixture
def read(folder):
    """Write a DataFrame to a file, and read it as the commands do."""

    def read(table, *, like=None, labelled=True, name="rows.csv", **given):
        if name.endswith(".parquet"):
            table.to_parquet(name, index=False)
        else:
            table.to_csv(name, index=False)
        return read_rows(name, options(**given), like=like, labelled=labelled)

    return read


def test_what_is_not_used_is_named(read, table):
    rows = read(table)
    assert rows.columns == Columns(numeric=["f0", "f1", "f2", "f3"])
    assert rows.unused == ("color",)
    assert list(rows.X.columns) == ["qid", "f0", "f1", "f2", "f3"]
    chosen = read(table, numeric=["f1"], categorical=["color"])
    assert chosen.unused == ("f0", "f2", "f3")
    assert chosen.columns == Columns(numeric=["f1"], categorical=["color"])


@pytest.mark.slow
def test_roles_of_text_columns(read, texts):
    rows = read(texts)
    assert rows.columns == Columns("answer", ["question"], [("author", "asker")], ["place"])
    assert rows.unused == ()
    chosen = read(texts, text=["question"], query_text=["asker"], same=[("author", "asker")])
    assert chosen.columns == Columns("question", ["asker"], [("author", "asker")], ["place"])
    assert chosen.unused == ("answer",)


@pytest.mark.slow
def test_a_column_named_query_text_is_the_text_of_the_query(read, texts):
    for queries in ("market", "where is " + texts["asker"], 2024, texts.index):
        rows = read(texts.drop(columns="question").assign(query_text=queries))
        assert rows.columns == Columns("answer", ["query_text"], [("author", "asker")], ["place"])
        assert rows.unused == ()


def test_a_query_column_with_gaps_is_still_the_querys(read, texts):
    texts = texts.copy()
    texts.loc[texts["qid"] == "q3", ["question", "asker"]] = None
    rows = read(texts)
    assert rows.columns == Columns("answer", ["question"], [("author", "asker")], ["place"])
    assert set(rows.X.loc[texts["qid"] == "q3", "question"]) == {""}


def test_a_test_file_is_read_like_the_training_file(read, texts):
    train = read(texts.rename(columns={"docno": "id"}), document="id", text=["question"])
    settings = settings_of(train, options(document="id"))
    moved = texts.rename(columns={"docno": "id"})[texts.columns[::-1].str.replace("docno", "id")]
    test = read(moved, like=settings)
    pd.testing.assert_frame_equal(test.X, train.X)
    assert test.docnos.tolist() == train.docnos.tolist()
    unlabelled = read(moved.drop(columns="label"), like=settings, labelled=False)
    pd.testing.assert_frame_equal(unlabelled.X, train.X)
    assert unlabelled.y is None


@pytest.mark.slow
def test_categories_are_learned_from(train, table):
    good = table["label"] != "Bad"
    told = table.assign(color=np.where(good, "red", "blue"))[["qid", "docno", "label", "color"]]
    told.to_csv("told.csv", index=False)
    code, _, err = train("--cv", "2", file="told.csv")
    assert code == 2
    assert "neither a text nor a numeric column" in err
    code, _, _ = train("--cv", "2", "--categorical", "color", "--out", "t.csv", file="told.csv")
    assert code == 0
    assert pd.read_csv("t.csv", index_col="system").loc["bce", "forbidden@3"] == 0

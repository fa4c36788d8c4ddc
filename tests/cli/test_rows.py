"""Judged rows from files, and the roles of their columns."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli._rows import read_rows


def roles(text=None, query_text=(), same=(), numeric=(), categorical=()):
    """Return roles of columns, those that are not named empty."""
    lists = {"query_text": query_text, "same": same, "numeric": numeric, "categorical": categorical}
    return {"text": text} | {role: list(names) for role, names in lists.items()}


@pytest.fixture
def read(folder):
    """Write a DataFrame to a file, and read it as the commands do."""

    def read(table, *, like=None, labelled=True, name="rows.csv", **given):
        if name.endswith(".parquet"):
            table.to_parquet(name, index=False)
        else:
            table.to_csv(name, index=False)
        return read_rows(name, given, like, labelled)

    return read


def test_ids_stay_as_they_are_written(read, table):
    rows = read(table)
    assert rows.docnos[:2].tolist() == ["0000", "0001"]
    assert rows.groups.tolist() == table["qid"].tolist()
    numbered = read(table.drop(columns="docno"))
    assert numbered.docnos[0] == f"{table['qid'][0]}-1"
    # A name that a column of documents may have, though it names the queries here.
    renamed = table.rename(columns={"qid": "Item", "docno": "product_id"})
    assert read(renamed, columns={"qid": "Item"}).docnos[:2].tolist() == ["0000", "0001"]


def test_texts_that_are_missing_are_empty(read, texts):
    texts = texts.copy()
    texts.loc[::5, "answer"] = None
    assert (read(texts).X["answer"][::5] == "").all()


def test_numbers_that_are_missing_are_nan(read, table):
    table = table.copy()
    table.loc[::5, "f1"] = np.nan
    table["f2"] = pd.array([None, *range(1, len(table))], dtype="Int64")
    table["f3"] = table["f0"] > 0
    for name in ("rows.csv", "rows.parquet"):
        X = read(table, name=name).X
        assert X[["f0", "f1", "f2", "f3"]].dtypes.eq(np.float64).all()
        assert X["f1"].isna().sum() == len(table.loc[::5])
        assert X["f2"].isna().tolist() == [True] + [False] * (len(table) - 1)
        assert set(X["f3"]) == {0.0, 1.0}


def test_rows_that_nobody_judged_are_counted(read, table):
    table = table.copy()
    table.loc[:6, "label"] = None
    assert str(read(table)).endswith(", unjudged: 7")


def test_long_lists_of_labels_are_cut(read, table):
    text = str(read(table.assign(label=np.arange(len(table)) / 2)))
    assert text.count(": ") == 10
    assert text.endswith(f"{len(table) - 10} others")


def test_another_query_column(read, table):
    renamed = table.rename(columns={"qid": "topic"}).assign(qid=range(len(table)))
    rows = read(renamed, columns={"qid": "topic"})
    assert rows.groups.tolist() == table["qid"].tolist()
    assert rows.X["qid"].tolist() == table["qid"].tolist()
    assert "qid" in rows.unused


def test_letor_of_another_width(folder):
    (folder / "a.txt").write_text("1 qid:1 1:0.5 3:1 # docid = x\n-1 qid:1 2:1\n")
    (folder / "b.txt").write_text("1 qid:7 1:0.5\n")
    train = read_rows("a.txt", {})
    assert train.docnos.tolist() == ["x", "1-2"]
    test = read_rows("b.txt", {}, train.settings)
    assert test.X.shape == (1, 3)
    assert type(test.X) is type(train.X)
    # Features from 0, of which the first does not occur in the test file.
    (folder / "c.txt").write_text("1 qid:1 0:0.5 1:1\n-1 qid:1 0:1\n")
    test = read_rows("b.txt", {}, read_rows("c.txt", {}).settings)
    assert test.X.tolist() == [[0.0, 0.5]]


def write(folder, name, text):
    (folder / name).write_text(text)
    return name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "given", "message"),
    [
        ("a.csv", "qid,label,x\n1,1,2\n", {"text": ["y"]}, "no column 'y' to learn from; its "
         "columns are 'x'"),
        ("a.csv", "qid,label,x\n1,1,red\n", {}, "neither a text nor a numeric column to learn"),
        ("a.csv", "qid,label,x\n1,1,red\n", {"numeric": ["x"]}, "'x' must hold numbers"),
        ("a.csv", "qid,label,x\n1,1,inf\n", {}, "'x' holds infinite values"),
        ("a.csv", "qid,label,x\n1,1,2\n", {"query_text": ["x"]}, "--query-text says what belongs "
         "to a text, but no column is the text"),
        ("a.csv", "qid\tlabel\n1\t1\n", {}, r"separated by '\\t', but CSV uses ','"),
        ("a.tsv", "qid,label\n1,1\n", {}, r"a.tsv:1: .*separated by ',', but TSV uses '\\t'"),
        ("a.txt", "qid,label,x\n1,1,2\n", {}, "a.txt:1: .*label"),
        ("a.txt", "1 qid:1 1:0.5 2:x\n", {}, "a.txt:1: .*'2:x'"),
        ("a.txt", "1 qid:1 1:0.5 # docid = d\n1 qid:1 1:1 # docid = d\n", {}, "'d' occurs a"),
        ("a.txt", "1 qid:1 1:0.5\n", {"text": ["x"]}, "--text names a column, but a.txt is read"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_used(folder, name, text, given, message):
    write(folder, name, text)
    with pytest.raises(ValueError, match=message):
        read_rows(name, given)


def test_a_misread_file_has_a_hint(run, folder):
    write(folder, "a.txt", "qid,label,x\n1,1,2\n")
    code, _, err = run("rank-filter", "a.txt")
    assert code == 2
    assert err.endswith("(LETOR text was expected from the end of the file's name.)\n")


def test_test_files_of_another_kind_or_with_other_columns(train, folder, table):
    table.rename(columns={"f2": "g2"}).to_csv("other.csv", index=False)
    write(folder, "a.txt", "1 qid:1 1:0.5\n")
    for name, message in (
        ("other.csv", "has no column 'f2' to learn from; its columns are 'f0', 'f1', 'g2'"),
        ("a.txt", "is read as LETOR text, but the model learns from a table"),
    ):
        code, out, err = train("--test-data", name)
        assert (code, out, f"{name} {message}" in err) == (2, "", True), err


def test_labels_without_gains(run, folder):
    code, _, err = run("rank-filter", "train.csv")
    assert code == 2
    assert "the labels of train.csv are not numbers. Give the gain of each" in err
    assert "--gains " in err
    assert "Bad=GAIN" in err


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:queries without a judged")
def test_unjudged_rows_warn_once_by_being_counted(train, table):
    table = table.copy()
    table.loc[::9, "label"] = None
    table.to_csv("gaps.csv", index=False)
    code, _, err = train("--cv", "2", file="gaps.csv")
    assert code == 0
    assert f"unjudged: {len(table.loc[::9])}\n" in err
    assert "warning" not in err


def test_nothing_judged_at_all(train, table):
    table.assign(label=None).to_csv("none.csv", index=False)
    code, _, err = train("--cv", "2", file="none.csv")
    assert code == 2
    assert "no judged row" in err


def test_what_is_not_used_is_named(read, table):
    rows = read(table)
    assert rows.columns == roles(numeric=["f0", "f1", "f2", "f3"])
    assert rows.unused == ("color",)
    assert list(rows.X.columns) == ["qid", "f0", "f1", "f2", "f3"]
    chosen = read(table, numeric=["f1"], categorical=["color"])
    assert chosen.unused == ("f0", "f2", "f3")
    assert chosen.columns == roles(numeric=["f1"], categorical=["color"])


@pytest.mark.slow
def test_roles_of_text_columns(read, texts):
    rows = read(texts)
    assert rows.columns == roles("answer", ["question"], [["author", "asker"]], ["place"])
    assert rows.unused == ()
    chosen = read(texts, text=["question"], query_text=["asker"], same=[("author", "asker")])
    assert chosen.columns == roles("question", ["asker"], [["author", "asker"]], ["place"])
    assert chosen.unused == ("answer",)


@pytest.mark.slow
def test_a_column_named_query_text_is_the_text_of_the_query(read, texts):
    for queries in ("market", "where is " + texts["asker"], 2024, texts.index):
        rows = read(texts.drop(columns="question").assign(query_text=queries))
        assert rows.columns == roles("answer", ["query_text"], [["author", "asker"]], ["place"])
        assert rows.unused == ()


def test_a_query_column_with_gaps_is_still_the_querys(read, texts):
    texts = texts.copy()
    texts.loc[texts["qid"] == "q3", ["question", "asker"]] = None
    rows = read(texts)
    assert rows.columns == roles("answer", ["question"], [["author", "asker"]], ["place"])
    assert set(rows.X.loc[texts["qid"] == "q3", "question"]) == {""}


def test_a_test_file_is_read_like_the_training_file(read, texts):
    train = read(texts.rename(columns={"docno": "id"}), document="id", text=["question"])
    moved = texts.rename(columns={"docno": "id"})[texts.columns[::-1].str.replace("docno", "id")]
    test = read(moved, like=train.settings)
    pd.testing.assert_frame_equal(test.X, train.X)
    assert test.docnos.tolist() == train.docnos.tolist()
    unlabelled = read(moved.drop(columns="label"), like=train.settings, labelled=False)
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


def test_new_rows_have_no_query_of_a_doubtful_name_if_the_training_rows_had_none(folder):
    write(folder, "a.csv", "qid,answer,label,x\n1,a,1,2\n1,b,0,3\n")
    write(folder, "b.csv", "user,answer,x\n1,a,2\n1,b,3\n")
    train = read_rows("a.csv", {"columns": {"docno": "answer"}})
    with pytest.raises(ValueError, match=r"b.csv has no column 'qid'; its columns are 'user', 'an"):
        read_rows("b.csv", {}, train.settings, labelled=False)

import csv
import io
import itertools
import json
import sys

import numpy as np
import pandas as pd
import pytest

from skfilterrank._files import files as packings
from skfilterrank._files.tables import records_of
from skfilterrank.exceptions import FileFormatError, InputError
from skfilterrank.io import read_judged_table, read_qrels, read_run


def read(text, format="csv", **params):
    file = io.BytesIO(text.encode())
    file.name = f"t.{format}"
    return read_judged_table(file, **params)


CSV = """\
qid,docno,label,score,text
001,a,2,0.5,"some, words"
001,b,,nan,None
q2,a,-1,1e-3,"two
lines"
"""


def test_csv_text():
    table = read(CSV, columns={"docno": "docno"})
    assert table.index.names == ["qid", "docno"]
    assert table.index.tolist() == [("001", "a"), ("001", "b"), ("q2", "a")]
    assert table.columns.tolist() == ["label", "score", "text"]
    assert table["label"].tolist()[::2] == [2, -1]
    assert np.isnan(table["label"].iloc[1])
    assert table["score"].dtype == np.float64  # "nan" among numbers
    assert table["text"].tolist() == ["some, words", "None", "two\nlines"]


def test_ids_are_strings_even_where_all_are_integers():
    for text in ("qid,docno,label\n1,7,0\n01,7,1\n", "qid,docno,label\r\n1,7,0\r\n01,7,1\r\n"):
        table = read(text, columns={"docno": "docno"})
        assert table.index.tolist() == [("1", "7"), ("01", "7")]
    table = read('{"qid": 1, "label": 0}\n{"qid": "01", "label": 1}\n', "jsonl")
    assert table.index.tolist() == ["1", "01"]


def test_parquet_ids_and_index(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"q": np.array([3, 4]), "d": [5.0, 6.0], "label": ["Good", None]})
    frame.set_index("q").to_parquet(tmp_path / "t.parquet")
    table = read_judged_table(tmp_path / "t.parquet", columns={"qid": "q", "docno": "d"})
    assert table.index.tolist() == [("3", "5"), ("4", "6")]
    assert table["label"].iloc[0] == "Good"
    assert pd.isna(table["label"].iloc[1])


def test_parquet_nullable_labels(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"qid": ["a", "b"], "label": pd.array([1, None], dtype="Int64")})
    frame.to_parquet(tmp_path / "t.parquet")
    label = read_judged_table(tmp_path / "t.parquet")["label"]
    np.testing.assert_array_equal(label.to_numpy(), [1.0, np.nan], strict=True)


def test_words_for_missing_are_labels_of_their_own():
    text = "qid,label\n1,None\n1,NA\n1,Good\n1,\n"
    label = read(text)["label"]
    assert label.tolist()[:3] == ["None", "NA", "Good"]
    assert label.isna().tolist() == [False, False, False, True]


def test_missing_labels_in_json():
    text = '{"qid": "a", "label": "Bad"}\n\n{"qid": "a", "label": null}\n{"qid": "a"}\n'
    label = read(text, "jsonl")["label"]
    assert label.isna().tolist() == [False, True, True]
    assert not any(value is None for value in label)
    nothing = read('{"qid": "a", "label": null}', "jsonl")
    assert nothing["label"].dtype == np.float64


def test_the_label_that_is_a_text_is_named():
    lines = '{"qid": 1, "docno": "a", "label": "1"}\n{"qid": 1, "docno": "b", "label": "0x"}\n'
    with pytest.raises(FileFormatError, match=r":2: the row holds '0x' .* but a number was"):
        read_qrels(io.StringIO(lines))
    frame = pd.DataFrame({"qid": 1, "docno": ["a", "b"], "label": [1, "0"]})
    with pytest.raises(InputError, match=r"holds '0' in column 'label' in row 1, but a number was"):
        read_qrels(frame)


@pytest.mark.parametrize("format", ["csv", "jsonl", "json", "parquet", "xlsx"])
def test_files_may_hold_numbers_as_texts(tmp_path, format):
    """As a spreadsheet does whose columns are texts, so that ids keep their zeros."""
    pytest.importorskip({"parquet": "pyarrow", "xlsx": "openpyxl"}.get(format, "pandas"))
    path = tmp_path / f"t.{format}"
    value = repr(0.1 + 0.2)
    frame = pd.DataFrame({"qid": "1", "docno": ["01", "1"], "label": [" 2", None], "score": value})
    frame.loc[2] = ["1", "b", "", value]
    write = {"csv": frame.to_csv, "parquet": frame.to_parquet, "xlsx": frame.to_excel}
    if format in write:
        write[format](path, index=False)
    else:
        frame.to_json(path, orient="records", lines=format == "jsonl")
    label = read_qrels(path)["label"].to_numpy(dtype=float)
    np.testing.assert_array_equal(label, [2, np.nan, np.nan])
    label = read_qrels(path, gains={2: 1})["label"].to_numpy(dtype=float)
    np.testing.assert_array_equal(label, [1, np.nan, np.nan])
    assert read_run(path)["score"].tolist() == [0.1 + 0.2] * 3


def test_numbers_are_exact():
    x = np.random.default_rng(0).normal(size=500) * 1e-5
    text = "qid,label\n" + "".join(f"1,{value!r}\n" for value in x.tolist())
    label = read(text)["label"]
    np.testing.assert_array_equal(label.to_numpy(), x)


def test_columns():
    assert list(read(CSV, labelled=False)) == ["docno", "label", "score", "text"]
    assert list(read(CSV, columns={"label": "score", "docno": "docno"})) == [
        "label",
        "score",
        "text",
    ]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"qid": "query"},
            "has no column 'query'; its columns are 'qid', 'docno', 'label', 'score', 'text'. "
            "columns= is for tables .* here 'qid' is there: leave it out of columns=",
        ),
        ({"label": "grade"}, "no column 'grade'; .* here 'label' is there: leave it out"),
        ({"qid": "label"}, "columns must name each column once, .* 'label' has two meanings"),
        ({"score": "score"}, "columns= of judged rows must have keys among .*, got 'score'"),
        (["qid"], "columns must be a dict of names by our names"),
    ],
)
def test_bad_columns(tmp_path, columns, message):
    (tmp_path / "t.csv").write_text(CSV)
    with pytest.raises(ValueError, match=message):
        read_judged_table(tmp_path / "t.csv", columns=columns)


@pytest.mark.parametrize(("suffix", "separator"), [("tsv", "\t"), ("csv", ","), ("csv", ";")])
def test_values_in_the_place_of_names(tmp_path, suffix, separator):
    path = tmp_path / f"t.{suffix}"
    path.write_text("2,q1,0.5,0\n0,q1,3,1\n".replace(",", separator))
    with pytest.raises(FileFormatError, match=r"'2', 'q1', '0\.5', '0', seems to hold values: put"):
        read_judged_table(path)
    path.write_text("2,q1,0.5,0,0\n0,q1,3,1,1\n".replace(",", separator))
    with pytest.raises(FileFormatError, match="columns '0'; if it holds values, put names of the"):
        read_judged_table(path)
    # A column of features may be a number.
    path.write_text("group,label,1,2\nq1,0,3,1\n".replace(",", separator))
    with pytest.raises(InputError, match="has no column 'qid'; its columns are 'group', 'label', "):
        read_judged_table(path)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("content", [b"", b" \n\n"])
def test_empty_file(tmp_path, suffix, content):
    path = tmp_path / f"t.{suffix}"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=rf"t\.{suffix}: the file is empty"):
        read_judged_table(path)


def test_header_only(tmp_path):
    (tmp_path / "t.csv").write_text("qid,label\n")
    with pytest.raises(FileFormatError, match=r"t\.csv: the file holds no rows, only column names"):
        read_judged_table(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("qid,label\n1,0\n1,0,x\n", 3, "2 fields were expected, as in the first row, got 3"),
        ("qid,label\n1,0\n\n1\n", 4, "2 fields were expected, as in the first row, got 1"),
        ("qid,label\n1,0,x\n1,0,y\n", 2, "2 fields were expected, as in the first row, got 3"),
        ("qid,label\n1,0,\n1,0,\n", 2, "2 fields were expected, as in the first row, got 3"),
        ('qid,label\n1,0\n1,"0\n1,0\n', 3, "the row cannot be read.*quote that is not closed"),
        ("qid,label\n1,0\n\n ,1\n", 4, "the line holds no id in column 'qid'; every row needs one"),
        (
            'qid,label\n"1\n2",0\n,1\n',
            4,
            "the line holds no id in column 'qid'; every row needs one",
        ),
        (
            "qid,label\n1,0\n\xa0,1\n",
            3,
            "the line holds no id in column 'qid'; every row needs one",
        ),
        ('{"qid": 1, "label": 0}\n\n{"qid": 1,\n', 3, r"it is not JSON \(.*, column \d+\)"),
        ('{"qid": 1, "label": 0}\n[1, 0]\n', 2, "a JSON object was expected, got list"),
        (
            '{"qid": 1, "label": 0}\n\n{"label": 0}\n',
            3,
            "the line holds no id in column 'qid'; every row needs one",
        ),
        (
            '{"qid": 1, "label": 0}\n{"qid": "", "label": 0}\n',
            2,
            "the line holds no id in column 'qid'",
        ),
        ('{"qid": "1", "label": 0}\n{"qid": 1.5, "label": 0}\n', 2, "the line holds 1.5 in column"),
        (
            '{"qid": "1", "label": 0}\n{"qid": true, "label": 0}\n',
            2,
            "the line holds True in column",
        ),
        (
            '{"qid": "1", "label": 0}\n{"qid": [1], "label": 0}\n',
            2,
            r"the line holds \[1\] in column",
        ),
    ],
)
def test_broken_files(tmp_path, text, line, message):
    path = tmp_path / ("t.jsonl" if text.startswith("{") else "t.csv")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as error:
        read_judged_table(path)
    assert str(error.value).startswith(f"{path}:{line}: ")


def test_duplicate_documents():
    text = "qid,docno,label\n1,a,0\n2,a,0\n\n1,a,1\n2,a,1\n"
    with pytest.raises(
        FileFormatError, match=r"t\.csv:5: document 'a' occurs a second time in query '1'"
    ):
        read(text, columns={"docno": "docno"})
    assert len(read(text)) == 4


def test_empty_document():
    with pytest.raises(FileFormatError, match=r":3: the line holds no id in column 'docno'"):
        read("qid,docno,label\n1,a,0\n1,,0\n", columns={"docno": "docno"})


def test_long_fields_are_no_error():
    csv.field_size_limit(limit := 131_072)
    text = f"qid,text,label\n1,{'x' * 200_000},\n"
    table = read(text)
    assert len(table["text"].iloc[0]) == 200_000
    assert csv.field_size_limit() == limit


def test_rows_left_unread_leave_no_limit_behind():
    before = csv.field_size_limit()
    rows, others = (records_of("a,b\n1,2\n", ",", "t.csv") for _ in range(2))
    assert next(rows) == next(others) == (1, ["a", "b"])
    assert csv.field_size_limit() == before
    rows.close()
    others.close()
    assert csv.field_size_limit() == before


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "skfilterrank\[parquet\]"'):
        read_judged_table(tmp_path / "t.parquet")


def test_empty_query_in_parquet_names_the_row(tmp_path):
    pytest.importorskip("pyarrow")
    pd.DataFrame({"qid": ["a", None], "label": [1, 2]}).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(
        FileFormatError, match=r"t\.parquet:2: the line holds no id in column 'qid'"
    ):
        read_judged_table(tmp_path / "t.parquet")


@pytest.mark.slow
@pytest.mark.parametrize("field", ["nan", "NaN", '"nan"', "na", "nano", "-nan", "word nan"])
def test_nan_among_numbers(field):
    """It is a missing number wherever it stands; columns keep their order."""
    for place, end in itertools.product([0, 1, 2], ["", "\n", "\r\n"]):
        values = ["1.5", "2", "3"]
        values[place] = field
        text = f"a,qid,b,label,c\n{values[0]},q,{values[1]},1,{values[2]}\n1,q,2,0,3{end}"
        table = read(text)
        assert table.columns.tolist() == ["a", "b", "label", "c"]
        column = table["abc"[place]]
        if field.strip('"').lower() == "nan":
            assert column.dtype == float
            assert np.isnan(column.iloc[0])
        else:
            assert column.tolist() == [field, "123"[place]]


def test_json_of_names_that_differ_from_line_to_line(monkeypatch):
    monkeypatch.setattr(packings, "_MOST_BYTES", 8000)
    monkeypatch.setattr(packings, "_MOST_TIMES", 4)
    lines = [{"qid": "q", "label": 1, f"name {i}": 1} for i in range(40)]

    def read_lines(lines):
        return read("\n".join(map(json.dumps, lines)), "jsonl")

    with pytest.raises(FileFormatError, match="the JSON file unpacks to more than 4 times"):
        read_lines(lines)
    # Small tables, and those that are filled, are read.
    assert read_lines(lines[:20]).shape == (20, 21)
    names = ["qid", *map(str, range(300))]
    assert read_lines([dict.fromkeys(names, "q") | {"label": 1}] * 9).size == 2709


def test_columns_of_the_same_name_are_refused():
    text = "qid,docno,Label,LABEL\n1,a,2,0\n"
    with pytest.raises(ValueError, match="'Label', 'LABEL' differ only in case, and each may be"):
        read_qrels(io.StringIO(text))
    with pytest.raises(ValueError, match="'Label', 'LABEL' differ only in case"):
        read(text)
    assert read_qrels(io.StringIO(text), columns={"label": "LABEL"})["label"].tolist() == [0]
    assert read_qrels(io.StringIO(text.replace("LABEL", "label")))["label"].tolist() == [0]
    with pytest.raises(FileFormatError, match="the header names several columns 'label'"):
        read_qrels(io.StringIO("qid,docno,label,label\n1,a,2,0\n"))
    # Spreadsheets leave names of empty columns out.
    assert read_qrels(io.StringIO("qid,docno,label,,\n1,a,2,,\n"))["label"].tolist() == [2]


def test_two_columns_of_one_role_are_refused():
    text = "qid,docno,Rating,grade\n1,a,2,0\n"
    message = (
        "the columns 'Rating', 'grade' may each be 'label': name one of them by columns=, such as "
        r"\{'label': 'Rating'\}"
    )
    with pytest.raises(ValueError, match=message):
        read_qrels(io.StringIO(text))
    with pytest.raises(ValueError, match=message):
        read_qrels(pd.read_csv(io.StringIO(text)))
    assert read_qrels(io.StringIO(text), columns={"label": "grade"})["label"].tolist() == [0]
    # Our name is sure, and a column "query" or "document" beside an id is a text.
    assert read_qrels(io.StringIO(text.replace("grade", "label")))["label"].tolist() == [0]
    named = "query_id,query,doc_id,document,grade\n1,what,a,that,2\n"
    assert read_qrels(io.StringIO(named)).to_numpy().tolist() == [["1", "a", 2]]
    with pytest.raises(ValueError, match="'docid', 'passage_id' may each be 'docno'"):
        read_qrels(io.StringIO("qid,passage_id,docid,label\n1,a,b,2\n"))
    with pytest.raises(
        ValueError, match=r"columns must name each column once, .* where 'q' has tw"
    ):
        read_qrels(io.StringIO("q,label\n1,2\n"), columns={"qid": "q", "docno": "q"})


def test_names_of_columns_are_for_tables_with_other_names():
    message = (
        r"no column 'q'; its .* columns= is for tables .* here 'qid' is there: leave it out of"
    )
    for judgments in ({"1": {"a": 1}}, pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": [1]})):
        with pytest.raises(ValueError, match=message):
            read_qrels(judgments, columns={"qid": "q"})


def test_labels_have_the_names_that_judgments_have():
    text = "qid,docno,Relevance,label_of_box\n1,a,2,7\n"
    table = read(text, columns={"docno": "docno"})
    assert table.to_dict("list") == {"label": [2], "label_of_box": [7]}
    assert read_qrels(io.StringIO(text))["label"].tolist() == [2]
    assert read(text, columns={"label": "Relevance"})["Relevance"].tolist() == [2]
    columns = {"qid": "grade", "label": "docno"}
    assert read(text.replace("Relevance", "grade"), columns=columns).index[0] == "2"
    message = (
        "'Relevance', 'grade' may each be 'label': name one of them by columns=, such as {'lab"
    )
    with pytest.raises(ValueError, match=message):
        read(text.replace("label_of_box", "grade"))


def test_columns_of_doubtful_names_are_taken_alone_and_not_guessed():
    table = "user_id,query,item_id,rating\n1,shoes,a,2\n"
    message = r"the columns 'query', 'user_id' may each be 'qid': .* columns=, such as \{'qid': 'qu"
    with pytest.raises(ValueError, match=message):
        read_qrels(io.StringIO(table))
    with pytest.raises(ValueError, match=message):
        read(table)
    named = {"qid": "user_id", "docno": "item_id"}
    found = read_qrels(io.StringIO(table), columns=named)
    assert found.to_numpy().tolist() == [["1", "a", 2]]
    assert read(table.replace("query", "text")).index.tolist() == ["1"]
    run = "user,item,score\n1,a,2\n"
    # Nothing is noted on the tables of users.
    for found in (read(table.replace("query", "text")), read_run(io.StringIO(run))):
        assert found.attrs == {}


@pytest.mark.parametrize("columns", [{"label": "Urteil"}, {"label": "Urteil", "docno": "Antwort"}])
def test_who_names_a_column_gets_no_other_of_a_doubtful_name(columns):
    table = "Frage,Antwort,user,Urteil,item\nq1,a,u1,1,x\nq1,b,u2,0,y\n"
    message = (
        "has no column 'qid'.*; its columns are 'Frage', 'Antwort', 'user', 'Urteil', 'item'. Name "
        r"each by columns=, such as \{'qid': 'user'\} if it holds the queries, or rename it"
    )
    frame = pd.read_csv(io.StringIO(table))
    for readable in (io.StringIO(table), io.StringIO(table.replace(",", "\t")), frame):
        with pytest.raises(InputError, match=message):
            read_qrels(readable, columns=columns)
    with pytest.raises(InputError, match=message):
        read(table, columns=columns)
    run = frame.rename(columns={"Urteil": "score"})
    with pytest.raises(
        InputError, match="has no column 'qid' or 'query_id', and no column 'docno'"
    ):
        read_run(run, columns={"score": "score"})
    sure = table.replace("Frage", "query_id").replace("Antwort", "doc_id")
    assert read_qrels(io.StringIO(sure), columns={"label": "Urteil"})["qid"].tolist() == ["q1"] * 2


def test_what_lacks_is_said_of_columns_of_doubtful_names_too():
    table = "Frage,user,Urteil,item\nq1,u1,1,x\n"
    message = (
        "has no column 'qid' or 'query_id', and no column 'docno' or 'doc_id', and no column 'la"
    )
    with pytest.raises(InputError, match=message):
        read_qrels(io.StringIO(table))
    with pytest.raises(InputError, match="has no column 'qid', 'label'; its columns"):
        read(table)


@pytest.mark.parametrize(
    ("header", "columns", "advice"),
    [
        # A column one letter away comes before a doubtful name.
        ("Frage,docno,user,label", {"qid": "Frag"}, r"by columns=, such as \{'qid': 'Frage'\}, or"),
        ("question,docno,user,label", {"docno": "docno"}, r"such as \{'qid': 'question'\}, or"),
        ("qid,docno,Frage,Urteil", {"qid": "qid"}, "Name each by columns=, or rename it"),
        ("qid,id,Frage,label", {"docno": "Antwort"}, "Name each by columns=, or rename it"),
        ("qid,docno,text,lable", None, r"such as \{'label': 'lable'\}, or"),
        # A beginning is no similar name unless it is a whole word.
        ("c,d,user_name,q", {"docno": "docno"}, r"such as \{'qid': 'q'\}, or"),
        ("a,b,c,d", None, "Name each by columns=, or rename it"),
    ],
)
def test_an_example_of_columns_is_one_whose_name_is_similar(header, columns, advice):
    for of_judgments in (read_qrels, lambda text, columns: read(text.read(), columns=columns)):
        with pytest.raises(InputError, match=f"has no column .* {advice}"):
            of_judgments(io.StringIO(f"{header}\nq1,a,u1,1\n"), columns=columns)


def test_the_first_line_tells_the_format_where_the_name_does_not():
    rows = [
        "qid,label,x\n01,2,a\n",
        "# c\nquery_id|grade|x\n01|2|a\n",
        "sep=;\nqid;label;x\n01;2;a\n",
    ]
    for text in (*rows, '{"qid": "01", "label": 2, "x": "a"}\n'):
        table = read_judged_table(io.StringIO(text))
        assert (table.index.tolist(), table.to_dict("list")) == (["01"], {"label": [2], "x": ["a"]})
    for text, words in (("a,b\n1,2\n", ""), ("2 qid:1 1:0.5\n", "; the .* a LETOR file, which")):
        message = rf"<stream> ends in none of '.csv', .*, and its first line names .* 'qid'{words}"
        with pytest.raises(InputError, match=message):
            read_judged_table(io.StringIO(text))
    text = '[{"qid": 1, "label": 2}, {"qid": 2, "label": 0}]'
    assert read(text, "json")["label"].tolist() == [2, 0]


def test_excel(tmp_path, monkeypatch):
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"PK\x03\x04 xl/workbook.xml")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "openpyxl", None)
        for reader in (read_qrels, read_judged_table):
            with pytest.raises(ImportError, match=r"\[excel\]\', or save the sheet as CSV"):
                reader(path)
    pytest.importorskip("openpyxl")
    with pytest.raises(FileFormatError, match="is not an Excel file, or is damaged"):
        read_qrels(path)
    frame = pd.DataFrame({"qid": [7, None, "01"], "docno": ["a", None, "b"], "Grade": [2, None, 0]})
    with pd.ExcelWriter(path) as book:
        pd.DataFrame().to_excel(book, sheet_name="empty", index=False)
        frame.to_excel(book, sheet_name="labels", index=False)
    found = read_qrels(path)
    assert found.to_dict("list") == {"qid": ["7", "01"], "docno": ["a", "b"], "label": [2, 0]}
    assert read_judged_table(path, columns={"docno": "docno"}).index.tolist() == [
        ("7", "a"),
        ("01", "b"),
    ]
    frame["Grade"] = [2, None, "x"]
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="a", index=False)
    with pytest.raises(FileFormatError, match=r"t\.xlsx:4: the row holds 'x' in column 'Grade'"):
        read_qrels(path)
    with pd.ExcelWriter(path) as book:
        for sheet in "ab":
            frame.to_excel(book, sheet_name=sheet, index=False)
    with pytest.raises(FileFormatError, match="one sheet with rows was expected, got 'a', 'b'"):
        read_qrels(path)


@pytest.mark.parametrize("text", ["{}", "[ ]\n"])
def test_json_that_holds_nothing_is_called_json(text):
    for reader in (read_qrels, read_run):
        with pytest.raises(FileFormatError, match=r"the JSON must be an object .*, got "):
            reader(io.StringIO(text))

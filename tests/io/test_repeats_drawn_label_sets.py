"""Tables in which labels that nobody made were drawn several times."""

import io

import numpy as np
import pandas as pd
import pytest

from label_sets import label_sets, table_of
from skfilterrank.exceptions import InputError
from skfilterrank.io import QrelsIndex, read_qrels, write_qrels

ROWS = [
    ("1", "a", 2, "people", None),
    ("1", "b", 0, "drawn", 0),
    ("1", "b", 1, "drawn", 1),
    ("2", "b", -1, "people", None),
    ("2", "c", 1, "drawn", 1),
    ("2", "c", 2, "drawn", 0),
]


def _write_csv(path, table):
    table.to_csv(path, index=False)


def _write_jsonl(path, table):
    table.to_json(path, orient="records", lines=True)


@pytest.mark.parametrize(
    ("name", "write"),
    [("d.csv", _write_csv), ("d.jsonl", _write_jsonl), ("d.parquet", None), (None, None)],
)
def test_the_sets_are_the_same_from_every_form(tmp_path, name, write):
    qrels = table_of(ROWS)
    if name == "d.parquet":
        pytest.importorskip("pyarrow")
        qrels.to_parquet(tmp_path / name)
    elif name:
        write(tmp_path / name, qrels)
    source = tmp_path / name if name else qrels
    common, drawn = label_sets(source)
    assert common.to_dict() == {("1", "a"): 2, ("2", "b"): -1}
    assert drawn.T.to_dict("list") == {("1", "b"): [0, 1], ("2", "c"): [2, 1]}
    read = read_qrels(source, unjudged_label=None, predicted="use")
    assert read["draw"].dtype == "Int64"
    pd.testing.assert_series_equal(read["draw"], qrels["draw"])


def test_other_judgments_have_no_sets():
    common, drawn = label_sets({"1": {"draw": 1}})
    assert (common.to_dict(), drawn) == ({("1", "draw"): 1}, None)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:2], "at least two drawn label sets, .* got 1 draw"),
        ([*ROWS[:3], (*ROWS[1][:4], 3)], "numbered 0, 1, 2"),
        (ROWS[:5], "document 'c' of query '2' has a drawn label in 1 of 2 draws"),
        ([*ROWS, ("2", "c", 1, "people", None)], "'c' of query '2' has a drawn label, and one"),
        ([*ROWS[:5], ("2", "c", None, "drawn", 0)], "'c' of query '2' has no label in draw 0"),
        ([*ROWS, (*ROWS[1][:2], 7, *ROWS[1][3:])], "document 'b' twice in query '1'"),
        ([*ROWS, ("2", "d", 1, "drawn", -1)], "the draw -1.0"),
        ([*ROWS[:1]], "at least two drawn label sets, .* got 0 draws"),
    ],
)
def test_incomplete_sets_are_refused(rows, message):
    with pytest.raises(InputError, match=message):
        label_sets(table_of(rows))


def test_half_a_draw_is_refused():
    with pytest.raises(InputError, match=r"the draw 0.5 in row 1"):
        read_qrels(pd.DataFrame({"qid": 1, "docno": ["a", "b"], "label": 1, "draw": [0, 0.5]}))


def test_one_label_of_each_document_is_needed_elsewhere():
    with pytest.raises(InputError, match="qrels holds drawn label sets"):
        QrelsIndex(table_of(ROWS), unjudged_label=None)
    with pytest.raises(InputError, match="qrels holds drawn label sets"):
        write_qrels(io.StringIO(), table_of(ROWS))


def test_many_documents_keep_their_labels():
    rng = np.random.RandomState(0)
    labels = rng.randint(0, 3, (4, 30))
    rows = [
        (str(i // 10), f"d{i % 10}", labels[draw, i], "drawn", draw)
        for draw in range(4)
        for i in range(30)
    ]
    order = rng.permutation(len(rows))
    _, found = label_sets(table_of([rows[i] for i in order]))
    places = [int(qid) * 10 + int(docno[1:]) for qid, docno in found.index]
    np.testing.assert_array_equal(found.T, labels[:, places])

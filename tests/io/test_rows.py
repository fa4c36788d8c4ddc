"""One name for rows, with what is odd told."""

import pytest

from rows_of_queries import cut, make_rows
from skfilterrank.exceptions import (
    DataWarning,
    InputError,
    InputTypeError,
)
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate

COLUMNS = make_rows()


def test_one_warning_of_forbidden_documents():
    with pytest.warns(DataWarning, match="some gains are below 0") as caught:
        evaluate(Rows(cut(COLUMNS, 100, 200), chunk_rows=10), "ndcg")
    assert len(caught) == 1


def test_odd_calls():
    for name, value in {"groups": [1], "average": "mean", "query_weight": {1: 2}}.items():
        with pytest.raises(InputError, match=f"{name} is not possible where evaluate reads Rows"):
            evaluate(Rows(COLUMNS), "ap", **{name: value})
    with pytest.raises(InputError, match="out is for Rows"):
        evaluate([1], [1], "ap", groups=[1], out="values.parquet")
    with pytest.raises(InputTypeError, match="number 1 is 3"):
        evaluate(Rows([COLUMNS, 3]), "ap")
    with pytest.raises(InputError, match="no column 'nothing'"):
        evaluate(Rows(COLUMNS, score="nothing"), "ap")
    with pytest.raises(InputTypeError, match="a column is 3: expected an array"):
        evaluate(Rows({"qid": 3}), "ap")
    with pytest.raises(InputError, match="columns of different lengths"):
        evaluate(Rows(COLUMNS | {"label": [1]}), "ap")
    with pytest.raises(InputError, match="persistence is not an option"):
        evaluate(Rows(COLUMNS), "ap", persistence=0.5)


def test_progress(capsys):
    evaluate(Rows(COLUMNS, verbose=1), "ap")
    assert "row" in capsys.readouterr().err
    evaluate(Rows(COLUMNS), "ap")
    assert capsys.readouterr().err == ""

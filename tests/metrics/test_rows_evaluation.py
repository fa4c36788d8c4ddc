"""Measures of Rows are those of arrays, however they are cut, and add up."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from rows_of_queries import COLUMNS, NAMES, arrays, cut, make_rows, same
from skfilterrank import metrics
from skfilterrank._lists.measure import MEASURES
from skfilterrank.exceptions import InputError
from skfilterrank.io import Rows
from skfilterrank.metrics import evaluate


def bits(result):
    return [each.hex() for each in result.means]


@pytest.mark.slow
def test_every_measure_is_that_of_arrays():
    names = [name for name, each in MEASURES.items() if not each.columns]
    options = {"n_items": 1000}
    labels = {"label": np.abs(COLUMNS["label"])}
    columns = COLUMNS | labels
    defined = []
    for name in names:
        own = options if "n_items" in MEASURES[name].options else {}
        try:
            expected = metrics.evaluate(**arrays(columns), measures=name, **own).means
        except ValueError:
            # Wants what these rows do not have.
            continue
        same(evaluate(Rows(cut(columns, 100, 101, 333)), name, **own), expected)
        defined.append(name)
    assert len(defined) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("undefined", [0.0, 0.5, "drop"])
@pytest.mark.parametrize("unjudged", ["zero", "drop"])
def test_options_are_those_of_arrays(undefined, unjudged):
    given = {"undefined": undefined, "unjudged": unjudged, "gains": "exp2", "ties": "best"}
    names = ["ndcg_f@10", "false_reject_rate", "ap"]
    expected = metrics.evaluate(**arrays(COLUMNS), measures=names, **given).means
    result = evaluate(Rows(cut(COLUMNS, 200)), names, **given)
    same(result, expected)
    values = metrics.evaluate(
        **arrays(COLUMNS), measures=names, **given | {"undefined": "drop"}
    ).per_query
    assert result.n_undefined.tolist() == values.isna().sum().tolist()


def test_like_other_libraries():
    columns = COLUMNS | {"label": np.abs(np.nan_to_num(COLUMNS["label"]))}
    expected = metrics.evaluate(**arrays(columns), measures="ndcg@5", like="lightgbm").means
    same(evaluate(Rows(cut(columns, 50)), "ndcg@5", like="lightgbm"), expected)


@pytest.mark.filterwarnings("ignore:queries without a judged")
def test_an_option_of_each_row_is_a_column():
    pooled = np.arange(len(COLUMNS["qid"])) % 3 > 0
    columns = COLUMNS | {"in_pool": pooled, "label": np.where(pooled, COLUMNS["label"], np.nan)}
    expected = metrics.evaluate(**arrays(columns), measures="inferred_ap", pooled=pooled).means
    same(evaluate(Rows(cut(columns, 77)), "inferred_ap", pooled="in_pool"), expected)


def test_standard_deviations():
    values = metrics.evaluate(**arrays(COLUMNS), measures=["ndcg_f@10", "ap"]).per_query
    frame = evaluate(Rows(cut(COLUMNS, 9)), ["ndcg_f@10", "ap"]).to_frame()
    np.testing.assert_allclose(frame["sd"], values.std(), rtol=1e-12)
    assert frame["n_queries"].tolist() == [60, 60]


@pytest.mark.slow
@pytest.mark.parametrize("text_ids", [False, True])
def test_values_of_queries(tmp_path, text_ids):
    columns = make_rows(text_ids=text_ids)
    out = tmp_path / "values.parquet"
    evaluate(Rows(cut(columns, 200), chunk_rows=90), ["ndcg_f@10", "ap"], out=out)
    values = pd.read_parquet(out).set_index("qid").sort_index()
    expected = metrics.evaluate(**arrays(columns), measures=["ndcg_f@10", "ap"]).per_query
    pd.testing.assert_frame_equal(values, expected, check_index_type=False, check_dtype=False)


def test_values_are_not_written_over_rows(tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    path = folder / "a.parquet"
    parquet.write_table(pa.table(COLUMNS), path)
    (tmp_path / "link").symlink_to(path)
    for source, out in ((path, path), (path, tmp_path / "link"), (folder, folder / "values")):
        with pytest.raises(InputError, match="where rows are read from: pass the path"):
            evaluate(Rows([source]), "ap", out=out)
    assert [each.name for each in folder.iterdir()] == ["a.parquet"]
    same(evaluate(Rows(path), NAMES, out=folder / "values"))


def test_merging():
    names = ["ndcg_f@10", "gm_map", "num_q"]
    heads = np.flatnonzero(np.diff(COLUMNS["qid"])) + 1
    parts = [evaluate(Rows(each), names) for each in cut(COLUMNS, *heads[[3, 20, 41]])]
    left = parts[0].merge(parts[1]).merge(parts[2]).merge(parts[3])
    right = parts[3].merge(parts[0].merge(parts[2].merge(parts[1])))
    assert bits(left) == bits(right) == bits(evaluate(Rows(COLUMNS), names))
    pd.testing.assert_frame_equal(left.to_frame(), right.to_frame(), check_exact=True)
    assert bits(pickle.loads(pickle.dumps(left))) == bits(left)
    with pytest.raises(InputError, match="queries have rows in both of two parts"):
        left.merge(parts[2])
    with pytest.raises(InputError, match="other must be a RowsEvaluation of ndcg_f@10"):
        left.merge(evaluate(Rows(COLUMNS), "ap"))
    cut_query = [evaluate(Rows(each), names) for each in cut(COLUMNS, heads[3] + 1)]
    with pytest.raises(InputError, match="1 queries have rows in both"):
        cut_query[0].merge(cut_query[1])

"""Reports on streams are those of arrays."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank import metrics
from skfilterrank.exceptions import InputError
from skfilterrank.stream import Rows, rank_filter_report, score_predictions
from stream_rows import cut, make_rows

COLUMNS = make_rows(120)
COLUMNS["other"] = np.random.default_rng(5).normal(size=len(COLUMNS["qid"]))
COLUMNS["same"] = COLUMNS["score"].copy()


SYSTEMS = {"one": "score", "two": "other", "copy": "same"}


ROWS = Rows(cut(COLUMNS, 200, 201, 1000), chunk_rows=300)


IN_MEMORY = {
    "y_true": COLUMNS["label"],
    "y_scores": {name: COLUMNS[column] for name, column in SYSTEMS.items()},
    "groups": COLUMNS["qid"],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"k": None, "baseline": "two", "confidence": 0.9},
        {"baseline": "copy", "own_baselines": {"one": "two"}, "gains": "exp2"},
        {"ndcg_0_gains": "exp2", "unjudged": "drop", "ties": "worst"},
    ],
)
def test_report(given):
    expected = metrics.rank_filter_report(**IN_MEMORY, **given)
    found = rank_filter_report(ROWS, SYSTEMS, **given)
    pd.testing.assert_frame_equal(found, expected, rtol=1e-11, atol=1e-14)


def test_report_of_one_query_and_of_differences_that_are_all_alike():
    one = {name: values[:2] for name, values in COLUMNS.items()}
    one["qid"] = np.array([1, 1])
    for columns in (one, {**one, "qid": np.array([1, 2]), "label": np.array([1.0, 1.0])}):
        columns = columns | {"other": np.array([-np.inf] * 2), "score": np.array([1.0, 0.5])}
        expected = metrics.rank_filter_report(
            columns["label"],
            {"one": columns["score"], "two": columns["other"]},
            groups=columns["qid"],
            baseline="two",
        )
        found = rank_filter_report(Rows(columns), {"one": "score", "two": "other"}, baseline="two")
        pd.testing.assert_frame_equal(found, expected, rtol=1e-12)


def test_odd_systems():
    with pytest.raises(InputError, match="baseline 'three' is not one of the systems"):
        rank_filter_report(ROWS, SYSTEMS, baseline="three")
    with pytest.raises(InputError, match="y_scores must be a dict"):
        rank_filter_report(ROWS, ["score"])
    with pytest.raises(InputError, match=r"y_scores\['one'\] must be the name of a column"):
        score_predictions(ROWS, {"one": 3}, "ap")

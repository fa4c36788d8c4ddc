"""Values of systems on streams are those of arrays."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank import comparison
from skfilterrank.exceptions import InputError
from skfilterrank.stream import Rows, score_predictions
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
@pytest.mark.parametrize("given", [{}, {"undefined": "drop", "missing": "drop"}, {"ties": "worst"}])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_values_of_systems(given, n_jobs):
    names = ["ndcg_f@5", "false_reject_rate", "lexirecall", "lexiprecision"]
    expected = comparison.score_predictions(measures=names, **IN_MEMORY, **given)
    found = score_predictions(ROWS, SYSTEMS, names, n_jobs=n_jobs, **given)
    assert list(found) == names
    for name in names:
        pd.testing.assert_frame_equal(found[name].to_frame(), expected[name].to_frame(), rtol=1e-13)
        assert found[name].dropped_queries == expected[name].dropped_queries
        assert found[name].is_preference == expected[name].is_preference


def test_orders_of_systems_belong_to_their_queries():
    """Queries come as c, a, b: c has nothing relevant, a prefers the first system, b the other."""
    columns = {
        "qid": list("ccaabb"),
        "label": [0, 0, 1, 0, 1, 0],
        "one": [2, 1, 2, 1, 1, 2],
        "two": [2, 1, 1, 2, 2, 1],
    }
    name = "lexirecall(scale=preference)"
    found = score_predictions(Rows(columns), {"one": "one", "two": "two"}, name)
    scores = found[name]
    assert list(scores.queries) == ["a", "b"]
    assert list(scores.dropped_queries) == ["c"]
    assert scores.values[:, list(scores.systems).index("one")].tolist() == [1, 0]


def test_missing_values_are_told():
    with pytest.raises(InputError, match="values are missing"):
        score_predictions(ROWS, SYSTEMS, "false_reject_rate", undefined="drop")

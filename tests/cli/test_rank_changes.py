"""Documents that stand elsewhere in another run."""

from math import log2

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

from skfilterrank.cli._report import rank_changes
from skfilterrank.io import QrelsIndex
from skfilterrank.metrics import dcg_score

QRELS = pd.DataFrame(
    {
        "qid": ["1"] * 5 + ["2"] * 2,
        "docno": ["a", "b", "c", "s", "t", "a", "e"],
        "label": [2, 1, 0, -2, -1, 1, 0],
    }
)


def run(*lines):
    rows = [
        (qid, docno, -float(place))
        for qid, *docnos in map(str.split, lines)
        for place, docno in enumerate(docnos)
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"])


FIRST = run("1 a b c x", "2 a e")
SECOND = run("1 s a x c b", "2 a e")

INDEX = QrelsIndex(QRELS, unjudged_label=None)


def changes(first, second, *, k=None, queries=("1", "2"), gains=None, unjudged="zero"):
    """Changes between two runs, which are joined with the judgments."""
    first, second = INDEX.align(first), INDEX.align(second)
    found = rank_changes(first, second, k=k, queries=queries, gains=gains, unjudged=unjudged)
    return found.sort_index(level="qid", sort_remaining=False, kind="stable")


def test_places_labels_and_effects():
    rows = changes(FIRST, SECOND).loc["1"]
    assert list(rows.index) == list("sabcx")
    assert rows["first_rank"].fillna(0).to_dict() == {
        "s": 0,
        "a": 1,
        "b": 2,
        "x": 4,
        "c": 3,
    }
    assert rows["second_rank"].to_dict() == {"s": 1, "a": 2, "b": 5, "x": 3, "c": 4}
    assert rows["effect"].to_dict() == pytest.approx(
        {
            "s": -2 * (0 - 1),
            "a": 2 * (1 - 1 / log2(3)),
            "b": 1 / log2(3) - 1 / log2(6),
            "c": 0,
            "x": 0,
        }
    )
    assert np.isnan(rows["label"]["x"])
    assert rows["gain"]["x"] == 0


def test_a_cut_off():
    found = changes(FIRST, SECOND, k=2, queries=["1"])
    # The first two places are a b, and s a.
    assert list(found.index.get_level_values("docno")) == ["s", "a", "b"]
    # Behind the cut-off a document counts nothing.
    assert found["effect"].iloc[2] == pytest.approx(1 / log2(3))
    assert found["second_rank"].iloc[2] == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "gains"),
    [(1, None), (2, "exp2"), (3, None), (None, "exp2"), (None, {2: 5, 1: 1, 0: 0, -2: -7, -1: -1})],
)
def test_effects_add_up_to_the_difference_in_dcg(k, gains):
    found = changes(FIRST, SECOND, k=k, gains=gains)
    values = []
    for each in (FIRST, SECOND):
        y_true, y_score, groups = INDEX.align(each)
        options = {"groups": groups, "k": k, "gains": gains}
        values.append(dcg_score.per_query(y_true, y_score, ties="stable", **options))
    effects = found["effect"].groupby(level="qid").sum().reindex(["1", "2"], fill_value=0)
    np.testing.assert_allclose(effects, values[0] - values[1])


def test_documents_of_the_queries_that_are_asked_for():
    found = changes(FIRST, run("1 a b c x"), queries=["2"])
    assert found.index.tolist() == [("2", "a"), ("2", "e")]
    assert found["second_rank"].isna().all()
    assert (changes(FIRST, SECOND, queries=["2"])["effect"] == 0).all()


def test_unjudged_documents_may_be_taken_out():
    found = changes(FIRST, SECOND, unjudged="drop").loc["1"]
    # Without x the second list is s a c b.
    assert found["second_rank"].to_dict() == {"s": 1, "a": 2, "c": 3, "b": 4}
    assert "x" not in found.index


def test_equal_scores_stand_in_the_order_of_trec_eval():
    tied = FIRST.assign(score=1.0)
    found = changes(tied, FIRST).loc["1"]
    assert found["first_rank"].to_dict() == {"x": 1, "c": 2, "b": 3, "a": 4}

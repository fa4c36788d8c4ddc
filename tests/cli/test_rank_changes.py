"""Documents that stand elsewhere in another run."""

from math import log2

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli._rank_changes import rank_changes
from skfilterrank.io import QrelsIndex
from skfilterrank.metrics import dcg_score

# What labels below 0 mean is not said here, and not what is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.* holds labels below 0")

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


def test_places_labels_and_effects():
    found = rank_changes(QRELS, FIRST, SECOND)
    assert list(found.index) == [("1", each) for each in "sabcx"]
    rows = found.droplevel("qid")
    assert rows["first_rank"].astype(object).where(rows["first_rank"].notna(), None).to_dict() == {
        "s": None,
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
    found = rank_changes(QRELS, FIRST, SECOND, k=2)
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
    index = QrelsIndex(QRELS)
    found = rank_changes(index, FIRST, SECOND, k=k, gains=gains)
    values = []
    for each in (FIRST, SECOND):
        y_true, y_score, groups = index.align(each)
        options = {"groups": groups, "k": k, "gains": gains, "average": None}
        values.append(dcg_score(y_true, y_score, ties="stable", **options))
    effects = found["effect"].groupby(level="qid").sum().reindex(["1", "2"], fill_value=0)
    np.testing.assert_allclose(effects, values[0] - values[1])


def test_what_stays_is_listed_where_asked_for():
    found = rank_changes(QRELS, FIRST, SECOND, unmoved=True)
    assert list(found.loc["2"].index) == ["a", "e"]
    assert (found.loc["2"]["effect"] == 0).all()
    assert "2" not in rank_changes(QRELS, FIRST, SECOND).index.get_level_values("qid")


def test_topics_in_the_order_asked_for():
    found = rank_changes(QRELS, FIRST, SECOND, queries=["2", "1"], unmoved=True)
    assert list(found.index.unique("qid")) == ["2", "1"]
    found = rank_changes(QRELS, FIRST, SECOND, queries=[2], unmoved=True)
    assert list(found.index.unique("qid")) == ["2"]
    assert len(rank_changes(QRELS, FIRST, SECOND, queries=["2"])) == 0


def test_a_topic_that_one_run_lacks():
    found = rank_changes(QRELS, FIRST, run("1 a b c x"))
    assert found.index.tolist() == [("2", "a"), ("2", "e")]
    assert found["second_rank"].isna().all()


def test_unjudged_documents_may_be_taken_out():
    found = rank_changes(QRELS, FIRST, SECOND, unjudged="drop").droplevel("qid")
    # Without x the second list is s a c b.
    assert found["second_rank"].to_dict() == {"s": 1, "a": 2, "b": 4}
    assert "c" not in found.index


def test_equal_scores_stand_in_the_order_of_trec_eval():
    tied = FIRST.assign(score=1.0)
    found = rank_changes(QRELS, tied, FIRST, unmoved=True).loc["1"]
    assert found["first_rank"].to_dict() == {"x": 1, "c": 2, "b": 3, "a": 4}


def test_swapped_runs_change_the_sign():
    there = rank_changes(QRELS, FIRST, SECOND)
    back = rank_changes(QRELS, SECOND, FIRST)
    pd.testing.assert_index_equal(there.index, back.index)
    np.testing.assert_allclose(there["effect"], -back["effect"])
    pd.testing.assert_series_equal(there["first_rank"], back["second_rank"], check_names=False)


def test_errors():
    with pytest.raises(ValueError, match="k must be None"):
        rank_changes(QRELS, FIRST, SECOND, k=0)
    with pytest.raises(ValueError, match="queries: topic '7' is not in the judgments"):
        rank_changes(QRELS, FIRST, SECOND, queries=["7"])
    with pytest.raises(ValueError, match="unjudged must be one of"):
        rank_changes(QRELS, FIRST, SECOND, unjudged="keep")

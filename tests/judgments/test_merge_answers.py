"""Answers of several assessors: all are there, and the command goes on behind their logs."""

import warnings

import pandas as pd
import pytest

from skfilterrank.exceptions import InputError
from skfilterrank.judgments import (
    RandomSelector,
    assessor_agreement,
    judge,
    merge_answers,
    read_judging_answers,
)

POOL = pd.DataFrame({"qid": ["1", "1", "2", "2"], "docno": ["a", "b", "a", "c"]})
ANNA = POOL.assign(label=[2, 1, 0, float("nan")], note=["sure", None, None, "cut off"])
BOB = POOL.iloc[:3].assign(label=[2, 0, 2])


@pytest.fixture
def merged():
    return merge_answers({"anna": ANNA, "bob": BOB})


def test_nothing_is_lost_and_conflicts_come_by_their_size(merged):
    assert len(merged.answers) == 7
    assert merged.answers["note"].dropna().tolist() == ["sure", "cut off"]
    assert merged.qrels.to_numpy().tolist() == [["1", "a", 2.0]]
    assert merged.conflicts[["qid", "docno", "label", "assessor"]].to_numpy().tolist() == [
        ["2", "a", 0.0, "anna"],
        ["2", "a", 2.0, "bob"],
        ["1", "b", 1.0, "anna"],
        ["1", "b", 0.0, "bob"],
    ]
    expected = assessor_agreement({"anna": ANNA, "bob": BOB})
    assert merged.agreement.krippendorff_alpha == expected.krippendorff_alpha
    assert str(merged).startswith("7 answers of 2 assessors to 4 documents, 2 with different")
    assert "kappa" in str(merged)


def test_one_assessor_and_no_common_document():
    alone = merge_answers([BOB.assign(assessor="bob")])
    assert (alone.agreement, len(alone.qrels), len(alone.conflicts)) == (None, 3, 0)
    apart = merge_answers({"anna": ANNA.iloc[:2], "bob": BOB.iloc[2:]})
    assert (apart.agreement, len(apart.qrels)) == (None, 3)


def test_a_log_goes_on_where_the_answers_end(merged, tmp_path):
    log = tmp_path / "anna.txt.log"
    merged.write_log(log, POOL, grades=[0, 1, 2], assessor="anna")
    again = read_judging_answers(log, grades=[0, 1, 2])
    expected = merged.answers.query("assessor == 'anna'").reset_index(drop=True)
    pd.testing.assert_frame_equal(again, expected)
    pool = pd.MultiIndex.from_frame(POOL)
    selector = RandomSelector(random_state=0).fit([[0]] * 4, groups=POOL["qid"].to_numpy())
    asked = []

    def assessor(question):
        asked.append((question.topic, question.docno))
        return 1

    labels = judge(selector, assessor, log=log, pool=pool, grades=[0, 1, 2])
    assert (asked, labels["label"].tolist()) == ([("2", "c")], [2, 1, 0, 1])
    # Logs without names are named by their files, and one that was saved twice counts once.
    nameless = tmp_path / "bob.txt"
    nameless.write_text(log.read_text().replace('"assessor": "anna", ', ""))
    both = merge_answers([log, log, nameless])
    assert both.answers["assessor"].unique().tolist() == ["anna", "bob"]
    assert len(both.answers) == 8


def test_errors(merged, tmp_path):
    with pytest.raises(InputError, match="assessor 'anna' has two answers to document 'a' of topi"):
        merge_answers([ANNA.assign(assessor="anna"), BOB.assign(assessor="anna")])
    with pytest.raises(InputError, match=r"no names of assessors: pass a dict"):
        merge_answers([BOB])
    with pytest.raises(InputError, match="answers is empty"):
        merge_answers([])
    with pytest.raises(InputError, match="with columns 'qid', 'docno' and 'label'"):
        merge_answers({"anna": POOL})
    for arguments, message in [
        ({"pool": POOL}, "assessor must be one of 'anna', 'bob', got None"),
        ({"pool": POOL.iloc[:1], "assessor": "bob"}, "document 'b' of topic '1', which is not in"),
        ({"pool": POOL, "assessor": "bob", "grades": [0, 1]}, "label 2 of bob is none of the grad"),
    ]:
        with pytest.raises(InputError, match=message):
            merged.write_log(tmp_path / "log", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_forbidden_labels_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        merge_answers({"anna": BOB.assign(label=[-1, 0, 2]), "bob": BOB})

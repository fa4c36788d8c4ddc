"""Answers of the page and of labelling tools, as tables; errors name the file and the entry."""

import json
import warnings
from pathlib import Path

import pandas as pd
import pytest

from skfilterrank.exceptions import FileFormatError, InputError
from skfilterrank.judgments import (
    RandomSelector,
    assessor_agreement,
    judge,
    merge_answers,
    read_judging_answers,
)

GOLDEN = Path(__file__).parent / "exchanged"
QUERIES = {"1": "wing flutter", "2": "Flügel"}
GRADES = {0: "no", 2: "highly", -1: 'spam & "ads"'}
ANNA = "8986eef4-7f3f-4b1f-a250-39cf073a1be6"


def rows(frame):
    return frame.astype(object).where(frame.notna(), None).to_numpy().tolist()


@pytest.mark.parametrize("grades", [GRADES, None])
@pytest.mark.parametrize(
    ("tool", "name", "expected"),
    [
        (
            "label-studio",
            "label-studio.answers.json",
            [
                ["1", "d1", 2.0, "anna@example.org", "clear"],
                ["1", "d1", 0.0, "2", None],
                # Passed over: its grade does not count.
                ["1", "d/2", None, "anna@example.org", None],
            ],
        ),
        (
            "doccano",
            "anna.jsonl",
            [["1", "d1", 2.0, "anna", "clear"], ["1", "d/2", -1.0, "anna", None]],
        ),
        (
            "argilla",
            "argilla.answers.json",
            [["1", "d1", 2.0, ANNA, "clear"], ["1", "d1", 0.0, "bob", None]],
        ),
        (
            "quepid",
            "quepid.answers.json",
            [
                ["1", "d1", 2.0, "anna@example.org", "clear"],
                ["1", "d1", 0.0, "bob@example.org", None],
                ["1", "d/2", None, "anna@example.org", "cut off"],
            ],
        ),
        (
            "quepid",
            "quepid.answers.csv",
            [["1", "d1", 2.0, None, None], ["1", "d/2", -1.0, None, None]],
        ),
    ],
)
def test_answers_of_the_golden_files(tool, name, grades, expected):
    found = read_judging_answers(GOLDEN / name, tool=tool, grades=grades, queries=QUERIES)
    assert list(found.columns) == ["qid", "docno", "label", "assessor", "note"]
    assert rows(found) == expected


def test_a_log_with_skips_undos_and_notes(tmp_path):
    log = tmp_path / "log"
    lines = [
        {"log": "skfilterrank judgments", "version": 1, "documents": 3, "queries": 1, "pool": "x"},
        {"qid": "1", "docno": "a", "skip": True, "note": "later"},
        {"assessor": "anna", "qid": "1", "docno": "b", "label": 2, "review": True},
        {"qid": "1", "docno": "c", "label": 1},
        {"qid": "1", "docno": "c", "undo": True},
        {"qid": "1", "docno": "a", "label": 0.5, "note": "now"},
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert rows(read_judging_answers(log)) == [
        ["1", "a", 0.5, None, "now"],
        ["1", "b", 2.0, "anna", None],
    ]
    with pytest.raises(FileFormatError, match=r"log: document 'a' .*grade 0.5 .*: expected 1, 2"):
        read_judging_answers(log, grades=[1, 2])


TASK = '"data": {"qid": "1", "docno": "d1"}'


@pytest.mark.parametrize(
    ("tool", "text", "message"),
    [
        ("label-studio", "{}", r"file: a list of entries is missing or of another type, got {}"),
        ("label-studio", "[", r"file: it is not JSON"),
        (
            "label-studio",
            '[{"id": 1}]',
            r"file: entry 1: it is not an export of .*: 'data' is missing",
        ),
        (
            "label-studio",
            f"[{{{TASK}}}]",
            r"file: entry 1: it is not .*: 'annotations' is missing",
        ),
        ("label-studio", '[{"data": {"qid": "1", "docno": 2}}]', r"entry 1: 'docno' .*got 2"),
        (
            "label-studio",
            f'[{{{TASK}, "annotations": []}}, {{{TASK}, "annotations": '
            '[{"result": [{"value": {"choices": ["0 no", "2 highly"]}}]}]}]',
            r"entry 2: the grade has 2 values, expected one",
        ),
        ("doccano", '{"label": []}\n\n{"label', r"file:3: it is not JSON"),
        (
            "doccano",
            '{"qid": "1", "docno": "d", "label": ["7"]}',
            r"file:1: the grade '7' is not valid",
        ),
        ("doccano", '{"docno": "d", "label": ["0 no"]}', r"file:1: 'qid' is missing"),
        ("doccano", '{"label": ["0 no", "2 highly"]}', r"file:1: 'label' has 2 values"),
        ("argilla", '[{"id": "x"}]', r"file: entry 1: the id 'x' does not hold query and document"),
        ("argilla", '[{"id": "[1, 2]"}]', r"entry 1: 'qid' is missing or of another type, got 1"),
        (
            "argilla",
            r'[{"id": "[\"1\", \"d\"]", "responses": {"grade": [{"value": 0}, {"value": 2}]}}]',
            r"entry 1: user None answers 'grade' twice",
        ),
        ("quepid", "{}", r"file: a list of entries is missing"),
        (
            "quepid",
            '{"query_doc_pairs": [{"query_text": "x", "doc_id": "d", "judgements": []}]}',
            r"entry 1: no query of queries= has the text 'x'",
        ),
        ("quepid", "a,b\n", r"file:1: the columns must be query, docid and rating, got 'a', 'b'"),
        ("quepid", "query,docid,rating\nFlügel,d,x\n", r"file:2: the grade 'x' is not valid"),
    ],
)
def test_errors_name_the_file_and_the_entry(tool, text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError, match=f"^{message}|^file: {message}"):
        read_judging_answers("file", tool=tool, grades=GRADES, queries=QUERIES)


def test_queries_of_one_text():
    with pytest.raises(InputError, match="two queries have the same text"):
        read_judging_answers(
            GOLDEN / "quepid.answers.csv", tool="quepid", queries={"1": "a", "2": "a "}
        )


POOL = pd.DataFrame({"qid": ["1", "1", "2", "2"], "docno": ["a", "b", "a", "c"]})
ANNAS = POOL.assign(label=[2, 1, 0, float("nan")], note=["sure", None, None, "cut off"])
BOBS = POOL.iloc[:3].assign(label=[2, 0, 2])


@pytest.fixture
def merged():
    return merge_answers({"anna": ANNAS, "bob": BOBS})


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
    expected = assessor_agreement({"anna": ANNAS, "bob": BOBS})
    assert merged.agreement.krippendorff_alpha == expected.krippendorff_alpha
    assert str(merged).startswith("7 answers of 2 assessors to 4 documents, 2 with different")
    assert "kappa" in str(merged)


def test_one_assessor_and_no_common_document():
    alone = merge_answers([BOBS.assign(assessor="bob")])
    assert (alone.agreement, len(alone.qrels), len(alone.conflicts)) == (None, 3, 0)
    apart = merge_answers({"anna": ANNAS.iloc[:2], "bob": BOBS.iloc[2:]})
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
        asked.append((question.query, question.docno))
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
    with pytest.raises(
        InputError, match="assessor 'anna' has two answers to document 'a' of query"
    ):
        merge_answers([ANNAS.assign(assessor="anna"), BOBS.assign(assessor="anna")])
    with pytest.raises(InputError, match=r"no names of assessors: pass a dict"):
        merge_answers([BOBS])
    with pytest.raises(InputError, match="answers is empty"):
        merge_answers([])
    with pytest.raises(InputError, match="'docno', 'label', got columns 'qid', 'docno'"):
        merge_answers({"anna": POOL})
    for arguments, message in [
        ({"pool": POOL}, "assessor must be one of 'anna', 'bob', got None"),
        ({"pool": POOL.iloc[:1], "assessor": "bob"}, "document 'b' of query '1', which is not in"),
        ({"pool": POOL, "assessor": "bob", "grades": [0, 1]}, "label 2 of bob is not one of the g"),
    ]:
        with pytest.raises(InputError, match=message):
            merged.write_log(tmp_path / "log", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_forbidden_labels_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        merge_answers({"anna": BOBS.assign(label=[-1, 0, 2]), "bob": BOBS})

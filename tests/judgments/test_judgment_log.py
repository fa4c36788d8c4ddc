"""The file of a judging session: it loses nothing, and takes nothing that is not its own."""

import json
import os
import signal
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from active_pools import table_of
from profiles import CHARACTERS, times
from scripted_assessors import SKIP, STOP, UNDO, Script, labels, truth, two_queries
from skfilterrank.exceptions import JudgmentLogError
from skfilterrank.judgments import (
    MoveToFrontSelector,
    MTCSelector,
    PoolingSelector,
    RandomSelector,
    judge,
)
from skfilterrank.judgments._judgment_log import read_judgment_log

ACTIVE = [MoveToFrontSelector(), MTCSelector()]


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)


ANY_IDS = st.text(CHARACTERS, max_size=4)


@pytest.mark.slow
@times(0.5)
@given(
    pairs=st.lists(st.tuples(ANY_IDS, ANY_IDS), min_size=1, max_size=8, unique=True),
    data=st.data(),
)
def test_any_ids_and_labels_read_back_exactly(pairs, data, tmp_path_factory):
    pool = pd.MultiIndex.from_tuples(pairs, names=["qid", "docno"])
    table = pd.DataFrame({"a": np.arange(1, len(pool) + 1)}, index=pool)
    number = st.one_of(st.integers(-(2**60), 2**60), st.floats(-1e300, 1e300))
    answers = data.draw(st.lists(number, min_size=len(pool), max_size=len(pool)), label="answers")
    log = tmp_path_factory.mktemp("log") / "log.jsonl"
    script = Script(*answers)
    qrels = judge(RandomSelector(random_state=0).fit(table), script, log=log, pool=pool)
    asked = [(question.query, question.docno) for question in script.questions]
    assert sorted(asked) == sorted(pairs)
    expected = [(*pair, float(answer)) for pair, answer in zip(asked, answers)]
    assert labels(read_judgment_log(log)) == labels(qrels) == expected


def lengths(data, start=0):
    """Where a log may break off: at all bytes around the ends of its lines, and some of others."""
    ends = [place for place, byte in enumerate(data) if byte == ord("\n")]
    near = {end + step for end in ends for step in range(-1, 3)}
    return [each for each in range(start, len(data) + 1) if each in near or each % 64 == 0]


@pytest.mark.slow
def test_a_crash_at_every_byte(tmp_path):
    table = pd.concat([table_of(["ab", "b"]), table_of(["h"], qid="2")])
    selector = MoveToFrontSelector().fit(table)
    whole, log = tmp_path / "whole.jsonl", tmp_path / "log.jsonl"
    answers = ["truth", SKIP, "truth", UNDO, -1, "truth", 0.25]
    expected = judge(selector, Script(*answers), log=whole)
    data = whole.read_bytes()
    lines = data.split(b"\n")[:-1]
    ends = np.cumsum([len(line) + 1 for line in lines])
    for length in lengths(data):
        # Some file systems leave zero bytes behind after a power cut.
        for garbage in (b"", b"\0" * 3) if length % 3 == 0 or length in ends - 1 else (b"",):
            log.write_bytes(data[:length] + garbage)
            if garbage and length < ends[0] - 1:
                # Not even the first line is there.
                with pytest.raises(JudgmentLogError, match=r"not a judgment log|is empty"):
                    judge(selector, truth, log=log)
                continue
            # A line that only lacks its end is whole.
            n_lines = max(1, int(np.count_nonzero(ends - 1 <= length)))
            torn = bool(garbage) or length not in {*ends, *(ends - 1)}
            torn &= bool(garbage) or length > ends[0]
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                script = Script(STOP)
                kept = judge(selector, script, log=log)
            messages = [str(warning.message) for warning in caught]
            if torn and not (garbage and length in set(ends - 1)):
                assert len(messages) == 1
                assert messages[0].startswith(f"{log}:{n_lines + 1}: the last line is incomplete")
            elif not garbage:
                assert messages == []
            # The file is whole again, and holds the whole lines of before.
            assert log.read_bytes() == b"".join(line + b"\n" for line in lines[:n_lines])
            assert labels(kept) == replayed(lines[1:n_lines])
    # From any answer on, the rest of the answers leads to the same end.
    for n_lines in range(1, len(lines) + 1):
        log.write_bytes(b"".join(line + b"\n" for line in lines[:n_lines]))
        rest = answers[n_lines - 1 :]
        assert labels(judge(selector, Script(*rest), log=log)) == labels(expected)
        assert stripped(log) == stripped(whole)


def replayed(lines):
    """Judgments in the lines of a log, undone ones left out."""
    stack = []
    for record in map(json.loads, lines):
        if "undo" in record:
            stack.pop()
        else:
            stack.append(record)
    return [(r["qid"], r["docno"], r["label"]) for r in stack if "label" in r]


def stripped(path):
    """Records without their times."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return [{key: value for key, value in r.items() if key != "time"} for r in records]


@pytest.fixture(scope="module")
def pooling():
    return PoolingSelector().fit(two_queries())


@pytest.fixture(scope="module")
def log_of_six(pooling, tmp_path_factory):
    log = tmp_path_factory.mktemp("six") / "log.jsonl"
    judge(pooling, truth, log=log, n_per_query=3)
    return log.read_bytes()


@pytest.fixture
def log(log_of_six, tmp_path):
    """A log of three answers to each of two queries."""
    (tmp_path / "log.jsonl").write_bytes(log_of_six)
    return tmp_path / "log.jsonl"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"garbage", "it is not a JSON object"),
        (b'{"qid": "1", "doc', "it is not a JSON object"),
        (b"\xff\xfe", "it is not a JSON object"),
        (b"\0\0", "it is not a JSON object"),
        (b"[1]", "it is not a JSON object"),
        (b'{"label": 1}', "it has no query and document"),
        (b'{"qid": "1", "docno": "e"}', "it holds no answer"),
        (b'{"qid": "1", "docno": "e", "label": 1, "skip": true}', "it holds no answer"),
        (b'{"qid": "1", "docno": "e", "label": "1"}', "the label '1' is not a finite number"),
        (b'{"qid": "1", "docno": "e", "label": true}', "the label True is not a finite number"),
        (b'{"qid": "1", "docno": "e", "label": NaN}', "the label nan is not a finite number"),
        (b'{"qid": "1", "docno": "e", "undo": true}', "it undoes an answer that is not the last"),
        (b'{"qid": "1", "docno": "h", "label": 1}', "document 'h' of query '1' is not in the pool"),
        (
            b'{"qid": "1", "docno": "a", "label": 1}',
            "document 'a' of query '1' has a label already",
        ),
    ],
)
def test_a_damaged_line_in_the_middle(log, pooling, line, message):
    lines = log.read_bytes().split(b"\n")
    lines.insert(3, line)
    log.write_bytes(b"\n".join(lines))
    before = log.read_bytes()
    with pytest.raises(JudgmentLogError) as caught:
        judge(pooling, truth, log=log)
    assert str(caught.value).startswith(f"{log}:4: the line is damaged ({message}")
    assert str(caught.value).endswith("The 2 judgment(s) before it are kept.")
    assert caught.value.line == 4
    assert labels(caught.value.judgments) == replayed(lines[1:3])
    assert log.read_bytes() == before
    if "in the pool" not in message:
        with pytest.raises(JudgmentLogError, match=":4: the line is damaged"):
            read_judgment_log(log)


def test_other_files_are_left_alone(log, pooling, tmp_path):
    selector = pooling
    other = PoolingSelector().fit(table_of(["ab"]))
    with pytest.raises(
        JudgmentLogError,
        match="pool: it has 10 documents of 2 queries, this pool has 2 of 1",
    ):
        judge(other, truth, log=log)
    # Rows in another order are the same pool.
    judge(PoolingSelector().fit(two_queries().iloc[::-1]), truth, log=log)
    for content in (
        b"1 0 a 2\n",
        b"1 0 a 2",
        b'{"log": "x"}\n',
        b'{"log": "skfilterrank judgments"}\n',
        b"\n",
    ):
        log.write_bytes(content)
        with pytest.raises(JudgmentLogError, match=r"not a judgment log|is empty"):
            judge(selector, truth, log=log)
        assert log.read_bytes() == content
    with pytest.raises(FileNotFoundError):
        read_judgment_log(tmp_path / "absent")
    with pytest.raises(IsADirectoryError):
        judge(selector, truth, log=tmp_path)


def test_two_processes_do_not_share_a_log(tmp_path):
    pytest.importorskip("fcntl")
    log = tmp_path / "log.jsonl"

    def assessor(question):
        with pytest.raises(JudgmentLogError, match="another process is writing to this log"):
            judge(PoolingSelector().fit(two_queries()), truth, log=log)
        return 1

    judge(PoolingSelector().fit(two_queries()), assessor, log=log, n_per_query=1)
    assert len(judge(PoolingSelector().fit(two_queries()), truth, log=log)) == 10


def test_each_answer_is_on_the_disk_before_the_next_question(tmp_path, monkeypatch):
    log = tmp_path / "log.jsonl"
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(file), fsync(file)))

    def assessor(question):
        assert len(read_judgment_log(log)) == question.n_answered
        assert len(synced) == question.n_answered + 2  # the first line, and the folder
        return 1

    judge(PoolingSelector().fit(two_queries()), assessor, log=log)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_a_process_that_is_killed_loses_nothing(tmp_path):
    log = tmp_path / "log.jsonl"
    selector = PoolingSelector().fit(table_of(["abcd"]))

    def assessor(question):
        if question.n_answered == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return 1

    child = os.fork()
    if not child:
        try:
            judge(selector, assessor, log=log)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    assert labels(read_judgment_log(log)) == [("1", "a", 1), ("1", "b", 1)]


def test_a_full_disk_leaves_a_whole_log(tmp_path, monkeypatch):
    log = tmp_path / "log.jsonl"
    write = os.write

    def full(file, data):
        if b'"b"' in data:
            write(file, data[:7])
            raise OSError(28, "No space left on device")
        return write(file, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        judge(PoolingSelector().fit(table_of(["abc"])), truth, log=log)
    assert len(log.read_text().splitlines()) == 2
    assert labels(read_judgment_log(log)) == [("1", "a", 2)]


@pytest.mark.slow
@pytest.mark.parametrize("selector", [*ACTIVE, PoolingSelector()], ids=str)
def test_a_pool_that_grows(selector, tmp_path):
    log = tmp_path / "log"
    small, large = table_of(["ab"]), two_queries()
    judge(
        clone(selector).fit(small),
        Script(1, SKIP, UNDO, SKIP, STOP),
        log=log,
    )
    before = log.read_bytes()
    script = Script()
    qrels = judge(clone(selector).fit(large), script, log=log)
    assert log.read_bytes().startswith(before)
    assert len(qrels) == len(large)
    assert len(script.questions) == len(large) - 1
    pd.testing.assert_frame_equal(read_judgment_log(log), qrels)
    # The second pool is the log's from then on.
    headers = [line for line in log.read_text().splitlines() if '"log":' in line]
    assert len(headers) == 2
    judge(clone(selector).fit(large), script, log=log)
    assert log.read_text().count('"log":') == 2
    whole = log.read_bytes()
    with pytest.raises(
        JudgmentLogError, match=r"another pool.* lacks document '.' of query '[12]', which is"
    ):
        judge(clone(selector).fit(small), truth, log=log)
    assert log.read_bytes() == whole


def test_a_log_without_answers_is_of_any_pool(tmp_path):
    log = tmp_path / "log"
    judge(
        PoolingSelector().fit(two_queries()),
        Script(1, SKIP, UNDO, UNDO, STOP),
        log=log,
    )
    qrels = judge(PoolingSelector().fit(table_of(["ef"])), truth, log=log)
    assert labels(qrels) == [("1", "e", 0), ("1", "f", 0.5)]
    assert labels(read_judgment_log(log)) == labels(qrels)
    assert labels(judge(PoolingSelector().fit(table_of(["ef"])), truth, log=log)) == labels(qrels)


def test_a_crash_while_the_pool_grows(tmp_path):
    log = tmp_path / "log"
    judge(PoolingSelector().fit(table_of(["ab"])), Script(1, STOP), log=log)
    before = len(log.read_bytes())
    judge(PoolingSelector().fit(two_queries()), Script(STOP), log=log)
    whole = log.read_bytes()
    for length in lengths(whole, before + 1)[:-1]:
        log.write_bytes(whole[:length])
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            qrels = judge(PoolingSelector().fit(two_queries()), Script(STOP), log=log)
        assert labels(qrels) == [("1", "a", 1)]
        assert log.read_bytes() == whole


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        ([0, 1, 2], [0, 1], "other grades, 0, 1, 2, than those that are given now, 0, 1"),
        ({0: "no", 1: "yes", 2: ""}, {0: "yes", 1: "no", 2: ""}, "0=no, 1=yes, 2, than"),
        (None, [0, 1], "other grades, 2, than those that are given now, 0, 1"),
    ],
)
def test_other_grades_do_not_mix_with_those_of_the_log(tmp_path, before, now, message):
    selector = PoolingSelector().fit(table_of(["abc"]))
    log = tmp_path / "log.jsonl"
    judge(selector, Script(2, STOP), log=log, grades=before)
    content = log.read_bytes()
    with pytest.raises(JudgmentLogError, match=message):
        judge(selector, Script(0), log=log, grades=now)
    assert log.read_bytes() == content


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([0, 1, 2], [2, 1, 0]),
        ([0, 1, 2], {0: "no", 1: "yes", 2: "very"}),
        (None, [0, 1, 2]),
        ([0, 1, 2], None),
    ],
)
def test_the_same_grades_go_on(tmp_path, before, now):
    selector = PoolingSelector().fit(table_of(["abc"]))
    log = tmp_path / "log.jsonl"
    judge(selector, Script(2, STOP), log=log, grades=before)
    assert judge(selector, Script(0, 1), log=log, grades=now)["label"].tolist() == [2, 0, 1]


def test_names_of_assessors_are_kept(tmp_path):
    selector = PoolingSelector().fit(table_of(["abc"]))
    log = tmp_path / "log.jsonl"
    judge(selector, Script(2, STOP), log=log)
    assert list(read_judgment_log(log)) == ["qid", "docno", "label"]
    judge(selector, Script(1, STOP), log=log, assessor_name="anna")
    found = judge(selector, Script(0), log=log, assessor_name="bob")
    assert found["assessor"].tolist() == [None, "anna", "bob"]
    pd.testing.assert_frame_equal(found, read_judgment_log(log))
    with pytest.raises(ValueError, match="assessor_name must be a name or None, got 3"):
        judge(selector, truth, assessor_name=3)

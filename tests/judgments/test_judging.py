"""The judging loop: every answer survives, whatever happens after it."""

import contextlib
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from active_pools import pools, table_of
from profiles import times
from selections import mask
from skfilterrank.exceptions import JudgmentLogError
from skfilterrank.judgments import (
    Answer,
    MoveToFrontSelector,
    MTCSelector,
    PoolingSelector,
    RandomSelector,
    StatAPSelector,
    judge,
    read_judgment_log,
)

SKIP, STOP, UNDO = Answer.SKIP, Answer.STOP, Answer.UNDO
ACTIVE = [MoveToFrontSelector(), MTCSelector()]
SELECTORS = [*ACTIVE, PoolingSelector(), RandomSelector(random_state=0)]
TRUTH = dict(zip("abcdefgh", [2, -1, 0, 1, 0, 0.5, 0, 1]))


def truth(question):
    return TRUTH[question.docno]


def two_topics():
    return pd.concat([table_of(["abcd", "cde"]), table_of(["hga", "fgb"], qid="2")])


class Script:
    """An assessor that gives these answers one after the other, then the truth."""

    def __init__(self, *answers):
        self.answers, self.questions = list(answers), []

    def __call__(self, question):
        self.questions.append(question)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, BaseException):
                raise answer
            return truth(question) if answer == "truth" else answer
        return truth(question)

    @property
    def asked(self):
        return "".join(question.docno for question in self.questions)


def labels(qrels):
    return list(qrels.itertuples(index=False, name=None))


@pytest.mark.parametrize("selector", ACTIVE, ids=str)
@times(0.5)
@given(pool=pools(), n_per_query=st.sampled_from([None, 1, 0.5, 1.0]))
def test_asking_is_simulating(selector, pool, n_per_query):
    table, y_true = pool
    simulated = clone(selector).fit(table).simulate(y_true, n_per_query=n_per_query)
    fitted = clone(selector).fit(table)
    # Earlier answers are forgotten.
    fitted.update(0, 5)
    qrels = judge(fitted, lambda question: y_true[question.row], n_per_query=n_per_query)
    np.testing.assert_array_equal(fitted.answers_, simulated.answers_)
    np.testing.assert_array_equal(fitted.ranking_, simulated.ranking_)
    order = np.lexsort((simulated.ranking_, table.index.get_level_values("qid")))
    order = order[~np.isnan(simulated.answers_[order])]
    assert list(zip(qrels["qid"], qrels["docno"])) == table.index[order].tolist()
    np.testing.assert_array_equal(qrels["label"], y_true[order])


@pytest.mark.parametrize("n_per_query", [None, 2, 0.4])
def test_any_strategy_can_be_asked(n_per_query):
    table = two_topics()
    selector = PoolingSelector().fit(table)
    qrels = judge(selector, truth, n_per_query=n_per_query, topics=["2", "1"])
    chosen = mask(selector, 1.0 if n_per_query is None else n_per_query)
    assert set(zip(qrels["qid"], qrels["docno"])) == set(table.index[chosen])
    assert qrels["qid"].tolist() == sorted(qrels["qid"], reverse=True)
    places = selector.ranking_[table.index.get_indexer(pd.MultiIndex.from_frame(qrels.iloc[:, :2]))]
    assert (np.diff(places)[qrels["qid"].to_numpy()[1:] == qrels["qid"].to_numpy()[:-1]] > 0).all()


def test_a_strategy_on_texts_needs_the_pool():
    rows = pd.DataFrame({"qid": [2, 1, 2], "docno": [7, 7, 8]})
    selector = RandomSelector(random_state=0).fit(["x", "y", "z"], groups=rows["qid"])
    with pytest.raises(ValueError, match=r"pool is missing: pass pool="):
        judge(selector, truth)
    for pool in (rows, pd.MultiIndex.from_frame(rows), rows.set_index("docno")):
        qrels = judge(selector, lambda question: question.topic, pool=pool)
        assert sorted(labels(qrels)) == [("1", "7", 1), ("2", "7", 2), ("2", "8", 2)]
    for pool, message in [
        (rows.iloc[:2], "pool has 2 rows, but the selector was fitted on 3"),
        (rows.assign(qid=1), "pool holds other topics"),
        (rows.assign(docno=7), "pool holds document 7 twice in topic 2"),
        (rows["qid"], "pool must be a DataFrame or MultiIndex with 'qid' and 'docno'"),
        ([1, 2, 3], "pool must be a DataFrame or MultiIndex"),
    ]:
        with pytest.raises(ValueError, match=message):
            judge(selector, truth, pool=pool)


def test_what_a_question_tells():
    script = Script()
    judge(PoolingSelector().fit(two_topics()), script, n_per_query=2)
    told = [(q.topic, q.place, q.n_topic, q.n_answered, q.n_total) for q in script.questions]
    assert told == [("1", 1, 2, 0, 4), ("1", 2, 2, 1, 4), ("2", 1, 2, 2, 4), ("2", 2, 2, 3, 4)]
    assert {question.before for question in script.questions} == {None}


def test_the_last_answer_can_be_taken_back():
    class Assessor(Script):
        ends = 0

        def at_end(self):
            self.ends += 1
            return UNDO if self.ends < 3 else None

    script = Assessor("truth", "truth", 5, 6, 7)
    qrels = judge(PoolingSelector().fit(table_of(["abc"])), script)
    assert script.asked == "abccc"
    assert [question.before for question in script.questions[2:]] == [None, 5, 6]
    assert labels(qrels)[-1] == ("1", "c", 7)


def test_skipped_documents_come_back_once():
    table = table_of(["abcd"])
    selector = PoolingSelector().fit(table)
    script = Script(SKIP, "truth", SKIP, "truth", SKIP, "truth")
    qrels = judge(selector, script)
    assert script.asked == "abcdac"
    assert labels(qrels) == [("1", "b", -1), ("1", "d", 1), ("1", "c", 0)]
    assert [q.place for q in script.questions] == [1, 1, 2, 2, 3, 4]
    # A skipped document keeps its place in the budget.
    script = Script(SKIP)
    judge(selector, script, n_per_query=2)
    assert script.asked == "aba"


def test_skipping_everything_ends():
    script = Script(*[SKIP] * 20)
    assert judge(MTCSelector().fit(two_topics()), script).empty
    assert len(script.questions) == 2 * 10


def test_what_was_given_up_is_asked_again_in_the_next_session(tmp_path):
    selector, log = PoolingSelector().fit(table_of(["ab"])), tmp_path / "log.jsonl"
    script = Script("truth", SKIP, SKIP)
    assert len(judge(selector, script, log=log)) == 1
    assert script.asked == "abb"
    script = Script()
    assert len(judge(selector, script, log=log)) == 2
    assert script.asked == "b"
    assert (script.questions[0].place, script.questions[0].before) == (2, SKIP)


def test_a_label_taken_back_leaves_the_skip_before_it():
    script = Script(SKIP, "truth", 5, UNDO, SKIP)
    selector = PoolingSelector().fit(pd.concat([table_of(["ab"]), table_of(["c"], qid="2")]))
    judge(selector, script)
    # a is skipped, b judged, a judged, c undoes it, a is skipped the second time.
    assert script.asked == "abacac"


def test_undo():
    selector = PoolingSelector().fit(table_of(["abcd"]))
    script = Script(1, 1, UNDO, 2, UNDO, UNDO, 0)
    qrels = judge(selector, script)
    # a, b; b again; c appears, back to b, back to a; then on.
    assert script.asked == "abcbcbabcd"
    assert [q.before for q in script.questions][:8] == [None, None, None, 1, None, 2, 1, None]
    assert labels(qrels)[:2] == [("1", "a", 0), ("1", "b", -1)]
    # Nothing to take back: the same question again.
    script = Script(UNDO, UNDO)
    assert len(judge(selector, script)) == 4
    assert script.asked == "aaabcd"
    # A skip is taken back too: then c is asked about a third time, not a fourth.
    script = Script(SKIP, UNDO, SKIP, SKIP)
    assert len(judge(PoolingSelector().fit(two_topics()), script, n_per_query=1)) == 1
    assert script.asked == "ccccf"
    # Undo reaches back to an earlier topic.
    script = Script(1, UNDO, 2)
    qrels = judge(PoolingSelector().fit(two_topics()), script, n_per_query=1)
    assert script.asked == "cfcf"
    assert labels(qrels) == [("1", "c", 2), ("2", "f", 0.5)]


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
@times(1 / 3)  # of each selector
@given(
    answers=st.lists(st.sampled_from(["truth", "truth", 3, -2, SKIP, UNDO]), max_size=25),
    stops=st.lists(st.integers(1, 10), max_size=3),
    order=st.none() | st.permutations(range(10)),
)
def test_sessions_are_as_good_as_one(selector, answers, stops, order, tmp_path_factory):
    """Whatever is answered, the log holds it, and an interruption changes nothing."""
    table = two_topics()
    fitted = clone(selector).fit(table.fillna(0) if isinstance(selector, RandomSelector) else table)
    pool = table.index
    # The state machine by the letter: a stack of answers.
    stack = []
    script = Script(*answers)

    def watch(question):
        given_now = script(question)
        key = (question.topic, question.docno)
        if given_now is UNDO:
            if stack:
                stack.pop()
        elif given_now is SKIP:
            stack.append((key, None))
        else:
            stack.append((key, given_now))
        return given_now

    log = tmp_path_factory.mktemp("log") / "log.jsonl"
    for stop in stops:
        left = stop

        def some(question):
            nonlocal left
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
            return watch(question)

        with contextlib.suppress(KeyboardInterrupt):
            judge(fitted, some, log=log, pool=pool, order=order)
        kept = [(*key, label) for key, label in stack if label is not None]
        assert labels(read_judgment_log(log)) == kept
    qrels = judge(fitted, watch, log=log, pool=pool, order=order)
    kept = [(*key, label) for key, label in stack if label is not None]
    assert labels(qrels) == labels(read_judgment_log(log)) == kept
    answered = {key for key, label in stack if label is not None}
    # What has no label was skipped twice or more.
    skips = [key for key, label in stack if label is None]
    assert all(skips.count(key) >= 2 for key in set(pool) - answered)


ANY_IDS = st.text(max_size=4)


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
    asked = [(question.topic, question.docno) for question in script.questions]
    assert sorted(asked) == sorted(pairs)
    expected = [(*pair, float(answer)) for pair, answer in zip(asked, answers)]
    assert labels(read_judgment_log(log)) == labels(qrels) == expected


def lengths(data, start=0):
    """Where a log may break off: at all bytes around the ends of its lines, and some of others."""
    ends = [place for place, byte in enumerate(data) if byte == ord("\n")]
    near = {end + step for end in ends for step in range(-2, 4)}
    return [each for each in range(start, len(data) + 1) if each in near or each % 16 == 0]


def test_a_crash_at_every_byte(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # some thousand of them are slow
    selector = MoveToFrontSelector().fit(two_topics())
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
                with pytest.raises(JudgmentLogError, match=r"no judgment log|is empty"):
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
                assert messages[0].startswith(f"{log}:{n_lines + 1}: the last line is only half")
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


def make_log(tmp_path, n_per_query=3):
    log = tmp_path / "log.jsonl"
    judge(PoolingSelector().fit(two_topics()), truth, log=log, n_per_query=n_per_query)
    return log


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"garbage", "it is not JSON"),
        (b'{"qid": "1", "doc', "it is not JSON"),
        (b"\xff\xfe", "it is not JSON"),
        (b"\0\0", "it is not JSON"),
        (b"[1]", "it is no JSON object"),
        (b'{"label": 1}', "it names no topic and document"),
        (b'{"qid": "1", "docno": "e"}', "it holds no answer"),
        (b'{"qid": "1", "docno": "e", "label": 1, "skip": true}', "it holds no answer"),
        (b'{"qid": "1", "docno": "e", "label": "1"}', "the label '1' is no number"),
        (b'{"qid": "1", "docno": "e", "label": true}', "the label True is no number"),
        (b'{"qid": "1", "docno": "e", "label": NaN}', "the label nan is not finite"),
        (b'{"qid": "1", "docno": "e", "undo": true}', "it takes back what is not the last"),
        (b'{"qid": "1", "docno": "h", "label": 1}', "document 'h' of topic '1' is not in the pool"),
        (
            b'{"qid": "1", "docno": "a", "label": 1}',
            "document 'a' of topic '1' has a label already",
        ),
    ],
)
def test_a_damaged_line_in_the_middle(tmp_path, line, message):
    log = make_log(tmp_path)
    lines = log.read_bytes().split(b"\n")
    lines.insert(3, line)
    log.write_bytes(b"\n".join(lines))
    before = log.read_bytes()
    with pytest.raises(JudgmentLogError) as caught:
        judge(PoolingSelector().fit(two_topics()), truth, log=log)
    assert str(caught.value).startswith(f"{log}:4: the line is damaged ({message}")
    assert str(caught.value).endswith("The 2 judgment(s) before it are kept.")
    assert caught.value.line == 4
    assert labels(caught.value.judgments) == replayed(lines[1:3])
    assert log.read_bytes() == before
    if "in the pool" not in message:
        with pytest.raises(JudgmentLogError, match=":4: the line is damaged"):
            read_judgment_log(log)


def test_other_files_are_left_alone(tmp_path):
    selector = PoolingSelector().fit(two_topics())
    log = make_log(tmp_path)
    other = PoolingSelector().fit(table_of(["ab"]))
    with pytest.raises(
        JudgmentLogError,
        match="pool: to one of 10 documents of 2 topics, while this one has 2 of 1",
    ):
        judge(other, truth, log=log)
    # Rows in another order are the same pool.
    judge(PoolingSelector().fit(two_topics().iloc[::-1]), truth, log=log)
    for content in (
        b"1 0 a 2\n",
        b"1 0 a 2",
        b'{"log": "x"}\n',
        b'{"log": "skfilterrank judgments"}\n',
        b"\n",
    ):
        log.write_bytes(content)
        with pytest.raises(JudgmentLogError, match=r"no judgment log|is empty"):
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
        with pytest.raises(JudgmentLogError, match="another process is judging into this log"):
            judge(PoolingSelector().fit(two_topics()), truth, log=log)
        return 1

    judge(PoolingSelector().fit(two_topics()), assessor, log=log, n_per_query=1)
    assert len(judge(PoolingSelector().fit(two_topics()), truth, log=log)) == 10


def test_each_answer_is_on_the_disk_before_the_next_question(tmp_path, monkeypatch):
    log = tmp_path / "log.jsonl"
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(file), fsync(file)))

    def assessor(question):
        assert len(read_judgment_log(log)) == question.n_answered
        assert len(synced) == question.n_answered + 2  # the first line, and the folder
        return 1

    judge(PoolingSelector().fit(two_topics()), assessor, log=log)


def test_a_process_that_is_killed_loses_nothing(tmp_path):
    log = tmp_path / "log.jsonl"
    code = (
        "import os, signal, sys; sys.path.insert(0, sys.argv[2])\n"
        "from active_pools import table_of\n"
        "from skfilterrank.judgments import PoolingSelector, judge\n"
        "def assessor(question):\n"
        "    if question.n_answered == 2: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return 1\n"
        "judge(PoolingSelector().fit(table_of(['abcd'])), assessor, log=sys.argv[1])\n"
    )
    support = os.path.join(os.path.dirname(__file__), "..", "support")
    done = subprocess.run([sys.executable, "-c", code, str(log), support], capture_output=True)
    assert done.returncode == -9, done.stderr.decode()
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


@pytest.mark.parametrize("bad", ["2", None, True, np.nan, np.inf, [1], Ellipsis])
def test_bad_answers(tmp_path, bad):
    log = tmp_path / "log.jsonl"
    selector = MoveToFrontSelector().fit(table_of(["abc"]))
    with pytest.raises(ValueError, match="answer to document 'b' of topic '1' must be a finite"):
        judge(selector, Script("truth", bad), log=log)
    assert labels(read_judgment_log(log)) == [("1", "a", 2)]


def test_grades_and_labels(tmp_path):
    selector = PoolingSelector().fit(table_of(["abc"]))
    with pytest.raises(ValueError, match=r"must be one of -1, 0, 1, got 2"):
        judge(selector, truth, grades=[-1, 0, 1])
    qrels = judge(selector, Script(np.int64(3), np.float32(0.5), -2.0))
    assert qrels["label"].tolist() == [3, 0.5, -2]
    assert judge(selector, truth)["label"].dtype == np.int64
    empty = judge(selector, Script(STOP))
    assert list(empty.columns) == ["qid", "docno", "label"]
    assert empty.empty
    # A label that the strategy cannot take is not saved either.
    log = tmp_path / "log.jsonl"
    strict = MoveToFrontSelector(gains={0: 0, 1: 1}).fit(table_of(["abc"]))
    with pytest.raises(ValueError, match="gains"):
        judge(strict, Script(1, 2), log=log)
    assert labels(read_judgment_log(log)) == [("1", "a", 1)]


def test_what_is_left_out_is_never_asked():
    table = two_topics()
    for selector in (PoolingSelector(), MTCSelector()):
        script = Script()
        judge(selector.fit(table), script, leave_out=[0, 1, 2, 3, 4, 6])
        assert {question.row for question in script.questions} == {5, 7, 8, 9}
        assert {question.n_topic for question in script.questions} == {4}
    with pytest.raises(ValueError, match="leave_out must hold rows from 0 to 9"):
        judge(selector, truth, leave_out=[10])


def test_budgets_and_topics():
    selector = PoolingSelector().fit(two_topics())
    with pytest.warns(
        UserWarning, match="n_per_query=9 is above the number of documents of 2 of 2"
    ):
        assert len(judge(selector, truth, n_per_query=9)) == 10
    assert set(judge(selector, truth, topics=["2"])["qid"]) == {"2"}
    for topics in (["x"], ["1", "x"]):
        with pytest.raises(ValueError, match="'x', which is not in the pool: '1', '2'"):
            judge(selector, truth, topics=topics)
    with pytest.raises(ValueError, match="topics is empty"):
        judge(selector, truth, topics=[])


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
@times(1 / 3)
@given(
    order=st.lists(st.integers(0, 5), min_size=10, max_size=10),
    topics=st.sampled_from([None, ["1"], ["2", "1"]]),
)
def test_an_order_over_topics(selector, order, topics):
    """Within a topic the strategy decides, and of the topics whose document comes first."""
    table = two_topics()
    fitted = clone(selector).fit(table.fillna(0) if isinstance(selector, RandomSelector) else table)
    alone = {}
    for topic in topics or ["1", "2"]:
        script = Script()
        judge(fitted, script, topics=[topic], pool=table.index)
        alone[topic] = [question.row for question in script.questions]
    merged = []
    while any(alone.values()):
        topic = min((t for t in alone if alone[t]), key=lambda t: order[alone[t][0]])
        merged.append(alone[topic].pop(0))
    script = Script()
    judge(fitted, script, topics=topics, order=order, pool=table.index)
    assert [question.row for question in script.questions] == merged


def test_an_order_over_topics_with_skips_and_undo():
    selector = PoolingSelector().fit(two_topics())  # of topic 1 cabde, of topic 2 fghab
    order = [1, 2, 0, 3, 4, 9, 8, 7, 6, 5]
    script = Script()
    judge(selector, script, n_per_query=2, order=order)
    plain = script.asked
    script = Script(SKIP)
    judge(selector, script, n_per_query=2, order=order)
    assert script.asked == plain + plain[0]
    script = Script("truth", "truth", UNDO)
    judge(selector, script, n_per_query=2, order=order)
    assert script.asked == plain[:3] + plain[1:]
    for bad, message in (([1, 2], "order has 2 entries"), ([np.nan] * 10, "order must hold")):
        with pytest.raises(ValueError, match=message):
            judge(selector, script, order=bad)


def test_a_longer_budget_goes_on(tmp_path):
    log = tmp_path / "log.jsonl"
    selector = PoolingSelector().fit(two_topics())
    first = judge(selector, truth, log=log, n_per_query=2)
    script = Script()
    assert len(judge(selector, script, log=log, n_per_query=3)) == 6
    assert len(script.questions) == 2
    # A smaller one asks nothing, and another strategy goes on with the same labels.
    assert len(judge(selector, script, log=log, n_per_query=1)) == 6
    qrels = judge(MTCSelector().fit(two_topics()), truth, log=log)
    assert labels(qrels)[:4] == labels(first)
    assert len(qrels) == 10


def test_progress(capsys):
    judge(PoolingSelector().fit(two_topics()), Script(1, UNDO), verbose=1)
    shown = capsys.readouterr().err
    assert "judging" in shown
    assert "10/10" in shown
    judge(PoolingSelector().fit(two_topics()), truth)
    assert capsys.readouterr().err == ""


def test_an_unfitted_strategy():
    with pytest.raises(ValueError, match="not fitted"):
        judge(MTCSelector(), truth)


def sampled_runs():
    """A strategy whose samples are not nested, on two topics of 30 documents."""
    names = "abcdefghijklmnopqrstuvwxyzABCD"
    table = pd.concat([table_of([names, names[::-1][:12]]), table_of([names[::-1]], qid="2")])
    return StatAPSelector(random_state=3).fit(table)


@pytest.mark.parametrize("n_per_query", [1, 8, 0.3, 1.0, None])
def test_a_sample_is_asked_as_it_is_drawn(n_per_query):
    selector = sampled_runs()
    qrels = judge(selector, lambda question: 1, n_per_query=n_per_query)
    rows = selector.pool_.get_indexer(pd.MultiIndex.from_frame(qrels.iloc[:, :2]))
    chosen = mask(selector, 1.0 if n_per_query is None else n_per_query)
    assert sorted(rows) == np.flatnonzero(chosen).tolist()
    for _, ranks in pd.Series(selector.ranking_[rows]).groupby(qrels["qid"].to_numpy()):
        assert ranks.is_monotonic_increasing
    if n_per_query == 8:
        assert (selector.ranking_[rows] > 8).any()


def test_a_sample_behind_other_answers(tmp_path):
    selector = sampled_runs()
    before, chosen = mask(selector, 5), mask(selector, 8)
    assert (before & ~chosen).any()
    left_out = int(np.flatnonzero(chosen & ~before)[0])
    skipped = []

    def skips_first(question):
        if not skipped:
            skipped.append(question.row)
            return SKIP
        return STOP if question.row in skipped else 1

    log = tmp_path / "log"
    judge(selector, skips_first, n_per_query=5, log=log)
    script = Script(*[1] * 60)
    qrels = judge(selector, script, n_per_query=8, log=log, leave_out=[left_out])
    rows = selector.pool_.get_indexer(pd.MultiIndex.from_frame(qrels.iloc[:, :2]))
    asked = {question.row for question in script.questions}
    assert asked <= set(np.flatnonzero(chosen)) - {left_out}
    assert set(np.flatnonzero(chosen)) - set(rows) == {left_out}
    last = script.questions[-1]
    assert last.n_total == chosen.sum() - 1
    assert last.n_answered == last.n_total - 1
    # Undo goes back to the first answer, whichever sample that was in.
    script = Script(*[UNDO] * 40, *[1] * 60)
    ends = iter([UNDO, None])
    script.at_end = lambda: next(ends)
    qrels = judge(selector, script, n_per_query=8, log=log, leave_out=[left_out])
    rows = selector.pool_.get_indexer(pd.MultiIndex.from_frame(qrels.iloc[:, :2]))
    assert set(rows) == set(np.flatnonzero(chosen)) - {left_out} | set(skipped)


@pytest.mark.parametrize("depth", [1, 2, None])
def test_a_depth_is_kept_to(depth):
    table = two_topics()
    selector = PoolingSelector(depth=depth).fit(table)
    qrels = judge(selector, truth)
    assert set(zip(qrels["qid"], qrels["docno"])) == set(table.index[mask(selector)])
    # What is left out is not made up for by deeper documents.
    script = Script()
    judge(selector, script, leave_out=[0])
    expected = set(np.flatnonzero(mask(selector))) - {0}
    assert {question.row for question in script.questions} == expected
    # Any other budget says what it says.
    assert len(judge(selector, truth, n_per_query=1.0)) == len(table)


@pytest.mark.parametrize("selector", [*ACTIVE, PoolingSelector()], ids=str)
def test_a_pool_that_grows(selector, tmp_path):
    log = tmp_path / "log"
    small, large = table_of(["ab"]), two_topics()
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
        JudgmentLogError, match=r"another pool.* not hold document '.' of topic '[12]', which is"
    ):
        judge(clone(selector).fit(small), truth, log=log)
    assert log.read_bytes() == whole


def test_a_log_without_answers_is_of_any_pool(tmp_path):
    log = tmp_path / "log"
    judge(
        PoolingSelector().fit(two_topics()),
        Script(1, SKIP, UNDO, UNDO, STOP),
        log=log,
    )
    qrels = judge(PoolingSelector().fit(table_of(["ef"])), truth, log=log)
    assert labels(qrels) == [("1", "e", 0), ("1", "f", 0.5)]
    assert labels(read_judgment_log(log)) == labels(qrels)
    assert labels(judge(PoolingSelector().fit(table_of(["ef"])), truth, log=log)) == labels(qrels)


def test_a_crash_while_the_pool_grows(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)
    log = tmp_path / "log"
    judge(PoolingSelector().fit(table_of(["ab"])), Script(1, STOP), log=log)
    before = len(log.read_bytes())
    judge(PoolingSelector().fit(two_topics()), Script(STOP), log=log)
    whole = log.read_bytes()
    for length in lengths(whole, before + 1)[:-1]:
        log.write_bytes(whole[:length])
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            qrels = judge(PoolingSelector().fit(two_topics()), Script(STOP), log=log)
        assert labels(qrels) == [("1", "a", 1)]
        assert log.read_bytes() == whole


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
@pytest.mark.parametrize("n_per_query", [None, 3])
def test_known_judgments_count_as_answers(selector, n_per_query):
    """As if they had been the first answers of the log."""
    table = table_of(["abcdefgh", "cdeahb"])
    selector = clone(selector).fit(table)
    first = Script()
    whole = judge(selector, first, n_per_query=n_per_query, pool=table.index)
    known = whole.iloc[:2]
    script = Script()
    rest = judge(selector, script, n_per_query=n_per_query, known=known, pool=table.index)
    assert script.asked == first.asked[2:]
    assert labels(rest) == labels(whole)[2:]
    assert script.questions[0].n_answered == 2
    assert script.questions[0].n_total == first.questions[0].n_total


def test_known_judgments_are_not_undone_nor_saved(tmp_path):
    selector = PoolingSelector().fit(table_of(["abcd"]))
    log = tmp_path / "log.jsonl"
    known = pd.DataFrame({"qid": "1", "docno": ["a", "z", "c"], "label": [1, 1, np.nan]})
    script = Script(UNDO, UNDO, 0, UNDO, STOP)
    assert judge(selector, script, log=log, known=known).empty
    assert script.asked == "bbbcb"
    assert labels(read_judgment_log(log)) == []


def test_an_answer_of_the_log_beats_what_is_known(tmp_path):
    selector = MTCSelector().fit(table_of(["abcd"]))
    log = tmp_path / "log.jsonl"
    judge(selector, Script(1, STOP), log=log)
    (answered,) = read_judgment_log(log)["docno"]
    script = Script()
    known = pd.DataFrame({"qid": "1", "docno": list("abcd"), "label": 0})
    found = judge(selector, script, log=log, known=known)
    assert labels(found) == [("1", answered, 1)]
    assert script.asked == ""


def test_known_judgments_of_what_is_left_out():
    selector = PoolingSelector().fit(table_of(["abcd"]))
    script = Script()
    known = pd.DataFrame({"qid": ["1"], "docno": ["a"], "label": [1]})
    judge(selector, script, known=known, leave_out=[0])
    assert script.asked == "bcd"


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([1], "known must be a DataFrame or None"),
        (pd.DataFrame({"qid": [1]}), "known has no column 'docno', 'label'; its columns are 'qid'"),
        (pd.DataFrame({"qid": [1], "docno": "a", "label": "x"}), "labels of known"),
    ],
)
def test_bad_known_judgments(known, message):
    with pytest.raises(ValueError, match=message):
        judge(PoolingSelector().fit(table_of(["abc"])), truth, known=known)


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

"""The judging loop: every answer survives, whatever happens after it."""

import contextlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from active_pools import pools, table_of
from profiles import times
from scripted_assessors import SKIP, STOP, UNDO, Script, labels, truth, two_queries
from selections import mask
from skfilterrank.judgments import (
    MoveToFrontSelector,
    MTCSelector,
    PoolingSelector,
    RandomSelector,
    StatAPSelector,
    judge,
)
from skfilterrank.judgments._judgment_log import read_judgment_log

ACTIVE = [MoveToFrontSelector(), MTCSelector()]
SELECTORS = [*ACTIVE, PoolingSelector()]


@pytest.mark.slow
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
    table = two_queries()
    selector = PoolingSelector().fit(table)
    qrels = judge(selector, truth, n_per_query=n_per_query, queries=["2", "1"])
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
        qrels = judge(selector, lambda question: question.query, pool=pool)
        assert sorted(labels(qrels)) == [("1", "7", 1), ("2", "7", 2), ("2", "8", 2)]
    for pool, message in [
        (rows.iloc[:2], "pool has 2 rows, but the selector was fitted on 3"),
        (rows.assign(qid=1), "pool has other queries"),
        (rows.assign(docno=7), "pool holds document '7' twice in query '2', again in row 2"),
        (rows["qid"], "pool must be a DataFrame or MultiIndex with 'qid', 'docno', got"),
        ([1, 2, 3], "pool must be a DataFrame or MultiIndex"),
    ]:
        with pytest.raises(ValueError, match=message):
            judge(selector, truth, pool=pool)


def test_what_a_question_tells():
    script = Script()
    judge(PoolingSelector().fit(two_queries()), script, n_per_query=2)
    told = [(q.query, q.place, q.n_query, q.n_answered, q.n_total) for q in script.questions]
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
    assert judge(MTCSelector().fit(two_queries()), script).empty
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
    assert len(judge(PoolingSelector().fit(two_queries()), script, n_per_query=1)) == 1
    assert script.asked == "ccccf"
    # Undo reaches back to an earlier query.
    script = Script(1, UNDO, 2)
    qrels = judge(PoolingSelector().fit(two_queries()), script, n_per_query=1)
    assert script.asked == "cfcf"
    assert labels(qrels) == [("1", "c", 2), ("2", "f", 0.5)]


@pytest.mark.slow
@pytest.mark.parametrize("selector", SELECTORS, ids=str)
@times(1 / 3)  # of each selector
@given(
    answers=st.lists(st.sampled_from(["truth", "truth", 3, -2, SKIP, UNDO]), max_size=25),
    stops=st.lists(st.integers(1, 10), max_size=3),
    order=st.none() | st.permutations(range(10)),
)
def test_sessions_are_as_good_as_one(selector, answers, stops, order, tmp_path_factory):
    """Whatever is answered, the log holds it, and an interruption changes nothing."""
    table = two_queries()
    fitted = clone(selector).fit(table)
    pool = table.index
    # The state machine by the letter: a stack of answers.
    stack = []
    script = Script(*answers)

    def watch(question):
        given_now = script(question)
        key = (question.query, question.docno)
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


@pytest.mark.slow
@pytest.mark.parametrize("bad", ["2", None, True, np.nan, np.inf, [1], Ellipsis])
def test_bad_answers(tmp_path, bad):
    log = tmp_path / "log.jsonl"
    selector = MoveToFrontSelector().fit(table_of(["abc"]))
    with pytest.raises(ValueError, match="answer to document 'b' of query '1' must be a finite"):
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
    table = two_queries()
    for selector in (PoolingSelector(), MTCSelector()):
        script = Script()
        judge(selector.fit(table), script, leave_out=[0, 1, 2, 3, 4, 6])
        assert {question.row for question in script.questions} == {5, 7, 8, 9}
        assert {question.n_query for question in script.questions} == {4}
    with pytest.raises(ValueError, match="leave_out must hold rows from 0 to 9"):
        judge(selector, truth, leave_out=[10])


def test_budgets_and_queries():
    selector = PoolingSelector().fit(two_queries())
    with pytest.warns(
        UserWarning, match="n_per_query=9 is above the number of documents of 2 of 2"
    ):
        assert len(judge(selector, truth, n_per_query=9)) == 10
    assert set(judge(selector, truth, queries=["2"])["qid"]) == {"2"}
    for queries in (["x"], ["1", "x"]):
        with pytest.raises(ValueError, match="'x', which is not in the pool: '1', '2'"):
            judge(selector, truth, queries=queries)
    with pytest.raises(ValueError, match="queries is empty"):
        judge(selector, truth, queries=[])


@pytest.mark.slow
@pytest.mark.parametrize("selector", SELECTORS, ids=str)
@times(1 / 3)
@given(
    order=st.lists(st.integers(0, 5), min_size=10, max_size=10),
    queries=st.sampled_from([None, ["1"], ["2", "1"]]),
)
def test_an_order_over_queries(selector, order, queries):
    """Within a query the strategy decides, and of the queries whose document comes first."""
    table = two_queries()
    fitted = clone(selector).fit(table)
    alone = {}
    for query in queries or ["1", "2"]:
        script = Script()
        judge(fitted, script, queries=[query], pool=table.index)
        alone[query] = [question.row for question in script.questions]
    merged = []
    while any(alone.values()):
        query = min((t for t in alone if alone[t]), key=lambda t: order[alone[t][0]])
        merged.append(alone[query].pop(0))
    script = Script()
    judge(fitted, script, queries=queries, order=order, pool=table.index)
    assert [question.row for question in script.questions] == merged


def test_an_order_over_queries_with_skips_and_undo():
    selector = PoolingSelector().fit(two_queries())  # of query 1 cabde, of query 2 fghab
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
    one_missing = [*range(9), np.nan]
    for bad, message in (([1, 2], "order has 2 entries"), (one_missing, "order must hold")):
        with pytest.raises(ValueError, match=message):
            judge(selector, script, order=bad)


def test_a_longer_budget_goes_on(tmp_path):
    log = tmp_path / "log.jsonl"
    selector = PoolingSelector().fit(two_queries())
    first = judge(selector, truth, log=log, n_per_query=2)
    script = Script()
    assert len(judge(selector, script, log=log, n_per_query=3)) == 6
    assert len(script.questions) == 2
    # A smaller one asks nothing, and another strategy goes on with the same labels.
    assert len(judge(selector, script, log=log, n_per_query=1)) == 6
    qrels = judge(MTCSelector().fit(two_queries()), truth, log=log)
    assert labels(qrels)[:4] == labels(first)
    assert len(qrels) == 10


def test_progress(capsys):
    judge(PoolingSelector().fit(two_queries()), Script(1, UNDO), verbose=1)
    shown = capsys.readouterr().err
    assert "judging" in shown
    assert "10/10" in shown
    judge(PoolingSelector().fit(two_queries()), truth)
    assert capsys.readouterr().err == ""


def test_an_unfitted_strategy():
    with pytest.raises(ValueError, match="not fitted"):
        judge(MTCSelector(), truth)


def sampled_runs():
    """A strategy whose samples are not nested, on two queries of 30 documents."""
    names = "abcdefghijklmnopqrstuvwxyzABCD"
    table = pd.concat([table_of([names, names[::-1][:12]]), table_of([names[::-1]], qid="2")])
    return StatAPSelector(random_state=3).fit(table)


@pytest.mark.slow
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
    table = two_queries()
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


@pytest.mark.slow
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
        ([1], "known must be a DataFrame or MultiIndex with 'qid', 'docno', 'label', got "),
        (
            pd.DataFrame({"qid": [1]}),
            "known must be .*'docno', 'label', got columns 'qid'",
        ),
        (pd.DataFrame({"qid": [1], "docno": "a", "label": "x"}), "labels of known"),
    ],
)
def test_bad_known_judgments(known, message):
    with pytest.raises(ValueError, match=message):
        judge(PoolingSelector().fit(table_of(["abc"])), truth, known=known)

"""What all strategies have in common that look at the answers."""

import inspect
import pickle
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from active_pools import NAN, pools, table_of
from profiles import times
from selections import mask
from skfilterrank.judgments import ActiveSelector, MoveToFrontSelector, MTCSelector

pytestmark = pytest.mark.slow

SELECTORS = [MoveToFrontSelector(), MTCSelector(), MTCSelector(aggregate="max")]


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
@times(0.5)
@given(pool=pools())
def test_simulation_is_the_loop(selector, pool):
    table, y_true = pool
    simulated = clone(selector).fit(table).simulate(y_true)
    asking = clone(selector).fit(table)
    order = []
    while len(rows := asking.next_rows()):
        order.append(int(rows[0]))
        asking.update(rows, y_true[rows])
    topics = table.index.get_level_values("qid").to_numpy()
    assert sorted(order) == list(range(len(table)))
    assert list(topics[order]) == sorted(topics)
    np.testing.assert_array_equal(simulated.ranking_, asking.ranking_)
    np.testing.assert_array_equal(simulated.gains_, asking.gains_)
    np.testing.assert_array_equal(simulated.answers_, y_true)
    for topic in set(topics):
        places = simulated.ranking_[topics == topic]
        assert sorted(places) == list(range(1, len(places) + 1))


@pytest.mark.parametrize("selector", SELECTORS[:2], ids=str)
@times(0.5)
@given(pool=pools(), data=st.data())
def test_an_answer_taken_back_was_never_given(selector, pool, data):
    table, y_true = pool
    with_undo, without = clone(selector).fit(table), clone(selector).fit(table)
    rows = data.draw(st.permutations(range(len(table))))[: data.draw(st.integers(1, len(table)))]
    wrong = data.draw(st.sets(st.sampled_from(rows)))
    for row in rows:
        with_undo.update(row, y_true[row])
        if row not in wrong:
            without.update(row, y_true[row])
    for row in wrong:
        with_undo.retract(row)
    np.testing.assert_array_equal(with_undo.answers_, without.answers_)
    np.testing.assert_array_equal(with_undo.ranking_, without.ranking_)
    np.testing.assert_array_equal(with_undo.next_rows(5), without.next_rows(5))


@pytest.mark.parametrize("selector", SELECTORS[:2], ids=str)
@times(0.5)
@given(pool=pools(), n_per_query=st.integers(1, 8))
def test_a_partial_simulation_begins_like_the_whole_one(selector, pool, n_per_query):
    table, y_true = pool
    whole = clone(selector).fit(table).simulate(y_true)
    n_largest = whole._index.sizes.max()
    part = clone(selector).fit(table)
    part.simulate(y_true, n_per_query=min(n_per_query, int(whole._index.sizes.min())))
    first = ~np.isnan(part.answers_)
    np.testing.assert_array_equal(part.ranking_[first], whole.ranking_[first])
    np.testing.assert_array_equal(
        mask(part, 1.0), np.ones(len(table), dtype=bool), err_msg=str(n_largest)
    )


@pytest.mark.parametrize("selector", SELECTORS[:2], ids=str)
@times(0.5)
@given(pool=pools())
def test_skipped_rows_are_not_proposed(selector, pool):
    table, _ = pool
    fitted = clone(selector).fit(table)
    every = fitted.next_rows(100)
    rest = fitted.next_rows(100, topic=table.index[every[0]][0], leave_out=every[:1].tolist())
    assert set(rest.tolist()) == set(every[1:].tolist())


def random_pool(n_topics=12, n_documents=15, n_runs=4):
    """Enough topics that not all of them stay in memory."""
    rng = np.random.RandomState(0)
    parts = []
    for topic in range(n_topics):
        ranks = np.argsort(rng.rand(n_documents, n_runs), axis=0).argsort(axis=0) + 1.0
        index = pd.MultiIndex.from_product(
            [[topic], [f"d{number}" for number in range(n_documents)]], names=["qid", "docno"]
        )
        parts.append(
            pd.DataFrame(np.where(ranks > 10, NAN, ranks), index=index, columns=list("abcd"))
        )
    table = pd.concat(parts)
    return table, rng.randint(0, 2, len(table)).astype(float)


@pytest.mark.parametrize("selector", SELECTORS[:2], ids=str)
def test_topics_in_turn_and_copies(selector):
    table, y_true = random_pool()
    simulated = clone(selector).fit(table).simulate(y_true)
    turns = clone(selector).fit(table)
    for step in range(15):
        for topic in range(12):
            rows = turns.next_rows(topic=topic)
            turns.update(rows, y_true[rows])
            if step == topic == 5:
                turns = pickle.loads(pickle.dumps(turns))
    np.testing.assert_array_equal(turns.ranking_, simulated.ranking_)
    parallel = clone(selector).set_params(n_jobs=2).fit(table).simulate(y_true)
    np.testing.assert_array_equal(parallel.ranking_, simulated.ranking_)


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_bad_input(selector):
    table = table_of(["abc", "cb"])
    selector = clone(selector)
    with pytest.raises(NotFittedError):
        selector.next_rows()
    with pytest.raises(NotFittedError):
        selector.update(0, 1)
    with pytest.raises(NotFittedError):
        selector.simulate([1, 1, 1])
    selector.fit(table)
    for bad in (0, -1, 1.5, True, None):
        with pytest.raises(ValueError, match="n_per_query must be a whole number from 1 up"):
            selector.next_rows(bad)
    with pytest.raises(ValueError, match="topic 'x' is not in the pool; its topics are '1'"):
        selector.next_rows(topic="x")
    for row in (-1, 3):
        with pytest.raises(ValueError, match=f"row {row} is not in the pool of 3 rows"):
            selector.update(row, 1)
    with pytest.raises(ValueError, match="labels holds NaN"):
        selector.update(0, NAN)
    with pytest.raises(ValueError, match="labels must hold one label for each of 2 row"):
        selector.update([0, 1], [1])
    with pytest.raises(ValueError, match="row 1 has no answer to take back"):
        selector.retract(1)
    selector.update([0, 1], [1, 0])
    with pytest.raises(ValueError, match="row 0 has an answer already"):
        selector.update(0, 1)
    with pytest.raises(ValueError, match="y_true has 1 NaN, the first at row 1"):
        selector.simulate([1, NAN, 0])
    with pytest.raises(ValueError, match="expected 3, got 2"):
        selector.simulate([1, 0])
    with pytest.raises(ValueError, match="prior must be finite and at least 0"):
        selector.fit(table, prior=[1, -1, 0])
    with pytest.raises(ValueError, match="gains must be None"):
        clone(selector).set_params(gains=3).fit(table)


def test_labels_become_gains():
    table = table_of(["abc", "def"])
    gains = {"no": 0, "bad": -1, "yes": 1}
    selector = MoveToFrontSelector(gains=gains).fit(table)
    selector.simulate(["bad", "no", "no", "yes", "no", "no"])
    np.testing.assert_array_equal(selector.ranking_, [1, 4, 6, 2, 3, 5])
    np.testing.assert_array_equal(selector.answers_, [-1, 0, 0, 1, 0, 0])


@pytest.mark.parametrize("selector", [MoveToFrontSelector(), MTCSelector()], ids=str)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 1, 1], "rows holds row 1 twice"),
        ([0, 2], "row 2 has an answer already"),
        ([0, 4], "row 4 is not in the pool"),
        ([0, -1], "row -1 is not in the pool"),
    ],
)
def test_bad_answers_are_not_taken_by_halves(selector, rows, message):
    selector = clone(selector).fit(table_of(["abc", "bda"])).update(2, 1)
    answers, ranking = selector.answers_.copy(), selector.ranking_
    with pytest.raises(ValueError, match=message):
        selector.update(rows, [1] * len(rows))
    np.testing.assert_array_equal(selector.answers_, answers)
    np.testing.assert_array_equal(selector.ranking_, ranking)


def stopped_at(number, call):
    """Run a call, and press Ctrl-C at one of the lines of active.py; whether it came so far."""
    file, left = inspect.getsourcefile(ActiveSelector), [number]

    def line(frame, event, arg):
        if event == "line":
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
        return line

    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: line if frame.f_code.co_filename == file else None)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize(
    "selector",
    [MoveToFrontSelector(), pytest.param(MTCSelector(), marks=pytest.mark.nightly)],
    ids=str,
)
def test_answers_that_are_stopped_are_not_taken_by_halves(selector):
    table = pd.concat([table_of(["abcd", "dbca"]), table_of(["abc", "cab"], qid="2")])
    taken = clone(selector).fit(table).update([0, 4], [0, 1])
    before = clone(selector).fit(table)
    order = before.next_rows(4), before.next_rows(4, topic="2")
    ranking, gains = before.ranking_, before.gains_
    for number in range(200):
        asking = clone(selector).fit(table)
        asking.next_rows(4)  # what is known of a topic is at hand
        if not stopped_at(number, partial(asking.update, [0, 4], [0, 1])):
            break
        assert np.isnan(asking.answers_).all()
        np.testing.assert_array_equal(asking.next_rows(4), order[0], err_msg=str(number))
        np.testing.assert_array_equal(asking.next_rows(4, topic="2"), order[1])
        np.testing.assert_array_equal(asking.ranking_, ranking)
        np.testing.assert_array_equal(asking.gains_, gains)
        # They can be given again.
        asking.update([0, 4], [0, 1])
        np.testing.assert_array_equal(asking.ranking_, taken.ranking_)
    assert 30 < number < 200

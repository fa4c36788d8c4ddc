"""What all strategies have in common that look at the answers."""

import inspect
import pickle
import sys
from functools import partial
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from pickled_threads import pickled_threads
from profiles import times
from selections import mask
from skfilterrank.judgments import MoveToFrontSelector, MTCSelector
from skfilterrank.judgments._active_selectors import ActiveSelector
from thinned import thinned

NAN = np.nan


def table_of(lists, qid="1"):
    """Rank table of one topic from each run's list of documents, written as letters."""
    documents = sorted(set("".join(lists)))
    ranks = {
        f"run{number}": [documents_of.index(d) + 1 if d in documents_of else NAN for d in documents]
        for number, documents_of in enumerate(lists)
    }
    index = pd.MultiIndex.from_product([[qid], documents], names=["qid", "docno"])
    return pd.DataFrame(ranks, index=index, dtype=np.float64)


@st.composite
def pools(draw, n_queries=2):
    """A rank table, labels, and rows in mixed order."""
    parts = []
    for topic in range(draw(st.integers(1, n_queries))):
        documents = "abcdefgh"[: draw(st.integers(1, 8))]
        lists = []
        for _ in range(draw(st.integers(1, 3)) if topic == 0 else len(parts[0].columns)):
            order = draw(st.permutations(documents))
            lists.append("".join(order[: draw(st.integers(0, len(documents)))]))
        part = table_of([*lists, documents], qid=f"t{topic}").iloc[:, :-1]
        parts.append(part)
    table = pd.concat(parts)
    order = draw(st.permutations(range(len(table))))
    labels = draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.0]), min_size=len(table)))
    return table.iloc[order], np.array(labels[: len(table)])


pytestmark = pytest.mark.slow

SELECTORS = [MoveToFrontSelector(), MTCSelector()]


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
    queries = table.index.get_level_values("qid").to_numpy()
    assert sorted(order) == list(range(len(table)))
    assert list(queries[order]) == sorted(queries)
    np.testing.assert_array_equal(simulated.ranking_, asking.ranking_)
    np.testing.assert_array_equal(simulated.gains_, asking.gains_)
    np.testing.assert_array_equal(simulated.answers_, y_true)
    for query in set(queries):
        places = simulated.ranking_[queries == query]
        assert sorted(places) == list(range(1, len(places) + 1))


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
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


def random_pool(n_queries=12, n_documents=6, n_runs=4):
    """Make so many queries that not all of them stay in memory."""
    rng = np.random.RandomState(0)
    parts = []
    for query in range(n_queries):
        ranks = np.argsort(rng.rand(n_documents, n_runs), axis=0).argsort(axis=0) + 1.0
        index = pd.MultiIndex.from_product(
            [[query], [f"d{number}" for number in range(n_documents)]], names=["qid", "docno"]
        )
        parts.append(
            pd.DataFrame(np.where(ranks > 4, NAN, ranks), index=index, columns=list("abcd"))
        )
    table = pd.concat(parts)
    return table, rng.randint(0, 2, len(table)).astype(float)


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_queries_in_turn_and_copies(selector):
    table, y_true = random_pool()
    simulated = clone(selector).fit(table).simulate(y_true)
    turns = clone(selector).fit(table)
    for step in range(6):
        for query in range(12):
            rows = turns.next_rows(query=query)
            turns.update(rows, y_true[rows])
            if step == query == 3:
                turns = pickle.loads(pickle.dumps(turns))
    np.testing.assert_array_equal(turns.ranking_, simulated.ranking_)
    with pickled_threads():
        parallel = clone(selector).set_params(n_jobs=2).fit(table).simulate(y_true)
    np.testing.assert_array_equal(parallel.ranking_, simulated.ranking_)


def test_bad_input():
    table, selector = table_of(["abc", "cb"]), MoveToFrontSelector()
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
    with pytest.raises(ValueError, match="query 'x' is not in the pool; its queries are '1'"):
        selector.next_rows(query="x")
    with pytest.raises(ValueError, match="labels holds NaN"):
        selector.update(0, NAN)
    with pytest.raises(ValueError, match="labels must hold one label for each of 2 row"):
        selector.update([0, 1], [1])
    with pytest.raises(ValueError, match="y_true has 1 NaN, the first at row 1"):
        selector.simulate([1, NAN, 0])
    with pytest.raises(ValueError, match="y_true has 2 labels but X has 3 rows"):
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


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([0, 1, 1], "rows holds row 1 twice"),
        ([0, 2], "row 2 has an answer already"),
        ([0, 4], "row 4 is not in the pool"),
        ([0, -1], "row -1 is not in the pool"),
    ],
)
def test_bad_answers_are_not_taken_by_halves(rows, message):
    selector = MTCSelector().fit(table_of(["abc", "bda"])).update(2, 1)
    answers, ranking = selector.answers_.copy(), selector.ranking_
    with pytest.raises(ValueError, match=message):
        selector.update(rows, [1] * len(rows))
    np.testing.assert_array_equal(selector.answers_, answers)
    np.testing.assert_array_equal(selector.ranking_, ranking)


def asked(selector, table, relevant):
    """Return documents in the order in which they are asked."""
    y_true = [docno in relevant for docno in table.index.get_level_values("docno")]
    ranking = selector.fit(table).simulate(np.array(y_true, dtype=float)).ranking_
    return "".join(table.index.get_level_values("docno")[np.argsort(ranking)])


# a and b stay with relevant documents; all others step back.
BY_HAND = [
    # Nothing is relevant: round robin, the runs in turn, each its next document.
    (["abc", "def"], "", "adbecf"),
    # Everything is relevant: the first run to its end, then the second.
    (["abc", "def"], "abcdef", "abcdef"),
    # a no: the second run; d yes, e yes, f no: the first again (1 fall each), b no, c no.
    (["abc", "def"], "de", "adefbc"),
    # a no; d yes; e no; b yes; c (first run again) no; f.
    (["abc", "def"], "db", "adebcf"),
    # Both begin with a, judged for the first run, which alone falls; the second goes on with d.
    (["abc", "ad"], "", "adbc"),
    # a no; run1: b yes, c no; now both have fallen once: the first is in front with b judged: d.
    (["abd", "bce"], "b", "abcde"),
    # The first run is at its end after a, though a is relevant.
    (["a", "bc"], "ac", "abc"),
    # Three runs, one of them empty.
    (["ab", "", "cd"], "c", "acdb"),
]


@pytest.mark.parametrize(("lists", "relevant", "expected"), BY_HAND)
def test_move_to_front_by_hand(lists, relevant, expected):
    assert asked(MoveToFrontSelector(), table_of(lists), relevant) == expected


def move_to_front(lists, relevant):
    """Move the first run to the end if its document is not relevant, by the letter."""
    queue, order = [list(documents) for documents in lists], ""
    while queue:
        while queue[0] and queue[0][0] in order:
            queue[0].pop(0)
        if not queue[0]:
            queue.pop(0)
            continue
        order += queue[0].pop(0)
        if order[-1] not in relevant:
            queue.append(queue.pop(0))
    return order


@pytest.mark.slow
@given(st.data())
def test_move_to_front_is_a_list_whose_first_moves_to_the_end(data):
    documents = "abcdefghij"
    lists = [
        "".join(data.draw(st.permutations(documents))[: data.draw(st.integers(1, 10))])
        for _ in range(data.draw(st.integers(1, 4)))
    ]
    relevant = data.draw(st.sets(st.sampled_from(documents)))
    table = table_of(lists)
    assert asked(MoveToFrontSelector(), table, relevant) == move_to_front(lists, relevant)


def test_documents_that_no_run_returns_come_last():
    table = table_of(["cb", "b"]).reindex(
        pd.MultiIndex.from_product([["1"], list("abcd")], names=["qid", "docno"])
    )
    assert asked(MoveToFrontSelector(), table, "") == "cbad"


def test_a_batch_is_what_comes_if_nothing_is_relevant():
    table = table_of(["abc", "def"])
    selector = MoveToFrontSelector().fit(table)
    assert "".join(table.index[row][1] for row in selector.next_rows(10)) == "adbecf"
    selector.update(0, 1)
    assert "".join(table.index[row][1] for row in selector.next_rows(3)) == "bdc"


def test_an_answer_falls_to_the_first_run_that_returns_the_document():
    table = table_of(["abc", "dec"])
    selector = MoveToFrontSelector().fit(table)
    # c was not asked for: it counts against the first run, so the second is in front.
    selector.update(2, 0)
    assert table.index[selector.next_rows()[0]][1] == "d"


def sum_of_precisions(ranks, relevant):
    """Sum the precisions at the ranks of relevant documents: AP times their number."""
    total = 0.0
    for i in np.flatnonzero(relevant & ~np.isnan(ranks)):
        total += np.count_nonzero(relevant & (ranks <= ranks[i])) / ranks[i]
    return total


def weights(ranks, answers):
    """Compute the weight of each unjudged document, by counting what its answer changes."""
    open_rows = np.isnan(answers)
    found = {}
    for i in np.flatnonzero(open_rows):
        only_judged = np.nan_to_num(answers) > 0
        every = open_rows | only_judged
        effects = []
        for relevant in (only_judged, every):
            with_i, without_i = relevant.copy(), relevant.copy()
            with_i[i], without_i[i] = True, False
            change = [
                sum_of_precisions(run, with_i) - sum_of_precisions(run, without_i)
                for run in ranks.T
            ]
            pairs = [abs(s - t) for s, t in combinations(change, 2)]
            effects.append(sum(pairs, 0.0))
        found[i] = max(effects)
    return found


@pytest.mark.slow
@times(1 / 2)
@given(pool=pools(n_queries=1))
def test_each_choice_has_the_largest_effect(pool):
    table, y_true = pool
    ranks = table.to_numpy()
    selector = MTCSelector().fit(table)
    answers = np.full(len(table), NAN)
    for _ in range(len(table)):
        expected = weights(ranks, answers)
        order = selector.next_rows(100)
        np.testing.assert_allclose(
            selector.gains_[order], [expected[row] for row in order], atol=1e-12
        )
        largest = max(expected.values())
        first = min(row for row, weight in expected.items() if weight > largest - 1e-9)
        assert selector.next_rows().tolist() == [first]
        assert order[0] == first
        answers[first] = y_true[first]
        selector.update(first, y_true[first])
        assert selector.gains_[first] == pytest.approx(largest, abs=1e-12)


def test_by_hand():
    # Run 0 returns a, b; run 1 returns b, c. Before any answer, with all relevant:
    #   a: 1/1 + 1/2 in run 0 (alone, and with b at rank 2), nothing in run 1: 3/2
    #   b: 1/2 + 1/2 in run 0 (alone, with a), 1 + 1/2 in run 1 (alone, with c): 1/2
    #   c: nothing in run 0, 1/2 + 1/2 in run 1: 1
    # and each by itself: a 1, b 1/2, c 1/2.
    table = table_of(["ab", "bc"])
    selector = MTCSelector().fit(table)
    np.testing.assert_allclose(selector.gains_, [3 / 2, 1 / 2, 1])
    # a is not relevant: c 1/2 by itself, 1 with b; b 1/2 by itself, |1/2 - 3/2| = 1 with c.
    selector.update(0, 0)
    np.testing.assert_allclose(selector.gains_, [3 / 2, 1, 1])
    assert selector.ranking_.tolist() == [1, 2, 3]
    # b is relevant: c with b, and by itself, 1/2 + 1/2.
    selector.update(1, 2)
    np.testing.assert_allclose(selector.gains_, [3 / 2, 1, 1])


def test_a_little_more_comes_first():
    # a: 5 / 5 in run 0, nothing in run 1. b: 1 + 1/2 + 1/3 + 1/4 + 1/5 less 1/3 + 1/3 + 1/3 + 1/4.
    selector = MTCSelector().fit(table_of(["bcdea", "cdbe"]))
    np.testing.assert_allclose(selector.gains_[:2], [1, 1 + 1 / 30])
    assert selector.next_rows().tolist() == [1]
    assert selector.next_rows(2).tolist() == [1, 0]


def test_what_tells_nothing_comes_last():
    # a is first in both runs: it pairs with b and c alike, up to their order.
    table = table_of(["abc", "acb"])
    assert MTCSelector().fit(table).next_rows(3).tolist() == [1, 2, 0]
    # A single run has nothing to be compared with.
    alone = MTCSelector().fit(table[["run0"]])
    assert alone.next_rows(3).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(alone.gains_, [0, 0, 0])


@pytest.mark.slow
@times(0.5)
@given(pool=pools(), data=st.data())
def test_the_order_of_runs_does_not_matter(pool, data):
    table, y_true = pool
    columns = data.draw(st.permutations(list(table.columns)))
    one = MTCSelector().fit(table).simulate(y_true)
    other = MTCSelector().fit(table[columns]).simulate(y_true)
    np.testing.assert_array_equal(one.ranking_, other.ranking_)
    np.testing.assert_allclose(one.gains_, other.gains_, atol=1e-12)


def test_order_probability_by_hand():
    selector = MTCSelector().fit(table_of(["ab", "ba"]))
    assert selector.order_probability().to_numpy() == pytest.approx(0.5)
    # With x = 1 if b is relevant: 1 + x / 2 + x / 2 less 1 / 2 + x + x / 2, that is (1 - x) / 2:
    # mean 1 / 4, deviation 1 / 4, whatever the number of relevant documents.
    found = selector.update(0, 1).order_probability(chance=0.5)
    assert found.loc["run0", "run1"] == pytest.approx(norm.cdf(1))
    assert found.loc["run1", "run0"] == pytest.approx(norm.cdf(-1))
    # The mean is (1 - 0.2) / 2, the deviation 0.4 / 2.
    found = selector.order_probability(chance=0.2)
    assert found.loc["run0", "run1"] == pytest.approx(norm.cdf(0.4 / 0.2))
    # One answer, relevant, and one of each kind: a chance of 2 / 3.
    spread = np.sqrt(2) / 3
    found = selector.order_probability()
    assert found.loc["run0", "run1"] == pytest.approx(norm.cdf((1 / 3) / spread))
    # All is known.
    assert selector.update(1, 0).order_probability().loc["run0", "run1"] == 1
    nothing = MTCSelector().fit(table_of(["ab", "ba"])).update([0, 1], [0, 0])
    assert nothing.order_probability().to_numpy() == pytest.approx(0.5)
    with pytest.raises(ValueError, match="chance must be a number between 0 and 1"):
        selector.order_probability(chance=1)


def test_order_probability_has_the_moments_of_all_labels(monkeypatch):
    table = table_of(["abcd", "dcea", "bde"])
    selector = MTCSelector().fit(table).update(1, 1)
    chances = np.array([0.3, 1, 0.3, 0.3, 0.3])
    ranks = table.fillna(np.inf).to_numpy()
    share = 1 / np.maximum(ranks[:, None], ranks)
    pairs = np.triu(np.ones((5, 5)))
    sums, weights = [], []
    for labels in product((0, 1), repeat=5):
        x = np.array(labels)
        weights.append(np.prod(np.where(x, chances, 1 - chances)))
        sums.append(np.einsum("ij,ijs,i,j->s", pairs, share, x, x))
    mean = np.average(sums, axis=0, weights=weights)
    difference = mean[0] - mean[1]
    spread = np.average(np.subtract(sums, mean) @ [1, -1, 0], axis=0, weights=weights)
    variance = np.average((np.subtract(sums, mean) @ [1, -1, 0]) ** 2, weights=weights)
    assert spread == pytest.approx(0)
    expected = norm.cdf(difference / np.sqrt(variance))
    for cells in (1 << 21, 1):
        monkeypatch.setattr("skfilterrank.judgments._active_selectors._CELLS", cells)
        found = selector.order_probability(chance=0.3)
        assert found.loc["run0", "run1"] == pytest.approx(expected)


def stopped_at(number, call):
    """Run a call, and press Ctrl-C at one of the lines of the selectors; whether it came so far."""
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
    order = before.next_rows(4), before.next_rows(4, query="2")
    ranking, gains = before.ranking_, before.gains_
    for number in thinned(range(200), parts=4):
        asking = clone(selector).fit(table)
        asking.next_rows(4)  # what is known of a query is at hand
        if not stopped_at(number, partial(asking.update, [0, 4], [0, 1])):
            break
        assert np.isnan(asking.answers_).all()
        np.testing.assert_array_equal(asking.next_rows(4), order[0], err_msg=str(number))
        np.testing.assert_array_equal(asking.next_rows(4, query="2"), order[1])
        np.testing.assert_array_equal(asking.ranking_, ranking)
        np.testing.assert_array_equal(asking.gains_, gains)
        # They can be given again.
        asking.update([0, 4], [0, 1])
        np.testing.assert_array_equal(asking.ranking_, taken.ranking_)
    assert 30 < number < 200

"""Move-to-front by hand, and as a list whose first moves to the end."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from active_pools import table_of
from skfilterrank.judgments import MoveToFrontSelector


def asked(selector, table, relevant):
    """Documents in the order in which they are asked."""
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
    """The list of runs by the letter: the first one moves to the end if its document is none."""
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

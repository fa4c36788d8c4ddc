"""Wins and losses counted from ranks are those of all pairs; the bias of runs."""

from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooled_runs import random_runs, runs_of
from skfilterrank.judgments import rank_table
from skfilterrank.judgments._condorcet import condorcet_counts
from skfilterrank.judgments._pseudo_bias import most_biased, run_bias


def counts(table):
    wins, losses = condorcet_counts(table)
    return {pair: (int(won), int(lost)) for pair, won, lost in zip(table.index, wins, losses)}


def pairwise(lists, depth):
    """Every pair of documents of a topic in every run."""
    found = {}
    for topic in sorted({topic for topics in lists.values() for topic in topics}):
        cut = [list(topics.get(topic, ()))[:depth] for topics in lists.values()]
        pool = sorted({docno for run in cut for docno in run})
        totals = {docno: [0, 0] for docno in pool}
        for one, other in permutations(pool, 2):
            for run in cut:
                if one in run and (other not in run or run.index(one) < run.index(other)):
                    totals[one][0] += 1
                    totals[other][1] += 1
        found |= {(topic, docno): tuple(total) for docno, total in totals.items()}
    return found


def test_by_hand():
    table = rank_table(runs_of(one="ab", two="cab"))
    # The pool is a, b, c. Run one: a wins against b and c, b against c. Run two: c wins against a
    # and b, a against b.
    assert counts(table) == {
        ("1", "a"): (2 + 1, 0 + 1),
        ("1", "b"): (1 + 0, 1 + 2),
        ("1", "c"): (0 + 2, 2 + 0),
    }


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), depth=st.sampled_from([1, 3, 10, None]))
def test_the_same_as_all_pairs(seed, depth):
    runs, lists = random_runs(seed, n_runs=5)
    assert counts(rank_table(runs, depth=depth)) == pairwise(lists, depth)


def test_a_table_that_lost_rows():
    # b is gone: of run one a and c are left, at ranks 1 and 3.
    table = rank_table(runs_of(one="abc", two="ca")).drop(("1", "b"))
    assert counts(table) == {("1", "a"): (1, 1), ("1", "c"): (1, 1)}


def test_bias_by_hand():
    table = rank_table(runs_of(one={"1": "ab", "2": "a"}, two={"1": "b", "2": "c"}))
    # Coordinates a, b, c, where a has 1/1 of topic 1 and 1/1 of topic 2 in run one.
    one, two, total = np.array([2, 1 / 2, 0]), np.array([0, 1, 1]), np.array([2, 3 / 2, 1])
    length = sqrt(4 + 9 / 4 + 1)
    expected = {
        "one": 1 - one @ total / (sqrt(4 + 1 / 4) * length),
        "two": 1 - two @ total / (sqrt(1 + 1) * length),
    }
    assert run_bias(table).to_dict() == pytest.approx(expected)
    assert most_biased(table) == ["two"]


@pytest.mark.slow
@given(seed=st.integers(0, 10_000))
def test_bias_is_that_of_a_loop(seed):
    runs, lists = random_runs(seed, n_runs=4)
    documents = sorted(
        {d for topics in lists.values() for docnos in topics.values() for d in docnos}
    )
    responses = {}
    for name, topics in lists.items():
        responses[name] = np.zeros(len(documents))
        for docnos in topics.values():
            for rank, docno in enumerate(docnos[:5], start=1):
                responses[name][documents.index(docno)] += 5 / rank
    total = sum(responses.values())
    expected = {
        name: 1 - own @ total / (np.linalg.norm(own) * np.linalg.norm(total))
        for name, own in responses.items()
    }
    assert run_bias(rank_table(runs, depth=5)).to_dict() == pytest.approx(expected)


def test_half_of_the_runs_is_rounded_up_and_ties_go_by_name():
    # c is alone with its document; a and b are the same run.
    runs = runs_of(b="xyz", a="xyz", c="pq")
    assert most_biased(rank_table(runs)) == ["a", "c"]
    assert most_biased(rank_table(runs_of(d="x", c="x", b="x", a="x"))) == ["a", "b"]


def test_a_run_that_returns_nothing_is_as_biased_as_can_be():
    table = rank_table(runs_of(one="ab", two="ab")).assign(none=np.nan)
    assert run_bias(table)["none"] == 1

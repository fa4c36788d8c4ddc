import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from profiles import times
from selections import mask
from skfilterrank.judgments import PoolingSelector, PriorSelector, rank_table

NAN = np.nan


def table(rows, topics=None):
    topics = ["1"] * len(rows) if topics is None else topics
    index = pd.MultiIndex.from_arrays(
        [topics, [f"d{row}" for row in range(len(rows))]], names=["qid", "docno"]
    )
    return pd.DataFrame(rows, index=index, columns=[f"r{i}" for i in range(len(rows[0]))])


def by_letter(ranks):
    """Order of one topic's rows: a dictionary of lists, no arrays."""
    n_runs = len(ranks[0])
    last = [
        max((row[run] for row in ranks if not np.isnan(row[run])), default=0)
        for run in range(n_runs)
    ]

    def key(row):
        returned = [rank for rank in ranks[row] if not np.isnan(rank)]
        counted = [last[run] + 1 if np.isnan(rank) else rank for run, rank in enumerate(ranks[row])]
        return (min(returned, default=np.inf), sum(counted) / n_runs, row)

    return sorted(range(len(ranks)), key=key)


def test_pooling_by_hand():
    # r0 returns 3 documents and r1 2, so that what they do not return counts 4 and 3.
    ranks = table(
        [
            [3.0, NAN],  # best 3
            [NAN, 1.0],  # best 1, mean (4 + 1) / 2
            [1.0, 2.0],  # best 1, mean (1 + 2) / 2
            [2.0, NAN],  # best 2
            [NAN, NAN],  # nobody returns it
        ]
    )
    selector = PoolingSelector().fit(ranks)
    assert selector.ranking_.tolist() == [4, 2, 1, 3, 5]
    assert np.isnan(selector.gains_).all()
    assert selector.best_rank_.tolist() == [3.0, 1.0, 1.0, 2.0, np.inf]
    assert selector.n_features_in_ == 2
    assert selector.feature_names_in_.tolist() == ["r0", "r1"]
    assert selector.pool_.equals(ranks.index)


def test_a_run_without_the_topic_says_nothing():
    ranks = [[3.0, NAN], [NAN, 1.0], [1.0, 2.0], [2.0, NAN]]
    more = [[*row, NAN] for row in ranks]
    expected = PoolingSelector().fit(table(ranks)).ranking_
    np.testing.assert_array_equal(PoolingSelector().fit(table(more)).ranking_, expected)


def test_equal_documents_keep_their_rows():
    selector = PoolingSelector().fit(table([[1.0, NAN], [NAN, 1.0], [2.0, NAN], [NAN, 2.0]]))
    assert selector.ranking_.tolist() == [1, 2, 3, 4]


@st.composite
def rank_tables(draw):
    """Ranks of a few runs in two topics, each run a shuffled part of the documents."""
    n_runs, parts, topics = draw(st.integers(1, 4)), [], []
    for topic in ("a", "b"):
        n_rows = draw(st.integers(1, 8))
        ranks = np.full((n_rows, n_runs), NAN)
        for run in range(n_runs):
            returned = draw(st.permutations(range(n_rows)))[: draw(st.integers(0, n_rows))]
            ranks[returned, run] = np.arange(1, len(returned) + 1)
        parts.append(ranks)
        topics += [topic] * n_rows
    return parts, topics


@pytest.mark.slow
@times(0.5)
@given(rank_tables())
def test_pooling_by_the_letter(drawn):
    parts, topics = drawn
    selector = PoolingSelector().fit(table(np.concatenate(parts), topics))
    offset = 0
    for ranks in parts:
        order = by_letter(ranks.tolist())
        own = selector.ranking_[offset : offset + len(ranks)]
        assert own[order].tolist() == list(range(1, len(ranks) + 1))
        offset += len(ranks)


@pytest.mark.slow
@times(0.5)
@given(rank_tables(), st.integers(1, 8), st.permutations(range(4)))
def test_pools_of_a_depth(drawn, depth, columns):
    parts, topics = drawn
    ranks = table(np.concatenate(parts), topics)
    selector = PoolingSelector(depth=depth).fit(ranks)
    within = (ranks <= depth).any(axis=1).to_numpy()
    np.testing.assert_array_equal(mask(selector), within)
    # The pool comes before everything deeper, and the order of the runs does not matter.
    for topic in ("a", "b"):
        own = np.array(topics) == topic
        assert (selector.ranking_[own & within] <= within[own].sum()).all()
    swapped = PoolingSelector().fit(ranks.iloc[:, [c for c in columns if c < ranks.shape[1]]])
    np.testing.assert_array_equal(swapped.ranking_, selector.ranking_)
    assert mask(swapped).all()


def test_runs_are_as_good_as_their_table():
    runs = {
        "a": pd.DataFrame({"qid": [1, 1, 2], "docno": ["x", "y", "x"], "score": [3.0, 2.0, 1.0]}),
        "b": pd.DataFrame({"qid": [1, 2, 2], "docno": ["z", "x", "y"], "score": [3.0, 2.0, 1.0]}),
    }
    ranks = rank_table(runs)
    by_runs, by_table = PoolingSelector(depth=1).fit(runs), PoolingSelector(depth=1).fit(ranks)
    np.testing.assert_array_equal(by_runs.ranking_, by_table.ranking_)
    assert by_runs.pool_.equals(ranks.index)
    assert mask(by_runs).tolist() == [True, False, True, True, False]
    jobs = PoolingSelector(depth=1, n_jobs=2).fit(ranks)
    np.testing.assert_array_equal(jobs.ranking_, by_table.ranking_)
    again = pickle.loads(pickle.dumps(by_runs))
    np.testing.assert_array_equal(mask(again, 0.5), mask(by_runs, 0.5))
    assert clone(by_runs).depth == 1


def test_groups_that_contradict_the_index():
    ranks = table([[1.0], [2.0], [3.0]])
    with pytest.raises(ValueError, match="name different queries"):
        PoolingSelector().fit(ranks, groups=["a", "b", "b"])


def test_budget_above_the_pool_names_the_line():
    selector = PoolingSelector().fit(table([[1.0], [2.0]]))
    with pytest.warns(UserWarning, match="n_per_query=3 is above") as caught:
        selector.select(n_per_query=3)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((2, 2)), "X must be a rank table, or a dict"),
        (["a text"], "X must be a rank table, or a dict"),
        (pd.DataFrame({"r": [1.0]}), "index levels named 'qid' and 'docno'"),
        (table([[0.0]]), "whole numbers from 1 on"),
    ],
)
def test_bad_input(X, message):
    with pytest.raises(ValueError, match=message):
        PoolingSelector().fit(X)


def test_bad_depth():
    with pytest.raises(ValueError, match="depth must be None or a whole number from 1 up, got 0"):
        PoolingSelector(depth=0).fit(table([[1.0]]))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from([0.0, 0.1, 2.0])), min_size=1))
def test_prior_first(rows):
    topics, prior = map(list, zip(*rows))
    selector = PriorSelector().fit(np.zeros(len(rows)), groups=topics, prior=prior)
    for topic in set(topics):
        own = [row for row, other in enumerate(topics) if other == topic]
        order = sorted(own, key=lambda row: (-prior[row], row))
        assert selector.ranking_[order].tolist() == list(range(1, len(own) + 1))
    assert selector.gains_.tolist() == prior


def test_prior_must_be_given():
    with pytest.raises(ValueError, match="prior is missing: PriorSelector ranks by nothing else"):
        PriorSelector().fit(["a"], groups=[1])

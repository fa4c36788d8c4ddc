from collections import Counter
from math import factorial, floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from selections import mask
from skfilterrank.judgments import RandomSelector


@pytest.mark.slow
def test_all_orders_are_equally_likely():
    n_topics = 400
    groups = np.repeat(np.arange(n_topics), 3)
    ranking = RandomSelector(random_state=0).fit(groups, groups=groups).ranking_
    counts = Counter(map(tuple, ranking.reshape(-1, 3).tolist()))
    assert len(counts) == factorial(3)
    assert stats.chisquare(list(counts.values())).pvalue > 0.001


@given(st.lists(st.sampled_from([-1, 0, 1, 2]), min_size=1, max_size=60), st.integers(0, 5))
def test_the_oracle_keeps_the_proportion_in_every_prefix(y, seed):
    n = len(y)
    selector = RandomSelector(oracle=True, random_state=seed)
    selector.fit(np.zeros(n), y, groups=["t"] * n)
    relevant = np.array(y) > 0
    for m in range(1, n + 1):
        n_relevant = relevant[selector.ranking_ <= m].sum()
        rounded = floor((2 * m * relevant.sum() + n) / (2 * n))
        assert n_relevant == max(rounded, min(relevant.sum(), 1))


@pytest.mark.slow
def test_the_oracle_is_random_within_both_kinds():
    n_topics = 400
    groups = np.repeat(np.arange(n_topics), 5)
    y = np.tile([1, 0, 1, 0, 0], n_topics)
    selector = RandomSelector(oracle=True, random_state=0).fit(groups, y, groups=groups)
    # 2 of 5 are relevant: the first one, whichever, and one other.
    taken = mask(selector, 2).reshape(-1, 5).sum(axis=0)
    assert taken.sum() == 2 * n_topics
    assert stats.chisquare(taken[[0, 2]]).pvalue > 0.001
    assert stats.chisquare(taken[[1, 3, 4]]).pvalue > 0.001
    assert taken[[0, 2]].sum() == n_topics


def test_the_oracle_reads_gains():
    y, groups = ["yes", "no", "yes", "no"], [1] * 4
    selector = RandomSelector(oracle=True, gains={"yes": 0.0, "no": 3.0}, random_state=0)
    first = selector.fit(y, y, groups=groups).ranking_ == 1
    assert np.array(y)[first].tolist() == ["no"]


def test_without_the_oracle_labels_do_not_matter():
    plain = RandomSelector(random_state=0).fit(np.zeros(9), groups=[1] * 9)
    given_labels = RandomSelector(random_state=0).fit(np.zeros(9), [np.nan] * 9, groups=[1] * 9)
    np.testing.assert_array_equal(plain.ranking_, given_labels.ranking_)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y is missing: with oracle=True"),
        ([1, 0], "y has 2 entries but X has 3 rows"),
        ([1, np.nan, np.nan], "y holds 2 NaN, the first at row 1: oracle=True needs"),
    ],
)
def test_the_oracle_needs_the_truth(y, message):
    with pytest.raises(ValueError, match=message):
        RandomSelector(oracle=True).fit(np.zeros(3), y, groups=[1] * 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"oracle": "yes"}, "oracle must be one of"), ({"gains": "log"}, "gains must be None")],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomSelector(**parameters).fit(np.zeros(3), [1, 0, 1], groups=[1] * 3)

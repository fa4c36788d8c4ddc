"""The same number of documents for every query."""

import numpy as np
import pytest

from skfilterrank._lists.queries import GroupIndex
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.thresholds import FirstK


def test_keys_by_hand():
    index = GroupIndex.from_groups([0, 0, 1, 0])
    assert FirstK()._keys(np.array([1.0, 3, 5, 1]), index, {}).tolist() == [-2, -1, -1, -3]


def test_the_number_is_the_best_of_all():
    _, y, groups, scores = make_rank_and_filter(80, random_state=0)
    y = np.where(y < 0, 4 * y, y)
    model = FirstK("ndcg_f").fit(scores, y, groups=groups)
    place = np.empty(len(y))
    for query in range(80):
        own = np.flatnonzero(groups == query)
        place[own] = np.argsort(np.argsort(-scores[own])) + 1
    values = [
        ndcg_f_score(y, np.where(place <= k, scores, -np.inf), groups=groups) for k in range(20)
    ]
    assert model.best_score_ == pytest.approx(max(values))
    number = int(model.rank(scores, groups=groups).max())
    assert values[number] == pytest.approx(max(values))
    # The level lies between two numbers, which are negative.
    assert -model.level_ == pytest.approx(number + 0.5)
    assert 0 < number < 8
    assert model.threshold_ is None

"""Compatibility against the sets of its definition, on the judgments of a health track."""

from math import log

import pytest

from skfilterrank.metrics import compatibility_score
from skfilterrank.metrics._preferences import harmful_compatibility


def value(y_true, y_score, measure=compatibility_score, **options):
    return measure(y_true, y_score, groups=["q"] * len(y_true), **options)


def test_only_the_order_of_labels_counts():
    scores = [4, 3, 2, 1]
    first = value([3, 1, -1, 2], scores)
    assert value([300, 0.1, -9, 2], scores) == first != value([1, 3, -1, 2], scores)


def test_by_hand():
    """Half the searchers go on: weights 1, 1/4, 1/12 and so on add up to 2 log 2."""
    total = 2 * log(2)
    # The ideal list is 2, 1: both lists have both from place 2 on.
    assert value([1, 2], [2, 1], persistence=0.5) == pytest.approx(
        2 * (total - 1) / (total + total - 1)
    )
    # Lists that end at place 1 have nothing in common.
    assert value([1, 2], [2, 1], k=1, persistence=0.5) == 0
    assert value([1, 2], [1, 2], k=1, persistence=0.5) == 1


def test_harm_weighs():
    args = [2, -1, 1], [3, 2, 1]
    helpful, harmful = value(*args, harm=0), value(*args, measure=harmful_compatibility)
    assert value(*args, harm=0.25) == pytest.approx(helpful - harmful / 4)
    assert value([2, 1], [2, 1], harm=1) == 1
    # Nothing is helpful: undefined alone, 0 in the difference.
    assert value([-1, 0], [2, 1], harm=0, undefined=0.5) == 0.5
    assert value([-1, 0], [2, 1], undefined=0.5) == -1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"harm": 2}, "harm must be a finite number from 0 up and up to 1, got 2"),
        ({"persistence": 1}, "persistence must be a finite number from 0.01 up and up to 0.9999"),
        ({"ties": "average"}, "needs one order of the documents"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        value([1, 2], [2, 1], **options)

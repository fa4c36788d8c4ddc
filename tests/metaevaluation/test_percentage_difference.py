"""Differences of systems in percent of the greater mean."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.comparison import SystemScores
from skfilterrank.metaevaluation import percentage_absolute_difference

MEANS = st.lists(st.floats(0.001, 1), min_size=2, max_size=8)


def named(values):
    return {f"s{place}": value for place, value in enumerate(values)}


@given(MEANS)
def test_equals_equation_8_in_a_loop(means):
    pairs = [abs(a - b) / max(a, b) * 100 for a, b in itertools.combinations(means, 2)]
    np.testing.assert_allclose(
        percentage_absolute_difference(named(means), average=False), pairs, atol=1e-12
    )
    found = percentage_absolute_difference(named(means))
    assert found == pytest.approx(np.mean(pairs), abs=1e-12)
    assert 0 <= found <= 100


@given(MEANS, st.floats(0.1, 10))
def test_does_not_depend_on_the_unit_or_the_order(means, factor):
    found = percentage_absolute_difference(named(means))
    scaled = named([factor * mean for mean in reversed(means)])
    assert percentage_absolute_difference(scaled) == pytest.approx(found, abs=1e-9)


def test_averages_tables_first():
    # Means 0.3 and 0.6: (0.6 - 0.3) / 0.6. By columns it would be (0.5 + 0.5) / 2 as well, so the
    # third column tells the two apart.
    table = pd.DataFrame({5: [0.2, 0.4], 10: [0.4, 0.8], 30: [0.9, 0.3]}, index=["a", "b"])
    assert percentage_absolute_difference(table[[5, 10]]) == pytest.approx(50)
    # Means are equal: 0.5 and 0.5.
    assert percentage_absolute_difference(table) == pytest.approx(0, abs=1e-12)
    assert percentage_absolute_difference([[0.2, 0.4], [0.4, 0.8]]) == pytest.approx(50)
    assert percentage_absolute_difference(table.to_numpy()) == pytest.approx(0, abs=1e-12)
    scores = SystemScores(table, greater_is_better=False)
    assert percentage_absolute_difference(scores) == pytest.approx(0, abs=1e-12)


def test_means_of_zero():
    assert percentage_absolute_difference({"a": 0.0, "b": 0.0}) == 0
    assert percentage_absolute_difference({"a": 0.0, "b": 0.5}) == 100


def test_negative_means_are_taken_by_their_size_with_one_warning():
    means = {"a": -0.2, "b": -0.1, "c": 0.0, "d": 0.4}
    with pytest.warns(UserWarning, match="2 of 4 means are negative") as caught:
        found = percentage_absolute_difference(means, average=False)
    assert len(caught) == 1
    # |-0.2 + 0.1| / |-0.1|, then x / 0, |-0.2 - 0.4| / 0.4, ...
    np.testing.assert_allclose(found, [100, np.inf, 150, np.inf, 125, 100])
    with pytest.warns(UserWarning, match="2 of 4 means are negative"):
        found = percentage_absolute_difference(means, divide_by="letter", average=False)
    np.testing.assert_allclose(found, [-100, np.inf, 150, np.inf, 125, 100])


@pytest.mark.parametrize(
    ("means", "message"),
    [
        ({"a": 0.1}, "at least 2 systems, got 1"),
        ({}, "at least 2 systems, got 0"),
        ({"a": 0.1, "b": np.nan}, "missing"),
        ({"a": 0.1, "b": np.inf}, "infinite"),
        (pd.DataFrame({5: [0.1, np.nan], 10: [0.2, 0.3]}), "missing"),
        (pd.Series([0.1, 0.2], ["a", "a"]), "more than once"),
        ([0.1, 0.2], r"got \[0.1, 0.2\]"),
        (np.array([0.1, 0.2]), "got array"),
        ([[0.1], [np.nan]], "missing"),
    ],
)
def test_bad_input(means, message):
    with pytest.raises(ValueError, match=message):
        percentage_absolute_difference(means)

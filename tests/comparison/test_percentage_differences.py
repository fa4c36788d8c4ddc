"""Differences of systems in percent of the greater mean."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skfilterrank.comparison import SystemScores

MEANS = st.lists(st.floats(0.001, 1), min_size=2, max_size=8)


def percent(means, **params):
    if isinstance(means, dict):
        means = SystemScores([[mean] for mean in means.values()], systems=list(means))
    return SystemScores.of(means).percentage_differences(**params)


def named(values):
    return {f"s{place}": value for place, value in enumerate(values)}


@given(MEANS)
def test_equals_equation_8_in_a_loop(means):
    pairs = [abs(a - b) / max(a, b) * 100 for a, b in itertools.combinations(means, 2)]
    np.testing.assert_allclose(percent(named(means)), pairs, atol=1e-12)
    found = percent(named(means)).mean()
    assert found == pytest.approx(np.mean(pairs), abs=1e-12)
    assert 0 <= found <= 100


def test_averages_tables_first():
    # Means 0.3 and 0.6: (0.6 - 0.3) / 0.6. By columns it would be (0.5 + 0.5) / 2 as well, so the
    # third column tells the two apart.
    table = pd.DataFrame({5: [0.2, 0.4], 10: [0.4, 0.8], 30: [0.9, 0.3]}, index=["a", "b"])
    assert percent(table[[5, 10]]).mean() == pytest.approx(50)
    # Means are equal: 0.5 and 0.5.
    assert percent(table).mean() == pytest.approx(0, abs=1e-12)
    assert percent([[0.2, 0.4], [0.4, 0.8]]).mean() == pytest.approx(50)
    assert percent(table.to_numpy()).mean() == pytest.approx(0, abs=1e-12)
    scores = SystemScores(table, greater_is_better=False)
    assert percent(scores).mean() == pytest.approx(0, abs=1e-12)


def test_means_of_zero():
    assert percent({"a": 0.0, "b": 0.0}).mean() == 0
    assert percent({"a": 0.0, "b": 0.5}).mean() == 100


def test_negative_means_are_taken_by_their_size_with_one_warning():
    means = {"a": -0.2, "b": -0.1, "c": 0.0, "d": 0.4}
    with pytest.warns(UserWarning, match="2 of 4 means are negative") as caught:
        found = percent(means)
    assert len(caught) == 1
    # |-0.2 + 0.1| / |-0.1|, then x / 0, |-0.2 - 0.4| / 0.4, ...
    np.testing.assert_allclose(found, [100, np.inf, 150, np.inf, 125, 100])
    with pytest.warns(UserWarning, match="2 of 4 means are negative"):
        found = percent(means, divide_by="letter")
    np.testing.assert_allclose(found, [-100, np.inf, 150, np.inf, 125, 100])


def test_bad_input():
    with pytest.raises(ValueError, match="at least 2 systems, got 1"):
        percent({"a": 0.1})
    with pytest.raises(ValueError, match="divide_by"):
        percent({"a": 0.1, "b": 0.2}, divide_by="mean")

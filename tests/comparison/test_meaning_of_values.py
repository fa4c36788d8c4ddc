"""What a value means is known by its measure's name, whatever form the values come in."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank.comparison import SystemScores, compare_systems, kendall_tau, order_systems

VALUES = pd.DataFrame(
    [[9.0, 8.0, 7.0, 9.0], [1.0, 2.0, 1.0, 3.0], [5.0, 4.0, 6.0, 4.0]],
    index=pd.Index(["bad", "good", "fair"], name="run"),
    columns=pd.Index(list("abcd"), name="qid"),
)
LONG = VALUES.unstack().swaplevel()  # noqa: PD010


def test_lower_is_better_where_the_table_says_so():
    named = SystemScores(VALUES, measure="recall_error")
    assert not named.greater_is_better
    assert named.means.index[0] == "good"
    assert order_systems(named, random_state=0).to_frame().index[0] == "good"
    assert SystemScores(VALUES, measure="mine").greater_is_better
    assert SystemScores(VALUES, measure="recall_error", greater_is_better=True).greater_is_better


def test_values_of_a_lexicographic_measure_are_preferences():
    named = SystemScores(VALUES, measure="lexirecall(scale=preference)")
    assert named.is_preference
    wide = compare_systems(VALUES, measure="lexirecall(scale=preference)")
    long = compare_systems(LONG.to_frame("lexirecall(scale=preference)"))
    assert wide.test == long.test == "sign"
    np.testing.assert_array_equal(wide.scores.values, long.scores.values)


def test_an_order_is_read_by_the_name_of_its_values():
    error = VALUES.mean(axis=1).rename("recall_error")
    quality = (-VALUES.mean(axis=1)).rename("ap")
    assert kendall_tau(error, quality) == 1.0
    assert kendall_tau(error.to_frame(), quality.to_frame()) == 1.0


def test_sets_are_no_orders():
    with pytest.raises(ValueError, match=r"first must be SystemScores.*got set"):
        kendall_tau(set("abc"), list("abc"))


@pytest.mark.parametrize("name", ["query_id", "topic_id", "topic"])
def test_other_words_for_queries(name):
    wide = VALUES.T.rename_axis(index=name, columns=None)
    assert SystemScores(wide).systems == ("bad", "good", "fair")


def test_names_of_axes_decide_where_names_are_given():
    for wide in (VALUES, VALUES.T):
        found = SystemScores(wide, systems=["x", "y", "z"])
        assert (found.systems, found.queries) == (("x", "y", "z"), tuple("abcd"))
        np.testing.assert_array_equal(found.values, VALUES)


def test_both_axes_cannot_be_queries():
    with pytest.raises(ValueError, match="both have names of query ids, 'qid'"):
        SystemScores(VALUES.rename_axis(index="qid"))


def test_a_long_series_says_how_it_is_read():
    for names in ({}, {"systems": ["x", "y", "z"]}):
        with pytest.raises(ValueError, match=r"SystemScores\.of"):
            SystemScores(LONG, **names)

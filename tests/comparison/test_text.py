"""What results say of themselves."""

import pandas as pd
import pytest

from skfilterrank.comparison import SystemScores, order_systems
from skfilterrank.comparison._scores.text import counted, interval_text, p_text, short_table


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (1200, "1,200 pairs")]
)
def test_numbers_of_things(number, expected):
    assert counted(number, "pair") == expected


def test_other_plurals():
    assert counted(1, "query", "queries") == "1 query"
    assert counted(2, "query", "queries") == "2 queries"


def test_p_values_are_never_0():
    assert [p_text(value) for value in (0.0, 9e-5, 1e-4, 0.5)] == [
        *("<0.0001", "<0.0001", "0.0001", "0.5000")
    ]
    table = pd.DataFrame({"p_adjusted": [0.0], "share": [0.0]})
    assert short_table("head", table).splitlines()[-1].split() == ["0", "<0.0001", "0.0000"]


def test_intervals():
    assert interval_text(0.95) == "95 % interval"
    assert interval_text(0.999) == "99.9 % interval"


def test_short_tables():
    table = pd.DataFrame({"x": range(100)})
    lines = short_table("head", table, n_rows=3).splitlines()
    assert lines[2:] == ["0  0", "1  1", "2  2", "... and 97 more rows, see to_frame()"]
    lines = short_table("head", table, n_rows=3, spread=True, also=[7]).splitlines()
    assert [line.split()[0] for line in lines[2:-1]] == ["0", "7", "50", "99"]
    assert lines[-1] == "... and 96 more rows between, see to_frame()"
    assert short_table("head", table[:2]).splitlines()[0] == "head"
    assert "more" not in short_table("head", table[:2])


def test_one_query_is_no_queries():
    scores = SystemScores([[1.0], [2.0]])
    assert "1 query" in str(order_systems(scores, n_resamples=0))

"""A guarantee on a stream is that of arrays."""

import pytest

from skfilterrank import ranking
from skfilterrank.stream import Rows, risk_threshold
from stream_rows import arrays, cut, make_rows


@pytest.mark.filterwarnings(
    "ignore:.*are unjudged although a rate:skfilterrank.exceptions.DataWarning"
)
def test_guarantee():
    columns = make_rows(400, seed=3, text_ids=True)
    given = {"risk": {"any_forbidden": 0.7, "false_reject_rate": 0.9}, "k": 3}
    expected = ranking.risk_threshold(**arrays(columns), **given)
    found = risk_threshold(Rows(cut(columns, 500, 2000), chunk_rows=600), **given)
    assert found.threshold == expected.threshold
    assert str(found) == str(expected)

"""Elements of the page."""

import re

import pytest

from skfilterrank.cli.compare.report.elements import Cell, Html, element, table

pytest.importorskip("matplotlib")


def test_elements_escape():
    assert (
        element("p", '<&"', Html("<br>"), title='"&')
        == '<p title="&quot;&amp;">&lt;&amp;&quot;<br></p>'
    )
    text = table("<c>", ["<h>", "n"], [["<a>", Cell("<1>", 1.0)]])
    assert re.findall(r"<(c|h|a|1)>", text) == []
    assert 'data-v="1.0"' in text

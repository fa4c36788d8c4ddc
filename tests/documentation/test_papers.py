"""The page on the papers names functions, measures, tests and scripts that exist."""

import re
from pathlib import Path

import pytest

from public_names import public
from skfilterrank import integrations
from skfilterrank.metrics import get_measure_names

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def lost_of(page):
    """Names in the tables of a page that neither the library nor the repository has."""
    names = {name.partition(".")[2] for name in public()} | set(get_measure_names())
    names |= set(integrations.__all__)
    tables = "\n".join(line for line in page.splitlines() if line.startswith("| "))
    quoted = set(re.findall(r"`([^`]+)`", tables))
    paths = {each for each in quoted if re.fullmatch(r"[\w/]+\.py", each)}
    # A word with an underscore behind it, a sign or a call is an attribute, an option or a program.
    called = {each for each in quoted - paths if re.fullmatch(r"[A-Za-z]\w*(\.\w+)?", each)}
    called -= {"prior_", "n_relevant", "order_probability", "groups", "n", "df"}
    return {each for each in paths if not (ROOT / each).exists()} | called - names


def test_the_page_names_what_exists():
    assert lost_of(PAGE) == set()


@pytest.mark.parametrize("name", ["ndcg_g_score", "tests/metrics/test_dcgs.py"])
def test_a_name_that_does_not_exist_is_found(name):
    assert lost_of(f"| eq. 3 | `ndcg_f_score`, `{name}` |") == {name}


def test_every_item_says_where_it_is_and_what_holds_it():
    items = PAGE.partition("\n## F:")[2].partition("\n## Recipes")[0]
    lines = [line for line in items.splitlines() if line.startswith("| ")]
    lines = [line for line in lines if not line.startswith(("| item |", "| --- |"))]
    assert len(lines) >= 58
    for line in lines:
        _, here, held_by = line.strip("| ").split(" | ")
        assert here
        assert ".py`" in held_by or "this page" in held_by, line

"""Pages and names made from docstrings and the measure table say what those say."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("make_pages", ROOT / "docs/make_pages.py")
MAKER = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MAKER)


@pytest.mark.parametrize("name", sorted(MAKER.pages()))
def test_page_is_current(name):
    written = (ROOT / name).read_text(encoding="utf-8")
    assert written == MAKER.pages()[name], "run: python docs/make_pages.py"

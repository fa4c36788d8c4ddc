"""Pages made from docstrings say what the docstrings say."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
SPEC = importlib.util.spec_from_file_location("make_pages", DOCS / "make_pages.py")
MAKER = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(MAKER)


@pytest.mark.parametrize("name", sorted(MAKER.pages()))
def test_page_is_current(name):
    written = (DOCS / name).read_text(encoding="utf-8")
    assert written == MAKER.pages()[name], "run: python docs/make_pages.py"

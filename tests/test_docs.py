"""Pages made from docstrings say what the docstrings say."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"


def test_page_of_measures_is_current():
    spec = importlib.util.spec_from_file_location("make_measures", DOCS / "make_measures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (DOCS / "measures.md").read_text(encoding="utf-8")
    assert written == module.page(), "run: python docs/make_measures.py"

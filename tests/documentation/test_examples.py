"""Examples are such as the gallery wants them, and those without a picture run.

Those with one, plot_*.py, run when the gallery is built.
"""

import ast
import importlib.util
import re
import runpy
from pathlib import Path

import pytest

from public_data import data_set

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("gallery_files", ROOT / "docs/gallery_files.py")
GALLERY = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(GALLERY)
EXAMPLES = sorted(GALLERY.EXAMPLES.rglob("*.py"))
QUIET = [path for path in EXAMPLES if not path.name.startswith("plot_")]
# What takes no tenth of a second runs by day.
QUICK = {"compare_pairs", "evaluate_runs", "order_by_two_measures"}


def run(example, folder, monkeypatch, capsys):
    """Run an example in an empty folder; skip where the data that it needs are absent."""
    for name in re.findall(r"^# Data: (.+)$", example.read_text("utf-8"), re.MULTILINE):
        monkeypatch.setenv("SKFILTERRANK_DATA", str(data_set(name).parent))
    monkeypatch.chdir(folder)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.slow
@pytest.mark.parametrize("example", [p for p in QUIET if p.stem in QUICK], ids=lambda p: p.stem)
def test_quick_example_runs(example, tmp_path, monkeypatch, capsys):
    run(example, tmp_path, monkeypatch, capsys)


@pytest.mark.nightly
@pytest.mark.parametrize("example", [p for p in QUIET if p.stem not in QUICK], ids=lambda p: p.stem)
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    run(example, tmp_path, monkeypatch, capsys)


def test_examples_import_what_is_there():
    """Of the library: a name that is gone is noticed by day, though most examples run at night."""
    imported = {
        (node.module, alias.name)
        for example in EXAMPLES
        for node in ast.walk(ast.parse(example.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("skfilterrank")
        for alias in node.names
    }
    assert len(imported) > 30
    for module, name in sorted(imported):
        assert hasattr(importlib.import_module(module), name), f"{module} has no {name}"


def test_every_example_has_a_title_and_says_what_it_needs():
    for example in EXAMPLES:
        text = example.read_text(encoding="utf-8")
        title, line, blank, *_ = ast.get_docstring(ast.parse(text)).splitlines()
        assert (line, blank) == ("=" * len(title), ""), example
        fetches = re.search(r"= fetch_|get_data_home\(\) /|fetch_\w+\(", text) is not None
        assert fetches == ("# Data: " in text), example
        assert ("plt.show()" in text) == example.name.startswith("plot_"), example


def test_every_folder_has_a_header():
    for folder in {path.parent for path in EXAMPLES}:
        assert (folder / "GALLERY_HEADER.rst").read_text(encoding="utf-8").strip(), folder


def test_results_that_examples_name_are_there():
    for example in EXAMPLES:
        for name in re.findall(r"benchmarks/results/[\w.]+\.md", example.read_text("utf-8")):
            assert (ROOT / name).is_file(), f"{example}: {name}"


def test_what_the_gallery_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("SKFILTERRANK_DATA", str(tmp_path))
    needs_none = re.compile(GALLERY.runnable_pattern())
    table_7 = ROOT / "examples" / "carmel_2022" / "plot_table_7_semeval.py"
    assert needs_none.search(str(ROOT / "examples" / "tasks" / "plot_tuned_threshold.py"))
    assert not needs_none.search(str(table_7))
    assert not needs_none.search(str(ROOT / "examples" / "tasks" / "evaluate_runs.py"))
    (tmp_path / "semeval2016-cqa").mkdir()
    assert re.search(GALLERY.runnable_pattern(), str(table_7))

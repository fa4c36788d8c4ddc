"""Examples are such as the gallery wants them, and those without a picture run.

Those with one, plot_*.py, run when the gallery is built.
"""

import ast
import importlib.util
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("gallery_files", ROOT / "docs/gallery_files.py")
GALLERY = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(GALLERY)
EXAMPLES = sorted(GALLERY.EXAMPLES.rglob("*.py"))
QUIET = [path for path in EXAMPLES if not path.name.startswith("plot_")]


@pytest.mark.parametrize("example", QUIET, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path, monkeypatch, capsys, request):
    if "# Data: " in example.read_text(encoding="utf-8"):
        monkeypatch.setenv("SKFILTERRANK_DATA", str(request.getfixturevalue("data_dir")))
        if missing := GALLERY.missing_data(example):
            pytest.skip(f"no {', '.join(missing)} among the data sets")
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_has_a_title_and_says_what_it_needs(example):
    text = example.read_text(encoding="utf-8")
    title, line, blank, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert (line, blank) == ("=" * len(title), "")
    fetches = re.search(r"= fetch_|get_data_home\(\) /|fetch_\w+\(", text) is not None
    assert fetches == ("# Data: " in text)
    assert ("plt.show()" in text) == example.name.startswith("plot_")


@pytest.mark.parametrize("folder", sorted({path.parent for path in EXAMPLES}), ids=lambda p: p.name)
def test_every_folder_has_a_header(folder):
    assert (folder / "GALLERY_HEADER.rst").read_text(encoding="utf-8").strip()


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

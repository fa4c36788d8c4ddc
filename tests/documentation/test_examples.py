"""Examples are such as the gallery wants them, and all run: they print and draw something."""

import ast
import importlib
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
WITH_DATA = [path for path in EXAMPLES if GALLERY.needed_data(path)]
# What takes less than half a second runs by day.
QUICK = {"plot_certified_reranker", "plot_evaluate_runs"}
COLUMNS = 80


def run(example, folder, monkeypatch, capsys):
    """Run an example in an empty folder; skip where the data that it needs are absent."""
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    plt.switch_backend("Agg")
    for name in GALLERY.needed_data(example):
        monkeypatch.setenv("SKFILTERRANK_DATA", str(data_set(name).parent))
    monkeypatch.chdir(folder)
    plt.close("all")
    try:
        runpy.run_path(str(example), run_name="__main__")
        axes = [axis for number in plt.get_fignums() for axis in plt.figure(number).axes]
    finally:
        plt.close("all")
    printed = capsys.readouterr().out
    assert axes, "there is no picture"
    assert all(axis.has_data() for axis in axes), "axes are empty"
    assert printed.strip(), "nothing is printed"
    # The site is built in the folder of the examples, where a file would stay.
    assert not any(folder.iterdir()), "files are left in the working folder"
    too_long = [line for line in printed.splitlines() if len(line) > COLUMNS]
    assert not too_long
    assert not re.search(r"\b(True|False)$", printed, re.MULTILINE)
    if example in WITH_DATA:
        assert GALLERY.kept_output(example).read_text(encoding="utf-8") == printed, (
            "the output that is kept is of another program: run docs/gallery_files.py"
        )


@pytest.mark.slow
@pytest.mark.parametrize("example", [p for p in EXAMPLES if p.stem in QUICK], ids=lambda p: p.stem)
def test_quick_example_runs(example, tmp_path, monkeypatch, capsys):
    run(example, tmp_path, monkeypatch, capsys)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "example", [p for p in EXAMPLES if p.stem not in QUICK], ids=lambda p: p.stem
)
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
        fetches = re.search(r"= fetch_|SKFILTERRANK_DATA|fetch_\w+\(", text) is not None
        assert fetches == ("# Data: " in text), example
        # The gallery runs no other files.
        assert example.name.startswith("plot_"), example
        assert "plt.show()" in text, example


def test_tasks_need_no_public_data():
    assert [path for path in WITH_DATA if path.parent.name == "tasks"] == []


def test_introductions_have_at_most_three_sentences():
    for example in EXAMPLES:
        text = ast.get_docstring(ast.parse(example.read_text(encoding="utf-8")))
        introduction = " ".join(text.splitlines()[3:])
        # A sentence begins with a capital or a name of code; "2 of 3. Tables" has no other dots.
        ends = re.findall(r"[.?!](?= +[A-Z`\d]|$)", introduction)
        assert 1 <= len(ends) <= 3, f"{example}: {len(ends)} sentences"


def test_lines_fit_the_pages():
    for example in EXAMPLES:
        lines = example.read_text(encoding="utf-8").splitlines()
        too_long = [line for line in lines if len(line) > COLUMNS and "://" not in line]
        assert not too_long, example


def test_every_folder_has_a_header():
    for folder in {path.parent for path in EXAMPLES}:
        assert (folder / "GALLERY_HEADER.rst").read_text(encoding="utf-8").strip(), folder


def test_results_that_examples_name_are_there():
    for example in EXAMPLES:
        for name in re.findall(r"benchmarks/results/[\w.]+\.md", example.read_text("utf-8")):
            assert (ROOT / name).is_file(), f"{example}: {name}"


def test_tasks_come_first_and_every_example_has_its_place():
    folders = sorted({path.parent.name for path in EXAMPLES}, key=GALLERY.section_key)
    assert folders == GALLERY.SECTIONS
    assert folders[0] == "tasks"
    assert sorted(path.stem for path in EXAMPLES) == sorted(GALLERY.ORDER)
    by_place = sorted(EXAMPLES, key=lambda path: GALLERY.example_key(path.name))
    assert [path.stem for path in by_place] == GALLERY.ORDER


def test_examples_with_public_data_have_kept_results():
    found = {path for path in GALLERY.EXAMPLES.glob("*/kept/*") if path.is_file()}
    pictures = [each for path in WITH_DATA for each in GALLERY.kept_pictures(path)]
    assert found == {*map(GALLERY.kept_output, WITH_DATA), *pictures}
    for path in WITH_DATA:
        assert GALLERY.kept_output(path).stat().st_size
        drawn = path.read_text(encoding="utf-8").count("plt.show()")
        assert len(GALLERY.kept_pictures(path)) == drawn, path
    assert all(picture.stat().st_size < 30_000 for picture in pictures)


def test_what_the_gallery_runs(monkeypatch, tmp_path):
    monkeypatch.setenv("SKFILTERRANK_DATA", str(tmp_path))
    needs_none = re.compile(GALLERY.runnable_pattern())
    of_mq2007 = ROOT / "examples" / "papers" / "plot_karmaker_feng_2022.py"
    assert all(needs_none.search(str(path)) for path in EXAMPLES if path not in WITH_DATA)
    assert not needs_none.search(str(of_mq2007))
    (tmp_path / "mq2007").mkdir()
    assert re.search(GALLERY.runnable_pattern(), str(of_mq2007))


def test_a_page_of_an_example_not_run_shows_kept_results(monkeypatch, tmp_path):
    monkeypatch.setenv("SKFILTERRANK_DATA", str(tmp_path))
    program = "Intro.\n\n.. code-block:: Python\n\n   import this\n"
    source = [program]
    GALLERY.show_kept_results(None, "gallery/papers/plot_karmaker_feng_2022", source)
    before, _, after = source[0].partition(".. code-block:: Python")
    assert "did not run here" in before
    for number in (1, 2):
        picture = f"sphx_glr_plot_karmaker_feng_2022_00{number}.png"
        assert f".. image:: /gallery/papers/images/{picture}\n" in before
    assert "   tau of nDCG and V1: 1.00" in before
    assert after == "\n\n   import this\n"
    # Other pages stay as they are, and so does this one where its data are.
    for docname in ("index", "gallery/index", "gallery/tasks/plot_nested_cv"):
        source = [program]
        GALLERY.show_kept_results(None, docname, source)
        assert source == [program]
    (tmp_path / "mq2007").mkdir()
    GALLERY.show_kept_results(None, "gallery/papers/plot_karmaker_feng_2022", source)
    assert source == [program]

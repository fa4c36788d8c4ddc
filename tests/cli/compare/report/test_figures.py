"""Pictures of the page."""

import sys

import pytest

from skfilterrank.cli import _file_options as files

pytest.importorskip("matplotlib")

import matplotlib as mpl
from matplotlib import pyplot as plt

from report_pages import RUNS

pytestmark = pytest.mark.slow


def test_names_that_are_no_formulas_and_no_latin(report, folder):
    names = ["$\\x$", "$a_b$", "检索"]
    for name in names:
        (folder / name).write_text(RUNS["good"])
    text, page = report(files=["qrels", *names])
    for name in names:
        assert name in [row[0] for row in page.table("Mean ndcg_f@3")]
        assert f">{name}</text>" in text


def test_matplotlib_is_needed(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run("compare", "qrels", *RUNS, "--html", "r.html")
    assert (code, out) == (2, "")
    assert "drawing needs matplotlib: pip install 'skfilterrank[plot]'" in err
    with pytest.raises(files.argparse.ArgumentTypeError):
        files.page("r.html")


def test_no_window_is_asked_for(report):
    """No display is needed, and pictures are closed again."""
    mpl.use("template")  # stands for one that opens windows
    report(files=["qrels", "good", "filtered"], measures=["ap"])
    assert (mpl.get_backend(), plt.get_fignums()) == ("agg", [])

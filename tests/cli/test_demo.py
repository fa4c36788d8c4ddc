import importlib.util
import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from skfilterrank.cli import _output, _rank_filter, main
from skfilterrank.cli.rank_filter import draw_lists
from skfilterrank.ranking import LOSSES

pytestmark = pytest.mark.slow

N = ["--n-queries", "30"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Output, messages and folder of a demo, and the models that it compared."""
    folder, out, err = tmp_path_factory.mktemp("demo"), io.StringIO(), io.StringIO()
    compared, real = [], _rank_filter.compare_models

    def compare_models(*given, **how):
        compared.append(real(*given, **how))
        return compared[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(_rank_filter, "compare_models", compare_models)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        assert main(["demo", *N]) == 0
    return out.getvalue(), err.getvalue(), folder, compared[0]


@pytest.fixture
def trained(shown, monkeypatch):
    """Demos of the test have the models of the first one, as they would be trained alike."""
    monkeypatch.setattr(_rank_filter, "compare_models", lambda *given, **how: shown[-1])


def test_the_demo_prints_a_table_and_draws_a_picture(shown):
    out, err, folder, _ = shown
    assert "warning" not in err
    for name in (*LOSSES, "rank-only", "filter-only", "filter-all", "generator"):
        assert f"{name} " in out
    assert max(map(len, out.splitlines())) <= 100
    rows = [line.replace(" * ", " ").split() for line in out.splitlines()[1:21]]
    value = {name: float(first) for name, first, *_ in rows}
    assert value["filter-all"] < value["rank-only"] < value["generator"]
    assert "* best by cross-validation on the training questions: 0." in out
    assert err.startswith("train: ")
    assert err.endswith("picture: skfilterrank-demo.png\n")
    assert (folder / "skfilterrank-demo.png").read_bytes()[:4] == b"\x89PNG"


def test_the_picture_shows_what_is_shown_in_its_order():
    figure = Figure()
    axes = figure.subplots()
    rows = SimpleNamespace(groups=[7, 7, 7, 7, 8], y=[1, -1, 2, 2, 1])
    draw_lists(axes, rows, np.array([0.5, -np.inf, 0.9, 0.1, 1.0]))
    (drawn,) = axes.collections  # Query 8 has too few answers.
    assert drawn.get_offsets().tolist() == [[1, 0], [2, 0], [3, 0]]
    good, useful = to_rgba("#1a7f4b"), to_rgba("#8fce9f")
    assert [tuple(colour) for colour in drawn.get_facecolors()] == [good, useful, good]


def test_it_repeats_and_can_be_quiet(run, shown, monkeypatch):
    monkeypatch.setattr("skfilterrank.cli.rank_filter.draw_demo", lambda *given: None)
    assert run("demo", *N, "--quiet", "--plot", "c.svg") == (0, shown[0], "")


def test_too_few_questions(run):
    code, out, err = run("demo", "--n-queries", "5")
    assert (code, out) == (2, "")
    assert "--n-queries must be at least 20, got 5" in err


@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_without_matplotlib_there_is_the_table(run, monkeypatch, tmp_path, quiet):
    monkeypatch.chdir(tmp_path)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "matplotlib" else find_spec(name)
    )
    code, out, err = run("demo", *N, *quiet)
    assert code == 0
    assert "filter-all" in out
    assert ("pip install 'skfilterrank[plot]'" in err) == (not quiet)
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("trained")
def test_the_picture_is_drawn_before_the_table(tmp_path, monkeypatch, run):
    def gone(text):
        raise BrokenPipeError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_output, "show", gone)
    assert run("demo", *N, "--plot", "d.svg", "--quiet")[0] == 0
    assert (tmp_path / "d.svg").exists()

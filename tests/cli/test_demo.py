import io
import sys

import pytest

from skfilterrank.cli import _output, _rank_filter, main
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


def test_the_demo_prints_a_table(shown):
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
    assert not list(folder.iterdir())


def test_it_repeats_and_can_be_quiet(run, shown):
    assert run("demo", *N, "--quiet") == (0, shown[0], "")


def test_too_few_questions(run):
    code, out, err = run("demo", "--n-queries", "5")
    assert (code, out) == (2, "")
    assert "--n-queries must be at least 20, got 5" in err


@pytest.mark.usefixtures("trained")
def test_the_picture_is_drawn_before_the_table(tmp_path, monkeypatch, run):
    def gone(text):
        raise BrokenPipeError

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_output, "show", gone)
    assert run("demo", *N, "--plot", "d.png", "--quiet")[0] == 0
    assert (tmp_path / "d.png").read_bytes()[:4] == b"\x89PNG"

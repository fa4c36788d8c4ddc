import io
import re
import sys
from pathlib import Path

import pytest

from skfilterrank.cli import _output, main, rank_filter
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import LOSSES

pytestmark = pytest.mark.slow

N = ["--n-queries", "30"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Output, messages and folder of a demo, and the models that it compared."""
    folder, out, err = tmp_path_factory.mktemp("demo"), io.StringIO(), io.StringIO()
    compared, real = [], rank_filter.compare_models

    def compare_models(*given, **how):
        compared.append(real(*given, **how))
        return compared[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(rank_filter, "compare_models", compare_models)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        assert main(["demo", *N]) == 0
    return out.getvalue(), err.getvalue(), folder, compared[0]


@pytest.fixture
def trained(shown, monkeypatch):
    """Demos of the test have the models of the first one, as they would be trained alike."""
    monkeypatch.setattr(rank_filter, "compare_models", lambda *given, **how: shown[-1])


def test_the_demo_prints_one_model_and_what_it_costs(shown):
    out, err, folder, comparison = shown
    assert err == ""
    # With the name of the picture, twelve lines.
    assert len(out.splitlines()) <= 11
    assert max(map(len, out.splitlines())) <= 100
    rows = dict(re.split(r"  +", line, maxsplit=1) for line in out.splitlines()[3:9])
    value = {label: float(cells.split()[0]) for label, cells in rows.items()}
    assert value["nothing shown"] < value["ranked, all shown"] < value["generator's probabilities"]
    for label, system in {
        "ranked, bad hidden": "mse",
        "ranked, all shown": "everything (mse)",
        f"ranked, first {min(comparison.first_k['mse'])} shown": "first k (mse)",
        "ranked, hidden below 0": "hide below 0 (mse)",
        "nothing shown": "nothing",
    }.items():
        data = make_rank_and_filter(30, k=3, random_state=0)
        test = data.groups >= 21
        scores = comparison.scores[system]
        found = ndcg_f_score(data.y[test], scores, groups=data.groups[test], k=3)
        assert value[label] == pytest.approx(found, abs=0.0005)
    assert "A bad answer counts -1, a good one 1 or 2." in out
    assert not list(folder.iterdir())


def test_all_losses_have_the_table_of_rank_filter(run):
    code, out, err = run("demo", *N, "--all")
    assert code == 0
    assert "warning" not in err
    for name in (*LOSSES, "everything", "first k", "filter-only", "nothing", "generator"):
        assert f"{name} " in out
    assert "best by cross-validation on 21 training questions: 0." in out


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
    assert run("demo", *N, "--plot", "d.png")[2] == "picture: d.png\n"
    assert (tmp_path / "d.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.usefixtures("trained")
def test_make_demo_draws_the_picture(tmp_path, monkeypatch, run):
    makefile = Path(__file__).parents[2] / "Makefile"
    (options,) = re.findall(r"\(BIN\)/skfilterrank demo (.*)", makefile.read_text())
    monkeypatch.chdir(tmp_path)
    assert run("demo", *N, *options.split())[0] == 0
    assert len([*tmp_path.iterdir()]) == 1

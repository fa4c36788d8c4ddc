import io
import re
import sys

import pytest

from skfilterrank.cli import main

pytestmark = pytest.mark.slow

N = ["--n-queries", "30"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Output, messages and folder of a demo."""
    folder, out, err = tmp_path_factory.mktemp("demo"), io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        assert main(["demo", *N]) == 0
    return out.getvalue(), err.getvalue(), folder


def test_the_demo_prints_one_model_and_what_it_costs(shown):
    out, err, folder = shown
    assert err == ""
    assert len(out.splitlines()) <= 11
    assert max(map(len, out.splitlines())) <= 100
    rows = dict(re.split(r"  +", line, maxsplit=1) for line in out.splitlines()[3:9])
    value = {label: float(cells.split()[0]) for label, cells in rows.items()}
    assert value["nothing shown"] < value["ranked, all shown"] < value["generator's probabilities"]
    assert next(iter(value)) == "ranked, bad hidden"
    # Shares of the good that are lost: none where all is shown, all where nothing is.
    assert rows["ranked, all shown"].split()[2] == "0.0"
    assert rows["nothing shown"].split()[2] == "100.0"
    assert "A bad answer counts -1, a good one 1 or 2." in out
    assert not list(folder.iterdir())


def test_it_repeats_and_can_be_quiet(run, shown):
    assert run("demo", *N, "--quiet") == (0, shown[0], "")


def test_too_few_questions(run):
    code, out, err = run("demo", "--n-queries", "5")
    assert (code, out) == (2, "")
    assert "--n-queries must be at least 20, got 5" in err

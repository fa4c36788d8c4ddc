"""Every Python example of the README runs."""

import re
from pathlib import Path

import numpy as np
import pytest

from measure_table import MEASURES
from skfilterrank.ranking import fuse_runs

README = Path(__file__).parents[2] / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md"])
def test_the_number_of_measures(page):
    # Other tests may have registered some.
    own = [m for m in MEASURES.values() if m.__module__.startswith("skfilterrank.")]
    told = re.findall(r"(\d+) measures(?:,| in one table)", (README.parent / page).read_text())
    assert told
    assert set(map(int, told)) == {len(own)}


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_runs(number, capsys):
    exec(compile(EXAMPLES[number], f"README.md, example {number + 1}", "exec"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.slow
def test_values_of_the_first_example(capsys):
    names = {}
    exec(compile(EXAMPLES[0], "README.md, example 1", "exec"), names)
    told = re.search(r"# (\S+); all: (\S+), none: (\S+)\n", EXAMPLES[0])
    test, features = names["test"], names["features"]
    ranked = names["model"].decision_function(test[features])
    of_all, of_none = (
        names["ndcg_f_score"](test.label, shown, groups=test.qid, k=3)
        for shown in (ranked, np.full(len(test), -np.inf))
    )
    values = float(capsys.readouterr().out), of_all, of_none
    assert told.groups() == tuple(f"{value:.3f}" for value in values)


@pytest.mark.slow
def test_calls_in_a_sentence_run_after_the_example_above(capsys):
    """Calls such as `fuse_runs(runs, "rrf")` below the example that makes runs and judgments."""
    page = README.read_text(encoding="utf-8")
    (number,) = (i for i, text in enumerate(EXAMPLES) if "evaluate_runs(qrels, runs" in text)
    below = page.partition(EXAMPLES[number])[2].partition("\n## ")[0]
    calls = re.findall(r"`(fuse_runs\(.*?\))`", below)
    assert calls
    names = {"fuse_runs": fuse_runs}
    exec(compile(EXAMPLES[number], f"README.md, example {number + 1}", "exec"), names)
    for call in calls:
        assert eval(call, names)["qid"].unique().tolist() == ["1", "2"]

"""Every Python example of the README runs."""

import contextlib
import functools
import io
import re
from pathlib import Path

import numpy as np
import pytest

from measure_table import MEASURES

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


@functools.cache
def ran(number):
    """The names that an example leaves, and its text; the last goes on from the one before."""
    names = dict(ran(number - 1)[0]) if number == len(EXAMPLES) - 1 else {}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(EXAMPLES[number], f"README.md, example {number + 1}", "exec"), names)
    return names, out.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example_runs(number):
    assert ran(number)[1].strip()


@pytest.mark.slow
def test_values_of_the_first_example():
    names, printed = ran(0)
    told = re.search(r"# (\S+); all: (\S+), none: (\S+)\n", EXAMPLES[0])
    X, y, groups = (names[name][names["test"]] for name in ("X", "y", "groups"))
    ranked = names["model"].decision_function(X)
    of_all, of_none = (
        names["ndcg_f_score"](y, shown, groups=groups, k=3)
        for shown in (ranked, np.full(len(y), -np.inf))
    )
    values = float(printed.splitlines()[0]), of_all, of_none
    assert told.groups() == tuple(f"{value:.3f}" for value in values)


@pytest.mark.slow
def test_values_by_drawn_labels():
    names, _ = ran(len(EXAMPLES) - 1)
    told = [float(each) for each in re.findall(r"0\.\d{3}", EXAMPLES[-1].splitlines()[-1])]
    drawn = names["evaluate_runs"](
        names["complete_qrels"](names["judged"], names["runs"], random_state=0), names["runs"], "ap"
    )
    values = [*drawn.means["ap"], *names["values"].means["ap"]]
    assert told == [round(float(value), 3) for value in values]

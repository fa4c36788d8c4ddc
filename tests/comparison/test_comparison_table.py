"""Tables of means with marks of significance, as papers print them."""

import numpy as np
import pytest

from skfilterrank.comparison import SystemScores, compare_systems, comparison_table
from skfilterrank.exceptions import InputError

# Means in the order of the systems: 0.55, 0.675, 0.6275.
VALUES = [[0.4, 0.6, 0.4, 0.8], [0.5, 0.7, 0.6, 0.9], [0.5, 0.5, 0.61, 0.9]]
SYSTEMS = ["old_1", "new", "<z>"]


def compared(values=VALUES, systems=SYSTEMS, measure="ap", **params):
    return compare_systems(SystemScores(values, systems=systems, measure=measure), **params)


def test_letters():
    found = compared()
    assert found.better().tolist() == [-1, 0, 0]
    lines = comparison_table({"ap": found, "P_5": found}, format="markdown").splitlines()
    assert lines[:5] == [
        "| system | ap | P\\_5 |",
        "| --- | ---: | ---: |",
        "| a old\\_1 | 0.550 | 0.550 |",
        "| b new | **0.675**<sup>a</sup> | **0.675**<sup>a</sup> |",
        "| c \\<z\\> | 0.627 | 0.627 |",
    ]
    assert lines[6] == (
        "Bold: the best. Letters: significantly better than these systems (p \\<= 0.05; ap, P\\_5: "
        "paired t test, Holm's correction for 3 pairs, 4 queries)."
    )
    assert comparison_table(found, digits=4).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"system & ap \\",
        r"\midrule",
        r"a old\_1 & 0.5500 \\",
        r"b new & \textbf{0.6750}$^{a}$ \\",
        r"c \textless{}z\textgreater{} & 0.6275 \\",
        r"\bottomrule",
        r"\end{tabular}",
        "% Bold: the best. Letters: significantly better than these systems (p <= 0.05; ap: paired "
        "t test, Holm's correction for 3 pairs, 4 queries).",
    ]


def test_a_baseline():
    against_best = comparison_table(compared(baseline="new"), format="markdown")
    assert "| old\\_1 | 0.550<sup>-</sup> |" in against_best
    assert "| new (baseline) | **0.675** |" in against_best
    against_worst = comparison_table(compared(baseline="old_1"), format="markdown")
    assert "| new | **0.675**<sup>+</sup> |" in against_worst
    assert "| \\<z\\> | 0.627 |" in against_worst
    assert "+ and -: significantly better and worse than old\\_1" in against_worst


def test_lower_is_better_and_levels():
    found = comparison_table(compared(measure="forbidden@3"), format="markdown")
    assert "| a old\\_1 | **0.550**<sup>b</sup> |" in found
    assert "<sup>" not in comparison_table(compared(alpha=0.01), format="markdown")


def test_many_systems_have_numbers():
    rng = np.random.default_rng(0)
    values = np.arange(30)[:, None] + rng.normal(size=(30, 20)) / 100
    found = compared(values, [f"s{i}" for i in range(30)])
    lines = comparison_table(found, format="markdown").splitlines()
    assert lines[2] == f"| 1 s0 | {values[0].mean():.3f} |"
    assert lines[4].endswith("<sup>1,2</sup> |")
    assert "Numbers: significantly better" in lines[-1]


def test_bad_input():
    with pytest.raises(InputError, match="format must be one of 'latex', 'markdown', got 'html'"):
        comparison_table(compared(), format="html")
    for wrong in ({}, None, [compared()]):
        with pytest.raises(InputError, match="comparisons must be a result of compare_systems"):
            comparison_table(wrong)
    for other in (compared(systems=list("abc")), compared(baseline="new"), compared(alpha=0.1)):
        with pytest.raises(InputError, match="must all have the same systems in the same order"):
            comparison_table({"x": compared(), "y": other})


def test_every_result_is_written():
    found = compared()
    first, _, *rest = found.to_markdown().splitlines()
    assert first.startswith("| first | second | difference |")
    assert len(rest) == 3
    assert "0.0462" in rest[0]
    latex = found.scores.to_latex()
    assert latex.count(r"\\") == 4
    assert r"old\_1 & 0.400 & 0.600" in latex

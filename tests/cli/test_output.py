"""The report of `rank-filter` and `demo` as text, columns, pictures."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli._output import align_columns, format_report
from skfilterrank.metrics import rank_filter_report

# Two queries of a good (2), an acceptable (1) and a forbidden document (-1).
LABELS, QUERIES = [2, 1, -1] * 2, ["a"] * 3 + ["b"] * 3
KEPT = np.array([3.0, 2.0, -np.inf, 1.0, -np.inf, 2.0])
SCORES = {
    # Of a the forbidden document is filtered, of b the acceptable one.
    "m": KEPT,
    "rank-only (m)": np.array([3.0, 2.0, 1.0, 1.0, 0.0, 2.0]),
    "filter-only (m)": np.where(-np.inf < KEPT, 0.0, -np.inf),
    "filter-all": np.full(6, -np.inf),
}


def report(k, baseline="rank-only (m)"):
    return rank_filter_report(
        LABELS, SCORES, groups=QUERIES, k=k, baseline=baseline,
        own_baselines={"m": "rank-only (m)"},
    )  # fmt: skip


def columns(text):
    """Cells of each line of a report, whose names may have blanks."""
    head, *lines = text.split("\n\n")[0].splitlines()[1:]
    return head.split(), [line for line in lines if "---" not in line]


@pytest.mark.parametrize("k", [2, None])
def test_each_column_of_the_report_has_its_value(k):
    """Shares by hand: of 2 places, or all; good: what has a gain above 0."""
    frame = report(k)
    text = format_report(frame, k, models=["m"], best="m", baseline="rank-only (m)")
    head, lines = columns(text)
    assert " ".join(head) == "nDCG_f 95 % interval nDCG_0 nDCG_min den % lost % lists % diff. p"
    names = ["m *", "  rank-only", "  filter-only", "filter-all"]
    systems = ["m", "rank-only (m)", "filter-only (m)", "filter-all"]
    # Forbidden: of the shown documents. In b it stands first, with or without the filter.
    forbidden = {2: [25, 25, 25, 0], None: [25, 100 / 3, 25, 0]}[k]
    lost, empty = [25, 0, 25, 100], [0, 0, 0, 100]
    for line, name, system, *shares in zip(
        lines, names, systems, forbidden, lost, empty, strict=True
    ):
        assert line.startswith(name)
        row = frame.loc[system].iloc[:3]
        cells = line.removeprefix(name).split()
        value, interval, *cells = cells if "-" in cells[1] else [cells[0], "", *cells[1:]]
        assert value == f"{frame.loc[system].iloc[0]:.3f}"
        if interval:
            assert interval == f"{row.iloc[1]:.3f}-{row.iloc[2]:.3f}"
        assert cells[:2] == [f"{each:.3f}" for each in frame.loc[system].iloc[3:5]]
        assert [float(each) for each in cells[2:5]] == pytest.approx(shares, abs=0.05)
    assert lines[1].split()[-1] == "base"
    places = "the 2 places shown" if k else "all that is shown"
    assert f"measures at {k or 'all'} places; forbidden: share of {places};" in text
    assert "nDCG_f against rank-only (m), paired t test over queries" in text
    own = frame.loc["m", "own_difference"]
    assert f"each model against its own rank-only: m {own:+.3f}" in text


def test_differences_stand_by_their_signs():
    text = format_report(report(2, "m"), 2, models=["m"], best=None, baseline="m")
    _, lines = columns(text)
    assert lines[0].startswith("m ")
    assert lines[0].split()[-1] == "base"
    frame = report(2, "m")
    for line, system in zip(lines[1:], ["rank-only (m)", "filter-only (m)", "filter-all"]):
        difference = frame.loc[system].iloc[0] - frame.loc["m"].iloc[0]
        assert f" {difference:+.3f}" in line


def test_columns_are_aligned_by_what_is_shown():
    lines = [["name", "x"], ["a\x1bb", "1.5"], ["c", ""]]
    assert align_columns(lines) == ["name      x", r"a\x1bb  1.5", "c"]


def test_a_small_p_value_is_no_zero():
    frame = report(2).copy()
    place = frame.columns.get_loc("p_value")
    frame.iloc[0, place] = 0.0004
    text = format_report(frame, 2, models=["m"], best="m", baseline="filter-all")
    assert columns(text)[1][0].endswith(" <.001")
    assert pd.notna(frame.iloc[0, place])

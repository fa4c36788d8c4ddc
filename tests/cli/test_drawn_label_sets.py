"""``evaluate`` and ``compare`` by drawn label sets."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from label_sets import drawn_table
from skfilterrank.comparison import compare_systems, order_systems, score_systems
from skfilterrank.metrics import evaluate_runs

pytestmark = pytest.mark.slow

RUNS = ("r0.txt", "r1.txt", "r2.txt")


@pytest.fixture(scope="module")
def table():
    return drawn_table(n_queries=6)


@pytest.fixture
def command(table, run, tmp_path, monkeypatch):
    """Run a command in a folder with drawn label sets and runs."""
    monkeypatch.chdir(tmp_path)
    table.to_csv("drawn.csv", index=False)
    table.to_json("drawn.jsonl", orient="records", lines=True)
    rng = np.random.default_rng(1)
    for name in RUNS:
        lines = [
            f"{query} Q0 d{document} {place} {-place} {name}\n"
            for query in range(6)
            for place, document in enumerate(rng.permutation(10)[:7])
        ]
        (tmp_path / name).write_text("".join(lines))
    return run


def test_evaluate(command, table):
    values = evaluate_runs(table, list(RUNS), ["ap", "num_rel"])
    wanted = values.intervals()
    for qrels in ("drawn.csv", "drawn.jsonl"):
        what = ("evaluate", qrels, *RUNS, "-m", "ap,num_rel")
        code, out, err = command(*what, "--format", "csv")
        assert (code, err) == (0, "")
        found = pd.read_csv(io.StringIO(out), index_col=["run", "measure"])
        pd.testing.assert_frame_equal(found, wanted, check_exact=True)
    first, *_ = map(json.loads, command(*what, "--format", "json")[1].splitlines())
    assert first["n_draws"] == 4
    assert first["measures"]["ap"] == wanted.loc[("r0", "ap")].to_dict()
    head, _, names, line, *_ = command(*what, "--confidence-level", "0.8")[1].splitlines()
    assert head.startswith("labels drawn in 4 sets: means over them, intervals by Rubin's rules")
    assert names.split("  ")[-2:] == ["queries in general", "draws"]
    row = values.intervals(0.8).loc[("r0", "ap")]
    assert line.split()[2:7] == [f"{value:.4f}" for value in row[:5]]
    assert line.split()[-1] == f"{row['share_of_draws']:.0%}"
    lines = command(*what, "--per-query", "--format", "trec")[1].splitlines()
    assert f"ap                    \t0\t{values.per_query['ap'].iloc[0]:6.4f}" in lines


def test_compare(command, table):
    scores = score_systems(table, list(RUNS), ["ap", "rr"])
    what = ("compare", "drawn.csv", *RUNS, "-m", "ap,rr")
    code, out, err = command(*what, "--format", "json")
    assert (code, err) == (0, "")
    for line, each in zip(map(json.loads, out.splitlines()), scores.values(), strict=True):
        comparison = compare_systems(each)
        assert line["pairs"] == comparison.pairs().to_dict("records")
        ranks = {run["run"]: run["safe_rank"] for run in line["runs"]}
        assert ranks == order_systems(each, method="safe").to_frame()["rank"].to_dict()
    lines = command(*what)[1].splitlines()
    assert lines[0].startswith("ap: 3 runs, 6 queries, paired t test over 4 drawn label sets")
    assert lines[2].split("  ")[-1] == "safe rank"
    assert "these queries" in lines[8]


def test_default_measures_are_no_preferences(command):
    code, out, err = command("compare", "drawn.csv", *RUNS)
    assert (code, "ndcg_f@10: 3 runs" in out) == (0, True)
    assert err.startswith("measured by ndcg_f@10, as -m names no measure")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("evaluate", "drawn.csv", *RUNS, "-m", "ap", "--format", "trec"), "has no intervals"),
        (
            ("evaluate", "drawn.csv", *RUNS, "--per-query", "--confidence-level", "0.9"),
            "--confidence-level is for drawn label sets",
        ),
        (("compare", "drawn.csv", *RUNS, "-m", "ap", "--html", "a.html"), "--html has curves that"),
        (("compare", "drawn.csv", *RUNS, "-m", "ap", "--test", "sign"), "--test must be 't'"),
        (
            ("compare", "drawn.csv", *RUNS, "-m", "lexirecall(scale=preference)"),
            "preferences cannot be averaged",
        ),
    ],
)
def test_what_cannot_be_combined(command, arguments, message):
    if "--html" in arguments:
        pytest.importorskip("jinja2")
    code, out, err = command(*arguments)
    assert (code, out) == (2, "")
    assert message in err

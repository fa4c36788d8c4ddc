"""Comparisons from a sample of people's labels."""

import io
import json

import pandas as pd
import pytest

from sampled_labels import SAMPLED, estimates_of


@pytest.fixture
def runs(sampled_runs):
    """Paths of the runs, in the working folder."""
    return sampled_runs


@pytest.mark.slow
def test_compare_prints_what_python_returns(run, runs):
    arguments = ["people.txt", *runs, *SAMPLED]
    code, out, err = run("compare", *arguments, "--format", "csv")
    assert (code, err) == (0, "")
    found = pd.read_csv(io.StringIO(out)).set_index(["first", "second"])
    expected = estimates_of(runs).compare().to_frame().set_index(["first", "second"])
    for (first, second), row in expected.iterrows():
        sign = 1 if row["difference"] > 0 else -1
        line = found.loc[(first, second) if sign > 0 else (second, first)]
        assert line["difference"] == sign * row["difference"]
        assert line["p_adjusted"] == row["p_adjusted"]
        assert {line["low"], line["high"]} == {sign * row["low"], sign * row["high"]}
        assert line["low"] < line["difference"] < line["high"]
        assert line["significant"] == (row["p_adjusted"] <= 0.05)
    code, out, _ = run("compare", *arguments, "--format", "json", "--baseline", "beta")
    record = json.loads(out)
    order = estimates_of(runs).order()
    assert [each["run"] for each in record["systems"]] == order.index.tolist()
    assert [each["rank_high"] for each in record["systems"]] == order["high"].tolist()
    assert len(record["pairs"]) == 3
    code, out, _ = run("compare", *arguments)
    n_sure = int(estimates_of(runs).compare().significant().sum())
    assert f"{n_sure} of 6 pairs differ (p <= 0.05, holm)" in out


@pytest.mark.slow
def test_alpha_is_what_intervals_leave(run, runs):
    arguments = ["people.txt", *runs, *SAMPLED, "--alpha", "0.2", "--correction", "none"]
    _code, out, _ = run("compare", *arguments, "--format", "json")
    record = json.loads(out)
    assert (record["confidence"], record["correction"]) == (0.8, None)
    lows = {each["run"]: each["low"] for each in record["systems"]}
    assert lows == estimates_of(runs, confidence=0.8).to_frame().loc["dcg@10", "low"].to_dict()

"""Values of runs with intervals."""

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
def test_evaluate_prints_what_python_returns(run, runs):
    measures = ["dcg@10", "precision@10"]
    arguments = [*SAMPLED, "-m", "precision@10"]
    code, out, err = run("evaluate", "people.txt", *runs, *arguments, "--format", "csv")
    assert (code, err) == (0, "")
    found = pd.read_csv(io.StringIO(out)).set_index(["measure", "run"]).sort_index()
    expected = estimates_of(runs, measures).to_frame()
    pd.testing.assert_frame_equal(found, expected.sort_index(), check_exact=True)
    code, out, _ = run("evaluate", "people.txt", *runs, *arguments)
    assert out.startswith(
        "95 % intervals for these topics: 150 of 807 documents judged by people, 30 topics"
    )
    row = expected.loc["dcg@10", "alpha"]
    assert f"{row['value']:.4f}  {row['low']:.4f} {row['high']:.4f}" in out


@pytest.mark.slow
def test_evaluate_of_new_topics_in_json_in_order(run, runs):
    arguments = [*SAMPLED, "--target", "new-topics", "--confidence", "0.8", "--sort", "dcg@10"]
    _code, out, _ = run("evaluate", "people.txt", *runs, *arguments, "--format", "json")
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["run"] for record in records] == ["alpha", "gamma", "beta", "delta"]
    expected = estimates_of(runs, target="new topics", confidence=0.8).to_frame()
    assert records[0]["measures"]["dcg@10"] == expected.loc["dcg@10", "alpha"].to_dict()
    assert (records[0]["target"], records[0]["confidence"]) == ("new topics", 0.8)

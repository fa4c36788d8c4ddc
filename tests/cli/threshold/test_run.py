"""``skfilterrank threshold``: scores in, a filter out."""

import io
import json

import pandas as pd
import pytest

from skfilterrank.io import write_qrels, write_run
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import (
    read_filter,
    risk_threshold,
    threshold_curve,
)

# Labels below 0 are told of, as they may mean something else.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")


def test_threshold_is_that_of_the_function(run, data):
    code, out, err = run("threshold", "qrels.txt", "run.txt", "--k", 3, "--save", "filter.json")
    assert code == 0, err
    curve = threshold_curve(data["label"], data["score"], groups=data["qid"], k=3)
    head, line = out.splitlines()
    assert head.split()[:3] == ["run", "threshold", "ndcg_f@3"]
    assert line.split()[0] == "run"
    model = read_filter("filter.json")
    assert model.threshold_ == pytest.approx(curve.best_threshold)
    assert float(line.split()[2]) == pytest.approx(curve.best_value, abs=1e-4)
    assert "200 judged topics, " in err
    assert "wrote filter.json" in err


def test_several_runs_have_a_line_each(run, data):
    write_run("other.txt", data.assign(score=-data["score"]))
    code, out, err = run("threshold", "qrels.txt", "run.txt", "other.txt", "--format", "csv")
    assert code == 0, err
    table = pd.read_csv(io.StringIO(out), index_col="run")
    assert list(table.index) == ["run", "other"]
    assert table.loc["run", "ndcg_f"] > table.loc["other", "ndcg_f"]
    value = ndcg_f_score(data["label"], data["score"], groups=data["qid"])
    assert table.loc["run", "unfiltered"] == pytest.approx(value)
    code, _, err = run("threshold", "qrels.txt", "run.txt", "other.txt", "--save", "x.json")
    assert code == 2
    assert "--save saves the filter of one run, got 2" in err


def test_promises(run, data):
    risk = "any_forbidden=0.3,false_reject_rate=0.6"
    code, out, err = run(
        "threshold", "qrels.txt", "run.txt", "--k", 3, "--risk", risk, "--save", "filter.json"
    )
    assert code == 0, err
    expected = risk_threshold(
        data["label"],
        data["score"],
        groups=data["qid"],
        risk={"any_forbidden": 0.3, "false_reject_rate": 0.6},
        k=3,
    )
    assert read_filter("filter.json").threshold_ == pytest.approx(expected.threshold)
    assert str(expected).splitlines()[0] in out
    code, out, err = run(
        "threshold", "qrels.txt", "run.txt", "--risk", "any_forbidden=0.3", "--format", "json"
    )
    row = json.loads(out)
    assert row["any_forbidden"] <= row["any_forbidden at most"] <= 0.3


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.FitWarning")
def test_a_promise_that_says_little_is_warned_of(run, data):
    write_qrels("grades.txt", data.assign(label=data["label"] + 1))
    code, _, err = run("threshold", "grades.txt", "run.txt", "--k", 3, "--risk", "any_forbidden=.1")
    assert code == 0
    assert "is 0 on all calibration queries" in err


GAINS = "--gains=-1=-1,0=0,1=1,2=2"


def test_a_promise_with_a_cap(run, data):
    code, out, err = run(
        "threshold", "qrels.txt", "run.txt", "--k", 3, GAINS, "--risk", "any_forbidden=0.4",
        "--max-shown", 1,
    )  # fmt: skip
    assert code == 0, err
    assert "most 0.4 on new queries" in out

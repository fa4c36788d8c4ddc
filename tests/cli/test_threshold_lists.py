"""``threshold`` and ``filter`` with cuts by list, abstention and caps."""

import argparse
import io

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli import _options
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import read_run, write_qrels, write_run
from skfilterrank.plot import _answer_curve
from skfilterrank.ranking import RankAndFilter
from skfilterrank.ranking._filtering.abstention import CONFIDENCES
from skfilterrank.ranking._filtering.parameters import CUTS

GAINS = "--gains=-1=-1,0=0,1=1,2=2"


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Judgments and the scores of a reranker in the working folder; the rows as a frame."""
    monkeypatch.chdir(tmp_path)
    data = make_rank_and_filter(n_queries=120, random_state=0)
    rows = pd.DataFrame(
        {
            "qid": [f"q{query:03}" for query in data.groups],
            "docno": [f"d{row:04}" for row in range(len(data.y))],
            "score": data.bayes_scores,
            "label": data.y,
        }
    )
    write_run("run.txt", rows)
    write_qrels("qrels.txt", rows)
    return rows


def test_names_are_those_of_the_library():
    assert set(_options.CUTS) == set(CUTS) - {"risk"}
    assert _options.CONFIDENCES == CONFIDENCES
    assert _answer_curve.CONFIDENCES == CONFIDENCES
    with pytest.raises(argparse.ArgumentTypeError, match="expected tune, per_query, expected, fi"):
        _options.threshold("risk")


@pytest.mark.parametrize(
    "given",
    [
        {"threshold": "expected"},
        {"threshold": "first_k"},
        {"threshold": "surprise", "max_shown": 4},
        {"threshold": "largest_gap", "abstain": "score_regression"},
        {"threshold": "tune", "min_shown": 1},
    ],
    ids=str,
)
def test_what_is_filtered_is_what_the_model_filters(run, data, given):
    arguments = [
        each
        for name, value in given.items()
        for each in (f"--{name.replace('_', '-')}", str(value))
    ]
    code, out, err = run(
        "threshold", "qrels.txt", "run.txt", "--k", 3, GAINS, *arguments, "--save", "filter.json"
    )
    assert code == 0, err
    model = RankAndFilter("passthrough", k=3, **given)
    model.fit(data["score"].to_numpy(), data["label"], groups=data["qid"])
    head, line = out.splitlines()
    assert head.split()[-2:] == ["held", "out"]
    assert float(line.split()[-1]) == pytest.approx(model.held_out_score_, abs=1e-4)
    expected = model.predict(data["score"].to_numpy(), groups=data["qid"])
    code, out, err = run("filter", "run.txt", "--with", "filter.json")
    assert code == 0, err
    shown = read_run(io.BytesIO(out.encode()))
    assert set(shown["docno"]) == set(data["docno"][expected > -np.inf])


def test_a_promise_with_a_cap(run, data):
    code, out, err = run(
        "threshold", "qrels.txt", "run.txt", "--k", 3, GAINS, "--risk", "any_forbidden=0.4",
        "--max-shown", 1,
    )  # fmt: skip
    assert code == 0, err
    assert "most 0.4 on new queries" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--threshold", "gap"], "expected tune, per_query"),
        (["--abstain", "gap"], "invalid choice: 'gap'"),
        (["--max-shown", "0"], "a whole number from 1 up"),
        (["--min-shown", "2", "--max-shown", "1"], "--min-shown must be at most --max-shown"),
        (["--min-shown", "2", "--risk", "any_forbidden=0.4"], "can promise nothing"),
    ],
)
def test_bad_input(run, data, arguments, message):
    code, _, err = run("threshold", "qrels.txt", "run.txt", GAINS, *arguments)
    assert code != 0
    assert message in err

"""``skfilterrank filter``: shown lists out."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfilterrank.io import read_run, write_qrels
from skfilterrank.ranking import (
    RankAndFilter,
    SegmentedFilter,
    write_filter,
)

# Labels below 0 are told of, as they may mean something else.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")


@pytest.mark.slow
@pytest.mark.parametrize("threshold", ["per_query", "none", "0.25", "tune"])
def test_what_is_filtered_is_what_the_model_filters(run, data, threshold):
    arguments = ("--k", 3, "--threshold", threshold, "--save", "filter.json")
    code, _, err = run("threshold", "qrels.txt", "run.txt", *arguments)
    assert code == 0, err
    code, out, err = run("filter", "run.txt", "--with", "filter.json")
    assert code == 0, err
    given = {"none": None, "0.25": 0.25}.get(threshold, threshold)
    model = RankAndFilter("passthrough", k=3, threshold=given)
    model.fit(data["score"].to_numpy(), data["label"], groups=data["qid"])
    expected = model.predict(data["score"].to_numpy(), groups=data["qid"])
    shown = read_run(io.BytesIO(out.encode()))
    assert set(shown["docno"]) == set(data["docno"][expected > -np.inf])


@pytest.mark.slow
def test_what_was_not_retrieved_is_no_part_of_a_list(run, data):
    # Judgments of many more documents than the run has.
    more = data.assign(docno="x" + data["docno"])
    write_qrels("all.txt", pd.concat([data, more, more.assign(docno="y" + data["docno"])]))
    assert run("threshold", "all.txt", "run.txt", "--k", 3, "--save", "filter.json")[0] == 0
    code, _, err = run("filter", "run.txt", "--with", "filter.json")
    assert code == 0
    assert "other sizes" not in err


@pytest.mark.slow
def test_formats_of_filter(run, data):
    run("threshold", "qrels.txt", "run.txt", "--k", 3, "--save", "filter.json")
    run("filter", "run.txt", "--with", "filter.json", "--out", "all.csv")
    table = pd.read_csv("all.csv")
    assert list(table.columns) == ["qid", "docno", "rank", "score", "shown"]
    assert len(table) == len(data)
    for _, rows in table.groupby("qid"):
        shown = rows[rows["shown"]]
        assert shown["rank"].tolist() == list(range(1, len(shown) + 1))
        assert np.all(np.diff(shown["score"]) <= 0)
    assert (table["rank"][~table["shown"]] == 0).all()
    run("filter", "run.txt", "--with", "filter.json", "--out", "all.jsonl")
    lines = [json.loads(line) for line in Path("all.jsonl").read_text().splitlines()]
    assert [line["docno"] for line in lines] == table["docno"].tolist()
    assert [line["shown"] for line in lines] == table["shown"].tolist()


def test_files_that_are_no_filter(run, data):
    code, _, err = run("filter", "run.txt", "--with", "qrels.txt")
    assert code == 2
    assert "qrels.txt" in err
    run("threshold", "qrels.txt", "run.txt", "--k", 3, "--save", "filter.json")
    with open("filter.json", encoding="utf-8") as file:
        text = file.read()
    with open("filter.json", "w", encoding="utf-8") as file:
        file.write(text.replace('"k": 3', '"k": 4'))
    code, _, err = run("filter", "run.txt", "--with", "filter.json")
    assert code == 2
    assert "filter.json" in err
    assert "was changed after it was written" in err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["filter", "monitor"])
def test_a_filter_by_segment_is_not_for_runs(run, tmp_path, command):
    X = pd.DataFrame({"score": np.arange(8.0), "language": ["en"] * 4 + ["fr"] * 4})
    model = SegmentedFilter(RankAndFilter("passthrough"), segment="language", min_queries=1)
    model.fit(X, [1, -1] * 4, groups=np.repeat(np.arange(4), 2))
    write_filter(tmp_path / "filter.json", model)
    (tmp_path / "run.txt").write_text("1 Q0 a 1 0.5 tag\n")
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n")
    words = {
        "filter": [tmp_path / "run.txt", "--with", tmp_path / "filter.json"],
        "monitor": [
            *(tmp_path / "filter.json", "--qrels", tmp_path / "qrels.txt"),
            *("--run", tmp_path / "run.txt"),
        ],
    }
    code, _, err = run(command, *words[command])
    assert code == 2
    assert "a filter for each segment of 'language'" in err


GAINS = "--gains=-1=-1,0=0,1=1,2=2"


@pytest.mark.slow
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
def test_cuts_by_list_are_those_of_the_model(run, data, given):
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


@pytest.mark.slow
def test_rows_of_a_filtered_run(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run.txt").write_text(
        "1 Q0 a 1 0.2 x\n1 Q0 b 2 0.9 x\n1 Q0 c 3 0.5 x\n1 Q0 d 4 0.9 x\n2 Q0 a 1 0.1 x\n"
    )
    Path("qrels.txt").write_text("1 0 a 1\n2 0 a 1\n")
    made = ["threshold", "qrels.txt", "run.txt", "--threshold", "0.5", "--save", "filter.json"]
    assert run(*made)[0] == 0
    code, out, err = run("filter", "run.txt", "--with", "filter.json", "--format", "csv")
    assert code == 0
    # What is shown of a query comes first, equal scores by the greater id.
    assert out == (
        "qid,docno,rank,score,shown\n1,d,1,0.9,True\n1,b,2,0.9,True\n1,c,3,0.5,True\n"
        "1,a,0,0.2,False\n2,a,0,0.1,False\n"
    )
    assert err == "3 documents, 2 filtered, 1 queries left empty\n"
    lines = run("filter", "run.txt", "--with", "filter.json", "--format", "json")[1].splitlines()
    assert json.loads(lines[1]) == {
        "qid": "1", "docno": "b", "rank": 2, "score": 0.9, "shown": True
    }  # fmt: skip
    out = run("filter", "run.txt", "--with", "filter.json")[1]
    assert [line.split()[2:5] for line in out.splitlines()] == [
        ["d", "1", "0.9"], ["b", "2", "0.9"], ["c", "3", "0.5"],
    ]  # fmt: skip

"""``skfilterrank filter``: shown lists out."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfilterrank.io import read_run, write_qrels
from skfilterrank.thresholds import (
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    LargestGap,
    PerQueryThreshold,
    SegmentedThreshold,
    Surprise,
    TunedThreshold,
)

# Labels below 0 are told of, as they may mean something else.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "threshold"),
    [
        ("per_query", PerQueryThreshold("ndcg_f@3")),
        ("none", FixedThreshold()),
        ("0.25", FixedThreshold(0.25)),
        ("tune", TunedThreshold("ndcg_f@3")),
    ],
)
def test_what_is_filtered_is_what_the_threshold_hides(run, data, how, threshold):
    arguments = ("--k", 3, "--threshold", how, "--save", "filter.json")
    code, _, err = run("threshold", "qrels.txt", "run.txt", *arguments)
    assert code == 0, err
    code, out, err = run("filter", "run.txt", "--with", "filter.json")
    assert code == 0, err
    threshold.fit(data["score"], data["label"], groups=data["qid"])
    expected = threshold.predict(data["score"], groups=data["qid"])
    shown = read_run(io.BytesIO(out.encode()))
    assert set(shown["docno"]) == set(data["docno"][expected > -np.inf])


@pytest.fixture
def harmful(data):
    """The run as a table with a second score, which tells forbidden documents roughly."""
    harm = np.random.default_rng(0).normal(size=len(data)) - data["label"]
    table = data.assign(harm=harm)
    table.drop(columns="label").to_csv("run.csv", index=False)
    return table


@pytest.mark.slow
@pytest.mark.parametrize("rule", [None, "price", "subset", "harm"])
def test_a_second_score_hides_as_in_the_library(run, harmful, rule):
    second = ["--filter-scores", "harm"]
    made = ["threshold", "qrels.txt", "run.csv", "--k", 3, "--save", "f.json", *second]
    code, out, err = run(*made, *(["--rule", rule] if rule else []))
    assert code == 0, err
    assert out.splitlines()[1].split()[1] == (rule or "ratio")
    threshold = TunedThreshold("ndcg_f@3", rule=rule)
    threshold.fit(
        harmful["score"], harmful["label"], groups=harmful["qid"], filter_scores=harmful["harm"]
    )
    expected = threshold.predict(
        harmful["score"], groups=harmful["qid"], filter_scores=harmful["harm"]
    )
    code, out, err = run("filter", "run.csv", "--with", "f.json", *second)
    assert code == 0, err
    shown = read_run(io.BytesIO(out.encode())).set_index("docno")["score"]
    known = pd.Series(expected, harmful["docno"])
    known = known[known > -np.inf]
    pd.testing.assert_series_equal(shown.sort_index(), known.sort_index(), check_names=False)


def test_a_second_score_is_named_where_there_is_one(run, harmful):
    made = ["threshold", "qrels.txt", "run.csv", "--k", 3, "--save"]
    assert run(*made, "one.json")[0] == 0
    assert run(*made, "two.json", "--filter-scores", "harm")[0] == 0
    for words, message in (
        (["filter", "run.csv", "--with", "two.json"], "hides by two scores: add --filter-scores"),
        (
            ["filter", "run.csv", "--with", "one.json", "--filter-scores", "harm"],
            "hides by one score: leave out --filter-scores",
        ),
        (["threshold", "qrels.txt", "run.csv", "--rule", "harm"], "name its column by --filter-"),
        (
            ["threshold", "qrels.txt", "run.txt", "--filter-scores", "harm"],
            "run.txt is no table",
        ),
        (
            ["threshold", "qrels.txt", "run.csv", "--filter-scores", "risk"],
            "run.csv has no column 'risk'",
        ),
        (
            [*made, "x", "--filter-scores", "harm", "--threshold", "expected"],
            "--threshold is expected",
        ),
    ):
        code, _, err = run(*words)
        assert (code, message in err) == (2, True), err


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
        file.write(text.replace("ndcg_f@3", "ndcg_f@4"))
    code, _, err = run("filter", "run.txt", "--with", "filter.json")
    assert code == 2
    assert "filter.json" in err
    assert "was changed after it was written" in err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["filter", "monitor"])
def test_a_filter_by_segment_is_not_for_runs(run, tmp_path, command):
    X = pd.DataFrame({"score": np.arange(8.0), "language": ["en"] * 4 + ["fr"] * 4})
    threshold = SegmentedThreshold(TunedThreshold(), segment="language", min_queries=1)
    threshold.fit(X, [1, -1] * 4, groups=np.repeat(np.arange(4), 2))
    threshold.save(tmp_path / "filter.json")
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
    ("options", "threshold"),
    [
        ("--threshold expected", ExpectedThreshold("ndcg_f@3")),
        ("--threshold first_k", FirstK("ndcg_f@3")),
        ("--threshold surprise --max-shown 4", Surprise("ndcg_f@3", max_shown=4)),
        (
            "--threshold largest_gap --abstain score_regression",
            LargestGap("ndcg_f@3", abstain="score_regression"),
        ),
        ("--min-shown 1", TunedThreshold("ndcg_f@3", min_shown=1)),
    ],
)
def test_cuts_by_list_are_those_of_the_library(run, data, options, threshold):
    made = ["threshold", "qrels.txt", "run.txt", "--k", 3, GAINS, *options.split()]
    code, out, err = run(*made, "--save", "filter.json")
    assert code == 0, err
    threshold.fit(data["score"], data["label"], groups=data["qid"])
    head, line = out.splitlines()
    assert head.split()[-2:] == ["held", "out"]
    assert float(line.split()[-1]) == pytest.approx(threshold.held_out_score_, abs=1e-4)
    expected = threshold.predict(data["score"], groups=data["qid"])
    code, out, err = run("filter", "run.txt", "--with", "filter.json")
    assert code == 0, err
    shown = read_run(io.BytesIO(out.encode()))
    assert set(shown["docno"]) == set(data["docno"][expected > -np.inf])


# Ten folds of three kinds of models.
@pytest.mark.nightly
@pytest.mark.parametrize("how", ["auto", "learned"])
def test_cuts_that_learn_from_lists(run, data, how):
    made = ["threshold", "qrels.txt", "run.txt", "--k", 3, "--threshold", how]
    code, out, err = run(*made, "--save", "filter.json", "--format", "json")
    assert code == 0, err
    code, shown, err = run("filter", "run.txt", "--with", "filter.json", "--quiet")
    assert code == 0, err
    assert len(shown.splitlines()) == json.loads(out)["shown"]


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

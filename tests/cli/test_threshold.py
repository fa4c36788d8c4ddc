"""``skfilterrank threshold``: scores in, a threshold out."""

import io
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli.threshold import treatment_of_missing
from skfilterrank.io import write_qrels, write_run
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.thresholds import (
    CertifiedThreshold,
    TunedThreshold,
    load_threshold,
    threshold_curve,
)

# Labels below 0 are told of, as they may mean something else.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")


def test_threshold_is_that_of_the_function(run, data):
    code, out, err = run("threshold", "qrels.txt", "run.txt", "--k", 3, "--save", "filter.json")
    assert code == 0, err
    curve = threshold_curve(data["label"], data["score"], groups=data["qid"], measure="ndcg_f@3")
    head, line = out.splitlines()
    assert head.split()[:3] == ["run", "threshold", "ndcg_f@3"]
    assert line.split()[0] == "run"
    threshold = load_threshold("filter.json")
    assert threshold.threshold_ == pytest.approx(curve.best_threshold)
    assert float(line.split()[2]) == pytest.approx(curve.best_value, abs=1e-4)
    assert "200 judged queries, " in err
    assert "wrote filter.json" in err


def test_the_better_answer_is_kept_and_told(run, data):
    # Hiding hardly helps at this price.
    made = ["threshold", "qrels.txt", "run.txt", "--k", 3, "--gains=-1=-.1,1=1,2=2"]
    code, out, err = run(*made, "--threshold", "better", "--save", "t.json", "--format", "json")
    assert code == 0, err
    expected = TunedThreshold("ndcg_f@3", keep_if="better", gains={-1: -0.1, 1: 1, 2: 2})
    expected.fit(data["score"], data["label"], groups=data["qid"])
    assert expected.summary_.endswith("kept: everything")
    assert f"run {expected.summary_}\n" in err
    record = json.loads(out)
    assert record["n_hidden"] == 0
    assert record["held_out"] == pytest.approx(expected.held_out_.loc["everything", "value"])


def test_a_risk_of_forbidden_documents_says_what_labels_below_0_mean(run, data):
    for more, is_told in (((), True), (("--risk", "any_forbidden@3=0.3"), False)):
        code, _, err = run("threshold", "qrels.txt", "run.txt", *more)
        assert (code, "labels below 0" in err) == (0, is_told), err


@pytest.mark.slow
def test_several_runs_have_a_line_each(run, data):
    write_run("other.txt", data.assign(score=-data["score"]))
    code, out, err = run("threshold", "qrels.txt", "run.txt", "other.txt", "--format", "csv")
    assert code == 0, err
    table = pd.read_csv(io.StringIO(out), index_col="run")
    assert list(table.index) == ["run", "other"]
    assert table.loc["run", "ndcg_f"] > table.loc["other", "ndcg_f"]
    value = ndcg_f_score(data["label"], data["score"], groups=data["qid"])
    assert table.loc["run", "everything"] == pytest.approx(value)
    code, _, err = run("threshold", "qrels.txt", "run.txt", "other.txt", "--save", "x.json")
    assert code == 2
    assert "--save saves the threshold of one run, got 2" in err


@pytest.mark.slow
def test_promises(run, data):
    risk = "any_forbidden=0.3,false_reject_rate=0.6"
    code, out, err = run(
        "threshold", "qrels.txt", "run.txt", "--k", 3, "--risk", risk, "--save", "filter.json"
    )
    assert code == 0, err
    expected = CertifiedThreshold(
        {"any_forbidden@3": 0.3, "false_reject_rate": 0.6}, measure="ndcg_f@3"
    ).fit(data["score"], data["label"], groups=data["qid"])
    assert load_threshold("filter.json").threshold_ == pytest.approx(expected.threshold_)
    assert str(expected.certificate_).splitlines()[0] in out
    assert f"\nCertificate {load_threshold('filter.json').certificate_.digest}\n" in out
    code, out, err = run(
        "threshold", "qrels.txt", "run.txt", "--risk", "any_forbidden=0.3", "--format", "json"
    )
    told = json.loads(out)
    risk = told["risks"]["any_forbidden"]
    assert risk["observed"] <= risk["upper_bound"] <= risk["max_risk"] == 0.3
    assert (told["confidence_level"], risk["n_units"]) == (0.95, 200)


@pytest.mark.filterwarnings("always::skfilterrank.exceptions.FitWarning")
def test_a_promise_that_says_little_is_warned_of(run, data):
    write_qrels("grades.txt", data.assign(label=data["label"] + 1))
    code, _, err = run("threshold", "grades.txt", "run.txt", "--k", 3, "--risk", "any_forbidden=.1")
    assert code == 0
    assert "is 0 on all calibration queries" in err


@pytest.fixture
def half_forbidden(tmp_path, monkeypatch):
    """Twenty queries of two documents of score 2 and 1, of which the second is forbidden."""
    monkeypatch.chdir(tmp_path)
    queries = range(20)
    run = "".join(f"{query} Q0 a 1 2 x\n{query} Q0 b 2 1 x\n" for query in queries)
    (tmp_path / "run.txt").write_text(run)
    (tmp_path / "qrels.txt").write_text("".join(f"{t} 0 a 1\n{t} 0 b -1\n" for t in queries))
    return ["threshold", "qrels.txt", "run.txt", "--unjudged-label", "none", "--format", "csv"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "value", "everything", "shown"),
    [
        # Lower is better: nothing that is shown is forbidden, or half of it; no sign stands before.
        ("-m forbidden@2", "0.0", 0.5, 20),
        ("-m forbidden@2 --min-shown 2", "0.5", 0.5, 40),
        ("-m any_forbidden --min-shown 2", "1.0", 1, 40),
        # Greater is better: of two places one.
        ("-m precision@2", "0.5", 0.5, 40),
        ("-m ap", "1.0", 1, 40),
    ],
)
def test_each_column_by_hand(run, half_forbidden, words, value, everything, shown):
    code, out, err = run(*half_forbidden, *words.split())
    assert code == 0, err
    (row,) = pd.read_csv(io.StringIO(out), dtype=str).to_dict("records")
    assert float(row["everything"]) == everything
    assert (row[words.split()[1]], row["held_out"]) == (value, value)
    counts = [int(row[name]) for name in ("n_queries", "n_shown", "n_hidden")]
    assert counts == [20, shown, 40 - shown]


def test_ties_are_broken_as_by_evaluate(run, half_forbidden):
    # Tied documents are in descending order of their ids: the forbidden one is first.
    Path("run.txt").write_text(Path("run.txt").read_text().replace(" 1 2 x", " 1 1 x"))
    code, out, err = run(*half_forbidden, "-m", "forbidden@1", "--threshold", "1")
    assert code == 0, err
    (row,) = pd.read_csv(io.StringIO(out)).to_dict("records")
    assert (row["forbidden@1"], row["everything"]) == (1, 1)
    out = run("evaluate", *half_forbidden[1:], "-m", "forbidden@1")[1]
    assert pd.read_csv(io.StringIO(out))["forbidden@1"].tolist() == [1]


def test_a_given_threshold_by_hand(run, half_forbidden):
    code, out, err = run(*half_forbidden, "-m", "forbidden@2", "--threshold", "1.5")
    assert code == 0, err
    (row,) = pd.read_csv(io.StringIO(out)).to_dict("records")
    assert row == {
        "run": "run", "threshold": 1.5, "forbidden@2": 0, "everything": 0.5, "n_queries": 20,
        "n_missing": 0, "missing": "empty", "n_shown": 20, "n_hidden": 20,
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--risk", "any_forbidden"), "expected RISK=LEVEL"),
        (("--risk", "ndcg=0.1"), "--risk must name"),
        (("--risk", "any_forbidden=0.1", "--threshold", "none"), "Leave out --threshold or --risk"),
        (("-m", "ap,rr"), "thresholds are tuned by one"),
        (("--save", "nowhere/filter.json"), "there is no folder nowhere"),
        (("--save", "run.txt"), "is the same file as RUN run.txt"),
        (("--min-shown", "2", "--risk", "any_forbidden=0.4"), "can certify nothing"),
        (("--html", "card.html"), "--html is about the rates of --risk"),
        (("--among", "answered"), "--among is about the rates of --risk"),
    ],
)
def test_bad_input(run, data, arguments, message):
    code, _, err = run("threshold", "qrels.txt", "run.txt", *arguments)
    assert code == 2
    assert message in err


PROMISE = ("threshold", "qrels.txt", "run.txt", "--k", 3, "--risk", "any_forbidden=0.5")


@pytest.mark.slow
def test_a_promise_among_the_answered_queries(run, data):
    code, out, err = run(*PROMISE, "--among", "answered")
    assert code == 0, err
    expected = CertifiedThreshold(
        {"any_forbidden@3": 0.5}, among="answered", measure="ndcg_f@3"
    ).fit(data["score"], data["label"], groups=data["qid"])
    assert str(expected.certificate_) in out
    code, out, err = run(*PROMISE, "--among", "answered", "--format", "json")
    assert json.loads(out)["share_answered"] > 0.5


@pytest.mark.slow
def test_a_sample_of_queries(run, data):
    table = data[["qid", "docno", "label"]]
    people = table[table["qid"].isin(sorted(set(table["qid"]))[::2])]
    people.to_csv("plain.csv", index=False)
    people.assign(inclusion_probability=0.5).to_csv("people.csv", index=False)
    plain, drawn = (
        run("threshold", name, *PROMISE[2:], "--format", "json")
        for name in ("plain.csv", "people.csv")
    )
    assert plain[0] == drawn[0] == 0, drawn
    plain_record, drawn_record = (json.loads(out) for out in (plain[1], drawn[1]))
    assert plain_record["risks"] == drawn_record["risks"]
    assert "100 of 200 queries are left out of any_forbidden@3" in plain[2]
    assert plain_record["n_left_out"] == 100
    assert "its queries are taken for a random draw" in drawn[2]
    assert "left out of" not in drawn[2]
    # Documents drawn at random are no queries drawn at random: those shown have no label.
    some = table[np.random.RandomState(0).uniform(size=len(table)) < 0.5]
    some.assign(inclusion_probability=0.5).to_csv("people.csv", index=False)
    code, out, err = run("threshold", "people.csv", *PROMISE[2:], "--save", "none.json")
    assert (code, out, os.path.exists("none.json")) == (2, "", False)
    assert "--risk needs whole queries" in err
    # Without a risk nothing tells whether the labels are complete.
    code, _, err = run("threshold", "people.csv", "run.txt", "--k", 3)
    assert code == 2
    assert "below 1, where those of all documents were expected" in err
    some.assign(inclusion_probability=np.linspace(0.2, 0.9, len(some))).to_csv(
        "people.csv", index=False
    )
    code, _, err = run("threshold", "people.csv", *PROMISE[2:])
    assert code == 2
    assert "Its documents have several probabilities" in err


@pytest.mark.slow
def test_a_card_is_written(run, data):
    pytest.importorskip("jinja2")
    code, _, err = run(*PROMISE, "--html", "card.html")
    assert code == 0, err
    assert "wrote card.html" in err
    with open("card.html", encoding="utf-8") as file:
        page = file.read()
    assert "<li><bdi>Scores</bdi>: <bdi>run.txt</bdi></li>" in page


AT_NIGHT = [
    pytest.param(words, "empty", marks=pytest.mark.nightly)
    for words in (
        "--risk false_reject_rate=0.9,empty_list_rate=0.9",
        "--risk any_forbidden=0.5 --among answered",
    )
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "default"),
    [
        # A query that is shown nothing lowers rates of what is shown, and raises those of losses.
        ("--risk any_forbidden=0.5,forbidden@2=0.9", "drop"),
        ("--risk any_forbidden=0.5,false_reject_rate=0.99", None),
        ("", "empty"),
        *AT_NIGHT,
    ],
)
def test_queries_that_the_run_lacks(run, data, words, default):
    queries = sorted(data["qid"].unique())
    write_run("run.txt", data[data["qid"].isin(queries[20:])])
    command = ["threshold", "qrels.txt", "run.txt", "--k", 3, *words.split()]
    command += ["--unjudged-label", "none"]
    found = {how: run(*command, "--format", "json", "--missing", how) for how in ("drop", "empty")}
    assert found["drop"][1] != found["empty"][1]
    code, out, err = run(*command, "--format", "json")
    if default is None:
        assert (code, out) == (2, "")
        assert "run lacks 20 judged queries, such as 'q000'. Say --missing empty where" in err
        return
    assert (code, out) == found[default][:2], err
    record = json.loads(out)
    assert record["missing"] == default
    assert record["missing_queries"] == queries[:20]
    assert record["n_queries"] == {"drop": 180, "empty": 200}[default]
    done = {"drop": "left out; --missing empty", "empty": "counted as empty lists; --missing"}
    assert f"run lacks 20 judged queries: {done[default]}" in err
    frame = pd.read_csv(io.StringIO(run(*command, "--format", "csv")[1]))
    assert frame[["n_missing", "missing"]].to_numpy().tolist() == [[20, default]]
    shown = run(*command, "--format", "table")[1].splitlines()
    assert ("left out" in shown[0]) == (default == "drop")


@pytest.mark.parametrize(
    ("risks", "among", "expected"),
    [
        (["any_forbidden@5", "forbidden"], "all", "drop"),
        (["empty_list_rate"], "all", "empty"),
        (["any_forbidden@5", "empty_list_rate"], "all", "raise"),
        (["own_rate"], "all", "raise"),
        (["any_forbidden@5", "own_rate"], "answered", "empty"),
        ([], "all", "empty"),
    ],
)
def test_missing_queries_lower_no_rate(risks, among, expected):
    assert treatment_of_missing(risks, among) == expected

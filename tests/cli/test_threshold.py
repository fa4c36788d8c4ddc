"""``threshold``, ``filter`` and ``monitor``: scores in, shown lists out, promises watched."""

import io
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from commands import GONE, Command
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import read_run, write_qrels, write_run
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import (
    RankAndFilter,
    SegmentedFilter,
    read_filter,
    read_monitor,
    risk_threshold,
    threshold_curve,
    write_filter,
)

# Labels below 0 are told of, as they may mean something else.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Judgments and the scores of a reranker in the working folder; the rows as a frame."""
    monkeypatch.chdir(tmp_path)
    data = make_rank_and_filter(n_queries=200, random_state=0)
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


def test_what_was_not_retrieved_is_no_part_of_a_list(run, data):
    # Judgments of many more documents than the run has.
    more = data.assign(docno="x" + data["docno"])
    write_qrels("all.txt", pd.concat([data, more, more.assign(docno="y" + data["docno"])]))
    assert run("threshold", "all.txt", "run.txt", "--k", 3, "--save", "filter.json")[0] == 0
    code, _, err = run("filter", "run.txt", "--with", "filter.json")
    assert code == 0
    assert "other sizes" not in err


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


class TestMonitor:
    def prepare(self, run, data):
        """A filter with a promise, and two days of judged topics."""
        run(
            "threshold", "qrels.txt", "run.txt", "--k", 3, "--risk", "any_forbidden=0.3",
            "--save", "filter.json",
        )  # fmt: skip
        for day, (first, last) in {"monday": (0, 100), "tuesday": (100, 200)}.items():
            number = data["qid"].str[1:].astype(int)
            rows = data[(number >= first) & (number < last)]
            write_run(f"{day}.run", rows)
            write_qrels(f"{day}.qrels", rows)

    def look(self, run, day, *arguments):
        return run(
            "monitor", "filter.json", "--qrels", f"{day}.qrels", "--run", f"{day}.run", *arguments
        )

    def test_counts_day_by_day(self, run, data):
        self.prepare(run, data)
        code, out, err = self.look(run, "monday")
        assert code == 0, err
        assert out.startswith("No alarm: the share of queries with a forbidden document in the")
        assert "on 100 queries" in out
        assert "counted 100 topics; the state is in filter.monitor.json" in err
        code, out, err = self.look(run, "tuesday", "--format", "csv")
        assert code == 0, err
        assert pd.read_csv(io.StringIO(out))["n_queries"].tolist() == [200]
        monitor = read_monitor("filter.monitor.json")
        assert monitor.levels == {"any_forbidden": 0.3}

    def test_a_day_is_not_counted_twice(self, run, data):
        self.prepare(run, data)
        self.look(run, "monday")
        before = Path("filter.monitor.json").read_text()
        code, _, err = self.look(run, "monday")
        assert code == 2
        assert "there are topics that were counted already: 'q000'" in err
        assert "or pass --allow-repeats where" in err
        assert Path("filter.monitor.json").read_text() == before
        assert self.look(run, "monday", "--allow-repeats")[0] == 0
        assert self.look(run, "monday")[0] == 0  # as the state remembers

    def test_no_other_file_of_the_command_is_the_state(self, run, data):
        self.prepare(run, data)
        self.look(run, "monday")
        before = Path("filter.monitor.json").read_text()
        code, _, err = self.look(run, "tuesday", "--out", "filter.monitor.json")
        assert code == 2
        assert "--out filter.monitor.json is the file of the state" in err
        assert Path("filter.monitor.json").read_text() == before
        code, _, err = self.look(run, "tuesday", "--state", os.devnull)
        assert code == 2
        assert "is no regular file" in err

    def test_unjudged_documents_are_named(self, run, data):
        self.prepare(run, data)
        long = data.groupby("qid").filter(lambda rows: len(rows) > 1)
        top = long.sort_values(["qid", "score"], ascending=[True, False]).iloc[0]
        write_qrels("monday.qrels", data.drop(top.name))
        named = f"query '{top['qid']}' document '{top['docno']}'"
        _, _, err = self.look(run, "monday")
        assert named in err
        code, _, err = run(
            "threshold", "monday.qrels", "monday.run", "--k", 3, "--risk", "any_forbidden=0.5"
        )
        assert code == 0
        assert named in err

    def test_too_few_lists_are_not_taken_for_usual_ones(self, run, data):
        self.prepare(run, data)
        for n_rows, is_told in ((20, True), (len(data), False)):
            write_run("some.run", data.head(n_rows))
            code, _, err = run("monitor", "filter.json", "--run", "some.run")
            assert code == 0
            assert ("too few lists" in err) == is_told

    def test_an_alarm_is_told_by_the_exit_code(self, run, data):
        self.prepare(run, data)
        write_qrels("monday.qrels", data.assign(label=-1).head(800))
        code, out, _ = self.look(run, "monday", "--format", "json", "--state", "state.json")
        assert code == 1
        assert json.loads(out)["alarm_at"] < 100

    def test_states_of_others(self, run, data):
        self.prepare(run, data)
        self.look(run, "monday", "--alpha", 0.1)
        code, _, err = self.look(run, "tuesday", "--alpha", 0.01)
        assert code == 2
        assert "was begun with --alpha 0.1" in err
        run(
            "threshold", "qrels.txt", "run.txt", "--k", 3, "--risk", "any_forbidden=0.4",
            "--save", "filter.json",
        )  # fmt: skip
        code, _, err = self.look(run, "tuesday")
        assert code == 2
        assert "is the state of another filter than filter.json" in err

    def test_a_filter_that_was_fitted_anew_has_no_alarm_of_the_old_one(self, run, data):
        """Also where it promises the same with another threshold."""
        self.prepare(run, data)
        write_qrels("monday.qrels", data.assign(label=-1).head(800))
        assert self.look(run, "monday")[0] == 1
        run(
            "threshold", "tuesday.qrels", "run.txt", "--k", 3, "--risk", "any_forbidden=0.3",
            "--save", "filter.json",
        )  # fmt: skip
        code, _, err = self.look(run, "tuesday")
        assert code == 2
        assert "is the state of another filter than filter.json holds now" in err
        Path("filter.monitor.json").unlink()
        assert self.look(run, "tuesday")[0] == 0

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
    def test_a_day_whose_output_could_not_be_written_is_not_counted(self, run, data):
        self.prepare(run, data)
        command = ["monitor", "filter.json", "--qrels", "monday.qrels", "--run", "monday.run"]
        assert Command(*command, stdout=("/dev/full", "w")).end()[0] == 2
        assert not Path("filter.monitor.json").exists()
        # A reader that has gone wanted no more, which is no failure.
        assert Command(*command, stdout=GONE).end()[0] == 0
        assert read_monitor("filter.monitor.json").status.rates["n_queries"].tolist() == [100]

    def test_processes_at_once_count_all_topics(self, run, data):
        self.prepare(run, data)
        number = data["qid"].str[1:].astype(int)
        commands = []
        for part in range(4):
            rows = data[number // 10 == part]
            write_run(f"{part}.run", rows)
            write_qrels(f"{part}.qrels", rows)
            command = ["monitor", "filter.json", "--qrels", f"{part}.qrels", "--run", f"{part}.run"]
            commands.append(Command(*command))
        assert [command.end()[0] for command in commands] == [0] * 4
        assert read_monitor("filter.monitor.json").status.rates["n_queries"].tolist() == [40]
        assert not list(Path().glob(".*"))

    def test_scores_without_judgments(self, run, data):
        self.prepare(run, data)
        code, out, err = run("monitor", "filter.json", "--run", "run.txt", "--format", "csv")
        assert code == 0, err
        table = pd.read_csv(io.StringIO(out), index_col="scores")
        assert table.columns.tolist() == ["0 %", "10 %", "50 %", "90 %", "100 %", "shown"]
        pd.testing.assert_series_equal(
            table.loc["run"], table.loc["calibration"], check_names=False
        )
        other = read_run("run.txt")
        write_run("other.run", other.assign(score=100 * other["score"] - 50))
        code, out, err = run("monitor", "filter.json", "--run", "other.run")
        assert code == 1
        assert out.splitlines()[2].startswith("run ")
        assert "the scores are on another scale: 80 % of them lie from" in err
        assert not Path("filter.monitor.json").exists()
        code, _, err = run("monitor", "filter.json", "--run", "run.txt", "--alpha", 0.1)
        assert code == 2
        assert "--alpha is for judged topics: name their judgments by --qrels" in err
        run("threshold", "qrels.txt", "run.txt", "--threshold", 0.5, "--save", "filter.json")
        code, _, err = run("monitor", "filter.json", "--run", "run.txt")
        assert code == 2
        assert "filter.json holds no scores to compare with" in err

    def test_a_filter_that_promises_nothing(self, run, data):
        self.prepare(run, data)
        run("threshold", "qrels.txt", "run.txt", "--k", 3, "--save", "filter.json")
        code, _, err = self.look(run, "monday")
        assert code == 2
        assert "filter.json promises nothing that could be monitored" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--risk", "any_forbidden"), "expected RATE=LEVEL"),
        (("--risk", "any_forbidden=2"), r"must be a number between 0 and 1"),
        (("--risk", "ndcg=0.1"), "risk must be one of"),
        (("--risk", "any_forbidden=0.1", "--threshold", "none"), "leave out --threshold or --risk"),
        (("-m", "ap,rr"), "best by one measure"),
        (("--risk", "any_forbidden=0.001"), "needs at least"),
        (("--save", "nowhere/filter.json"), "there is no folder nowhere"),
        (("--save", "run.txt"), "is the same file as RUN run.txt"),
    ],
)
def test_bad_input(run, data, arguments, message):
    code, _, err = run("threshold", "qrels.txt", "run.txt", *arguments)
    assert code == 2
    assert message in err


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

"""``skfilterrank monitor``: promises watched."""

import io
import json
import os
from pathlib import Path

import pandas as pd
import pytest

from commands import GONE, Command
from skfilterrank.io import read_run, write_qrels, write_run
from skfilterrank.ranking import read_monitor

# Labels below 0 are told of, as they may mean something else.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")


def prepare(run, data):
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


def look(run, day, *arguments):
    return run(
        "monitor", "filter.json", "--qrels", f"{day}.qrels", "--run", f"{day}.run", *arguments
    )


def test_counts_day_by_day(run, data):
    prepare(run, data)
    code, out, err = look(run, "monday")
    assert code == 0, err
    assert out.startswith("No alarm: the share of queries with a forbidden document in the")
    assert "on 100 queries" in out
    assert "counted 100 topics; the state is in filter.monitor.json" in err
    code, out, err = look(run, "tuesday", "--format", "csv")
    assert code == 0, err
    assert pd.read_csv(io.StringIO(out))["n_queries"].tolist() == [200]
    monitor = read_monitor("filter.monitor.json")
    assert monitor.levels == {"any_forbidden": 0.3}


def test_a_day_is_not_counted_twice(run, data):
    prepare(run, data)
    look(run, "monday")
    before = Path("filter.monitor.json").read_text()
    code, _, err = look(run, "monday")
    assert code == 2
    assert "there are topics that were counted already: 'q000'" in err
    assert "or pass --allow-repeats where" in err
    assert Path("filter.monitor.json").read_text() == before
    assert look(run, "monday", "--allow-repeats")[0] == 0
    assert look(run, "monday")[0] == 0  # as the state remembers


def test_no_other_file_of_the_command_is_the_state(run, data):
    prepare(run, data)
    look(run, "monday")
    before = Path("filter.monitor.json").read_text()
    code, _, err = look(run, "tuesday", "--out", "filter.monitor.json")
    assert code == 2
    assert "--out filter.monitor.json is the file of the state" in err
    assert Path("filter.monitor.json").read_text() == before
    code, _, err = look(run, "tuesday", "--state", os.devnull)
    assert code == 2
    assert "is no regular file" in err


def test_unjudged_documents_are_named(run, data):
    prepare(run, data)
    long = data.groupby("qid").filter(lambda rows: len(rows) > 1)
    top = long.sort_values(["qid", "score"], ascending=[True, False]).iloc[0]
    write_qrels("monday.qrels", data.drop(top.name))
    named = f"query '{top['qid']}' document '{top['docno']}'"
    _, _, err = look(run, "monday")
    assert named in err
    code, _, err = run(
        "threshold", "monday.qrels", "monday.run", "--k", 3, "--risk", "any_forbidden=0.5"
    )
    assert code == 0
    assert named in err


def test_too_few_lists_are_not_taken_for_usual_ones(run, data):
    prepare(run, data)
    for n_rows, is_told in ((20, True), (len(data), False)):
        write_run("some.run", data.head(n_rows))
        code, _, err = run("monitor", "filter.json", "--run", "some.run")
        assert code == 0
        assert ("too few lists" in err) == is_told


def test_an_alarm_is_told_by_the_exit_code(run, data):
    prepare(run, data)
    write_qrels("monday.qrels", data.assign(label=-1).head(800))
    code, out, _ = look(run, "monday", "--format", "json", "--state", "state.json")
    assert code == 1
    assert json.loads(out)["alarm_at"] < 100


def test_states_of_others(run, data):
    prepare(run, data)
    look(run, "monday", "--alpha", 0.1)
    code, _, err = look(run, "tuesday", "--alpha", 0.01)
    assert code == 2
    assert "was begun with --alpha 0.1" in err
    run(
        "threshold", "qrels.txt", "run.txt", "--k", 3, "--risk", "any_forbidden=0.4",
        "--save", "filter.json",
    )  # fmt: skip
    code, _, err = look(run, "tuesday")
    assert code == 2
    assert "is the state of another filter than filter.json" in err


def test_a_filter_that_was_fitted_anew_has_no_alarm_of_the_old_one(run, data):
    """Also where it promises the same with another threshold."""
    prepare(run, data)
    write_qrels("monday.qrels", data.assign(label=-1).head(800))
    assert look(run, "monday")[0] == 1
    run(
        "threshold", "tuesday.qrels", "run.txt", "--k", 3, "--risk", "any_forbidden=0.3",
        "--save", "filter.json",
    )  # fmt: skip
    code, _, err = look(run, "tuesday")
    assert code == 2
    assert "is the state of another filter than filter.json holds now" in err
    Path("filter.monitor.json").unlink()
    assert look(run, "tuesday")[0] == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_day_whose_output_could_not_be_written_is_not_counted(run, data):
    prepare(run, data)
    command = ["monitor", "filter.json", "--qrels", "monday.qrels", "--run", "monday.run"]
    assert Command(*command, stdout=("/dev/full", "w")).end()[0] == 2
    assert not Path("filter.monitor.json").exists()
    # A reader that has gone wanted no more, which is no failure.
    assert Command(*command, stdout=GONE).end()[0] == 0
    assert read_monitor("filter.monitor.json").status.rates["n_queries"].tolist() == [100]


def test_processes_at_once_count_all_topics(run, data):
    prepare(run, data)
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


def test_scores_without_judgments(run, data):
    prepare(run, data)
    code, out, err = run("monitor", "filter.json", "--run", "run.txt", "--format", "csv")
    assert code == 0, err
    table = pd.read_csv(io.StringIO(out), index_col="scores")
    assert table.columns.tolist() == ["0 %", "10 %", "50 %", "90 %", "100 %", "shown"]
    pd.testing.assert_series_equal(table.loc["run"], table.loc["calibration"], check_names=False)
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


def test_a_filter_that_promises_nothing(run, data):
    prepare(run, data)
    run("threshold", "qrels.txt", "run.txt", "--k", 3, "--save", "filter.json")
    code, _, err = look(run, "monday")
    assert code == 2
    assert "filter.json promises nothing that could be monitored" in err

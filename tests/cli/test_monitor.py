"""``skfilterrank monitor``: promises watched."""

import io
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from commands import GONE, Command
from skfilterrank.cli import main
from skfilterrank.io import read_run, write_qrels, write_run
from skfilterrank.thresholds import CertifiedThreshold, RiskMonitor, load_threshold

# Labels below 0 are told of, as they may mean something else.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
STATE = "filter.monitor.json"
# Filters that hide nothing.
hides_nothing = pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")


@pytest.fixture(scope="module")
def of_days(reranked, tmp_path_factory):
    """A folder with a filter that has a risk, and two days of judged queries."""
    folder, (files, data) = tmp_path_factory.mktemp("days"), reranked
    words = ["threshold", files / "qrels.txt", files / "run.txt", "--quiet", "--save"]
    words += [folder / "filter.json", "--k", 3, "--risk", "any_forbidden=0.3"]
    assert main(list(map(str, words))) == 0
    for day, (first, last) in {"monday": (0, 100), "tuesday": (100, 200)}.items():
        number = data["qid"].str[1:].astype(int)
        rows = data[(number >= first) & (number < last)]
        write_run(folder / f"{day}.run", rows)
        write_qrels(folder / f"{day}.qrels", rows)
    return folder


@pytest.fixture
def days(of_days, data, tmp_path):
    """The same files in the working folder, beside those of all queries; the rows as a frame."""
    shutil.copytree(of_days, tmp_path, dirs_exist_ok=True)
    return data


def look(run, day, *arguments):
    return run(
        "monitor", "filter.json", "--qrels", f"{day}.qrels", "--run", f"{day}.run", *arguments
    )


@pytest.mark.slow
def test_counts_day_by_day(run, days):
    code, out, err = look(run, "monday")
    assert code == 0, err
    assert out.startswith("No alarm: the share of queries with a forbidden document in the")
    assert "on 100 queries" in out
    assert "counted 100 queries; the state is in filter.monitor.json" in err
    code, out, err = look(run, "tuesday", "--format", "csv")
    assert code == 0, err
    assert pd.read_csv(io.StringIO(out))["n_queries"].tolist() == [200]
    monitor = RiskMonitor.load("filter.monitor.json")
    assert monitor.levels == {"any_forbidden@3": 0.3}


@pytest.mark.slow
def test_labels_of_a_machine_are_warned_of(run, days):
    _, _, err = look(run, "monday")
    assert "machines" not in err
    lines = [line.split(" ") for line in Path("tuesday.qrels").read_text().splitlines()]
    marked = [f"{query} predicted:llm {doc} {label}\n" for query, _, doc, label in lines]
    marked[0] = marked[0].rpartition(" ")[0] + " -9\n"
    Path("tuesday.qrels").write_text("".join(marked))
    code, _, err = look(run, "tuesday", "--predicted", "use", "--unjudged-label=-9")
    assert code == 0, err
    assert f"machines gave {len(marked) - 1} of these labels" in err


@pytest.mark.slow
def test_clusters_are_watched_in_python(run, days):
    users = [f"u{int(query[1:]) // 4}" for query in days["qid"]]
    cut = CertifiedThreshold({"any_forbidden@3": 0.5})
    cut.fit(days["score"], days["label"], groups=days["qid"], clusters=users).save("filter.json")
    code, _, err = look(run, "monday")
    assert code == 2
    assert "filter.json counts clusters of queries, which a run does not tell" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("day", "options", "message"),
    [
        ("monday", [], "the run holds queries that were counted already: 'q000'"),
        ("tuesday", ["--out", STATE], f"--out {STATE} is the same file as --state {STATE}"),
    ],
)
def test_what_is_refused_counts_nothing(run, days, day, options, message):
    look(run, "monday")
    before = Path(STATE).read_text()
    code, _, err = look(run, day, *options)
    assert (code, message in err) == (2, True), err
    assert Path(STATE).read_text() == before


@pytest.mark.slow
def test_unjudged_documents_are_named(run, days):
    long = days.groupby("qid").filter(lambda rows: len(rows) > 1)
    top = long.sort_values(["qid", "score"], ascending=[True, False]).iloc[0]
    write_qrels("monday.qrels", days.drop(top.name))
    named = f"query '{top['qid']}' document '{top['docno']}'"
    _, _, err = look(run, "monday")
    assert named in err
    code, _, err = run(
        "threshold", "monday.qrels", "monday.run", "--k", 3, "--risk", "any_forbidden=0.5"
    )
    assert code == 0
    assert named in err


@pytest.mark.slow
def test_a_log_with_labels_only_where_shown(run, days):
    days = days[days["qid"].isin(read_run("monday.run")["qid"])]
    shown = load_threshold("filter.json").predict(days["score"], groups=days["qid"]) > -np.inf
    log = days.assign(shown=shown, label=days["label"].where(shown))
    log.to_csv("monday.csv", index=False)
    log.dropna().to_csv("judged.csv", index=False)
    n_queries = days["qid"].nunique()
    assert log.dropna()["qid"].nunique() < n_queries
    states = []
    for number, (judgments, scores) in enumerate(
        [("monday.csv", "monday.csv"), ("monday.csv", "monday.run"), ("judged.csv", "monday.run")]
    ):
        state = f"{number}.json"
        told = "--qrels", judgments, "--run", scores, "--state", state, "--unjudged-label", "none"
        code, out, err = run("monitor", "filter.json", *told, "--format", "json")
        assert (code, "left out" in err) == (0, False), err
        assert f"counted {n_queries} queries" in err
        # The order of queries changes the evidence alone.
        states.append({**json.loads(out), "evidence": None})
    assert states[0] == states[1] == states[2]
    # Nobody has judged one of the queries that showed something.
    first = log.dropna()["qid"].iloc[0]
    log[log["qid"] != first].dropna().to_csv("judged.csv", index=False)
    told = "--qrels", "judged.csv", "--run", "monday.run", "--unjudged-label", "none"
    code, out, err = run("monitor", "filter.json", *told, "--format", "json")
    assert "queries are left out of any_forbidden" in err or "query is left out" in err
    assert 1 <= json.loads(out)["n_left_out"] <= 2


@pytest.mark.slow
def test_an_alarm_is_told_by_the_exit_code(run, days):
    write_qrels("monday.qrels", days.assign(label=-1).head(800))
    code, out, _ = look(run, "monday", "--format", "json", "--state", "state.json")
    assert code == 1
    assert json.loads(out)["alarm_at"] < 100
    _, out, _ = look(run, "monday", "--state", "other.json")
    ways = "by 'skfilterrank threshold --risk'. If the cause has gone and the threshold stays,"
    assert f"{ways} remove the file of --state." in out


@pytest.mark.slow
def test_a_filter_that_was_fitted_anew_has_no_alarm_of_the_old_one(run, days):
    """Also where it promises the same with another threshold."""
    write_qrels("monday.qrels", days.assign(label=-1).head(800))
    assert look(run, "monday")[0] == 1
    run(
        "threshold", "tuesday.qrels", "run.txt", "--k", 3, "--risk", "any_forbidden=0.3",
        "--save", "filter.json",
    )  # fmt: skip
    code, _, err = look(run, "tuesday")
    assert code == 2
    assert "is the state of another threshold than filter.json holds now" in err
    Path("filter.monitor.json").unlink()
    assert look(run, "tuesday")[0] == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_a_day_whose_output_could_not_be_written_is_not_counted(run, days):
    command = ["monitor", "filter.json", "--qrels", "monday.qrels", "--run", "monday.run"]
    assert Command(*command, stdout=("/dev/full", "w")).end()[0] == 2
    assert not Path("filter.monitor.json").exists()
    # A reader that has gone wanted no more, which is no failure.
    assert Command(*command, stdout=GONE).end()[0] == 0
    assert RiskMonitor.load("filter.monitor.json").status.rates["n_queries"].tolist() == [100]


@pytest.mark.slow
def test_processes_at_once_count_all_topics(run, days):
    number = days["qid"].str[1:].astype(int)
    commands = []
    for part in range(2):
        rows = days[number // 10 == part]
        write_run(f"{part}.run", rows)
        write_qrels(f"{part}.qrels", rows)
        command = ["monitor", "filter.json", "--qrels", f"{part}.qrels", "--run", f"{part}.run"]
        commands.append(Command(*command))
    assert [command.end()[0] for command in commands] == [0] * 2
    assert RiskMonitor.load("filter.monitor.json").status.rates["n_queries"].tolist() == [20]
    assert not list(Path().glob(".*"))


@pytest.mark.slow
def test_a_filter_that_promises_nothing(run, days):
    run("threshold", "qrels.txt", "run.txt", "--k", 3, "--save", "filter.json")
    code, _, err = look(run, "monday")
    assert code == 2
    assert "filter.json certifies nothing that could be monitored" in err


@pytest.fixture
def graded(tmp_path, monkeypatch):
    """Filters by other gains of the labels 0, 1 and 2, and two days of judged queries.

    All filters show everything. On the first day of six queries two show a document of label 0, one
    of label 1; on the second day of four queries all show one of label 0, and none of label 1.
    """
    monkeypatch.chdir(tmp_path)
    Path("run.txt").write_text("".join(f"{query} Q0 a 1 1 x\n" for query in range(60)))
    Path("qrels.txt").write_text("".join(f"{query} 0 a 2\n" for query in range(60)))
    days = {"first": [0, 0, 1, 2, 2, 2], "second": [0, 0, 0, 0]}
    for day, labels in days.items():
        queries = list(zip([f"{day}-{place}" for place in range(len(labels))], labels))
        Path(f"{day}.run").write_text("".join(f"{query} Q0 b 1 1 x\n" for query, _ in queries))
        Path(f"{day}.qrels").write_text("".join(f"{query} 0 b {each}\n" for query, each in queries))


GAINS = {"zero": "--gains=0=-1,1=0,2=1", "one": "--gains=0=0,1=-1,2=1", "none": "--quiet"}


@pytest.mark.slow
@hides_nothing
def test_what_is_forbidden_is_told_by_the_gains_of_the_filter(run, graded):
    """Also where a filter of other gains, and its state, are beside it."""
    for each, said in GAINS.items():
        made = ["--risk", "any_forbidden=0.5", "--save", f"{each}.json"]
        assert run("threshold", "qrels.txt", "run.txt", said, *made)[0] == 0
    shares = {"zero": (2 / 6, 6 / 10), "one": (1 / 6, 1 / 10), "none": (0, 0)}
    assert shares.keys() == GAINS.keys()
    for number, (day, count) in enumerate((("first", 6), ("second", 10))):
        for each in GAINS:
            files = ["--qrels", f"{day}.qrels", "--run", f"{day}.run"]
            code, out, err = run("monitor", f"{each}.json", *files, "--format", "csv")
            assert code == 0, err
            (found,) = pd.read_csv(io.StringIO(out)).to_dict("records")
            assert found["n_queries"] == count
            assert found["observed"] == pytest.approx(shares[each][number])


@hides_nothing
def test_gains_are_said_for_texts_alone(run, graded):
    made = ["--risk", "any_forbidden=0.5", "--save", "f.json"]
    assert run("threshold", "qrels.txt", "run.txt", GAINS["zero"], *made)[0] == 0
    files = ["--qrels", "first.qrels", "--run", "first.run"]
    for gains in ("--gains=0=0,1=-1,2=1", "--gains=Bad=-1,Good=1"):
        code, out, err = run("monitor", "f.json", *files, gains)
        assert (code, out) == (2, "")
        assert "f.json has the gains of numbers ({" in err
        assert "Leave out --gains" in err
    assert not Path("f.monitor.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_risks_does_not_decide_about_missing_queries(run, data, order):
    risks = ["any_forbidden=0.4", "empty_list_rate=0.8"][::order]
    made = ["--risk", ",".join(risks), "--among", "answered", "--save", "f.json"]
    code, _, err = run("threshold", "qrels.txt", "run.txt", "--k", 3, *made)
    assert code == 0, err
    write_run("some.run", data[data["qid"] != data["qid"].iloc[0]])
    code, _, err = run("monitor", "f.json", "--qrels", "qrels.txt", "--run", "some.run")
    assert code == 0, err
    assert "counted as empty lists" in err


@pytest.fixture
def ask(run, tmp_path, monkeypatch):
    """Look at ten queries with a filter that promises that few lists are empty."""
    monkeypatch.chdir(tmp_path)
    for name, queries in {"old": range(40), "new": range(40, 50)}.items():
        Path(f"{name}.run").write_text("".join(f"{query} Q0 a 1 1 x\n" for query in queries))
        Path(f"{name}.qrels").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    made = ["--risk", "empty_list_rate=0.4", "--save", "f.json"]
    assert run("threshold", "old.qrels", "old.run", *made)[0] == 0
    return lambda *arguments: run("monitor", "f.json", "--run", "new.run", *arguments)


@pytest.mark.slow
@hides_nothing
def test_python_begins_a_state_with_another_rate_of_alarms(ask):
    threshold = load_threshold("f.json")
    RiskMonitor(threshold, queries_per_false_alarm=500).save("f.monitor.json")
    code, out, _ = ask("--qrels", "new.qrels")
    assert code == 0
    assert "500 queries or more come before an alarm on average" in out
    assert RiskMonitor.load("f.monitor.json").queries_per_false_alarm == 500
    assert ask("--qrels", "new.qrels", "--state", "s.json")[0] == 0
    assert RiskMonitor.load("s.json").queries_per_false_alarm == 10_000


@pytest.mark.slow
@hides_nothing
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "missing --qrels"),
        ("--qrels new.qrels --gains=0=0,1=1", "Leave out --gains"),
        ("--qrels absent", "absent: No such file or directory"),
        ("--qrels new.qrels --format trec", "expected table, csv, json, got 'trec'"),
    ],
)
def test_what_does_not_go_together(ask, words, message):
    code, out, err = ask(*words.split())
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not list(Path().glob("*.monitor.json"))


@pytest.mark.slow
@hides_nothing
@pytest.mark.parametrize(
    ("missing", "n_counted"), [(["--missing", "drop"], 10), (["--missing", "empty"], 20), ([], 20)]
)
def test_topics_that_the_run_lacks(ask, missing, n_counted):
    Path("more.qrels").write_text(
        Path("new.qrels").read_text() + "".join(f"{query} 0 a 1\n" for query in range(50, 60))
    )
    code, _, err = ask("--qrels", "more.qrels", *missing)
    assert code in (0, 1)
    assert "new.run lacks 10 judged queries" in err
    assert RiskMonitor.load("f.monitor.json").status.rates["n_queries"].tolist() == [n_counted]

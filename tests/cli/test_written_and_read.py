"""Files that commands write mean the same to every command that reads them."""

import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfilterrank.cli import main
from skfilterrank.comparison import SystemScores
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import write_qrels, write_run
from thinned import thinned

# Documents outside of a pool are told of.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.DataWarning")
FORMATS = ["txt", "txt.gz", "csv", "csv.gz", "jsonl", "jsonl.gz", "json"]
NONE = ["--unjudged-label", "none"]
GAINS = "--gains=-1=-1,1=1,2=2"
SELECT = f"--strategy sample --n-total 40 {GAINS} --out j.csv"
# Each command that reads runs, with {} for the run: its output must not depend on the file.
READERS = {
    "evaluate": "evaluate qrels.txt {} -m ndcg_f@5,ap,lexirecall --unjudged-label none",
    "evaluate per query": "evaluate qrels.txt {} -m ap --per-query --unjudged-label none",
    "compare": "compare qrels.txt {} run.txt -m ndcg_f@5 --unjudged-label none",
    "fuse": "fuse {} other.txt",
    "fuse scores": "fuse {} other.txt --method combsum",
    "threshold": "threshold qrels.txt {} --missing empty --unjudged-label none",
    "filter": "apply saved.json {}",
    "monitor": "monitor saved.json --qrels qrels.txt --run {} "
    "--missing empty --unjudged-label none",
    "complete": "complete half.txt {} --docs docs.csv --n-draws 2 --out - --unjudged-label none",
    "select": f"select {{}} {SELECT}",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a run, judgments, texts, a filter, and lists by every writer and format."""
    folder = tmp_path_factory.mktemp("made")
    data = make_rank_and_filter(n_queries=40, random_state=0)
    rows = pd.DataFrame(
        {
            "qid": [f"q{query:02}" for query in data.groups],
            "docno": [f"d{row:03}" for row in range(len(data.y))],
            "score": data.bayes_scores,
            "label": data.y,
        }
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_run("run.txt", rows)
        write_run("other.txt", rows.assign(score=np.round(rows["score"][::-1].to_numpy(), 1)))
        write_qrels("qrels.txt", rows)
        write_qrels("half.txt", rows[::2])
        words = rows["label"].map({-1: "bad rude words", 1: "some answer", 2: "good long answer"})
        pd.DataFrame({"docno": rows["docno"], "text": words}).to_csv("docs.csv", index=False)
        table = rows.assign(f0=data.X[:, 0], f1=data.X[:, 1]).drop(columns="score")
        table.to_csv("train.csv", index=False)
        of_risk = ["--risk", "any_forbidden@5=0.3", "--k", "5"]
        call("threshold", "qrels.txt", "run.txt", *of_risk, "--save", "saved.json", *NONE)
        learn = [
            "--models",
            "bce",
            "--learner",
            "linear",
            "--save",
            "m.joblib",
            "--gains=-1=-1,1=1,2=2",
        ]
        # A model that is saved writes as `rank-filter` does.
        train = ["rank-filter", "train.csv", *learn, "--cv", "2", "--threshold", "0.3"]
        call(*train, "--out-run", "rank-filter.txt")
        call(*train, "--out-run", "rank-filter.csv")
        for ending in FORMATS:
            call("apply", "saved.json", "run.txt", "--out", f"filter.{ending}")
        for ending in FORMATS[::3]:
            call("apply", "m.joblib", "train.csv", "--out", f"apply.{ending}")
        call("fuse", "filter.csv", "other.txt", "--out", "fuse.txt")
        call("fuse", "filter.txt", "other.txt", "--out", "fuse.txt.gz")
    return folder


def call(*arguments):
    """Call a command, which must succeed."""
    try:
        code = main([str(argument) for argument in arguments] + ["--quiet"])
    except SystemExit as stop:
        code = stop.code
    assert code in (0, 1), arguments


def reading(reader, path, capfd):
    """Give the output of a command for a run, without the names of files."""
    for name in ("saved.monitor.json", "j.csv"):
        Path(name).unlink(missing_ok=True)
    shutil.rmtree("folder", ignore_errors=True)
    # Runs are named after their files.
    ending = path.partition(".")[2]
    run = f"shown.{ending}"
    shutil.copy(path, run)
    arguments = READERS[reader].format(run).split()
    capfd.readouterr()
    call(*arguments)
    Path(run).unlink()
    return Path("j.csv").read_text() if reader == "select" else capfd.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("writer", "reader", "formats"),
    [
        # Every format of every writer, and every reader of a text and a table.
        *((writer, "evaluate", FORMATS) for writer in ("filter", "rank-filter", "apply", "fuse")),
        *thinned(
            [("filter", reader, ["txt", "csv"]) for reader in READERS if reader != "evaluate"],
            parts=2,
        ),
    ],
)
def test_lists_mean_the_same_in_every_format(writer, reader, formats, made, capfd, monkeypatch):
    monkeypatch.chdir(made)
    files = [f"{writer}.{ending}" for ending in formats if Path(f"{writer}.{ending}").exists()]
    first, *others = [reading(reader, path, capfd) for path in files]
    assert first.strip()
    assert others
    for path, other in zip(files[1:], others, strict=True):
        assert other == first, path


RUN = pd.DataFrame(
    {"qid": ["1", "1", "2", "2"], "docno": ["a", "b", "a", "b"], "score": [2.0, 1.0, 4.0, 3.0]}
)


@pytest.mark.slow
def test_a_run_of_which_everything_is_hidden(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_run("run.txt", RUN)
    Path("qrels.txt").write_text("1 0 a 1\n2 0 b -1\n")
    reading = ["qrels.txt", "run.txt", "--threshold", "9", *NONE]
    assert run("threshold", *reading, "--save", "saved.json")[0] == 0
    for ending in ("txt", "csv", "jsonl", "txt.gz"):
        shown = f"shown.{ending}"
        assert run("apply", "saved.json", "run.txt", "--out", shown)[0] == 0
        code, out, err = run("evaluate", "qrels.txt", shown, "-m", "ndcg_f,ap", *NONE)
        assert (code, out.split()) == (0, ["run", "ndcg_f", "ap", "shown", "0.5000", "0.0000"])
        is_text = ending.startswith("txt")
        assert (f"warning: {shown} holds no document" in err) == is_text
        code, out, _ = run("compare", "qrels.txt", shown, "run.txt", "-m", "ndcg_f", *NONE)
        assert code == 0
        assert "shown  0.5000" in out
        code, _, err = run("apply", "saved.json", shown, "--out", "again.txt")
        assert code == 0, err


NAMES = ["=1+1", "+cmd|x", "-a", "@sum", "'=1", "''-b", "-5", "+2.5e3", "it's", '=a,"b"']


@pytest.mark.slow
def test_names_are_no_formulas_in_csv_and_are_read_back(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    Path("qrels.txt").write_text("1 0 a 1\n2 0 =b 1\n-3 0 a 1\n=t 0 a 1\n")
    for number, name in enumerate(NAMES):
        score = 1 if number % 2 else 3
        Path(f"runs/{name}").write_text(
            f"1 Q0 a 1 {score} x\n1 Q0 c 1 2 x\n2 Q0 =b 1 {score} x\n-3 Q0 a 1 {score} x\n"
            f"=t Q0 a 1 {score} x\n"
        )
    runs = [f"runs/{name}" for name in NAMES]
    code, out, err = run(
        *["evaluate", "qrels.txt", *runs, "-m", "ap", "--per-query", "--format", "csv"],
        *["--out", "ap.csv"],
    )
    assert code == 0, err
    cells = pd.read_csv("ap.csv", dtype=str)
    written = [*cells["run"].unique(), *cells["qid"].unique()]
    formulas = [cell for cell in written if cell[0] in "=+-@\t\r"]
    assert formulas == ["-5", "+2.5e3", "-3"]
    assert SystemScores.read("ap.csv")["ap"].systems == tuple(NAMES)
    assert set(SystemScores.read("ap.csv")["ap"].queries) == {"1", "2", "-3", "=t"}
    assert run("threshold", "qrels.txt", runs[0], "--threshold", "2", "--save", "f.json")[0] == 0
    for ending in ("csv", "txt"):
        assert run("apply", "f.json", runs[0], "--out", f"shown.{ending}")[0] == 0
    assert "\n2,'=b,1,3.0,True\n" in Path("shown.csv").read_text()
    out = run("evaluate", "qrels.txt", "shown.csv", "-m", "ap", "--per-query")[1]
    assert out == run("evaluate", "qrels.txt", "shown.txt", "-m", "ap", "--per-query")[1]


# Objects whose keys are names of the input, such as measures, queries and risks; to which depth.
_OF_NAMES = {"mean": 1, "measures": 1, "queries": 2, "risks": 1}
_FOR_PROGRAMS = [
    "evaluate all.txt {runs} -m ndcg@10 --per-query",
    "evaluate all.txt {runs} -m ndcg@10,ap",
    "compare all.txt {runs} -m ap",
    "threshold all.txt {run} --k 10 --risk false_reject_rate=0.9,empty_list_rate=0.9 --save t.json",
    "threshold all.txt {runs} -m ndcg@10",
    "apply t.json {run}",
    "monitor t.json --run {run} --qrels all.txt",
    "rank-filter train.csv --gains Bad=-1,Ok=1,Good=2 --models bce --learner linear --cv 2",
]


def keys(value, depth=0):
    """Yield the keys of an object and of those in it, but for names of the input."""
    for each in value if isinstance(value, list) else ():
        yield from keys(each)
    for key, each in value.items() if isinstance(value, dict) else ():
        if not depth:
            yield key
        yield from keys(each, depth - 1 if depth else _OF_NAMES.get(key, 0))


@pytest.mark.slow
@pytest.mark.usefixtures("trained_once")
def test_keys_are_for_programs(run, sampled_runs, table):
    table.to_csv("train.csv", index=False)
    in_json, in_csv = {}, {}
    for turn, line in enumerate(_FOR_PROGRAMS):
        words = line.format(runs=" ".join(sampled_runs), run=sampled_runs[0]).split()
        # By day in turns, but for the command that says most.
        for form in thinned(("json", "csv"), turn=turn, parts=1 if "--risk" in line else 2):
            Path("t.monitor.json").unlink(missing_ok=True)
            code, out, err = run(*words, "--format", form)
            assert code in (0, 1), err
            assert out, line
            if form == "csv":
                in_csv |= dict.fromkeys(pd.read_csv(io.StringIO(out), nrows=0).columns, line)
                continue
            for record in map(json.loads, out.splitlines()):
                in_json |= dict.fromkeys(keys(record), line)
    identifier, measure = "[a-z][a-z0-9_]*", r"[a-z][a-z0-9_@().=,-]*"
    assert [key for key in in_json if not re.fullmatch(identifier, key)] == []
    assert [key for key in in_csv if not re.fullmatch(measure, key)] == []
    assert in_json.keys() >= {"run", "mean", "n_queries", "upper_bound", "confidence_level"}
    assert in_csv.keys() >= {"run", "ap", "n_queries", "empty_list_rate_upper_bound", "everything"}
    # One name for one thing.
    for option in ("alpha", "confidence", "queries_of_machine", "labels_of_machines"):
        assert option not in in_json | in_csv

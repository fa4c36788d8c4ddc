"""A sample of judgments never passes for judgments of all documents."""

import io
from pathlib import Path

import pandas as pd
import pytest

from skfilterrank.cli import main
from skfilterrank.comparison import score_systems
from skfilterrank.exceptions import InputError
from skfilterrank.io import QrelsIndex, align, read_qrels
from skfilterrank.metaevaluation import judging_curve, label_degradation
from skfilterrank.metrics import evaluate_runs, values_of_run

PRELS = "1 a 1 1 0.1\n1 b 0 1 0.5\n2 a 1 1 0.1\n2 b 0 1 1\n3 a 0 1 0.1\n3 d 1 1 0.5\n"
RUN = "".join(f"{q} Q0 {d} 1 {s} r\n" for q in "123" for d, s in zip("abd", (3, 2, 1)))
# The filter is made for any use.
pytestmark = pytest.mark.filterwarnings("always::skfilterrank.exceptions.SkfilterrankWarning")
FILES = ["sample.prels", "sample.csv", "sample.jsonl"]
COMMANDS = {
    "evaluate": "evaluate {} run.txt -m dcg@10,stat_ap",
    "compare": "compare {} run.txt other.txt -m dcg@10",
    "compare preferences": "compare {} run.txt other.txt -m lexirecall",
    "threshold": "threshold {} run.txt",
    "monitor": "monitor saved.json --qrels {} --run run.txt",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a sample in several formats, runs, texts and a filter."""
    folder = tmp_path_factory.mktemp("samples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_files()
    return folder


@pytest.fixture(autouse=True)
def folder(made, monkeypatch):
    """The working folder."""
    monkeypatch.chdir(made)


def write_files():
    """What the tests read."""
    Path("sample.prels").write_text(PRELS)
    table = read_qrels("sample.prels")
    table.to_csv("sample.csv", index=False)
    table.to_json("sample.jsonl", orient="records", lines=True)
    Path("run.txt").write_text(RUN)
    Path("other.txt").write_text(RUN.replace("3 r", "0.5 r"))
    Path("docs.csv").write_text("docno,text\na,some words\nb,more words\nd,other words\n")
    full = "".join(f"{q} 0 a 1\n" for q in range(60))
    Path("full.txt").write_text(full)
    Path("all.txt").write_text("".join(f"{q} Q0 a 1 {q} r\n" for q in range(60)))
    saved = "threshold full.txt all.txt --risk empty_list_rate=0.2 --save saved.json"
    assert main(saved.split()) == 0


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_commands_refuse_a_sample(command, path, run):
    code, out, err = run(*command.format(path).split())
    assert (code, out) == (2, "")
    assert "is a sample" in err
    assert "with inclusion probabilities below 1" in err
    assert "judgments.estimate" in err


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES)
def test_evaluate_reads_a_sample_by_measures_of_one(path, run):
    assert run("evaluate", path, "run.txt", "-m", "stat_ap,judged@10,num_ret")[0] == 0


@pytest.mark.slow
def test_models_do_not_learn_from_a_sample(run):
    table = pd.DataFrame({"qid": list("112233"), "docno": list("ababab"), "f": range(6)})
    table["label"] = [1, 0] * 3
    table.assign(inclusion_probability=0.5).to_csv("train.csv", index=False)
    code, _, err = run("rank-filter", "train.csv", "--models", "bce")
    assert code == 2
    assert "train.csv is a sample of judgments" in err
    # A mark of machines is no feature, and is told of.
    marked = table.assign(inclusion_probability=1.0, judged_by=["people", "large"] * 3)
    marked.to_csv("train.csv", index=False)
    code, _, err = run("rank-filter", "train.csv", "--models", "bce", "--learner", "linear")
    assert code == 0, err
    assert "warning: machines gave 3 of 6 labels of train.csv" in err
    assert "columns: numeric: f\n" in err


RUNS = {"a": "run.txt", "b": "other.txt"}
FUNCTIONS = {
    "values_of_run": lambda qrels: values_of_run(run="run.txt", qrels=qrels, measures="ap"),
    "evaluate_runs": lambda qrels: evaluate_runs(runs=RUNS, qrels=qrels, measures=["ap"]).per_query,
    "index": lambda qrels: values_of_run(run="run.txt", qrels=QrelsIndex(qrels), measures="ap"),
    "aligned": lambda qrels: values_of_run(
        run=align(run="run.txt", qrels=qrels), qrels=None, measures="ap"
    ),
    "score_systems": lambda qrels: score_systems(runs=RUNS, qrels=qrels, measures="lexirecall"),
    "judging_curve": lambda qrels: judging_curve(runs=RUNS, qrels=qrels, random_state=0),
    "label_degradation": lambda qrels: label_degradation(
        runs=RUNS, qrels=qrels, measures="ap", random_state=0
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
@pytest.mark.parametrize("source", [*FILES[1:], "frame"])
def test_functions_refuse_a_sample(function, source):
    qrels = read_qrels("sample.prels") if source == "frame" else source
    with pytest.raises(InputError, match="is a sample with inclusion probabilities below 1"):
        function(qrels)


def test_judgments_drawn_with_certainty_are_complete():
    qrels = read_qrels("sample.csv").assign(inclusion_probability=1.0)
    bare = qrels.drop(columns="inclusion_probability")
    values = values_of_run(run="run.txt", qrels=qrels, measures="dcg@10")
    pd.testing.assert_frame_equal(
        values, values_of_run(run="run.txt", qrels=bare, measures="dcg@10")
    )
    assert QrelsIndex(read_qrels("sample.prels")).is_sample
    assert not QrelsIndex(qrels).is_sample


@pytest.mark.slow
@pytest.mark.filterwarnings("default:none of the", "default:the judgments hold no label")
@pytest.mark.parametrize("command", ["evaluate", "evaluate --n-jobs 2", "compare", "threshold"])
def test_judgments_of_other_documents_are_told(run, tmp_path, command):
    lines = [(qid, docno) for qid in "123456" for docno in "abcd"]
    for name, sign in (("one", 1), ("two", -1)):
        text = "".join(f"{q} Q0 {d} 1 {sign * ord(d)} {name}\n" for q, d in lines)
        (tmp_path / f"{name}.txt").write_text(text)
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{q} 0 D-{d} {int(d == 'a')}\n" for q, d in lines))
    runs = tmp_path / "one.txt", tmp_path / "two.txt"
    _, _, err = run(command.split()[0], qrels, *runs, *command.split()[1:])
    for name in ("one", "two") if command != "threshold" else ("one",):
        text = (
            f"none of the 24 documents that the run '{name}' retrieves is judged: for query '1', it"
        )
        assert err.count(text) == 1
    if command != "threshold":
        qrels.write_text("".join(f"{q} 0 {d} -1\n" for q, d in lines))
        _, _, err = run(command.split()[0], qrels, *runs, "--unjudged-label", "trec")
        assert err.count("the judgments hold no label") == 1


def test_a_column_is_not_the_query_by_a_doubtful_name(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "q1,a,u1,1,.9\nq1,b,u2,0,.1\nq1,c,u3,1,.5\nq2,d,u1,0,.8\nq2,e,u2,1,.3\nq2,f,u3,1,.4\n"
    Path("m.csv").write_text("question,answer,user,verdict,ce_score\n" + rows)
    named = "docno=answer,label=verdict,score=ce_score"
    given = ("m.csv", "m.csv", "-m", "ap", "--columns")
    code, out, err = run("evaluate", *given, named)
    assert (code, out) == (2, "")
    assert "m.csv has no column 'qid' or 'query_id'; its columns are 'question', 'answer'" in err
    assert "such as qid=question, or rename it" in err
    code, out, err = run("evaluate", *given, f"qid=question,{named}")
    assert (code, out.split()[-1], "queries" in err) == (0, "0.7917", False)
    code, _, err = run("rank-filter", "m.csv", "--columns", "label=verdict")
    assert (code, "m.csv has no column 'qid'; its columns are" in err) == (2, True)
    # Names for one kind of file count for the other.
    Path("r.csv").write_text("user,item,score\nu1,a,1\n")
    Path("q.csv").write_text("qid,docno,verdict\nu1,a,1\n")
    code, _, err = run("evaluate", "q.csv", "r.csv", "--columns", "label=verdict")
    assert (code, "r.csv has no column 'qid'" in err) == (2, True)
    # A run in TREC format on standard input needs no names.
    stdin = io.TextIOWrapper(io.BytesIO(b"u1 Q0 a 1 2 x\n"))
    monkeypatch.setattr("sys.stdin", stdin)
    code, out, _ = run("evaluate", "q.csv", "-", "-m", "rr", "--columns", "label=verdict")
    assert (code, out.split()[-1]) == (0, "1.0000")
    code, _, err = run("evaluate", *given, "qid=answer,docno=answer,label=verdict")
    assert (code, "--columns must name each column once" in err) == (2, True)


def test_a_query_of_a_doubtful_name_is_told(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text("user,item,rating,x\nu1,a,1,1\nu1,b,0,3\n")
    Path("r.csv").write_text("topic,docno,score\nu1,a,1\nu1,b,2\n")
    Path("r2.csv").write_text("qid,docno,score\nu1,a,2\nu1,b,1\n")
    told = "{}.csv: queries are the column '{}'; name another by --columns qid=NAME"
    _, out, err = run("evaluate", "q.csv", "r.csv", "-m", "rr")
    assert (out.split()[-1], told.format("q", "user") in err) == ("0.5000", True)
    for command in ("evaluate", "compare"):
        _, _, err = run(command, "q.csv", "r.csv", "r2.csv", "-m", "rr")
        assert [err.count(told.format(*each)) for each in (("q", "user"), ("r", "topic"))] == [1, 1]
    assert told.format("r", "topic") in run("fuse", "r.csv", "r.csv")[2] + run("fuse", "r.csv")[2]
    assert told.format("q", "user") in run("rank-filter", "q.csv", "--cv", "2")[2]
    # A file that is read twice is told once, and a program in Python that reads it tells nothing.
    Path("both.csv").write_text("user,item,rating,score\nu1,a,1,1\nu1,b,0,3\n")
    assert run("evaluate", "both.csv", "both.csv", "-m", "rr")[2].count("queries are") == 1
    read_qrels("q.csv")
    assert capsys.readouterr().err == ""
    Path("q.csv").write_text("qid,item,rating,x\nu1,a,1,1\nu1,b,0,3\n")
    assert "queries are" not in run("evaluate", "q.csv", "r2.csv", "-m", "rr")[2]


def test_columns_of_tables_are_named(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text("question,passage,verdict\n1,a,1\n1,b,0\n")
    Path("r.csv").write_text("question,passage,logit\n1,a,2\n1,b,1\n")
    Path("r.txt").write_text("1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n")
    _, _, err = run("evaluate", "q.csv", "r.csv", "-m", "rr")
    assert "Name each by --columns, such as qid=question, or rename it." in err
    named = "qid=question,docno=passage,label=verdict,score=logit"
    # The content of a file tells that it is a table, not its name.
    Path("q.txt").write_text(Path("q.csv").read_text())
    for qrels, file in (("q.csv", "r.csv"), ("q.csv", "r.txt"), ("q.txt", "r.txt")):
        code, out, err = run("evaluate", qrels, file, "-m", "rr", "--columns", named)
        assert (code, out.split(), err) == (0, ["run", "rr", "r", "1.0000"], "")


@pytest.mark.parametrize(
    ("lines", "option"),
    [("1 1 a 0\n1 2 a 1\n1 1 b 0\n", "subtopic"), ("1 0 a 0\n1 0 a 1\n1 0 b 0\n", "duplicates")],
)
def test_a_document_with_several_labels(run, tmp_path, monkeypatch, lines, option):
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text(lines)
    Path("r.txt").write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n")
    code, _, err = run("evaluate", "q.txt", "r.txt", "-m", "rr")
    assert code == 2
    assert f"--{option} max" in err
    assert "read_qrels" not in err
    code, out, _ = run("evaluate", "q.txt", "r.txt", "-m", "rr", f"--{option}", "max")
    assert (code, out.split()[-1]) == (0, "0.5000")


def test_documents_with_the_id_of_their_query(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    queries = [f"d{number}" for number in range(20)]
    Path("q.txt").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    lines = "".join(f"{query} Q0 {query} 1 2 x\n{query} Q0 a 2 1 x\n" for query in queries)
    Path("r.txt").write_text(lines)
    values = {}
    for own in ("keep", "drop"):
        code, out, err = run("evaluate", "q.txt", "r.txt", "-m", "rr", "--own", own)
        assert (code, err) == (0, "")
        values[own] = out.split()[-1]
    assert values == {"keep": "0.5000", "drop": "1.0000"}

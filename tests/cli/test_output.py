"""Standard streams that are closed, full or lack letters; and what reaches a terminal."""

import ast
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from commands import Command
from skfilterrank import cli
from skfilterrank.cli import _output
from skfilterrank.comparison import SystemScores

# A title sequence, a right-to-left override, a C1 control sequence, a blank that nobody sees.
NASTY = "t\x1b]0;x\x07\u202e\x9b2J\u200b"
CODES = r"t\x1b]0;x\x07\u202e\x9b2J\u200b"
TOPIC = "é\x9b2J"  # TREC files take characters below a blank for blanks


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments and a run of one query."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text("é 0 d1 1\né 0 d2 0\n", encoding="utf-8")
    (tmp_path / "run").write_text("é Q0 d1 1 2 x\né Q0 d2 2 1 x\n", encoding="utf-8")
    return tmp_path


EVALUATE = "evaluate qrels run -m rr --per-query"
IN, FULL = (os.devnull, "r"), ("/dev/full", "w")
HELD = "run,qid,rr\nrun,é,1.0\n".encode()


def shell(command, **environment):
    """Run a command of the shell; its exit code, output and messages."""
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, env=os.environ | environment, timeout=120
    )
    return done.returncode, done.stdout, done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "streams", "code", "out", "err"),
    [
        ("--version", {"stdout": None}, 2, b"", "error: standard output is closed. "),
        ("--version", {"stdout": FULL}, 2, b"", "standard output: No space left on device\n"),
        ("evaluate qrels absent", {"stdout": None}, 2, b"", "rank: error: absent: No such file"),
        ("evaluate", {"stderr": FULL}, 2, b"", ""),
        (f"{EVALUATE} --format csv", {"stdin": None, "stderr": None}, 0, HELD, ""),
        ("evaluate qrels - -m rr", {"stdin": None}, 2, b"", "error: standard input is closed"),
    ],
)
def test_closed_and_full_streams(files, arguments, streams, code, out, err):
    found = Command(*arguments.split(), **streams).end()
    assert found[:2] == (code, out)
    assert err in found[2]
    assert found[2].count("\n") == bool(err)


def test_a_file_does_not_get_the_place_of_a_closed_stream(files):
    """What is written to descriptor 1 or 2 by others must not end up in a data file."""
    code = (
        "import os; from skfilterrank.cli import _output\n"
        "_output.prepare_streams()\n"
        "with open('data', 'w') as file:\n"
        "    assert file.fileno() > 2\n"
        "    os.write(1, b'noise'); os.write(2, b'noise')"
    )
    assert shell(f"'{sys.executable}' -c \"$CODE\" <&- >&- 2>&-", CODE=code)[0] == 0
    assert (files / "data").read_bytes() == b""


@pytest.mark.parametrize(
    ("arguments", "encoding", "out"),
    [
        (EVALUATE, "ascii", b"run      rr\n\\xe9    1.0000\nall  1.0000\n"),
        (f"{EVALUATE} --format csv", "ascii", HELD),
    ],
)
def test_letters_that_the_encoding_lacks(files, monkeypatch, arguments, encoding, out):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding))
    assert cli.main(arguments.split()) == 0
    assert written.getvalue() == out


@pytest.mark.parametrize("format", ["table", "csv", "json", "trec"])
def test_a_file_name_that_is_not_utf8(files, run, format):
    os.rename(b"run", b"run\xff")
    arguments = ["run\udcff", "-m", "rr", "--format", format]
    code, out, err = run("evaluate", "qrels", *arguments)
    assert (code, err) == (0, "")
    # trec_eval names a run by its own tag.
    name = "x" if format == "trec" else "run\\xff"
    assert (json.loads(out)["run"] if format == "json" else out).count(name) == 1
    assert run("evaluate", "qrels", "absent\udcff")[2] == (
        "skfilterrank: error: absent\\udcff: No such file or directory\n"
    )


@pytest.fixture
def nasty_files(files):
    """The same with names that a terminal would obey."""
    for name in ("qrels", "run"):
        text = (files / name).read_text(encoding="utf-8").replace("é", TOPIC)
        (files / name).write_text(text, encoding="utf-8")
    os.rename("run", NASTY)


@pytest.mark.usefixtures("nasty_files")
@pytest.mark.parametrize("format", ["table", "csv"])
def test_a_terminal_gets_no_control_characters(monkeypatch, format):
    parent, child = pytest.importorskip("pty").openpty()
    with open(parent, "rb", buffering=0) as screen, open(child, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        arguments = ["qrels", NASTY, "-m", "rr", "--per-query", "--format", format]
        assert cli.main(["evaluate", *arguments]) == 0
        stream.flush()
        sent = screen.read(4096).decode()
    assert CODES in sent
    assert r"é\x9b2J" in sent
    assert not {"\x07", "\x9b", "\u202e", "\u200b"} & set(sent)
    assert "\x1b]" not in sent


@pytest.mark.usefixtures("nasty_files")
@pytest.mark.parametrize("format", ["csv", "trec"])
def test_programs_get_names_as_they_are(run, format):
    code, out, _ = run("evaluate", "qrels", NASTY, "-m", "rr", "--per-query", "--format", format)
    assert code == 0
    (scores,) = SystemScores.read(io.StringIO(out)).values()
    name = "x" if format == "trec" else NASTY
    assert (list(scores.systems), list(scores.queries)) == ([name], [TOPIC])


def test_messages_have_no_control_characters(files, run):
    code, out, err = run("evaluate", "qrels", NASTY)
    assert (code, out) == (2, "")
    assert err == f"skfilterrank: error: {CODES}: No such file or directory\n"
    code, out, err = run("evaluate", "qrels", "run", NASTY + "\n", "-x\x1b\n")
    assert (code, out) == (2, "")
    assert "there is no option -x" in err
    assert err.count("\n") == 1


@pytest.mark.slow
def test_nothing_leaves_but_through_the_output():
    """Nobody prints, and standard error is only asked whether it is a screen."""
    strays = []
    for path in Path(cli.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = ast.unparse(node) if isinstance(node, ast.Attribute | ast.Name) else ""
            if text in ("print", "sys.stdout", "sys.stdin", "sys.stderr.write"):
                strays.append(path)
    assert set(strays) == {Path(_output.__file__)}


def test_a_measure_behind_a_blank_is_told_from_a_run(files, run):
    code, _, err = run("evaluate", "qrels", "run", "-m", "ap", "ndcg@10")
    assert code == 2
    assert "ndcg@10: No such file or directory. Join measures by commas, as in -m ap,ndcg@10" in err

"""``skfilterrank judge``: through pipes, through a pseudo-terminal, and after interruptions."""

import importlib
import io
import json
import os
import re
import select
import signal
import sys
import threading
import time

import pandas as pd
import pytest

from commands import Command
from selections import budget, mask
from skfilterrank.cli.judge import options as judge_options
from skfilterrank.cli.judge.terminal import (
    TerminalAssessor,
    keys_of,
    mark,
    query_terms,
    read_key,
)
from skfilterrank.exceptions import InputError
from skfilterrank.io import read_prels, read_qrels, read_run
from skfilterrank.judgments import (
    Answer,
    Question,
    StatAPSelector,
    rank_table,
    read_judgment_log,
    statap_prior,
)
from terminals import Terminal, pseudo_terminal, wait_for_a_reader

DOCS = {
    "d1": "The cat sat on the mat.",
    "d2": "Cats and dogs; a dog barks.",
    "d3": "Nothing of the kind.",
    "d4": "",
    "d5": "A long tale. " * 300,
}
RUNS = {"a": ["d1", "d2", "d3", "d4"], "b": ["d5", "d2", "d6"]}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Documents, topics and runs of two topics."""
    monkeypatch.chdir(tmp_path)
    for name in ("TERM", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    with open("docs.jsonl", "w") as file:
        for docid, text in DOCS.items():
            file.write(json.dumps({"docid": docid, "title": text[:7], "text": text}) + "\n")
    (tmp_path / "topics.csv").write_text("qid,query,narrative\n1,the cats,All of them.\n2,dog,\n")
    for name, documents in RUNS.items():
        with open(f"{name}.run", "w") as file:
            for qid in "12":
                for rank, docno in enumerate(documents, 1):
                    file.write(f"{qid} Q0 {docno} {rank} {10 - rank} {name}\n")
    return tmp_path


BASE = ["judge", "--docs", "docs.jsonl", "--topics", "topics.csv", "--out", "qrels.txt"]
WITH_RUNS = [*BASE, "--runs", "a.run", "b.run"]


@pytest.fixture
def ask(run, files, monkeypatch):
    """Run the command with these lines as answers."""

    def ask(answers, *arguments, base=WITH_RUNS):
        read, write = os.pipe()
        os.write(write, "".join(f"{answer}\n" for answer in answers).encode())
        os.close(write)
        with open(read) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            return run(*base, *arguments)

    return ask


def judged(path="qrels.txt"):
    return [tuple(row) for row in read_qrels(path).itertuples(index=False)]


def shown(text):
    """Documents in the order in which they were shown."""
    return re.findall(r"\[(d\d)\]", text)


def test_maxrep_starts_from_what_is_judged(ask, files):
    """Of what one file has judged, near copies come last."""
    texts = {"d1": "a wing in flight", "d2": "a wing in flight", "d3": "heat of slabs"}
    texts["d5"] = "soup and bread"
    with open("docs.jsonl", "w") as file:
        for docid, text in texts.items():
            file.write(json.dumps({"docid": docid, "text": text}) + "\n")
    (files / "known.txt").write_text("1 0 d1 2\n2 0 d3 0\n")
    arguments = ["--strategy", "maxrep", "--n-per-query", "3", "--judged", "known.txt"]
    code, out, _ = ask(["1", "0", "1", "0"], *arguments)
    assert code == 0
    # Topic 1 knows of d1, whose copy d2 stands higher than d3 in the runs.
    assert shown(out) == ["d5", "d3", "d1", "d5"]
    asked = [(qid, docno) for qid, docno, _ in judged()]
    assert set(asked[:3]) == {("1", "d1"), ("1", "d5"), ("1", "d3")}
    assert set(asked[3:]) == {("2", "d3"), ("2", "d1"), ("2", "d5")}


def test_grades_from_a_pipe(ask):
    code, out, err = ask(["2", "0", "1", "q"])
    assert code == 0
    assert judged() == [("1", "d1", 2), ("1", "d5", 0), ("1", "d2", 1)]
    assert shown(out) == ["d1", "d5", "d2", "d3"]
    assert "4 of 14 documents of the pool have no text in docs.jsonl" not in err
    assert (
        "4 of 12 documents of the pool have no text in docs.jsonl and are left out: d4, d6" in err
    )
    assert err.endswith(
        "5 of 8 documents are not yet judged: give the same command again to go on\n"
        "3 judgments in qrels.txt, 3 of them new\n"
    )
    assert "the cats" in out
    assert "All of them." in out
    # The title is what the text begins with, and is not shown twice.
    assert "The *cat* sat on the mat." in out
    assert out.count("The *cat*") == 1
    assert "*Cats* and dogs; a dog barks." in out
    assert "topic 1, document 1 of 4; 0 of 8 judged" in out
    assert "[0] [1] [2] [s]kip [u]ndo [q]uit [?] >" in out


def test_going_on_where_it_was_left(ask):
    assert ask(["2", "0"])[0] == 0  # the pipe ends
    log = read_judgment_log("qrels.txt.log")
    code, out, err = ask(["1", "u", "0", "2", "1", "1", "1", "1", "1"])
    assert code == 0
    assert "going on behind 2 judgments of qrels.txt.log" in err
    assert shown(out)[:3] == ["d2", "d3", "d2"]
    assert "(was 1)" in out
    assert judged()[:2] == [tuple(row) for row in log.itertuples(index=False)]
    assert len(judged()) == 8
    assert err.endswith("8 judgments in qrels.txt, 6 of them new\n")
    assert "not yet judged" not in err
    assert ("1", "d2", 0) in judged()
    # Everything is judged: nothing is asked.
    code, out, err = ask([])
    assert code == 0
    assert "All is judged. [u]ndo [q]uit > " in out
    assert shown(out) == []


def test_skips_help_and_nonsense(ask):
    code, out, err = ask(["s", "?", "9", "", "yes", "1", "1", "1", "1"], "--n-per-query", "3")
    assert code == 0
    assert "'9' is no answer" in out
    assert "'yes' is no answer" in out
    assert "u takes the last answer back" in out
    assert "2 of 6 documents are not yet judged" in err
    # The blank line and the others ask about the same document again.
    assert shown(out)[:7] == ["d1", "d5", "d5", "d5", "d5", "d5", "d2"]
    assert "(skipped before)" in out
    assert judged()[:3] == [("1", "d5", 1), ("1", "d2", 1), ("1", "d1", 1)]


def test_undoing_everything_leaves_no_file(ask, files):
    ask(["2"])
    assert (files / "qrels.txt").exists()
    code, _, err = ask(["u"])
    assert code == 0
    assert "nothing is judged; qrels.txt is not written" in err
    assert not (files / "qrels.txt").exists()
    assert sorted(path.name for path in files.glob("*qrels*")) == ["qrels.txt.log"]


@pytest.mark.parametrize("strategy", [s for s in judge_options.STRATEGIES if s != "sample"])
def test_every_strategy(ask, strategy):
    code, out, _ = ask(["1"] * 20, "--strategy", strategy, "--n-per-query", "2", "--only", "2,1")
    assert code == 0
    read = read_prels if strategy == "statap" else read_qrels
    assert len(read("qrels.txt")) == 4
    assert re.findall("topic (\\d)", out) == ["2", "2", "1", "1"]


@pytest.mark.parametrize("name", ["docs.csv.gz", "docs.parquet", "docs.tsv"])
def test_formats_of_documents(ask, name):
    table = pd.DataFrame({"doc_id": list(DOCS), "body": list(DOCS.values()), "length": 3})
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
        table.to_parquet(name)
    else:
        table.to_csv(name, index=False, sep="\t" if "tsv" in name else ",")
    code, out, err = ask(["1"] * 8, "--docs", name, "--n-per-query", "0.5")
    assert code == 0
    assert "a *dog* barks." in out
    assert len(judged()) == 6
    assert f"4 of 12 documents of the pool have no text in {name}" in err


def test_move_to_front_listens(ask):
    _, out, _ = ask(["0", "1", "0"], "--strategy", "mtf", "--n-per-query", "3", "--only", "1")
    assert shown(out) == ["d1", "d5", "d2"]
    # All is judged: back to the begin.
    answers = ["u", "u", "u", "1", "1", "0", "nonsense", "q"]
    assert ask(answers, "--strategy", "mtf", "--n-per-query", "3", "--only", "1")[0] == 0
    assert [row[1] for row in judged()] == ["d1", "d2", "d3"]


def test_labels_with_names(ask):
    code, out, _ = ask(["-1", "-", "a", "0"], "--grades=-1=spam,-2,0=no,1", "--only", "1")
    assert code == 0
    assert "[-] spam [a] -2 [0] no [1] [s]kip" in out
    assert [row[2] for row in judged()] == [-1, -1, -2, 0]


def test_pools(ask, files):
    (files / "pool.csv").write_text("topic,docno\n1,d3\n1,d1\n2,d2\n")
    (files / "pool.qrels").write_text("1 0 d3 1\n1 0 d1 0\n2 0 d2 0\n")
    for number, pool in enumerate(["pool.csv", "pool.qrels"]):
        out_file = f"out{number}.txt"
        base = ["judge", pool, "--docs", "docs.jsonl", "--out", out_file]
        code, out, _ = ask(["1"] * 3, "--strategy", "random", base=base)
        assert code == 0
        assert set(judged(out_file)) == {("1", "d3", 1), ("1", "d1", 1), ("2", "d2", 1)}
        assert "*" not in out
    # A run is its own pool; runs put a pool in order.
    base = ["judge", "a.run", "--docs", "docs.jsonl", "--out", "own.txt"]
    _, out, err = ask(["1"] * 9, base=base)
    assert shown(out) == ["d1", "d2", "d3"] * 2
    base = ["judge", "pool.csv", "--docs", "docs.jsonl", "--out", "some.txt", "--runs", "b.run"]
    _, out, err = ask(["1"] * 9, base=base)
    assert shown(out) == ["d3", "d1", "d2"]
    assert "2 of 3 documents of pool.csv are in no run" in err
    _, out, _ = ask(["1"] * 9, "--depth", "1", "--out", "top.txt")
    assert shown(out) == ["d1", "d5"] * 2


def test_depth(files, ask):
    """100 places of each run by default; all on demand."""
    numbers = range(1, 121)
    lines = [f"1 Q0 x{number} {number} {-number} deep\n" for number in numbers]
    (files / "deep.run").write_text("".join(lines))
    texts = [f"x{number},some words\n" for number in numbers]
    (files / "deep.csv").write_text("".join(["docno,text\n", *texts]))
    base = ["judge", "--docs", "deep.csv", "--runs", "deep.run", "--out"]
    for place, (depth, expected) in enumerate([((), 100), (("--depth", "all"), 120)]):
        _, out, _ = ask([], *depth, base=[*base, f"deep{place}.txt"])
        assert f"document 1 of {expected};" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*BASE], "there is nothing to judge: name POOL, or runs by --runs"),
        ([*BASE, "absent.csv"], "absent.csv: No such file or directory"),
        ([*BASE, "topics.csv"], "topics.csv: no column is called docno or doc_id or"),
        ([*BASE, "docs.jsonl"], "docs.jsonl: no column is called qid or"),
        ([*BASE, "odd.txt"], "odd.txt:1: 2 columns in the first line; judgments have 4, runs 6"),
        ([*BASE, "twice.csv"], "twice.csv: document 'd1' is there a second time in topic '1'"),
        ([*BASE, "pool.csv", "--strategy", "mtc"], "--strategy mtc looks at runs"),
        ([*BASE, "pool.csv", "--runs", "a.run"], "no run returns a document of pool.csv"),
        ([*BASE, "pool.csv"], "docs.jsonl holds no text of any document of the pool"),
        ([*WITH_RUNS, "--only", "1,7"], "--only 7: the pool holds no such topic"),
        ([*WITH_RUNS, "--text", "words"], "docs.jsonl: there is no column 'words'"),
        ([*WITH_RUNS, "--out", "odd.txt"], "odd.txt is there already, but not its log"),
        ([*WITH_RUNS, "--grades", "0,0"], "argument --grades: label 0 is there twice"),
        ([*WITH_RUNS, "--grades", "no"], "argument --grades: expected a number, got 'no'"),
        (
            [*WITH_RUNS, "--n-per-query", "1.5"],
            "argument --n-per-query: expected a number above 0, up to 1",
        ),
        (
            [*WITH_RUNS, "--n-per-query", "0"],
            "argument --n-per-query: expected a whole number from 1 up",
        ),
        ([*WITH_RUNS, "--n-total", "9"], "--n-total says what a sample is for"),
        (
            [*WITH_RUNS, "--strategy", "sample", "--n-per-query", "9"],
            "give --n-total, not --n-per-query",
        ),
        ([*WITH_RUNS, "--grades", ",".join(map(str, range(40)))], "too many grades"),
    ],
)
def test_bad_arguments(ask, files, arguments, message):
    (files / "odd.txt").write_text("1 2\n")
    (files / "twice.csv").write_text("qid,docno\n1,d1\n1,d1\n")
    (files / "pool.csv").write_text("qid,docno\n1,x\n")
    before = sorted(os.listdir())
    code, out, err = ask([], base=arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert sorted(os.listdir()) == before


@pytest.mark.filterwarnings("default")
def test_damaged_logs(ask, files):
    ask(["2", "1", "0"])
    log = files / "qrels.txt.log"
    whole = log.read_bytes()
    # Half a line at the end: told, and asked about again.
    log.write_bytes(whole[:-9])
    code, out, err = ask([])
    assert code == 0
    assert "warning: qrels.txt.log:4: the last line is only half written" in err
    assert len(judged()) == 2
    assert shown(out) == ["d2"]
    # Damage in the middle: an error with the line, and nothing is touched.
    lines = whole.split(b"\n")
    damaged = b"\n".join([*lines[:2], b"x" * 9, *lines[2:]])
    log.write_bytes(damaged)
    code, out, err = ask(["1"])
    assert (code, out) == (2, "")
    assert "qrels.txt.log:3: the line is damaged (it is not JSON)" in err
    assert "The 1 judgment(s) before it are kept." in err
    assert log.read_bytes() == damaged
    assert len(judged()) == 2
    # The log of another pool.
    log.write_bytes(whole)
    code, _, err = ask(["1"], "--depth", "1")
    assert code == 2
    assert "qrels.txt.log: the log belongs to another pool" in err


def test_a_pool_that_grows(ask):
    code, out, _ = ask(["2", "1", "0", "0"], "--depth", "1")
    assert code == 0
    before = shown(out)
    code, out, err = ask(["1"] * 9, "--depth", "2")
    assert code == 0
    assert f"going on behind {len(before)} judgments" in err
    assert "d2" in shown(out)
    assert len(judged()) == 6
    code, _, err = ask(["1"], "--depth", "1")
    assert code == 2
    assert "does not hold document 'd2' of topic '1'" in err


def test_what_documents_hold_does_not_reach_the_terminal(ask, files):
    nasty = "\x1b]0;x\x07 of\r\n cats\u202e\x9b2J\u200b and \U0001f469\u200d\U0001f33e"
    text = json.dumps({"docno": "d1\x9b2J", "title\x1b": nasty, "text": "more\x9b"}) + "\n"
    (files / "nasty.jsonl").write_text(text)
    (files / "pool.jsonl").write_text('{"qid": "1\\u001b", "docno": "d1\\u009b2J"}\n' * 1)
    base = ["judge", "pool.jsonl", "--docs", "nasty.jsonl", "--out", "q.txt"]
    code, out, err = ask(["1"], "--text", "title\x1b,text", base=base)
    assert code == 2  # a topic with white space cannot be written
    assert r"topic 1\x1b, document 1 of 1" in out
    assert r"[d1\x9b2J]" in out
    assert r"\x1b]0;x\x07 of cats\u202e\x9b2J\u200b and " in out
    assert "\U0001f469\u200d\U0001f33e" in out
    assert not {"\x1b", "\x07", "\r", "\x9b", "\u202e", "\u200b"} & set(out + err)


def test_documents_without_text_are_listed_without_control_characters(ask, files):
    (files / "pool.jsonl").write_text(
        '{"qid": "1", "docno": "d1"}\n{"qid": "1", "docno": "x\\u001b]0;title\\u0007"}\n'
    )
    _, _, err = ask([], base=["judge", "pool.jsonl", "--docs", "docs.jsonl", "--out", "q.txt"])
    assert r"left out: x\x1b]0;title\x07" in err
    assert "\x1b" not in err


def test_marks():
    terms = query_terms("What is the speed of Dogs?")
    assert terms == {"speed", "dog"}
    assert mark("A DOG's speed, speedy dogs.", terms, "<", ">") == (
        "A DOG's <speed>, speedy <dogs>."
    )
    assert query_terms("to be or not to be") == {"to", "be", "or", "not"}
    assert mark("anything", frozenset(), "<", ">") == "anything"


def test_keys():
    assert keys_of({0.0: "", 1.0: "", 2.0: ""}) == {0.0: "0", 1.0: "1", 2.0: "2"}
    assert keys_of(dict.fromkeys([-2.0, -1.0, 0.5, 9.0, 10.0], "")) == {
        -2.0: "a", -1.0: "-", 0.5: "c", 9.0: "9", 10.0: "d",
    }  # fmt: skip


@pytest.fixture
def terminal(files):
    opened = []

    def terminal(*arguments, **environment):
        opened.append(Terminal(*WITH_RUNS, *arguments, **environment))
        return opened[-1]

    yield terminal
    for one in opened:
        one.close()


def test_single_keys(terminal):
    screen = terminal("--grades=-1,0,1")
    text = screen.until(r"\[d1\]")
    assert text.startswith("\x1b[H\x1b[2J")
    assert "\x1b[1mthe cats\x1b[0m" in text
    assert "The \x1b[1;7mcat\x1b[0m sat on the mat." in text
    screen.press("1")
    # A long document: pages.
    text = screen.until(r"\[d5\]")
    assert "-- page 1 of" in text
    for key in (" ", b"\x1b[6~"):
        screen.press(key)
        text = screen.until("-- page")
    assert "-- page 3 of" in text
    assert "[d5]" not in text
    screen.press(b"\x1b[5~")
    assert "-- page 2 of" in screen.until("-- page")
    # Neither an unknown key, nor an arrow, nor Home, whose bytes hold a 1, nor a word.
    for key in ("9", b"\x1b[A", b"\x1b[1~", b"\x1bOP", "é", "x1"):
        screen.press(key)
        screen.until("-- page 2 of")
    screen.press("-")
    screen.until(r"\[d2\]")
    screen.press("u")
    assert "(was -1)" in screen.until(r"\[d5\]")
    screen.press("s")
    screen.until(r"\[d2\]")
    screen.press("?")
    assert "takes the last answer back" in " ".join(screen.until(r"\[d2\]").split())
    screen.press("0")
    screen.until(r"\[d3\]")
    screen.press("q")
    code, err = screen.end()
    assert code == 0
    assert "2 judgments in qrels.txt, 2 of them new" in err
    assert judged() == [("1", "d1", 1), ("1", "d2", 0)]


def test_ctrl_c(terminal):
    screen = terminal()
    screen.until(r"\[d1\]")
    screen.press("2")
    screen.until(r"\[d5\]")
    screen.press("\x03")
    code, err = screen.end()
    assert code == 130
    assert "1 judgment in qrels.txt" in err
    assert err.endswith("skfilterrank: interrupted\n")
    assert judged() == [("1", "d1", 2)]


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_process_that_is_told_to_end(terminal, name):
    screen = terminal()
    termios = importlib.import_module("termios")
    screen.until(r"\[d1\]")
    screen.press("2")
    screen.until(r"\[d5\]")
    echo = termios.ECHO | termios.ICANON
    assert termios.tcgetattr(screen.child)[3] & echo == 0
    number = getattr(signal, name)
    screen.signal(number)
    code, err = screen.end()
    assert code == 128 + number
    assert "1 judgment in qrels.txt" in err
    assert "Traceback" not in err
    assert judged() == [("1", "d1", 2)]
    assert termios.tcgetattr(screen.child)[3] & echo == echo


def test_a_session_begun_by_nohup_outlasts_a_hang_up(terminal):
    screen = terminal(hang_up=signal.SIG_IGN)
    screen.until(r"\[d1\]")
    screen.signal(signal.SIGHUP)
    screen.press("2")
    screen.until(r"\[d5\]")
    screen.press("q")
    assert screen.end()[0] == 0
    assert judged() == [("1", "d1", 2)]


def test_a_pipe_whose_reader_is_told_to_end(files):
    for name in ("answers", "questions"):
        os.mkfifo(name)
    command = Command(*WITH_RUNS, stdin=("answers", "r"), stdout=("questions", "w"))
    with open("answers", "wb", buffering=0) as answers, open("questions", "rb") as questions:
        answers.write(b"2\n")
        text = b""
        while b"[d5]" not in text:
            part = questions.read1()
            assert part, "it ended before the second question"
            text += part
        time.sleep(0.3)
        command.process.terminate()
        questions.read()
        assert command.end()[0] == 128 + signal.SIGTERM
    assert judged() == [("1", "d1", 2)]


def test_a_window_that_is_closed(terminal):
    """The terminal hangs up: SIGHUP, and nothing can be written to it any more."""
    screen = terminal()
    screen.until(r"\[d1\]")
    screen.press("2")
    screen.until(r"\[d5\]")
    os.close(screen.parent)
    screen.parent = os.open(os.devnull, os.O_RDONLY)
    screen.process.join(60)
    assert screen.process.exitcode in (0, 128 + signal.SIGHUP)
    assert "Traceback" not in screen.err()
    assert judged() == [("1", "d1", 2)]


def test_a_terminal_that_is_closed(terminal, run):
    screen = terminal()
    screen.until(r"\[d1\]")
    screen.press("2")
    screen.until(r"\[d5\]")
    screen.process.kill()
    screen.end()
    assert not os.path.exists("qrels.txt")
    screen = terminal()
    screen.until(r"\[d5\]")
    screen.press("q")
    code, err = screen.end()
    assert code == 0
    assert "going on behind 1 judgments of qrels.txt.log" in err
    assert judged() == [("1", "d1", 2)]


def test_a_key_and_the_terminal_after_it():
    """Keys pressed before do not count; echo and lines are on again afterwards."""
    parent, child = pseudo_terminal()
    termios = importlib.import_module("termios")
    with open(child) as stdin:
        before = termios.tcgetattr(child)
        os.write(parent, b"1\n")
        # The terminal hands on what is written in a moment of its own.
        assert select.select([stdin], [], [], 10)[0]

        def press_later():
            wait_for_a_reader(parent, time.monotonic() + 10)
            os.write(parent, b"7")

        press = threading.Thread(target=press_later)
        press.start()
        assert read_key(stdin) == "7"
        press.join()
        assert termios.tcgetattr(child) == before
    os.close(parent)


class Screen(io.StringIO):
    """Output that says it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize(("term", "expected"), [("xterm", "some \x1b[1;7mwords\x1b[0m"),
                                                ("dumb", "some *words*")])  # fmt: skip
def test_streams_of_ones_own(monkeypatch, term, expected):
    monkeypatch.setenv("TERM", term)
    texts = pd.DataFrame({"text": ["some words"]}, index=["7"])
    topics = pd.DataFrame({"query": ["word"], "note": ["a note"]}, index=["3"])
    out = Screen()
    assessor = TerminalAssessor(
        texts, topics, {0.0: "", 1.0: ""}, stdin=io.StringIO("1\n"), stdout=out
    )
    question = Question(3, 7, 0, 1, 1, 0, 1)
    assert assessor(question) == 1.0
    assert expected in out.getvalue()
    assert ("\x1b" in out.getvalue()) == (term == "xterm")
    assert assessor(question) is Answer.STOP


def test_why_judging_could_not_begin(ask, monkeypatch):
    """And not that the log, which was not begun, is not there."""

    def refuse(*_, **__):
        raise InputError("no reason to judge")

    monkeypatch.setattr("skfilterrank.cli.judge.run.judge", refuse)
    code, _, err = ask(["2"])
    assert code == 2
    assert err.endswith("skfilterrank: error: no reason to judge\n")


JUDGED = "1 0 d1 2\n1 0 d9 1\n2 0 d2 0\n2 0 d5 -1\n"


def test_only_holes_are_judged(ask, files):
    (files / "old.txt").write_text(JUDGED)
    code, out, err = ask(["1"] * 9, "--judged", "old.txt", "--unjudged-label=-1")
    assert code == 0, err
    # d1 of topic 1 and d2 of topic 2 have labels; d5 of topic 2 has that of the unjudged.
    assert shown(out) == ["d5", "d2", "d3", "d1", "d5", "d3"]
    assert "topic 1, document 2 of 4; 2 of 8 judged" in out
    found = {row[:2]: row[2] for row in judged()}
    assert found["1", "d1"] == 2
    assert found["2", "d2"] == 0
    assert found["1", "d9"] == 1  # outside of the pool
    assert found["2", "d4"] == -1  # without text
    assert len(found) == 13
    assert "9 judgments in qrels.txt, 6 of them new" in err
    assert len(read_judgment_log("qrels.txt.log")) == 6


def test_what_was_judged_makes_the_pool_and_the_next_session(ask, files):
    (files / "old.txt").write_text(JUDGED)
    code, _, err = ask([], "--judged", "old.txt", base=BASE)
    assert code == 2
    assert "holds the label -1, which is none of --grades: say --unjudged-label=-1 where" in err
    code, out, _ = ask(["2", "q"], "--judged", "old.txt", "--unjudged-label=-1", base=BASE)
    assert (code, shown(out)) == (0, ["d5"])
    assert judged() == [("1", "d1", 2), ("1", "d9", 1), ("2", "d2", 0), ("2", "d5", 2)]


def test_judgments_of_other_grades_are_not_mixed(ask, files):
    (files / "old.txt").write_text("1 0 d1 2\n1 0 d2 0\n")
    code, _, err = ask(["1"], "--judged", "old.txt", "--grades", "0,1")
    assert code == 2
    assert "old.txt holds the label 2, which is none of --grades: add it to --grades." in err
    assert not (files / "qrels.txt").exists()


def test_assessors_who_disagree(ask, files):
    (files / "anna.txt").write_text("1 0 d1 2\n1 0 d2 0\n1 0 d3 1\n2 0 d1 1\n")
    (files / "bob.txt").write_text("1 0 d1 2\n1 0 d2 1\n1 0 d3 0\n2 0 d5 0\n")
    arguments = ["--judged", "anna.txt", "bob.txt", "--assessor", "carl"]
    code, out, err = ask(["2", "q"], *arguments, base=BASE)
    assert code == 0, err
    assert shown(out)[:2] in (["d2", "d3"], ["d3", "d2"])
    assert "(anna: 0, bob: 1)" in out
    assert "2 of 5 documents with different labels" not in err
    assert "2 of 3 documents with different labels" in err
    assert re.search(r"anna +bob +3 +0\.3333", err)
    settled = shown(out)[0]
    expected = {("1", "d1", 2), ("1", settled, 2), ("2", "d1", 1), ("2", "d5", 0)}
    assert set(judged()) == expected
    assert read_judgment_log("qrels.txt.log")["assessor"].tolist() == ["carl"]


def test_a_second_look(ask, files):
    texts, lines = ["docno,text"], []
    for number in range(40):
        label = number % 2
        words = "cat purr claw" if label else "boat sail oar"
        texts.append(f"x{number},{words} {'abcdefgh'[number % 7] * 3}")
        lines.append(f"1 0 x{number} {label if number != 6 else 1}\n")
    (files / "many.csv").write_text("\n".join(texts) + "\n")
    (files / "old.txt").write_text("".join(lines))
    base = ["judge", "--docs", "many.csv", "--out", "qrels.txt", "--judged", "old.txt"]
    code, out, err = ask(["0"], "--second-look", "3", base=base)
    assert code == 0, err
    assert re.findall(r"\[(x\d+)\]", out) == ["x6"]
    assert "(label 1; a model says 0, similar documents 0.0)" in out
    assert "1 label of 40 that a model and similar documents contradict" in err
    assert ("1", "x6", 0) in judged()
    assert len(judged()) == 40


def test_inferred_ap_of_what_judge_writes(ask, run):
    arguments = ["--strategy", "random", "--n-per-query", "2", "--unjudged-label=-1"]
    assert ask(["1", "0", "0", "1"], *arguments)[0] == 0
    rows = read_qrels("qrels.txt", unjudged_label=-1)
    assert rows["label"].isna().sum() == 8
    assert rows["label"].notna().sum() == 4
    code, _, err = run(
        "evaluate", "qrels.txt", "a.run", "-m", "infap", "--unjudged-label=-1", "--quiet"
    )
    assert code == 0, err
    # Without the mark it is told how.
    _, _, err = ask([], "--strategy", "random", "--n-per-query", "2")
    assert "infap needs the 8 documents of these topics that are not judged" in err


def test_a_sample_and_its_probabilities(ask, run):
    arguments = ["--strategy", "statap", "--n-per-query", "2", "--seed", "3"]
    code, _, err = ask(["1", "0", "2"], *arguments)
    assert code == 0
    assert "1 topic whose sample is not yet judged: left out" in err
    assert set(read_prels("qrels.txt")["qid"]) == {"1"}
    _, _, err = ask(["1"], *arguments)
    assert "4 judgments with their probabilities in qrels.txt" in err
    found = read_prels("qrels.txt").set_index(["qid", "docno"])
    answers = read_judgment_log("qrels.txt.log").set_index(["qid", "docno"])["label"]
    assert answers.tolist() == [1, 0, 2, 1]
    assert found["label"].to_dict() == answers.to_dict()
    # Those of a sample of what has a text, by the priors of all.
    table = rank_table({name: read_run(f"{name}.run") for name in RUNS})
    prior = statap_prior(table)
    prior = prior[~prior.index.isin(["d4", "d6"], level="docno")]
    selector = StatAPSelector(random_state=3).fit(pd.DataFrame(index=prior.index), prior=prior)
    expected = pd.Series(selector.inclusion_probability(**budget(2)), index=prior.index)
    assert found["inclusion_probability"].to_dict() == expected[found.index].to_dict()
    assert set(found.index) == set(prior.index[mask(selector, 2)])
    code, _, err = run("evaluate", "qrels.txt", "a.run", "-m", "stat_ap", "--quiet")
    assert code == 0, err


def test_a_sample_of_a_pool_that_no_run_ranks_whole(ask, files):
    pool = files / "pool.csv"
    pool.write_text("qid,docno\n1,d1\n1,d2\n1,d3\n1,d5\n")
    arguments = ["pool.csv", "--runs", "b.run", "--strategy", "statap", "--n-per-query", "1"]
    code, _, err = ask(["1"], *arguments, base=BASE)
    assert code == 0, err
    assert "2 of 4 documents of pool.csv are in no run" in err
    assert "2 documents that no run ranks can never be drawn: stat_ap is the average" in err
    assert set(read_prels("qrels.txt")["docno"]) < {"d2", "d5"}


def test_other_grades_on_the_same_log(ask):
    ask(["2"])
    code, _, err = ask(["1"], "--grades", "0,1")
    assert code == 2
    assert "qrels.txt.log: the answers were chosen from other grades, 0, 1, 2, than those" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*WITH_RUNS, "--unjudged-label", "1"], "--unjudged-label 1 is one of --grades"),
        (
            [*WITH_RUNS, "--strategy", "statap", "--unjudged-label=-1"],
            "--strategy statap writes probabilities",
        ),
        ([*WITH_RUNS, "--second-look", "3"], "--second-look looks at the labels of --judged"),
        ([*BASE, "--judged", "odd.txt"], "odd.txt:1: 3 columns"),
    ],
)
def test_options_that_do_not_go_together(ask, files, arguments, message):
    (files / "odd.txt").write_text("1 2 3\n")
    code, out, err = ask([], base=arguments)
    assert (code, out) == (2, "")
    assert message in err


def question(n_answered=0):
    return Question("1", "a", 0, 1, 100, n_answered, 100)


def test_how_fast_it_goes():
    texts = pd.DataFrame({"text": ["some words"]}, index=["a"])
    # A break of an hour between two answers does not count.
    times = iter([0, 10, 20, 3620, 3630, 3640])
    assessor = TerminalAssessor(
        texts,
        None,
        {0.0: ""},
        stdin=io.StringIO("0\n" * 9),
        stdout=io.StringIO(),
        clock=lambda: next(times),
    )
    for n_answered in range(6):
        assessor(question(n_answered))
    heads = re.findall(r"(\d) of 100 judged(.*)", assessor.stdout.getvalue())
    assert heads[3] == ("3", "")
    assert heads[5] == ("5", "; 6.0 a minute, 16 min left")


def test_the_next_page_with_a_word_of_the_query(terminal, files):
    pages = ["nothing here " * 200, "a cat at last ", "nothing more " * 200, "cats again"]
    (files / "long.csv").write_text("docno,text\nd1," + "".join(pages) + "\n")
    (files / "one.csv").write_text("qid,docno\n1,d1\n")
    words = ["--docs", "long.csv", "--runs", "a.run", "--only", "1"]
    screen = terminal(*words, "--depth", "1")
    first = screen.until("page 1 of")
    assert "at last" not in first
    for expected in ("at last", "again", "at last"):
        screen.press("/")
        assert expected in screen.until(r"page \d+ of")
    screen.press("1")
    screen.until("All is judged")

"""Questions at a terminal, and after interruptions."""

import importlib
import io
import json
import os
import re
import select
import signal
import threading
import time

import pandas as pd
import pytest

from commands import Command
from judged_documents import WITH_RUNS, judged
from skfilterrank.cli.judge.terminal import (
    TerminalAssessor,
    keys_of,
    mark,
    query_terms,
    read_key,
)
from skfilterrank.exceptions import InputError
from skfilterrank.judgments import (
    Answer,
    Question,
)
from terminals import pseudo_terminal, wait_for_a_reader


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

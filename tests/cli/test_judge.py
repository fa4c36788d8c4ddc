"""``skfilterrank judge``."""

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
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from commands import Command
from judged_documents import BASE, DOCS, RUNS, WITH_RUNS, changed, judged, shown
from sampled_labels import SAMPLED
from selections import budget, mask
from skfilterrank._lists.words import keys_of_grades
from skfilterrank.cli._terminal import _LETTERS, TerminalAssessor, mark, query_terms, read_key
from skfilterrank.cli.judge import STRATEGIES
from skfilterrank.exceptions import InputError
from skfilterrank.io import read_prels, read_qrels, read_run, write_qrels
from skfilterrank.judgments import (
    StatAPSelector,
    draw_sample,
    rank_table,
    statap_prior,
)
from skfilterrank.judgments._judge import Question
from skfilterrank.judgments._judgment_log import read_judgment_log
from skfilterrank.thresholds import queries_needed
from terminals import Terminal, pseudo_terminal, wait_for_a_reader

pytestmark = pytest.mark.slow


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Documents, queries and runs of two queries."""
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


@pytest.fixture
def ask(run, files, monkeypatch):
    """Run the command with these lines as answers."""

    def ask(answers, *arguments, base=WITH_RUNS):
        read, write = os.pipe()
        os.write(write, "".join(f"{answer}\n" for answer in answers).encode())
        os.close(write)
        with open(read) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            return run(*changed(base, arguments))

    return ask


@pytest.fixture
def terminal(files):
    opened = []

    def terminal(*arguments, **environment):
        opened.append(Terminal(*changed(WITH_RUNS, arguments), **environment))
        return opened[-1]

    yield terminal
    for one in opened:
        one.close()


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "sample"])
def test_every_strategy(ask, strategy):
    code, out, _ = ask(["1"] * 20, "--strategy", strategy, "--n-per-query", "2", "--only", "2,1")
    assert code == 0
    read = read_prels if strategy == "statap" else read_qrels
    assert len(read("qrels.txt")) == 4
    assert re.findall("query (\\d)", out) == ["2", "2", "1", "1"]


def test_a_log_is_runs_texts_and_queries(ask, files):
    rows = ["qid,docno,score,query,text"]
    for qid, query in (("1", "the cats"), ("2", "dog")):
        rows += [
            f"{qid},{docno},{-place},{query},{DOCS[docno]}" for place, docno in enumerate(DOCS)
        ]
    (files / "log.csv").write_text("\n".join(rows) + "\n")
    base = ["judge", "log.csv", "--docs", "log.csv", "--topics", "log.csv", "--out", "log.txt"]
    code, out, _ = ask(["1"] * 20, base=base)
    assert code == 0
    assert re.findall("query (\\d), document 1 of .*\n(.*)", out) == [
        ("1", "the cats"),
        ("2", "dog"),
    ]
    (files / "log.csv").write_text("\n".join(rows).replace("2,d2,-1,dog", "2,d2,-1,a dog") + "\n")
    code, _, error = ask([], base=changed(base, ["--out", "other.txt"]))
    assert code == 2
    assert "the query '2' occurs twice, with different values. Keep one row for each" in error


def test_labels_with_names(ask):
    code, out, _ = ask(["-1", "-", "a", "0"], "--grades=-1=spam,-2,0=no,1", "--only", "1")
    assert code == 0
    assert "[-] spam [a] -2 [0] no [1] [s]kip" in out
    assert [row[2] for row in judged()] == [-1, -1, -2, 0]


def test_depth(files, ask):
    """100 places of each run by default; all on demand."""
    numbers = range(1, 121)
    lines = [f"1 Q0 x{number} {number} {-number} deep\n" for number in numbers]
    (files / "deep.run").write_text("".join(lines))
    texts = [f"x{number},some words\n" for number in numbers]
    (files / "deep.csv").write_text("".join(["docno,text\n", *texts]))
    base = ["judge", "--docs", "deep.csv", "deep.run", "--out"]
    for place, (depth, expected) in enumerate([((), 100), (("--depth", "all"), 120)]):
        _, out, _ = ask([], *depth, base=[*base, f"deep{place}.txt"])
        assert f"document 1 of {expected};" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*BASE], "there is nothing to judge. Name runs, or --pool"),
        ([*BASE, "--pool", "absent.csv"], "absent.csv: No such file or directory"),
        ([*BASE, "--pool", "topics.csv"], "topics.csv: no column is called docno or doc_id or"),
        ([*BASE, "--pool", "docs.jsonl"], "docs.jsonl: no column is called qid or"),
        (
            [*BASE, "--pool", "odd.txt"],
            "odd.txt:1: 2 columns in the first line; judgments have 4, runs 6",
        ),
        (
            [*BASE, "--pool", "twice.csv"],
            "twice.csv: document 'd1' occurs twice in query '1'",
        ),
        ([*BASE, "--pool", "pool.csv", "--strategy", "mtc"], "--strategy mtc looks at runs"),
        ([*BASE, "--pool", "pool.csv", "a.run"], "no run returns a document of pool.csv"),
        ([*BASE, "--pool", "pool.csv"], "docs.jsonl holds no text of any document of the pool"),
        ([*WITH_RUNS, "--only", "1,7"], "--only 7: the pool holds no such query"),
        ([*WITH_RUNS, "--text", "words"], "docs.jsonl: there is no column 'words'"),
        (changed(WITH_RUNS, ["--out", "odd.txt"]), "odd.txt is there already, but not its log"),
        ([*WITH_RUNS, "--grades", "0,0"], "--grades: label 0 is there twice"),
        ([*WITH_RUNS, "--grades", "no"], "--grades: expected a number, got 'no'"),
        (
            [*WITH_RUNS, "--n-per-query", "1.5"],
            "--n-per-query: expected a number above 0, up to 1",
        ),
        (
            [*WITH_RUNS, "--n-per-query", "0"],
            "--n-per-query: expected a whole number from 1 up",
        ),
        (
            [*WITH_RUNS, "--n-total", "9"],
            "--n-total is the size of a sample. Add --strategy sample, or",
        ),
        (
            [*WITH_RUNS, "--strategy", "sample", "--n-per-query", "9"],
            "Give --n-total, not --n-per-query",
        ),
        (
            [*WITH_RUNS, "--grades", ",".join(map(str, range(40)))],
            "at most one for each key, got 40",
        ),
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [*WITH_RUNS, "--unjudged-label", "1"],
            "--unjudged-label 1 is one of --grades",
        ),
        (
            [*WITH_RUNS, "--strategy", "statap", "--unjudged-label", "-1"],
            "--strategy statap writes probabilities",
        ),
        ([*BASE, "--judged", "odd.txt"], "odd.txt:1: 3 columns"),
    ],
)
def test_options_that_do_not_go_together(ask, files, arguments, message):
    (files / "odd.txt").write_text("1 2 3\n")
    code, out, err = ask([], base=arguments)
    assert (code, out) == (2, "")
    assert message in err


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
    assert "query 1, document 1 of 4; 0 of 8 judged" in out
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
    assert "qrels.txt is not written: nothing is judged" in err
    assert not (files / "qrels.txt").exists()
    assert sorted(path.name for path in files.glob("*qrels*")) == ["qrels.txt.log"]


def test_a_table_of_documents(ask):
    name = "docs.csv.gz"
    table = pd.DataFrame({"doc_id": list(DOCS), "body": list(DOCS.values()), "length": 3})
    table.to_csv(name, index=False)
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


def test_pools(ask, files):
    (files / "pool.csv").write_text("topic,docno\n1,d3\n1,d1\n2,d2\n")
    (files / "pool.qrels").write_text("1 0 d3 1\n1 0 d1 0\n2 0 d2 0\n")
    for number, pool in enumerate(["pool.csv", "pool.qrels"]):
        out_file = f"out{number}.txt"
        base = ["judge", "--pool", pool, "--docs", "docs.jsonl", "--out", out_file]
        code, out, _ = ask(["1"] * 3, "--strategy", "random", base=base)
        assert code == 0
        assert set(judged(out_file)) == {("1", "d3", 1), ("1", "d1", 1), ("2", "d2", 1)}
        assert "*" not in out
    # A run is its own pool; runs put a pool in order.
    base = ["judge", "a.run", "--docs", "docs.jsonl", "--out", "own.txt"]
    _, out, err = ask(["1"] * 9, base=base)
    assert shown(out) == ["d1", "d2", "d3"] * 2
    base = ["judge", "--pool", "pool.csv", "--docs", "docs.jsonl", "--out", "some.txt", "b.run"]
    _, out, err = ask(["1"] * 9, base=base)
    assert shown(out) == ["d3", "d1", "d2"]
    assert "2 of 3 documents of pool.csv are in no run" in err
    base = ["judge", "--pool", "pool.csv", "--docs", "docs.jsonl", "--out", "both.txt"]
    _, _, err = ask(["1"] * 9, "b.run", "a.run", base=base)
    assert "in no run" not in err
    _, out, _ = ask(["1"] * 9, "--depth", "1", "--out", "top.txt")
    assert shown(out) == ["d1", "d5"] * 2


@pytest.mark.filterwarnings("default")
def test_damaged_logs(ask, files):
    ask(["2", "1", "0"])
    log = files / "qrels.txt.log"
    whole = log.read_bytes()
    # Half a line at the end: told, and asked about again.
    log.write_bytes(whole[:-9])
    code, out, err = ask([])
    assert code == 0
    assert "warning: qrels.txt.log:4: the last line is incomplete" in err
    assert len(judged()) == 2
    assert shown(out) == ["d2"]
    # Damage in the middle: an error with the line, and nothing is touched.
    lines = whole.split(b"\n")
    damaged = b"\n".join([*lines[:2], b"x" * 9, *lines[2:]])
    log.write_bytes(damaged)
    code, out, err = ask(["1"])
    assert (code, out) == (2, "")
    assert "qrels.txt.log:3: the line is damaged (it is not a JSON object)" in err
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
    assert "lacks document 'd2' of query '1'" in err


def test_inferred_ap_of_what_judge_writes(ask, run):
    arguments = ["--strategy", "random", "--n-per-query", "2", "--unjudged-label", "-1"]
    assert ask(["1", "0", "0", "1"], *arguments)[0] == 0
    rows = read_qrels("qrels.txt", unjudged_label=-1)
    assert rows["label"].isna().sum() == 8
    assert rows["label"].notna().sum() == 4
    code, _, err = run(
        "evaluate", "qrels.txt", "a.run", "-m", "infap", "--unjudged-label", "-1", "--quiet"
    )
    assert code == 0, err
    # Without the mark it is told how.
    _, _, err = ask([], "--strategy", "random", "--n-per-query", "2")
    assert "infap needs the 8 documents of these queries that are not judged" in err


def test_other_grades_on_the_same_log(ask):
    ask(["2"])
    code, _, err = ask(["1"], "--grades", "0,1")
    assert code == 2
    assert "qrels.txt.log: the answers were chosen from other grades, 0, 1, 2, than those" in err


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
    # Query 1 knows of d1, whose copy d2 stands higher than d3 in the runs.
    assert shown(out) == ["d5", "d3", "d1", "d5"]
    asked = [(qid, docno) for qid, docno, _ in judged()]
    assert set(asked[:3]) == {("1", "d1"), ("1", "d5"), ("1", "d3")}
    assert set(asked[3:]) == {("2", "d3"), ("2", "d1"), ("2", "d5")}


JUDGED = "1 0 d1 2\n1 0 d9 1\n2 0 d2 0\n2 0 d5 -1\n"


def test_only_holes_are_judged(ask, files):
    (files / "old.txt").write_text(JUDGED)
    code, out, err = ask(["1"] * 9, "--judged", "old.txt", "--unjudged-label", "-1")
    assert code == 0, err
    # d1 of query 1 and d2 of query 2 have labels; d5 of query 2 has that of the unjudged.
    assert shown(out) == ["d5", "d2", "d3", "d1", "d5", "d3"]
    assert "query 1, document 2 of 4; 2 of 8 judged" in out
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
    assert "holds the label -1, which is none of --grades. Say --unjudged-label -1 where" in err
    code, out, _ = ask(["2", "q"], "--judged", "old.txt", "--unjudged-label", "-1", base=BASE)
    assert (code, shown(out)) == (0, ["d5"])
    assert judged() == [("1", "d1", 2), ("1", "d9", 1), ("2", "d2", 0), ("2", "d5", 2)]


def test_judgments_of_other_grades_are_not_mixed(ask, files):
    (files / "old.txt").write_text("1 0 d1 2\n1 0 d2 0\n")
    code, _, err = ask(["1"], "--judged", "old.txt", "--grades", "0,1")
    assert code == 2
    assert "old.txt holds the label 2, which is none of --grades. Add it to --grades." in err
    assert not (files / "qrels.txt").exists()


def test_assessors_who_disagree(ask, files):
    (files / "anna.txt").write_text("1 0 d1 2\n1 0 d2 0\n1 0 d3 1\n2 0 d1 1\n")
    (files / "bob.txt").write_text("1 0 d1 2\n1 0 d2 1\n1 0 d3 0\n2 0 d5 0\n")
    arguments = ["--judged", "anna.txt", "--judged", "bob.txt", "--assessor", "carl"]
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


def test_a_full_disk_is_named_and_leaves_nothing_in_the_way(ask, files, monkeypatch):
    write = os.write

    def full(file, data):
        if b"skfilterrank judgments" in data:
            raise OSError(28, "No space left on device")
        return write(file, data)

    monkeypatch.setattr(os, "write", full)
    code, _, err = ask(["1"])
    assert code == 2
    assert "error: qrels.txt.log: No space left on device" in err
    monkeypatch.setattr(os, "write", write)
    assert ask(["1"])[0] == 0


@pytest.fixture
def runs(sampled_runs):
    """Paths of the runs, in the working folder."""
    return sampled_runs


def test_judging_writes_the_sample(run, runs, assessor, sampled_folder):
    command = ["judge", *runs, "--docs", "docs.csv", "-m", "dcg@10"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "150"]
    code, _, err = run(*command, "--out", "own.prels")
    assert code == 0
    assert "a sample of 150 documents of 30 queries, for dcg@10\n" in err
    pd.testing.assert_frame_equal(read_prels("own.prels"), read_prels("sample.prels"))


def test_a_larger_sample_goes_on_with_the_smaller(run, runs, assessor):
    command = ["judge", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample"]
    assessor.asked.clear()
    run(*command, "--n-total", "100")
    assert len(assessor.asked) == 100
    run(*command, "--n-total", "150")
    assert len(set(assessor.asked)) == len(assessor.asked) == 150
    pd.testing.assert_frame_equal(read_prels("own"), read_prels("sample.prels"))


def test_what_is_judged_in_part(run, runs, assessor, world):
    command = ["judge", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "150"]
    assessor.most = 3
    _, _, err = run(*command)
    assert "147 of 150 documents are not yet judged" in err
    assert not Path("own").exists()
    said = re.search(r"own is not written: so few .* judge at least (\d+) more documents, in", err)
    # One less is too few, and so many are enough.
    assessor.most = int(said[1]) - 1
    assert "judge at least 1 more document, in" in run(*command)[2]
    assert not Path("own").exists()
    assessor.most = 1
    assert f"{3 + int(said[1])} judgments with their probabilities in own" in run(*command)[2]
    # Asked in the order of the sample, so that what is judged is the smaller one.
    assessor.most = 57 - int(said[1])
    _code, _, err = run(*command)
    assert "60 judgments with their probabilities in own, a sample by themselves: the first" in err
    found = read_prels("own")
    drawn = draw_sample(world["machine"], world["runs"], "dcg@10", n_total=60, random_state=0)
    pd.testing.assert_frame_equal(found[["qid", "docno"]], drawn[["qid", "docno"]])
    expected = drawn["inclusion_probability"].to_numpy()
    assert found["inclusion_probability"].to_numpy() == pytest.approx(expected, rel=1e-12)


def test_what_is_skipped_comes_last_and_topics_in_their_order(run, runs, assessor, world):
    command = ["judge", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "60"]
    drawn = draw_sample(world["machine"], world["runs"], "dcg@10", n_total=60, random_state=0)
    pairs = list(drawn[["qid", "docno"]].itertuples(index=False, name=None))
    assessor.asked.clear()
    assessor.skipped = {pairs[1]}
    run(*command)
    assert assessor.asked == [pairs[0], *pairs[2:], pairs[1]]
    assessor.asked.clear()
    queries = [pairs[5][0], pairs[0][0]]
    run(*changed(command, ["--out", "other", "--only", ",".join(queries)]))
    assert assessor.asked == [pair for query in queries for pair in pairs if pair[0] == query]


@pytest.mark.parametrize(
    ("labels", "options", "grades", "message"),
    [
        ([0, 3, 1], [], [0, 1, 2, 3], "grades 0,1,2,3, as in --machine-qrels; --grades chooses"),
        ([0, -1, 1], [], [-1, 0, 1], "grades -1,0,1, as in"),
        ([0.5, 0.1, 0.2], [], [0, 1, 2], "labels such as 0.1, which are no whole n"),
        ([0, 99, 5], [], [0, 1, 2], "holds labels from 0 to 99, more grades than 10; --grades ch"),
        ([0], [], [0, 1, 2], "grades 0,1,2, since --machine-qrels holds the label 0 alone; --gra"),
        ([0, 3, 1], ["--grades", "0,1"], [0, 1], None),
    ],
)
def test_grades_are_those_of_the_machine(
    run, runs, monkeypatch, world, labels, options, grades, message
):
    taken = []

    def assessor(documents, topics, grades, **_):
        taken.extend(grades)
        assessor = Mock(return_value="stop", n_open=0)
        return assessor

    monkeypatch.setattr("skfilterrank.cli._judge.TerminalAssessor", assessor)
    write_qrels("own.txt", world["machine"].assign(label=np.resize(labels, 1800)))
    command = ["judge", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "own.txt", "--strategy", "sample", "--n-total", "60"]
    code, _, err = run(*command, *options)
    assert (code, taken) == (0, grades), err
    assert message in err if message else "grades" not in err


def test_gains_of_a_sample_are_those_that_were_said(run, runs, assessor, world):
    """Also of labels that are no grade; their labels are the grades unless others are said."""
    machine = world["machine"].assign(label=world["machine"]["label"] + 0.5)
    write_qrels("soft.txt", machine)
    command = ["judge", *runs, "--docs", "docs.csv", "-m", "dcg@10"]
    command += ["--machine-qrels", "soft.txt", "--strategy", "sample", "--n-total", "60"]
    for best, options in ((1, []), (50, ["--grades", "0,1,2"])):
        gains = {0: 0, 1: 1, 2: 2, 3: best}
        text = ",".join(f"{label}={gain}" for label, gain in gains.items())
        code, _, err = run(*command, "--gains", text, *options, "--out", f"{best}.prels")
        assert code == 0, err
        assert options or "grades 0,1,2,3, as in --gains" in err
        drawn = draw_sample(
            machine, world["runs"], "dcg@10", n_total=60, gains=gains, random_state=0
        )
        found = read_prels(f"{best}.prels")
        pd.testing.assert_frame_equal(found[["qid", "docno"]], drawn[["qid", "docno"]])
    assert not read_prels("1.prels")[["qid", "docno"]].equals(found[["qid", "docno"]])


@pytest.mark.parametrize("gains", ["0=0,Bad=-1", "nan=1,0=0"])
def test_gains_of_a_sample_are_of_numbers(run, runs, assessor, gains):
    command = ["judge", *runs, "--docs", "docs.csv", "--machine-qrels", "llm.txt"]
    command += ["--strategy", "sample", "--n-total", "60", "--out", "own", "--gains", gains]
    evaluated = ["evaluate", "people.txt", *runs, *SAMPLED, "--gains", f"{gains},1=1,2=2,3=3"]
    for words in (command, evaluated):
        code, _, err = run(*words)
        assert code == 2
        assert "--gains must name numbers here" in err


def test_what_was_judged_before_is_kept_and_a_machines_is_not(run, runs, assessor, world):
    before = world["people"].head(40)
    write_qrels("before.txt", before.assign(judged_by=["people"] * 25 + ["large"] * 15))
    command = ["judge", *runs, "--docs", "docs.csv", "-m", "dcg@10", "--out", "own"]
    command += ["--machine-qrels", "llm.txt", "--strategy", "sample", "--n-total", "60"]
    assessor.asked.clear()
    _code, _, err = run(*command, "--judged", "before.txt")
    assert "before.txt: 15 labels of machines, taken for not judged" in err
    assert "a sample of 60 documents" in err
    found = read_prels("own").set_index(["qid", "docno"])
    certain = found["inclusion_probability"] == 1
    kept = before.head(25).astype(str)
    assert set(zip(kept["qid"], kept["docno"])) <= set(found.index[certain])
    assert len(found) == 85
    assert len(assessor.asked) == 60


def test_a_sample_and_its_probabilities(ask, run):
    arguments = ["--strategy", "statap", "--n-per-query", "2", "--random-state", "3"]
    code, _, err = ask(["1", "0", "2"], *arguments)
    assert code == 0
    assert "1 query whose sample is not yet judged: left out" in err
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
    arguments = ["--pool", "pool.csv", "b.run", "--strategy", "statap", "--n-per-query", "1"]
    code, _, err = ask(["1"], *arguments, base=BASE)
    assert code == 0, err
    assert "2 of 4 documents of pool.csv are in no run" in err
    assert "2 documents that no run ranks can never be drawn: stat_ap is the average" in err
    assert set(read_prels("qrels.txt")["docno"]) < {"d2", "d5"}


def test_what_documents_hold_does_not_reach_the_terminal(ask, files):
    nasty = "\x1b]0;x\x07 of\r\n cats\u202e\x9b2J\u200b and \U0001f469\u200d\U0001f33e"
    text = json.dumps({"docno": "d1\x9b2J", "title\x1b": nasty, "text": "more\x9b"}) + "\n"
    (files / "nasty.jsonl").write_text(text)
    (files / "pool.jsonl").write_text('{"qid": "1\\u001b", "docno": "d1\\u009b2J"}\n' * 1)
    base = ["judge", "--pool", "pool.jsonl", "--docs", "nasty.jsonl", "--out", "q.txt"]
    code, out, err = ask(["1"], "--text", "title\x1b,text", base=base)
    assert code == 2  # a query with white space cannot be written
    assert r"query 1\x1b, document 1 of 1" in out
    assert r"[d1\x9b2J]" in out
    assert r"\x1b]0;x\x07 of cats\u202e\x9b2J\u200b and " in out
    assert "\U0001f469\u200d\U0001f33e" in out
    assert not {"\x1b", "\x07", "\r", "\x9b", "\u202e", "\u200b"} & set(out + err)


def test_documents_without_text_are_listed_without_control_characters(ask, files):
    (files / "pool.jsonl").write_text(
        '{"qid": "1", "docno": "d1"}\n{"qid": "1", "docno": "x\\u001b]0;title\\u0007"}\n'
    )
    _, _, err = ask(
        [], base=["judge", "--pool", "pool.jsonl", "--docs", "docs.jsonl", "--out", "q.txt"]
    )
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
    assert keys_of_grades({0.0: "", 1.0: "", 2.0: ""}, _LETTERS) == {0.0: "0", 1.0: "1", 2.0: "2"}
    assert keys_of_grades(dict.fromkeys([-2.0, -1.0, 0.5, 9.0, 10.0], ""), _LETTERS) == {
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
    assert "going on behind 1 judgment of qrels.txt.log" in err
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
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))
    monkeypatch.setattr(sys, "stdout", out)
    assessor = TerminalAssessor(texts, topics, {0.0: "", 1.0: ""})
    question = Question(3, 7, 0, 1, 1, 0, 1)
    assert assessor(question) == 1.0
    assert expected in out.getvalue()
    assert ("\x1b" in out.getvalue()) == (term == "xterm")
    assert assessor(question) == "stop"


def test_why_judging_could_not_begin(ask, monkeypatch):
    """And not that the log, which was not begun, is not there."""

    def refuse(*_, **__):
        raise InputError("no reason to judge")

    monkeypatch.setattr("skfilterrank.cli._judge.judge", refuse)
    code, _, err = ask(["2"])
    assert code == 2
    assert err.endswith("skfilterrank: error: no reason to judge\n")


def question(n_answered=0):
    return Question("1", "a", 0, 1, 100, n_answered, 100)


def test_how_fast_it_goes(monkeypatch, capsys):
    texts = pd.DataFrame({"text": ["some words"]}, index=["a"])
    # A break of an hour between two answers does not count.
    times = iter([0, 10, 20, 3620, 3630, 3640])
    monkeypatch.setattr(sys, "stdin", io.StringIO("0\n" * 9))
    assessor = TerminalAssessor(texts, None, {0.0: ""}, clock=lambda: next(times))
    for n_answered in range(6):
        assessor(question(n_answered))
    heads = re.findall(r"(\d) of 100 judged(.*)", capsys.readouterr().out)
    assert heads[3] == ("3", "")
    assert heads[5] == ("5", "; 6.0 a minute, 16 min left")


def test_the_next_page_with_a_word_of_the_query(terminal, files):
    pages = ["nothing here " * 200, "a cat at last ", "nothing more " * 200, "cats again"]
    (files / "long.csv").write_text("docno,text\nd1," + "".join(pages) + "\n")
    (files / "one.csv").write_text("qid,docno\n1,d1\n")
    words = ["--docs", "long.csv", "--pool", "one.csv", "--only", "1"]
    screen = terminal(*words, "--depth", "1")
    first = screen.until("page 1 of")
    assert "at last" not in first
    for expected in ("at last", "again", "at last"):
        screen.press("/")
        assert expected in screen.until(r"page \d+ of")
    screen.press("1")
    screen.until("All is judged")


def test_a_page_of_what_would_be_asked(ask, files, run):
    """Two assessors answer on it; what they agree on stands, and the rest is asked about."""
    page = [*BASE[:5], "a.run", "b.run", "--depth", "2", "--page", "judge.html"]
    code, out, err = run(*page)
    assert (code, out) == (0, "")
    assert "6 documents to judge in judge.html" in err
    pool = json.loads(
        re.search(
            r'<script[^>]*type="application/json"[^>]*>(.*?)</script>',
            (files / "judge.html").read_text(),
            re.DOTALL,
        )[1]
    )
    docnos = [each["id"] for each in pool["documents"]]
    asked = [docnos[item[1]] for item in pool["items"]]
    # In the order in which they are asked about here.
    _, text, _ = ask(["1"] * 9, "--depth", "2")
    assert asked == shown(text)
    for name, labels in {"anna": [2, 0, 1], "bob": [2, 1, 1]}.items():
        lines = [
            json.dumps({"assessor": name, "qid": "1", "docno": docno, "label": label})
            for docno, label in zip(asked, labels)
        ]
        (files / f"{name}.txt.log").write_text("\n".join([pool["header"], *lines, ""]))
    arguments = ["--judged", "anna.txt.log", "--judged", "bob.txt.log", "--out", "settled.txt"]
    code, out, err = ask(["2", "q"], *arguments, base=BASE)
    assert code == 0, err
    assert "1 of 3 documents with different labels" in err
    assert shown(out) == [asked[1]]
    assert "(anna: 0, bob: 1)" in out
    expected = {("1", asked[0], 2), ("1", asked[1], 2), ("1", asked[2], 1)}
    assert set(judged("settled.txt")) == expected
    # The log of one assessor is also one to go on with.
    command = [*BASE[:5], "a.run", "b.run", "--depth", "2", "--out", "anna.txt"]
    code, _, err = ask(["q"], base=command)
    assert "going on behind 3 judgments of anna.txt.log" in err
    assert len(judged("anna.txt")) == 3
    code, _, err = ask([], "--judged", "anna.txt", "--judged", "anna.txt.log", base=BASE)
    assert code == 2
    assert "two files hold judgments of 'anna': give each assessor's once" in err


def test_tasks_of_a_labelling_tool(ask, files, run):
    command = [*BASE[:5], "a.run", "--only", "1", "--export", "doccano=tasks.jsonl"]
    code, _, err = run(*command)
    assert code == 0, err
    tasks = [json.loads(line) for line in (files / "tasks.jsonl").read_text().splitlines()]
    assert [task["docno"] for task in tasks] == ["d1", "d2", "d3"]
    for task, label in zip(tasks, ["2", "1", "0"]):
        task["label"] = [label]
        task["Comments"] = ["why?"] * (label == "1")
    (files / "bob.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    (files / "anna.txt").write_text("1 0 d1 2\n1 0 d2 2\n")
    code, out, _ = ask(["2"], "--judged", "doccano=bob.jsonl", "--judged", "anna.txt", base=BASE)
    assert code == 0
    assert "bob: 1 (why?)" in out
    assert judged() == [("1", "d1", 2), ("1", "d3", 0), ("1", "d2", 2)]
    code, _, err = run(*changed(command, ["--export", "prodigy=x"]))
    assert code == 2
    assert "--export: expected one of label-studio=FILE, doccano=FILE" in err
    code, _, err = run(*command, "--out", "q.txt")
    assert code == 2
    assert "give one of --out, --page and --export" in err
    # No answers are lost: tasks take the place of no file that is read.
    words = ["--judged", "doccano=bob.jsonl", "--export", "doccano=bob.jsonl"]
    code, _, err = run(*changed(command, words))
    assert code == 2
    assert "--export bob.jsonl is the same file as --judged bob.jsonl" in err


def test_a_measure_of_harm_needs_a_grade_for_it(run, runs, assessor):
    command = ["judge", *runs, "--docs", "docs.csv", "--machine-qrels", "llm.txt", "--out", "harm"]
    command += [
        "--strategy",
        "sample",
        "--unit",
        "query",
        "--n-total",
        "2",
        "-m",
        "any_forbidden@5",
    ]
    code, _, err = run(*command)
    assert code == 2
    assert "--measure any_forbidden@5 counts documents with a gain below 0, and none of" in err
    assert run(*command, "--gains", "0=-1,1=1,2=2")[0] == 0


PROMISED = ("--risk", "any_forbidden@2=0.6")
RISKY = ("--strategy", "sample", "--machine-qrels", "llm.txt", "--gains", "0=-1,1=1,2=2")


def test_a_sample_of_queries_for_a_promise(run, runs, assessor, world):
    command = ["judge", runs[0], "--docs", "docs.csv", "--out", "own.prels", *RISKY]
    risk = ["--risk", "any_forbidden@2=0.6", "--confidence-level", "0.6"]
    assessor.asked.clear()
    code, _, err = run(*command, *risk)
    assert code == 0, err
    needed = queries_needed(0.6, 0.36, confidence_level=0.6)
    assert 1 < needed < 30
    assert "any_forbidden@2 at most 0.6, if it is 0.36, " in err
    assert f"needs {needed} queries for 80 % of the draws to certify it" in err
    found = read_prels("own.prels")
    drawn = draw_sample(
        *(world["machine"], runs[0], "any_forbidden@2"),
        n_total=needed,
        unit="query",
        random_state=0,
    )
    pd.testing.assert_frame_equal(found[["qid", "docno"]], drawn[["qid", "docno"]])
    # At most two documents of each query are asked for, and the threshold takes what is written.
    assert len(assessor.asked) == len(found) <= 2 * needed
    code, _, err = run(
        *("threshold", "own.prels", runs[0], "--risk", "any_forbidden@2=0.6", "--k", "2"),
        *("--confidence-level", "0.6", "--gains", "0=-1,1=1,2=2"),
    )
    assert code == 0, err


def test_a_promise_that_the_queries_cannot_keep(run, runs, assessor):
    command = ["judge", runs[0], "--docs", "docs.csv", "--out", "own.prels", *RISKY]
    command += ["--risk", "any_forbidden@2=0.01,forbidden@2=0.9"]
    code, _, err = run(*command)
    assert code == 2
    told = "any_forbidden@2 at most 0.01, if it is 0.006"
    assert told in err
    assert "needs more than the 30 queries that there are: all of their labels would hardly" in err
    assert "or --plan any_forbidden@2=RATE if you expect a lower rate; --n-total draws" in err
    assert not Path("own.prels").exists()
    # Who wants them nevertheless is told the same.
    code, _, err = run(*command, "--n-total", "1.0")
    assert code == 0, err
    assert "needs more than the 30 queries that there are\n" in err
    assert "forbidden@2 at most 0.9, if it is 0.54, " in err
    assert read_prels("own.prels")["qid"].nunique() == 30


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ([], {}),
        (["--plan", "power=0.5"], {"power": 0.5}),
        (["--plan", "any_forbidden@2=0.1"], {"any_forbidden@2": 0.1}),
    ],
)
def test_assumptions_of_the_number_of_queries(run, runs, assessor, words, known):
    command = ["judge", runs[0], "--docs", "docs.csv", "--out", "own.prels", *RISKY]
    risk = ["--risk", "any_forbidden@2=0.6", "--confidence-level", "0.6"]
    code, _, err = run(*command, *risk, *words)
    assert code == 0, err
    plan = {"power": 0.8, "any_forbidden@2": 0.36} | known
    assert f"assumed: --plan {','.join(f'{name}={value:g}' for name, value in plan.items())}" in err
    expected = plan.pop("any_forbidden@2")
    needed = queries_needed(0.6, expected, confidence_level=0.6, **plan)
    power = f"needs {needed} {'query' if needed == 1 else 'queries'} for {100 * plan['power']:g} %"
    assert power in err
    assert f"if it is {expected:g}, " in err
    assert read_prels("own.prels")["qid"].nunique() == needed


def test_a_risk_without_a_cut_off_asks_for_whole_lists(run, runs, assessor):
    command = [
        "judge",
        runs[0],
        "--docs",
        "docs.csv",
        "--out",
        "own.prels",
        *RISKY,
        "--n-total",
        "2",
    ]
    told = "any_forbidden looks at whole lists: any_forbidden@5 needs labels of five documents"
    assert told in run(*command, "--risk", "any_forbidden=0.6")[2]
    Path("own.prels.log").unlink()
    Path("own.prels").unlink()
    assert "looks at whole lists" not in run(*command, *PROMISED)[2]


def test_a_promise_needs_queries_with_documents_in_the_runs(run, runs, assessor):
    lines = Path(runs[0]).read_text().splitlines(keepends=True)
    queries = sorted({line.split()[0] for line in lines})[:20]
    Path("few.txt").write_text("".join(line for line in lines if line.split()[0] in queries))
    command = ["judge", "few.txt", "--docs", "docs.csv", "--out", "own.prels", *RISKY]
    # 28 queries would do among the 30 of the machine.
    code, _, err = run(*command, "--risk", "any_forbidden@2=0.6")
    assert code == 2
    needed = queries_needed(0.6, 0.36)
    assert "needs more than the 20 queries that there are: all of their labels would hard" in err
    assert f"certify it, those of {needed} queries would. Give more queries with documents" in err
    assert "--n-total is" not in err


def test_grades_of_the_machine_without_a_gain_are_told_before_judging(run, runs, assessor, world):
    write_qrels("graded.txt", world["machine"].assign(label=np.resize([0, 3, 1], 1800)))
    command = ["judge", runs[0], "--docs", "docs.csv", "--out", "own.prels", *RISKY]
    command[command.index("llm.txt")] = "graded.txt"
    assessor.asked.clear()
    for size in (
        ["--risk", "any_forbidden@2=0.6"],
        ["--unit", "query", "-m", "err", "--n-total", "9"],
    ):
        code, _, err = run(*command, *size)
        assert (code, assessor.asked) == (2, [])
        assert "--gains has no gain for 3, of the labels of graded.txt. Add 3=GAIN." in err


def test_a_given_number_of_queries_for_a_promise(run, runs, assessor):
    command = ["judge", runs[0], "--docs", "docs.csv", "--out", "own.prels", *RISKY]
    assert run(*command, "--risk", "any_forbidden@2=0.6", "--n-total", "5")[0] == 0
    assert read_prels("own.prels")["qid"].nunique() == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--risk", "any_forbidden@2=0.6", "-m", "ap"], "--measure has no effect beside --risk"),
        (["--risk", "any_forbidden@2=0.6", "--unit", "query"], "--unit has no effect beside --ri"),
        (["--confidence-level", "0.6", "--n-total", "5"], "--confidence-level is that of --risk"),
        (["--risk", "any_forbidden@2=2"], "--risk must"),
        (["--risk", "ap=0.2"], "--risk must name rates, of which lower is better, got 'ap'"),
        (["--plan", "power=0.9", "--n-total", "5"], "--plan is that of --risk. Add both or none"),
        ([*PROMISED, "--plan", "power=1"], "--plan power must be between 0 and 1, got 1."),
        ([*PROMISED, "--plan", "rate=0.1"], "--plan rate is no setting of the plan. Choose from p"),
        ([*PROMISED, "--plan", "any_forbidden@2=0.7"], "a rate that is not below the level 0.6"),
        ([*PROMISED, "--plan", "power"], "--plan: expected SETTING=VALUE, got 'power'"),
    ],
)
def test_promises_that_cannot_be_drawn_for(run, runs, words, message):
    code, _, err = run("judge", runs[0], "--docs", "docs.csv", "--out", "own", *RISKY, *words)
    assert code == 2
    assert message in err


def test_risks_are_for_samples(run, runs):
    command = ["judge", runs[0], "--docs", "docs.csv", "--out", "own"]
    assert "--risk says what a sample is for" in run(*command, "--risk", "any_forbidden@2=0.6")[2]

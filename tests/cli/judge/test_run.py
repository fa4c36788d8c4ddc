"""``skfilterrank judge``: through pipes, and where it was left."""

import pandas as pd
import pytest

from judged_documents import DOCS, judged, shown
from skfilterrank.io import read_qrels
from skfilterrank.judgments import (
    read_judgment_log,
)

pytestmark = pytest.mark.slow


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
    base = ["judge", "pool.csv", "--docs", "docs.jsonl", "--out", "both.txt"]
    _, _, err = ask(["1"] * 9, "--runs", "b.run", "a.run", base=base)
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


def test_other_grades_on_the_same_log(ask):
    ask(["2"])
    code, _, err = ask(["1"], "--grades", "0,1")
    assert code == 2
    assert "qrels.txt.log: the answers were chosen from other grades, 0, 1, 2, than those" in err

"""What was judged before."""

import json
import re

import pytest

from judged_documents import BASE, judged, shown
from skfilterrank.judgments import (
    read_judgment_log,
)

pytestmark = pytest.mark.slow


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


JUDGED = "1 0 d1 2\n1 0 d9 1\n2 0 d2 0\n2 0 d5 -1\n"


@pytest.mark.slow
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

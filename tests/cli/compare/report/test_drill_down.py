"""Topics and documents behind a difference."""

import json
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")


from report_pages import ODD, RUNS

pytestmark = pytest.mark.slow


def test_documents_of_a_topic(shared):
    _, page = shared
    # Good against the odd run: their lists of topic 1 are a b spam1, and spam1 spam2 b a.
    start = page.text.index(f"good against {ODD}")
    assert "is significantly better than" in page.text[start : start + 300]
    rows = next(
        each["rows"]
        for each in page.tables
        if "Documents that moved" in each["caption"]
        and each["rows"][0][4] == f"place in {ODD}"
        and any(row[0] == "spam2" for row in each["rows"])
    )
    by_name = {row[0]: row[1:] for row in rows[1:]}
    # The effect of a is 3 * (1 / log2(2) - 0), as place 4 is behind the cut-off.
    assert by_name["a"] == ["3", "3", "1", "4", "+3.000"]
    # spam1: -2 * (1 / log2(4) - 1 / log2(2)) = 1; spam2: 2 / log2(3).
    assert by_name["spam1"] == ["-2", "-2", "3", "1", "+1.000"]
    assert by_name["spam2"] == ["-2", "-2", "–", "2", "+1.262"]
    assert [row[0] for row in rows[1:]] == ["a", "spam2", "spam1", "b"]
    assert "forbidden shown: 1 and 2" in page.text
    forbidden = [each for each in page.tables if "Forbidden documents" in each["caption"]]
    assert any(row[0] == "<i>&spam3" for each in forbidden for row in each["rows"])


def test_topics_that_decide(shared):
    _, page = shared
    rows = page.table("ndcg_f@3 on each topic, those that decide first")
    assert rows[0][:4] == ["topic", "good", "filtered", "advantage"]
    # Good is ahead by topic 3 alone.
    assert [(row[0], row[5]) for row in rows[1:]] == [("3", "decides"), ("1", ""), ("2", "")]
    assert "By the means good is ahead, and would not be without 1 of the 3 topics" in page.text


@pytest.mark.usefixtures("not_drawn")
def test_topics_are_in_the_order_of_their_numbers(report, contradicting):
    _, page = report(files=contradicting, measures=["ap"])
    topics = [row[0] for row in page.table("ap on each topic")[1:]]
    assert topics == ["10", *"123456789", "11"]


def test_two_equal_runs(report, folder):
    (folder / "same").write_text(RUNS["good"])
    _, page = report(files=["qrels", "good", "same"])
    assert "good against same The two have the same value on each of 3 topics." in page.text
    assert "have equal values for every query: nothing can be told apart." in page.text
    assert "is not significantly better" not in page.text
    assert not any("on each topic" in each["caption"] for each in page.tables)
    # Of the pair there is no picture: the only one is of all runs.
    assert [tag for tag, _ in page.attributes].count("figure") == 1


def test_equal_means_of_different_runs(report, folder):
    (folder / "values").write_text("run,qid,ap\na,1,0.5\na,2,0.25\nb,1,0.25\nb,2,0.5\n")
    _, page = report(files=["--scores", "values"], measures=["ap"])
    assert "a is not significantly better than b" in page.text
    assert "p 1.000. Over all topics the two are equal." in page.text
    assert len(page.table("ap on each topic")) == 1 + 2


@pytest.mark.usefixtures("not_drawn")
def test_long_lists_are_cut_and_say_so(report, many):
    _, page = report(files=many[:3], measures=["ap"])
    lists = [each["rows"] for each in page.tables if "moved" in each["caption"]]
    assert max(map(len, lists)) == 1 + 12
    assert "more documents are left out." in page.text
    assert "for the 6 topics that weigh most; 6 left out." in page.text


@pytest.mark.usefixtures("not_drawn")
def test_many_pairs_are_cut_and_say_so(report, folder):
    rows = [f"r{run},{topic},{(run * topic) % 7 / 7}" for run in range(1, 7) for topic in range(4)]
    (folder / "values").write_text("\n".join(["run,qid,ap", *rows]) + "\n")
    _, page = report(files=["--scores", "values"], measures=["ap"])
    assert "Here are 10 of 15 pairs, those of the 5 best runs." in page.text
    assert len(page.table("Pairs of runs")) == 1 + 15


@pytest.mark.usefixtures("not_drawn")
def test_texts_of_topics_and_documents(report, folder):
    (folder / "topics.csv").write_text("qid,query,narrative\n1,cats <b>&,All of them.\n2,dogs,\n")
    long = "word " * 100
    (folder / "docs.csv").write_text(f'docno,title,text\na,First,"{long}"\nspam1,,<i>buy</i>\n')
    _, page = report("--topics", "topics.csv", "--docs", "docs.csv")
    assert "cats <b>& All of them." in page.text
    listed = [each["rows"] for each in page.tables if "Documents that moved" in each["caption"]]
    assert {rows[0][-1] for rows in listed} == {"text"}
    rows = {row[0]: row for rows in listed for row in rows[1:]}
    assert rows["a"][-1].startswith("First word word")
    assert rows["a"][-1].endswith(" …")
    assert len(rows["a"][-1]) <= 240
    assert rows["spam1"][-1] == "<i>buy</i>"


@pytest.mark.usefixtures("not_drawn")
def test_any_pair_can_be_opened(report, many):
    _, page = report("--open", f"{many[1]}={many[-1]}", files=many, measures=["ap"])
    heads = [attrs for tag, attrs in page.attributes if attrs.get("class") == "pair"]
    assert len(heads) == 1
    assert "Here are" not in page.text
    (box,) = [attrs for _, attrs in page.attributes if attrs.get("class") == "any"]
    assert box["data-measure"] == "ap"
    (data,) = [
        json.loads(attrs["data-report"]) for _, attrs in page.attributes if "data-report" in attrs
    ]
    (measure,) = data["measures"]
    assert sorted(measure["systems"]) == sorted(Path(name).stem for name in many[1:])
    assert len(measure["p"]) == len(measure["first"]) == 15
    assert [len(row) for row in measure["values"]] == [len(measure["queries"])] * 6

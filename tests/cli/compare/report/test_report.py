"""The HTML report of ``skfilterrank compare``."""

import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")


from report_pages import QRELS, RUNS
from skfilterrank.plot import StabilityCurveDisplay

pytestmark = pytest.mark.slow


def test_summary_and_means(shared):
    _, page = shared
    rows = page.table("What was compared")
    assert rows[1][:4] == ["ndcg_f@3", "3", "0", "paired t test, Holm's correction for 3 pairs"]
    assert [row[5] for row in rows[1:]] == ["good", "filtered"]
    rows = page.table("Mean forbidden@3")
    # Of 3 places: good 1/3 0 0; the odd one 2/3 1/3 1/3 (or of the documents shown).
    assert [row[:2] for row in rows[1:3]] == [["filtered", "0.0000"], ["good", "0.1111"]]
    assert "Lower values are better." in page.text
    assert "Kendall's tau" in page.text
    assert "by how much the run of the row is better on average" in page.text


@pytest.mark.usefixtures("not_drawn")
def test_without_forbidden_documents(report, folder):
    (folder / "qrels").write_text(QRELS.replace("-2", "0"))
    _, page = report()
    assert "orbidden" not in page.text


@pytest.mark.usefixtures("not_drawn")
def test_the_better_run_is_the_one_that_the_test_finds_better(report, contradicting):
    _, page = report("--test", "sign", files=contradicting, measures=["ap"])
    (row,) = page.table("Pairs of runs by ap, the better run by the test first")[1:]
    assert (row[:3], row[-1]) == (["steady", "lucky", "-0.0727"], "yes")
    beaten = {row[0]: row[-2:] for row in page.table("Mean ap of each run")[1:]}
    assert beaten == {"lucky": ["0", "1"], "steady": ["1", "0"]}
    assert "Of 1 pair the run with the worse mean is significantly better" in page.text
    assert (
        "steady is significantly better than lucky: net share of queries +0.82, difference of the "
        "means -0.0727, p 0.012. The means say the opposite. By the means lucky is ahead, and "
        "would not be without 1 of the 11 topics"
    ) in page.text
    assert "net share of queries, blue where the run of the row is better" in page.text
    _, page = report(files=contradicting, measures=["ap"])
    assert page.table("Pairs of runs")[1][:3] == ["lucky", "steady", "+0.0727"]
    assert "opposite. " not in page.text
    assert "worse mean" not in page.text


@pytest.mark.usefixtures("not_drawn")
def test_preferences(report):
    measure = "lexirecall(scale=preference)"
    _, page = report(measures=[measure])
    rows = page.table(f"{measure} on each topic")
    assert rows[0][3] == "preference"
    assert {row[3] for row in rows[1:]} <= {"+1", "-1", "0"}
    assert "share of the other runs that are worse" in page.text


@pytest.mark.usefixtures("not_drawn")
def test_a_baseline(report):
    _, page = report("--baseline", "filtered")
    assert "filtered (baseline)" in page.text
    assert "Every run is compared with filtered only." in page.text
    assert len(page.table("Pairs of runs")) == 1 + 2


@pytest.mark.usefixtures("not_drawn")
def test_topics_left_out(report, folder):
    (folder / "good").write_text(RUNS["good"].replace("3 Q0 d 1 2 x\n", ""))
    _, page = report("--missing", "drop")
    assert re.search(r"topics left out, .*: 3\.", page.text)
    assert page.table("What was compared")[1][1:3] == ["2", "1"]


@pytest.mark.usefixtures("not_drawn")
def test_values_measured_before(run, report, folder):
    args = ["-m", "ap", "--per-query", "--format", "csv", "--quiet"]
    (folder / "values").write_text(run("evaluate", "qrels", *RUNS, *args)[1])
    _, page = report(files=["--scores", "values"], measures=["ap"])
    assert "The values were read from a file" in page.text
    assert not any("Documents" in each["caption"] for each in page.tables)
    assert page.table("ap on each topic")


@pytest.mark.usefixtures("not_drawn")
def test_curves_with_enough_topics(report, many):
    _, page = report(files=many[:3], measures=["ap", "rr"])
    assert "curves" in page.ids
    assert "Stability: share of decisions" in page.text
    assert "Means within 5 % of the greater one are taken for equal." in page.text
    assert "Sensitivity: share of pairs" in page.text


@pytest.mark.usefixtures("not_drawn")
def test_stability_does_not_depend_on_the_unit(report, many, monkeypatch):
    curves = []
    monkeypatch.setattr(
        StabilityCurveDisplay,
        "from_curves",
        lambda found: curves.append(found) or StabilityCurveDisplay(found).plot(),
    )
    for factor in (1, 1000):
        rows = [
            f"{name},{topic},{factor * (4 + (topic * step) % 7)}"
            for name, step in (("a", 1), ("b", 3), ("c", 5))
            for topic in range(1, 13)
        ]
        Path("values").write_text("\n".join(["run,qid,recall_error", *rows]) + "\n")
        report(files=["--scores", "values"], measures=["recall_error"])
    ours, larger = (found["recall_error"] for found in curves)
    assert 0 < ours.tie_rate.min() < ours.tie_rate.max()
    assert larger.tie_rate.tolist() == ours.tie_rate.tolist()
    assert larger.error_rate.tolist() == ours.error_rate.tolist()


def test_the_same_input_gives_the_same_file(report, folder):
    rows = ["a,1,0.5", "a,2,0.25", "a,3,1", "b,1,0.25", "b,2,0.5", "b,3,0.75"]
    (folder / "values").write_text("\n".join(["run,qid,ap", *rows]) + "\n")
    args = {"files": ["--scores", "values"], "measures": ["ap"]}
    first, again = (report(**args)[0] for _ in range(2))
    assert first == again
    assert "<svg" in first


@pytest.mark.usefixtures("not_drawn")
def test_the_same_input_gives_the_same_numbers(report, many):
    args = {"files": many[:3], "measures": ["ap"]}
    first, again = (report(**args)[0] for _ in range(2))
    assert first == again


@pytest.mark.usefixtures("not_drawn")
def test_it_is_told_where_it_is(run, folder):
    code, out, err = run("compare", "qrels", *RUNS, "-m", "ap", "--html", "r.html")
    assert code == 0
    assert err.endswith("report: r.html\n")
    assert out.startswith("ap: 3 runs")


@pytest.mark.usefixtures("not_drawn")
def test_the_report_is_written_before_the_table(tmp_path, monkeypatch, run):
    def gone(text):
        raise BrokenPipeError

    monkeypatch.chdir(tmp_path)
    Path("q").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n2 0 b 0\n3 0 a 0\n3 0 b 1\n")
    for name, first in (("one", "a"), ("two", "b")):
        second = "ab".replace(first, "")
        Path(name).write_text(
            "".join(f"{t} Q0 {first} 1 2 x\n{t} Q0 {second} 2 1 x\n" for t in "123")
        )
    monkeypatch.setattr("skfilterrank.cli.compare.run.results", gone)
    assert run("compare", "q", "one", "two", "-m", "rr", "--html", "r.html", "--quiet")[0] == 0
    assert Path("r.html").read_text().startswith("<!")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("qrels good filtered --before r.html", "--before says what is in the report: add --html"),
        ("qrels good filtered --docs qrels", "--docs says what is in the report: add --html"),
        ("--scores v --docs qrels --html r.html", "--docs has the texts of documents, and"),
        ("qrels good filtered --before qrels --html r.html", "qrels: is no report of skfilterrank"),
        ("qrels good filtered --open good=x --html r.html", "--open 'x' is none of the runs"),
    ],
)
def test_options_of_the_page(run, folder, words, message):
    code, out, err = run("compare", *words.split(), "-m", "ap")
    assert (code, out) == (2, "")
    assert message in err

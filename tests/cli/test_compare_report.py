"""The HTML report of ``skfilterrank compare``."""

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import skfilterrank
from skfilterrank.cli import _file_options as files
from skfilterrank.cli import main
from skfilterrank.cli.compare.report.elements import Cell, Html, element, table

pytest.importorskip("matplotlib")

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from skfilterrank.plot import StabilityCurveDisplay

# Labels below 0 are forbidden. The run whose name HTML might take for a tag shows most of them.
QRELS = """\
1 0 a 3
1 0 b 1
1 0 spam1 -2
1 0 spam2 -2
2 0 a 2
2 0 c 0
2 0 spam1 -2
3 0 d 1
3 0 <i>&spam3 -2
"""
ODD = '<b>&"x'
RUNS = {
    "good": "1 Q0 a 1 9 x\n1 Q0 b 2 8 x\n1 Q0 spam1 3 7 x\n2 Q0 a 1 5 x\n2 Q0 c 2 4 x\n"
    "3 Q0 d 1 2 x\n",
    ODD: "1 Q0 spam1 1 9 x\n1 Q0 spam2 2 8.5 x\n1 Q0 b 3 8 x\n1 Q0 a 4 7 x\n2 Q0 spam1 1 5 x\n"
    "2 Q0 c 2 4 x\n3 Q0 <i>&spam3 1 2 x\n3 Q0 d 2 1 x\n",
    "filtered": "1 Q0 a 1 9 x\n1 Q0 zz 2 8 x\n2 Q0 a 1 5 x\n2 Q0 c 2 4 x\n3 Q0 u 1 2 x\n",
}
VOID = {"meta", "br", "img", "link", "use", "path", "image", "rect"}


class Page(HTMLParser):
    """Tables, ids, open tags and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.attributes, self.tables, self.words = [], [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.words.append("" if tag == "bdi" else " ")
        attributes = dict(attrs)
        self.attributes.append((tag, attributes))
        self.ids += [attributes["id"]] if "id" in attributes else []
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append({"caption": "", "rows": []})
        elif tag == "tr":
            self.tables[-1]["rows"].append([])
        elif tag in ("th", "td"):
            self.tables[-1]["rows"][-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag
        self.words.append("" if tag == "bdi" else " ")

    def handle_data(self, data):
        if "style" in self.open or "script" in self.open:
            return
        self.words.append(data)
        if "caption" in self.open:
            self.tables[-1]["caption"] += data
        elif self.open and {"th", "td"} & set(self.open):
            self.tables[-1]["rows"][-1][-1] += data

    def table(self, caption):
        """Rows of the first table whose caption has this in it."""
        return next(each["rows"] for each in self.tables if caption in each["caption"])

    @property
    def text(self):
        return re.sub(r"\s+", " ", "".join(self.words))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    for name, text in RUNS.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def report(run, folder):
    """Write the report and read it."""

    def report(*arguments, files=("qrels", *RUNS), measures=("ndcg_f@3",)):
        named = [word for name in measures for word in ("-m", name)]
        code, _, err = run("compare", *files, *named, "--html", "r.html", "--quiet", *arguments)
        assert (code, err) == (0, "")
        text = (folder / "r.html").read_text(encoding="utf-8")
        return text, Page(text)

    return report


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The report of the runs above by two measures, written once for all tests that read it."""
    folder = tmp_path_factory.mktemp("shared")
    for name, text in {"qrels": QRELS, **RUNS}.items():
        (folder / name).write_text(text)
    paths = [str(folder / name) for name in ("qrels", *RUNS)]
    html = folder / "r.html"
    measures = ["-m", "ndcg_f@3", "-m", "forbidden@3"]
    assert main(["compare", *paths, *measures, "--html", str(html), "--quiet"]) == 0
    text = html.read_text(encoding="utf-8")
    return text, Page(text)


@pytest.fixture
def not_drawn(monkeypatch):
    """Pictures are made, and empty ones put on the page in their place: this takes less time."""
    blank = '<svg width="72.0pt" height="72.0pt"></svg>'
    monkeypatch.setattr(Figure, "savefig", lambda self, out, **params: out.write(blank))


def test_it_is_one_file_that_needs_nothing_else(shared):
    text, page = shared
    for _, attributes in page.attributes:
        for name in ("src", "href", "xlink:href", "action", "srcset"):
            assert attributes.get(name, "#").startswith(("#", "data:image/png;base64,"))
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert "default-src 'none'" in text
    # What the SVG pictures name is the name of their language, which nobody fetches.
    assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}


def test_its_only_script_is_known_by_its_hash(shared):
    text, page = shared
    (script,) = re.findall("<script>(.*?)</script>", text, flags=re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [attrs["content"] for _, attrs in page.attributes if "http-equiv" in attrs]
    assert f"script-src 'sha256-{digest}'" in policy
    assert not any(name.startswith("on") for _, attrs in page.attributes for name in attrs)


def test_names_that_a_page_would_obey_or_hide(run, folder):
    """Names of either direction stand by themselves, and what nobody sees is a code."""
    names = ["עברית-1", "x\u202e\x1b\u200b"]
    for name, text in zip(names, RUNS.values()):
        (folder / name).write_text(text)
    code, _, err = run("compare", "qrels", *names, "-m", "ndcg_f@3", "--html", "r.html", "--quiet")
    assert (code, err) == (0, "")
    text = (folder / "r.html").read_text(encoding="utf-8")
    Page(text)
    assert not {"\u202e", "\x1b", "\u200b"} & set(text)
    codes = r"x\u202e\x1b\u200b"
    for name in ("עברית-1", codes):
        assert f"<bdi>{name}</bdi>" in text
    assert re.search(f"<h4><bdi>[^<]*</bdi> against <bdi>{re.escape(codes)}</bdi></h4>", text)
    # Attributes hold no elements.
    assert re.search(f'aria-label="[^"<]*\u2068{re.escape(codes)}\u2069', text)


def test_it_is_well_formed(shared):
    _, page = shared
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    tags = [tag for tag, _ in page.attributes]
    assert ("html", {"lang": "en"}) in page.attributes
    assert tags.count("h1") == tags.count("title") == tags.count("main") == 1
    assert all("aria-label" in attrs for tag, attrs in page.attributes if tag == "svg")
    assert all("scope" in attrs for tag, attrs in page.attributes if tag == "th")
    assert tags.count("caption") == tags.count("table")
    links = {attrs["href"] for tag, attrs in page.attributes if tag == "a"}
    assert links == {"#m1", "#m2", "#agreement", "#made"}
    assert {"m1", "m2", "agreement"} <= set(page.ids)


def test_names_are_escaped(shared):
    text, page = shared
    assert "<b>" not in text
    assert "<i>&" not in text
    assert ODD in page.text
    assert ODD in [row[0] for row in page.table("Mean ndcg_f@3")]


def test_names_that_are_no_formulas_and_no_latin(report, folder):
    names = ["$\\x$", "$a_b$", "检索"]
    for name in names:
        (folder / name).write_text(RUNS["good"])
    text, page = report(files=["qrels", *names])
    for name in names:
        assert name in [row[0] for row in page.table("Mean ndcg_f@3")]
        assert f">{name}</text>" in text


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


@pytest.mark.usefixtures("not_drawn")
def test_without_forbidden_documents(report, folder):
    (folder / "qrels").write_text(QRELS.replace("-2", "0"))
    _, page = report()
    assert "orbidden" not in page.text


def test_topics_that_decide(shared):
    _, page = shared
    rows = page.table("ndcg_f@3 on each topic, those that decide first")
    assert rows[0][:4] == ["topic", "good", "filtered", "advantage"]
    # Good is ahead by topic 3 alone.
    assert [(row[0], row[5]) for row in rows[1:]] == [("3", "decides"), ("1", ""), ("2", "")]
    assert "By the means good is ahead, and would not be without 1 of the 3 topics" in page.text


@pytest.fixture
def contradicting(folder):
    """Values of eleven topics: steady is ahead on ten of them by a little, lucky on one by far."""
    topics = sorted(range(1, 12), key=str)
    rows = [f"steady,{topic},{0.0 if topic == 10 else 0.06}" for topic in topics]
    rows += [f"lucky,{topic},{0.9 if topic == 10 else 0.05}" for topic in topics]
    (folder / "values").write_text("\n".join(["run,qid,ap", *rows]) + "\n")
    return ["--scores", "values"]


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
def test_topics_are_in_the_order_of_their_numbers(report, contradicting):
    _, page = report(files=contradicting, measures=["ap"])
    topics = [row[0] for row in page.table("ap on each topic")[1:]]
    assert topics == ["10", *"123456789", "11"]


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


@pytest.fixture
def many(folder):
    """Six runs on twelve topics, with lists of 16 documents."""
    docnos = [f"d{number}" for number in range(16)]
    labels = "".join(
        f"{qid} 0 {docno} {(place * qid) % 3 - 1}\n"
        for qid in range(1, 13)
        for place, docno in enumerate(docnos)
    )
    (folder / "qrels").write_text(labels)
    for number in range(1, 7):
        lines = [
            f"{qid} Q0 {docno} 1 {(place * (number + 3) + qid * number) % 17} x\n"
            for qid in range(1, 13)
            for place, docno in enumerate(docnos)
        ]
        (folder / f"run{number}").write_text("".join(lines))
    return ["qrels", *(f"run{number}" for number in range(1, 7))]


@pytest.mark.usefixtures("not_drawn")
def test_long_lists_are_cut_and_say_so(report, many):
    _, page = report(files=many, measures=["ap"])
    assert "Here are 10 of 15 pairs, those of the 5 best runs." in page.text
    assert len(page.table("Pairs of runs")) == 1 + 15
    lists = [each["rows"] for each in page.tables if "moved" in each["caption"]]
    assert max(map(len, lists)) == 1 + 12
    assert "more documents are left out." in page.text
    assert "for the 6 topics that weigh most; 6 left out." in page.text


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


def test_the_same_input_gives_the_same_file(report):
    args = {"files": ["qrels", "good", "filtered"], "measures": ["ap"]}
    first, again = (report(**args)[0] for _ in range(2))
    assert first == again


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


def test_matplotlib_is_needed(run, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    code, out, err = run("compare", "qrels", *RUNS, "--html", "r.html")
    assert (code, out) == (2, "")
    assert "drawing needs matplotlib: pip install 'skfilterrank[plot]'" in err
    with pytest.raises(files.argparse.ArgumentTypeError):
        files.page("r.html")


def test_no_window_is_asked_for(report):
    """No display is needed, and pictures are closed again."""
    mpl.use("template")  # stands for one that opens windows
    report(files=["qrels", "good", "filtered"], measures=["ap"])
    assert (mpl.get_backend(), plt.get_fignums()) == ("agg", [])


def test_elements_escape():
    assert (
        element("p", '<&"', Html("<br>"), title='"&')
        == '<p title="&quot;&amp;">&lt;&amp;&quot;<br></p>'
    )
    text = table("<c>", ["<h>", "n"], [["<a>", Cell("<1>", 1.0)]])
    assert re.findall(r"<(c|h|a|1)>", text) == []
    assert 'data-v="1.0"' in text


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


@pytest.mark.usefixtures("not_drawn")
def test_what_it_was_made_from(report, folder):
    _, page = report("--gains=-2=-1,0=0,1=1,2=2,3=3", "--seed", "7")
    assert "skfilterrank compare qrels good" in page.text
    made = page.table("Files that were read")
    assert [row[:2] for row in made[1:]] == [
        ["qrels", "judgments"], ["good", "run"], [ODD, "run"], ["filtered", "run"],
    ]  # fmt: skip
    for name, _, size, changed, digest in made[1:]:
        content = (folder / name).read_bytes()
        assert digest == hashlib.sha256(content).hexdigest()
        assert int(size) == len(content)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", changed)
    for said in (
        "--gains -2=-1, 0=0, 1=1, 2=2, 3=3",
        "--ties docno",
        "--missing empty",
        "--seed 7",
        f"skfilterrank {skfilterrank.__version__}, Python",
    ):
        assert said in page.text


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


@pytest.mark.usefixtures("not_drawn")
def test_since_an_earlier_report(report, folder):
    report()
    (folder / "old.html").write_bytes((folder / "r.html").read_bytes())
    _, page = report("--before", "old.html")
    assert "It was made from the same files with the same settings." in page.text
    assert "tests of the same pairs come out as before" in page.text
    assert {row[3] for row in page.table("before and now")[1:]} == {"+0.0000"}
    (folder / "good").write_text("1 Q0 spam1 1 9 x\n2 Q0 spam1 1 5 x\n3 Q0 u 1 2 x\n")
    _, page = report("--before", "old.html", "--ties", "worst")
    assert "file good: another content" in page.text
    assert "setting ties: docno before, worst now" in page.text
    rows = {row[0]: row for row in page.table("before and now")}
    assert rows["filtered"][1] == rows["filtered"][2]
    assert float(rows["good"][3]) == pytest.approx(float(rows["good"][2]) - float(rows["good"][1]))
    assert float(rows["good"][3]) < 0


@pytest.mark.usefixtures("not_drawn")
def test_tests_that_come_out_otherwise(report, folder):
    def write(values):
        rows = [f"{name},{topic},{(topic % 3 + shift) / 9}" for name, shift in values.items()
                for topic in range(9)]  # fmt: skip
        Path("values").write_text("\n".join(["run,qid,ap", *rows]) + "\n")

    write({"a": 2, "b": 1})
    options = {"files": ["--scores", "values"], "measures": ["ap"]}
    report(**options)
    (folder / "old.html").write_bytes((folder / "r.html").read_bytes())
    write({"a": 1, "b": 2, "c": 1})
    _, page = report("--before", "old.html", **options)
    assert page.table("comes out otherwise")[1:] == [["b", "a", "a", "b"]]


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

"""The HTML report of comparisons."""

import base64
import hashlib
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import skfilterrank
from report_pages import ODD, QRELS, RUNS, compared, read
from skfilterrank.cli._output import call
from skfilterrank.cli._report import write_report
from skfilterrank.cli._types import page as page_file
from skfilterrank.comparison import SystemScores, compare_systems
from skfilterrank.exceptions import MissingPackageError
from skfilterrank.io import read_qrels

pytestmark = pytest.mark.slow


def write_values(path, values):
    """Write values of queries of ap, a list for each run."""
    rows = [
        f"{name},{query},{value}"
        for name, own in values.items()
        for query, value in enumerate(own, 1)
    ]
    Path(path).write_text("\n".join(["run,qid,ap", *rows]) + "\n")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"qrels": QRELS, **RUNS}.items():
        Path(name).write_text(text)
    return tmp_path


@pytest.fixture
def not_drawn(monkeypatch):
    """Pictures are made, and empty ones put on the page in their place: this takes less time."""
    blank = '<svg width="72.0pt" height="72.0pt"></svg>'
    drawn = "matplotlib.figure.Figure.savefig"
    monkeypatch.setattr(drawn, lambda self, out, **params: out.write(blank))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The report of the runs by two measures, written once for all tests that read it."""
    folder = tmp_path_factory.mktemp("shared")
    for name, text in {"qrels": QRELS, **RUNS}.items():
        (folder / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return compared(measures=["ndcg_f@3", "forbidden@3"])


@pytest.fixture
def contradicting():
    """Values of eleven queries: steady is ahead on ten by a little, lucky on one by far."""
    steady, lucky = [0.06] * 11, [0.05] * 11
    steady[9], lucky[9] = 0.0, 0.9
    write_values("values", {"steady": steady, "lucky": lucky})


@pytest.fixture
def many():
    """Six runs on twelve queries, with lists of 16 documents."""
    docnos = [f"d{number}" for number in range(16)]
    labels = [f"{q} 0 {d} {(p * q) % 3 - 1}" for q in range(1, 13) for p, d in enumerate(docnos)]
    Path("qrels").write_text("\n".join(labels) + "\n")
    for number in range(1, 7):
        lines = [
            f"{q} Q0 {d} 1 {(p * (number + 3) + q * number) % 17} x"
            for q in range(1, 13)
            for p, d in enumerate(docnos)
        ]
        Path(f"run{number}").write_text("\n".join(lines) + "\n")
    return ["qrels", *(f"run{number}" for number in range(1, 7))]


# ---------------------------------------------------------------- the page


def test_it_is_one_file_that_needs_nothing_else(shared):
    text, page = shared
    for _, attributes in page.attributes:
        for name in ("src", "href", "xlink:href", "action", "srcset"):
            assert attributes.get(name, "#").startswith(("#", "data:image/png;base64,"))
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert "default-src 'none'" in text
    # The SVG pictures name their language by an address, which no browser fetches.
    assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}


def test_its_only_script_is_known_by_its_hash(shared):
    text, page = shared
    (script,) = re.findall("<script>(.*?)</script>", text, flags=re.S)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = [attrs["content"] for _, attrs in page.attributes if "http-equiv" in attrs]
    assert f"script-src 'sha256-{digest}'" in policy
    assert not any(name.startswith("on") for _, attrs in page.attributes for name in attrs)


@pytest.mark.usefixtures("not_drawn")
def test_names_that_a_page_would_obey_or_hide():
    """Names of either direction stand by themselves, and invisible letters are codes."""
    names = ["עברית-1", "x\u202e\x1b\u200b"]
    for name, text in zip(names, RUNS.values()):
        Path(name).write_text(text)
    text, _ = compared("qrels", *names)
    assert not {"\u202e", "\x1b", "\u200b"} & set(text)
    codes = r"x\u202e\x1b\u200b"
    for name in ("עברית-1", codes):
        assert f"<bdi>{name}</bdi>" in text
    assert re.search(f"<h4><bdi>[^<]*</bdi> against <bdi>{re.escape(codes)}</bdi></h4>", text)


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
    assert {"m1", "m2", "agreement", "made"} <= set(page.ids)


def test_names_are_escaped(shared):
    text, page = shared
    assert "<b>" not in text
    assert "<i>&" not in text
    assert ODD in page.text
    assert ODD in [row[0] for row in page.table("Mean ndcg_f@3")]


def test_names_that_are_no_formulas_and_no_latin():
    names = ["$\\x$", "$a_b$", "检索"]
    for name in names:
        Path(name).write_text(RUNS["good"])
    text, page = compared("qrels", *names)
    for name in names:
        assert name in [row[0] for row in page.table("Mean ndcg_f@3")]
        assert any(name in drawn for drawn in re.findall("<text.*?>(.*?)</text>", text))


def test_no_window_is_asked_for():
    """No display is needed, and pictures are closed again."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("template")  # stands for one that opens windows
    before = plt.get_fignums()
    compared(measures="ap")
    assert (mpl.get_backend(), plt.get_fignums()) == ("agg", before)


def test_the_same_input_gives_the_same_file():
    write_values("values", {"a": [0.5, 0.25, 1], "b": [0.25, 0.5, 0.75], "c": [0, 0, 0.5]})
    first, again = (compared("values")[0] for _ in range(2))
    assert first == again
    assert "<svg" in first


def test_an_earlier_page_stays_where_a_new_one_cannot_be_made(monkeypatch):
    from matplotlib import pyplot

    Path("r.html").write_text("old")
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        compared()
    assert Path("r.html").read_text() == "old"
    pyplot.close("all")


def test_jinja2_is_needed(monkeypatch):
    for name in ("jinja2", "skfilterrank._files.pages"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingPackageError, match=r"jinja2.*pip install 'skfilterrank\[report\]'"):
        page_file("r.html")


# ---------------------------------------------------------------- measures


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


@pytest.mark.usefixtures("not_drawn", "contradicting")
def test_the_better_run_is_the_one_that_the_test_finds_better():
    _, page = compared("values", test="sign")
    (row,) = page.table("Pairs of runs by ap, the better run by the test first")[1:]
    assert (row[:3], row[-1]) == (["steady", "lucky", "-0.0727"], "yes")
    beaten = {row[0]: row[-2:] for row in page.table("Mean ap of each run")[1:]}
    assert beaten == {"lucky": ["0", "1"], "steady": ["1", "0"]}
    assert "with the worse mean is significantly better" in page.text
    assert (
        "steady is significantly better than lucky: net share of queries +0.82, difference of the "
        "means -0.0727, p 0.0117. The means say the opposite. By the means lucky is ahead, and "
        "would not be without 1 of the 11 queries"
    ) in page.text
    assert "net share of queries, blue where the run of the row is better" in page.text
    _, page = compared("values")
    assert page.table("Pairs of runs")[1][:3] == ["lucky", "steady", "+0.0727"]
    assert "opposite. " not in page.text
    assert "worse mean" not in page.text


@pytest.mark.usefixtures("not_drawn")
def test_preferences():
    measure = "lexirecall(scale=preference)"
    _, page = compared(measures=measure)
    rows = page.table(f"{measure} on each query")
    assert rows[0][3] == "preference"
    assert {row[3] for row in rows[1:]} <= {"+1", "-1", "0"}
    assert "share of the other runs that are worse" in page.text


@pytest.mark.usefixtures("not_drawn")
def test_a_baseline():
    _, page = compared(baseline="filtered")
    assert "filtered (baseline)" in page.text
    assert "Every run is compared with filtered only." in page.text
    assert len(page.table("Pairs of runs")) == 1 + 2


@pytest.mark.usefixtures("not_drawn")
def test_topics_left_out():
    Path("good").write_text(RUNS["good"].replace("3 Q0 d 1 2 x\n", ""))
    _, page = compared(missing="drop")
    assert re.search(r"queries left out, .*: 3\.", page.text)
    assert page.table("What was compared")[1][1:3] == ["2", "1"]


@pytest.mark.usefixtures("not_drawn")
def test_labels_of_machines_are_named():
    Path("qrels").write_text(QRELS)
    table = read_qrels("qrels", unjudged_label=None)
    table.assign(judged_by=["large"] + ["people"] * (len(table) - 1)).to_csv("q.csv", index=False)
    _, page = compared("q.csv", *RUNS)
    assert "labels of machines: large: 1." in page.text


@pytest.mark.usefixtures("not_drawn")
def test_many_runs_are_cut():
    rng = np.random.RandomState(0)
    write_values("values", {f"r{number}": rng.rand(3) for number in range(26)})
    text, page = compared("values")
    assert "Here are 200 of 325 pairs, those that tell most; skfilterrank compare" in page.text
    assert "Here are 10 of 325 pairs, those that tell most" in page.text
    assert len(page.table("Pairs of runs")) == 201
    assert len(re.findall('<section class="pair"', text)) == 10
    assert len(page.table("Every run against every other")) == 26
    assert "The table has the 25 best runs." in page.text


@pytest.mark.usefixtures("not_drawn", "contradicting")
def test_the_heat_map_has_numbers():
    rows = compared("values", test="sign")[1].table("Every run against every other")
    assert rows == [["", "lucky", "steady"], ["lucky", "", "-0.818*"], ["steady", "+0.818*", ""]]
    text, page = compared("values")
    assert page.table("Every run against every other")[1] == ["lucky", "", "+0.073"]
    assert "background:rgba(0, 114, 178, 0.75)" in text  # the greatest advantage


@pytest.mark.usefixtures("not_drawn")
def test_curves_with_enough_topics(many):
    _, page = compared(*many[:3], measures=["ap", "rr"])
    assert "curves" in page.ids
    assert "Stability: share of decisions" in page.text
    assert "Means within 5 % of the greater one are taken for equal." in page.text
    assert "Sensitivity: share of pairs" in page.text


# ---------------------------------------------------------------- queries


def test_topics_that_decide(shared):
    _, page = shared
    rows = page.table("ndcg_f@3 on each query, those that decide first")
    assert rows[0][:4] == ["query", "good", "filtered", "advantage"]
    # Good is ahead by query 3 alone.
    assert [(row[0], row[5]) for row in rows[1:]] == [("3", "decides"), ("1", ""), ("2", "")]
    assert "By the means good is ahead, and would not be without 1 of the 3 queries" in page.text


@pytest.mark.usefixtures("not_drawn", "contradicting")
def test_topics_of_values_are_in_the_order_of_their_numbers():
    _, page = compared("values")
    queries = [row[0] for row in page.table("ap on each query")[1:]]
    assert queries == ["10", *"123456789", "11"]


def test_two_equal_runs():
    Path("same").write_text(RUNS["good"])
    _, page = compared("qrels", "good", "same")
    assert "good against same The two have the same value on each of 3 queries." in page.text
    assert "have equal values for every query, so no test can tell them apart." in page.text
    assert "is not significantly better" not in page.text
    assert not any("on each query" in each["caption"] for each in page.tables)


@pytest.mark.usefixtures("not_drawn")
def test_equal_means_of_different_runs():
    write_values("values", {"a": [0.5, 0.25], "b": [0.25, 0.5]})
    _, page = compared("values")
    assert "Over all queries the two are equal." in page.text


# ---------------------------------------------------------------- origin


@pytest.mark.usefixtures("not_drawn")
def test_origin():
    call.begin(["compare", "qrels", "a run", "--html", "r.html"])
    options = {"gains": {"-2": -1.0, "0": 0.0}, "unjudged_label": None}
    options |= {"random_state": 7, "ties": "docno", "html": "r.html", "format": None}
    _, page = compared(**options)
    assert "Command skfilterrank compare qrels 'a run' --html r.html Made on" in page.text
    made = page.table("Files that were read")
    kinds = [["qrels", "judgments"], *([name, "run"] for name in RUNS)]
    assert [row[:2] for row in made[1:]] == kinds
    for name, _, size, changed, digest in made[1:]:
        content = Path(name).read_bytes()
        assert digest == hashlib.sha256(content).hexdigest()
        assert int(size) == len(content)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", changed)
    assert f"skfilterrank {skfilterrank.__version__}, Python" in page.text


@pytest.mark.usefixtures("not_drawn")
def test_measures_of_which_less_is_better_are_turned():
    values = pd.DataFrame([[1.0, 3.0], [2.0, 2.0]])
    scores = SystemScores(values.to_numpy(), systems=["a", "b"], measure="forbidden@3")
    found = {"forbidden@3": compare_systems(scores)}
    write_report("r.html", {}, found, {}, [], random_state=0)
    _, page = read()
    rows = page.table("forbidden@3 on each query")
    assert sorted(row[1:4] for row in rows[1:]) == [
        ["1.0000", "2.0000", "+1.0000"], ["3.0000", "2.0000", "-1.0000"],
    ]  # fmt: skip

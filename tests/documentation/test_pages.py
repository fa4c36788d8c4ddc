"""Pages of the site: links lead somewhere, and every page is within three clicks."""

import html
import re
from collections import deque
from pathlib import Path

import pytest

from _site import decision_charts
from skfilterrank.metrics import get_measure_names

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path.name for path in DOCS.glob("*.md"))
LINK = re.compile(r"\]\((?!\w+:)([^)\s]+)\)")
# Made where the site is built.
BUILT = ("benchmarks/", "gallery/", "citing/")


def links(name):
    """Pages and anchors to which a page links, its table of contents included."""
    text = (DOCS / name).read_text(encoding="utf-8")
    contents = [
        f"{line}.md"
        for block in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL)
        for line in block.split()
        if re.fullmatch(r"[a-z_]+", line) and (DOCS / f"{line}.md").exists()
    ]
    return LINK.findall(text) + contents


def anchors(name):
    """Anchors of a page's headings, as GitHub and MyST make them."""
    if name == "measures.md":  # the site leads from these to the page of each measure
        return set(get_measure_names())
    text = (DOCS / name).read_text(encoding="utf-8")
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def clicks_from(start):
    """Fewest clicks from a page to each other page."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        page = waiting.popleft()
        for link in links(page):
            target = link.partition("#")[0]
            if target in PAGES and target not in found:
                found[target] = found[page] + 1
                waiting.append(target)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    broken = []
    for link in links(name):
        path, _, anchor = link.partition("#")
        target = (DOCS / (path or name)).resolve()
        if path.startswith(BUILT):
            continue
        if not target.exists() or (
            anchor and target.suffix == ".md" and anchor not in anchors(target.name)
        ):
            broken.append(link)
    assert not broken


ROOT = DOCS.parent
MARKDOWN = sorted(str(path.relative_to(ROOT)) for path in [*ROOT.glob("*.md"), *DOCS.glob("*.md")])


def bare_prompts(text):
    """Numbers of the lines of an interpreter that stand outside of fenced code."""
    fence, found = "", []
    for number, line in enumerate(text.splitlines(), start=1):
        marks = re.match(r"\s*(`{3,}|~{3,})", line)
        if marks and not fence:
            fence = marks[1]
        elif marks and marks[1].startswith(fence):
            fence = ""
        elif not fence and re.match(r"\s*(>>> |\.\.\. )", line):
            found.append(number)
    return found


@pytest.mark.parametrize("name", MARKDOWN)
def test_code_stands_in_fences(name):
    # Doctest runs it without one, and Markdown makes quotes of it.
    assert bare_prompts((ROOT / name).read_text(encoding="utf-8")) == []


def test_code_without_a_fence_is_found():
    fenced = "```python\n>>> 1\n1\n\n```\n"
    assert bare_prompts(fenced) == []
    assert bare_prompts(f"{fenced}text\n\n>>> 2\n2\n{fenced}  >>> 3\n") == [8, 15]


def test_every_page_is_within_three_clicks():
    clicks = clicks_from("index.md")
    assert set(PAGES) <= set(clicks)
    assert max(clicks.values()) <= 3


@pytest.mark.parametrize("chart", decision_charts.CHARTS, ids=lambda chart: chart.name)
def test_a_decision_chart_is_current_and_in_words(chart):
    written = decision_charts.target(chart).read_text(encoding="utf-8")
    assert written == decision_charts.drawn(chart), "run: python docs/_site/decision_charts.py"
    name = {"choose_estimator": "estimators", "choose_threshold": "getting_started"}[chart.name]
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert f"](_static/{chart.name}.svg)" in page
    steps = [*chart.steps, ("None of these", *chart.otherwise)]
    in_words = [f"| {question} | **{name}**: {note}" for question, name, note in steps]
    places = [page.find(line) for line in in_words]
    assert places == sorted(places)
    assert places[0] > 0


def test_letters_of_a_decision_chart_fit_into_their_boxes():
    """DejaVu Sans is the widest of the fonts; its letters are measured where matplotlib is."""
    fonts = pytest.importorskip("matplotlib.font_manager")
    textpath = pytest.importorskip("matplotlib.textpath").TextPath
    regular, bold = (
        fonts.FontProperties(family="DejaVu Sans", weight=each) for each in ("normal", "bold")
    )
    for chart in decision_charts.CHARTS:
        svg = decision_charts.drawn(chart)
        written = re.findall(r'font-size="([\d.]+)" .*?weight="(\w+)" [^>]*>([^<]+)</text>', svg)
        for size, weight, words in written[1:]:
            font = regular if weight == "normal" else bold
            words = html.unescape(words)
            width = textpath((0, 0), words, size=float(size), prop=font).get_extents().width
            assert width < decision_charts.BOX - 10, words


def contents_of_the_guide():
    """Pages of the guide's contents, in their order, by captions."""
    text = (DOCS / "guide.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```\{toctree\}\n:hidden:\n:caption: (.*?)\n(.*?)```", text, re.DOTALL)
    return {caption: pages.split() for caption, pages in blocks}


def guide_pages():
    """Pages of the guide, one for each job; the measures have their own place in the header."""
    parts = contents_of_the_guide()
    return [*(page for part in parts if part != "Reference" for page in parts[part]), "measures"]


def words_of(text):
    """Words of prose and of tables; programs, and what they print, do not count."""
    text = re.sub(r"^ *(`{3,}).*?^ *\1`*$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return [word for word in re.split(r"[\s|]+", text) if re.search(r"\w", word)]


def test_words_of_tables_count_and_those_of_programs_do_not():
    table = "| a `b c` | [d e](f.md#g) |\n| --- | --- |\n"
    text = f"# Title\n\n{table}\n```python\n>>> no(word)\n\n```\n\nand `a=1`:\n\n```sh\nno\n```\n"
    assert words_of(text) == ["Title", "a", "`b", "c`", "[d", "e]", "and", "`a=1`:"]


def test_the_guide_has_one_page_for_each_job():
    pages = guide_pages()
    assert len(pages) == len(set(pages))
    assert len(pages) <= 13
    # All other pages are of reference, in the contents of the guide, or lie beside it.
    beside = {"index", "guide", "api", "command_line", "cite", "changelog"}
    beside |= {"contributing", "adding_a_measure", "maintaining"}
    known = {*pages, *contents_of_the_guide()["Reference"], *beside}
    assert {path.removesuffix(".md") for path in PAGES} == known


@pytest.mark.parametrize("name", guide_pages())
def test_a_page_of_the_guide_is_read_in_a_sitting(name):
    assert len(words_of((DOCS / f"{name}.md").read_text(encoding="utf-8"))) <= 1_500


@pytest.mark.parametrize("name", guide_pages())
def test_a_page_of_the_guide_opens_with_its_outcome(name):
    """A picture, a table or something to try comes first, or after one paragraph."""
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    blocks = [block for block in text.split("\n\n")[1:] if not block.startswith("::::")]
    opens = re.compile(r"(?::::\{grid-item\}\n)?(\||!\[|```\{raw\} html\n<form)")
    assert any(opens.match(block) for block in blocks[:2])
    assert not blocks[0].startswith("#")


def test_the_readme_is_short():
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 110


def test_the_landing_page_shows_how_to_begin():
    page = (DOCS / "index.md").read_text(encoding="utf-8")
    body = re.sub(r"```\{toctree\}.*?```", "", page, flags=re.DOTALL)
    for shown in ("pip install", ">>> ", "](gallery/index.rst)", "](adding_a_measure.md)"):
        assert shown in body


def test_contributors_are_shown_every_room():
    page = (DOCS / "contributing.md").read_text(encoding="utf-8")
    package = DOCS.parent / "skfilterrank"
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    assert {room for room in rooms if f"`{room}`" not in page} == set()

"""Pages of the site: links lead somewhere, and every page is within three clicks."""

import re
from collections import deque
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("name", ["which_measure.md", "which_threshold.md"])
def test_earlier_questions_of_a_chart_lead_to_each(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    questions = re.split(r"^## (?=\d+\. )", text, flags=re.MULTILINE)[1:]
    assert len(questions) > 5
    reached = {"1"}
    for number, question in enumerate(questions, start=1):
        assert question.startswith(f"{number}. ")
        assert str(number) in reached
        reached |= set(re.findall(r"→ \[(\d+)\]\(#\1-", question))


def test_the_readme_is_short():
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 150


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

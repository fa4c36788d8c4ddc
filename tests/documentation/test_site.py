"""The built site in a real browser: it is found by search, fits a phone, and fetches nothing."""

import os
import re
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from browsers import contrast, luminance, requested, resize, start_browser

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("SKFILTERRANK_SITE", ROOT / "docs/_build/html"))
if not (SITE / "index.html").is_file():
    reason = "no built site: make site builds it, SKFILTERRANK_SITE names another"
    pytest.skip(reason, allow_module_level=True)
# One of each kind.
PAGES = {
    "landing": "index.html",
    "guide": "thresholds.html",
    "chart": "which_measure.html",
    "overview": "measures.html",
    "measure": "measures/ndcg_f.html",
    "long formula": "measures/metric_lexirecall.html",
    "class": "api/skfilterrank.ranking.RankAndFilter.html",
    "function": "api/skfilterrank.metrics.ul_normalized_score.html",
    "benchmark": "benchmarks/methods_and_thresholds.html",
    "gallery": "gallery/index.html",
    "example": "gallery/tasks/plot_tuned_threshold.html",
    "contributing": "contributing.html",
    "sources": "citing/sources.html",
}


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    """Where the built site is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SITE)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser(address, tmp_path_factory):
    found = start_browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.quit()


def wait_for(browser, script):
    """What a script returns as soon as that is true."""
    for _ in range(200):
        if found := browser.execute_script(f"return {script}"):
            return found
        time.sleep(0.1)
    raise AssertionError(f"{script} stays false on {browser.current_url}")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_a_page_on_a_wide_screen(browser, address, page):
    """It fetches nothing from outside, fits, and can be read in either scheme."""
    resize(browser, 1280)
    # What the browser shows before any page, it loads from itself.
    browser.get("about:blank")
    time.sleep(0.2)
    requested(browser)
    browser.get_log("browser")
    browser.get(address + PAGES[page])
    wait_for(browser, "document.readyState == 'complete'")
    time.sleep(0.2)
    asked = requested(browser)
    assert address + PAGES[page] in asked
    assert [url for url in asked if not url.startswith((address, "data:"))] == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"] == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 1280
    for scheme in ("light", "dark"):
        browser.execute_script(f"document.documentElement.dataset.theme = '{scheme}'")
        paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (luminance(paper) < 0.2) == (scheme == "dark")
        faint = browser.execute_script(FAINT)
        # WCAG wants 4.5 of small text; greys of labels and of code are a little below in themes.
        assert [each for each in faint if contrast(*each[1:]) < 4] == [], scheme


def test_links_in_the_files_stay_on_the_machine():
    """What a browser would load by itself, of every page; links to follow lead anywhere."""
    loads = re.compile(
        r"""<(?:script|img|iframe|source|audio|video)\b[^>]*\bsrc=["']((?:https?:)?//[^"']+)"""
        r"""|<link\b(?=[^>]*\brel=["'][^"']*(?:stylesheet|icon|preload|preconnect))"""
        r"""[^>]*\bhref=["']((?:https?:)?//[^"']+)"""
    )
    found = {
        str(path.relative_to(SITE)): loads.findall(path.read_text(encoding="utf-8"))
        for path in SITE.rglob("*.html")
    }
    assert {page: urls for page, urls in found.items() if urls} == {}
    fetched = re.compile(r"url\(['\"]?(https?:)?//")
    styles = SITE.rglob("*.css")
    assert [path.name for path in styles if fetched.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_page_is_wider_than_a_phone(browser, address, page):
    resize(browser, 375)
    browser.get(address + PAGES[page])
    wait_for(browser, "document.readyState == 'complete'")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 375


# The text of the article, its colour, and that of the nearest box below it that has one.
FAINT = """
const found = [];
const walker = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
  if (['STYLE', 'SCRIPT'].includes(element.tagName)) continue;
  let box = element, paper = 'rgba(0, 0, 0, 0)', opacity = 1;
  for (let each = element; each; each = each.parentElement) {
    opacity *= getComputedStyle(each).opacity;
  }
  while (box && /^rgba\\(.*, 0\\)$/.test(paper)) {
    paper = getComputedStyle(box).backgroundColor; box = box.parentElement;
  }
  const style = getComputedStyle(element);
  const ink = element instanceof SVGElement ? style.fill : style.color;
  found.push([walker.currentNode.textContent.trim().slice(0, 40), ink, paper, opacity]);
}
return found;
"""


@pytest.mark.parametrize(
    ("word", "page"),
    [("lexirecall", "lexirecall"), ("RankAndFilter", "RankAndFilter"), ("bpref", "bpref")],
)
def test_search_finds(browser, address, word, page):
    resize(browser, 1280)
    browser.get(f"{address}search.html?q={word}")
    count = "document.querySelectorAll('#search-results li a').length"
    wait_for(browser, count)
    hrefs = browser.execute_script(
        "return [...document.querySelectorAll('#search-results li a')].map((each) => each.href)"
    )
    assert any(page in href.split("?")[0].split("#")[0] for href in hrefs)


def test_every_measure_page_has_its_formula_and_picture(browser, address):
    pages = sorted((SITE / "measures").glob("*.html"))
    assert len(pages) > 40
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert "<math" in text, path.name
        assert '<div class="pictures">' in text, path.name
        assert ">value</text>" in text, path.name
    browser.get(address + "measures/ap.html")
    height = browser.execute_script("return document.querySelector('math').clientHeight")
    assert height > 20  # Fractions are drawn, and not written in a line.

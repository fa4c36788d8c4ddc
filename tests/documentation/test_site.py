"""The built site in a real browser: it is found by search, fits a phone, and fetches nothing."""

import html
import os
import re
import threading
import time
import tomllib
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

import pytest

from browsers import contrast, luminance, requested, resize
from ndcg_rows import TEXTS, rows_of
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import explain_differences
from skfilterrank.thresholds import CertifiedThreshold

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("SKFILTERRANK_SITE", ROOT / "docs/_build/html"))
if not (SITE / "index.html").is_file():
    reason = "no built site: make site builds it, SKFILTERRANK_SITE names another"
    pytest.skip(reason, allow_module_level=True)
# One of each kind.
PAGES = {
    "landing": "index.html",
    "guide": "getting_started.html",
    "runs": "trec_runs.html",
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


# Code and printed text that a reader would have to scroll.
CLIPPED = """
return [...document.querySelectorAll('article pre')]
  .filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => each.textContent.trim().slice(0, 60));
"""


def pages_to_read():
    """Every page but those of names and of single measures, which a template makes alike."""
    kinds = {"api", "measures", "benchmarks", "_static"}
    paths = sorted(path.relative_to(SITE) for path in SITE.rglob("*.html"))
    few = {Path(page) for page in PAGES.values()}
    return [str(path) for path in paths if path.parts[0] not in kinds or path in few]


@pytest.mark.nightly
def test_no_code_is_clipped_on_a_wide_screen(browser, address):
    resize(browser, 1400)
    clipped = {}
    for page in pages_to_read():
        browser.get(address + page)
        if found := browser.execute_script(CLIPPED):
            clipped[page] = found
    assert clipped == {}


@pytest.mark.nightly
def test_no_page_is_wider_than_a_phone(browser, address):
    resize(browser, 375)
    wide = {}
    for page in pages_to_read():
        browser.get(address + page)
        width = browser.execute_script("return document.documentElement.scrollWidth")
        if width > 375:
            wide[page] = width
    assert wide == {}


@pytest.mark.slow
def test_every_link_within_the_site_leads_somewhere():
    files = {os.path.relpath(path, SITE) for path in SITE.rglob("*") if path.is_file()}
    pages = {name: Path(SITE, name).read_text("utf-8") for name in files if name.endswith(".html")}
    places = {name: set(re.findall(r'\bid="([^"]+)"', text)) for name, text in pages.items()}
    dead = set()
    for name, text in pages.items():
        for link in set(re.findall(r'<a\b[^>]*\bhref="([^"]+)"', text)):
            target, _, place = html.unescape(unquote(link)).partition("#")
            if ":" in target.split("/")[0]:
                continue  # Another site.
            to = os.path.normpath(Path(name).parent / target) if target else name
            if to not in files or (place and place not in places.get(to, {place})):
                dead.add((name, link))
    assert dead == set()


def test_every_page_of_the_gallery_has_a_picture():
    gallery = SITE / "gallery"
    pages = [
        path for path in gallery.rglob("*.html") if path.stem not in ("index", "sg_execution_times")
    ]
    assert pages
    without = [
        str(path.relative_to(gallery))
        for path in pages
        if not re.search(r'<img [^>]*src="[^"]*sphx_glr_', path.read_text(encoding="utf-8"))
    ]
    assert without == []


def test_pages_of_names_show_the_examples_that_use_them():
    """Names that the top of the package has, too, and others."""
    names = ["ranking.RankAndFilter", "thresholds.CertifiedThreshold", "comparison.kendall_tau"]
    for name in names:
        text = (SITE / f"api/skfilterrank.{name}.html").read_text(encoding="utf-8")
        assert f"Examples that use {name.split('.')[1]}" in text, name
    text = (SITE / "api/skfilterrank.ranking.RankAndFilter.html").read_text(encoding="utf-8")
    for method in ("rank", "predict", "score", "decision_function", "get_params"):
        assert re.search(rf">{method}<|RankAndFilter\.{method}\b", text), method


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

# What people search for, and the page that they should find first.
WORDS = {
    word: page
    for page, words in tomllib.loads((ROOT / "docs/search_words.toml").read_text("utf-8")).items()
    for word in words
} | {
    "lexirecall": "measures/lexirecall",
    "bpref": "measures/bpref",
    "RankAndFilter": "api/skfilterrank.ranking.RankAndFilter",
}


@pytest.mark.slow
@pytest.mark.parametrize("word", WORDS)
def test_search_finds_the_page_first(browser, address, word):
    resize(browser, 1280)
    browser.get(f"{address}search.html?q={word}")
    wait_for(browser, "document.querySelectorAll('#search-results li a').length")
    wait_for(
        browser, "/finished|found/.test(document.querySelector('#search-results').textContent)"
    )
    first = browser.execute_script("return document.querySelector('#search-results li a').href")
    assert re.sub(r"\.html.*", "", first.removeprefix(address)) == WORDS[word]


@pytest.mark.slow
@pytest.mark.parametrize(("level", "k", "seed"), [(0.1, 3, 0), (0.2, 2, 1), (0.3, 5, 2)])
def test_the_calculator_finds_the_certified_threshold(browser, address, level, k, seed):
    _, labels, queries, scores = make_rank_and_filter(n_queries=150, random_state=seed)
    expected = CertifiedThreshold({f"any_forbidden@{k}": level}, measure=f"ndcg_f@{k}")
    expected.fit(scores, labels, groups=queries)
    risk = expected.certificate_.risks[f"any_forbidden@{k}"]
    text = "\n".join(map("{}, {}, {!r}".format, queries, labels, scores.tolist()))
    browser.get(address + "calculator.html")
    found = browser.execute_script(
        "const found = calculator.compute(arguments[0], arguments[1]);"
        "return [found.threshold, found.chosen.value, found.chosen.bad / found.n, found.upper]",
        text,
        {"k": k, "level": level, "confidence": 0.95},
    )
    assert found == pytest.approx(
        [expected.threshold_, expected.best_score_, risk.observed, risk.upper_bound]
    )


def test_the_calculator_reads_the_names_of_a_header(browser, address):
    browser.get(address + "calculator.html")
    read = "return calculator.read(arguments[0])"
    rows = [{"label": 2, "score": 0.9}]
    assert browser.execute_script(read, "score,Query ID,label\n0.9,query 1,2") == [rows]
    assert browser.execute_script(read, "query 1, 2, 0.9") == [rows]


def test_the_calculator_shows_what_it_found(browser, address):
    browser.get(address + "calculator.html")
    browser.find_element("css selector", "#calculator button").click()
    output = browser.find_element("id", "calculator-output")
    assert output.text.startswith("With confidence 0.95, the share of queries with a forbidden")
    assert len(output.find_elements("css selector", "polyline")) == 2
    rows = browser.find_element("name", "rows")
    rows.clear()
    rows.send_keys("a, 1, 0.5\nb, good, 0.7")
    browser.find_element("css selector", "#calculator button").click()
    expected = 'Line 2: expected "query, label, score" with two numbers, got "b, good, 0.7".'
    assert output.text == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_the_page_explains_ndcg_as_the_function_does(browser, address, name):
    table = rows_of(name)
    browser.get(address + "ndcg_differences.html")
    for k in (2, None):
        expected = explain_differences(table.label, table.score, table.qid, k=k, docnos=table.docno)
        found = browser.execute_script(
            "return ndcgDifferences.explain(arguments[0], arguments[1])",
            TEXTS[name].replace(";", "\n"),
            k,
        )
        assert [each["tool"] for each in found] == list(expected.index)
        for each, (_, row) in zip(found, expected.iterrows()):
            assert each["reason"] == row.reason
            if not row.reason:
                numbers = {**each, **each["parts"]}
                wanted = row.drop("reason").astype(float).to_dict()
                assert {name: numbers[name] for name in wanted} == pytest.approx(wanted, abs=1e-12)


def test_the_page_shows_what_differs(browser, address):
    browser.get(address + "ndcg_differences.html")
    output = browser.find_element("id", "ndcg-differences-output")
    rows = [row.text for row in output.find_elements("css selector", "tbody tr")]
    assert [row for row in rows if row.startswith(("skfilterrank", "trec_eval", "BEIR"))] == SHOWN
    assert len(rows) == 10
    text, button = browser.find_element("name", "rows"), "#ndcg-differences button"
    for written, message in MESSAGES.items():
        text.clear()
        text.send_keys(written)
        browser.find_element("css selector", button).click()
        assert output.text == message


SHOWN = [
    "skfilterrank 0.3816 0",
    "trec_eval 0.3499 −0.0317 ties −0.0317",
    "BEIR 0.4932 +0.1116 own document +0.1199\nties −0.0317\nseveral together +0.0234",
]
MESSAGES = {
    "qid, docno, score, label\nq, a, 0.5, good": 'Line 2: expected "query, document, score, label" '
    'with two numbers, got "q, a, 0.5, good".',
    "q, a, 1, 0.5\n\nq, a, 2, 0.4": 'Line 3: document "a" is twice in query "q". Keep one row of '
    "each document.",
    "query, doc, label, score": "There are no rows. Paste lines such as "
    '"query 1, doc 7, 2, 0.93", one for each document.',
    "qid,docno,rank,score\nq,a,1,0.5": "Line 1: expected the names query, document, label and "
    'score, each once and in any order, got "rank". Rename columns or remove them.',
    "qid docno relevance label\nq a 1 0.5": "Line 1: expected the names query, document, label and "
    'score, each once and in any order, got "qid, docno, relevance, label". Rename columns or '
    "remove them.",
}


@pytest.mark.parametrize(
    "text",
    [
        "query 1, doc 7, 2, 0.93\nquery 1, doc 8, 0, 0.5",
        "qid,docno,score,label\nquery 1,doc 7,0.93,2\nquery 1,doc 8,0.5,0",
        "Relevance\tSCORE\tDoc_ID\tquery\n2\t0.93\tdoc 7\tquery 1\n0\t0.5\tdoc 8\tquery 1",
    ],
)
def test_the_page_reads_names_with_blanks_and_columns_in_any_order(browser, address, text):
    browser.get(address + "ndcg_differences.html")
    found = browser.execute_script("return ndcgDifferences.read(arguments[0])", text)
    rows = [
        {"docno": "doc 7", "label": 2, "score": 0.93},
        {"docno": "doc 8", "label": 0, "score": 0.5},
    ]
    assert found == [[{**row, "own": False} for row in rows]]


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

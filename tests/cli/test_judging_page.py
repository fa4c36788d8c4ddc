"""The page to judge on: its text, and how people work on it in a real browser."""

import json
import re
import sys
from html.parser import HTMLParser

import pandas as pd
import pytest

from browsers import contrast, requested, resize
from skfilterrank.cli.select import write_page
from skfilterrank.exceptions import InputError, MissingPackageError
from skfilterrank.io import read_qrels

pytest.importorskip("jinja2", reason="the page to judge on needs jinja2")

GAINS = {0.0: 0.0, 1.0: 1.0, 2.0: 2.0, -1.0: -1.0}
HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>"
TEXTS = [
    HOSTILE,
    "שלום \u202eevil\u202c \u2028 line zero\u200bwidth 😀 {{ 7 * 7 }} <!--",
    "third, 'quoted' \"twice\"\nand of two lines",
    "=HYPERLINK('x')",
]
TABLE = pd.DataFrame(
    {
        "qid": ["q1", "q1", "<i>2", "<i>2"],
        "query": ["what is <script>"] * 2 + ["second query"] * 2,
        "docno": ["d1", "=d2", "<b>&'\"d3", "d,4"],
        "text": TEXTS,
        "inclusion_probability": [0.1234567890123, 1.0, 0.5, 0.25],
        "label": [None] * 4,
    }
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The page of texts that a browser might take for something else."""
    path = tmp_path_factory.mktemp("page") / "judge.html"
    write_page(path, TABLE, GAINS)
    return path


class Elements(HTMLParser):
    """Tags with their attributes, and the data of the page."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.data = [], ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags[-1:] == [("script", {"id": "table", "type": "application/json"})]:
            self.data += data


def test_any_text_stays_text_and_nothing_is_fetched(path):
    page = Elements(path)
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert not {"img", "link", "iframe", "i", "b"} & {tag for tag, _ in page.tags}
    assert not any({"src", "href", "style"} & attrs.keys() for _, attrs in page.tags)
    table = json.loads(page.data)
    assert table["columns"] == list(TABLE)
    assert [row[3] for row in table["rows"]] == TEXTS
    assert table["rows"][0][4:] == ["0.1234567890123", ""]


@pytest.mark.parametrize(
    ("labels", "keys"),
    [
        ([0.0, 1.0, 2.0], "012"),
        ([-1.0, 0.0, -2.0, 0.5, 10.0], "-0123"),
        (["no", "yes", "unsure", "nearly"], "ny12"),
    ],
)
def test_keys_of_labels(tmp_path, labels, keys):
    write_page(tmp_path / "p", TABLE, dict.fromkeys(labels, 1.0))
    found = json.loads(Elements(tmp_path / "p").data)["labels"]
    names = [each if isinstance(each, str) else f"{each:g}" for each in labels]
    assert found == [list(pair) for pair in zip(names, keys)]


def test_more_labels_than_keys(tmp_path):
    with pytest.raises(InputError, match="there are keys for 35 labels, got 40"):
        write_page(tmp_path / "p", TABLE, dict.fromkeys(map(float, range(40)), 1.0))
    assert list(tmp_path.iterdir()) == []


def test_without_jinja2(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "skfilterrank._files.pages", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'skfilterrank\[report\]'"):
        write_page(tmp_path / "page.html", TABLE, None)
    assert list(tmp_path.iterdir()) == []


def opened(browser, path):
    """The page, freshly opened without any labels."""
    resize(browser, 1280)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(path.as_uri())
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    return browser


def press(page, *keys):
    for key in keys:
        page.find_element("id", "document").send_keys(key)


def shown(page, key):
    return page.find_element("id", key).text


def saved(page, folder):
    """The table that the page downloads into a folder."""
    from selenium.webdriver.support.ui import WebDriverWait

    behavior = {"behavior": "allow", "downloadPath": str(folder)}
    page.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
    page.find_element("id", "save").click()
    WebDriverWait(page, 10).until(lambda _: list(folder.glob("*.csv")))
    (found,) = folder.glob("*.csv")
    return found


@pytest.mark.nightly
class TestBrowser:
    def test_hostile_texts_are_shown_and_nothing_is_asked_for(self, browser, path, tmp_path):
        page = opened(browser, path)
        assert shown(page, "text") == HOSTILE
        assert shown(page, "query") == "what is <script>"
        press(page, "0")
        assert page.find_element("id", "text").get_attribute("textContent") == TEXTS[1]
        assert shown(page, "docno") == "=d2"
        saved(page, tmp_path)
        assert page.execute_script("return window.broken") is None
        assert page.get_log("browser") == []
        asked = {url for url in requested(page) if not url.startswith(("blob", "chrome", "data"))}
        assert asked == {path.as_uri()}

    def test_the_policy_blocks_an_injected_script_style_and_request(self, browser, path):
        page = opened(browser, path)
        page.execute_script("""
            const script = document.createElement("script");
            script.textContent = "window.broken = 3";
            const style = document.createElement("style");
            style.textContent = "body { display: none }";
            const image = new Image();
            image.src = "https://example.org/x.png";
            document.body.append(script, style, image);
        """)
        fetched = page.execute_async_script(
            "fetch('https://example.org/').then(() => 'sent', (e) => e.name).then(arguments[0])"
        )
        assert fetched == "TypeError"
        assert page.execute_script("return window.broken") is None
        assert page.find_element("tag name", "body").is_displayed()
        blocked = " ".join(entry["message"] for entry in page.get_log("browser"))
        for directive in ("script-src", "style-src", "img-src", "connect-src"):
            assert re.search(f"{directive}|default-src", blocked), blocked
        assert blocked.count("Content Security Policy") >= 4
        events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
        of_other = [
            event["params"]
            for event in events
            if "example.org" in event["params"].get("request", {}).get("url", "")
        ]
        stopped = {
            event["params"]["requestId"]
            for event in events
            if event["params"].get("blockedReason") == "csp"
        }
        assert {params["requestId"] for params in of_other} <= stopped

    def test_saved_labels_are_a_table_for_every_reader(self, browser, path, tmp_path):
        page = opened(browser, path)
        press(page, "2", "-")
        assert shown(page, "progress") == "2 of 4 judged"
        assert "third" in shown(page, "text")
        press(page, "0")
        table = saved(page, tmp_path)
        assert table.name == "judge.csv"
        qrels = read_qrels(table, unjudged_label=None)
        assert qrels[["qid", "docno"]].equals(TABLE[["qid", "docno"]].astype(qrels["qid"].dtype))
        assert qrels["label"].tolist()[:3] == [2, -1, 0]
        assert qrels["label"].isna().tolist() == [False, False, False, True]
        drawn = TABLE["inclusion_probability"].tolist()
        assert read_qrels(table)["inclusion_probability"].tolist() == drawn
        cells = pd.read_csv(table, dtype=str, keep_default_na=False)
        assert list(cells) == list(TABLE)
        assert cells["text"].tolist() == [*TEXTS[:3], f"'{TEXTS[3]}"]

    def test_undo_and_walking(self, browser, path):
        from selenium.webdriver.common.keys import Keys

        page = opened(browser, path)
        press(page, Keys.ARROW_LEFT)
        assert shown(page, "status") == "This is the first document."
        press(page, "1", "2")
        assert shown(page, "place") == "Document 3 of 4"
        press(page, "u")
        assert (shown(page, "place"), shown(page, "progress")) == (
            "Document 2 of 4",
            "1 of 4 judged",
        )
        press(page, "u")
        assert (shown(page, "place"), shown(page, "progress")) == (
            "Document 1 of 4",
            "0 of 4 judged",
        )
        assert not page.find_element("id", "undo").is_enabled()
        # Another label in place of one, and the next document without a label.
        press(page, "1", Keys.ARROW_LEFT, "0")
        assert shown(page, "place") == "Document 2 of 4"
        press(page, Keys.ARROW_LEFT)
        (pressed,) = page.find_elements("css selector", "[aria-pressed=true]")
        assert pressed.get_attribute("value") == "0"
        press(page, "0", "0", "0", "0")
        assert shown(page, "status") == "Label 0. All is judged. Save the labels."
        page.find_element("id", "next").click()
        assert shown(page, "status") == "This is the last document."

    def test_labels_are_kept_for_each_name_of_the_page(self, browser, path, tmp_path):
        page = opened(browser, path)
        press(page, "2")
        page.refresh()
        assert (shown(page, "place"), shown(page, "progress")) == (
            "Document 2 of 4",
            "1 of 4 judged",
        )
        # A second assessor gets a copy; another folder changes nothing.
        bob = tmp_path / "bob.html"
        bob.write_bytes(path.read_bytes())
        page.get(bob.as_uri())
        assert shown(page, "progress") == "0 of 4 judged"
        moved = tmp_path / "judge.html"
        moved.write_bytes(path.read_bytes())
        page.get(moved.as_uri())
        assert shown(page, "progress") == "1 of 4 judged"
        page.get(bob.as_uri())
        assert saved(page, tmp_path).name == "bob.csv"

    def test_labels_that_are_there_already(self, browser, tmp_path):
        path = tmp_path / "more.html"
        write_page(path, TABLE.assign(label=["yes", None, "no", None]), {"no": 0.0, "yes": 1.0})
        page = opened(browser, path)
        assert shown(page, "progress") == "2 of 4 judged"
        press(page, "n")
        assert shown(page, "place") == "Document 2 of 4"
        found = read_qrels(saved(page, tmp_path), gains={"no": 0, "yes": 1})["label"]
        assert found.tolist()[::2] == [0, 0]

    def test_a_browser_that_keeps_nothing_is_told(self, browser, path):
        page = opened(browser, path)
        page.execute_script("Storage.prototype.setItem = () => { throw new Error('full'); }")
        press(page, "1")
        assert "This browser keeps no labels: save them" in shown(page, "status")

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_colors_can_be_read_on_a_narrow_screen(self, browser, path, scheme):
        page = opened(browser, path)
        resize(page, 360)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        width = page.execute_script("return document.documentElement.scrollWidth")
        assert width <= 360
        for selector in ("body", ".soft", "#labels button", "article"):
            ink, paper = page.execute_script(
                """let node = document.querySelector(arguments[0]);
                const ink = getComputedStyle(node).color;
                while (getComputedStyle(node).backgroundColor === "rgba(0, 0, 0, 0)") {
                  node = node.parentElement;
                }
                return [ink, getComputedStyle(node).backgroundColor];""",
                selector,
            )
            assert contrast(ink, paper) > 4.5, selector

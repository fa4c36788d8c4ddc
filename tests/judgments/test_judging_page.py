"""The page to judge on: its text, and how two assessors work on it in a real browser."""

import json
import re
import sys
from html.parser import HTMLParser

import pandas as pd
import pytest

from browsers import contrast, requested, resize, start_browser
from public_data import data_set
from skfilterrank.exceptions import InputError, MissingPackageError
from skfilterrank.io import read_qrels
from skfilterrank.judgments import (
    PriorSelector,
    judge,
    merge_answers,
    read_judging_answers,
    write_judging_tasks,
)
from skfilterrank.judgments._judgment_log import read_judgment_log

pytest.importorskip("jinja2", reason="the page to judge on needs jinja2")

GRADES = {0: "no", 1: "related", 2: "highly", -1: "forbidden"}
HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>"
TEXTS = {
    "d1": HOSTILE,
    "d2": "שלום \u202eevil\u202c \u2028 line \x00 zero\u200bwidth 😀 {{ 7 * 7 }} \ud800 <!--",
    "<b>&'\"d3": "third, 'quoted'\nand of two lines",
    "d4": "fourth",
}
POOL = pd.DataFrame({"qid": ["q1", "q1", "<i>2", "<i>2"], "docno": list(TEXTS)})
QUERIES = {"q1": "what is <script>", "<i>2": "second query"}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The page of texts that a browser might take for something else."""
    path = tmp_path_factory.mktemp("page") / "judge.html"
    write_judging_tasks(path, POOL, TEXTS, queries=QUERIES, grades=GRADES, title="A <b>pool")
    return path


class Elements(HTMLParser):
    """Tags with their attributes, and the data of the page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.pool = [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags[-1:] == [("script", {"id": "pool", "type": "application/json"})]:
            self.pool += data


def test_any_text_stays_text_and_nothing_is_fetched(path):
    page = Elements(path.read_text(encoding="utf-8"))
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert not {"img", "link", "iframe", "i", "b"} & {tag for tag, _ in page.tags}
    assert not any({"src", "href", "style"} & attrs.keys() for _, attrs in page.tags)
    documents = json.loads(page.pool)["documents"]
    texts = [text.replace("\ud800", "\ufffd") for text in TEXTS.values()]
    assert documents == [{"id": key, "texts": [text]} for key, text in zip(TEXTS, texts)]


def test_machine_labels_are_in_the_file_only_where_asked_for(path, tmp_path):
    machine = POOL.assign(label=[2.0, float("nan"), -1.0, 0.5])
    other = tmp_path / "page.html"
    write_judging_tasks(other, POOL, TEXTS, grades=GRADES, machine_labels=machine)
    found = [
        json.loads(Elements(each.read_text(encoding="utf-8")).pool).get("machine")
        for each in (path, other)
    ]
    assert found == [None, ["2", None, "-1", "0.5"]]


def test_keys_of_grades(tmp_path):
    write_judging_tasks(tmp_path / "p", POOL, TEXTS, grades=[-2, -1, 0, 0.5, 9, 10])
    grades = json.loads(Elements((tmp_path / "p").read_text()).pool)["grades"]
    assert [grade["key"] for grade in grades] == ["a", "-", "0", "c", "9", "d"]
    with pytest.raises(InputError, match="at most one for each key, got 30"):
        write_judging_tasks(tmp_path / "p", POOL, TEXTS, grades=range(10, 40))


def test_a_thousand_passages_take_less_than_5_mb(tmp_path):
    # Half of the size that a passage of MS MARCO has at most, in letters of three bytes each.
    texts = {str(number): f"{number} " + "字 'q'" * 200 for number in range(1000)}
    pool = pd.DataFrame({"qid": [str(n % 40) for n in range(1000)], "docno": list(texts)})
    write_judging_tasks(tmp_path / "page.html", pool, texts)
    assert 1e6 < (tmp_path / "page.html").stat().st_size < 5e6


def test_without_jinja2(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "skfilterrank._files.pages", raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'skfilterrank\[report\]'"):
        write_judging_tasks(tmp_path / "page.html", POOL, TEXTS)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser without a window; the tests are skipped where there is none."""
    found = start_browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.quit()


def opened(browser, path):
    """The page, freshly opened without any answers."""
    resize(browser, 1280)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(path.as_uri())
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    return browser


def press(page, keys):
    from selenium.webdriver.common.by import By

    for key in keys:
        page.find_element(By.ID, "document").send_keys(key)


def name(page, text):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    field = page.find_element(By.ID, "assessor")
    field.clear()
    field.send_keys(text, Keys.TAB)


def shown(page, key):
    from selenium.webdriver.common.by import By

    return page.find_element(By.ID, key).text


def wait_for(page, key, text):
    """Let the page take the keys that were sent before it is left."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page, 20).until(lambda page: shown(page, key) == text)


def asked_for(page):
    """Addresses of files and of the network that were asked for."""
    # The page that the browser begins with has addresses of chrome: and data:, the log of blob:.
    return {url for url in requested(page) if not url.startswith(("blob:", "chrome:", "data:"))}


def saved(page, folder):
    """The log that the page downloads into a folder."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    behavior = {"behavior": "allow", "downloadPath": str(folder)}
    page.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
    page.find_element(By.ID, "save").click()
    WebDriverWait(page, 10).until(lambda _: list(folder.glob("*.log")))
    (found,) = folder.glob("*.log")
    return found


@pytest.mark.nightly
class TestBrowser:
    def test_hostile_texts_are_shown_and_nothing_is_asked_for(self, browser, path, tmp_path):
        page = opened(browser, path)
        assert shown(page, "text") == HOSTILE
        assert shown(page, "query") == QUERIES["q1"]
        name(page, "anna")
        press(page, "0")
        assert page.find_element("id", "text").get_attribute("textContent").startswith("שלום")
        press(page, "nn")
        saved(page, tmp_path)
        assert page.execute_script("return window.broken") is None
        assert page.get_log("browser") == []
        assert asked_for(page) == {path.as_uri()}

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
        stopped = {
            event["params"]["requestId"]
            for event in events
            if event["params"].get("blockedReason") == "csp"
        }
        asked = {
            event["params"]["requestId"]
            for event in events
            if "example.org" in event["params"].get("request", {}).get("url", "")
        }
        assert asked <= stopped

    def test_keys_notes_undo_and_second_look(self, browser, path, tmp_path):
        page = opened(browser, path)
        press(page, "1")
        assert "Write your name first" in shown(page, "status")
        name(page, "anna")
        press(page, "1")
        assert shown(page, "docno") == "d2"
        press(page, "m2")
        press(page, "-")
        assert shown(page, "progress") == "3 of 4 judged, 1 marked"
        assert shown(page, "docno") == "d4"
        press(page, "u")
        assert (shown(page, "docno"), shown(page, "progress")[:1]) == ("<b>&'\"d3", "2")
        # Second look: only the marked one is walked, and its grade is changed.
        press(page, "v")
        assert shown(page, "docno") == "d2"
        press(page, "0")
        pressed = page.find_element("css selector", "#grades [aria-pressed=true]")
        assert pressed.text == "0 0 no"
        press(page, "v")
        # A letter in a note is no command, and a note without a grade is kept.
        press(page, "n")
        press(page, "e")
        note = page.switch_to.active_element
        note.send_keys("un-sure 1 ")
        page.refresh()  # before the note is left
        assert shown(page, "docno") == "<b>&'\"d3"
        assert page.find_element("id", "note").get_attribute("value") == "un-sure 1"
        log = saved(page, tmp_path)
        assert log.name == "anna.txt.log"
        answers = read_judging_answers(log, grades=GRADES)
        assert answers.astype(object).where(answers.notna(), None).to_numpy().tolist() == [
            ["q1", "d1", 1.0, "anna", None],
            ["q1", "d2", 0.0, "anna", None],
            ["<i>2", "<b>&'\"d3", None, "anna", "un-sure 1"],
        ]

    def test_answers_of_each_name_are_kept_apart(self, browser, path):
        page = opened(browser, path)
        page.find_element("id", "note").send_keys("before the name")
        name(page, "anna")
        press(page, "01")
        name(page, "bob")
        assert shown(page, "progress") == "0 of 4 judged, 0 marked"
        assert page.find_element("id", "note").get_attribute("value") == ""
        press(page, "2")
        name(page, "anna")
        assert shown(page, "progress") == "2 of 4 judged, 0 marked"
        press(page, "pp")
        assert page.find_element("id", "note").get_attribute("value") == "before the name"

    def test_jump_to_a_query(self, browser, path):
        from selenium.webdriver.support.ui import Select

        page = opened(browser, path)
        choice = Select(page.find_element("id", "queries"))
        assert [each.text for each in choice.options] == [
            "q1: what is <script>",
            "<i>2: second query",
        ]
        choice.select_by_index(1)
        assert (shown(page, "qid"), shown(page, "docno")) == ("<i>2", "<b>&'\"d3")

    def test_machine_labels_are_shown_after_the_answer(self, browser, tmp_path):
        machine = POOL.assign(label=[2.0, float("nan"), -1.0, 0.5])
        other = tmp_path / "page.html"
        write_judging_tasks(other, POOL, TEXTS, assessor_name="anna", machine_labels=machine)
        page = opened(browser, other)
        assert not page.find_element("id", "machine").is_displayed()
        press(page, "1")
        assert shown(page, "machine") == "Label of a machine: 2"

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_everything_has_a_name_and_can_be_read(self, browser, path, scheme):
        page = opened(browser, path)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        name(page, "anna")
        press(page, "1p")
        assert page.switch_to.active_element.get_attribute("id") == "document"
        paper = page.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
        script = "const s = getComputedStyle(arguments[0]); return [s.color, s.backgroundColor]"
        for element in page.find_elements("css selector", "button:enabled, select, textarea"):
            assert element.accessible_name
            assert contrast(*page.execute_script(script, element)) >= 4.5
        page.find_element("css selector", "summary").click()
        for element in page.find_elements("css selector", "input, progress"):
            assert element.accessible_name, element.get_attribute("outerHTML")
        soft = page.find_element("css selector", "section .soft")
        assert contrast(page.execute_script(script, soft)[0], paper) >= 4.5
        assert page.find_element("id", "status").get_attribute("aria-live") == "polite"
        resize(page, 400)
        assert page.execute_script("return document.documentElement.scrollWidth") <= 400

    def test_two_assessors_of_passages(self, tmp_path):
        folder = data_set("trec-dl2019-llm")
        texts = pd.read_json(folder / "docs.jsonl.gz", lines=True, dtype=str)
        texts = texts.set_index("docno")["text"]
        queries = pd.read_json(folder / "topics.jsonl", lines=True, dtype=str)
        queries = queries.set_index("qid")["query"]
        qrels = read_qrels(folder / "qrels.txt.gz")
        qrels = qrels[qrels["docno"].isin(texts.index)].groupby("qid", sort=False).head(4).head(12)
        pool = pd.MultiIndex.from_frame(qrels[["qid", "docno"]])
        path = tmp_path / "judge.html"
        write_judging_tasks(path, pool, texts, queries=queries, grades=[0, 1, 2, 3])
        truth = qrels["label"].astype(int).tolist()
        # Bob finds the third and the eighth passage a grade better, or worse.
        other = [each + (1 if each < 3 else -1) * (at in (2, 7)) for at, each in enumerate(truth)]
        logs = {}
        for who, labels in {"anna": truth, "bob": other}.items():
            browser = start_browser(tmp_path / f"profile-{who}")
            try:
                browser.get(path.as_uri())
                assert shown(browser, "text").split() == texts[pool[0][1]].split()
                name(browser, who)
                press(browser, "".join(map(str, labels[:5])))
                wait_for(browser, "progress", "5 of 12 judged, 0 marked")
                browser.refresh()
                assert shown(browser, "progress") == "5 of 12 judged, 0 marked"
                assert browser.find_element("id", "assessor").get_attribute("value") == who
                press(browser, "".join(map(str, labels[5:])))
                assert "All is judged" in shown(browser, "status")
                (tmp_path / who).mkdir()
                logs[who] = saved(browser, tmp_path / who)
                assert asked_for(browser) == {path.as_uri()}
            finally:
                browser.quit()
        assert read_judgment_log(logs["bob"])["label"].tolist() == other
        merged = merge_answers(logs)
        assert len(merged.answers) == 24
        assert merged.agreement.pairs["agreement"].tolist() == [10 / 12]
        assert 0 < merged.agreement.krippendorff_alpha < 1
        assert merged.conflicts[["docno", "assessor"]].to_numpy().tolist() == [
            [pool[at][1], who] for at in (2, 7) for who in ("anna", "bob")
        ]
        assert len(merged.qrels) == 10
        # The command goes on behind the log: nothing is left to ask.
        asked = []
        selector = PriorSelector().fit([[0]] * 12, groups=pool.get_level_values(0), prior=[1] * 12)
        again = judge(
            selector, asked.append, log=logs["anna"], pool=pool, grades=dict.fromkeys(range(4), "")
        )
        assert (asked, again["label"].tolist()) == ([], truth)

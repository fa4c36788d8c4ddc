"""The page of a certificate, to print and to sign."""

import base64
import hashlib
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("jinja2")

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError, MissingPackageError
from skfilterrank.thresholds import (
    CertifiedThreshold,
    RiskMonitor,
    load_threshold,
    risk_certificate,
)

RISKS = {"any_forbidden@3": 0.3, "empty_list_rate": 0.7}


@pytest.fixture(scope="module")
def rows():
    """Labels, some of machines and some missing, scores and queries."""
    _, y, groups, scores = make_rank_and_filter(400, random_state=1)
    y = y.astype(float)
    y[3::40] = np.nan
    return y, scores, groups, np.where(np.arange(len(y)) % 5, "people", "gpt")


@pytest.fixture(scope="module")
def model(rows):
    """A threshold with a certificate of two risks, over users, among the answered queries."""
    y, scores, groups, judges = rows
    with pytest.warns(match="unjudged"):
        return CertifiedThreshold(RISKS, among="answered").fit(
            scores, y, groups=groups, clusters=pd.Series(groups // 2, name="user"),
            judged_by=judges,
        )  # fmt: skip


class _Texts(HTMLParser):
    """Texts of a page, section by section, and what opens it."""

    def __init__(self, page):
        super().__init__()
        self.sections, self.opened, self._now = {}, [], "head"
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.opened.append((tag, dict(attrs)))
        if tag == "section":
            self._now = dict(attrs)["id"]

    def handle_data(self, data):
        self.sections[self._now] = self.sections.get(self._now, "") + data


def texts(page):
    return {name: " ".join(text.split()) for name, text in _Texts(page).sections.items()}


def test_what_is_promised_on_what(model, rows):
    y, scores, groups, judges = rows
    certificate = model.certificate_
    found = texts(certificate.to_html(notes={"Dates": "May 2026"}))
    assert "With a confidence of 95 %, each of these rates is at most its level" in found["promise"]
    for name, promise in certificate.promises.items():
        assert name in found["promise"]
        assert f"{promise.observed:.4f}{promise.upper_bound:.4f}" in found["promise"]
    assert f"score of {certificate.threshold:.6g} or more are shown, at most 3" in found["shown"]
    shown = model.predict(scores, groups=groups) > -np.inf
    assert f"{100 * (1 - shown.mean()):.3g} % of the documents" in found["shown"]
    share = pd.Series(shown).groupby(groups).any().mean()  # users have two queries each
    assert f"{100 * share:.3g} % of the queries are shown something (" in found["shown"]
    n_machine = np.sum((judges == "gpt") & ~np.isnan(y))
    n_people = np.sum((judges == "people") & ~np.isnan(y))
    assert f"{n_people} of people, {n_machine} of machines; " in found["data"]
    assert f"{certificate.n_unjudged} documents without a label could change" in found["data"]
    assert "400, of 200 users, each of which counts once" in found["data"]
    assert "Dates May 2026" in re.sub(r"(Dates)", r"\1 ", found["data"])
    assert "Segmentnot stated: all queries together" in found["data"]
    assert f"machines gave {n_machine} labels" in found["limits"]
    assert "5 % may leave a rate above its level" in found["limits"]
    assert "Documents after the first 3 of a list." in found["limits"]
    assert "Learn then Test" in found["made"]
    assert "No monitor is attached" in found["monitor"]
    assert "Name" in found["signature"]


def test_a_file_of_the_threshold_gives_the_same_page(model, tmp_path):
    model.save(tmp_path / "t.json")
    page = load_threshold(tmp_path / "t.json").certificate_.to_html()
    assert page == model.certificate_.to_html()
    assert model.certificate_.to_html(path=tmp_path / "card.html") is None
    assert (tmp_path / "card.html").read_text(encoding="utf-8") == page


def test_a_threshold_that_was_given_has_verdicts(rows):
    y, scores, groups, _ = rows
    found = risk_certificate(y, scores, 0.5, groups=groups, risks={"any_forbidden@3": 0.01})
    page = texts(found.to_html())
    assert "A threshold that was given was tested" in page["promise"]
    assert "broken" in page["promise"]
    assert page["made"].startswith("How it was made Exact binomial tests")


def test_the_state_of_a_monitor(model):
    with pytest.raises(InputError, match="monitor counts all queries, and the certificate answ"):
        model.certificate_.to_html(monitor=RiskMonitor(RISKS))
    monitor = RiskMonitor(RISKS, among="answered")
    page = texts(model.certificate_.to_html())["monitor"]
    assert "The command skfilterrank monitor tests on new judged queries" in page
    page = texts(model.certificate_.to_html(monitor=monitor))["monitor"]
    assert "No alarm" in page
    bad = np.tile([-1.0, 1.0], 60)
    monitor.update(bad, np.ones(120), groups=np.arange(120) // 2)
    opened = _Texts(model.certificate_.to_html(monitor=monitor)).opened
    assert ("p", {"class": "alarm"}) in opened
    assert "Machines gave" not in texts(model.certificate_.to_html(monitor=monitor))["monitor"]
    monitor.update([1], [1], groups=["new"], judged_by=["llm"])
    page = texts(model.certificate_.to_html(monitor=monitor))["monitor"]
    assert "Machines gave 1 label of these queries: the rates and the guarantee" in page
    other = RiskMonitor({"any_forbidden@3": 0.2, "empty_list_rate": 0.7}, among="answered")
    with pytest.raises(InputError, match=r"monitor watches \('any_forbidden@3', 0.2\)"):
        model.certificate_.to_html(monitor=other)


def test_names_cannot_open_elements(rows):
    y, scores, groups, _ = rows

    def loss(y_true, shown, groups):
        return np.bincount(groups, shown & (y_true < 0)) > 0

    loss.__name__ = "<script>alert(1)</script>"
    with pytest.warns(match="unjudged"):
        found = CertifiedThreshold({loss: 0.4}).fit(
            scores, y, groups=groups, clusters=pd.Series(groups // 2, name="<img src=x>")
        )
    page = found.certificate_.to_html(notes={"<b>": "\u202e<i>"})
    opened = _Texts(page).opened
    assert not {"script", "img", "b", "i", "link"} & {tag for tag, _ in opened}
    assert "\u202e" not in page
    assert "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>" in page


def test_nothing_may_be_fetched_or_run(model):
    page = model.certificate_.to_html()
    (policy,) = [
        attrs["content"]
        for tag, attrs in _Texts(page).opened
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    style = re.search(r"<style>(.*?)</style>", page, flags=re.S)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'"
    assert not [attrs for _, attrs in _Texts(page).opened if {"src", "href", "style"} & set(attrs)]


@pytest.mark.parametrize("notes", ["May", {"Dates": 5}, {1: "a"}])
def test_notes_are_texts(model, notes):
    with pytest.raises(InputError, match="notes must be a dict of texts by their names"):
        model.certificate_.to_html(notes=notes)


def test_without_jinja2(model, monkeypatch):
    for name in ("jinja2", "skfilterrank._files.pages"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingPackageError, match=r"needs jinja2.*skfilterrank\[report\]"):
        model.certificate_.to_html()


@pytest.mark.nightly
def test_nothing_is_fetched_and_it_prints_on_one_sheet(model, tmp_path):
    pytest.importorskip("selenium", reason="driving a browser needs selenium")
    from browsers import requested, resize, start_browser

    model.certificate_.to_html(
        path=tmp_path / "card.html", monitor=RiskMonitor(RISKS, among="answered")
    )
    address = (tmp_path / "card.html").as_uri()
    browser = start_browser(tmp_path / "profile")
    try:
        resize(browser, 1280)
        browser.get_log("performance")
        browser.get_log("browser")
        browser.get(address)
        assert browser.title == "A promise about what is shown"
        # The policy lets the style of the page through.
        assert browser.get_log("browser") == []
        color = "return getComputedStyle(document.querySelector('footer')).color"
        assert browser.execute_script(color) == "rgb(89, 99, 110)"
        assert all(url == address for url in requested(browser))
        printed = base64.b64decode(browser.print_page())
        assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
        resize(browser, 360)
        width = "return document.documentElement.scrollWidth"
        assert browser.execute_script(width) <= 360
    finally:
        browser.quit()

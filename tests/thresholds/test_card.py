"""The page of a certificate, to print and to sign."""

import base64
import hashlib
import html
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("jinja2")


from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError, MissingPackageError
from skfilterrank.thresholds import (
    CertifiedThreshold,
    by_machines,
    load_threshold,
    risk_certificate,
)
from skfilterrank.thresholds._certificate import RiskBound

pytestmark = pytest.mark.filterwarnings("ignore:.* left out of")

RISKS = {"any_forbidden@3": 0.3, "empty_list_rate": 0.7}


@pytest.fixture(scope="module")
def rows():
    """Labels, some of machines and some missing, scores and queries."""
    _, y, groups, scores = make_rank_and_filter(400, random_state=1)
    y = y.astype(float)
    y[3::40] = np.nan
    return y, scores, groups


@pytest.fixture(scope="module")
def model(rows):
    """A threshold with a certificate of two risks, over users, among the answered queries."""
    y, scores, groups = rows
    safe = CertifiedThreshold(RISKS, among="answered")
    with pytest.warns(match="unjudged"):
        safe.fit(scores, y, groups=groups, clusters=pd.Series(groups // 2, name="user"))
    safe.certificate_ = safe.certificate_.with_conditions(by_machines(7))
    return safe


class _Opened(HTMLParser):
    """What opens the elements of a page."""

    def __init__(self, page):
        super().__init__()
        self.opened = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.opened.append((tag, dict(attrs)))


def text_of(page):
    """The texts of a page in one line."""
    page = re.sub(r"<style>.*?</style>|</?(bdi|strong)>", "", page, flags=re.S)
    return html.unescape(" ".join(re.sub(r"<[^>]*>", " ", page).split()))


def test_what_is_certified_on_what(model, rows):
    y, scores, groups = rows
    certificate = model.certificate_
    found = text_of(certificate.to_html(notes={"Dates": "May 2026"}))
    assert certificate.statement() in found
    for name, risk in certificate.risks.items():
        assert f"{name} {risk.max_risk:g} {risk.observed:.4f} {risk.upper_bound:.4f}" in found
    for condition in certificate.conditions:
        assert condition.sentence in found
    shown = model.predict(scores, groups=groups) > -np.inf
    assert f"{100 * (1 - shown.mean()):.3g} % of the documents are hidden" in found
    share = pd.Series(shown).groupby(groups).any().mean()  # users have two queries each
    assert f"Something is shown for {100 * share:.1f} % of the queries (" in found
    assert f"400 queries with {np.sum(~np.isnan(y)):,} labels" in found
    assert "Machines gave 7 labels of these judgments" in found
    assert f"as not forbidden: {certificate.facts['n_unjudged']} documents" in found
    assert "Each user counts once, with the mean of its queries (200 users)" in found
    assert "Dates: May 2026" in found
    assert "Segment: not stated: all queries together" in found
    assert "5 % may leave a risk above its level" in found
    assert "covers lists that show at most 3 documents" in found
    assert "Learn then Test" in found
    assert "The command skfilterrank monitor" in found


def test_a_file_of_the_threshold_gives_the_same_page(model, tmp_path):
    model.save(tmp_path / "t.json")
    page = load_threshold(tmp_path / "t.json").certificate_.to_html()
    assert page == model.certificate_.to_html()
    assert model.certificate_.to_html(path=tmp_path / "card.html") is None
    assert (tmp_path / "card.html").read_text(encoding="utf-8") == page


def test_a_card_of_another_threshold_can_be_told_from_the_file(model, tmp_path):
    other = replace(model.certificate_, threshold=model.certificate_.threshold + 1e-9)
    model.save(tmp_path / "t.json")
    saved = json.loads((tmp_path / "t.json").read_text())["certificate_digest"]
    loaded = load_threshold(tmp_path / "t.json").certificate_
    assert saved == loaded.digest
    assert loaded == model.certificate_ == replace(loaded) != other
    assert len({loaded, model.certificate_, other}) == 2
    assert loaded != replace(loaded, confidence_level=0.5)
    assert loaded != saved
    assert f"Certificate {saved}: " in model.certificate_.to_html()
    assert f"Certificate {saved}: " not in other.to_html()


def test_a_threshold_that_was_given_has_verdicts(rows):
    y, scores, groups = rows
    found = risk_certificate(y, scores, 0.5, groups=groups, risks={"any_forbidden@3": 0.01})
    page = text_of(found.to_html())
    assert page.startswith("A test of what is shown")
    assert "queries broken Data and conditions" in page
    assert "How it was made Exact binomial tests" in page


def test_names_cannot_open_elements(rows):
    y, scores, groups = rows

    clusters = pd.Series(groups // 2, name="<img src=x>")
    found = CertifiedThreshold({"any_forbidden": 0.4})
    with pytest.warns(match="unjudged"):
        found.fit(scores, y, groups=groups, clusters=clusters)
    page = found.certificate_.to_html(notes={"<b>": "\u202e<i>"})
    opened = _Opened(page).opened
    assert not {"img", "b", "i", "link"} & {tag for tag, _ in opened}
    assert "\u202e" not in page
    assert "&lt;img src=x&gt;" in page


def test_nothing_may_be_fetched_or_run(model):
    page = model.certificate_.to_html()
    (policy,) = [
        attrs["content"]
        for tag, attrs in _Opened(page).opened
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    style = re.search(r"<style>(.*?)</style>", page, flags=re.S)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'"
    assert not [attrs for _, attrs in _Opened(page).opened if {"src", "href", "style"} & set(attrs)]


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


# Words of each rule and of each confidence.
RULES = {
    "ratio": "Documents are shown whose expected gain is at least {:.6g} times their probability",
    "harm": "Documents with a second score of {:.6g} or less are shown",
}


@pytest.fixture(scope="module")
def unsure_rows():
    """Labels, scores, second scores and queries.

    In one query of 17 all documents are bad, and their scores hardly differ. The others
    have good documents even at lower scores, but not below 0.215.
    """
    rng = np.random.default_rng(0)
    scores = np.array([1.0, 0.5, 0.2, 0.1]) + rng.uniform(0, 0.09, (600, 4))
    y = np.where((rng.random((600, 4)) < 0.05) | (scores < 0.215), -1.0, 1.0)
    is_unsure = np.arange(600) % 17 == 0
    scores[is_unsure], y[is_unsure] = 0.3 + 0.01 * rng.random((is_unsure.sum(), 4)), -1.0
    y, scores, groups = y.ravel(), scores.ravel(), np.repeat(np.arange(600), 4)
    rng.random(len(y))
    return y, scores, rng.normal(-y), groups


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.SkfilterrankWarning")
@pytest.mark.parametrize(
    ("rule", "among", "unit", "has_two"),
    [
        (None, "all", None, True),
        (None, "answered", "family", False),
        ("ratio", "all", None, False),
        ("ratio", "answered", None, True),
        ("harm", "all", "family", False),
        ("harm", "answered", "family", True),
    ],
)
def test_each_form_names_everything(unsure_rows, rule, among, unit, has_two, tmp_path):
    y, scores, second, groups = unsure_rows
    given, read = {}, np.column_stack([scores, second]) if rule else scores
    if unit:
        given["clusters"] = pd.Series(groups // 2, name=unit)
    risks = {"any_forbidden@3": 0.8} | ({"empty_list_rate": 0.97} if has_two else {})
    settings = {"among": among, "confidence_level": 0.9, "rule": rule}
    model = CertifiedThreshold(risks, measure="ndcg_f@3", **settings)
    model.fit(read, y, groups=groups, **given)
    model.save(tmp_path / "t.json")
    for it in (model.certificate_, load_threshold(tmp_path / "t.json").certificate_):
        page, row = text_of(it.to_html()), it.to_frame().loc["any_forbidden@3"]
        told = {"text": str(it), "page": page, "line": repr(it)}
        for is_there, words in _words(it, rule, among, unit, has_two).items():
            for where, each in words:
                assert (each in told[where]) == is_there, (where, each, told[where])
        assert row[["rule", "among", "unit"]].tolist() == [rule, among, unit]
        assert it.threshold == model.level_


def _words(it, own, among, unit, has_two):
    """Return words that each form must have, and words that it must not have."""
    found = {True: [("page", "The command skfilterrank monitor")], False: [("text", "familys")]}

    def both(is_there, words):
        found[bool(is_there)] += [("text", words), ("page", words)]

    for rule, words in RULES.items():
        both(rule == own, words.format(-it.threshold if rule == "harm" else it.threshold))
    both(own, f"at level {it.threshold:.4g} of the rule {own!r}")
    both(not own, f"at threshold {it.threshold:.4g}")
    both(not own, f"Documents with a score of {it.threshold:.6g} or more are shown")
    both(own == "ratio", f"of the rule were learned from {it.facts['n_apart']} other")
    both(True, f"{100 * it.facts['share_answered']:.1f} % of the queries")
    both(among == "answered", "the share of answered queries with a forbidden")
    found[among == "answered"].append(("line", "any_forbidden@3 at most 0.8 among answered"))
    both(True, "With confidence 0.9")
    both(unit, "ounts once, with the mean of its queries")
    both(True, f"on new {'families' if unit else 'queries'}")
    found[True].append(("page", "Segment: not stated: all queries together"))
    both(True, "lists that show at most 3 documents")
    both(has_two, "the share of queries that are shown nothing")
    both(True, "the shown top 3")
    found[True] += [("page", each) for one in it.risks.values() for each in one.figures()]
    return found


@pytest.mark.parametrize(
    ("threshold", "words"),
    [(np.inf, "No document is shown."), (-np.inf, "Every document with a score is shown.")],
)
def test_infinite_thresholds_in_words(rows, threshold, words):
    y, scores, groups = rows
    given = {"groups": groups, "risks": {"empty_list_rate": 0.5}}
    assert words in text_of(risk_certificate(y, scores, threshold, **given).to_html())


def test_figures_have_digits_enough():
    given = {"risk": "forbidden", "max_risk": 0.1, "k": None, "lower": 0, "upper": 1}
    given |= {"n_queries": 9}
    figures = [
        RiskBound(**given, observed=low, upper_bound=high).figures()
        for low, high in ((0.02481, 0.02484), (0.1, 0.2), (0.1, 0.1))
    ]
    assert figures == [("0.02481", "0.02484"), ("0.1000", "0.2000"), ("0.1000", "0.1000")]


@pytest.mark.nightly
def test_nothing_is_fetched_and_it_prints_on_one_sheet(model, tmp_path):
    pytest.importorskip("selenium", reason="driving a browser needs selenium")
    from browsers import requested, resize, start_browser

    model.certificate_.to_html(path=tmp_path / "card.html")
    address = (tmp_path / "card.html").as_uri()
    browser = start_browser(tmp_path / "profile")
    try:
        resize(browser, 1280)
        browser.get_log("performance")
        browser.get_log("browser")
        browser.get(address)
        assert browser.title == "A certificate about what is shown"
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

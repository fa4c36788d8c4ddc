"""The page as HTML."""

import base64
import hashlib
import re

import pytest

pytest.importorskip("matplotlib")


from report_pages import ODD, RUNS, Page

pytestmark = pytest.mark.slow


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

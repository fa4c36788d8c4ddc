"""The HTML report of comparisons in a real browser."""

import pytest

from browsers import requested, resize
from report_pages import compared

pytestmark = pytest.mark.nightly

# As in `By` of selenium, which takes long to import.
CSS, TAG, CLASS = "css selector", "tag name", "class name"

QRELS = "1 0 a 3\n1 0 b 1\n1 0 s -2\n2 0 a 2\n2 0 c 0\n3 0 d 1\n3 0 s -2\n"
RUNS = {
    "good": "1 Q0 a 1 9 x\n1 Q0 b 2 8 x\n2 Q0 a 1 5 x\n3 Q0 d 1 2 x\n",
    '<b>&"x': "1 Q0 s 1 9 x\n1 Q0 b 3 8 x\n2 Q0 c 2 4 x\n3 Q0 s 1 2 x\n3 Q0 d 2 1 x\n",
    "a-rather-long-name-of-a-run-that-no-phone-has-room-for": "1 Q0 a 1 9 x\n2 Q0 c 2 4 x\n"
    "3 Q0 s 1 2 x\n",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of three runs, by its address."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "qrels").write_text(QRELS)
    for name, text in RUNS.items():
        (folder / name).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        compared("qrels", *RUNS, measures=["ndcg_f@3", "lexirecall"])
    return (folder / "r.html").as_uri()


@pytest.fixture
def page(browser, report):
    """The report, freshly opened on a wide screen."""
    resize(browser, 1280)
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(report)
    return browser


def first_column(page, table):
    return [each.text for each in table.find_elements(CSS, "tbody th")]


def test_nothing_goes_wrong_and_nothing_is_fetched(page, report):
    assert page.title == "Comparison of 3 runs"
    assert page.get_log("browser") == []
    asked = requested(page)
    assert report in asked
    assert all(url == report or url.startswith("data:") for url in asked)


def test_a_click_sorts_a_table(page):
    table = page.find_element(CSS, "#m1 table.sortable")
    names = first_column(page, table)
    assert names[0] == "good"
    run, mean = table.find_elements(CSS, "thead th button")[:2]
    mean.click()
    assert first_column(page, table) == names  # the greatest first, as it was
    assert table.find_elements(TAG, "th")[1].get_attribute("aria-sort") == "descending"
    mean.click()
    assert first_column(page, table) == names[::-1]
    run.click()
    by_name = first_column(page, table)
    run.click()
    assert first_column(page, table) == by_name[::-1]
    assert sorted(by_name) == sorted(names)
    assert table.find_elements(TAG, "th")[1].get_attribute("aria-sort") is None


def test_a_pair_is_chosen(page):
    from selenium.webdriver.support.ui import Select

    pairs = page.find_element(CSS, "#m1 .pairs")
    parts = pairs.find_elements(CLASS, "pair")
    assert [each.is_displayed() for each in parts] == [True, False, False]
    choice = Select(pairs.find_element(TAG, "select"))
    names = [each.text for each in choice.options]
    number = names.index('\u2068good\u2069 against \u2068<b>&"x\u2069')
    choice.select_by_index(number)
    assert [each.is_displayed() for each in parts] == [place == number for place in range(3)]
    assert sorted(first_column(page, parts[number])) == ["1", "2", "3"]
    assert page.get_log("browser") == []


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_is_no_wider_than_the_screen(page, width):
    resize(page, width)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width
    for figure in page.find_elements(CSS, "figure svg"):
        assert not figure.is_displayed() or 50 < figure.size["width"] <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_either_scheme(page, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    script = (
        "const style = getComputedStyle(arguments[0]);"
        "return (style.fill && arguments[1] ? style.fill : style.color).match(/\\d+/g).map(Number)"
    )
    body = page.find_element(TAG, "body")
    paper = page.execute_script(
        "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    )
    assert (sum(paper[:3]) > 380) == (scheme == "light")
    drawn = page.find_element(CSS, "figure svg text")
    for element, is_drawn in ((body, False), (drawn, True)):
        ink = page.execute_script(script, element, is_drawn)
        assert abs(sum(ink[:3]) - sum(paper[:3])) > 450


def test_without_scripts_all_is_there(page, report):
    page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.get(report)
        assert all(each.is_displayed() for each in page.find_elements(CLASS, "pair"))
        table = page.find_element(CSS, "#m1 table")
        assert first_column(page, table)[0] == "good"
        assert not page.find_elements(TAG, "select")
    finally:
        page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

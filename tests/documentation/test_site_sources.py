"""What the site says of names, measures and sources is what the code says; nothing is built."""

import importlib
import inspect
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import skfilterrank
import skfilterrank.metrics
from _site import measures, public, references
from _site.docstrings import section
from browsers import contrast
from measure_table import MEASURES
from skfilterrank._lists.measure import Measure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.metrics import get_measure_names
from thinned import is_nightly

ROOT = Path(__file__).parents[2]
NAMES = sorted(MEASURES)
NO_SITE = "what builds the site is not installed"


@pytest.fixture(scope="module")
def things():
    """Every public thing by its full name; by day none that imports a framework for seconds."""
    parts = [part for part in public.MODULES if is_nightly() or part != "integrations"]
    return public.things(parts)


def test_every_public_module_is_in_the_api():
    found = [part.name for part in pkgutil.iter_modules(skfilterrank.__path__)]
    with_names = [
        name
        for name in found
        if name[0] != "_" and hasattr(importlib.import_module(f"skfilterrank.{name}"), "__all__")
    ]
    # The command line's functions are described by its own help.
    assert sorted(public.MODULES) == sorted(set(with_names) - {"cli"})


def test_the_api_page_lists_what_is_public():
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    listed = {}
    for part in page.split("\n## ")[1:]:
        module = re.search(r"`(skfilterrank\.\w+)`", part)[1]
        listed.setdefault(module, []).extend(re.findall(r"^   (\w+)$", part, re.MULTILINE))
    assert set(listed) == {f"skfilterrank.{module}" for module in public.MODULES}
    for module, names in listed.items():
        assert sorted(names) == sorted(importlib.import_module(module).__all__)


def test_table_pages_and_public_functions_name_the_same_measures():
    ours = {each.name for each in MEASURES.values() if measures.is_ours(each)}
    public = {
        thing.name
        for name in skfilterrank.metrics.__all__
        if isinstance(thing := getattr(skfilterrank.metrics, name), Measure)
    }
    assert public < ours
    pages = [name for names in measures.families().values() for name in names]
    overview = (ROOT / "docs/measures.md").read_text(encoding="utf-8")
    in_overview = re.findall(r"^\| `(\w+)(?:@k)?` \|", overview, re.MULTILINE)
    assert sorted(pages) == sorted(in_overview) == sorted(ours)
    assert sorted(pages) == [name for name in get_measure_names() if name in ours]
    assert len(set(pages)) == len(pages)


def test_facts_are_of_measures():
    known = measures.facts().keys() - {"symbols"}
    public = {name for names in measures.families().values() for name in names}
    assert not known - public, "docs/measure_facts.toml has tables of no measure"
    for name in public:
        facts_of(name)


def facts_of(name):
    """What docs/measure_facts.toml says of a measure, which it must."""
    assert name in measures.facts(), (
        f"docs/measure_facts.toml has no table [{name}]: give it formula, use and avoid"
    )
    return measures.facts()[name]


def test_what_is_missing_is_said():
    with pytest.raises(AssertionError, match=r"measure_facts.toml has no table \[insq\]"):
        facts_of("insq")


@pytest.mark.slow
def test_a_measure_has_all_facts():
    for name in NAMES:
        known = facts_of(name)
        for fact in ("formula", "use", "avoid"):
            assert known.get(fact, "").strip(), f"docs/measure_facts.toml says no {fact} of {name}"
        assert known.keys() <= {"formula", "where", "use", "avoid", "elsewhere"}, name
        doc = inspect.getdoc(MEASURES[name])
        assert references.cited_in(doc), f"docs/references.bib has no source of {name}"
        notes = section(doc, "Notes")
        assert "Hidden" in notes, name
        assert re.search("[Uu]njudged", notes), name


@pytest.mark.slow
def test_a_page_has_all_parts():
    for name in NAMES:
        facts_of(name)
        page = measures.page(name)
        for title in (
            "Formula",
            "In short",
            "Filtered and unjudged documents",
            "Notes",
            "Example",
            "Sources",
        ):
            assert re.search(rf"^## {title}\n+\S", page, re.MULTILINE), f"{title} of {name}"
        assert ":::{grid-item-card} Use it when" in page, name
        assert "```bibtex\n@" in page, name
        assert "None" not in page.partition("## In short")[0]


def test_formulas_can_be_typeset():
    convert = pytest.importorskip("latex2mathml.converter", reason=NO_SITE).convert
    for name in NAMES:
        known = facts_of(name)
        formulas = [known["formula"], *re.findall(r"\{math\}`([^`]+)`", known.get("where", ""))]
        for formula in formulas:
            typeset = convert(formula)
            # What it does not know stays as it was written.
            assert "\\" not in typeset, (name, formula)
            assert typeset.startswith("<math"), name


@pytest.mark.slow
def test_initials_of_authors_are_no_list():
    core = pytest.importorskip("docutils.core", reason=NO_SITE)
    paths = sorted((ROOT / "examples").rglob("GALLERY_HEADER.rst"))
    assert paths
    for path in paths:
        tree = core.publish_doctree(
            path.read_text(encoding="utf-8"), settings_overrides={"report_level": 5}
        )
        assert "<enumerated_list" not in tree.asdom().toxml(), path


def test_names_of_other_tools_are_understood():
    """Of trec_eval and ir_measures, written as code; words without marks are theirs alone."""
    for name in NAMES:
        elsewhere = facts_of(name).get("elsewhere", {})
        for tool in ("trec_eval", "ir_measures"):
            for written in re.findall(r"`(\w+(?:\([^`]*\))?(?:@k)?)`", elsewhere.get(tool, "")):
                if written in {"beta", "rel", "ndcg_0"} or (tool, written) in THEIRS:
                    continue
                parsed = parse_measure(re.sub(r"(?<=[@_])k$", "10", written))
                assert (THEY_MEAN.get((name, written)) or name) == parsed.measure.name, written


# ir_measures' names of sets, which the table does not have; an option of trec_eval.
THEIRS = {("ir_measures", "SetP"), ("ir_measures", "SetR")}
# The same number for labels from 0 up, as the page says.
THEY_MEAN = {
    ("ndcg", "ndcg_cut_k"): "ndcg_0",
    ("ndcg_0", "nDCG@k"): "ndcg",
    ("induced_ap", "map"): "ap",
}


@pytest.mark.slow
def test_every_reference_has_its_bibtex(things):
    for name, thing in things.items():
        for owner, doc in references.docs_of(name, thing).items():
            for item in references.items(doc):
                assert references.keys_in(item), f"{owner} refers to {item}"


@pytest.mark.slow
def test_sources_are_complete_and_cited(things):
    entries = references.entries()
    assert len(entries) == references.BIBLIOGRAPHY.read_text(encoding="utf-8").count("\n@") + 1
    for key, entry in entries.items():
        assert entry.keys() >= {"author", "title", "year"}, key
        assert entry.keys() & {"doi", "url", "note"}, f"{key} says nowhere where it is found"
        assert re.fullmatch(r"10\.\d{4,9}/\S+", entry.get("doi", "10.1000/1")), key
        assert entry["text"].count("{") == entry["text"].count("}"), key
    titles = [references.letters(references.readable(each["title"])) for each in entries.values()]
    assert len(set(titles)) == len(titles)
    # Some measures are known by their names alone.
    citing = things | {f"skfilterrank.metrics.{each.__name__}": each for each in MEASURES.values()}
    uncited = [key for key, names in references.citations(citing).items() if not names]
    assert not uncited


def test_short_titles_do_not_match_journals():
    item = 'Metzler and Croft. "Linear feature-based models for information retrieval", 2007.'
    assert references.keys_in(item) == ["metzler2007"]
    assert references.keys_in('Van Rijsbergen, "Information Retrieval", 1979.') == [
        "rijsbergen1979"
    ]
    assert references.keys_in("Nobody, Unheard of, 2031.") == []


def test_the_citation_file_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    assert f"\nversion: {project['version']}\n" in text
    page = (ROOT / "docs/cite.md").read_text(encoding="utf-8")
    assert f"version = {{{project['version']}}}" in page
    assert f"\nlicense: {project['license']}\n" in text
    assert "cff-version: 1.2.0" in text
    assert re.search(r'^date-released: "\d{4}-\d\d-\d\d"$', text, re.MULTILINE)
    # The papers that the page names stand in all three places.
    entries = references.entries()
    keys = re.findall(r"^@\w+\{(\w+),", page, re.MULTILINE)
    assert keys[0] == project["name"]
    assert len(keys[1:]) == text.count("    title: ") == 5
    for key in keys[1:]:
        entry = entries[key]
        assert entry["text"].strip() in page
        title = re.sub(r"[{}\\]", "", entry["title"])
        assert re.search(rf'^    title: "?{re.escape(title)}"?$', text, re.MULTILINE), title
        where = entry.get("doi") or entry.get("url") or entry["booktitle"]
        assert f": {where}\n" in text, where


def test_the_paper_cites_what_is_in_the_references():
    text = (ROOT / "paper.md").read_text(encoding="utf-8")
    cited = set(re.findall(r"@(\w+)", text))
    assert len(cited) > 5
    assert cited <= set(references.entries())


def test_contrast_is_that_of_wcag():
    """What tests of the built site measure pages by."""
    assert contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)") == pytest.approx(21)
    assert contrast("rgb(119, 119, 119)", "rgb(255, 255, 255)") == pytest.approx(4.48, abs=0.01)
    half = contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)", 0.5)
    assert half == contrast("rgba(0, 0, 0, 0.5)", "rgb(255, 255, 255)") == pytest.approx(4, abs=0.1)

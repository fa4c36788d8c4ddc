"""Docstrings of measures with the texts that all of them share."""

import inspect
from itertools import pairwise

import pytest

from skfilterrank._lists.measure_docs import complete_documentation

OPTIONS = {
    "undefined": "no relevant document",
    "takes_k": False,
    "ties": ("average",),
    "reads_unjudged": False,
}
BARE = """A measure of mine.

    More of it.
    """
OWN = """A measure.

    {parameters}
    persistence : float, default=0.8
        My own parameter.

    {returns}

    Notes
    -----
    A note.
    """


def completed(doc, **options):
    return inspect.cleandoc(complete_documentation(doc, **(OPTIONS | options)))


def sections(doc):
    lines = doc.splitlines()
    return [above for above, below in pairwise(lines) if below and set(below) == {"-"}]


def test_a_text_without_sections_gets_them_at_its_end():
    doc = completed(BARE)
    assert doc.startswith("A measure of mine.\n\nMore of it.\n\nParameters\n----------\ny_true : ")
    assert sections(doc) == ["Parameters", "Returns", "Raises"]
    assert completed("One line.").startswith("One line.\n\nParameters\n----------\n")


def test_parameters_of_its_own_stand_between():
    doc = completed(OWN)
    assert sections(doc) == ["Parameters", "Returns", "Raises", "Notes"]
    own = "persistence : float, default=0.8\n    My own parameter.\n\nReturns\n-------\n"
    assert own in doc
    assert doc.index("query_weight : dict") < doc.index("persistence :") < doc.index("Returns")
    assert "{" not in doc.replace("{None", "").replace('{"', "")


def test_parameters_alone_stand_for_both():
    doc = completed("A measure.\n\n    {parameters}\n\n    Notes\n    -----\n    A note.\n    ")
    assert sections(doc) == ["Parameters", "Returns", "Raises", "Notes"]


@pytest.mark.parametrize(
    ("options", "text", "other"),
    [
        ({"takes_k": True}, "\nk : int or None, default=None\n", "\nk : "),
        ({"ties": ("worst",)}, 'ties : {"worst", "best", "stable"}', 'default="average"'),
        ({"reads_unjudged": True}, "Changes nothing here", "as a document of gain 0"),
        ({"undefined": "nothing to see"}, "undefined (nothing to see)", "no relevant document"),
    ],
)
def test_what_differs_from_measure_to_measure(options, text, other):
    assert text in completed(BARE, **options)
    assert text not in completed(BARE)
    assert (other in completed(BARE, **options)) is (other == "\nk : ")

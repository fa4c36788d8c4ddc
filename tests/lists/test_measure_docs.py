"""Docstrings of measures with the texts that all of them share."""

from itertools import pairwise

import pytest

from skfilterrank._lists.measure import Measure

OWN = """A measure.

    Parameters
    ----------
    persistence : float, default=0.8
        My own parameter.

        It has two paragraphs.

    Notes
    -----
    A note.
    """


def completed(doc, *, undefined="no relevant document", **facts):
    def declared(block, k):
        raise AssertionError

    declared.__doc__ = doc
    facts = {"takes_k": False, "ties": ("average",), **facts}
    return Measure("mine", declared, declared, undefined, (0, 1), **facts).__doc__


def sections(doc):
    lines = doc.splitlines()
    return [above for above, below in pairwise(lines) if below and set(below) == {"-"}]


def test_a_text_without_sections_gets_them_at_its_end():
    doc = completed("A measure of mine.\n\n    More of it.\n    ")
    assert doc.startswith("A measure of mine.\n\nMore of it.\n\nParameters\n----------\ny_true : ")
    assert sections(doc) == ["Parameters", "Returns", "Raises"]
    assert completed("One line.").startswith("One line.\n\nParameters\n----------\n")
    assert completed(None).startswith(f"mine, by {__name__}.\n\nParameters\n")


def test_parameters_of_its_own_follow_those_of_all_measures():
    doc = completed(OWN)
    assert sections(doc) == ["Parameters", "Returns", "Raises", "Notes"]
    own = "    It has two paragraphs.\n\nReturns\n-------\n"
    assert own in doc
    assert doc.index("query_weight : dict") < doc.index("persistence :") < doc.index("Returns")
    assert "{" not in doc.replace("{None", "").replace('{"', "")


def test_other_sections_stay():
    doc = completed("A measure.\n\n    Notes\n    -----\n    A note.\n    ")
    assert sections(doc) == ["Parameters", "Returns", "Raises", "Notes"]
    doc = completed("A measure.\n\n    Returns\n    -------\n    float\n        Its value.\n    ")
    assert sections(doc) == ["Parameters", "Returns"]


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
    assert text in completed("A measure of mine.", **options)
    assert text not in completed("A measure of mine.")
    assert (other in completed("A measure of mine.", **options)) is (other == "\nk : ")

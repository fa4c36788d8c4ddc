"""Measures as objects: their text, what they equal, and how they travel."""

import inspect
import pickle
import pydoc
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skfilterrank import metrics
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import MEASURES, Measure
from skfilterrank.exceptions import DataWarning
from skfilterrank.io import Rows
from skfilterrank.metrics import (
    any_forbidden_at_k,
    bpref_score,
    dcg_score,
    empty_list_rate,
    evaluate,
    get_measure,
    make_ranking_scorer,
    ndcg_f_score,
    rbp_score,
)
from skfilterrank.thresholds import (
    FixedThreshold,
    TunedThreshold,
    risk_coverage_curve,
    threshold_curve,
)


class TestObjects:
    @pytest.mark.parametrize(
        "text",
        ["ap", "RBP(p=0.90)@5", "P_5", "ndcg(gains={0:0,1:5})@3", "rr(rel=2)", "ap(like=lightgbm)"],
    )
    def test_repr_reads_back(self, text):
        one = get_measure(text)
        for each in (one, one.measure, make_ranking_scorer(one)):
            known = {"get_measure": get_measure, "make_ranking_scorer": make_ranking_scorer}
            again = eval(repr(each), known)
            assert again == each == pickle.loads(pickle.dumps(each))
            assert len({each, again} if each is not one else {repr(each), repr(again)}) == 1

    def test_others_are_others(self):
        assert get_measure("ap") != get_measure("ap@5")
        assert get_measure("ap").measure != get_measure("ap(rel=2)").measure
        assert get_measure("ap").measure != get_measure("map").measure.like("lightgbm")
        assert get_measure("ap").measure != "ap"
        assert make_ranking_scorer("ap") != make_ranking_scorer("ap", gains="exp2")
        assert make_ranking_scorer("ap") != make_ranking_scorer(["ap"])
        weights = np.ones(3)
        scorer = make_ranking_scorer("ap", query_weight=weights)
        assert scorer != make_ranking_scorer("ap", query_weight=weights + 1)

    def test_is_called_as_the_function_is(self):
        y, x, groups = [1, 0, 3, 1], [4, 3, 2, 1], ["a", "a", "b", "b"]
        assert get_measure("dcg@1")(y, x, groups=groups) == dcg_score(y, x, groups=groups, k=1)
        deep = get_measure("rbp(persistence=0.5)")
        expected = rbp_score(y, x, groups=groups, persistence=0.5, k=1)
        assert deep(y, x, groups=groups, k=1) == expected
        assert list(evaluate(y, x, deep, groups=groups).per_query) == ["rbp(persistence=0.5)"]
        table = evaluate(y, x, [get_measure("ap"), "rr"], groups=groups).per_query
        assert list(table) == ["ap", "rr"]

    def test_range_of_a_measure_of_binary_gains(self):
        measure = get_measure("qwa").measure
        assert measure.range_for(np.array([0.0, 1.0])) == (0, 1)
        assert measure.range_for(np.array([0.0, 0.5])) == (-np.inf, np.inf)
        assert measure.range_for() == (-np.inf, np.inf)


def values_with(measure, gains, scores, groups):
    """Values of lists by one of their orders."""
    lists = RankedLists(gains, scores, groups=groups, ties="worst")
    return lists.per_query(measure.measure.bind(measure.k, measure.options))


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("name", [*MEASURES, "empty_list_rate(unjudged=drop)"])
def test_declared_facts_are_those_of_many_small_lists(name, k):
    """Values that are 0 or 1, and labels that change no value."""
    measure = get_measure(name)
    entry = measure.measure
    measure = measure.with_cutoff(k) if entry.takes_k else measure
    if entry.columns or (not measure.is_zero_or_one and entry.reads == "all"):
        return
    draws = np.random.default_rng(0)
    groups = np.repeat(np.arange(200), draws.integers(1, 7, 200))
    scores = draws.permutation(len(groups)).astype(float)
    hidden = draws.random(len(groups)) < 0.4
    scores[hidden] = -np.inf
    gains, others = draws.choice([-1.0, 0.0, 1.0, 2.0, np.nan], (2, len(groups)))
    values = values_with(measure, gains, scores, groups)
    if measure.is_zero_or_one:
        assert set(values[~np.isnan(values)]) == {0, 1}
    if entry.reads == "all":
        return
    unread = hidden | (entry.reads in ("judged", "none"))
    if entry.reads == "judged":
        others = np.where(np.isnan(gains), np.nan, np.nan_to_num(others))
    again = values_with(measure, np.where(unread, others, gains), scores, groups)
    np.testing.assert_array_equal(again, values)
    if entry.reads == "shown":
        assert (values_with(measure, others, scores, groups) != values).any()


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


def without_k(block):
    raise AssertionError


def with_k(block, k):
    raise AssertionError


def completed(doc, kernel=without_k, **facts):
    kernel.__doc__ = doc
    facts = {"undefined": "no relevant document", "ties": ("average",), **facts}
    made = Measure("mine", kernel, value_range=(0, 1), **facts)
    del MEASURES["mine"]
    return made.__doc__


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
        ({"kernel": with_k}, "\nk : int or None, default=None\n", "\nk : "),
        ({"ties": ("worst",)}, 'ties : {"worst", "best", "stable"}', 'default="average"'),
        ({"reads_unjudged": True}, "Has no effect", "as a document of gain 0"),
        ({"undefined": "nothing to see"}, "undefined (nothing to see)", "no relevant document"),
    ],
)
def test_what_differs_from_measure_to_measure(options, text, other):
    assert text in completed("A measure of mine.", **options)
    assert text not in completed("A measure of mine.")
    assert (other in completed("A measure of mine.", **options)) is (other == "\nk : ")


NAN = float("nan")
OPEN = [NAN, NAN, 1.0, 0.0, -1.0, 2.0, NAN]
SCORES, GROUPS = [0.9, 0.1, 0.8, 0.2, 0.7, 0.3, 0.5], ["a", "a", "b", "b", "c", "c", "d"]
BOTH = r"\(2 of 4\) count as 0 \(undefined=0\) in ndcg_f@3, and as lists .* in precision@1\."


@pytest.mark.parametrize(
    ("compute", "how"),
    [
        (lambda: ndcg_f_score(OPEN, SCORES, groups=GROUPS), r"as 0 \(undefined=0\) in ndcg_f\."),
        (
            lambda: bpref_score.per_query(OPEN, SCORES, groups=GROUPS, undefined=0.5),
            r"as 0.5 \(undefined=0.5\) in bpref\.",
        ),
        (
            lambda: any_forbidden_at_k(OPEN, SCORES, groups=GROUPS, undefined="drop"),
            "as lists without a good or a forbidden document in any_forbidden",
        ),
        (lambda: evaluate(OPEN, SCORES, ["ndcg_f@3", "precision@1"], groups=GROUPS), BOTH),
        (lambda: evaluate(in_pieces(), ["ndcg_f@3", "precision@1", "num_rel"]), BOTH),
        (lambda: TunedThreshold("ap").fit(in_pieces()), r"\(2 of 4\) .* in ap\."),
        (lambda: FixedThreshold(0.4).fit([1]).score(in_pieces()), r"\(2 of 4\) .* in ndcg_f\."),
        (lambda: threshold_curve(OPEN, SCORES, groups=GROUPS), r"\(2 of 4\) .* in ndcg_f\."),
        (lambda: risk_coverage_curve(OPEN, SCORES, groups=GROUPS), r"\(2 of 4\) .* in ndcg_f\."),
    ],
)
def test_queries_without_a_judged_document_are_named(compute, how):
    with pytest.warns(DataWarning) as warned:
        compute()
    assert any(
        re.search(rf"^queries without a judged document.*{how}", str(each.message))
        for each in warned
    )


def in_pieces():
    table = pd.DataFrame({"qid": GROUPS, "label": OPEN, "score": SCORES})
    return Rows([table[:4], table[4:]])


def test_what_needs_no_judgment_is_not_warned_of():
    assert empty_list_rate(OPEN, SCORES, groups=GROUPS) == 0
    assert ndcg_f_score(OPEN, SCORES, groups=GROUPS, undefined="drop") > 0
    evaluate(OPEN, SCORES, ["num_ret", "num_rel", "judged@1", "empty_list_rate"], groups=GROUPS)
    assert ndcg_f_score([NAN, NAN], [2, 1], groups=["a", "a"]) == 0


FILES = {
    name: getattr(metrics, name)
    for name in metrics.__all__
    if isinstance(getattr(metrics, name), Measure)
}


@pytest.mark.parametrize("name", FILES)
def test_the_name_in_the_file_is_what_help_shows(name):
    """Search and editors find an assignment; help() has the parameters of a call."""
    measure = FILES[name]
    source = Path(inspect.getsourcefile(measure.function)).read_text(encoding="utf-8")
    assert re.search(rf"^{name} = Measure\(", source, re.MULTILINE)
    parameters = inspect.signature(measure).parameters
    shown = pydoc.plain(pydoc.render_doc(measure))
    told = [line.partition(" : ")[0].strip() for line in shown.splitlines() if " : " in line]
    assert [each for each in told if each in parameters] == list(parameters)
    assert "options" not in parameters
    assert inspect.getdoc(measure).startswith(inspect.getdoc(measure.function).splitlines()[0])
    assert measure.function.__qualname__ == measure.function.__name__
    assert not hasattr(measure, "__wrapped__")

"""Each check of the kit fails for a measure that breaks what the check is about."""

import itertools
import re
import warnings
from dataclasses import fields

import numpy as np
import pytest

from skfilterrank._lists.measure import Measure
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import Additive, average_precision_score, get_measure, register_measure
from skfilterrank.testing import check_measure, parametrize_with_checks
from skfilterrank.testing._checks import _measure_cases
from skfilterrank.testing._measure_checks import LABELS, RandomRows, check_range

AP = average_precision_score


def values(y_true, y_score, **given):
    """AP of each query, whatever else is asked."""
    return AP(y_true, y_score, **{**given, "average": None})


def by_the_first_row(y_true, y_score, **given):
    return AP(y_true, y_score, **given) * (1 + np.argmax(y_score))


def clipped(y_true, y_score, **given):
    return AP(y_true, np.minimum(y_score, 1.5), **given)


def against_the_others(y_true, y_score, **given):
    found = values(y_true, y_score, **given)
    return found - np.nan_to_num(found).max()


def clipping(block, k, **options):
    gains = block.gains
    gains.flags.writeable = True
    np.maximum(gains, 0, out=gains)
    return gains.sum(axis=1)


def divided_by_k(y_true, y_score, **given):
    return AP(y_true, y_score, **given) / max(9, given.get("k") or 9)


def turned_ties(y_true, y_score, **given):
    turned = {"worst": "best", "best": "worst"}
    ties = given.get("ties", "average")
    ties = turned.get(ties, ties) if isinstance(ties, str) else ties
    return AP(y_true, y_score, **{**given, "ties": ties})


def one_order(y_true, y_score, **given):
    ties = given.get("ties", "average")
    is_average = isinstance(ties, str) and ties == "average"
    return AP(y_true, y_score, **{**given, "ties": "best" if is_average else ties})


def too_high(y_true, y_score, **given):
    return AP(y_true, y_score, **given) * 1.5


def by_all_rows(y_true, y_score, **given):
    return values(y_true, y_score, **given) / np.bincount(given["groups"])


def never_dropped(y_true, y_score, **given):
    return AP(y_true, y_score, **{**given, "unjudged": "zero"})


def no_lists(y_true, y_score, **given):
    return np.nan if np.isneginf(y_score).all() else AP(y_true, y_score, **given)


def half_the_sum(facts):
    return Additive(facts.relevant / 2, facts.by_place(lambda place: 1 / place))


def drawn(y_true, y_score, **given):
    return AP(y_true, y_score, **given) * np.random.default_rng().random()


BROKEN = {
    "check_every_kind_of_list": {"function": no_lists},
    "check_the_same_again": {"function": drawn},
    "check_direction": {"greater_is_better": False},
    "check_order_of_rows": {"function": by_the_first_row},
    "check_scale_of_scores": {"function": clipped},
    "check_queries_alone": {"function": against_the_others},
    "check_other_measures": {"kernel": clipping},
    "check_cut_off_beyond_the_list": {"function": divided_by_k},
    "check_worst_and_best_ties": {"function": turned_ties},
    "check_average_of_ties": {"function": one_order},
    "check_range": {"function": too_high},
    "check_filtered_rows": {"function": by_all_rows},
    "check_dropped_unjudged_rows": {"function": never_dropped},
    "check_threshold_curve": {"additive": half_the_sum},
    "check_order_matters": {"order_matters": "never"},
    "check_pickle_and_repr": {"name": "ap"},
}


def test_every_check_is_tried():
    assert list(BROKEN) == list(_measure_cases("ap", LABELS))


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_a_check_fails_for_what_it_is_about(name, measure_table):
    class Broken(Measure):
        def __call__(self, y_true, y_score, **given):
            return BROKEN[name].get("function", AP)(y_true, y_score, **given)

    parts = {each.name: getattr(AP, each.name) for each in fields(AP)}
    parts |= {"name": "broken", **BROKEN[name]}
    parts.pop("function", None)
    broken = Broken(**parts)
    broken.__qualname__ = "broken"
    with pytest.raises((AssertionError, ValueError)):
        _measure_cases(broken, LABELS)[name]()


@pytest.mark.slow
@parametrize_with_checks(["ap@3"], labels=[0, 1])
def test_and_passes_for_others(check):
    check()


@pytest.mark.slow
def test_all_that_fails_is_told():
    with pytest.raises(AssertionError) as error:
        check_measure("lexirecall")
    text = str(error.value)
    assert text.startswith("check_filtered_rows: Unjudged documents that are filtered out do not")
    assert "\n\ncheck_dropped_unjudged_rows: With" in text
    assert (
        text.count("for lexirecall with RandomRows.random(0, (-2.0, -1.0, 0.0, 1.0, 2.5, nan))")
        == 2
    )
    reasons = dict.fromkeys(["check_filtered_rows", "check_dropped_unjudged_rows"], "counts rows")
    check_measure("lexirecall", expected_failed_checks=reasons)
    with pytest.raises(AssertionError, match="check_range passes, but was"):
        check_measure("lexirecall", expected_failed_checks={**reasons, "check_range": "?"})


@pytest.mark.parametrize("name", ["err(max_grade=1)", "rbp(relevance=graded)"])
def test_no_gain_is_above_the_highest_label(name):
    """Which is the highest that these take."""
    check_measure(name, labels=[0, 0.5, 1])


def test_the_range_of_labels_below_0():
    """Their gains without the sign are not above the highest label either."""
    rows = RandomRows(
        y_true=np.array([-10.0, -10.0, 4.0]),
        y_score=np.array([3.0, 2.0, 1.0]),
        groups=np.zeros(3, dtype=int),
        ids=np.arange(3),
        order=np.arange(3),
        k=None,
    )
    check_range(get_measure("err(max_grade=4)"), rows)


def of_lists(function):
    """Make a function of a block of one that measures one list at a time."""

    def of_block(block, k):
        return [function(ranked, pool) for ranked, pool in block.lists(k)]

    return of_block


def precision(ranked, pool):
    return float(np.mean(ranked > 0)) if len(ranked) else 0.0


def reciprocal_rank(ranked, pool):
    found = np.flatnonzero(ranked > 0)
    return float(1 / (1 + found[0])) if len(found) else 0.0


def forbidden_on_top(ranked, pool):
    return float(np.any(ranked[:3] < 0))


def share_of_forbidden(ranked, pool):
    return 1 - float(np.mean(ranked >= 0)) if len(ranked) else 0.0


def of_the_first(ranked, pool):
    return float(ranked[0] > 0)


def mean_of_any(ranked, pool):
    return np.mean(ranked > 0)


def share_of_good(ranked, pool):
    return np.sum(ranked > 0) / np.sum(pool > 0)


def gives_nothing(ranked, pool):
    return 1.0 if len(ranked) > 3 else None


def no_value(ranked, pool):
    return np.nan


def a_constant(ranked, pool):
    return 0.5


def at_random(ranked, pool):
    return float(np.random.default_rng().random())


def counting():
    calls = itertools.count()
    return lambda ranked, pool: next(calls) % 7 / 7


def kept_by_length():
    kept = {}
    return lambda ranked, pool: kept.setdefault(len(pool), reciprocal_rank(ranked, pool))


def of_the_highest_yet():
    yet = [1e-9]

    def dcg(ranked, pool):
        value = float(np.sum(np.maximum(ranked, 0) / np.log2(2 + np.arange(len(ranked)))))
        yet[0] = max(yet[0], value)
        return value / yet[0]

    return dcg


def whole_recall(block, k):
    return block.ranked(block.relevant, None).sum(axis=1) / np.maximum(1, block.n_relevant)


KIND, SAME = "check_every_kind_of_list", "check_the_same_again"


MISTAKES = {
    "wrong sign": (reciprocal_rank, {"greater_is_better": False}, "check_direction"),
    "wrong sign of what has a cut-off": (
        precision,
        {"greater_is_better": False, "order_matters": "with k"},
        "check_direction",
    ),
    "wrong sign of harm": (forbidden_on_top, {}, "check_direction"),
    "wrong sign of a share": (share_of_forbidden, {"order_matters": "with k"}, "check_direction"),
    "an empty list is indexed": (of_the_first, {}, KIND),
    "the mean of an empty list": (mean_of_any, {"order_matters": "with k"}, KIND),
    "nothing by nothing": (share_of_good, {"order_matters": "with k"}, KIND),
    "no number": (gives_nothing, {}, KIND),
    "NaN always": (no_value, {}, KIND),
    "a constant": (a_constant, {}, "check_order_matters"),
    "kept by length": (kept_by_length(), {}, "check_order_matters"),
    "order matters with k": (precision, {}, "check_order_matters"),
    "order matters always": (reciprocal_rank, {"order_matters": "with k"}, "check_order_matters"),
    "order matters": (reciprocal_rank, {"order_matters": "never"}, "check_order_matters"),
    "order matters without cut-offs": (
        reciprocal_rank,
        {"order_matters": "never", "takes_k": False},
        "check_order_matters",
    ),
    "random": (at_random, {}, SAME),
    "a count of calls": (counting(), {}, SAME),
    "the highest yet": (of_the_highest_yet(), {}, SAME),
}


SAYS = {
    "wrong sign": "greater_is_better=False, but the value is higher .* pass greater_is_better=True",
    "wrong sign of what has a cut-off": "pass greater_is_better=True",
    "wrong sign of harm": "greater_is_better=True, but .* lower .* greater_is_better=False",
    "wrong sign of a share": "pass greater_is_better=False",
    "an empty list is indexed": "a list that is empty.* IndexError: .*check for empty lists",
    "the mean of an empty list": "for a list that is empty.* RuntimeWarning: Mean of empty slice",
    "nothing by nothing": r"a list of one document \(y_true=\[-2.0\], .*RuntimeWarning: invalid",
    "no number": r"a list that is empty.*must give one number for each of .* got object",
    "NaN always": "the value is NaN .undefined. for all 30 lists",
    "a constant": "labels do not matter either: .* returns a constant",
    "kept by length": "labels do not matter either: .* kept from another list",
    "order matters with k": "'always' is declared, .* it is 'with k': pass order_matters='with k'",
    "order matters always": "'with k' is declared, .* it is 'always': pass order_matters='always'",
    "order matters": "'never' is declared, .* it is 'always': pass order_matters='always'",
    "order matters without cut-offs": "it is 'always': pass order_matters='always'",
    "random": "30 of 30 values of the same rows differ .* draws random numbers, or keeps",
    "a count of calls": "values of the same rows differ .* keeps something from call to call",
    "the highest yet": "values of the same rows differ .* keeps something from call to call",
}


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found_by_one_check_that_says_what_to_do(mistake, measure_table):
    function, declared, check = MISTAKES[mistake]
    made = register_measure("mistaken", value_range=(0, 1), ties="worst", **declared)(
        of_lists(function)
    )
    with warnings.catch_warnings(record=True) as caught, pytest.raises(AssertionError) as error:
        check_measure(made)
    text = str(error.value)
    assert re.findall(r"^check_\w+", text, re.MULTILINE) == [check]
    assert re.search(SAYS[mistake], text, re.DOTALL), text
    assert not caught


def test_a_block_function_that_does_not_read_its_cut_off(measure_table):
    made = register_measure("mistaken", value_range=(0, 1))(whole_recall)
    with pytest.raises(AssertionError, match="a cut-off changes nothing: let the function use k"):
        _measure_cases(made, LABELS)["check_order_matters"]()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measure": "no_such"}, "'no_such' is not a measure"),
        ({"measure": abs}, "is not a measure"),
        (
            {"expected_failed_checks": {"check_it": ""}},
            "must name checks among .*, got 'check_it'",
        ),
        (
            {"expected_failed_checks": ["check_range"]},
            "must be a dict of names of checks and reasons",
        ),
        ({"labels": ["good"]}, "labels must"),
        ({"labels": [1, 1000]}, r"labels must be numbers from -100 to 100.* got \[1, 1000\]"),
        ({"labels": [np.nan]}, "labels must be numbers from -100 to 100"),
        ({"labels": 3}, "labels must"),
        ({"labels": [1]}, r"labels must have at least two different numbers.* got \[1\]"),
        ({"labels": [0, 0, np.nan]}, "labels must have at least two different numbers"),
    ],
)
def test_odd_arguments(given, message):
    with pytest.raises(InputError, match=message):
        check_measure(**{"measure": "ap", **given})


def test_a_measure_of_ones_own(measure_table):
    @register_measure("to_be_checked", value_range=(0, 1))
    def to_be_checked(block, k):
        return block.ranked_relevant(1)[:, 0]

    cases = _measure_cases(to_be_checked, LABELS)
    cases["check_range"]()
    cases["check_order_of_rows"]()
    assert get_measure(to_be_checked).text == "to_be_checked"


@pytest.mark.slow
def test_other_checks_go_on_where_a_first_one_is_expected_to_fail(measure_table):
    made = register_measure("mistaken", greater_is_better=False, ties="worst")(of_lists(precision))
    with pytest.raises(AssertionError) as error:
        check_measure(made, expected_failed_checks={"check_direction": "it is a joke"})
    assert "check_order_matters" in str(error.value)


def test_a_function_is_told_how_to_become_a_measure():
    with pytest.raises(InputError, match=r"of_block.* is not a measure: .*register_measure"):
        check_measure(of_lists(precision))

"""Values of lists as rows enter in falling order of any key, by hand and recomputed."""

from itertools import product

import numpy as np
import pytest

from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.prefixes import places
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.scoring import with_undefined
from skfilterrank.metrics import get_measure_names
from skfilterrank.thresholds._risks import read_risks
from thinned import thinned

# Each measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings("ignore:.*some gains are below 0")

NO = -np.inf


def lists_of(y_true, y_score, groups, parsed, weights=None):
    lists = RankedLists(y_true, y_score, groups=groups, ties=parsed.measure.ties[0])
    return lists.replace(weights=None if weights is None else np.asarray(weights, dtype=float))


def entries_of(rows, measure, keys=None, weights=None, undefined=0.0):
    parsed = parse_measure(measure)
    return EntryValues.of(lists_of(*rows, parsed, weights), parsed, keys, undefined)


def values_shown(lists, parsed, shown, undefined=0.0):
    """The measure of each query, computed for the rows that are shown alone."""
    kernel = parsed.measure.bind(parsed.k, parsed.options)
    shown = lists.with_scores(np.where(shown, lists.scores, NO))
    return with_undefined(shown.per_query(kernel), undefined)


class TestByHand:
    """Query 1 ranks a good, a bad and a good document, query 2 a bad and a good one."""

    rows = ([1, 0, 1, 0, 1], [5, 3, 1, 4, 2], [1, 1, 1, 2, 2])

    def test_rows_enter_at_the_end(self):
        entries = entries_of(self.rows, "precision@2")
        assert entries.at(np.inf).tolist() == [0, 0]
        assert entries.at(3).tolist() == [0.5, 0]
        levels, means = entries.curve()
        assert levels.tolist() == [np.inf, 5, 2]
        assert means.tolist() == [0, 0.25, 0.5]
        assert entries.best() == (NO, 0.5)

    def test_rows_enter_at_their_place(self):
        # The last of query 1 enters first, then the one above it, and then the first.
        keys = np.array([1.0, 2.0, 3.0, 1.5, 2.5])
        entries = entries_of(self.rows, "precision@1", keys)
        # A good document, a bad one above it, and a good one above both.
        levels, means = entries.curve()
        assert levels.tolist() == [np.inf, 3, 2.5, 2, 1.5, 1]
        assert means.tolist() == [0, 0.5, 1, 0.5, 0, 0.5]
        assert entries.best() == (2.25, 1.0)
        assert entries.best(np.array([True, False])) == (NO, 1.0)
        assert entries.best(np.array([False, True])) == (2.0, 1.0)

    def test_rows_that_never_or_always_enter(self):
        keys = np.array([np.inf, NO, 3.0, 1.5, NO])
        entries = entries_of(self.rows, "precision@2", keys)
        assert entries.at(np.inf).tolist() == [0.5, 0]
        assert entries.at(NO).tolist() == [1, 0]
        levels, means = entries.curve()
        assert levels.tolist() == [np.inf, 3]
        assert means.tolist() == [0.25, 0.5]

    def test_weights_of_queries(self):
        entries = entries_of(self.rows, "precision@2", weights=[1, 0.5])
        _, means = entries.curve()
        np.testing.assert_allclose(means, [0, 0.5 / 1.5, 0.75 / 1.5])
        # A query of weight 0 counts nowhere, nor do its scores.
        entries = entries_of(self.rows, "precision@1", weights=[1, 0])
        assert entries.best() == (NO, 1.0)
        assert entries.curve()[0].tolist() == [np.inf, 5]

    def test_queries_without_a_value(self):
        rows = ([1, -1, -1], [4, 2, 3], [1, 1, 2])
        entries = entries_of(rows, "forbidden", undefined="drop")
        assert np.isnan(entries.at(np.inf)).all()
        assert not entries.always_defined
        assert entries.at(NO).tolist() == [-0.5, -1]
        np.testing.assert_array_equal(entries.at(4), [0, np.nan])
        _, means = entries.curve()
        np.testing.assert_array_equal(means, [np.nan, 0, -0.5, -0.75])

    def test_lower_is_better(self):
        rows = ([-1, 1, -1], [3, 2, 1], [1, 1, 1])
        assert entries_of(rows, "forbidden@2", np.array([1.0, 3.0, 2.0])).best() == (2.5, 0)

    def test_only_the_first_that_have_entered(self):
        # The last of query 1 enters first and leaves when both others have entered.
        keys = np.array([1.0, 2.0, 3.0, 1.5, 2.5])
        parsed = parse_measure("recall")
        entries = EntryValues.of(lists_of(*self.rows, parsed), parsed, keys, most=1)
        assert [entries.at(level).tolist() for level in (3, 2.5, 2, 1.5, 1)] == [
            [0.5, 0],
            [0.5, 1],
            [0, 1],
            [0, 0],
            [0.5, 0],
        ]


ROWS = np.random.default_rng(4)
GROUPS = ROWS.integers(0, 5, 60)
LABELS = ROWS.choice([-1.0, 0.0, 1.0, 2.0], 60)
UNJUDGED = np.where(ROWS.random(60) < 0.3, np.nan, LABELS)
SCORES = ROWS.permutation(60) / 4
KEYS = ROWS.permutation(60).astype(float)
SOME_KEYS = np.select([KEYS > 52, KEYS < 8], [np.inf, NO], np.floor(KEYS / 3))
CASES = {
    "scores": (LABELS, SCORES, None, 0.0),
    "unjudged": (UNJUDGED, SCORES, KEYS, "drop"),
    "tied": (LABELS, np.floor(SCORES / 2), KEYS, 0.5),
    "always and never": (UNJUDGED, np.where(SCORES < 3, NO, SCORES), SOME_KEYS, 0.0),
}
# These need a column of their own, or no gain below 0.
OTHERS = ("stat_ap", "ul_normalized")
MEASURES = [name for name in get_measure_names() if name not in OTHERS]


@pytest.mark.slow
@pytest.mark.parametrize(("cutoff", "case"), thinned(product([None, 3], CASES)))
def test_every_measure_for_each_set_of_entered_rows(case, cutoff):
    y_true, y_score, given, undefined = CASES[case]
    keys = np.where(y_score == NO, NO, y_score if given is None else given)
    levels = [*np.unique(keys[np.isfinite(keys)])[::6], np.inf]
    for name in MEASURES:
        parsed = parse_measure(name)
        if cutoff is not None:
            if not parsed.measure.takes_k:
                continue
            parsed = parsed.with_cutoff(cutoff)
        lists, sign = lists_of(y_true, y_score, GROUPS, parsed), parsed.measure.sign
        entries = EntryValues.of(lists, parsed, given, undefined)
        curve, means = entries.curve()
        found, expected = [], []
        for level in levels:
            values = values_shown(lists, parsed, (keys >= level) & (keys > NO), undefined)
            counted = values[~np.isnan(values)]
            expected += [*values, counted.mean() if len(counted) else np.nan]
            found += [*entries.at(level), means[np.count_nonzero(curve >= level) - 1]]
        found = sign * np.array(found)
        np.testing.assert_allclose(found, expected, 1e-9, 1e-12, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(("cutoff", "y_true"), thinned([(3, UNJUDGED), (None, LABELS)], parts=2))
def test_every_measure_with_a_cap(cutoff, y_true):
    levels = np.unique(KEYS)[::-6]
    sets = [np.where(level <= KEYS, SCORES, NO) for level in levels]
    most = 2
    for each in sets:
        each[places(each, GroupIndex.from_groups(GROUPS)) >= most] = NO
    for name in MEASURES:
        parsed = parse_measure(name)
        if cutoff is not None:
            if not parsed.measure.takes_k:
                continue
            parsed = parsed.with_cutoff(cutoff)
        lists = lists_of(y_true, SCORES, GROUPS, parsed)
        capped = EntryValues.of(lists, parsed, KEYS, most=most)
        expected = [values_shown(lists, parsed, scores > NO) for scores in sets]
        found = parsed.measure.sign * np.array([capped.at(level) for level in levels])
        np.testing.assert_allclose(found, expected, 1e-9, 1e-12, err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "measure", "weights"),
    thinned(
        product(
            [None, KEYS, "ranked"],
            ["ndcg_f@3", "ap", "forbidden@2", "f", "rr"],
            [None, [1, 0.5, 0, 1, 0.25]],
        )
    ),
)
def test_some_queries_are_as_if_there_were_no_others(keys, measure, weights):
    if isinstance(keys, str):
        # Keys that never rise down a list.
        keys = np.floor(SCORES / 2)
    entries = entries_of((LABELS, SCORES, GROUPS), measure, keys, weights)
    for left_out in range(5):
        among = np.arange(5) != left_out
        rows = among[GROUPS]
        alone = entries_of(
            (LABELS[rows], SCORES[rows], GROUPS[rows]),
            measure,
            None if keys is None else keys[rows],
            None if weights is None else np.asarray(weights)[among],
        )
        level, value = entries.best(among)
        assert level == alone.best()[0]
        assert value == pytest.approx(alone.best()[1], rel=1e-12)
        for found, expected in zip(entries.curve(among), alone.curve()):
            np.testing.assert_allclose(found, expected, 1e-12, 1e-15)


def test_the_best_level_gives_the_best_value():
    for measure in ("ndcg_f@3", "ap@2", "f", "lexirecall", "forbidden@2"):
        parsed = parse_measure(measure)
        lists, sign = lists_of(LABELS, SCORES, GROUPS, parsed), parsed.measure.sign
        level, value = EntryValues.of(lists, parsed, KEYS).best()
        assert sign * values_shown(lists, parsed, level <= KEYS).mean() == pytest.approx(value)
        every = [values_shown(lists, parsed, each <= KEYS).mean() for each in [*KEYS, np.inf]]
        assert value == pytest.approx(max(sign * each for each in every))


def test_documents_of_equal_scores_enter_by_keys_that_never_rise():
    # A good and a bad document tied, of which the good one enters first and stands first.
    rows = ([1, 0], [2, 2], [1, 1])
    entries = entries_of(rows, "rr", np.array([2.0, 1.0]))
    assert entries.curve()[1].tolist() == [0, 1]


def risk_of(risk, k=None):
    """A risk with a level."""
    if isinstance(risk, str) and k is not None and risk != "false_reject_rate":
        risk = f"{risk}@{k}"
    (risk,) = read_risks({risk: 0.1})
    return risk


class TestRisks:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("risk", "k", "case"),
        thinned(
            product(["forbidden", "any_forbidden", "false_reject_rate"], [None, 1, 3], CASES),
            turn=1,
        ),
    )
    def test_at_each_level(self, risk, k, case):
        y_true, y_score, given, _ = CASES[case]
        risk = risk_of(risk, k)
        lists = RankedLists(y_true, y_score, groups=GROUPS, ties="worst")
        keys = np.where(y_score == NO, NO, y_score if given is None else given)
        steps = risk.steps(lists, given)
        kernel = risk.rate.measure.bind(risk.k, {})
        found, expected = [], []
        for level in [*np.unique(keys[keys > NO]), np.inf]:
            part = lists.with_scores(np.where(keys >= level, y_score, NO))
            expected.append(np.nan_to_num(part.per_query(kernel))[steps.counted])
            found.append(steps.at(level))
        np.testing.assert_allclose(found, expected, atol=1e-12)

    def test_documents_of_equal_scores_stay_tied(self):
        """The good document is shown first, but either may stand first when both are shown."""
        risk = risk_of("any_forbidden", 1)
        lists = RankedLists([1, -1], [2.0, 2.0], groups=[1, 1])
        steps = risk.steps(lists, np.array([2.0, 1.0]))
        assert [steps.at(level)[0] for level in (3, 2, 1)] == [0, 0, 1]


def test_lists_are_frozen_and_replaced_facts_are_those_of_the_new_arrays():
    lists = RankedLists([1, -1], [2.0, 1.0], groups=[1, 1])
    with pytest.raises(AttributeError, match="scores cannot be set, as lists are frozen"):
        lists.scores = np.zeros(2)
    assert (lists.has_filtered, lists.has_forbidden, lists.has_unjudged) == (False, True, False)
    other = lists.replace(scores=np.array([2.0, NO]), gains=np.array([1.0, np.nan]))
    assert (other.has_filtered, other.has_forbidden, other.has_unjudged) == (True, False, True)
    assert (lists.has_filtered, lists.has_forbidden, lists.has_unjudged) == (False, True, False)

"""What must not change any measure, and what none may accept: over the whole table of measures."""

import inspect
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import measure_facts
from measure_checks import CHECKS, LABELS, OF_ROWS, RandomRows
from measure_table import MEASURES
from reference import NONNEGATIVE, gains_for, written
from skfilterrank._lists.lists import RankedLists
from skfilterrank.exceptions import InputError
from skfilterrank.io import read_run, write_run
from skfilterrank.metrics import get_measure, get_measure_names
from thinned import thinned

# Every measure is given gains below 0 here, and queries of which nothing is judged.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*some gains are below 0", "ignore:queries without a judged document"
)

NO = -np.inf
ALL = sorted(MEASURES)
WITH_K = sorted(name for name, entry in MEASURES.items() if entry.takes_k)


def measure(name, y_true, y_score, **params):
    """A measure of one query."""
    return MEASURES[name](
        y_true, y_score, groups=["q"] * len(y_true), gains=gains_for(name), **params
    )


def labels_of(name):
    """Labels that the measure takes."""
    return [0, 1, 2, 3, np.nan] if name in NONNEGATIVE else LABELS


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_checks(name):
    text, labels = written(name), labels_of(name)
    seeds = thinned(range(4), turn=ALL.index(name), parts=4)
    rows = [RandomRows.random(seed, labels) for seed in seeds]
    for check in CHECKS:
        for given in rows if check in OF_ROWS else [labels]:
            check(get_measure(text), given)


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(ALL))
def test_facts_that_the_library_keeps(name):
    text = written(name)
    # Without a cut-off and with one: by day one of them for each measure.
    for seed in thinned((0, 3), turn=ALL.index(name), parts=2):
        for check in measure_facts.CHECKS:
            check(get_measure(text), RandomRows.random(seed, labels_of(name)))


def test_value_ranges():
    """From 0 to 1, but for these."""
    counts = ("num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")
    others = dict.fromkeys(("recall_error", "search_length", "sp", "stat_ap", *counts), (0, np.inf))
    others |= dict.fromkeys(("dcg", "ndcg_min"), (-np.inf, np.inf))
    others |= dict.fromkeys(("ul_normalized", "compatibility"), (-1, 1))
    for name, entry in MEASURES.items():
        assert entry.value_range == others.get(name, (0, 1)), name


def test_no_query_has_a_value():
    for name in ALL:
        value = measure(name, [np.nan, np.nan], [NO, NO], undefined="drop")
        if "undefined (never)" in MEASURES[name].__doc__:
            assert np.isfinite(value)
        else:
            assert np.isnan(value)


class TestBadInput:
    """What is wrong is named, whichever measure is asked."""

    SOUND = {"y_true": [0, 1, -1], "y_score": [3, 2, 1], "groups": ["a", "a", "b"]}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"groups": None}, r"groups is missing: pass groups=.*Series whose index has a level"),
            ({"groups": ["a"]}, "groups has 1 entries but there are 3 rows"),
            ({"groups": ["a"] * 4}, "groups has 4 entries but there are 3 rows"),
            ({"groups": [1.0, np.nan, 1.0]}, r"1 missing id, the first at row 1"),
            ({"groups": [1, "1", 1]}, "make them all strings or all numbers"),
            ({"groups": "aab"}, "one query id per row, got 'aab'"),
            ({"y_score": [1, None, 2]}, "y_score holds 1 NaN, the first at row 1"),
            ({"y_score": [1, NO, np.inf]}, r"y_score holds 1 \+inf, the first at row 2"),
            ({"y_score": [np.nan, np.inf, NO]}, "y_score holds 1 NaN"),
            ({"y_score": [[1, 2]] * 3}, r"1-D\), got shape \(3, 2\).*predict_proba"),
            ({"y_score": 3}, "y_score must hold one score per row, got 3"),
            ({"y_score": ["0.1", "0.2", "0.3"]}, "y_score must hold numbers, got dtype"),
            ({"y_score": np.array(["0.1", 2, 3], dtype=object)}, "y_score must hold numbers"),
            ({"y_score": np.array([1, 2, 3], dtype="datetime64[D]")}, "must hold numbers"),
            ({"y_score": [1j, 2, 3]}, "Complex data not supported: y_score must hold"),
            ({"gains": "linear"}, "gains must be None, 'exp2', a dict"),
            ({"y_true": [[1, 2], [1, 2], [1, 2]]}, "y_true must hold one label per row .1-D"),
            ({"ties": ["a", "b"]}, r"one id per row: expected 3, got 2"),
            ({"ties": ["a", None, "b"]}, "ties has a missing document id at row 1"),
            ({"undefined": np.nan}, "undefined must be a finite number or 'drop'"),
            ({"undefined": None}, "undefined must be a finite number or 'drop', got None"),
            ({"undefined": np.array([0, 1])}, "undefined must be a finite number or 'drop'"),
        ],
    )
    def test_message(self, changes, message):
        with pytest.raises(ValueError, match=message):
            MEASURES["ndcg_f"](**{**self.SOUND, **changes})

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ALL)
    def test_every_measure_asks(self, name):
        """The messages are made in one place, which each measure asks about each argument."""
        for changes, message in (
            ({"groups": None}, "groups is missing"),
            ({"groups": ["a", None, "b"]}, "groups has 1 missing id"),
            ({"y_score": [1, np.nan, np.nan]}, "y_score holds 2 NaN, the first at row 1"),
            ({"y_score": [1, 2]}, "y_score has 2 entries but y_true has 3"),
            ({"y_true": ["Good", "Bad", "Good"]}, r"not numbers \('Good', 'Bad'\): pass gains"),
            ({"y_true": [0, 1, np.inf]}, "y_true holds an infinite label"),
            ({"y_true": []}, "y_true is empty"),
            ({"gains": {0: 0, 1: 1}}, "no entry in gains: -1; gains has 0, 1"),
            ({"ties": "avg"}, "ties must be 'average', 'stable', 'worst', 'best' or an array"),
            ({"unjudged": "skip"}, "unjudged must be one of 'zero', 'drop', got 'skip'"),
            ({"undefined": "nan"}, "undefined must be a finite number or 'drop', got 'nan'"),
        ):
            with pytest.raises(ValueError, match=message):
                MEASURES[name](**{**self.SOUND, **changes})

    @pytest.mark.parametrize("name", WITH_K)
    def test_cut_off(self, name):
        for k in (0, -1, 1.0, 2.5, True, "3", np.float64(3), np.nan, [1]):
            with pytest.raises(ValueError, match=r"k must be None .* or a positive integer, got"):
                measure(name, [0, 1], [1, 2], k=k)

    def test_series_that_are_not_aligned(self):
        for name in ALL:
            y_true = pd.Series([1, 0], index=pd.Index(["a", "b"], name="qid"))
            with pytest.raises(ValueError, match=r"different indexes.*reindex"):
                MEASURES[name](y_true, y_true[::-1])


def test_names_are_sorted():
    names = get_measure_names()
    assert names == sorted(names)
    # Other tests may have registered some.
    assert set(ALL) <= set(names)


def test_documentation_is_complete():
    for name in ALL:
        doc = MEASURES[name].__doc__
        for section in ("Parameters", "Returns", "Raises", "Notes", "References", "Examples"):
            assert f"\n{section}\n---" in doc, name
        assert ("k : int or None" in doc) == MEASURES[name].takes_k, name
        assert MEASURES[name].summary.endswith("."), name
        notes = doc[doc.index("\nNotes\n---") :]
        for about in ("Hidden documents", "Unjudged documents"):
            assert re.search(about.replace(" ", r"\s+"), notes), f"{about} of {name}"
        for option in (*MEASURES[name].options, *MEASURES[name].columns):
            assert f"\n{option} : " in doc, name


def test_parameters_stand_in_the_order_of_the_documentation():
    for name in ALL:
        function = MEASURES[name]
        documented = re.findall(r"^(\w+) : ", function.__doc__.split("Returns\n")[0], re.MULTILINE)
        assert documented == list(inspect.signature(function).parameters), name


@pytest.mark.parametrize("scores", [[2**53, 2**53 + 1], [-(2**62), -(2**62) + 1], [0, 2**63 - 1]])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
def test_whole_numbers_beyond_those_of_float64_are_told_apart(scores, dtype):
    if dtype == np.uint64:
        scores = np.abs(np.array(scores, dtype=object)).tolist()
    scores = np.array(sorted(scores), dtype=dtype)
    assert measure("ap", [0, 1], scores) == 1
    assert measure("ap", [1, 0], scores) == 1 / 2


MERGED = {
    "above 2**64": [2**70, 2**70 + 1],
    "objects": np.array([2**70, 2**70 + 1, 0.5], dtype=object),
    "beside a fraction": [2**53, 2**53 + 1, 0.5],
    "fractions": [Fraction(1, 3), Fraction(10**20, 3 * 10**20 + 1)],
    "int64": np.array([2**53, 2**53 + 1]),
    "uint64": np.array([2**63, 2**63 + 1], dtype=np.uint64),
    "nullable": pd.array([2**53, 2**53 + 1], dtype="Int64"),
}


@pytest.mark.parametrize("kind", MERGED)
def test_scores_that_float64_would_tie_are_ordered_or_refused(kind, tmp_path):
    scores = MERGED[kind]
    n = len(scores)
    if kind in ("int64", "uint64", "nullable"):
        assert measure("rr", [0, 1] + [0] * (n - 2), scores) == 1
    else:
        with pytest.raises(InputError, match=r"y_score holds .* rounds to one number"):
            measure("rr", [0, 1] + [0] * (n - 2), scores)
    qids, docnos = ["1"] * n, [f"d{i}" for i in range(n)]
    dtype = getattr(scores, "dtype", object)
    run = pd.DataFrame({"qid": qids, "docno": docnos, "score": pd.Series(scores, dtype=dtype)})
    with pytest.raises(InputError, match="float64 rounds to one number"):
        read_run(run)
    with pytest.raises(InputError, match="float64 rounds to one number"):
        write_run(tmp_path / "run.txt", qids, docnos=docnos, y_score=scores)


def test_large_numbers_that_float64_tells_apart():
    for scores in ([2**70, 2**71], [2**53, 0.5], [-np.inf, 2**60]):
        assert measure("rr", [scores[0] > scores[1], scores[0] < scores[1]], scores) == 1


def test_gains_whose_sums_are_no_numbers():
    for gains, most in (
        ([1e308, 1e308], "1e+308"),
        ([-1e308, np.nan], "1e+308"),
        ([1e201, -1], "1e+201"),
        ([1.05e200, -1], "1.05e+200"),
    ):
        with pytest.raises(ValueError, match=rf"gives gains up to {re.escape(most)}, whose sums"):
            measure("ndcg_f", gains, [2, 1])
    assert measure("ndcg_f", [1e200, 1e200], [2, 1]) == 1
    with pytest.raises(ValueError, match=r"^y gives gains up to"):
        RankedLists([1e300], groups=[0], name="y")

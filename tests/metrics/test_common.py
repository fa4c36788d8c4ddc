"""What must not change any measure, and what none may accept: over the whole table of measures."""

import functools
import inspect
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import times
from reference import DIVIDES_BY_K, LISTS, OPTIONS, PLAIN, gains_for
from skfilterrank._core.measure import MEASURES
from skfilterrank._core.scoring import OVER_QUERIES
from skfilterrank.metrics import (
    dcg_bounds,
    filtering_difficulty,
    get_measure_names,
    unbounded_queries,
)

# Every measure is given gains below 0 here.
pytestmark = pytest.mark.filterwarnings("ignore:.*some gains are below 0")

NO = -np.inf
ALL = sorted(MEASURES)
WITH_K = sorted(name for name, entry in MEASURES.items() if entry.takes_k)


class Rows:
    """Random rows: ragged queries in mixed order, ties, filtered and unjudged rows."""

    def __init__(self, seed, n_queries=30, max_size=9):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, max_size + 1, n_queries)
        self.groups = rng.permutation(np.repeat(np.arange(n_queries), sizes))
        n = len(self.groups)
        self.y_true = rng.choice([-2.0, -1.0, 0.0, 1.0, 3.0, np.nan], n)
        self.y_score = rng.choice([NO, -1.0, 0.0, 0.5, 2.0, 3.0], n)
        self.ids = rng.permutation(n)
        self.order = rng.permutation(n)
        self.k = [None, 1, 2, 3, 5, 20][seed % 6]

    def score(self, name, **changes):
        params = {
            "y_true": self.y_true,
            "y_score": self.y_score,
            "groups": self.groups,
            "undefined": "drop",
            "average": None,
            **OPTIONS.get(name, {}),
        }
        if MEASURES[name].takes_k:
            params["k"] = self.k
        params |= changes
        params["gains"] = gains_for(name, params.get("gains"))
        return MEASURES[name].function(**params)


ROWS = [Rows(seed) for seed in range(6)]


@functools.cache
def plain(name, rows):
    """A measure of the rows as they are, one value per query."""
    return rows.score(name)


def measure(name, y_true, y_score, **params):
    """A measure of one query."""
    return MEASURES[name].function(
        y_true, y_score, groups=["q"] * len(y_true), gains=gains_for(name), **params
    )


same = np.testing.assert_allclose


@pytest.mark.parametrize("name", ALL)
def test_row_order(name):
    for rows in ROWS:
        order = rows.order
        moved = {
            "y_true": rows.y_true[order],
            "y_score": rows.y_score[order],
            "groups": rows.groups[order],
        }
        for ties in MEASURES[name].ties:
            if ties != "stable":
                same(rows.score(name, ties=ties, **moved), rows.score(name, ties=ties), atol=1e-12)
        expected = rows.score(name, ties=rows.ids)
        same(rows.score(name, ties=rows.ids[order], **moved), expected, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_stable_ties_follow_the_rows_of_a_query_alone(name):
    for rows in ROWS:
        together = np.argsort(rows.groups, kind="stable")
        actual = rows.score(
            name,
            y_true=rows.y_true[together],
            y_score=rows.y_score[together],
            groups=rows.groups[together],
            ties="stable",
        )
        same(actual, rows.score(name, ties="stable"), atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_query_names(name):
    for rows in ROWS:
        # "q0", "q1", "q10", ...: sorted as text they come in another order.
        names = np.array([f"q{query}" for query in rows.groups])
        _, first = np.unique(names, return_index=True)
        same(rows.score(name, groups=names), plain(name, rows)[rows.groups[first]], atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_query_ids_in_the_index(name):
    for rows in ROWS[:2]:
        y_true = pd.Series(rows.y_true, index=pd.Index(rows.groups, name="qid"))
        same(rows.score(name, y_true=y_true, groups=None), plain(name, rows))
        both = pd.MultiIndex.from_arrays([rows.ids, rows.groups], names=["docno", "qid"])
        joined = {"y_true": y_true.set_axis(both), "y_score": pd.Series(rows.y_score, index=both)}
        same(rows.score(name, **joined, groups=None), plain(name, rows))


@pytest.mark.parametrize("name", ALL)
def test_monotone_rescaling(name):
    for rows in ROWS:
        for rescale in (lambda s: 2 * s - 7, np.exp, lambda s: s**3, lambda s: 1e-300 * s):
            scores = np.where(rows.y_score == NO, NO, rescale(np.maximum(rows.y_score, -9)))
            same(rows.score(name, y_score=scores), plain(name, rows), atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_types_of_scores(name):
    rows = ROWS[3]
    for dtype in (np.float16, np.float32, np.longdouble, object):
        same(
            rows.score(name, y_score=rows.y_score.astype(dtype)),
            plain(name, rows),
            atol=1e-12,
        )
    for container in (list, tuple, pd.Series, lambda scores: np.array(scores)[:, None]):
        same(rows.score(name, y_score=container(rows.y_score)), plain(name, rows), atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_whole_numbers_as_scores(name):
    for rows in ROWS[:3]:
        # Without -inf; the shorter lists of a block must not be padded with a real score.
        scores = (rows.y_score > 0).astype(float)
        expected = rows.score(name, y_score=scores)
        for dtype in (np.int8, np.uint8, np.int64, bool):
            same(rows.score(name, y_score=scores.astype(dtype)), expected)


@pytest.mark.parametrize("name", ALL)
def test_each_query_is_measured_alone(name):
    for rows in ROWS:
        queries = rows.order[:8] % 30
        alone = [
            rows.score(
                name,
                y_true=rows.y_true[rows.groups == query],
                y_score=rows.y_score[rows.groups == query],
                groups=rows.groups[rows.groups == query],
            )[0]
            for query in queries
        ]
        same(plain(name, rows)[queries], alone, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_mean(name):
    over_queries = OVER_QUERIES[MEASURES[name].over_queries]
    for rows in ROWS:
        values = plain(name, rows)
        assert OVER_QUERIES["mean"](values) == pytest.approx(np.nanmean(values))
        mean = rows.score(name, average="mean")
        assert mean == pytest.approx(over_queries(values))
        assert isinstance(mean, float)
        filled = np.where(np.isnan(values), 0.25, values)
        same(rows.score(name, undefined=0.25), filled)
        mean = rows.score(name, undefined=0.25, average="mean")
        assert mean == pytest.approx(over_queries(filled))


@pytest.mark.parametrize("name", ALL)
def test_gains_instead_of_labels(name):
    words = {-2.0: "awful", -1.0: "bad", 0.0: "dull", 1.0: "useful", 3.0: "good"}
    gains = {word: gain for gain, word in words.items()}
    for rows in ROWS[:2]:
        labels = pd.Series(rows.y_true).map(words)
        same(rows.score(name, y_true=labels, gains=gains), plain(name, rows))
        same(
            rows.score(name, gains="exp2"),
            rows.score(name, y_true=np.where(rows.y_true > 0, 2**rows.y_true - 1, rows.y_true)),
        )


@pytest.mark.parametrize("name", ALL)
def test_nothing_is_written_to(name):
    rows = Rows(3)
    arrays = rows.y_true, rows.y_score, rows.groups, rows.ids
    before = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    for unjudged in ("zero", "drop"):
        rows.score(name, unjudged=unjudged, ties=rows.ids)
    for array, copy in zip(arrays, before):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("name", [name for name in WITH_K if name not in DIVIDES_BY_K])
def test_no_cut_off_is_a_cut_off_beyond_every_list(name):
    for rows in ROWS[:3]:
        same(rows.score(name, k=None), rows.score(name, k=9))
        same(rows.score(name, k=None), rows.score(name, k=10**6))


@pytest.mark.parametrize("name", [name for name in ALL if MEASURES[name].greater_is_better])
def test_worst_and_best_order_of_ties(name):
    for rows in ROWS:
        worst, best = (rows.score(name, ties=ties, undefined=0.0) for ties in ("worst", "best"))
        assert (worst <= best + 1e-12).all()
        # At the end of the list, a share of what is shown knows no order.
        if MEASURES[name].order_matters != "never":
            if MEASURES[name].takes_k:
                worst_of_two, best_of_two = (
                    rows.score(name, ties=ties, k=2) for ties in ("worst", "best")
                )
                assert (worst_of_two < best_of_two).any()
            else:
                assert (worst < best).any()
        if "average" in MEASURES[name].ties:
            average = rows.score(name, ties="average", undefined=0.0)
            assert (worst <= average + 1e-12).all()
            assert (average <= best + 1e-12).all()


@pytest.mark.parametrize("name", ALL)
def test_ties_do_not_matter_where_there_are_none(name):
    for rows in ROWS[:3]:
        scores = np.where(rows.y_score == NO, NO, rows.ids.astype(float))
        expected = rows.score(name, y_score=scores)
        for ties in ("stable", "worst", "best", -rows.ids):
            same(rows.score(name, y_score=scores, ties=ties), expected, atol=1e-12)


def test_value_ranges():
    """From 0 to 1, but for these."""
    counts = ("num_q", "num_ret", "num_rel", "num_rel_ret")
    others = dict.fromkeys(("recall_error", "search_length", "sp", "stat_ap", *counts), (0, np.inf))
    others |= dict.fromkeys(("dcg", "ndcg_min", "above_chance"), (-np.inf, np.inf))
    others |= {"ul_normalized": (-1, 1)}
    for name, entry in MEASURES.items():
        assert entry.value_range == others.get(name, (0, 1)), name


@times(3)
@given(
    query=st.lists(
        st.tuples(st.floats(-9, 9), st.sampled_from([NO, 0.0, 1.0, 2.0])), min_size=1, max_size=8
    ),
    k=st.integers(1, 9),
    unjudged=st.sampled_from(["zero", "drop"]),
)
def test_range(query, k, unjudged):
    gains, scores = np.array(query).T
    for_gains = {
        "nonnegative gains": np.abs(gains),
        "binary gains": (gains > 0).astype(float),
    }
    for name, entry in MEASURES.items():
        params = ({"k": k} if entry.takes_k else {}) | OPTIONS.get(name, {})
        held = for_gains.get(entry.range_holds_for, gains)
        value = measure(name, held, scores, unjudged=unjudged, undefined="drop", **params)
        low, high = entry.value_range
        assert np.isnan(value) or low - 1e-12 <= value <= high + 1e-12, name


@pytest.mark.parametrize("which", LISTS)
def test_plain_lists(which):
    gains, scores = LISTS[which]
    for name, value in PLAIN[which].items():
        actual = measure(name, gains, scores, undefined="drop")
        assert actual == pytest.approx(np.nan if value is None else value, nan_ok=True), name


def test_no_query_has_a_value():
    for name in ALL:
        value = measure(name, [0, 0], [NO, NO], undefined="drop")
        if "undefined (never)" in MEASURES[name].function.__doc__:
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
            (
                {"groups": [1.0, np.nan, 1.0]},
                r"1 missing value\(s\), the first at row 1",
            ),
            ({"groups": ["a", None, "b"]}, "groups has 1 missing value"),
            ({"groups": [1, "1", 1]}, "make them all strings or all numbers"),
            ({"groups": "aab"}, "one query id per row, got 'aab'"),
            ({"y_score": [1, np.nan, np.nan]}, "y_score holds 2 NaN, the first at row 1"),
            ({"y_score": [1, None, 2]}, "y_score holds 1 NaN, the first at row 1"),
            ({"y_score": [1, NO, np.inf]}, r"y_score holds 1 \+inf, the first at row 2"),
            ({"y_score": [np.nan, np.inf, NO]}, "y_score holds 1 NaN"),
            ({"y_score": [1, 2]}, "y_score has 2 entries but y_true has 3"),
            ({"y_score": [[1, 2]] * 3}, r"1-D\), got shape \(3, 2\).*predict_proba"),
            ({"y_score": 3}, "y_score must hold one score per row, got 3"),
            ({"y_score": ["0.1", "0.2", "0.3"]}, "y_score must hold numbers, got dtype"),
            ({"y_score": np.array(["0.1", 2, 3], dtype=object)}, "y_score must hold numbers"),
            ({"y_score": np.array([1, 2, 3], dtype="datetime64[D]")}, "must hold numbers"),
            ({"y_score": [1j, 2, 3]}, "Complex data not supported: y_score must hold"),
            ({"y_true": ["Good", "Bad", "Good"]}, r"not numbers \('Good', 'Bad'\): pass gains"),
            ({"y_true": [0, 1, np.inf]}, "y_true holds an infinite label"),
            ({"gains": {0: 0, 1: 1}}, "no entry in gains: -1; gains has 0, 1"),
            ({"gains": "linear"}, "gains must be None, 'exp2', a dict"),
            ({"y_true": []}, "y_true is empty"),
            ({"y_true": [[1, 2], [1, 2], [1, 2]]}, "y_true must hold one label per row .1-D"),
            ({"ties": "avg"}, "ties must be 'average', 'stable', 'worst', 'best' or an array"),
            ({"ties": None}, "ties must be 'average'"),
            ({"ties": ["a", "b"]}, r"one id per row: expected 3, got 2"),
            ({"ties": ["a", None, "b"]}, "ties has a missing document id at row 1"),
            ({"unjudged": "skip"}, "unjudged must be one of 'zero', 'drop', got 'skip'"),
            ({"undefined": "nan"}, "undefined must be a finite number or 'drop', got 'nan'"),
            ({"undefined": np.nan}, "undefined must be a finite number or 'drop'"),
            ({"undefined": None}, "undefined must be a finite number or 'drop', got None"),
            ({"undefined": np.array([0, 1])}, "undefined must be a finite number or 'drop'"),
            ({"average": "macro"}, "average must be one of 'mean', None, got 'macro'"),
        ],
    )
    def test_message(self, changes, message):
        with pytest.raises(ValueError, match=message):
            MEASURES["ndcg_f"].function(**{**self.SOUND, **changes})

    @pytest.mark.parametrize("name", ALL)
    def test_every_measure_asks(self, name):
        """The messages are made in one place, which each measure asks about each argument."""
        for changes, message in (
            ({"groups": None}, "groups is missing"),
            ({"groups": ["a", None, "b"]}, "groups has 1 missing value"),
            ({"y_score": [1, np.nan, np.nan]}, "y_score holds 2 NaN, the first at row 1"),
            ({"y_score": [1, 2]}, "y_score has 2 entries but y_true has 3"),
            ({"y_true": ["Good", "Bad", "Good"]}, r"not numbers \('Good', 'Bad'\): pass gains"),
            ({"y_true": [0, 1, np.inf]}, "y_true holds an infinite label"),
            ({"y_true": []}, "y_true is empty"),
            ({"gains": {0: 0, 1: 1}}, "no entry in gains: -1; gains has 0, 1"),
            ({"ties": "avg"}, "ties must be 'average', 'stable', 'worst', 'best' or an array"),
            ({"unjudged": "skip"}, "unjudged must be one of 'zero', 'drop', got 'skip'"),
            ({"undefined": "nan"}, "undefined must be a finite number or 'drop', got 'nan'"),
            ({"average": "macro"}, "average must be one of 'mean', None, got 'macro'"),
        ):
            with pytest.raises(ValueError, match=message):
                MEASURES[name].function(**{**self.SOUND, **changes})

    @pytest.mark.parametrize("name", WITH_K)
    def test_cut_off(self, name):
        for k in (0, -1, 1.0, 2.5, True, "3", np.float64(3), np.nan, [1]):
            with pytest.raises(ValueError, match=r"k must be None .* or a positive integer, got"):
                measure(name, [0, 1], [1, 2], k=k)

    @pytest.mark.parametrize("name", ALL)
    def test_series_that_are_not_aligned(self, name):
        y_true = pd.Series([1, 0], index=pd.Index(["a", "b"], name="qid"))
        with pytest.raises(ValueError, match=r"different indexes.*reindex"):
            MEASURES[name].function(y_true, y_true[::-1])

    def test_measures_of_judgments_alone(self):
        for function in (dcg_bounds, filtering_difficulty):
            with pytest.raises(ValueError, match="groups is missing"):
                function([1, 2])
            with pytest.raises(ValueError, match="k must be None"):
                function([1, 2], groups=[1, 1], k=0)
            with pytest.raises(ValueError, match="no entry in gains: 2"):
                function([1, 2], groups=[1, 1], gains={1: 1})
            with pytest.raises(ValueError, match="y_true is empty"):
                function([], groups=[])
        with pytest.raises(ValueError, match="average must be one of"):
            filtering_difficulty([1, 2], groups=[1, 1], average="sum")
        with pytest.raises(ValueError, match="undefined must be"):
            filtering_difficulty([1, 2], groups=[1, 1], undefined="skip")
        with pytest.raises(ValueError, match="y_score holds 1 NaN"):
            unbounded_queries([1, 2], [1, np.nan], groups=[1, 1])

    @pytest.mark.parametrize("name", ALL)
    def test_odd_but_sound_input_gives_a_number(self, name):
        for gains, scores in (
            ([1, 0, -1], [NO, NO, NO]),  # all rows filtered
            ([1], [1]),  # a query with one document
            ([1, 1, 1], [1, 2, 3]),  # all labels equal
            ([-1, -1, -1], [1, 2, 3]),
            ([0, 0, 0], [1, 2, 3]),  # all gains zero
            ([np.nan, np.nan], [1, NO]),  # nothing judged
        ):
            for unjudged in ("zero", "drop"):
                assert np.isfinite(measure(name, gains, scores, unjudged=unjudged))


def test_names_are_sorted():
    assert get_measure_names() == ALL


@pytest.mark.parametrize("name", ALL)
def test_documentation_is_complete(name):
    doc = MEASURES[name].function.__doc__
    assert "{parameters}" not in doc
    assert "{returns}" not in doc
    for section in ("Parameters", "Returns", "Raises", "Notes", "References", "Examples"):
        assert f"{section}\n    ---" in doc
    assert ("k : int or None" in doc) == MEASURES[name].takes_k
    assert MEASURES[name].summary.endswith(".")
    notes = doc[doc.index("Notes\n    ---") :]
    for about in ("Filtered documents", "Unjudged documents"):
        assert re.search(about.replace(" ", r"\s+"), notes), about
    for option in (*MEASURES[name].options, *MEASURES[name].columns):
        assert f"\n    {option} : " in doc


@pytest.mark.parametrize("name", ALL)
def test_parameters_stand_in_the_order_of_the_documentation(name):
    function = MEASURES[name].function
    documented = re.findall(r"^    (\w+) : ", function.__doc__.split("Returns\n")[0], re.MULTILINE)
    assert documented == list(inspect.signature(function).parameters)


@pytest.mark.parametrize("scores", [[2**53, 2**53 + 1], [-(2**62), -(2**62) + 1], [0, 2**63 - 1]])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
def test_whole_numbers_beyond_those_of_float64_are_told_apart(scores, dtype):
    if dtype == np.uint64:
        scores = np.abs(np.array(scores, dtype=object)).tolist()
    scores = np.array(sorted(scores), dtype=dtype)
    assert measure("ap", [0, 1], scores) == 1
    assert measure("ap", [1, 0], scores) == 1 / 2


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

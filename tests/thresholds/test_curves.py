"""Curves over thresholds and prices, and the best threshold of Rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from certificates import judged_rows, real_thresholds
from profiles import times
from rows_of_queries import COLUMNS, cut, make_rows
from skfilterrank._base.rounding import midpoint
from skfilterrank._lists.measure import MEASURES
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.exceptions import DataWarning, FitWarning, InputError
from skfilterrank.io import Rows
from skfilterrank.metrics import filtering_difficulty, make_ranking_scorer, ndcg_f_score
from skfilterrank.thresholds import (
    CertifiedThreshold,
    FirstK,
    FixedThreshold,
    ThresholdCurve,
    TunedThreshold,
    threshold_curve,
)
from thinned import thinned

NO = -np.inf


def with_cutoff(measure, k):
    """The name of a measure with a cut-off, where it has none."""
    return measure if k is None or "@" in measure.rpartition(")")[2] else f"{measure}@{k}"


def kept(y_score, threshold):
    """Scores after filtering by a threshold."""
    y_score = np.asarray(y_score)
    return np.where(y_score >= threshold, y_score.astype(float), NO)


def means(measure, y_true, y_score, groups, /, *, thresholds, **params):
    """The mean of a measure at each threshold: one call, in which each has its own queries."""
    function, n = MEASURES[measure], len(thresholds)
    scores = np.concatenate([kept(y_score, threshold) for threshold in thresholds])
    apart = np.repeat(np.arange(n), len(groups)) * 1000 + np.tile(groups, n)
    values = function.per_query(np.tile(y_true, n), scores, groups=apart, **params)
    values = values.reshape(n, -1)
    counted = ~np.isnan(values)
    return np.divide(
        np.where(counted, values, 0).sum(axis=1),
        counted.sum(axis=1),
        out=np.full(n, np.nan),
        where=counted.any(axis=1),
    )


LABEL = st.sampled_from([-10.0, -1.0, 0.0, 0.0, 0.3, 1.0, 2.0, np.nan])
SCORE = st.one_of(
    st.sampled_from([NO, -1.0, 0.0, 0.5, 0.5, 2.0]), st.floats(-1e3, 1e3, allow_subnormal=False)
)
ROWS = judged_rows(LABEL, SCORE, most=4)


def thresholds_to_try(y_score):
    """All distinct scores, something between, below and above each two, and the ends."""
    nearly = np.nextafter(np.unique(y_score[np.isfinite(y_score)]), np.inf)
    return np.union1d(real_thresholds(y_score), nearly)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:queries without a judged")
@pytest.mark.parametrize("measure", ["ndcg_f", "dcg"])
@given(
    undefined=st.sampled_from([0.0, 1, "drop"]),
    rows=ROWS,
    k=st.sampled_from([None, 1, 2, 3, 10]),
)
def test_the_best_threshold_keeps_most_of_the_equally_good_ones(measure, undefined, rows, k):
    y_true, y_score, groups = rows
    curve = threshold_curve(
        y_true, y_score, groups=groups, undefined=undefined, measure=with_cutoff(measure, k)
    )

    def at(thresholds):
        return means(
            measure, y_true, y_score, groups, thresholds=thresholds, k=k, undefined=undefined
        )

    assert isinstance(curve, ThresholdCurve)
    assert curve.thresholds.dtype == curve.values.dtype == np.float64
    assert curve.thresholds.shape == curve.values.shape
    assert curve.thresholds[0] == np.inf
    assert (np.diff(curve.thresholds) < 0).all()
    assert np.isin(curve.thresholds[1:], y_score).all()
    assert type(curve.best_threshold) is float
    assert type(curve.best_value) is float
    # Among equal optima the one that keeps most, in the middle of the gap under what it keeps.
    distinct = np.unique(y_score[np.isfinite(y_score)])
    values = at([*distinct, np.inf])
    if np.isnan(values).all():
        assert curve.best_threshold == NO
        return
    slack = 1e-11 * np.abs(values).max()
    n_hidden = np.flatnonzero(values >= values.max() - slack)[0]
    if n_hidden == 0:
        assert curve.best_threshold == NO
    elif n_hidden == len(distinct):
        assert curve.best_threshold == np.inf
    else:
        middle = distinct[n_hidden - 1] / 2 + distinct[n_hidden] / 2
        assert curve.best_threshold == pytest.approx(middle, rel=1e-12)


OPTIONS = [
    "ap(normalize=min)@3",
    "ap(normalize=k)@3",
    "bpref(variant=printed)",
    "lexirecall(scale=log)",
    "lexirecall(scale=share,n_items=50)",
    "metric_lexirecall(epsilon=0.1)",
    "q_measure(beta=0)",
    "rbp(persistence=0.95)@3",
    "rbp(relevance=graded)",
    "tse(exposure=ndcg,n_items=50)",
    "ul_normalized(measure=ap)",
    "ul_normalized(measure=ndcg_f)",
    "ul_normalized(measure=ndcg,variant=v1)",
    "ul_normalized(measure=rbp@2,variant=v1)",
    "ul_normalized(measure=sp,variant=v1)",
    "ul_normalized(measure=err)",
    "ul_normalized(expectation=paper)",
]

MEANS = [name for name in sorted(MEASURES) if MEASURES[name].over_queries == "mean"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:queries without a judged")
@pytest.mark.parametrize("measure", thinned(MEANS + OPTIONS, turn=1, parts=2))
@times(1 / 4)  # of each of many measures
@given(
    rows=ROWS,
    k=st.sampled_from([None, 1, 2, 10]),
    undefined=st.sampled_from([0.25, "drop"]),
    has_ties=st.booleans(),
)
def test_every_measure_at_every_threshold(measure, rows, k, undefined, has_ties):
    y_true, y_score, groups = rows
    if not has_ties:
        y_score = np.where(np.isneginf(y_score), NO, np.argsort(np.argsort(y_score, kind="stable")))
    if measure.startswith("ul_normalized"):
        y_true = np.abs(y_true)
        y_true[y_true > 4] = 0
    if "graded" in measure:
        y_true = np.minimum(y_true, 1)
    entry, cutoff, options = parse_measure(measure)
    params = {**options, "undefined": undefined}
    # A measure inside ul_normalized has no cut-off, or one of its own.
    if entry.takes_k and not ("measure=lexirecall" in measure or "measure=rbp@2" in measure):
        params["k"] = k = cutoff or k
    else:
        k = None
    curve = threshold_curve(
        y_true, y_score, groups=groups, undefined=undefined, measure=with_cutoff(measure, k)
    )
    tried = thresholds_to_try(y_score)
    expected = means(entry.name, y_true, y_score, groups, thresholds=tried, **params)
    np.testing.assert_allclose(curve.value_at(tried), expected, rtol=1e-9, atol=1e-11)
    if np.isnan(expected).all():
        return
    best = np.nanmax(expected) if entry.greater_is_better else np.nanmin(expected)
    np.testing.assert_allclose(curve.best_value, best, rtol=1e-9, atol=1e-11)
    at_best = means(
        entry.name, y_true, y_score, groups, thresholds=[curve.best_threshold], **params
    )
    np.testing.assert_allclose(at_best, best, rtol=1e-9, atol=1e-11)


def test_what_the_measure_refuses_is_refused_here():
    with pytest.raises(ValueError, match="needs gains from 0 up"):
        threshold_curve([1, -1], [2, 1], groups=[0, 0], measure="ul_normalized(measure=ndcg_f)")


def test_by_hand():
    # Queries a: 2, -1 and b: -1, of which all end at one global threshold.
    y_true, y_score, groups = [2, -1, -1], [0.9, 0.5, 0.7], ["a", "a", "b"]
    curve = threshold_curve(y_true, y_score, groups=groups)
    # a: worst -1, ideal 2, so that the lists -, 2 and 2 -1 score 1/3, 1 and this:
    all_of_a = (2 - 1 / np.log2(3) + 1) / 3
    np.testing.assert_allclose(curve.thresholds, [np.inf, 0.9, 0.7, 0.5])
    np.testing.assert_allclose(
        curve.values, [(1 / 3 + 1) / 2, (1 + 1) / 2, (1 + 0) / 2, (all_of_a + 0) / 2]
    )
    assert curve.best_threshold == pytest.approx((0.7 + 0.9) / 2)
    assert curve.best_value == pytest.approx(1)


def test_filtering_everything_is_best():
    curve = threshold_curve([-2, -1], [3, 2], groups=["a", "a"])
    assert (curve.best_threshold, curve.best_value) == (np.inf, pytest.approx(1))
    assert curve.values[0] == filtering_difficulty([-2, -1], groups=["a", "a"])


def test_of_equal_optima_the_one_that_keeps_most():
    # Documents of gain 0 make no difference: the middle is taken under the last of them.
    y_true, y_score = [1, 0, 0, -1, 0], [9, 8, 6, 2, 1]
    curve = threshold_curve(y_true, y_score, groups=["a"] * 5)
    assert curve.thresholds.tolist() == [np.inf, 9, 2]
    assert curve.best_threshold == (6 + 2) / 2


@pytest.mark.parametrize(("difference", "best"), [(1e-13, -np.inf), (1e-11, 2.5)])
def test_sums_that_are_rounding_apart_are_equal(difference, best):
    # DCG with both documents, the first alone, and none: 1 - difference, 1 and 0.
    labels = [1, -difference * np.log2(3)]
    curve = threshold_curve(labels, [3, 2], groups=[1, 1], measure="dcg")
    np.testing.assert_array_equal(curve.values, [0, 1, 1 - difference])
    assert curve.best_threshold == best
    # -difference, -1 and 0: what counts is the size of the largest, whatever its sign.
    labels = [-1, (1 - difference) * np.log2(3)]
    curve = threshold_curve(labels, [3, 2], groups=[1, 1], measure="dcg")
    np.testing.assert_allclose(curve.values, [0, -1, -difference], atol=1e-15)
    assert curve.best_threshold == (best if best < 0 else np.inf)


def test_documents_below_the_cut_off_are_kept():
    curve = threshold_curve([1, -1], [2, 1], groups=["a", "a"], measure="ndcg_f@1")
    assert curve.thresholds.tolist() == [np.inf, 2]
    assert curve.best_threshold == NO


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:queries without a judged")
@pytest.mark.parametrize("measure", ["ndcg_f", "dcg"])
@pytest.mark.parametrize("undefined", [0.0, 1, "drop"])
def test_nothing_to_choose(measure, undefined):
    for y_true, y_score in (([0, 0], [1, 2]), ([np.nan, np.nan], [1, 2]), ([1, -1], [NO, NO])):
        curve = threshold_curve(
            y_true, y_score, groups=[1, 2], measure=measure, undefined=undefined
        )
        value = MEASURES[measure](y_true, y_score, groups=[1, 2], undefined=undefined)
        assert curve.thresholds.tolist() == [np.inf]
        assert curve.best_threshold == NO
        np.testing.assert_equal(curve.best_value, value)


@pytest.mark.parametrize("n", [3, 16, 50])
def test_equal_gains_leave_no_rest(n):
    groups, y_true = np.repeat([0, 1], n), np.repeat([0.1, 1 / 3], n)
    curve = threshold_curve(y_true, np.arange(2 * n), groups=groups, measure="ndcg_min")
    assert (curve.thresholds.tolist(), curve.values.tolist()) == ([np.inf], [0])


def test_equal_scores_in_a_query_go_together():
    # Keeping one of the two would be better, but no threshold does.
    curve = threshold_curve([2, -1], [5, 5], groups=["a", "a"])
    assert curve.thresholds.tolist() == [np.inf, 5]
    assert curve.values.tolist() == pytest.approx([1 / 3, (0.5 * (1 + 1 / np.log2(3)) + 1) / 3])


def test_negative_zero_is_zero():
    curve = threshold_curve([1, -1, 1], [0.0, -0.0, 0.0], groups=["a", "b", "c"])
    assert curve.thresholds.tolist() == [np.inf, 0]


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-np.nextafter(1.0, 2.0), -1.0),
        (0.0, 5e-324),
        (5e-324, 1e-323),
        (np.finfo(float).max / 2, np.finfo(float).max),
        (-np.finfo(float).max, np.finfo(float).max),
        (-np.finfo(float).max, np.nextafter(-np.finfo(float).max, 0)),
        (-(2**62), 2**62),
        (False, True),
        (np.float32(1), np.nextafter(np.float32(1), np.float32(2))),
        (np.float16(-65504), np.float16(65504)),
    ],
)
def test_the_best_threshold_tells_any_two_scores_apart(low, high):
    y_score = np.array([high, low])
    curve = threshold_curve([1, -1], y_score, groups=["a", "b"])
    assert curve.best_value == 1
    # As users write it: in the type of the scores.
    assert (y_score >= curve.best_threshold).tolist() == [True, False]
    assert low < curve.best_threshold <= high
    assert np.isfinite(curve.best_threshold)


@pytest.mark.slow
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2), st.data())
def test_midpoint(scores, data):
    scores = np.unique(scores) + 0.0
    lower = data.draw(st.sampled_from(list(scores)))
    middle = midpoint(scores, lower)
    if lower == scores.max():
        assert middle == np.inf
    else:
        assert lower < middle <= scores[scores > lower].min()


def test_large_and_small_gains():
    # The slack for equal optima goes with the size of the values.
    for scale in (1e-15, 1e-6, 1.0, 1e6, 1e200):
        curve = threshold_curve([scale, -scale], [1, 0], groups=["a", "b"], measure="dcg")
        assert curve.best_threshold == 0.5
        np.testing.assert_allclose(curve.values, [0, scale / 2, 0])
        curve = threshold_curve([scale, -scale], [1, 0], groups=["a", "b"])
        assert curve.best_threshold == 0.5
        np.testing.assert_allclose(curve.values, [0.5, 1, 0.5])


def test_row_order_and_carriers_of_queries():
    rng = np.random.default_rng(0)
    groups, y_true = rng.integers(0, 40, 300), rng.choice([-1.0, 0, 1, 2], 300)
    y_score, order = rng.integers(0, 50, 300) / 7, rng.permutation(300)
    expected = threshold_curve(y_true, y_score, groups=groups, measure="ndcg_f@3")
    actual = threshold_curve(
        y_true[order], y_score[order], groups=groups[order], measure="ndcg_f@3"
    )
    np.testing.assert_array_equal(actual.thresholds, expected.thresholds)
    np.testing.assert_allclose(actual.values, expected.values, atol=1e-12)
    assert actual.best_threshold == expected.best_threshold
    in_index = pd.Series(y_true, index=pd.Index(groups, name="qid"))
    carried = threshold_curve(in_index, y_score, measure="ndcg_f@3")
    np.testing.assert_array_equal(carried.values, expected.values)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:queries without a judged")
def test_large_data_equals_brute_force_at_some_thresholds():
    # Many blocks, a long query, and thresholds far from all others.
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(2000), rng.integers(1, 40, 2000)))
    groups[rng.random(len(groups)) < 0.05] = 7
    y_true = rng.choice([-3.0, 0, 1, 2, np.nan], len(groups))
    y_score = np.nan_to_num(y_true) + rng.normal(size=len(groups)).round(2)
    curve = threshold_curve(y_true, y_score, groups=groups, measure="ndcg_f@10")
    for threshold in [NO, *rng.choice(y_score, 10), curve.best_threshold, np.inf]:
        expected = ndcg_f_score(y_true, kept(y_score, threshold), groups=groups, k=10)
        found = curve.value_at(threshold)
        assert found == pytest.approx(expected, abs=1e-10)
    assert curve.best_value == curve.values.max()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"groups": None}, "groups is missing"),
        ({"groups": [1]}, "groups has 1 entries but there are 2 rows"),
        ({"y_score": [np.nan, 1]}, "y_score holds 1 NaN"),
        ({"measure": "ndcg_g"}, "'ndcg_g' is not a measure: did you mean"),
        ({"undefined": "skip"}, "undefined must be a finite number or 'drop'"),
        ({"gains": {1: 1}}, "no entry in gains: -1"),
    ],
)
def test_bad_input(changes, message):
    params = {"y_true": [1, -1], "y_score": [1, 2], "groups": [1, 1]}
    with pytest.raises(ValueError, match=message):
        threshold_curve(**{**params, **changes})


def test_a_scorer_is_not_a_name():
    scorer = make_ranking_scorer("rbp@5", persistence=0.5)
    with pytest.raises(
        ValueError, match=r"is a scorer, but a name was expected: write 'rbp@5' with"
    ):
        threshold_curve([1, 0], [2, 1], groups=[0, 0], measure=scorer)


def in_memory(columns):
    return {"scores": columns["score"], "y": columns["label"], "groups": columns["qid"]}


def rows_of(columns):
    return Rows(cut(columns, 200, 201, 600), chunk_rows=300)


@pytest.mark.filterwarnings("ignore:.*as good on held-out queries")
@pytest.mark.parametrize("measure", ["ndcg_f@5", "forbidden@3"])
def test_tuned_threshold(measure):
    columns = COLUMNS | {"score": COLUMNS["score"] + 0.3 * np.nan_to_num(COLUMNS["label"])}
    found = TunedThreshold(measure).fit(rows_of(columns))
    expected = TunedThreshold(measure).fit(**in_memory(columns))
    assert found.threshold_ == expected.threshold_
    assert found.best_score_ == pytest.approx(expected.best_score_, abs=1e-15)
    assert found.threshold_curve_.best_value == found.best_score_
    assert found.list_sizes_.tolist() == expected.list_sizes_.tolist()
    assert found.n_unjudged_ == expected.n_unjudged_ > 0
    scores, groups = columns["score"], columns["qid"]
    shown = expected.predict(scores, groups=groups)
    np.testing.assert_array_equal(found.predict(scores, groups=groups), shown)


@pytest.mark.filterwarnings("ignore:.*are unjudged although a rate")
def test_certified_threshold():
    columns = make_rows(400, seed=3, text_ids=True)
    cut_there = CertifiedThreshold({"any_forbidden@3": 0.7, "false_reject_rate": 0.9})
    with pytest.warns(DataWarning):
        expected = clone(cut_there).fit(**in_memory(columns)).certificate_
    with pytest.warns(DataWarning):
        found = cut_there.fit(rows_of(columns)).certificate_
    assert found.threshold == expected.threshold
    assert str(found) == str(expected)


def test_fixed_threshold_reads_nothing():
    def unread():
        raise AssertionError

    assert FixedThreshold(0.3, max_shown=2).fit(Rows(unread)).threshold_ == 0.3


@pytest.mark.parametrize("threshold", [FixedThreshold(0.3, max_shown=2), FixedThreshold(0.5)])
def test_score(threshold):
    threshold = threshold.fit()
    expected = threshold.score(**{**in_memory(COLUMNS)})
    assert threshold.score(rows_of(COLUMNS)) == pytest.approx(expected, abs=1e-15)


def test_nothing_good_is_warned_of():
    columns = COLUMNS | {"label": np.where(COLUMNS["label"] < 0, -1.0, 0.0)}
    with pytest.warns(FitWarning, match="no label has a gain above 0"):
        TunedThreshold().fit(rows_of(columns))


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (TunedThreshold(max_shown=3), "max_shown=3 is not possible where TunedThreshold is fitted"),
        (TunedThreshold(rule="harm"), "rule='harm' is not possible where TunedThreshold"),
        (FirstK(), "FirstK cannot be fitted on Rows, as it needs whole lists in memory. Use"),
    ],
)
def test_fits_that_need_memory(threshold, message):
    with pytest.raises(InputError, match=message):
        threshold.fit(Rows(COLUMNS))


@pytest.mark.parametrize("name", ["groups", "clusters", "query_weight"])
def test_nothing_is_given_with_rows(name):
    with pytest.raises(InputError, match=f"{name} is not possible where TunedThreshold.fit reads"):
        TunedThreshold().fit(Rows(COLUMNS), **{name: COLUMNS["qid"]})
    if name == "groups":
        with pytest.raises(InputError, match="groups is not possible where threshold_curve reads"):
            threshold_curve(Rows(COLUMNS), groups=COLUMNS["qid"])


def test_rows_have_no_array_of_scores():
    with pytest.raises(InputError, match="scores are Rows, which a threshold cannot return"):
        FixedThreshold(0.3).fit().predict(Rows(COLUMNS))
    with pytest.raises(InputError, match="scores are Rows, which a threshold cannot return"):
        FixedThreshold(0.3).fit().rank(Rows(COLUMNS))


def test_scattered_queries_are_noticed():
    moved = {name: np.append(values, values[:1]) for name, values in COLUMNS.items()}
    with pytest.raises(InputError, match="do not stand together"):
        threshold_curve(Rows(moved))


def test_rows_of_one_reading_are_refused_before_it():
    frames = iter(cut(COLUMNS, 100))
    with pytest.raises(InputError, match="rows can be read only once, but must be read 3 times"):
        threshold_curve(Rows(frames))
    assert len(list(frames)) == 2

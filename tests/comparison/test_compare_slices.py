"""Slices of queries against all: by hand, against scipy, and under the null hypothesis."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skfilterrank._lists.system_pairs import adjust_p_values
from skfilterrank.comparison import (
    SystemScores,
    compare_slices,
    score_predictions,
)
from skfilterrank.exceptions import InputError
from skfilterrank.metrics import evaluate

VALUES = [0.9, 0.8, 0.7, 0.9, 0.8, 0.2, 0.3, 0.1, 0.4]
NAMES = dict(enumerate(["en"] * 5 + ["fr"] * 4))


def test_values_and_intervals_by_hand():
    table = compare_slices([VALUES], NAMES, random_state=0).to_frame().set_index("slice")
    assert table["n_queries"].to_dict() == {"en": 5, "fr": 4}
    assert table["value"].to_dict() == pytest.approx({"en": 0.82, "fr": 0.25})
    assert table["whole"].tolist() == pytest.approx([5.1 / 9] * 2)
    assert table["difference"].to_dict() == pytest.approx(
        {"en": 0.82 - 5.1 / 9, "fr": 0.25 - 5.1 / 9}
    )
    for name, own in {"en": VALUES[:5], "fr": VALUES[5:]}.items():
        low, high = stats.t.interval(0.95, len(own) - 1, np.mean(own), stats.sem(own))
        assert table.loc[name, ["low", "high"]].tolist() == pytest.approx([low, high])


def test_welch_is_scipys():
    table = compare_slices([VALUES], NAMES, test="t", correction=None).to_frame()
    expected = stats.ttest_ind(VALUES[:5], VALUES[5:], equal_var=False).pvalue
    assert table["p_value"].tolist() == pytest.approx([expected, expected])
    assert table["p_adjusted"].equals(table["p_value"])


def test_randomization_is_near_the_exact_share_of_choices():
    mean = np.mean(VALUES)
    sizes = [abs(np.mean(each) - mean) for each in itertools.combinations(VALUES, 4)]
    exact = np.mean(np.array(sizes) >= abs(0.25 - mean) - 1e-12)
    table = compare_slices([VALUES], NAMES, n_resamples=20_000, random_state=0).to_frame()
    assert table["p_value"].tolist() == pytest.approx([exact, exact], abs=0.002)


def test_p_values_are_corrected_for_the_number_of_slices():
    names = dict(enumerate(["en"] * 4 + ["fr"] * 3 + ["it"] * 2))
    table = compare_slices([VALUES], names, correction="bonferroni", random_state=0).to_frame()
    assert table["p_adjusted"].tolist() == pytest.approx(np.minimum(3 * table["p_value"], 1))
    holm = compare_slices([VALUES], names, random_state=0).to_frame()
    assert holm["p_adjusted"].tolist() == adjust_p_values(table["p_value"]).tolist()


def test_several_ways_to_slice_and_several_systems():
    slices = pd.DataFrame(
        {"language": list("eeeeeffff"), "length": pd.cut(range(9), [-1, 2, 9], labels=["a", "b"])},
        index=range(9),
    )
    scores = SystemScores([VALUES, VALUES[::-1]], systems=["x", "y"], queries=range(9))
    result = compare_slices(scores, slices, random_state=0)
    table = result.to_frame()
    assert len(table) == 8
    assert table.groupby("slicing", sort=False)["slice"].unique().map(list).to_dict() == {
        "language": ["e", "f"],
        "length": ["a", "b"],
    }
    alone = compare_slices(
        scores.select(systems=["y"]), slices["length"], random_state=0
    ).to_frame()
    part = table[(table["slicing"] == "length") & (table["system"] == "y")]
    columns = ["n_queries", "value", "low", "high", "whole", "difference"]
    assert np.array_equal(part[columns], alone[columns])
    assert "language" in str(result)
    assert " y " in str(result)


def test_one_way_needs_no_names_of_it():
    text = str(compare_slices([VALUES], NAMES, random_state=0))
    assert "slicing" not in text
    assert "system" not in text


@pytest.mark.nightly
@pytest.mark.parametrize("test", ["randomization", "t"])
def test_rejects_rarely_where_slices_mean_nothing(test):
    rng = np.random.default_rng(0)
    rejected = 0
    for number in range(80):
        # Rates, mostly 0, in unequal slices.
        values = (rng.random(60) < 0.3).astype(float)
        names = dict(enumerate(rng.permutation(["a"] * 30 + ["b"] * 20 + ["c"] * 10)))
        found = compare_slices(
            [values], names, test=test, n_resamples=299, random_state=number, alpha=0.1
        )
        rejected += found.significant().any()
    assert rejected <= stats.binom.ppf(0.999, 80, 0.1)
    assert rejected > 0


@pytest.mark.slow
def test_a_real_difference_is_found():
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.normal(0.5, 0.1, 100), rng.normal(0.4, 0.1, 30)])
    names = dict(enumerate(["en"] * 100 + ["fr"] * 30))
    for test in ("randomization", "t"):
        assert compare_slices([values], names, test=test, random_state=0).significant().all()


def test_values_are_those_of_the_queries_alone():
    rng = np.random.default_rng(0)
    groups = np.repeat([f"q{i}" for i in range(20)], 5)
    y, score = rng.integers(-1, 3, 100), rng.normal(size=100)
    names = pd.Series(np.where(np.arange(100) < 40, "old", "new"), index=groups, name="age")
    scores = score_predictions(y, {"model": score}, ["ap", "ndcg_f@3"], groups=groups)
    for measure in scores:
        found = (
            compare_slices(scores, names, measure=measure, random_state=0)
            .to_frame()
            .set_index("slice")
        )
        own = evaluate(y[:40], score[:40], measure, groups=groups[:40])[measure].mean()
        assert found["value"]["old"] == pytest.approx(own)
        assert found["slicing"].unique().tolist() == ["age"]


@pytest.mark.parametrize("test", ["randomization", "t"])
def test_edges(test):
    names = {0: "one", 1: "rest", 2: "rest", 3: None}
    table = (
        compare_slices([[0.1, 0.5, 0.7, 0.9]], names, test=test, random_state=0)
        .to_frame()
        .set_index("slice")
    )
    assert table["n_queries"].to_dict() == {"one": 1, "rest": 2}
    assert np.isnan(table.loc["one", ["low", "high"]].astype(float)).all()
    assert np.isnan(table.loc["one", "p_value"]) == (test == "t")
    whole = compare_slices([[0.1, 0.5]], {0: "all", 1: "all"}, test=test, random_state=0).to_frame()
    assert whole["difference"].tolist() == [0.0]
    assert whole["p_value"].isna().all()
    same = compare_slices(
        [[0.1 + 0.2, 0.3, 0.3, 0.3]], dict(enumerate("aabb")), test=test, random_state=0
    )
    assert same.to_frame()["p_value"].tolist() == [1.0, 1.0]
    # Two slices that never vary: no more evidence than six queries can give.
    apart = compare_slices(
        [[0, 0, 0, 1, 1, 1]], dict(enumerate("aaabbb")), test=test, random_state=0
    )
    assert apart.to_frame()["p_value"].min() == pytest.approx(0.1, abs=0.02)


def test_intervals_end_where_the_measure_does():
    scores = SystemScores([[1, 1, 1, 0.5, 0, 0, 0]], measure="any_forbidden")
    table = compare_slices(scores, dict(enumerate("aaaabbb")), random_state=0).to_frame()
    assert table["low"].min() >= 0
    assert table["high"].max() <= 1


@pytest.mark.slow
@given(
    values=st.lists(st.floats(0, 1), min_size=3, max_size=12),
    shift=st.floats(-3, 3),
    data=st.data(),
)
def test_invariances(values, shift, data):
    codes = data.draw(st.lists(st.sampled_from("ab"), min_size=len(values), max_size=len(values)))
    order = data.draw(st.permutations(range(len(values))))
    names = dict(enumerate(codes))
    first = compare_slices([values], names, n_resamples=200, random_state=0).to_frame()
    means = first["n_queries"] @ first["value"] / len(values)
    assert means == pytest.approx(np.mean(values))
    assert first["p_value"].dropna().between(1 / 201, 1).all()
    shuffled = SystemScores([[values[i] for i in order]], queries=order)
    second = compare_slices(shuffled, names, n_resamples=200, random_state=0).to_frame()
    assert first["difference"].tolist() == pytest.approx(second["difference"].tolist(), abs=1e-12)
    moved = compare_slices(
        [np.array(values) + shift], names, n_resamples=200, random_state=0
    ).to_frame()
    assert moved["difference"].tolist() == pytest.approx(first["difference"].tolist(), abs=1e-9)


@pytest.mark.parametrize(
    ("slices", "message"),
    [
        ({0: "a", 1: "b"}, "no entry for 1 of 3 queries, such as 2"),
        ({0: None, 1: None, 2: None}, "none of the 3 queries"),
        (["a", "b", "c"], "slices is"),
        (pd.Series(["x", "y", "z", "x"], index=[0, 1, 2, 1]), "query 1 in several"),
        (pd.DataFrame([[1, 2]] * 3, columns=["a", "a"]), "several columns of one name"),
        ({0: [1], 1: [2], 2: [3]}, "slices must have hashable names"),
    ],
)  # fmt: skip
def test_bad_slices(slices, message):
    with pytest.raises(InputError, match=message):
        compare_slices([[0.1, 0.2, 0.3]], slices)


def test_queries_that_are_not_measured_may_have_slices():
    names = {0: "a", 1: "a", 2: "b", 3: "b", 99: "c"}
    table = compare_slices([[0.1, 0.2, 0.3, 0.4]], names, random_state=0).to_frame()
    assert table["slice"].tolist() == ["a", "b"]


def test_a_column_qid_names_queries():
    scores = SystemScores([[0.1, 0.2, 0.3]], queries=["x", "y", "z"])
    table = pd.DataFrame({"qid": ["z", "y", "x"], "source": ["web", "web", "mail"]})
    found = compare_slices(scores, table, random_state=0).to_frame().set_index("slice")["value"]
    assert found.to_dict() == pytest.approx({"mail": 0.1, "web": 0.25})


def test_missing_values_raise_are_dropped_or_are_a_number():
    scores = pd.DataFrame({"a": VALUES, "b": [*VALUES[:-1], np.nan]}).T
    with pytest.raises(InputError, match="missing"):
        compare_slices(scores, NAMES)
    dropped = compare_slices(scores, NAMES, missing="drop", random_state=0).to_frame()
    same = compare_slices(
        scores.iloc[:, :-1], {query: NAMES[query] for query in range(8)}, random_state=0
    )
    pd.testing.assert_frame_equal(dropped, same.to_frame())
    filled = (
        compare_slices(scores, NAMES, missing=0.0, random_state=0)
        .to_frame()
        .set_index(["system", "slice"])
    )
    assert filled.loc[("b", "fr"), "value"] == pytest.approx((0.2 + 0.3 + 0.1) / 4)


def test_the_observed_slices_are_one_of_the_resamples():
    values = np.repeat([0.0, 1.0], 12) + np.arange(24) / 1000
    table = compare_slices(
        [values], dict(enumerate("a" * 12 + "b" * 12)), n_resamples=199, random_state=0
    )
    # Of all choices of 12 of 24, 2.7 million, two are as far out.
    assert table.to_frame()["p_value"].tolist() == [1 / 200] * 2

"""Values and differences from estimates."""

import dataclasses
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t

from label_samples import collection, elimination_design, with_labels
from skfilterrank.exceptions import InputError
from skfilterrank.judgments import draw_sample, estimate
from skfilterrank.judgments._estimate import (
    EstimatedDifferences,
    Estimates,
    MeasureEstimate,
    degrees_of_freedom,
    degrees_of_pairs,
    deviations_of_total,
)
from skfilterrank.judgments._sample import inclusion_probabilities


@pytest.fixture(scope="module")
def data():
    people, machine, runs = collection(n_queries=10, n_documents=40)
    runs["copy"] = runs["run0"]
    return people, machine, runs


@pytest.fixture(scope="module")
def estimates(data):
    people, machine, runs = data
    sample = draw_sample(machine, runs, ["dcg@10", "ap"], n_total=75, random_state=0)
    return estimate(with_labels(sample, people), runs, ["dcg@10", "ap"], machine_qrels=machine)


@pytest.mark.slow
def test_differences_have_the_covariance_of_one_sample(estimates):
    covariance = estimates.covariance("dcg@10").to_numpy()
    frame = estimates.to_frame().loc["dcg@10"]
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), frame["standard_error"])
    pairs = estimates.compare("dcg@10")
    first, second = pairs.first, pairs.second
    np.testing.assert_allclose(
        pairs.difference, frame["value"].to_numpy()[first] - frame["value"].to_numpy()[second]
    )
    errors = np.sqrt(
        covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
    )
    shown = errors > 1e-6
    width = (pairs.high - pairs.low)[shown] / 2
    assert ((width > 1.9 * errors[shown]) & (width < 4 * errors[shown])).all()


@pytest.mark.slow
def test_equal_runs_do_not_differ(estimates):
    pairs = estimates.compare("ap").to_frame().set_index(["first", "second"])
    same = pairs.loc[("run0", "copy")]
    assert same["difference"] == pytest.approx(0)
    assert same["low"] == same["high"] == pytest.approx(0)
    assert same["p_adjusted"] == 1


@pytest.mark.slow
def test_a_baseline_is_compared_with_all_others(estimates):
    pairs = estimates.compare("dcg@10", baseline="run1", correction=None)
    assert pairs.to_frame()["first"].tolist() == ["run0", "run2", "run3", "copy"]
    assert set(pairs.to_frame()["second"]) == {"run1"}
    np.testing.assert_array_equal(pairs.p_value, pairs.p_adjusted)
    with pytest.raises(InputError, match="baseline"):
        estimates.compare("dcg@10", baseline="other")
    with pytest.raises(InputError, match=r"correction must be one of 'holm', .* got 'sidak'"):
        estimates.compare("dcg@10", correction="sidak")


@pytest.mark.slow
def test_only_documents_that_matter_are_counted(data):
    # Drawn for all runs down to 10, and asked of one of them down to 2.
    people, machine, runs = data
    sample = with_labels(draw_sample(machine, runs, "dcg@10", n_total=75, random_state=0), people)
    pairs = pd.MultiIndex.from_frame(sample[["qid", "docno"]])

    def first(k):
        table = runs["run1"].sort_values("score", ascending=False).groupby("qid").head(k)
        return pd.MultiIndex.from_frame(table[["qid", "docno"]])

    run = {"run1": runs["run1"]}
    found = estimate(sample, run, ["dcg@2", "dcg@4"], machine_qrels=machine)
    n_judged = pairs.isin(first(4)).sum()
    assert 0 < n_judged < 40
    assert (found.n_judged, found.n_possible, found.n_other) == (n_judged, 40, 75 - n_judged)
    assert f"{n_judged} of 40 documents judged by people (and {75 - n_judged} on" in str(found)
    assert f"{n_judged} of 40 documents judged" in repr(found)
    # Values are those of a sample in which the rest is judged too.
    both = estimate(sample, runs, "dcg@10", machine_qrels=machine)
    assert (both.n_judged, both.n_other) == (75, 0)
    assert "(and" not in str(both)


@pytest.mark.slow
def test_labels_that_were_there_before_are_counted_where_they_matter(data):
    people, machine, runs = data
    known = people.iloc[:100]
    run = {"run1": runs["run1"]}
    drawn = draw_sample(machine, run, "dcg@3", share=1.0, judged=known, random_state=0)
    found = estimate(with_labels(drawn, people), run, "dcg@3", machine_qrels=machine)
    assert (found.n_judged, found.n_possible) == (30, 30)
    assert found.n_other == len(drawn) - 30 > 0


@pytest.mark.slow
def test_intervals_end_where_the_measure_does():
    # Two queries, and all labels of a sample of documents that a machine knows nothing of.
    people, machine, runs = collection(n_queries=2, n_documents=30, seed=1)
    sample = with_labels(
        draw_sample(machine, runs, ["precision@5"], n_total=14, random_state=0), people
    )
    found = estimate(
        sample,
        runs,
        "precision@5",
        machine_qrels=machine,
        confidence_level=0.99,
    )
    frame, result = found.to_frame(), found.results["precision@5"]
    width = 31.8 * np.sqrt((result.deviations**2).sum(axis=0)).max()
    assert width > 1
    assert frame["low"].min() == 0
    assert frame["high"].max() == 1
    pairs = found.compare().to_frame()
    assert pairs["low"].min() >= -1
    assert pairs["high"].max() <= 1
    # Gains below 0 put some measures beyond the range that they have for others.
    assert result.value_range == (0, 1)
    full = people.assign(inclusion_probability=1.0)
    for lowest, expected in ((0, (0, 1)), (-1, (-np.inf, np.inf))):
        gains = {0: lowest, 1: 1, 2: 1, 3: 1}
        found = estimate(full, runs, ["ndcg@5", "dcg@5"], machine_qrels=machine, gains=gains)
        assert found.results["ndcg@5"].value_range == expected
        assert found.results["dcg@5"].value_range == (-np.inf, np.inf)


def test_results_show_and_keep(estimates):
    assert repr(estimates) == (
        f"<Estimates: dcg@10, ap of 5 runs, 75 of {estimates.n_possible} documents judged>"
    )
    assert len(repr(estimates.compare("ap"))) <= 120
    assert "run0" in str(estimates)
    assert "significant" in str(estimates.compare("ap"))
    assert "<table" in estimates._repr_html_()
    assert "<table" in estimates.compare("ap")._repr_html_()
    again = pickle.loads(pickle.dumps(estimates))
    pd.testing.assert_frame_equal(again.to_frame(), estimates.to_frame())
    with pytest.raises(InputError, match="measure must be one of"):
        estimates.compare()


def test_pairs_are_significant_at_the_level_that_the_confidence_leaves():
    pairs = EstimatedDifferences(
        measure="ap",
        runs=("a", "b", "c"),
        first=np.array([0, 0]),
        second=np.array([1, 2]),
        difference=np.array([0.1, 0.2]),
        low=np.array([0.0, 0.1]),
        high=np.array([0.2, 0.3]),
        p_value=np.array([0.08, 0.01]),
        p_adjusted=np.array([0.08, 0.02]),
        confidence_level=0.9,
        shown_to_cover=True,
    )
    assert pairs.significant().tolist() == [True, True]


@pytest.mark.slow
def test_intervals_of_ratios_are_marked(estimates):
    marks = estimates.to_frame()["shown_to_cover"].groupby("measure").unique()
    assert marks["dcg@10"].tolist() == [True]
    assert marks["ap"].tolist() == [False]
    assert "Intervals of ap are not shown to cover" in str(estimates)
    for measure, is_shown in (("dcg@10", True), ("ap", False)):
        differences = estimates.compare(measure)
        assert (differences.to_frame()["shown_to_cover"] == is_shown).all()
        assert ("not shown to cover" in str(differences)) != is_shown


@pytest.mark.slow
def test_sums_are_marked_unless_a_table_has_them():
    people, machine, runs = collection(n_queries=3, n_documents=30, n_runs=2)
    gains = {0: -1, 1: 1, 2: 2, 3: 3}
    sample = draw_sample(machine, runs, "dcg", n_total=40, random_state=0)
    sample = with_labels(sample, people)

    def marks(chosen, **params):
        found = estimate(sample, runs, chosen, machine_qrels=machine, **params)
        return found.to_frame()["shown_to_cover"].groupby("measure").all().to_dict()

    # Labels are scaled by the largest of a query, so that it is a ratio.
    scaled = "rbp(relevance=scaled)"
    shown = {"dcg@10": True, "dcg": False, "rbp": True, "precision@5": True, "sp": False}
    assert marks([*shown, scaled]) == shown | {scaled: False}
    assert not any(marks(["forbidden@5", "dcg@10"], gains=gains).values())
    read_otherwise = ["precision(rel=2)@5", "dcg(gains=exp2)@10", "rbp(rel=2)"]
    harmful = "dcg(gains={0:-1,1:0,2:1,3:2})@10"
    assert marks([*read_otherwise, harmful]) == {
        **dict.fromkeys(read_otherwise, True),
        harmful: False,
    }


def by_hand(**params):
    """Make estimates of two runs from four documents of probability 1/4."""
    deviations = np.array([[5.0, 1], [1, 1], [1, 1], [1, 1]])
    result = MeasureEstimate(
        values=np.array([10.0, 8.0]),
        deviations=deviations,
        value_range=(0, 19),
        shown_to_cover=False,
        allowance=np.zeros(2),
    )
    return Estimates(
        runs=("a", "b"),
        results={"dcg": dataclasses.replace(result, **params)},
        confidence_level=0.95,
        n_judged=6,
        n_possible=18,
        n_other=0,
        queries=("1",),
    )


# The quantiles of Student's t: of b, by four equal parts, with 3 degrees of freedom; of a, by the
# squares 25, 1, 1, 1, and of their difference, by 16, 0, 0, 0, with those of test_variance.
OF_B = 3.182446305284263
OF_A = t.ppf(0.975, 2 / (628 / 784 - 1 / 4) - 1)
OF_BOTH = 5 / 3


def test_intervals_allow_for_as_much_as_pairs_of_labels_change():
    everywhere = {"value_range": (-np.inf, np.inf)}
    plain = by_hand(**everywhere)
    wider = by_hand(**everywhere, allowance=np.array([0.3, -0.1]))
    np.testing.assert_allclose(wider.to_frame()["high"] - plain.to_frame()["high"], [0.3, 0.1])
    np.testing.assert_allclose(plain.to_frame()["low"] - wider.to_frame()["low"], [0.3, 0.1])
    before, after = plain.compare(), wider.compare()
    np.testing.assert_allclose(after.high - before.high, 0.4)
    assert after.p_value > before.p_value


def test_intervals_by_hand():
    frame = by_hand().to_frame().loc["dcg"]
    np.testing.assert_allclose(frame["standard_error"], [np.sqrt(28), 2])
    np.testing.assert_allclose(frame["low"], [0, 8 - OF_B * 2])
    np.testing.assert_allclose(frame["high"], [19, 8 + OF_B * 2])
    wide = by_hand(value_range=(-np.inf, np.inf)).to_frame().loc["dcg"]
    np.testing.assert_allclose(wide["low"], [10 - OF_A * np.sqrt(28), 8 - OF_B * 2])
    np.testing.assert_allclose(by_hand().covariance(), [[28, 8], [8, 4]])


def test_differences_by_hand():
    (pair,) = by_hand().compare().to_frame().to_dict("records")
    assert (pair["first"], pair["second"], pair["difference"]) == ("a", "b", 2)
    # Deviations 4, 0, 0, 0.
    assert pair["low"] == pytest.approx(2 - t.ppf(0.975, OF_BOTH) * 4)
    assert pair["high"] == 19  # as far as two values can be apart
    (wide,) = by_hand(value_range=(0, 40)).compare().to_frame().to_dict("records")
    assert wide["high"] == pytest.approx(2 + t.ppf(0.975, OF_BOTH) * 4)
    assert pair["p_value"] == pair["p_adjusted"] == pytest.approx(2 * t.sf(2 / 4, OF_BOTH))


def test_one_run_is_compared_with_none():
    with pytest.raises(InputError, match="at least two runs, got one, 'a'"):
        dataclasses.replace(by_hand(), runs=("a",)).compare()
    assert "0 of 1 difference is significant for these queries" in str(by_hand().compare())


def test_of_a_simple_random_sample():
    """Of 4 among 10: N ** 2 (1 - f) s ** 2 / n, the formula of every textbook."""
    changes = np.array([[1.0, 0], [2, 5], [4, 1], [9, 3]])
    deviations = deviations_of_total(changes, np.full(4, 0.4))
    expected = 100 * 0.6 * np.cov(changes.T) / 4
    np.testing.assert_allclose(deviations.T @ deviations, expected)


def test_of_unequal_probabilities_by_hand():
    # The last is certain. Of the others z = 2, 4, 8, and c = (1 - pi) * 3 / 2 = 3/4, 3/4, 9/8.
    changes, probability = np.array([[1.0], [2], [2], [50]]), np.array([0.5, 0.5, 0.25, 1])
    mean = (3 / 4 * 2 + 3 / 4 * 4 + 9 / 8 * 8) / (3 / 4 + 3 / 4 + 9 / 8)
    expected = 3 / 4 * (2 - mean) ** 2 + 3 / 4 * (4 - mean) ** 2 + 9 / 8 * (8 - mean) ** 2
    deviations = deviations_of_total(changes, probability)
    np.testing.assert_allclose(deviations.T @ deviations, [[expected]])


def test_of_one_document_nothing_is_known():
    assert deviations_of_total(np.ones((3, 2)), np.array([1, 0.5, 1])).shape == (0, 2)


def test_degrees_of_freedom_by_hand():
    # Squares 25, 1, 1, 1: a share of 628 / 28 ** 2, less 1/4; of four equal ones n - 1; of one
    # alone 2 / (3/4) - 1; and never less than one.
    deviations = np.array([[5.0, 2, 0, 10], [1, -2, 0, 0], [1, 2, 3, 0], [-1, 2, 0, 1]])
    expected = [2 / (628 / 784 - 1 / 4) - 1, 3, 5 / 3, 2 / (10001 / 10201 - 1 / 4) - 1]
    np.testing.assert_allclose(degrees_of_freedom(deviations), expected)
    assert degrees_of_freedom(np.eye(1)).tolist() == [1]
    # Of many, one of which is all there is: 2 / (1 - 1/n) - 1.
    np.testing.assert_allclose(degrees_of_freedom(np.eye(100)[:, :1]), [2 / 0.99 - 1])
    # Pairs are columns of differences.
    pairs = degrees_of_pairs(deviations)
    for first, second in ((0, 1), (1, 3), (2, 0)):
        own = degrees_of_freedom(deviations[:, [first]] - deviations[:, [second]])
        np.testing.assert_allclose(pairs[first, second], own[0])


def test_the_variance_is_about_the_true_one():
    """Mean of the estimate over all samples, against the variance over all samples."""
    sizes = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 1.2, 2.2, 3.1])
    values = np.array([0.5, -1.0, 1.5, 0.3, -2.0, 1.0, 0.2, -0.4, 0.8])
    n = 4
    probability = inclusion_probabilities(sizes, n)
    total = variance = estimated = 0.0
    for rows, chance in elimination_design(sizes, n).items():
        rows = list(rows)
        estimate = (values[rows] / probability[rows]).sum()
        total += chance * estimate
        variance += chance * estimate**2
        deviations = deviations_of_total(values[rows, None], probability[rows])
        estimated += chance * (deviations**2).sum()
    assert total == pytest.approx(values.sum())
    assert estimated == pytest.approx(variance - total**2, rel=0.1)

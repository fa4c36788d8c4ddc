"""The report of systems: each column is a measure, with an interval and a test of the main one."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skfilterrank import metrics
from skfilterrank.metrics import ndcg_f_score, rank_filter_report

NO = -np.inf
FUNCTIONS = {
    "ndcg_f": metrics.ndcg_f_score,
    "ndcg_0": metrics.ndcg_0_score,
    "ndcg_min": metrics.ndcg_min_score,
    "forbidden": metrics.forbidden_at_k,
}


@pytest.fixture(scope="module")
def judged():
    """Labels, scores of three systems and queries, some without a good document."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 5)
    y_true = rng.choice([-1, 0, 1, 2], 60)
    y_true[groups == 3] = -1
    scores = {name: rng.choice([NO, *range(9)], 60) for name in ("a", "b")}
    return y_true, scores | {"all": rng.normal(size=60)}, groups


@pytest.mark.parametrize(("k", "suffix"), [(3, "@3"), (2, "@2"), (None, "")])
def test_columns_are_the_measures(judged, k, suffix):
    y_true, scores, groups = judged
    report = rank_filter_report(y_true, scores, groups=groups, k=k)
    names = [f"{name}{suffix}" for name in FUNCTIONS]
    rates = ["false_reject_rate", "empty_list_rate"]
    assert [*report.columns] == [names[0], "low", "high", *names[1:], *rates]
    assert [*report.index] == [*scores]
    assert report.index.name == "system"
    for system, y_score in scores.items():
        for name, function in FUNCTIONS.items():
            expected = function(y_true, y_score, groups=groups, k=k)
            assert report.loc[system, f"{name}{suffix}"] == pytest.approx(expected)
        # Queries without a good document have no such rate.
        expected = metrics.false_reject_rate(y_true, y_score, groups=groups, undefined="drop")
        assert report.loc[system, rates[0]] == pytest.approx(expected)
        expected = metrics.empty_list_rate(y_true, y_score, groups=groups)
        assert report.loc[system, rates[1]] == pytest.approx(expected)


def test_every_column_is_printed_on_a_narrow_screen(judged):
    y_true, scores, groups = judged
    report = rank_filter_report(y_true, scores, groups=groups, baseline="all")
    with pd.option_context("display.max_columns", 4, "display.width", 60):
        for table in (report, report.round(2)):
            text = str(table)
            assert all(name in text for name in table)
            assert max(map(len, text.split("\n"))) <= 60


@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_interval_and_test_are_students(judged, confidence):
    y_true, scores, groups = judged
    report = rank_filter_report(
        y_true, scores, groups=groups, baseline="all", confidence_level=confidence
    )
    values = {
        system: ndcg_f_score.per_query(y_true, y_score, groups=groups, k=3)
        for system, y_score in scores.items()
    }
    for system, mine in values.items():
        interval = stats.ttest_1samp(mine, 0).confidence_interval(confidence)
        np.testing.assert_allclose(report.loc[system, ["low", "high"]].astype(float), interval)
        if system == "all":
            assert report.loc[system, "difference":].isna().all()
            continue
        assert report.loc[system, "difference"] == pytest.approx(np.mean(mine - values["all"]))
        expected = stats.ttest_rel(mine, values["all"])
        assert report.loc[system, "p_value"] == pytest.approx(expected.pvalue)
        np.testing.assert_allclose(
            report.loc[system, ["difference_low", "difference_high"]].astype(float),
            expected.confidence_interval(confidence),
        )
    assert "p_value" not in rank_filter_report(y_true, scores, groups=groups)


def test_few_queries_and_differences_without_spread():
    scores = {"first": [2, 1], "same": [3, 1], "second": [1, 2]}
    report = rank_filter_report([1, -1], scores, groups=[0, 0], baseline="first")
    assert report[["low", "high"]].isna().all(axis=None)
    # One query: no difference is none, and of another nothing can be said.
    assert report["p_value"].isna().tolist() == [True, False, True]
    assert report.loc["same", "p_value"] == 1
    # Two queries that differ alike, and two that do not.
    doubled = {name: values * 2 for name, values in scores.items()}
    report = rank_filter_report([1, -1] * 2, doubled, groups=[0, 0, 1, 1], baseline="first")
    assert report["p_value"].tolist()[1:] == [1, 0]
    np.testing.assert_array_equal(report["low"], report["high"])
    doubled["second"] = [1, 2, 2, 1]
    report = rank_filter_report([1, -1] * 2, doubled, groups=[0, 0, 1, 1], baseline="first")
    # Differences of d and 0: t is -1, with one degree of freedom.
    assert report.loc["second", "p_value"] == pytest.approx(0.5)
    assert report["low"].lt(report["high"]).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"y_scores": [1, 2]}, r"y_scores must be a dict .* got list"),
        ({"y_scores": {}}, r"y_scores must be a dict .* at least one system, got dict"),
        ({"baseline": "b"}, "baseline 'b' is not one of the systems: 'a'"),
        ({"confidence_level": 0}, "confidence_level must be a number between 0 and 1.*, got 0"),
        ({"rankings": "a"}, "rankings must be a dict .* got str"),
        ({"rankings": {"a": "c"}}, "rankings: 'c' is not one of the systems: 'a'.$"),
        ({"baseline": {"c": "a"}}, "baseline: 'c' is not one of the systems"),
        ({"k": 0}, "k must be None .* or a positive integer, got"),
    ],
)
def test_errors(params, message):
    with pytest.raises(ValueError, match=message):
        rank_filter_report(
            **{"y_true": [1, 0], "y_scores": {"a": [1, 2]}, "groups": [0, 0]} | params
        )


def test_each_system_may_have_a_baseline_of_its_own(judged):
    y_true, scores, groups = judged
    pairs = {"a": "b", "b": "all"}
    report = rank_filter_report(y_true, scores, groups=groups, baseline=pairs)
    for name, other in pairs.items():
        alone = rank_filter_report(y_true, scores, groups=groups, baseline=other)
        assert report.loc[name].equals(alone.loc[name])
    assert report.loc["all", "difference":].isna().all()


def test_good_documents_among_the_first_k_of_the_ranking_that_are_hidden():
    # In order of the ranking, a: good, bad, good, good; b: bad, bad, good, good; c: none is good.
    y_true, groups = [1, -1, 2, 1, -1, -1, 1, 1, -1, 0], [*"aaaabbbbcc"]
    ranking = [4, 3, 2, 1, 4, 3, 2, 1, 2, 1]
    shown = [4, NO, NO, 1, NO, NO, NO, NO, NO, NO]

    def lost(k, y_true=y_true, ranking=ranking):
        report = rank_filter_report(
            y_true, {"f": shown, "r": ranking}, groups=groups, k=k, rankings={"f": "r"}
        )
        (name,) = (name for name in report if name.startswith("false_reject_rate@"))
        assert np.isnan(report.loc["r", name])
        return report.loc["f", name]

    # b and c have no good document among their first two, and c none at all.
    assert lost(1) == 0
    assert lost(2) == 0
    assert lost(3) == pytest.approx((1 / 2 + 1) / 2)
    assert lost(4) == pytest.approx((1 / 3 + 1) / 2)
    assert lost(None) == pytest.approx((1 / 3 + 1) / 2)
    # Without a label, a document is not good, and one that is not ranked is not among the first.
    assert lost(3, y_true=[1, -1, np.nan, *y_true[3:]]) == pytest.approx((0 + 1) / 2)
    assert lost(4, ranking=[4, 3, NO, *ranking[3:]]) == pytest.approx((0 + 1) / 2)
    # All of a tie: 2 of its 4 are among the first 2, 3 / 2 of them good and 1 / 2 lost.
    assert lost(2, ranking=[1] * 4 + ranking[4:]) == pytest.approx(1 / 3)

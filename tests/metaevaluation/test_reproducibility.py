"""Reproducibility: by hand, and against repro_eval where it is installed."""

from math import nan, sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind, ttest_rel

from skfilterrank.comparison import SystemScores, rank_biased_overlap
from skfilterrank.exceptions import InputError
from skfilterrank.metaevaluation import reproducibility

QUERIES = ["q1", "q2", "q3", "q4"]
ORIGINAL = pd.DataFrame([[0.2, 0.4, 0.3, 0.1], [0.5, 0.4, 0.6, 0.3]], ["base", "new"], QUERIES)
AGAIN = pd.DataFrame([[0.2, 0.3, 0.3, 0.2], [0.4, 0.4, 0.4, 0.2]], ["base", "new"], QUERIES)


def test_by_hand():
    found = reproducibility(ORIGINAL, AGAIN, baseline="base")
    table = found.to_frame()
    assert table.index.tolist() == ["base", "new"]
    np.testing.assert_allclose(table["original"], [0.25, 0.45])
    np.testing.assert_allclose(table["reproduced"], [0.25, 0.35])
    np.testing.assert_allclose(table["rmse"], [sqrt(0.02 / 4), sqrt(0.06 / 4)])
    np.testing.assert_allclose(table["effect_ratio"], [nan, 0.10 / 0.20])
    np.testing.assert_allclose(
        table["delta_relative_improvement"], [nan, 0.20 / 0.25 - 0.10 / 0.25]
    )
    expected = ttest_rel(ORIGINAL.loc["new"], AGAIN.loc["new"]).pvalue
    assert table.loc["new", "p_value"] == pytest.approx(expected)
    assert repr(found) == ("<Reproducibility: score of 2 systems, 4 queries, effects against base>")


def test_the_same_again():
    table = reproducibility(ORIGINAL, ORIGINAL[::-1], baseline="base").to_frame()
    assert table.loc["new", ["rmse", "p_value", "effect_ratio"]].tolist() == [0, 1, 1]
    assert table.loc["new", "delta_relative_improvement"] == 0


def test_other_queries():
    other = AGAIN.rename(columns=dict(zip(QUERIES, "wxyz")))
    found = reproducibility(ORIGINAL, other, baseline="base")
    table = found.to_frame()
    assert table["rmse"].isna().all()
    assert table.loc["new", "effect_ratio"] == pytest.approx(0.5)
    expected = ttest_ind(ORIGINAL.loc["new"], AGAIN.loc["new"], equal_var=False).pvalue
    assert table.loc["new", "p_value"] == pytest.approx(expected)
    assert "reproduced for others" in str(found)


def test_what_is_not_defined():
    zero = ORIGINAL * 0
    table = reproducibility(zero, AGAIN, baseline="base").to_frame()
    assert table.loc["new", ["effect_ratio", "delta_relative_improvement"]].isna().all()
    one = reproducibility(ORIGINAL[["q1"]], AGAIN[["q1"]]).to_frame()
    assert list(one) == ["original", "reproduced", "rmse", "p_value"]
    assert one["p_value"].tolist() == [1, 0] or one["p_value"].isna().any()


def make_run(order):
    return pd.DataFrame({"qid": "1", "docno": order, "score": np.arange(len(order), 0, -1.0)})


def test_overlap_of_runs():
    runs = {"base": make_run(list("abc")), "new": make_run(list("abc"))}
    again = {"base": make_run(list("abc")), "new": make_run(list("bad"))}
    again["new"] = pd.concat([again["new"], again["new"].assign(qid="2")])
    table = reproducibility(
        ORIGINAL, AGAIN, original_runs=runs, reproduced_runs=again, persistence=0.7
    ).to_frame()
    expected = rank_biased_overlap(list("abc"), list("bad"), persistence=0.7).value
    # The second topic is in one of the two only.
    np.testing.assert_allclose(table["overlap"], [1, expected / 2])
    table = reproducibility(
        ORIGINAL, AGAIN, original_runs=runs, reproduced_runs=again, depth=1
    ).to_frame()
    np.testing.assert_allclose(table["overlap"], [1, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"baseline": "bm25"}, "baseline 'bm25' is none of the systems: 'base', 'new'"),
        ({"original_runs": {}}, "reproduced_runs is missing"),
        ({"persistence": 1}, "persistence must be a number between 0 and 1"),
        ({"depth": 0}, "depth must be None or a whole number from 1 up"),
        ({"reproduced": AGAIN[:1]}, "original and reproduced must have the same systems"),
        (
            {"original_runs": {"base": make_run("a")}, "reproduced_runs": {"base": make_run("a")}},
            "original_runs has no run of 'new'",
        ),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(InputError, match=message):
        reproducibility(**{"original": ORIGINAL, "reproduced": AGAIN} | options)


@pytest.mark.nightly
def test_against_repro_eval():
    reason = "repro_eval is not installed"
    overall = pytest.importorskip("repro_eval.measure.overall_effects", reason=reason)
    effectiveness = pytest.importorskip("repro_eval.measure.effectiveness", reason=reason)
    order = pytest.importorskip("repro_eval.measure.document_order", reason=reason)
    by_topic = [
        {topic: {"ap": float(table.loc[name, topic])} for topic in QUERIES}
        for table in (ORIGINAL, AGAIN)
        for name in ("base", "new")
    ]
    base, new, base_again, new_again = by_topic
    rng = np.random.default_rng(0)
    orders = [[f"d{i}" for i in rng.permutation(300)[:200]] for _ in range(2)]
    runs = [{"base": make_run(each), "new": make_run(each)} for each in orders]
    table = reproducibility(
        SystemScores(ORIGINAL, measure="ap"),
        AGAIN,
        baseline="base",
        original_runs=runs[0],
        reproduced_runs=runs[1],
    ).to_frame()
    found = table.loc["new"]
    assert found["rmse"] == pytest.approx(effectiveness.RMSE(new, new_again)["ap"])
    effect = overall.ER(new, base, new_again, base_again)["ap"]
    assert found["effect_ratio"] == pytest.approx(effect)
    delta = overall.DRI(new, base, new_again, base_again)["ap"]
    assert found["delta_relative_improvement"] == pytest.approx(delta)
    expected = order._rbo(*orders, 0.8, 200)
    assert found["overlap"] == pytest.approx(expected, abs=1e-12)

"""Measures as objects: their text, what they equal, and how they travel."""

import pickle

import numpy as np
import pytest

from skfilterrank.metrics import (
    dcg_score,
    evaluate,
    get_measure,
    make_ranking_scorer,
    rbp_score,
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
        assert list(evaluate(y, x, deep, groups=groups)) == ["rbp(persistence=0.5)"]
        table = evaluate(y, x, [get_measure("ap"), "rr"], groups=groups)
        assert list(table) == ["ap", "rr"]

    def test_range_of_a_measure_of_binary_gains(self):
        measure = get_measure("qwa").measure
        assert measure.range_for(np.array([0.0, 1.0])) == (0, 1)
        assert measure.range_for(np.array([0.0, 0.5])) == (-np.inf, np.inf)
        assert measure.range_for() == (-np.inf, np.inf)

"""The best threshold of rows in parts is that of arrays, with few steps in memory."""

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_np

from rows_of_queries import COLUMNS, check_curve, cut, scores_of_all_kinds
from skfilterrank.exceptions import InputError
from skfilterrank.io import Rows
from skfilterrank.thresholds import threshold_curve
from thinned import thinned

pytestmark = pytest.mark.slow

SCORES = scores_of_all_kinds(COLUMNS)


@pytest.mark.parametrize(
    ("measure", "kind"),
    [
        *thinned(product(["ndcg_f@5", "ap"], SCORES)),
        *product(["ndcg_f", "forbidden@3", "dcg@4"], ["good", "few", "filtered"]),
    ],
)
def test_scores_of_all_kinds(measure, kind):
    check_curve(COLUMNS | {"score": SCORES[kind]}, measure=measure)


@pytest.mark.parametrize("measure", ["err@3", "qwa"])
def test_measures_that_are_no_sums(measure):
    columns = COLUMNS | {"score": SCORES["few"]}
    if measure == "err@3":
        columns["label"] = np.abs(columns["label"])
    check_curve(columns, measure=measure)


@pytest.mark.parametrize("given", [{"undefined": "drop"}, {"undefined": 1.0}, {"gains": "exp2"}])
def test_options(given):
    check_curve(COLUMNS | {"score": SCORES["good"]}, measure="ndcg_f@3", **given)


@given(
    scores=st_np.arrays(
        np.float64, 24, elements=st.floats(allow_nan=False, max_value=1.7e308, width=64)
    ),
    labels=st_np.arrays(np.int64, 24, elements=st.integers(-2, 2)),
    measure=st.sampled_from(["ndcg_f@2", "ndcg_f", "dcg@3", "forbidden@2"]),
)
@example(np.zeros(24), np.tile([1, -1], 12), "ndcg_f")
@example(np.tile([1.0, np.nextafter(1.0, 2), 1.0], 8), np.tile([1, -1, 0], 8), "ndcg_f@2")
def test_any_scores(scores, labels, measure):
    columns = {"qid": np.repeat(np.arange(4), 6), "label": labels, "score": scores}
    check_curve(columns, measure=measure)


def test_the_value_of_many_rows_is_that_of_arrays():
    """Sums are added up in longdouble on both sides."""
    rng = np.random.default_rng(0)
    labels = rng.choice([-1, 0, 1, 2], 500_000)
    columns = {"qid": np.arange(500_000) // 10, "label": labels, "score": rng.normal(size=500_000)}
    check_curve(columns, Rows(columns, chunk_rows=100_000), measure="ndcg_f@5")


def flat(n_queries=600):
    """Steps up and down by turns, so that every bin can hold the best threshold."""
    scores = np.random.default_rng(1).random(2 * n_queries)
    order = np.argsort(scores)
    labels = np.empty(2 * n_queries)
    labels[order] = np.tile([1, -1], n_queries)
    return {"qid": np.arange(2 * n_queries), "label": labels, "score": scores}


def test_a_curve_that_is_flat_everywhere():
    check_curve(flat())


@pytest.mark.parametrize(
    ("kind", "n_jobs"),
    thinned(
        [*product(SCORES, [None]), *product(["good", "few", "all in one bin", "filtered"], [2])]
    ),
)
def test_rows_are_read_three_times_at_most(kind, n_jobs):
    columns = COLUMNS | {"score": SCORES[kind]}
    passes = []

    def source():
        passes.append(1)
        return iter(cut(columns, 200, 201, 600))

    check_curve(columns, Rows(source, n_jobs=n_jobs))
    assert len(passes) <= 3


def test_a_measure_whose_queries_come_and_go():
    with pytest.raises(InputError, match="undefined='drop'"):
        threshold_curve(Rows(COLUMNS), measure="judged@3", undefined="drop")

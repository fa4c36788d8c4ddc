"""The threshold of a stream is that of arrays: the same number, whatever the scores are."""

from itertools import product

import joblib
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_np

from skfilterrank import ranking
from skfilterrank.exceptions import InputError
from skfilterrank.stream import Rows, threshold_curve
from stream_rows import arrays, make_rows

COLUMNS = make_rows()


N_ROWS = len(COLUMNS["qid"])


RNG = np.random.default_rng(0)


LABELS = np.nan_to_num(COLUMNS["label"])


SCORES = {
    "uniform": RNG.random(N_ROWS),
    "good": RNG.random(N_ROWS) + 0.4 * LABELS,
    "float32": (RNG.random(N_ROWS) + 0.4 * LABELS).astype(np.float32),
    "whole numbers": RNG.integers(0, 50, N_ROWS) + 20 * LABELS.astype(int),
    "few": (RNG.normal(size=N_ROWS) + LABELS).round(),
    "all in one bin": 1 + 1e-13 * (RNG.random(N_ROWS) + LABELS),
    "all tied": np.zeros(N_ROWS),
    "denormals": 5e-324 * (RNG.integers(0, 100, N_ROWS) + 30 * LABELS),
    "zeros of both signs": np.where(RNG.random(N_ROWS) < 0.5, 0.0, -0.0) + (LABELS > 1),
    "huge range": 10.0 ** RNG.uniform(-320, 308, N_ROWS) * RNG.choice([-1, 1], N_ROWS),
    "ends of the range": RNG.choice([-1.7e308, -5e-324, 0.0, 5e-324, 1.7e308], N_ROWS),
    "filtered": np.where(RNG.random(N_ROWS) < 0.5, -np.inf, RNG.random(N_ROWS) + LABELS),
    "all filtered": np.full(N_ROWS, -np.inf),
}


def check(columns, rows=None, n_jobs=None, **given):
    expected = ranking.threshold_curve(**arrays(columns), **given)
    rows = Rows(columns, chunk_rows=200) if rows is None else rows
    with joblib.parallel_backend("threading"):
        curve = threshold_curve(rows, n_jobs=n_jobs, **given)
    assert curve.best_threshold == expected.best_threshold
    size = np.nanmax(np.abs(expected.values), initial=1.0)
    assert curve.best_value == pytest.approx(
        expected.best_value, rel=0, abs=1e-15 * size, nan_ok=True
    )
    # The other thresholds are some of all, with their values.
    places = np.searchsorted(expected.thresholds, curve.thresholds)
    if given.get("measure", "ndcg_f").startswith(("ndcg_f", "dcg", "forbidden")):
        # Others may have steps that are only rounding.
        np.testing.assert_array_equal(expected.thresholds[places], curve.thresholds)
    np.testing.assert_allclose(expected.values[places], curve.values, rtol=0, atol=1e-12 * size)
    assert curve.thresholds[-1] == np.inf
    return curve


@pytest.mark.slow
@pytest.mark.parametrize(
    ("measure", "kind"),
    [
        *product(["ndcg_f@5", "ap"], SCORES),
        *product(["ndcg_f", "forbidden@3", "dcg@4"], ["good", "few", "filtered"]),
    ],
)
def test_scores_of_all_kinds(measure, kind):
    check(COLUMNS | {"score": SCORES[kind]}, measure=measure)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["err@3", "qwa"])
def test_measures_that_are_no_sums(measure):
    columns = COLUMNS | {"score": SCORES["few"]}
    if measure == "err@3":
        columns["label"] = np.abs(columns["label"])
    check(columns, measure=measure)


@pytest.mark.slow
@pytest.mark.parametrize("given", [{"undefined": "drop"}, {"undefined": 1.0}, {"gains": "exp2"}])
def test_options(given):
    check(COLUMNS | {"score": SCORES["good"]}, k=3, **given)


@pytest.mark.slow
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
    check({"qid": np.repeat(np.arange(4), 6), "label": labels, "score": scores}, measure=measure)


@pytest.mark.slow
def test_the_value_of_many_rows_is_that_of_arrays():
    """Sums are added up in longdouble on both sides."""
    rng = np.random.default_rng(0)
    labels = rng.choice([-1, 0, 1, 2], 500_000)
    columns = {"qid": np.arange(500_000) // 10, "label": labels, "score": rng.normal(size=500_000)}
    check(columns, Rows(columns, chunk_rows=100_000), k=5)


def test_a_measure_whose_queries_come_and_go():
    with pytest.raises(InputError, match="undefined='drop'"):
        threshold_curve(Rows(COLUMNS), measure="judged@3", undefined="drop")


def test_scattered_queries_are_noticed():
    moved = {name: np.append(values, values[:1]) for name, values in COLUMNS.items()}
    with pytest.raises(InputError, match="do not stand together"):
        threshold_curve(Rows(moved))

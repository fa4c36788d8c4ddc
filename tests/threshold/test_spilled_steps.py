"""Steps that memory does not hold go to files."""

import os
from itertools import product

import joblib
import numpy as np
import pytest

import skfilterrank._threshold.search as searching
import skfilterrank._threshold.spilled_steps as spilled
from skfilterrank import ranking
from skfilterrank.stream import Rows, threshold_curve
from stream_rows import arrays, cut, make_rows

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


def count_passes(columns):
    """A source that notes when it is read."""
    passes = []

    def source():
        passes.append(1)
        return iter(cut(columns, 200, 201, 600))

    return source, passes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n_jobs"),
    [*product(SCORES, [None]), *product(["good", "few", "all in one bin", "filtered"], [2])],
)
def test_steps_that_do_not_fit_go_to_files(kind, n_jobs, monkeypatch, tmp_path):
    monkeypatch.setattr(searching, "MOST_STEPS", 20)
    monkeypatch.setattr(spilled, "MOST_STEPS", 20)
    columns = COLUMNS | {"score": SCORES[kind]}
    source, passes = count_passes(columns)
    check(columns, Rows(source, folder=tmp_path), n_jobs=n_jobs)
    assert len(passes) <= 3
    assert os.listdir(tmp_path) == []


def flat(n_queries=600):
    """Steps up and down by turns, so that every bin can hold the best threshold."""
    scores = np.random.default_rng(1).random(2 * n_queries)
    order = np.argsort(scores)
    labels = np.empty(2 * n_queries)
    labels[order] = np.tile([1, -1], n_queries)
    return {"qid": np.arange(2 * n_queries), "label": labels, "score": scores}


def test_a_full_disk_is_said_and_leaves_nothing(monkeypatch, tmp_path):
    def full(path, pairs):
        open(path, "wb").close()
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(searching, "MOST_STEPS", 20)
    monkeypatch.setattr(spilled, "_append", full)
    with pytest.raises(OSError, match="No space left"):
        threshold_curve(Rows(flat(), folder=tmp_path))
    assert os.listdir(tmp_path) == []

"""The search for the best threshold holds few steps, and reads few times."""

import tracemalloc

import joblib
import numpy as np
import pytest

import skfilterrank._threshold.search as searching
import skfilterrank._threshold.spilled_steps as spilled
from skfilterrank import ranking
from skfilterrank.exceptions import InputError
from skfilterrank.stream import Rows, threshold_curve
from stream_rows import arrays, cut, make_rows

pytestmark = pytest.mark.slow

COLUMNS = make_rows()


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


def flat(n_queries=600):
    """Steps up and down by turns, so that every bin can hold the best threshold."""
    scores = np.random.default_rng(1).random(2 * n_queries)
    order = np.argsort(scores)
    labels = np.empty(2 * n_queries)
    labels[order] = np.tile([1, -1], n_queries)
    return {"qid": np.arange(2 * n_queries), "label": labels, "score": scores}


def test_a_curve_that_is_flat_everywhere(monkeypatch, tmp_path):
    columns = flat()
    check(columns)
    monkeypatch.setattr(searching, "MOST_STEPS", 64)
    monkeypatch.setattr(spilled, "MOST_STEPS", 64)
    check(columns, Rows(columns, folder=tmp_path))


@pytest.mark.parametrize(
    ("kind", "n_rows", "most_steps", "most_memory"),
    [
        ("one bin", 300_000, 1 << 17, 11e6),
        *(
            pytest.param(kind, 1_000_000, 1 << 19, 43e6, marks=pytest.mark.nightly)
            for kind in ("one bin", "ties", "spread")
        ),
    ],
)
def test_memory_of_many_steps(kind, n_rows, most_steps, most_memory, monkeypatch):
    monkeypatch.setattr(searching, "MOST_STEPS", most_steps)
    monkeypatch.setattr(spilled, "MOST_STEPS", most_steps)
    rng = np.random.default_rng(0)
    scores = {
        "one bin": lambda: 1 + 1e-3 * rng.random(n_rows),
        "ties": lambda: np.full(n_rows, 0.5),
        "spread": lambda: np.exp(100 * rng.normal(size=n_rows)),
    }[kind]()
    columns = {
        "qid": np.repeat(np.arange(n_rows // 50), 50),
        "label": rng.choice([-1.0, 1.0], n_rows),
        "score": scores,
    }
    expected = ranking.threshold_curve(**arrays(columns))
    tracemalloc.start()
    curve = threshold_curve(Rows(columns, chunk_rows=20_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert curve.best_threshold == expected.best_threshold
    assert curve.best_value == pytest.approx(expected.best_value, abs=1e-12)
    assert peak < most_memory


def test_what_is_read_once_is_refused_before_it_is_read():
    frames = iter(cut(COLUMNS, 100))
    with pytest.raises(InputError, match="rows can be read once only, and are to be read 3 times"):
        threshold_curve(Rows(frames))
    assert len(list(frames)) == 2
    check(COLUMNS, Rows(iter(cut(COLUMNS, 100)), scattered="partition"))

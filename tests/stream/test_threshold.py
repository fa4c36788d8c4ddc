"""The threshold of a stream is that of arrays: the same number, whatever the scores are."""

import os
import tracemalloc
from itertools import product

import joblib
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_np

import skfilterrank._threshold.search as searching
import skfilterrank._threshold.spilled_steps as spilled
from skfilterrank import ranking
from skfilterrank._threshold.step_bins import keys_of_scores, scores_of_keys
from skfilterrank.exceptions import InputError
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


@pytest.mark.parametrize(
    ("measure", "kind"),
    [
        *product(["ndcg_f@5", "ap"], SCORES),
        *product(["ndcg_f", "forbidden@3", "dcg@4"], ["good", "few", "filtered"]),
    ],
)
def test_scores_of_all_kinds(measure, kind):
    check(COLUMNS | {"score": SCORES[kind]}, measure=measure)


@pytest.mark.parametrize("measure", ["err@3", "qwa"])
def test_measures_that_are_no_sums(measure):
    columns = COLUMNS | {"score": SCORES["few"]}
    if measure == "err@3":
        columns["label"] = np.abs(columns["label"])
    check(columns, measure=measure)


@pytest.mark.parametrize("given", [{"undefined": "drop"}, {"undefined": 1.0}, {"gains": "exp2"}])
def test_options(given):
    check(COLUMNS | {"score": SCORES["good"]}, k=3, **given)


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


def test_the_value_of_many_rows_is_that_of_arrays():
    """Sums are added up in longdouble on both sides."""
    rng = np.random.default_rng(0)
    labels = rng.choice([-1, 0, 1, 2], 500_000)
    columns = {"qid": np.arange(500_000) // 10, "label": labels, "score": rng.normal(size=500_000)}
    check(columns, Rows(columns, chunk_rows=100_000), k=5)


def count_passes(columns):
    """A source that notes when it is read."""
    passes = []

    def source():
        passes.append(1)
        return iter(cut(columns, 200, 201, 600))

    return source, passes


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


def test_a_curve_that_is_flat_everywhere(monkeypatch, tmp_path):
    columns = flat()
    check(columns)
    monkeypatch.setattr(searching, "MOST_STEPS", 64)
    monkeypatch.setattr(spilled, "MOST_STEPS", 64)
    check(columns, Rows(columns, folder=tmp_path))


def test_a_full_disk_is_said_and_leaves_nothing(monkeypatch, tmp_path):
    def full(path, pairs):
        open(path, "wb").close()
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(searching, "MOST_STEPS", 20)
    monkeypatch.setattr(spilled, "_append", full)
    with pytest.raises(OSError, match="No space left"):
        threshold_curve(Rows(flat(), folder=tmp_path))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", ["one bin", "ties", "spread"])
def test_memory_of_a_million_steps(kind):
    n_rows = 1_000_000
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
    assert peak < 43e6


def test_keys_of_scores_are_in_order():
    scores = np.array([-np.inf, -1.7e308, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1.7e308, np.inf])
    keys = keys_of_scores(scores)
    assert (np.diff(keys) > 0).all()
    np.testing.assert_array_equal(scores_of_keys(keys), scores)
    assert keys_of_scores(np.array([-0.0]))[0] == keys[4]


def test_what_is_read_once_is_refused_before_it_is_read():
    frames = iter(cut(COLUMNS, 100))
    with pytest.raises(InputError, match="rows can be read once only, and are to be read 3 times"):
        threshold_curve(Rows(frames))
    assert len(list(frames)) == 2
    check(COLUMNS, Rows(iter(cut(COLUMNS, 100)), scattered="partition"))


def test_scores_that_float64_does_not_tell_apart():
    with pytest.raises(InputError, match=r"beyond 2\*\*53"):
        threshold_curve(Rows(COLUMNS | {"score": np.arange(N_ROWS) + 2**53}))


def test_a_measure_whose_queries_come_and_go():
    with pytest.raises(InputError, match="undefined='drop'"):
        threshold_curve(Rows(COLUMNS), measure="judged@3", undefined="drop")


def test_scattered_queries_are_noticed():
    moved = {name: np.append(values, values[:1]) for name, values in COLUMNS.items()}
    with pytest.raises(InputError, match="do not stand together"):
        threshold_curve(Rows(moved))

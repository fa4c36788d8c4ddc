"""The best threshold of rows in parts is that of arrays, with few steps in memory."""

import os
import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_np

from rows_of_queries import COLUMNS, arrays, check_curve, cut, scores_of_all_kinds
from skfilterrank._lists import entry_search
from skfilterrank.exceptions import InputError
from skfilterrank.io import Rows
from skfilterrank.thresholds import threshold_curve

pytestmark = pytest.mark.slow

SCORES = scores_of_all_kinds(COLUMNS)


@pytest.fixture
def at_most(monkeypatch):
    """Sets the number of steps that memory holds."""

    def set_most(n_steps):
        monkeypatch.setattr(entry_search, "MOST_STEPS", n_steps)
        monkeypatch.setattr(entry_search, "MOST_STEPS", n_steps)

    return set_most


@pytest.mark.parametrize(
    ("measure", "kind"),
    [
        *product(["ndcg_f@5", "ap"], SCORES),
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


def test_a_curve_that_is_flat_everywhere(at_most, tmp_path):
    check_curve(flat())
    at_most(64)
    check_curve(flat(), Rows(flat(), folder=tmp_path))


@pytest.mark.parametrize(
    ("kind", "n_jobs"),
    [*product(SCORES, [None]), *product(["good", "few", "all in one bin", "filtered"], [2])],
)
def test_steps_that_do_not_fit_go_to_files(kind, n_jobs, at_most, tmp_path):
    at_most(20)
    columns = COLUMNS | {"score": SCORES[kind]}
    passes = []

    def source():
        passes.append(1)
        return iter(cut(columns, 200, 201, 600))

    check_curve(columns, Rows(source, folder=tmp_path, n_jobs=n_jobs))
    assert len(passes) <= 3
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_said_and_leaves_nothing(at_most, monkeypatch, tmp_path):
    def full(path, pairs):
        open(path, "wb").close()
        raise OSError(28, "No space left on device", path)

    at_most(20)
    monkeypatch.setattr(entry_search, "_append", full)
    with pytest.raises(OSError, match="No space left"):
        threshold_curve(Rows(flat(), folder=tmp_path))
    assert os.listdir(tmp_path) == []


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
def test_memory_of_many_steps(kind, n_rows, most_steps, most_memory, at_most):
    at_most(most_steps)
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
    expected = threshold_curve(**arrays(columns))
    tracemalloc.start()
    curve = threshold_curve(Rows(columns, chunk_rows=20_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert curve.best_threshold == expected.best_threshold
    assert curve.best_value == pytest.approx(expected.best_value, abs=1e-12)
    assert peak < most_memory


def test_a_measure_whose_queries_come_and_go():
    with pytest.raises(InputError, match="undefined='drop'"):
        threshold_curve(Rows(COLUMNS), measure="judged@3", undefined="drop")

"""Fusion against ranx: lists of no ties, of unequal lengths."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank.ranking import fuse_runs
from skfilterrank.ranking._fusion_methods import METHODS

pytestmark = [
    pytest.mark.nightly,
    # What numba says of ranx's types.
    pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64"),
]

BY_RANKS = {"bordafuse": "borda", "rrf": "rrf"}
BY_SCORES = {name.removeprefix("comb"): name for name in METHODS if name.startswith("comb")}
NORMS = {"min-max": "minmax", "zmuv": "zscore", "sum": "sum", "rank": "rank", None: None}


def make_runs():
    """Three runs of five topics, each with parts of the pools."""
    rng = np.random.default_rng(0)
    runs = {}
    for number in range(3):
        runs[f"r{number}"] = {
            f"q{topic}": {
                f"d{document}": float(score)
                for document, score in enumerate(rng.permutation(20) + rng.random())
                if rng.random() < 0.6
            }
            for topic in range(5)
        }
    return runs


def as_frame(run):
    rows = [(qid, docno, x) for qid, scores in run.items() for docno, x in scores.items()]
    return pd.DataFrame(rows, columns=["qid", "docno", "score"])


def both(runs, theirs, ours, norm=None, params=None, **options):
    """The fused scores of ranx and of this library, by topic and document."""
    ranx = pytest.importorskip("ranx", reason="ranx is not installed")
    found = ranx.fuse([ranx.Run(run) for run in runs.values()], norm, theirs, params)
    expected = as_frame(found.to_dict()).set_index(["qid", "docno"])["score"]
    frames = {name: as_frame(run) for name, run in runs.items()}
    fused = fuse_runs(frames, method=ours, normalize=NORMS[norm], **options)
    return expected.sort_index(), fused.set_index(["qid", "docno"])["score"].sort_index()


@pytest.mark.parametrize("theirs", BY_RANKS)
def test_methods_of_ranks(theirs):
    expected, fused = both(make_runs(), theirs, BY_RANKS[theirs])
    pd.testing.assert_series_equal(fused, expected, rtol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("theirs", BY_SCORES)
def test_methods_of_scores(theirs, norm):
    expected, fused = both(make_runs(), theirs, BY_SCORES[theirs], norm)
    pd.testing.assert_series_equal(fused, expected, rtol=1e-12)


@pytest.mark.parametrize(("theirs", "ours"), [("wsum", "combsum"), ("w_bordafuse", "borda")])
def test_weights(theirs, ours):
    weights = [0.5, 1.25, 3.0]
    runs = make_runs()
    expected, fused = both(runs, theirs, ours, "min-max", {"weights": weights}, weights=weights)
    pd.testing.assert_series_equal(fused, expected, rtol=1e-12)


@pytest.mark.parametrize("weights", [None, [1.0, 2.5, 1.0]])
def test_condorcet(weights):
    """Where no majorities go round in a circle, which ranx orders as they come."""
    rng = np.random.default_rng(1)
    order = rng.permutation(20)
    runs = {}
    for number in range(3):
        places = order.copy()
        swapped = 4 * number
        places[swapped : swapped + 2] = places[swapped : swapped + 2][::-1]
        runs[f"r{number}"] = {"q": {f"d{d}": 20.0 - place for place, d in enumerate(places)}}
    theirs = "condorcet" if weights is None else "w_condorcet"
    params = None if weights is None else {"weights": weights}
    expected, fused = both(runs, theirs, "condorcet", None, params, weights=weights)
    pd.testing.assert_series_equal(fused, expected)

"""The order of positions, in large collections, long lists and real runs."""

import gzip
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from skfilterrank._lists import positions as position_order
from skfilterrank._lists.positions import PreferenceMatrix, preference_matrix, relevant_positions
from skfilterrank.metrics import lexicographic_preference

NO = -np.inf


KINDS = ("recall", "precision")


def compare(p, q, kind):
    """Equation 11, or the same from the first position down."""
    levels = list(zip(p, q, strict=True))
    for mine, other in reversed(levels) if kind == "recall" else levels:
        if mine != other:
            return 1 if mine < other else -1
    return 0


def prefer(y_true, a, b, **params):
    """The preference of one query."""
    return lexicographic_preference(y_true, a, b, groups=["q"] * len(y_true), **params).tolist()


@pytest.mark.parametrize("n_items", [2**32 - 1, 2**32, 2**32 + 1, 2**40])
def test_collections_beyond_four_bytes(n_items):
    """The filtered item is the last of n_items, whose lowest four bytes may be 0."""
    systems = {"shows": [3, 2, 1], "filters": [NO, 3, 2]}
    for kind in KINDS:
        result = preference_matrix([1, 0, 0], systems, groups=[0] * 3, kind=kind, n_items=n_items)
        assert result.ranks.loc[0].to_dict() == {"shows": 1, "filters": 2}
    assert prefer([1, 0, 0], *systems.values(), n_items=n_items) == [1]
    # Among items so far down, too.
    both = {"all": [1, 1, 0], "one": [1, NO, 0], "none": [NO, NO, 0]}
    result = preference_matrix([1, 1, 0], both, groups=[0] * 3, n_items=n_items)
    assert result.ranks.loc[0].to_dict() == {"all": 1, "one": 2, "none": 3}


@pytest.mark.parametrize("kind", KINDS)
def test_how_many_are_sorted_at_once_does_not_matter(kind, monkeypatch):
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(12), rng.integers(1, 15, 12))
    y_true = rng.random(len(groups)) < 0.6
    systems = rng.integers(0, 9, (len(groups), 3))
    whole = preference_matrix(y_true, systems, groups=groups, kind=kind)
    for cells in (1, 6, 20, 90):
        monkeypatch.setattr(position_order, "_CELLS", cells)
        parts = preference_matrix(y_true, systems, groups=groups, kind=kind)
        pd.testing.assert_frame_equal(parts.ranks, whole.ranks)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_long_lists(kind):
    """Thousands of relevant documents that differ in a single one, and queries of all sizes."""
    rng = np.random.default_rng(0)
    sizes = [40_000, 1, 7, 300, 2000, 3, 70]
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y_true = rng.random(len(groups)) < 0.26
    # Few in the query of 2000 rows, so that positions differ in more than their last byte.
    y_true &= (groups != 4) | (rng.random(len(groups)) < 0.02)
    assert y_true[groups == 0].sum() > 10_000
    base = rng.permutation(len(groups)).astype(float)
    # One relevant document of the long query changes places with one that is not.
    other = base.copy()
    ones, zeros = (np.flatnonzero((groups == 0) & (y_true == value)) for value in (1, 0))
    other[[ones[7], zeros[9]]] = other[[zeros[9], ones[7]]]
    systems = {"base": base, "other": other, "again": base}
    systems |= {f"random {i}": rng.random(len(groups)) for i in range(5)}
    result = preference_matrix(y_true, systems, groups=groups, kind=kind)
    each = {name: relevant_positions(y_true, y, groups=groups) for name, y in systems.items()}
    for i, p in enumerate(each.values()):
        for j, q in enumerate(each.values()):
            expected = [compare(p[query], q[query], kind) for query in range(len(sizes))]
            assert result.preferences[:, i, j].tolist() == expected
    assert result.preferences[0, 0, 1] == (1 if base[ones[7]] > base[zeros[9]] else -1)


def test_reciprocal_rank_is_never_contradicted():
    """Section 7.3.1: a higher reciprocal rank implies the preference for precision."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(300), 20)
    y_true = rng.random(6000) < 0.2
    a, b = (relevant_positions(y_true, rng.random(6000), groups=groups) for _ in range(2))
    some = a.n_relevant > 0
    first_a, first_b = (p.positions[p.starts[some]] for p in (a, b))
    result = PreferenceMatrix.from_positions({"a": a, "b": b}, kind="precision")
    preference = result.preferences[some, 0, 1]
    differ = first_a != first_b
    assert differ.any()
    np.testing.assert_array_equal(preference[differ], np.sign(first_b - first_a)[differ])


@pytest.fixture(scope="module")
def runs(data_dir):
    """Some runs of TREC-COVID round 1: positions of the relevant documents, ours and by loops."""
    folder = data_dir / "trec-covid-round1"
    relevant = {}
    with gzip.open(folder / "qrels.txt.gz", "rt") as lines:
        for topic, _, docno, grade in map(str.split, lines):
            relevant.setdefault(topic, set())
            if int(grade) > 0:
                relevant[topic].add(docno)
    each, loops = {}, {}
    for path in sorted((folder / "runs").glob("*.txt.gz"))[::20]:
        name = path.name
        with gzip.open(path, "rt") as lines:
            rows = [
                (topic, docno, float(score))
                for topic, _, docno, _, score, _ in map(str.split, lines)
            ]
        retrieved = {(topic, docno) for topic, docno, _ in rows}
        missing = [
            (topic, docno, NO)
            for topic, docnos in relevant.items()
            for docno in docnos
            if (topic, docno) not in retrieved
        ]
        groups, docnos, scores = zip(*rows, *missing, strict=True)
        y_true = [docno in relevant[topic] for topic, docno in zip(groups, docnos, strict=True)]
        each[name] = relevant_positions(y_true, scores, groups=groups)
        lists = {topic: [] for topic in sorted(relevant)}
        for topic, docno, score in rows:
            lists[topic].append((-score, docno))
        loops[name] = []
        for topic, ranked in lists.items():
            places = [i for i, (_, d) in enumerate(sorted(ranked), 1) if d in relevant[topic]]
            n_missing = len(relevant[topic]) - len(places)
            loops[name].append(places + list(range(10**6 - n_missing + 1, 10**6 + 1)))
    return each, loops


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_runs(kind, runs):
    each, loops = runs
    result = PreferenceMatrix.from_positions(each, kind=kind)
    assert result.preferences.shape == (30, len(each), len(each))
    for (i, p), (j, q) in combinations(enumerate(loops.values()), 2):
        expected = [compare(a, b, kind) for a, b in zip(p, q, strict=True)]
        assert result.preferences[:, i, j].tolist() == expected

"""Compatibility against the sets of its definition, on the judgments of a health track."""

import gzip
from collections import defaultdict
from math import log

import numpy as np
import pytest

from public_data import data_set
from skfilterrank.io import read_qrels
from skfilterrank.metrics import compatibility_score, values_of_run
from skfilterrank.metrics._preferences import harmful_compatibility

DEPTH = 1000


def overlap(run, ideal, p):
    """Rank-biased overlap down to DEPTH, by sets of ids that grow."""
    left, right, total, weight = set(), set(), 0.0, 1.0
    for i in range(DEPTH):
        left |= set(run[i : i + 1])
        right |= set(ideal[i : i + 1])
        total += weight * len(left & right) / (i + 1)
        weight *= p
    return total


def compatibility(run, grades, p):
    """Grades by document, all above 0."""
    place = {docno: i for i, docno in enumerate(run)}
    ideal = sorted(grades, key=lambda docno: (-grades[docno], place.get(docno, len(run))))
    return overlap(run, ideal, p) / overlap(ideal, ideal, p)


def read(path):
    """Lines of fields of a compressed file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [line.split() for line in lines]


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["BM25-Baseline", "Correct-Stance", "Trust-Pipeline"])
def test_of_the_track(name):
    """Each query of a published run, against both orders of the judgments."""
    folder = data_set("trec-misinfo-2021")
    run = defaultdict(list)
    for qid, _, docno, _, score, _ in read(folder / f"{name}.run.gz"):
        run[qid].append((float(score), docno))
    run = {qid: [docno for _, docno in sorted(found, reverse=True)] for qid, found in run.items()}
    grades = {sign: defaultdict(dict) for sign in (1, -1)}
    for qid, _, docno, label in read(folder / "qrels.txt.gz"):
        if int(label):
            grades[1 if int(label) > 0 else -1][qid][docno] = abs(int(label))
    qrels = read_qrels(folder / "qrels.txt.gz", unjudged_label=None)
    sides = {1: "compatibility(harm=0)", -1: "harmful_compatibility"}
    for p in (0.95, 0.8):
        measures = [*(f"{each}(p={p})" for each in ("compatibility", "harmful_compatibility"))]
        measures.append(f"compatibility(harm=0,p={p})")
        ours = values_of_run(qrels, folder / f"{name}.run.gz", measures, undefined="drop")
        ours.columns = ["compatibility", sides[-1], sides[1]]
        theirs = {
            sign: {qid: compatibility(run.get(qid, []), found, p) for qid, found in own.items()}
            for sign, own in grades.items()
        }
        assert len(ours) == len({*grades[1], *grades[-1]}) == 35
        for sign, column in sides.items():
            assert {*ours.index[np.isfinite(ours[column])]} == {*theirs[sign]}
            for qid, value in theirs[sign].items():
                assert ours.loc[qid, column] == pytest.approx(value, abs=1e-12)
        for qid, difference in ours["compatibility"].items():
            expected = theirs[1].get(qid, 0) - theirs[-1].get(qid, 0)
            assert difference == pytest.approx(expected, abs=1e-12)


def value(y_true, y_score, measure=compatibility_score, **options):
    return measure(y_true, y_score, groups=["q"] * len(y_true), **options)


def test_only_the_order_of_labels_counts():
    scores = [4, 3, 2, 1]
    first = value([3, 1, -1, 2], scores)
    assert value([300, 0.1, -9, 2], scores) == first != value([1, 3, -1, 2], scores)


def test_by_hand():
    """Half the searchers go on: weights 1, 1/4, 1/12 and so on add up to 2 log 2."""
    total = 2 * log(2)
    # The ideal list is 2, 1: both lists have both from place 2 on.
    assert value([1, 2], [2, 1], persistence=0.5) == pytest.approx(
        2 * (total - 1) / (total + total - 1)
    )
    # Lists that end at place 1 have nothing in common.
    assert value([1, 2], [2, 1], k=1, persistence=0.5) == 0
    assert value([1, 2], [1, 2], k=1, persistence=0.5) == 1


def test_harm_weighs():
    args = [2, -1, 1], [3, 2, 1]
    helpful, harmful = value(*args, harm=0), value(*args, measure=harmful_compatibility)
    assert value(*args, harm=0.25) == pytest.approx(helpful - harmful / 4)
    assert value([2, 1], [2, 1], harm=1) == 1
    # Nothing is helpful: undefined alone, 0 in the difference.
    assert value([-1, 0], [2, 1], harm=0, undefined=0.5) == 0.5
    assert value([-1, 0], [2, 1], undefined=0.5) == -1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"harm": 2}, "harm must be a finite number from 0 up and up to 1, got 2"),
        ({"persistence": 1}, "persistence must be a finite number from 0.01 up and up to 0.9999"),
        ({"ties": "average"}, "needs one order of the documents"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        value([1, 2], [2, 1], **options)

"""Options of ``skfilterrank fuse``."""

import pytest

from skfilterrank.cli.fuse import options as fuse_options
from skfilterrank.ranking._fusion.lists import FILTERED
from skfilterrank.ranking._fusion.methods import METHODS
from skfilterrank.ranking._fusion.scales import NORMALIZATIONS

NAMES = ("words", "links", "noise")


def test_the_choices_are_those_of_the_library():
    assert tuple(METHODS) == fuse_options.BY_RANKS + fuse_options.BY_SCORES
    assert {*fuse_options.NORMALIZATIONS} == {name or "none" for name in NORMALIZATIONS}
    assert {*FILTERED} == {"all", "majority", "any"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--qrels qrels --method rrf", "--method says how runs are fused, which --qrels is"),
        ("--qrels qrels --learn weights --weights a=1", "--weights says how runs are fused"),
        ("--qrels qrels --normalize sum", "--normalize says how runs are fused"),
        ("-m ap", "--measure says how fusion is learned: add --qrels"),
        ("--learn method", "--learn says how fusion is learned: add --qrels"),
        ("--qrels qrels -m ap,ndcg", "fusion is learned for one measure, got ap, ndcg"),
        ("--qrels few", "few has judgments of 2 topics of the runs, and learning needs at"),
        ("--weights words=1", "weights must name every system and no other"),
        ("--weights words", "--weights: expected RUN=NUMBER,..., each run once, got words"),
        ("--rrf-k=-1", "--rrf-k must be a finite number from 0 up"),
    ],
)
def test_what_does_not_go_together(run, runs, words, message):
    with open("few", "w") as file:
        file.write("1 0 d1 1\n2 0 d1 0\n99 0 d1 1\n")
    code, out, err = run("fuse", *(f"{name}.txt" for name in NAMES), *words.split())
    assert (code, out) == (2, "")
    assert message in err

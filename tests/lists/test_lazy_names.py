"""Imports of names that are not there say where something like them is."""

import importlib
import pickle

import pytest
from scipy.special import expit

import skfilterrank.io
import skfilterrank.metrics


@pytest.mark.parametrize(
    ("part", "name", "near"),
    [
        ("io", "evaluate", "skfilterrank.metrics.evaluate_runs"),
        ("metrics", "make_scorer", "skfilterrank.metrics.make_ranking_scorer"),
        ("datasets", "load_letor", "skfilterrank.io.read_letor"),
        ("comparison", "compare_runs", "skfilterrank.comparison.compare_systems"),
        ("ranking", "RanksFusion", "skfilterrank.ranking.RankFusion"),
        ("", "RankAndFilter", "skfilterrank.ranking.RankAndFilter"),
    ],
)
def test_names_that_stand_elsewhere(part, name, near):
    source = f"skfilterrank.{part}".rstrip(".")
    with pytest.raises(ImportError, match=f"cannot import name '{name}' from '{source}'") as error:
        exec(f"from {source} import {name}")
    assert near in str(error.value).partition("Did you mean ")[2].rstrip("?").split(", ")


def test_names_like_no_other():
    with pytest.raises(ImportError, match="cannot import name 'qqq'"):
        exec("from skfilterrank.io import qqq")


def test_parts_are_imported_from_the_package():
    exec("from skfilterrank import cli, io, metrics, exceptions")
    with pytest.raises(ImportError, match="cannot import name 'no_such_part'"):
        exec("from skfilterrank import no_such_part")


def test_whoever_asks_is_answered():
    for part in (skfilterrank, skfilterrank.io, skfilterrank.metrics):
        assert not hasattr(part, "load_letor")
        assert not hasattr(part, "__wrapped__")
    with pytest.raises(AttributeError, match=r"module 'skfilterrank.io' has no attribute 'load_l"):
        skfilterrank.io.load_letor  # noqa: B018
    # Of a function without a module, pickle asks every module for its name.
    assert pickle.loads(pickle.dumps(expit)) is expit
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("skfilterrank.no_such_part")

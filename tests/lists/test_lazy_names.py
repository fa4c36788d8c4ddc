"""Lazy imports of rooms and names, and names that are not there."""

import importlib
import pickle

import pytest
from scipy.special import expit

import skfilterrank.io
import skfilterrank.metrics
from skfilterrank import _ROOMS


@pytest.mark.parametrize(
    ("part", "name", "near"),
    [
        ("ranking", "QuerysRanker", "QueryRanker"),
        ("", "RankFilter", "RankAndFilter"),
        ("metrics", "ndcg_scores", "ndcg_score"),
        ("thresholds", "CertifiedTreshold", "CertifiedThreshold"),
    ],
)
def test_a_similar_name_is_suggested(part, name, near):
    room = f"skfilterrank.{part}".rstrip(".")
    message = rf"module '{room}' has no attribute '{name}'\. Did you mean .*\b{near}\b"
    with pytest.raises(AttributeError, match=message):
        getattr(importlib.import_module(room), name)
    with pytest.raises(ImportError, match=f"cannot import name '{name}' from '{room}'"):
        exec(f"from {room} import {name}")


@pytest.mark.parametrize("name", ["qqq", "_ndcg_score", "__wrapped__"])
def test_names_like_no_other(name):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'\\.?$"):
        getattr(skfilterrank.metrics, name)


def test_parts_are_imported_from_the_package():
    exec("from skfilterrank import cli, io, metrics, exceptions")
    with pytest.raises(ImportError, match="cannot import name 'no_such_part'"):
        exec("from skfilterrank import no_such_part")


@pytest.mark.parametrize("name", ["Rows", "OrdinalRanker", "kendall_tau", "DataWarning"])
def test_the_package_finds_the_names_of_its_rooms(name):
    names = {}
    exec(f"from skfilterrank import {name}", names)
    homes = [vars(importlib.import_module(f"skfilterrank.{part}")).get(name) for part in _ROOMS]
    assert any(home is names[name] for home in homes)
    assert name not in skfilterrank.__all__


def test_whoever_asks_is_answered():
    for part in (skfilterrank, skfilterrank.io, skfilterrank.metrics):
        assert not hasattr(part, "load_letor")
    # Of a function without a module, pickle asks every module for its name.
    assert pickle.loads(pickle.dumps(expit)) is expit


@pytest.mark.parametrize("name", sorted({*skfilterrank.__all__} - {"__version__"}))
def test_names_at_the_top_are_those_of_their_rooms(name):
    thing = getattr(skfilterrank, name)
    assert name in dir(skfilterrank)
    homes = [vars(importlib.import_module(f"skfilterrank.{part}")).get(name) for part in _ROOMS]
    assert any(home is thing for home in homes)


@pytest.mark.parametrize("part", sorted({*_ROOMS} - {"exceptions"}))
def test_what_is_listed_is_public(part):
    room = importlib.import_module(f"skfilterrank.{part}")
    assert dir(room) == sorted(room.__all__)
    assert {*dir(skfilterrank)} == {*skfilterrank.__all__, *_ROOMS}

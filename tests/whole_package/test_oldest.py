"""What is tested as the oldest is what pyproject.toml admits."""

import os
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LISTED = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8")
OLDEST = dict(re.findall(r"^([\w-]+)==(\S+)$", LISTED, re.MULTILINE))
# What users install; the rest is for those who work on the library.
EXTRAS = ("plot", "parquet", "zstd", "excel", "report", "xgboost", "catboost", "dask")


def floors():
    """Name and least version of everything that users install."""
    extras = PROJECT["optional-dependencies"]
    for text in (*PROJECT["dependencies"], *(text for extra in EXTRAS for text in extras[extra])):
        yield re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", text).groups()


def numbers(text):
    """2.0 and 2.0.0 are the same version."""
    return [*map(int, text.split(".")), 0, 0][:3]


def test_the_oldest_are_those_that_are_admitted():
    assert {name: numbers(text) for name, text in OLDEST.items()} == {
        name: numbers(text) for name, text in floors()
    }


@pytest.mark.skipif("PIP_CONSTRAINT" not in os.environ, reason="for make test-oldest")
@pytest.mark.parametrize("name", ["numpy", "scipy", "pandas", "scikit-learn", "lightgbm"])
def test_the_oldest_are_installed(name):
    assert numbers(version(name)) == numbers(OLDEST[name])

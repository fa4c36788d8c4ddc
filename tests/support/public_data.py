"""Where the public data sets lie, and what a test without them says."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REASON = (
    "public data: none in the folder that SKFILTERRANK_DATA names, else in ../shared/data beside "
    "the checkout, else in skfilterrank_data at home; docs/public_data.md says how to get them"
)


def data_folder():
    """Folder of the public data sets, whether it is there or not."""
    beside = ROOT.parent / "shared/data"
    default = beside if beside.is_dir() else Path.home() / "skfilterrank_data"
    # An empty variable is none, as for the library.
    return Path(os.environ.get("SKFILTERRANK_DATA") or default).resolve()


def data_set(name):
    """Folder of one public data set; the test is skipped where it is absent."""
    if not data_folder().is_dir():
        pytest.skip(REASON)
    if not (found := data_folder() / name).is_dir():
        pytest.skip(f"public data: no {name}")
    return found

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the public data sets; tests that need it are skipped where it is absent."""
    default = Path(__file__).parents[1] / ".." / "shared" / "data"
    folder = Path(os.environ.get("SKFILTERRANK_DATA", default)).resolve()
    if not folder.is_dir():
        pytest.skip(f"no data sets in {folder}; set SKFILTERRANK_DATA to their folder")
    return folder

import os
from pathlib import Path

# Tests run side by side: one thread each, or they wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# LightGBM asks for all processors whatever that says, and its threads wait for each other by
# spinning: beside another worker a fit of a second takes half a minute.
os.environ.setdefault("OMP_THREAD_LIMIT", "1")

import pytest
from hypothesis import settings

# The same examples in every run, and no limit on time: machines are shared and slow. More of them,
# and others each time: HYPOTHESIS_PROFILE=thorough.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the public data sets; tests that need it are skipped where it is absent."""
    default = Path(__file__).parents[1] / ".." / "shared" / "data"
    folder = Path(os.environ.get("SKFILTERRANK_DATA", default)).resolve()
    if not folder.is_dir():
        pytest.skip(f"no data sets in {folder}; set SKFILTERRANK_DATA to their folder")
    return folder


@pytest.fixture
def measure_table():
    """The measure table, into which a test may enter what it likes."""
    from skfilterrank._core.measure import MEASURES

    before = dict(MEASURES)
    yield MEASURES
    MEASURES.clear()
    MEASURES.update(before)

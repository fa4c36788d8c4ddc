import gc
import os
from pathlib import Path

# Tests run side by side: one thread each, or they wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# LightGBM asks for all processors whatever that says, and its threads wait for each other by
# spinning: beside another worker a fit of a second takes half a minute.
os.environ.setdefault("OMP_THREAD_LIMIT", "1")

import pytest
from hypothesis import settings

import profiles  # noqa: F401 (registers what is loaded here)
import slow_tests

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_addoption(parser):
    parser.addoption("--write-slow", action="store_true", help="write the list of slow tests anew")


def pytest_configure(config):
    config.pluginmanager.register(slow_tests.MarkSlow(config))
    if config.getoption("write_slow") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(slow_tests.WriteSlow())


# Modules and tests live as long as the process: without this, each collection of garbage, of which
# other libraries ask for many, looks at a million objects that cannot be any.
@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    gc.enable()
    gc.freeze()


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the public data sets; tests that need it are skipped where it is absent."""
    default = Path.home() / "skfilterrank_data"
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

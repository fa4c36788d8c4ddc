import gc
import importlib
import os
import sys

# Tests run side by side: one thread each, or they wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# LightGBM asks for all processors whatever that says, and its threads wait for each other by
# spinning: beside another worker a fit of a second takes half a minute.
os.environ.setdefault("OMP_THREAD_LIMIT", "1")
# Commands write as they do for users, to whom a full disk shows late.
os.environ.pop("PYTHONUNBUFFERED", None)
# That of trio takes half as long to import as hypothesis itself.
os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")

import pytest

from cpu_times import CpuTimes
from public_data import REASON, data_folder


def pytest_collectstart(collector):
    """Load the profile of hypothesis before the first file that uses it; others do not wait."""
    if isinstance(collector, pytest.Module) and b"hypothesis" in collector.path.read_bytes():
        importlib.import_module("profiles")


def pytest_addoption(parser):
    parser.addoption("--cpu-times", metavar="FILE", help="write the CPU time of each test")


def pytest_configure(config):
    config.pluginmanager.register(CpuTimes(config.getoption("cpu_times")))


# Modules and tests live as long as the process: without this, each collection of garbage, of which
# other libraries ask for many, looks at a million objects that cannot be any.
@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    gc.enable()
    gc.freeze()
    # Its last lines import hypothesis, which takes as long as a file of small tests.
    plugins = session.config.pluginmanager
    if "hypothesis" not in sys.modules and plugins.has_plugin("hypothesispytest"):
        plugins.unregister(name="hypothesispytest")


# pytest looks for garbage five times at the end: what is none is looked at once.
@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def data_dir():
    """Folder of the public data sets; tests that need it are skipped where it is absent."""
    folder = data_folder()
    if not folder.is_dir():
        pytest.skip(REASON)
    return folder


@pytest.fixture
def measure_table():
    """The measure table, into which a test may enter what it likes."""
    from skfilterrank._lists.measure import MEASURES

    before = dict(MEASURES)
    yield MEASURES
    MEASURES.clear()
    MEASURES.update(before)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser without a window; the tests are skipped where there is none."""
    from browsers import start_browser

    found = start_browser(tmp_path_factory.mktemp("profile"))
    yield found
    found.quit()

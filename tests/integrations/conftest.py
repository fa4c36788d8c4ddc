"""Thresholds on a scorer without a model, and packages that seem not to be there."""

import sys
from contextlib import contextmanager

import pytest

from served_passages import TfidfScorer, fit
from skfilterrank import integrations
from skfilterrank.thresholds import FixedThreshold, PerQueryThreshold, TunedThreshold


@pytest.fixture(scope="session")
def scorer():
    return TfidfScorer()


@pytest.fixture(scope="session", params=[TunedThreshold, PerQueryThreshold])
def cut(request, scorer):
    return fit(request.param(), scorer)


@pytest.fixture(scope="session")
def half():
    return FixedThreshold(0.75).fit()


@pytest.fixture
def without(monkeypatch):
    """Make a context in which a package cannot be imported, and a name of the room is not yet."""

    @contextmanager
    def without(package, name=None):
        with monkeypatch.context() as patch:
            for module in [*sys.modules]:
                if module.split(".")[0] == package:
                    patch.delitem(sys.modules, module)
            if name is not None:
                patch.delitem(vars(integrations), name, raising=False)
                for module in ("_langchain", "_llama_index", "_haystack"):
                    patch.delitem(sys.modules, f"{integrations.__name__}.{module}", raising=False)
            patch.setattr(sys, "meta_path", [_Absent(package), *sys.meta_path])
            yield

    return without


class _Absent:
    def __init__(self, package):
        self.package = package

    def find_spec(self, module, path=None, target=None):
        if module == self.package:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)

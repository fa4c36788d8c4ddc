"""Every public name by its module."""

import importlib
import inspect
from contextlib import suppress

from skfilterrank.exceptions import MissingPackageError

MODULES = (
    "metrics",
    "thresholds",
    "ranking",
    "judgments",
    "comparison",
    "metaevaluation",
    "io",
    "integrations",
    "testing",
    "datasets",
    "plot",
    "exceptions",
)


def names(module: str) -> list[str]:
    """The public names of a module."""
    return sorted(importlib.import_module(f"skfilterrank.{module}").__all__)


def things() -> dict[str, object]:
    """Every public thing by its full name, without what needs a package that is not installed."""
    found = {}
    for module in MODULES:
        for name in names(module):
            with suppress(MissingPackageError):
                thing = getattr(importlib.import_module(f"skfilterrank.{module}"), name)
                found[f"skfilterrank.{module}.{name}"] = thing
    return found


def api() -> str:
    """The page of all public names, by module."""
    lines = ["# API", "", "API reference, by module. `help(name)` shows the same text."]
    for module in MODULES:
        doc = inspect.getdoc(importlib.import_module(f"skfilterrank.{module}"))
        lines += ["", f"## skfilterrank.{module}", "", doc, "", "```{eval-rst}"]
        lines += [f".. currentmodule:: skfilterrank.{module}", "", ".. autosummary::"]
        lines += ["   :toctree: api", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names(module)]
        lines += ["```"]
    return "\n".join(lines) + "\n"

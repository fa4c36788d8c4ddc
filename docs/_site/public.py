"""Every public name, by its module and by task."""

import importlib
import tomllib
from contextlib import suppress
from pathlib import Path

from skfilterrank.exceptions import MissingPackageError

GROUPS = Path(__file__).parent.parent / "api_groups.toml"
MOST_USED = ("RankAndFilter", "CertifiedThreshold", "evaluate", "evaluate_runs", "compare_systems")
MODULES = (
    "metrics",
    "thresholds",
    "ranking",
    "judgments",
    "comparison",
    "metaevaluation",
    "io",
    "integrations",
    "datasets",
    "plot",
    "exceptions",
)


def names(module: str) -> list[str]:
    """The public names of a module."""
    return sorted(importlib.import_module(f"skfilterrank.{module}").__all__)


def things(modules=MODULES) -> dict[str, object]:
    """Every public thing by its full name, without what needs a package that is not installed."""
    found = {}
    for module in modules:
        for name in names(module):
            with suppress(MissingPackageError):
                thing = getattr(importlib.import_module(f"skfilterrank.{module}"), name)
                found[f"skfilterrank.{module}.{name}"] = thing
    return found


def groups() -> dict[str, tuple[str, list[str]]]:
    """Module and names of each task of the API page, the most used names first."""
    tables = tomllib.loads(GROUPS.read_text(encoding="utf-8"))
    return {title: next(iter(table.items())) for title, table in tables.items()}


def api() -> str:
    """The page of all public names, by task."""
    lines = [
        "# API",
        "",
        "API reference, by task. `help(name)` shows the same text. Most people need",
    ]
    lines += [
        "`from skfilterrank import ...` of " + ", ".join(f"`{name}`" for name in MOST_USED) + "."
    ]
    for title, (module, of_task) in groups().items():
        lines += ["", f"## {title}", "", f"`skfilterrank.{module}`", "", "```{eval-rst}"]
        lines += [f".. currentmodule:: skfilterrank.{module}", "", ".. autosummary::"]
        lines += ["   :toctree: api", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in of_task]
        lines += ["```"]
    return "\n".join(lines) + "\n"

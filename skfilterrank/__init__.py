"""Rank documents, leave out the forbidden ones, and measure how well that went."""

import importlib

__version__ = "0.1.0.dev0"
__all__ = ["__version__"]

_PARTS = (
    "comparison",
    "datasets",
    "estimation",
    "exceptions",
    "features",
    "io",
    "judgments",
    "metrics",
    "plot",
    "ranking",
    "robustness",
    "trec",
)


def __getattr__(name):
    """A public part, imported when it is first asked for."""
    if name in _PARTS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    """Public names, those of the parts included."""
    return sorted([*globals(), *_PARTS])

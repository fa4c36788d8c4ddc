"""Rank documents, leave out the forbidden ones, and measure how well that went."""

from skfilterrank._lists.lazy_names import PARTS, names_of

__version__ = "0.1.0.dev0"
__all__ = ["__version__"]

__getattr__ = names_of(__name__)


def __dir__():
    """Public names, those of the parts included."""
    return sorted({*globals(), *PARTS})

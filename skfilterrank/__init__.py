"""Rank documents, leave out the forbidden ones, and measure how well that went."""

__version__ = "0.1.0.dev0"
__all__ = ["__version__"]

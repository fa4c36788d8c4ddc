"""Imported once before the tests, of which the first would else seem to take a second."""

import skops.io  # noqa: F401

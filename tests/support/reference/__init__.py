"""Every measure once more, by loops that follow the definitions to the letter.

Each module holds a dictionary. ``REFERENCE[name](case)`` is the value of one query, None where
undefined.
A module may also hold ``OF_THE_MEAN[name](value, case)``, done to the mean of the above over tied
orders, and `NONNEGATIVE`, the measures for which a negative gain is an error.
"""

import importlib
import pkgutil
from typing import NamedTuple

from skfilterrank._lists.gains import as_gains


class Case(NamedTuple):
    """One query, its tied documents in one of their orders."""

    shown: list
    """Gains of the returned list in order, unjudged as 0."""
    pool: list
    """Gains of all judged documents, returned or not."""
    k: int | None
    labels: list
    """Gains of the returned list in order, NaN where unjudged."""
    n_rows: int
    """Rows of the query, returned or not, judged or not."""


REFERENCE = {}
OF_THE_MEAN, NONNEGATIVE = {}, set()
# Options with which a measure takes any gain that the tests draw at random.
OPTIONS = {}
# What ties="worst" and "best" order by, where it is not the gain (unjudged as 0): from the gain.
WORTH = {}
for found in pkgutil.iter_modules(__path__):
    module = importlib.import_module(f"{__name__}.{found.name}")
    REFERENCE |= module.REFERENCE
    OF_THE_MEAN |= getattr(module, "OF_THE_MEAN", {})
    NONNEGATIVE |= getattr(module, "NONNEGATIVE", set())
    OPTIONS |= getattr(module, "OPTIONS", {})
    WORTH |= getattr(module, "WORTH", {})


def gains_for(name, gains=None):
    """The gains a test gives a measure: what it asks for, without sign where it must be."""
    if name not in NONNEGATIVE:
        return gains
    # Wrong gains stay as they are, for the measure to complain of.
    if not (gains is None or isinstance(gains, dict) or gains == "exp2"):
        return gains
    return lambda label: abs(as_gains([label], gains)[0])


def written(name):
    """The measure with the options by which it takes any gain."""
    options = ",".join(f"{option}={value}" for option, value in OPTIONS.get(name, {}).items())
    return f"{name}({options})" if options else name

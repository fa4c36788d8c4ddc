"""Read an order of systems: values by system, ranks, or a list of names."""

from collections.abc import Mapping, Set
from numbers import Number

import numpy as np
import pandas as pd

from skfilterrank._lists.arrays import as_column, as_numbers
from skfilterrank._lists.floats import ROUNDING_OF_MEANS, merge, merge_means
from skfilterrank._lists.measure_names import known_measure
from skfilterrank._lists.results import counted
from skfilterrank.comparison._preference_orders import SystemOrder
from skfilterrank.comparison._same_systems import check_same_systems
from skfilterrank.comparison._score_tables import choose_measure
from skfilterrank.comparison._system_scores import SystemScores, has_queries
from skfilterrank.exceptions import InputError, brief


class Order:
    """Names of systems and a value for each, greater is better; what only rounding parts, ties."""

    def __init__(self, order, name):
        if has_queries(order):
            scores = SystemScores.of(order, name=name)
            systems, values = scores.systems, merge_means(scores.oriented)
        elif isinstance(order, SystemOrder):
            systems, values = order.systems, -order.rank
        elif isinstance(order, pd.DataFrame):
            column = choose_measure(order.columns, None, name)
            systems, values = order.index, _oriented(order[column])
        elif isinstance(order, pd.Series):
            systems, values = order.index, _oriented(order)
        elif isinstance(order, Mapping):
            systems, values = order.keys(), list(order.values())
        else:
            systems = _listed(order, name)
            values = np.arange(len(systems), 0, -1)
        self.systems = tuple(map(str, systems))
        # Without the values behind them, relative to the means: scores of documents may be tiny.
        self.values = merge(_numbers(values, name), relative=ROUNDING_OF_MEANS)
        if len(set(self.systems)) < len(self.systems):
            repeated = pd.Series(self.systems, dtype=object)
            repeated = repeated[repeated.duplicated(keep=False)].iloc[0]
            raise InputError(
                f"{name} must name each system once, and {brief(repeated)} occurs more than once."
            )

    def select(self, *, systems, queries=None):
        """Values of the systems in another order."""
        place = {each: where for where, each in enumerate(self.systems)}
        chosen = object.__new__(Order)
        chosen.systems = tuple(systems)
        chosen.values = self.values[[place[each] for each in systems]]
        return chosen


def values_of_both(first, second, names=("first", "second")):
    """Values of the same systems by both, in the order of the first, and the systems."""
    first, second = Order(first, names[0]), Order(second, names[1])
    second = check_same_systems(first, second, names=names, queries=False)
    if len(first.systems) < 2:
        raise InputError(
            f"{names[0]} and {names[1]} must order at least 2 systems, got {len(first.systems)}."
        )
    return first.values, second.values, first.systems


def _oriented(values):
    """Values by system, greater is better, of a Series that may be named after a measure."""
    known = known_measure(values.name)
    return -values if known is not None and not known.greater_is_better else values


def _listed(order, name):
    """Names in a list, best first."""
    is_names = hasattr(order, "__iter__") and not isinstance(order, str | Set)
    # Values of systems without their names, where a list of whole numbers may be names.
    if isinstance(order, np.ndarray) and order.dtype.kind in "biufc":
        raise InputError(
            f"{name} must name the systems, and is an array of numbers: give a Series or dict of "
            "values by system, or a list of names, the best first."
        )
    systems = list(order) if is_names else []
    if not is_names or any(
        (isinstance(each, Number) and not isinstance(each, (int, np.integer))) or np.ndim(each) > 0
        for each in systems
    ):
        raise InputError(
            f"{name} must be SystemScores, a SystemOrder, a Series or dict of values by system, or "
            f"a list of the names of systems, the best first; got {type(order).__name__}"
            + (" of numbers." if is_names else ".")
        )
    return systems


def _numbers(values, name):
    """Values as numbers, none of them missing."""
    numbers = as_numbers(as_column(values, name, "value"), name)
    if numbers is None:
        raise InputError(f"{name} must hold a number for each system, got {brief(values)}.")
    values = numbers.astype(np.float64, copy=False)
    if np.isnan(values).any():
        missing = counted(np.count_nonzero(np.isnan(values)), "is", "are")
        raise InputError(
            f"{name} must hold a value for each system, and {missing} missing (NaN): leave those "
            "systems out of both orders."
        )
    return values

"""Measures as sums over documents, the form in which they can be optimized exactly.

Each document adds ``weight * worth(place, level)`` to the sum of its query. The place is its
position in the list. The level is the number of relevant documents from the top of the list down to
it. Only these two change with the ranking. Equation 1 of Diaz and Mitra (2023), ``e(p_i) z(i, m)``,
is of this form. So is nDCG_f, whose documents add ``gain / (I - W) / log2(place + 1)``.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import KW_ONLY, dataclass

import numpy as np

from skfilterrank._base.checks import cached_property, read_only
from skfilterrank._lists.lists import ListBlock, RankedLists
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.scoring import first_places


@dataclass(frozen=True, eq=False)
class Additive:
    """A measure of every query as a sum over its documents.

    Attributes
    ----------
    weights : ndarray
        Weight of each document, in the layout of the `Facts` it was computed from. Documents of
        weight 0 do not change the measure.
    worth : callable
        ``worth(place, level, query)``, arrays of one shape; `query` broadcasts to it. Places and
        levels count from 1; `level` is None unless `uses_levels`.
    uses_levels : bool
        Whether `worth` reads levels. All documents of weight other than 0 are relevant then, and
        have one weight in a query.
    worth_of : {"place", "level", "labels"}
        How `worth` depends on labels: not at all; as ``a(place) + b(place) * level``; or otherwise.
    scale : {"constant", "weighted", "all"}
        Documents whose labels decide the divisor of the weights of a query, and its `offset`: none,
        those of weight other than 0, or all. If none, a label has one weight in all queries.
    scale_depth : int or None
        Number of documents of one label that count for the scale; None if all count.
    offset : ndarray of shape (n_queries,) or float
        Constant that is added to the sum of each query.
    finish : callable or None
        ``finish(values, query)`` turns the sums of queries into values of the measure. None if the
        sum is the value.
    is_defined : ndarray of shape (n_queries,), bool, or None
        Queries for which the measure is defined; the sum of the others is 0. None means that the
        kernel tells which queries are defined.
    by_shown : bool
        Whether the weights depend on the number of shown documents. They are then the weights of
        the lists with all documents shown.
    n_items : ndarray of shape (n_queries,) or None
        Size of each query's collection, if hidden relevant documents count as ranked at its end.
        None if they add nothing.
    k : int or None
        `worth` is 0 below this place.
    """

    weights: np.ndarray
    worth: Callable
    _: KW_ONLY
    uses_levels: bool = False
    worth_of: str = "place"
    scale: str = "constant"
    scale_depth: int | None = None
    offset: np.ndarray | float = 0.0
    finish: Callable | None = None
    is_defined: np.ndarray | None = None
    by_shown: bool = False
    n_items: np.ndarray | None = None
    k: int | None = None

    def has_one_weight(self, weights: np.ndarray) -> bool:
        """Tell whether labels of these weights in one query have them in all queries."""
        n_kinds = len(np.unique(weights[weights != 0]))
        if self.scale == "constant" or not n_kinds:
            return True
        # Only one label has a weight, and its first document alone decides the scale.
        return self.scale == "weighted" and self.scale_depth == 1 and n_kinds == 1


class Facts:
    """The input of a sum over documents: judgments, and the parsed measure.

    Attributes
    ----------
    gains, relevant : ndarray
        Gain of each document, and 1 where it is above 0.
    n, m : ndarray of shape (n_queries,), float64
        Number of documents and of relevant documents of each query.
    k : int or None
        Cut-off.
    """

    relevant: np.ndarray
    m: np.ndarray
    spread: Callable[[np.ndarray], np.ndarray]
    per_query: Callable[[Callable], np.ndarray]

    def __init__(self, parsed, gains, n):
        self.measure, self.k, self.options = parsed
        # Read-only, because functions of users get these arrays and several measures share them.
        self.gains, self.n = read_only(gains), read_only(n)

    def option(self, name):
        """Return an option of the measure, checked."""
        value = self.options.get(name, self.measure.defaults[name])
        return self.measure.options[name](value, name)

    def of(self, parsed) -> "Facts":
        """Return these judgments for another measure."""
        other = copy(self)
        other.measure, other.k, other.options = parsed
        return other

    def over(self, divisor, values=None):
        """Divide the value of each row by its query's divisor; 0 where that is not above 0.

        `values` are by default 1 for relevant rows and 0 for the others.
        """
        ratio = np.zeros(len(divisor))
        np.divide(1.0, divisor, out=ratio, where=divisor > 0)
        return (self.relevant if values is None else values) * self.spread(ratio)

    def by_place(self, worth):
        """Return a worth that depends on the place only, 0 below the cut-off."""
        values = np.append(0.0, worth(first_places(self.n.max())))
        if self.k is not None:
            values[self.k + 1 :] = 0.0
        return lambda place, level, query: values.take(place)

    def in_top(self, worth):
        """Return `worth` with the value 0 for places below the cut-off."""
        if self.k is None:
            return worth
        return lambda place, level, query: np.where(
            place <= self.k, worth(place, level, query), 0.0
        )


class RowFacts(Facts):
    """Facts of judged rows, in the order of the data."""

    def __init__(self, parsed, gains, index: GroupIndex):
        self._index, self._codes = index, index.codes()
        super().__init__(parsed, gains, index.sizes.astype(np.float64))
        self.relevant = read_only((gains > 0).astype(np.float64))
        self.m = read_only(np.bincount(self._codes, self.relevant, minlength=index.n_queries))

    def spread(self, per_query):
        """Return, for each document, the number of its query in `per_query`."""
        return per_query[self._codes]

    def per_query(self, kernel):
        """Return ``kernel(block)`` for all queries (last axis); it reads judgments only."""
        lists = RankedLists(self.gains, np.zeros(len(self.gains)), groups=self._index)
        result = None
        for block in lists.blocks():
            values = np.asarray(kernel(block))
            if result is None:
                result = np.empty((*values.shape[:-1], self._index.n_queries))
            result[..., block.queries] = values
        return result


class BlockFacts(Facts):
    """Facts of a block of queries: matrices with one row for each query."""

    def __init__(self, parsed, block: ListBlock):
        self._block = block
        super().__init__(parsed, block.gains, block.sizes.astype(np.float64))

    # Read from the block only when needed: not every measure needs them.
    @cached_property
    def relevant(self):
        """1 where the gain is above 0; shape (n_queries, width), float64."""
        return self._block.relevant

    @cached_property
    def m(self):
        """Number of relevant documents of each query."""
        return self._block.n_relevant

    def spread(self, per_query):
        """Return, for each document, the number of its query in `per_query`."""
        return per_query[:, None]

    def per_query(self, kernel):
        """Return ``kernel(block)`` for all queries (last axis); it reads judgments only."""
        return np.asarray(kernel(self._block))

"""Weighted facility location: the greedy order of documents by what each adds."""

import numpy as np
from scipy.sparse.csgraph import connected_components

from skfilterrank.judgments._row_entries import blocks_of, entries_of, running_sums

# Sums are kept in whole numbers of at most about this many bits.
_SUM_BITS = 61
# Gains that agree in this many leading bits (12 decimal digits) are a tie.
_TIE_BITS = 40
_BLOCK = 1 << 20


def facility_location(
    similarity, weights=None, *, symmetric=False, chosen=None
) -> tuple[np.ndarray, np.ndarray]:
    """Order documents greedily by how much each adds to what the chosen ones represent.

    Parameters
    ----------
    similarity : csr_array of shape (n_documents, n_documents)
        How well the document of a column represents that of a row, at least 0.
    weights : ndarray of shape (n_documents,), default=None
        How much each document counts, at least 0. None counts all alike.
    symmetric : bool, default=False
        Whether `similarity` is known to be symmetric, which saves a copy of it.
    chosen : ndarray of shape (n_documents,), dtype bool, default=None
        Documents that are chosen before the first of `order`. None starts from nothing.

    Returns
    -------
    order : ndarray of shape (n_documents,), dtype int64
        All documents, first choice first. Where gains agree to 12 digits the smaller number comes
        first. Those of `chosen` have nothing left to add.
    gains : ndarray of shape (n_documents,), dtype float64
        What each document of `order` adds at its place; 0 where nothing is left to add.

    Notes
    -----
    The objective is f(L) = sum_i weights_i max_{j in L} similarity_ij, f(empty) = 0. Gains never
    grow, so unconnected parts of the graph of similarities can be ordered on their own and merged
    by gain. Within a part, a choice changes the gains of those documents alone that are similar to
    one that is represented better now; no others are looked at again.

    Weighted similarities are rounded to whole multiples of a power of two, 2^-61 of the largest
    gain in a part. So sums are exact: gains do not drift as they are corrected, do not depend on
    the order of rows, and come down to 0 where nothing is left to add.
    """
    n = similarity.shape[0]
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    n_parts, part = connected_components(similarity, directed=True, connection="weak")
    sizes = np.bincount(part, minlength=n_parts)
    gains = np.zeros(n)
    alone = sizes[part] == 1
    gains[alone] = (weights * similarity.diagonal())[alone]
    if chosen is not None:
        gains[chosen] = 0.0
    rest = np.flatnonzero(~alone)
    if len(rest):
        rest = rest[np.argsort(part[rest], kind="stable")]
        starts = np.flatnonzero(np.diff(part[rest], prepend=-1))
        first = np.flatnonzero(chosen[rest]) if chosen is not None else rest[:0]
        gains[rest] = _greedy_gains(
            similarity[rest][:, rest], weights[rest], starts, symmetric, first
        )
    order = np.lexsort((np.arange(n), -_tie_key(gains)))
    return order, gains[order]


def _tie_key(values):
    """Whole numbers in the order of values from 0 on, equal for values that are a tie."""
    # Adding 0 turns -0.0, whose bits are a negative number, into 0.0.
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.int64)
    # The bits of floats from 0 on are in the floats' order; the last ones are rounded off.
    drop = 52 - _TIE_BITS
    return (bits + (1 << (drop - 1))) >> drop


def _greedy_gains(similarity, weights, starts, symmetric, first):
    """What each document adds when it is chosen, in all parts of the graph at once.

    A part's documents stand together, from its start on. Documents of `first` are chosen already.
    """
    parts = _Parts(similarity, weights, starts, symmetric)
    parts.begin_with(first)
    gains = np.zeros(len(weights))
    active = np.arange(len(starts))
    while True:
        chosen, active = parts.next_choices(active)
        if len(chosen) == 0:
            return gains
        gains[chosen] = parts.gains_of(chosen)
        parts.choose(chosen)


class _Parts:
    """The state of the greedy choice: how well documents are represented, and what each adds."""

    def __init__(self, similarity, weights, starts, symmetric):
        self.by_row = similarity
        self.by_column = similarity if symmetric else similarity.T.tocsr()
        self.starts = starts
        self.sizes = np.diff(starts, append=len(weights))
        self.exponents = np.repeat(self._exponents(weights), self.sizes)
        self.weights = np.ldexp(weights, self.exponents)
        self.best = np.zeros(len(weights), dtype=np.int64)
        self.gains = np.zeros(len(weights), dtype=np.int64)
        everyone = np.arange(len(weights))
        for columns in self._blocks(self.by_column, everyone):
            _, owners, values = self._covered_by(columns)
            np.add.at(self.gains, columns[owners], values)
        self.keys = _tie_key(self.gains)

    def _exponents(self, weights):
        """Power of two for each part, by which its largest gain fills the whole numbers."""
        _, size = np.frexp(np.maximum.reduceat(weights, self.starts))
        scaled = np.ldexp(weights, -np.repeat(size, self.sizes))
        largest = np.maximum.reduceat(self.by_column @ scaled, self.starts)
        return _SUM_BITS - size - np.frexp(largest)[1]

    def gains_of(self, rows):
        """Gains as floats."""
        return np.ldexp(self.gains[rows].astype(np.float64), -self.exponents[rows])

    def _blocks(self, matrix, rows):
        """Stretches of rows that have a limited number of entries together."""
        lengths = (matrix.indptr[rows + 1] - matrix.indptr[rows]).astype(np.int64)
        for begin, end in blocks_of(running_sums(lengths), _BLOCK):
            yield rows[begin:end]

    def _covered_by(self, columns):
        """Documents that some choices represent, by which of them, and how well."""
        entries, owners = entries_of(self.by_column.indptr, columns)
        covered = self.by_column.indices[entries]
        return covered, owners, self._whole(covered, self.by_column.data[entries])

    def _whole(self, rows, similarity):
        """Weighted similarities as whole numbers."""
        return np.rint(self.weights[rows] * similarity).astype(np.int64)

    def next_choices(self, active):
        """Document of the largest gain in each active part, and the parts that have one above 0."""
        if len(active) == 1:
            start, size = self.starts[active[0]], self.sizes[active[0]]
            chosen = start + np.array([np.argmax(self.keys[start : start + size])])
            left = self.keys[chosen] > 0
            return chosen[left], active[left]
        if len(active) == 0:
            return active, active
        sizes = self.sizes[active]
        owners = np.repeat(np.arange(len(active)), sizes)
        firsts = np.cumsum(sizes) - sizes
        rows = (self.starts[active] - firsts)[owners] + np.arange(len(owners))
        keys = self.keys[rows]
        top = np.maximum.reduceat(keys, firsts)
        hits = np.flatnonzero(keys == top[owners])
        is_first = np.diff(owners[hits], prepend=-1) > 0
        chosen = rows[hits[is_first]]
        left = top > 0
        return chosen[left], active[left]

    def begin_with(self, chosen):
        """Take documents, of which a part may have several, before any other."""
        best = np.zeros_like(self.best)
        for some in self._blocks(self.by_column, chosen):
            covered, _, values = self._covered_by(some)
            np.maximum.at(best, covered, values)
        rows = np.flatnonzero(best)
        self._represent(rows, best[rows])

    def choose(self, chosen):
        """Take one document of each of some parts."""
        for some in self._blocks(self.by_column, chosen):
            covered, _, values = self._covered_by(some)
            better = values > self.best[covered]
            self._represent(covered[better], values[better])

    def _represent(self, rows, values):
        """Correct the gains of all that could represent rows which are represented better now."""
        before = self.best[rows]
        self.best[rows] = values
        begin = 0
        for some in self._blocks(self.by_row, rows):
            stretch = slice(begin, begin + len(some))
            entries, owners = entries_of(self.by_row.indptr, some)
            columns = self.by_row.indices[entries]
            could = self._whole(some[owners], self.by_row.data[entries])
            # max(0, could - before) - max(0, could - after)
            could_after = np.minimum(could, values[stretch][owners])
            loss = could_after - np.minimum(could, before[stretch][owners])
            np.subtract.at(self.gains, columns, loss)
            self.keys[columns] = _tie_key(self.gains[columns])
            begin = stretch.stop

"""All pairs of similar documents, by an exact cosine similarity join with prefix filtering."""

import numpy as np
from scipy import sparse

from skfilterrank._base.checks import as_number_array, check_number
from skfilterrank.exceptions import InputError

# Similarities are rounded to this many decimals, so that rounding does not matter at the threshold
# or for parallel vectors.
DECIMALS = 12
# Tolerance of the bounds, above the largest rounding error of a sum of products.
_SLACK = 1e-9
# Squared norms are integers in units of 2 ** -_BITS, rounded up, so that differences of sums over a
# whole collection are exact upper bounds.
_BITS = 40
_N_PLACES = 64
# Block sizes, in multiplications or in cells.
_PRODUCT_BLOCK = 1 << 18
_DENSE_BLOCK = 1 << 22
_SPREAD_CELLS = 1 << 21
_COMPARED_ENTRIES = 1 << 18
# Sparse rows with at least this density, if they are not too many, are treated as dense.
_FULL_SHARE = 0.1
_FULL_CELLS = 1 << 24


def similarity_join(X, threshold: float) -> sparse.csr_array:
    """Find every pair of rows whose cosine similarity reaches the threshold.

    Parameters
    ----------
    X : {sparse matrix or array, ndarray} of shape (n_rows, n_features)
        One vector per row. Sparse rows with many features (word counts, tf-idf) are joined by
        prefix filtering; dense rows by products of blocks. Weights below 0 are allowed.
    threshold : float in (0, 1]
        Smallest similarity that is kept. A similarity that equals it is kept.

    Returns
    -------
    similarity : csr_array of shape (n_rows, n_rows), dtype float64
        The similarities of at least `threshold`, with sorted indices, symmetric, 1 on the diagonal.
        Similarities and threshold are rounded to 12 decimals, so a similarity slightly below the
        threshold by rounding counts as equal. A row of zeros is similar only to itself.

    Raises
    ------
    ValueError
        If `threshold` is not in (0, 1], or X is not a matrix of finite numbers.

    Notes
    -----
    Let rows x, y have norm 1, let terms be sorted from rare to frequent, and let x' be the part of
    x after some term w. Then x . y is at most (dot product of the terms up to w) + ``|x'| |y'|``.
    Each row is cut so that ``|x'| < threshold``. So two similar rows share a term before the first
    of their cuts, and the product of the parts before the cuts finds all candidates. The bound
    removes most candidates that are not similar, and the others are compared completely. The parts
    before the cuts have the rare terms, which occur in few documents [1]_.

    References
    ----------
    .. [1] R. J. Bayardo, Y. Ma, R. Srikant (2007). Scaling up all pairs similarity search. WWW.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.judgments._similarity import similarity_join
    >>> similarity_join(np.array([[3.0, 4.0], [6.0, 8.0], [5.0, 0.0]]), 0.6).toarray()
    array([[1. , 1. , 0.6],
           [1. , 1. , 0.6],
           [0.6, 0.6, 1. ]])
    """
    limit = round(check_threshold(threshold), DECIMALS)
    X = _checked(X)
    n_cells = X.shape[0] * X.shape[1]
    if sparse.issparse(X) and n_cells <= min(_FULL_CELLS, X.nnz / _FULL_SHARE):
        X = X.toarray()
    join = _sparse_pairs if sparse.issparse(X) else _dense_pairs
    first, second, values = join(X, limit)
    return _symmetric(first, second, values, X.shape[0])


def nearest_similarity(X, rows) -> np.ndarray:
    """Return the cosine similarity of some rows to the most similar other row.

    Copies, which have similarity 1, are not counted. The value is 0 if no other row is similar.
    """
    X = _unit_rows(_checked(X))
    block = _PRODUCT_BLOCK if sparse.issparse(X) else _DENSE_BLOCK
    step = max(1, block // max(1, X.shape[0]))
    return np.concatenate(
        [
            _nearest_of_block(X[rows[begin : begin + step]] @ X.T)
            for begin in range(0, len(rows), step)
        ]
    )


def _nearest_of_block(similarity) -> np.ndarray:
    """Return the largest similarity in each row, at least 0, without those that are 1."""
    values = similarity.data if sparse.issparse(similarity) else similarity
    values[(values < 0) | (values > 1 - _SLACK)] = 0.0
    if not sparse.issparse(similarity):
        return similarity.max(axis=1)
    # The maximum of scipy sorts all entries first.
    largest, is_filled = np.zeros(similarity.shape[0]), np.diff(similarity.indptr) > 0
    largest[is_filled] = np.maximum.reduceat(values, similarity.indptr[:-1][is_filled])
    return largest


def check_threshold(threshold) -> float:
    """Return a similarity threshold as a float in (0, 1]."""
    return check_number(threshold, "threshold", above=0, most=1)


def _checked(X):
    """Return X as floats: a new csr_array, or an ndarray."""
    if sparse.issparse(X):
        X = sparse.csr_array(X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
    else:
        X = as_number_array(X, "X")
        if X is None:
            raise InputError("X must hold numbers, one vector per row.")
        X = X.astype(np.float64, copy=False)
    if X.ndim != 2:
        raise InputError(f"X must hold one vector per row (2-D), got shape {X.shape}.")
    if not np.isfinite(X.data if sparse.issparse(X) else X).all():
        raise InputError(
            "X holds NaN or infinite values: expected finite weights; fill them in, or leave out "
            "the rows that have them."
        )
    return X


def _symmetric(first, second, values, n_rows):
    """Return a symmetric matrix with the values on both sides of a diagonal of ones."""
    rows = np.arange(n_rows, dtype=first.dtype)
    similarity = sparse.coo_array(
        (
            np.concatenate((values, values, np.ones(n_rows))),
            (np.concatenate((first, second, rows)), np.concatenate((second, first, rows))),
        ),
        shape=(n_rows, n_rows),
    ).tocsr()
    similarity.sort_indices()
    return similarity


def _finish(parts):
    """Concatenate lists of (first, second, value)."""
    if not parts:
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32), np.empty(0)
    return tuple(np.concatenate(column) for column in zip(*parts))


def reaching(values, limit):
    """Return rounded similarities, at most 1, and a mask of those that reach the limit."""
    values = np.minimum(np.round(values, DECIMALS), 1.0)
    return values, (values >= limit) & (values > 0)


def _dense_pairs(X, limit):
    """Find pairs of similar dense rows from products of blocks."""
    rows = np.flatnonzero(X.any(axis=1)).astype(np.int32)
    X = _unit_rows(X[rows])
    step = max(1, _DENSE_BLOCK // max(1, len(rows)))
    parts = []
    for begin in range(0, len(rows), step):
        product = X[begin : begin + step] @ X[begin:].T
        first, second = np.nonzero(product >= limit - _SLACK)
        values, kept = reaching(product[first, second], limit)
        kept &= first < second
        parts.append((rows[first[kept] + begin], rows[second[kept] + begin], values[kept]))
    return _finish(parts)


def _sparse_pairs(X, limit):
    """Find pairs of similar sparse rows by prefix filtering."""
    X, rows = _shared_terms(_unit_rows(X), limit - _SLACK)
    if X.shape[0] == 0:
        return _finish([])
    cut = _Cut(X, limit - _SLACK)
    compare = _Comparison(X)
    parts = []
    for first, second in cut.candidates():
        values, kept = reaching(compare(first, second), limit)
        parts.append((rows[first[kept]], rows[second[kept]], values[kept]))
    return _finish(parts)


def _running_squares(X):
    """Compute running sums of squared entries, in units of 2 ** -_BITS."""
    return running_sums(np.ceil(np.ldexp(X.data**2, _BITS)).astype(np.int64))


def _norm(squares):
    """Return upper bounds of norms from their squares in units of 2 ** -_BITS."""
    return np.sqrt(np.ldexp(squares.astype(np.float64), -_BITS))


def _some_entries(X, kept):
    """Return a matrix with only the marked entries."""
    indptr = running_sums(kept.astype(np.int64))[X.indptr]
    return sparse.csr_array((X.data[kept], X.indices[kept], indptr), shape=X.shape)


def _unit_rows(X):
    """Return rows divided by their norms; sparse ones are changed in place."""
    # Divide by the largest entry first, since squares of extreme numbers are out of range.
    if not sparse.issparse(X):
        largest = np.abs(X).max(axis=1, initial=0.0)
        X = X / np.where(largest > 0, largest, 1.0)[:, None]
        norms = np.sqrt(np.einsum("ij,ij->i", X, X))
        X /= np.where(largest > 0, norms, 1.0)[:, None]
        return X
    lengths = np.diff(X.indptr)
    filled = X.indptr[:-1][lengths > 0]
    if len(filled) == 0:
        return X
    lengths = lengths[lengths > 0]
    X.data /= np.repeat(np.maximum.reduceat(np.abs(X.data), filled), lengths)
    X.data /= np.repeat(np.sqrt(np.add.reduceat(X.data**2, filled)), lengths)
    return X


def _shared_terms(X, limit):
    """Return terms of at least two rows, rare terms first, and the rows that have some."""
    rows = np.arange(X.shape[0], dtype=np.int32)
    while True:
        frequency = np.bincount(X.indices, minlength=X.shape[1])
        X = _some_entries(X, frequency[X.indices] > 1)
        # Terms of a single row do not affect similarities to other rows.
        hopeful = _norm(np.diff(_running_squares(X)[X.indptr])) >= limit
        X, rows = X[hopeful], rows[hopeful]
        if len(rows) == 0 or hopeful.mean() > 0.9:
            break
    frequency = np.bincount(X.indices, minlength=X.shape[1])
    used = np.flatnonzero(frequency)
    by_frequency = used[np.argsort(frequency[used], kind="stable")]
    number = np.zeros(X.shape[1], dtype=X.indices.dtype)
    number[by_frequency] = np.arange(len(by_frequency))
    X = sparse.csr_array(
        (X.data, number[X.indices], X.indptr), shape=(len(rows), len(by_frequency))
    )
    X.sort_indices()
    return X, rows


class _Cut:
    """Rows cut in two: an index of the rare terms before the cut, and norms of the rest.

    A row is cut at the first place after which the norm is below the limit.
    """

    def __init__(self, X, limit):
        self.limit = limit
        squares = _running_squares(X)
        ends = squares[X.indptr[1:]]
        begins = _norm(np.repeat(ends, np.diff(X.indptr)) - squares[:-1]) >= limit
        self.beginnings = _some_entries(X, begins)
        position = X.indptr[:-1] + np.diff(self.beginnings.indptr)
        self.rest_norm = _norm(ends - squares[position])
        # Position of the first term after the cut.
        self.cut = np.append(X.indices, X.shape[1])[position]
        self.cut[position == X.indptr[1:]] = X.shape[1]
        # Norm of the rest of each row after some places, spread over all cuts.
        places = np.unique(np.quantile(self.cut, np.linspace(0, 1, _N_PLACES), method="lower"))
        self.place = np.searchsorted(places, self.cut, side="right") - 1
        stretch = np.searchsorted(places, X.indices, side="right")
        left = sparse.csr_array(
            (X.data**2, stretch, X.indptr), shape=(X.shape[0], len(places) + 1)
        ).toarray()[:, :0:-1]
        np.cumsum(left, axis=1, out=left)
        self.left_from = np.sqrt(left[:, ::-1])

    def candidates(self):
        """Yield candidate pairs, first < second, in blocks."""
        index = self.beginnings.T.tocsr()
        frequency = np.diff(index.indptr).astype(np.int64)
        work = running_sums(frequency[self.beginnings.indices])[self.beginnings.indptr]
        for begin, end in blocks_of(work, _PRODUCT_BLOCK):
            product = self.beginnings[begin:end] @ index
            first = np.repeat(np.arange(begin, end, dtype=np.int32), np.diff(product.indptr))
            upper = product.indices > first
            first, second = first[upper], product.indices[upper]
            possible = self._bound(first, second, product.data[upper]) >= self.limit
            yield first[possible], second[possible]

    def _bound(self, first, second, dot):
        """Return an upper bound of the similarity, given the dot product of the beginnings."""
        swap = self.cut[first] > self.cut[second]
        early, late = np.where(swap, second, first), np.where(swap, first, second)
        return dot + self.rest_norm[early] * self.left_from[late, self.place[early]]


class _Comparison:
    """Dot products of given pairs of rows."""

    def __init__(self, X):
        self.X = X
        self.lengths = np.diff(X.indptr).astype(np.int64)
        self.spread = np.zeros((max(1, _SPREAD_CELLS // X.shape[1]), X.shape[1]))

    def __call__(self, first, second):
        """Compute the dot product of rows first[p] and second[p] for every p; `first` ascends."""
        values = np.empty(len(first))
        rows, starts = np.unique(first, return_index=True)
        starts = np.append(starts, len(first))
        for low in range(0, len(rows), len(self.spread)):
            some = rows[low : low + len(self.spread)]
            begin, end = starts[low], starts[low + len(some)]
            numbers = np.searchsorted(some, first[begin:end])
            self._compare(some, numbers, second[begin:end], values[begin:end])
        return values

    def _compare(self, rows, numbers, second, values):
        """Compare a few rows, converted to dense ones."""
        X, spread = self.X, self.spread.reshape(-1)
        entries, owners = entries_of(X.indptr, rows)
        written = owners * X.shape[1] + X.indices[entries]
        spread[written] = X.data[entries]
        for begin, end in blocks_of(running_sums(self.lengths[second]), _COMPARED_ENTRIES):
            entries, owners = entries_of(X.indptr, second[begin:end])
            places = (numbers[begin:end] * X.shape[1])[owners] + X.indices[entries]
            products = spread[places] * X.data[entries]
            starts = running_sums(self.lengths[second[begin:end]])[:-1]
            values[begin:end] = np.add.reduceat(products, starts)
        spread[written] = 0.0


def running_sums(values):
    """Return sums of the first 0, 1, 2, ... values."""
    return np.concatenate((np.zeros(1, dtype=values.dtype), np.cumsum(values)))


def blocks_of(running, size):
    """Yield slices with work of about `size`, from running sums of the work."""
    begin = 0
    while begin < len(running) - 1:
        end = np.searchsorted(running, running[begin] + size, side="right") - 1
        end = max(begin + 1, int(end))
        yield begin, end
        begin = end


def entries_of(indptr, rows):
    """Return positions of the entries of some csr rows, and the index in `rows` of each."""
    lengths = indptr[rows + 1].astype(np.int64) - indptr[rows]
    owners = np.repeat(np.arange(len(rows)), lengths)
    shift = indptr[rows] - (np.cumsum(lengths) - lengths)
    return shift[owners] + np.arange(len(owners)), owners

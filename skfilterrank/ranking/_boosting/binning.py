"""Features in bins, and sums over the bins."""

import numpy as np
from scipy import sparse
from sklearn.utils.parallel import Parallel, delayed


class BinnedFeatures:
    """The rows of X by which of a few thresholds of each feature they exceed.

    The bins of all features stand in one row, feature by feature: first the bin of missing values
    (NaN), then those between thresholds, ascending.

    Parameters
    ----------
    X : ndarray or csc matrix of shape (n_rows, n_features)
        NaN is a missing value.
    max_bins : int
        Most bins of a feature, missing values apart. A feature of more distinct values is cut at
        its quantiles.
    n_jobs : int or None
        Threads.

    Attributes
    ----------
    thresholds : ndarray of shape (n_bins,), dtype float64
        What the values in the bins above exceed: -inf for the bin of missing values. In the last
        bin of a feature, NaN.
    features : ndarray of shape (n_bins,), dtype int64
        The feature of each bin.
    """

    def __init__(self, X, *, max_bins, n_jobs=None):
        bin_column = _bin_sparse if sparse.issparse(X) else _bin_dense
        dtype = np.min_scalar_type(max_bins)
        binned = Parallel(n_jobs=n_jobs, prefer="threads")(
            delayed(bin_column)(X, number, max_bins, dtype) for number in range(X.shape[1])
        )
        cuts = [cut for cut, _ in binned]
        self._codes = [codes for _, codes in binned]
        n_bins = np.array([len(cut) + 2 for cut in cuts])
        self._ends = np.cumsum(n_bins)
        self._starts = self._ends - n_bins
        self.features = np.repeat(np.arange(X.shape[1]), n_bins)
        self.thresholds = np.concatenate(
            [np.concatenate([[-np.inf], cut, [np.nan]]) for cut in cuts]
        )
        self._zeros = self._rows = None
        if sparse.issparse(X):
            stored = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
            self._rows = X.indices
            self._codes = self._starts[stored] + np.concatenate(self._codes)
            # The bin of the cells that are not stored.
            self._zeros = self._starts + [1 + np.searchsorted(cut, 0.0) for cut in cuts]

    def sums(self, values) -> np.ndarray:
        """Sum of `values` (n_rows,) over the rows of each bin."""
        sums = np.empty(self._ends[-1])
        if self._zeros is None:
            for start, end, codes in zip(self._starts, self._ends, self._codes):
                sums[start:end] = np.bincount(codes, weights=values, minlength=end - start)
            return sums
        sums = np.bincount(self._codes, weights=values[self._rows], minlength=self._ends[-1])
        sums[self._zeros] += values.sum() - np.add.reduceat(sums, self._starts)
        return sums

    def sums_above(self, values) -> tuple[np.ndarray, np.ndarray]:
        """Sum over the bins of the feature above each bin, and over its missing values."""
        sums = self.sums(values)
        running = np.cumsum(sums)
        return running[self._ends - 1][self.features] - running, sums[self._starts][self.features]


def _bin_dense(X, number, max_bins, dtype):
    """Thresholds of a column, and the bin of each row."""
    values = X[:, number].astype(np.float64)
    present = ~np.isnan(values)
    cuts = find_thresholds(*np.unique(values[present], return_counts=True), max_bins)
    return cuts, _codes(values, present, cuts).astype(dtype)


def _bin_sparse(X, number, max_bins, dtype):
    """Thresholds of a column, and the bin of each stored cell."""
    values = X.data[X.indptr[number] : X.indptr[number + 1]].astype(np.float64)
    present = ~np.isnan(values)
    n_zeros = X.shape[0] - len(values)
    distinct, counts = np.unique(values[present], return_counts=True)
    if n_zeros:
        place = np.searchsorted(distinct, 0.0)
        if place == len(distinct) or distinct[place] != 0.0:
            distinct, counts = np.insert(distinct, place, 0.0), np.insert(counts, place, 0)
        counts[place] += n_zeros
    cuts = find_thresholds(distinct, counts, max_bins)
    return cuts, _codes(values, present, cuts).astype(dtype)


def _codes(values, present, cuts):
    """0 for missing values, else 1 plus the number of thresholds below the value."""
    return np.where(present, 1 + np.searchsorted(cuts, values), 0)


def find_thresholds(distinct, counts, max_bins) -> np.ndarray:
    """At most ``max_bins - 1`` thresholds between distinct values, ascending.

    Halfway between two neighbours: all of them, or those at the quantiles.
    """
    lower = np.arange(len(distinct) - 1)
    if len(distinct) > max_bins:
        up_to = np.cumsum(counts)
        shares = np.arange(1, max_bins) / max_bins
        lower = np.unique(np.searchsorted(up_to, shares * up_to[-1]))
        lower = lower[lower < len(distinct) - 1]
    halfway = distinct[lower] / 2 + distinct[lower + 1] / 2
    # Between neighbouring floats there is nothing: the lower one then separates them.
    return np.where(
        halfway < distinct[lower + 1], np.maximum(halfway, distinct[lower]), distinct[lower]
    )

"""Features read column by column, dense or sparse."""

import numpy as np
from scipy import sparse

from skfilterrank._lists.floats import ROUNDING_OF_MEANS
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.ranking._feature_ranker import column


def spread(values, codes=None, sizes=None) -> float:
    """Standard deviation, within queries where their codes and sizes are given.

    0 for values that vary by no more than rounding.
    """
    # Scaled first: squares of extreme values leave the range of float64.
    largest = np.abs(values).max()
    if largest == 0:
        return 0.0
    values = values / largest
    if codes is None:
        values = values - values.mean()
    else:
        values = values - (np.bincount(codes, values) / sizes)[codes]
    if np.abs(values).max() <= ROUNDING_OF_MEANS:
        return 0.0
    return largest * np.sqrt(np.mean(values**2))


class Columns:
    """A checked feature matrix of which one dense column at a time is wanted."""

    def __init__(self, X):
        self.is_sparse = sparse.issparse(X)
        self.n_rows, self.n_columns = X.shape
        if self.is_sparse:
            self._X = sparse.csc_array(X, dtype=np.float64)
        else:
            self._X = np.asfortranarray(X, dtype=np.float64)

    def __getitem__(self, j) -> np.ndarray:
        """Column j; shape (n_rows,), read only."""
        return column(self._X, j)

    def scores(self, coef) -> np.ndarray:
        """Sum of features times weights, added up in the same order for every row.

        A matrix product of numpy may give equal rows scores that differ in the last digit.
        """
        if self.is_sparse:
            return self._X @ coef
        scores = np.zeros(self.n_rows)
        for j in np.flatnonzero(coef):
            scores += coef[j] * self._X[:, j]
        return scores

    def product(self, coef) -> np.ndarray:
        """The same as a matrix product, where speed matters and the last digit does not."""
        return self._X @ coef

    def transposed(self, values) -> np.ndarray:
        """Product of the transposed matrix with one value per row."""
        return self._X.T @ values

    def spreads(self, index: GroupIndex | None) -> np.ndarray:
        """Standard deviation of each column, within queries where an index is given.

        Columns that vary by no more than rounding have 0.
        """
        queries = () if index is None else (index.codes(), index.sizes)
        return np.array([spread(self[j], *queries) for j in range(self.n_columns)])

"""LambdaRank for any gains: the first and second derivatives boosting asks for.

Burges, "From RankNet to LambdaRank to LambdaMART: An Overview", Microsoft Research 2010; with BCE:
section 5.1 of Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
SIGIR 2022.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.scoring import first_places, log_discount
from skfilterrank.metrics import dcg_bounds

# Documents in a block of queries, and pairs held at a time: a few arrays of 128 KiB.
_BLOCK_DOCUMENTS = 1 << 12
_PAIRS = 1 << 15
# Documents paired with all below them at a time. Fewer waste fewer cells under the diagonal.
_LEADERS = 8
# Score of padding: finite, so that differences are never NaN.
_PADDING = -1e30
_KEY_ROWS = 1 << 14


class _PairedQueries(NamedTuple):
    """A padded block of queries that have two different gains."""

    rows: np.ndarray
    gains: np.ndarray
    last: np.ndarray


class LambdaObjective:
    """Gradient and hessian of the LambdaRank loss, plus gamma times BCE, in the scores.

    Parameters
    ----------
    gains : ndarray of shape (n_rows,), dtype float64
        Gain of each row, without NaN.
    index : GroupIndex
        Queries of the rows.
    k : int or None
        Only pairs with a document at one of the first k places count; None counts all.
    gamma : float
        Weight of the cross-entropy of ``gain > 0``.
    sigmoid : float
        Steepness of the pairwise logistic loss.
    norm : bool
        Whether pairs are weighted by the inverse of their distance and queries by the logarithm
        of their sum, as LightGBM's ``lambdarank_norm``.
    tie_keys : ndarray of shape (n_rows,) or None
        Documents with the same score stand in ascending order of their keys, and of their gains
        where the keys agree too. None leaves them in the order of the rows.
    dtype : dtype
        Precision of the pairs.

    Attributes
    ----------
    n_paired_queries : int
        Number of queries with two different gains.

    Notes
    -----
    For each pair (i, j) of a query with ``gain_i > gain_j``, at places p_i and p_j of the current
    ranking, one of them at most k, with ``D(p) = 1 / log2(p + 1)``::

        w_ij = (gain_i - gain_j) * |D(p_i) - D(p_j)| / (I_k - W_k)
        r_ij = 1 / (1 + exp(sigmoid * (s_i - s_j)))
        gradient:  -sigmoid * w_ij * r_ij  for i, the opposite for j
        hessian:   sigmoid**2 * w_ij * r_ij * (1 - r_ij)  for both

    With `norm`, w_ij is divided by ``0.01 + |s_i - s_j|`` unless all scores of the query are
    equal, and both derivatives are multiplied by ``log2(1 + S) / S``, where S is the sum of the
    absolute gradients over the pairs, each counted for i and j.

    Cross-entropy adds ``gamma / n * (expit(s) - [gain > 0])`` and ``gamma / n * expit(s) *
    (1 - expit(s))``, n the number of rows of the query.
    """

    def __init__(
        self, gains, index: GroupIndex, *, k, gamma, sigmoid, norm, tie_keys=None, dtype=np.float32
    ):
        self.k = k
        self.sigmoid = sigmoid
        self.norm = norm
        self.dtype = dtype
        bounds = dcg_bounds(gains, groups=index, k=k)
        spread = (bounds["ideal_filtered"] - bounds["worst_filtered"]).to_numpy()
        self._blocks = list(_paired_queries(gains, index, spread, tie_keys, dtype))
        self._discounts = log_discount(first_places(int(index.sizes.max())))
        self.n_paired_queries = sum(len(block.rows) for block in self._blocks)
        self._bce_weights = None
        if gamma > 0:
            self._bce_weights = np.empty(index.n_rows)
            self._bce_weights[index.row_order()] = np.repeat(gamma / index.sizes, index.sizes)
            self._is_good = gains > 0

    def __call__(self, scores, dataset=None):
        """Compute gradient and hessian of each row, as LightGBM calls its objective."""
        n_rows = len(scores)
        # Padding reads from and writes to the cell behind the last row.
        scores = np.append(scores, _PADDING)
        gradient = np.zeros(n_rows + 1, dtype=self.dtype)
        hessian = np.zeros(n_rows + 1, dtype=self.dtype)
        for block in self._blocks:
            rows, gains, ranked = self._rank(block, scores)
            pushes, curvature = self._derivatives(ranked, gains, block.last)
            gradient[rows] = -pushes
            hessian[rows] = curvature
        gradient, hessian = gradient[:-1], hessian[:-1]
        if self._bce_weights is not None:
            chances = expit(scores[:-1])
            gradient += self._bce_weights * (chances - self._is_good)
            hessian += self._bce_weights * chances * (1.0 - chances)
        return gradient, hessian

    def _rank(self, block, scores):
        """Bring a block into the current ranking; scores are relative to the best of the query."""
        keys = scores[block.rows]
        np.negative(keys, out=keys)
        order = np.argsort(keys, axis=1, kind="stable")
        order += keys.shape[1] * np.arange(len(keys))[:, None]
        ranked = keys.take(order)
        np.subtract(ranked[:, :1], ranked, out=ranked)
        ranked *= self.sigmoid
        return block.rows.take(order), block.gains.take(order), ranked.astype(self.dtype)

    def _derivatives(self, scores, gains, last):
        """Add up the pairs of each document, in ranked order."""
        pushes, curvature = np.zeros_like(scores), np.zeros_like(scores)
        total = np.zeros(len(scores), dtype=self.dtype)
        offset = None
        if self.norm:
            # Scores carry the factor sigmoid already.
            is_flat = scores[np.arange(len(scores)), last] == 0
            offset = (self.sigmoid * np.where(is_flat, 1.0, 0.01)).astype(self.dtype)
            offset = offset[:, None, None]
        n_queries, width = scores.shape
        depth = width - 1 if self.k is None else min(self.k, width - 1)
        step = max(1, min(_LEADERS, _PAIRS // scores.size))
        weights = self._discounts[:width].astype(self.dtype)
        for first in range(0, depth, step):
            upper, lower = slice(first, min(first + step, depth)), slice(first + 1, width)
            # A document is paired with those ranked below it: the diagonal and what is under it
            # have weight 0.
            lead = np.triu(weights[upper, None] - weights[lower])
            # einsum sums short rows several times faster than sum.
            push, curve = _pairs(scores, gains, upper, lower, lead, offset)
            if self.norm:
                total += np.einsum("qij->q", np.abs(push))
            pushes[:, upper] += np.einsum("qij->qi", push)
            pushes[:, lower] -= np.einsum("qij->qj", push)
            curvature[:, upper] += np.einsum("qij->qi", curve)
            curvature[:, lower] += np.einsum("qij->qj", curve)
        factor = np.full(n_queries, self.sigmoid, dtype=self.dtype)
        if self.norm:
            # Dividing by the scaled distance took a factor sigmoid away.
            total *= 2 * self.sigmoid**2
            factor *= self.sigmoid
            np.multiply(factor, np.log2(1 + total) / np.maximum(total, 1e-30), out=factor)
        factor = factor[:, None]
        return pushes * factor, curvature * (factor * self.sigmoid)


def _pairs(scores, gains, upper, lower, lead, offset):
    """Compute push of the upper document of each pair and curvature, without sigmoid's factors."""
    distance = scores[:, upper, None] - scores[:, None, lower]
    with np.errstate(over="ignore"):
        chance = np.exp(distance)
    chance += 1
    np.reciprocal(chance, out=chance)
    weight = gains[:, upper, None] - gains[:, None, lower]
    weight *= lead
    if offset is not None:
        distance += offset
        weight /= distance
    # In a pair ranked rightly the upper document is pushed by weight * chance; in a wrong one,
    # whose weight is negative here, by weight * (1 - chance).
    curve = np.abs(weight)
    curve *= chance
    push = np.minimum(weight, 0, out=weight)
    push += curve
    np.subtract(1, chance, out=chance)
    curve *= chance
    return push, curve


def _paired_queries(gains, index, spread, tie_keys, dtype):
    """Lay out the queries that have two different gains, documents in the order for ties."""
    row_type = np.int32 if index.n_rows < np.iinfo(np.int32).max else np.int64
    all_rows = np.arange(index.n_rows, dtype=row_type)
    for block in index.blocks(_BLOCK_DOCUMENTS):
        lowest = index.take(gains, block, np.inf).min(axis=1)
        paired = index.take(gains, block, -np.inf).max(axis=1) > lowest
        if not paired.any():
            continue
        # Padding as the worst document at the very end of the list makes all its weights
        # positive, so that they vanish with the distance.
        padded = np.where(
            np.arange(block.width) < block.sizes[:, None],
            index.take(gains, block, 0.0),
            lowest[:, None],
        )[paired]
        rows = index.take(all_rows, block, index.n_rows)[paired]
        sizes = block.sizes[paired]
        if tie_keys is not None:
            # Rows that agree in all features are told apart by their gain.
            keys = index.take(tie_keys, block, 0)[paired]
            order = np.lexsort((padded, keys, rows == index.n_rows), axis=1)
            rows = np.take_along_axis(rows, order, axis=1)
            padded = np.take_along_axis(padded, order, axis=1)
        padded /= spread[block.queries[paired], None]
        yield _PairedQueries(rows, padded.astype(dtype), sizes - 1)


def row_keys(X):
    """Number the rows by their features alone, whatever the format of X."""
    multipliers = np.random.default_rng(0).integers(2**64, size=X.shape[1], dtype=np.uint64) | 1
    if sparse.issparse(X):
        bits = sparse.csr_array((_bits(X.data), X.indices, X.indptr), shape=X.shape)
        return bits @ multipliers
    keys = np.empty(len(X), dtype=np.uint64)
    for begin in range(0, len(X), _KEY_ROWS):
        rows = slice(begin, begin + _KEY_ROWS)
        keys[rows] = _bits(X[rows]) @ multipliers
    return keys


def _bits(values):
    """Return the bits of float64 values as integers, the same for 0.0 and -0.0."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)

"""Weights that coordinate ascent starts from."""

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

INITS = ("least_squares", "uniform")
_MOST_STEPS = 500


def make_start(
    init: str, columns, objective, spreads, rng, *, alpha: float, within: bool
) -> np.ndarray:
    """Weights of shape (n_features,); 0 for features without spread.

    `alpha` is the penalty of a regression, and `within` says whether it is one of differences
    within queries.
    """
    usable = spreads > 0
    n_usable = np.count_nonzero(usable)
    if not n_usable:
        return np.zeros(len(spreads))
    inverse = np.zeros(len(spreads))
    inverse[usable] = 1.0 / spreads[usable]
    if init == "uniform":
        return inverse / n_usable
    if init == "random":
        return rng.normal(size=len(spreads)) * inverse
    return _regression(columns, objective, inverse, alpha, within)


def _regression(columns, objective, inverse, alpha, within):
    """Ridge regression of the gains, by conjugate gradients: sparse features stay sparse."""
    codes = objective.index.codes() if within else np.zeros(columns.n_rows, dtype=np.intp)
    sizes = np.bincount(codes)

    def centred(values):
        return values - (np.bincount(codes, values) / sizes)[codes]

    def product(coef):
        return columns.transposed(centred(columns.product(coef * inverse))) * inverse + (
            alpha * coef
        )

    n = len(inverse)
    right = columns.transposed(centred(objective.gains)) * inverse
    scaled, _ = cg(
        LinearOperator((n, n), matvec=product, dtype=np.float64),
        right,
        rtol=1e-8,
        maxiter=_MOST_STEPS,
    )
    return scaled * inverse

"""Ridge logistic regressions, one for each fold, whose penalties follow from the evidence."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

_N_STEPS = 12
_PENALTIES = 0.1, 1e6
_OF_INTERCEPT = 0.01


class Features(NamedTuple):
    """Columns of a regression: some values, and indicators of the topic.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_values)
        All but the indicators; the first column is 1.
    topic : ndarray of shape (n_rows,), int
        Number of the topic.
    blocks : ndarray of shape (n_values + n_topics,), int
        Block of each column, the topics' last; block 0 is the intercept.
    """

    values: np.ndarray
    topic: np.ndarray
    blocks: np.ndarray

    def at(self, rows) -> "Features":
        """Those of some rows."""
        return Features(self.values[rows], self.topic[rows], self.blocks)

    def times(self, coefficients) -> np.ndarray:
        """Sums of features times coefficients of shape (n_columns, n); shape (n_rows, n)."""
        n_values = self.values.shape[1]
        return self.values @ coefficients[:n_values] + coefficients[n_values:][self.topic]


def ridge_logistic(features: Features, target, weights, numbers) -> np.ndarray:
    """Drawn coefficients of ridge logistic regressions, which Newton's steps find.

    Penalties of blocks go along by the evidence of the target (MacKay 1992). The indicators of
    topics make a diagonal block of the matrix of each step, which leaves a small one to be inverted
    (its Schur complement).

    Parameters
    ----------
    features : Features
        Of the rows to learn from.
    target : ndarray of shape (n_rows,), bool
        What is to be predicted.
    weights : ndarray of shape (n_fits, n_rows)
        Weights of the rows in each regression.
    numbers : ndarray of shape (n_columns, n_draws)
        Standard normal numbers.

    Returns
    -------
    ndarray of shape (n_fits, n_columns, n_draws)
        From the normal distribution around the coefficients that the labels leave.
    """
    order = np.argsort(features.topic, kind="stable")
    values, topic, blocks = features.at(order)
    target, weights = target[order], weights[:, order]
    n_fits, n_values = len(weights), values.shape[1]
    n_columns, n_blocks = len(blocks), blocks[-1] + 1
    seen, starts = np.unique(topic, return_index=True)
    members = np.eye(n_blocks)[blocks]
    penalty = np.full((n_fits, n_blocks), 1.0)
    penalty[:, 0] = _OF_INTERCEPT
    coefficients = np.zeros((n_fits, n_columns))
    diagonal = np.arange(n_values)
    for step in range(_N_STEPS):
        ridge = penalty[:, blocks]
        eta = coefficients[:, :n_values] @ values.T + coefficients[:, n_values:][:, topic]
        chance = expit(eta)
        spread = weights * chance * (1 - chance)
        error = weights * (target - chance)
        slope = -ridge * coefficients
        slope[:, :n_values] += error @ values
        inner = np.stack([(values.T * each) @ values for each in spread])
        inner[:, diagonal, diagonal] += ridge[:, :n_values]
        outer, cross = ridge[:, n_values:], np.zeros((n_fits, n_columns - n_values, n_values))
        if len(starts):
            slope[:, n_values + seen] += np.add.reduceat(error, starts, axis=1)
            outer[:, seen] += np.add.reduceat(spread, starts, axis=1)
            cross[:, seen] = np.add.reduceat(spread[:, :, None] * values, starts, axis=1)
        scaled = cross / outer[:, :, None]
        inverse = np.linalg.inv(inner - np.swapaxes(cross, 1, 2) @ scaled)
        rest = slope[:, :n_values] - np.einsum("ktp,kt->kp", scaled, slope[:, n_values:])
        change = np.einsum("kpq,kq->kp", inverse, rest)
        coefficients[:, :n_values] += change
        change = slope[:, n_values:] / outer - np.einsum("ktp,kp->kt", scaled, change)
        coefficients[:, n_values:] += change
        if step < 2:
            continue
        # Coefficients that the labels determine, of each block.
        turned = scaled @ inverse
        variance = np.hstack(
            [inverse[:, diagonal, diagonal], 1 / outer + (turned * scaled).sum(axis=2)]
        )
        known = members.sum(axis=0) - penalty * (variance @ members)
        needed = np.maximum(known, 1e-9) / np.maximum(coefficients**2 @ members, 1e-30)
        penalty[:, 1:] = np.clip(needed[:, 1:], *_PENALTIES)
    # Those of topics are independent given the others.
    drawn = np.repeat(coefficients[:, :, None], numbers.shape[1], axis=2)
    away = np.linalg.cholesky(inverse) @ numbers[:n_values]
    drawn[:, :n_values] += away
    drawn[:, n_values:] += numbers[n_values:] / np.sqrt(outer)[:, :, None] - scaled @ away
    return drawn

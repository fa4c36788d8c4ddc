"""Probabilities of human labels, learned from a sample of them.

The model has a ridge logistic regression for each label: the probability that a document's label is
above it, given that it is not below it. The features are machine labels, the query, and how high
the runs rank the document, on average and each run by itself, so that the sample shows which runs a
machine favours. Each of these blocks of features has its own penalty, chosen by the evidence of the
labels (MacKay 1992): the penalty is one over the mean square of the block's coefficients, where the
mean is over the effective number of coefficients. A block without information gets an unlimited
penalty, so that a useless judge does almost no harm.

The documents of a fold are predicted only from the labels of other folds; this includes the
penalties. Samples of different folds are independent. So, given the predictions, the sampling
errors have mean 0, and the calibration cannot bias an estimate.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds
from scipy.special import expit, ndtri

from skfilterrank._base.checks import cached_property
from skfilterrank.judgments._ranked_pool import RankedPool

# Number of classes for a judge with more distinct labels.
_MOST_LABELS = 10
# Largest number of columns for the runs; the time of a regression grows with its square.
_MOST_RUNS = 150
# Number of draws of coefficients, and of label vectors for each (if a measure is not linear in
# labels).
N_DRAWS = 32
N_VECTORS = 8
_N_STEPS = 12
_PENALTIES = 0.1, 1e6
_OF_INTERCEPT = 0.01


class LabelModel:
    """Predictions of labels for the documents of a pool.

    Parameters
    ----------
    pool : RankedPool
        The documents.
    worth : csr_array of shape (n_rows, n_runs)
        Weight of a document's label in each run, used as features.
    influential : ndarray of shape (n_rows,), bool
        Documents to predict.
    """

    def __init__(self, pool: RankedPool, worth, influential):
        blocks = [np.ones((len(pool), 1))]
        for labels in pool.machine.values():
            blocks += [_classes(labels), _standardized(labels)]
        returned = np.bincount(pool.row, minlength=len(pool)) / len(pool.runs)
        root = _standardized(np.sqrt(worth.mean(axis=1)))
        blocks.append(np.hstack([root, root**2 - 1, _standardized(returned)]))
        by_run = _by_run(worth)
        # Results do not depend on the order of the runs.
        by_run = by_run[:, np.argsort(by_run.T @ pool.folding.random_number, kind="stable")]
        sizes = [*(block.shape[1] for block in [*blocks, by_run]), len(pool.queries)]
        self.features = Features(
            np.hstack(blocks), by_run, pool.codes, np.repeat(np.arange(len(sizes)), sizes)
        )
        self.pool, self.influential = pool, influential

    def fit(self, rows, labels, n_labels, is_certain, weights) -> "LearnedLabels":
        """Learn the probabilities of the labels from judged documents.

        Parameters
        ----------
        rows : ndarray of shape (n_judged,)
            Judged documents.
        labels : ndarray of shape (n_judged,), int
            Their labels, by number.
        n_labels : int
            Number of different labels.
        is_certain : ndarray of shape (n_judged,), bool
            Documents that every sample contains. They are not random, so all folds may learn from
            them.
        weights : ndarray of shape (n_judged,)
            Weights of the judged documents.
        """
        folding = self.pool.folding
        folds = np.where(is_certain, -1, folding.folds[rows])
        # The last regression learns from all folds.
        is_learned = np.arange(self.pool.n_folds + 1)[:, None] != folds
        # Folds with the same training labels share one fit.
        is_learned, fits = np.unique(is_learned, axis=0, return_inverse=True)
        total = np.maximum(is_learned @ weights, 1e-300)
        weighted = is_learned * weights * (is_learned.sum(axis=1) / total)[:, None]
        random_state = np.random.RandomState(0)
        # Random numbers are assigned by the queries' order in the folding, which does not depend on
        # ids.
        columns = np.arange(len(self.features.blocks))
        n_values = len(columns) - len(folding.queries)
        columns[n_values:] = n_values + folding.queries
        fits = fits.ravel()
        members = [np.flatnonzero(fits[folding.folds] == fit) for fit in range(len(weighted))]
        groups = [(mine, self.features.at(mine)) for mine in members]
        steps = []
        for label in range(n_labels - 1):
            at_least = labels >= label
            drawn = ridge_logistic(
                self.features.at(rows[at_least]),
                (labels > label)[at_least],
                weighted[:, at_least],
                _normal(len(columns), random_state)[columns],
            )
            log_odds = np.empty((N_DRAWS, len(self.pool)))
            for (mine, features), coefficients in zip(groups, drawn):
                log_odds[:, mine] = features.times(coefficients).T
            mean = drawn.mean(axis=2)[fits].T
            shifts = self.features.times(mean[:, :-1] - mean[:, -1:])
            # Each two regressions learn from common labels: count those above this one, and all.
            known = is_learned[:, at_least].astype(np.int64)
            above = known * (labels > label)[at_least] @ known.T
            steps.append((log_odds, shifts.T, above, known @ known.T))
        return LearnedLabels(self, fits, steps)


class LearnedLabels(NamedTuple):
    """Predictions from judged documents, and those that leave out a further fold.

    Attributes
    ----------
    model : LabelModel
        The model.
    fits : ndarray of shape (n_folds + 1,), int
        Number of the regression without the labels of each fold; the last one has all labels.
    steps : list of tuple of ndarray
        For each label but the highest: log odds to be above it, (n_draws, n_rows), by labels of
        other folds than a row's own; their change if a further fold is left out, (n_folds,
        n_rows); numbers of labels that two regressions both know, those above this one and all,
        (n_fits, n_fits).
    """

    model: LabelModel
    fits: np.ndarray
    steps: list

    def predict(self, without: int | None = None) -> "Prediction":
        """Predict probabilities of the labels for every document of the pool.

        Parameters
        ----------
        without : int or None, default=None
            Number of a fold whose labels do not enter any prediction, to the first order: its
            labels change the coefficients of each regression as they do where no other fold is
            left out.
        """
        pool = self.model.pool
        own = self.fits[pool.folding.folds]
        other = own if without is None else self.fits[without]
        reached = np.ones((N_DRAWS, len(pool)))
        drawn = np.empty((N_DRAWS, len(self.steps) + 1, len(pool)))
        for label, (log_odds, shifts, above, n_known) in enumerate(self.steps):
            shift = 0.0 if without is None else np.where(own == other, 0.0, shifts[without])
            chance = log_odds + shift
            expit(chance, out=chance)
            # If all labels of the other folds agree, the chance is 0 or 1.
            n_above, n_seen = above[own, other], n_known[own, other]
            is_sure = (n_above == n_seen) | (n_above == 0)
            chance[:, is_sure] = n_above[is_sure] > 0
            chance[:, ~self.model.influential] = 0.0
            np.multiply(reached, 1 - chance, out=drawn[:, label])
            reached *= chance
        drawn[:, -1] = reached
        return Prediction(pool, drawn.mean(axis=0).T, drawn)


@dataclass(frozen=True, eq=False)
class Prediction:
    """Probabilities of the labels of all documents, with their uncertainty.

    Attributes
    ----------
    pool : RankedPool
        The documents.
    probabilities : ndarray of shape (n_rows, n_labels)
        From 0 to 1, each row summing to 1.
    drawn : ndarray of shape (n_draws, n_labels, n_rows)
        Probabilities by coefficients that are drawn from their distribution given the labels, so
        errors are correlated between documents. Their mean is `probabilities`.
    """

    pool: RankedPool
    probabilities: np.ndarray
    drawn: np.ndarray

    @classmethod
    def sure(cls, pool, probabilities) -> "Prediction":
        """Make a prediction of given probabilities without uncertainty."""
        drawn = np.broadcast_to(probabilities.T, (N_DRAWS, *probabilities.T.shape))
        return cls(pool, probabilities, drawn)

    def with_known(self, rows, labels) -> "Prediction":
        """Return the prediction with some labels fixed to known ones."""
        if not len(rows):
            return self
        known = np.eye(self.probabilities.shape[1])[labels]
        probabilities, drawn = self.probabilities.copy(), self.drawn.copy()
        probabilities[rows], drawn[:, :, rows] = known, known.T
        return Prediction(self.pool, probabilities, drawn)

    @cached_property
    def expected(self) -> np.ndarray:
        """Compute how many of each label to expect, (n_draws, n_queries, n_labels)."""
        n_queries, n_labels = len(self.pool.queries), self.drawn.shape[1]
        cells = (self.pool.codes + n_queries * np.arange(n_labels)[:, None]).ravel()
        sums = [np.bincount(cells, each.ravel(), n_queries * n_labels) for each in self.drawn]
        return np.reshape(sums, (-1, n_labels, n_queries)).swapaxes(1, 2).copy()

    @cached_property
    def counts(self) -> np.ndarray:
        """Count each label in random label vectors.

        Shape (n_draws * N_VECTORS, n_queries, n_labels); the label vectors of one draw are
        consecutive.
        """
        n_draws, n_labels, _ = self.drawn.shape
        # Rows are sorted by query.
        starts = np.searchsorted(self.pool.codes, np.arange(len(self.pool.queries)))
        above = np.zeros((n_draws, n_labels + 1, N_VECTORS, len(starts)), dtype=np.int64)
        above[:, 0] = np.diff(starts, append=len(self.pool))
        turns = np.arange(N_VECTORS)[:, None] / N_VECTORS
        for draw, each in enumerate(self.drawn):
            # Systematic sampling: each label occurs in proportion to its probability.
            numbers = self.pool.folding.random_number + (turns + draw / (n_draws * N_VECTORS))
            numbers -= numbers >= 1
            for label, end in enumerate(accumulate(each[:-1])):
                # Cumulative probabilities must end in exactly 1.
                ones = (numbers >= np.where(end > 1 - 1e-12, 1.0, end)).view(np.int8)
                above[draw, label + 1] = np.add.reduceat(ones, starts, axis=1, dtype=np.int32)
        counts = above[:, :-1] - above[:, 1:]
        return counts.transpose(0, 2, 3, 1).reshape(n_draws * N_VECTORS, len(starts), n_labels)


def _normal(n_rows, random_state):
    """Draw standard normal numbers (n_rows, N_DRAWS), stratified within each row.

    This is Latin hypercube sampling (McKay, Beckman and Conover 1979), efficient because a query's
    predictions depend mainly on one coefficient. Each row is a coefficient, with one number in each
    of N_DRAWS equally likely intervals.
    """
    parts = random_state.uniform(size=(n_rows, N_DRAWS)).argsort(axis=1)
    return ndtri((parts + 0.5) / N_DRAWS)


def _classes(labels):
    """Make indicators of a judge's labels; many different labels are put into ten classes."""
    distinct = np.unique(labels[~np.isnan(labels)])
    if len(distinct) > _MOST_LABELS:
        ends = np.unique(np.nanquantile(labels, np.linspace(0, 1, _MOST_LABELS + 1)[1:-1]))
        codes = np.searchsorted(ends, labels, side="right")
        n_classes = len(ends) + 1
    else:
        codes = np.searchsorted(distinct, labels)
        n_classes = len(distinct)
    # Documents without a label of the judge form a separate class.
    codes[np.isnan(labels)] = n_classes
    return np.eye(n_classes + 1)[codes]


def _standardized(values):
    """Return one standardised column; 0 where missing, or if all values are equal."""
    centred = values - np.nanmean(values)
    deviation = np.sqrt(np.nanmean(centred**2))
    column = np.nan_to_num(centred / deviation if deviation > 0 else 0.0 * centred)
    return column[:, None]


def _by_run(worth):
    """Scale the columns of runs to mean square 1; return main directions of many runs."""
    # Columns are not centred, so that they stay sparse.
    square = np.asarray(worth.power(2).mean(axis=0))
    scaled = worth @ sparse.diags_array(1 / np.sqrt(np.where(square > 0, square, 1.0)))
    if worth.shape[1] > _MOST_RUNS:
        # The penalty is equal for all columns, so rotating them does not change it.
        left, sizes, _ = svds(scaled, _MOST_RUNS, random_state=0)
        scaled = sparse.csr_array(left * sizes)
    return scaled.tocsr()


class Features(NamedTuple):
    """Features of the regression: columns of values, and indicators of the query.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_values)
        Columns other than the next ones and the indicators; the first column is 1.
    by_run : csr_array of shape (n_rows, n_runs)
        Columns of the runs, mostly 0.
    query : ndarray of shape (n_rows,), int
        Number of the query.
    blocks : ndarray of shape (n_values + n_runs + n_queries,), int
        Block of each column; the queries are the last block, and block 0 is the intercept.
    """

    values: np.ndarray
    by_run: sparse.csr_array
    query: np.ndarray
    blocks: np.ndarray

    def at(self, rows) -> "Features":
        """Return the features of some rows."""
        return Features(self.values[rows], self.by_run[rows], self.query[rows], self.blocks)

    def times(self, coefficients) -> np.ndarray:
        """Multiply the features by coefficients of shape (n_columns, n); return (n_rows, n)."""
        n_values, n_runs = self.values.shape[1], self.by_run.shape[1]
        values, by_run, query = np.split(coefficients, [n_values, n_values + n_runs])
        return self.values @ values + self.by_run @ by_run + query[self.query]


def ridge_logistic(features: Features, target, weights, numbers) -> np.ndarray:
    """Fit ridge logistic regressions for all folds by Newton's method, and draw coefficients.

    The penalty of a block follows from the evidence (MacKay 1992): it is one over the mean square
    of the block's coefficients, where the mean is over their effective number. The indicators of
    queries form a diagonal block of the Hessian, so only its small Schur complement is inverted.

    Parameters
    ----------
    features : Features
        Features of the training rows.
    target : ndarray of shape (n_rows,), bool
        Target of the regression.
    weights : ndarray of shape (n_fits, n_rows)
        Weights of the rows in each regression.
    numbers : ndarray of shape (n_columns, n_draws)
        Standard normal numbers.

    Returns
    -------
    ndarray of shape (n_fits, n_columns, n_draws)
        Coefficients, drawn from their approximate normal distribution given the labels.
    """
    order = np.argsort(features.query, kind="stable")
    values, by_run, query, blocks = features.at(order)
    values = np.hstack([values, by_run.toarray()])
    target, weights = target[order], weights[:, order]
    n_fits, n_values = len(weights), values.shape[1]
    n_columns, n_blocks = len(blocks), blocks[-1] + 1
    seen, starts = np.unique(query, return_index=True)
    members = np.eye(n_blocks)[blocks]
    penalty = np.full((n_fits, n_blocks), 1.0)
    penalty[:, 0] = _OF_INTERCEPT
    coefficients = np.zeros((n_fits, n_columns))
    diagonal = np.arange(n_values)
    across = np.ascontiguousarray(values.T)
    weighted, inner = np.empty_like(across), np.empty((n_fits, n_values, n_values))
    for step in range(_N_STEPS):
        ridge = penalty[:, blocks]
        eta = coefficients[:, :n_values] @ values.T + coefficients[:, n_values:][:, query]
        chance = expit(eta)
        spread = weights * chance * (1 - chance)
        error = weights * (target - chance)
        slope = -ridge * coefficients
        slope[:, :n_values] += error @ values
        outer, cross = ridge[:, n_values:], np.zeros((n_fits, n_columns - n_values, n_values))
        for fit, each in enumerate(spread):
            np.multiply(across, each, out=weighted)
            inner[fit] = weighted @ values
            if len(starts):
                cross[fit, seen] = np.add.reduceat(weighted, starts, axis=1).T
        inner[:, diagonal, diagonal] += ridge[:, :n_values]
        if len(starts):
            slope[:, n_values + seen] += np.add.reduceat(error, starts, axis=1)
            outer[:, seen] += np.add.reduceat(spread, starts, axis=1)
        scaled = cross / outer[:, :, None]
        inverse = np.linalg.inv(inner - np.swapaxes(cross, 1, 2) @ scaled)
        rest = slope[:, :n_values] - np.einsum("ktp,kt->kp", scaled, slope[:, n_values:])
        change = np.einsum("kpq,kq->kp", inverse, rest)
        coefficients[:, :n_values] += change
        change = slope[:, n_values:] / outer - np.einsum("ktp,kp->kt", scaled, change)
        coefficients[:, n_values:] += change
        if step < 2:
            continue
        # Effective number of coefficients of each block.
        turned = scaled @ inverse
        variance = np.hstack(
            [inverse[:, diagonal, diagonal], 1 / outer + (turned * scaled).sum(axis=2)]
        )
        known = members.sum(axis=0) - penalty * (variance @ members)
        needed = np.maximum(known, 1e-9) / np.maximum(coefficients**2 @ members, 1e-30)
        penalty[:, 1:] = np.clip(needed[:, 1:], *_PENALTIES)
    # Given the other coefficients, those of queries are independent.
    drawn = np.repeat(coefficients[:, :, None], numbers.shape[1], axis=2)
    away = np.linalg.cholesky(inverse) @ numbers[:n_values]
    drawn[:, :n_values] += away
    drawn[:, n_values:] += numbers[n_values:] / np.sqrt(outer)[:, :, None] - scaled @ away
    return drawn

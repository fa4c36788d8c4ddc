"""What a human label will probably be, learned from the sample of them.

Ridge logistic regressions, one for each grade: is a document above it, if it is not below it? They
read what the machines say, the topic, and how high the runs rank the document. Each of these blocks
has a penalty of its own, found by the evidence of the labels (MacKay 1992: the penalty of a block
is one over the mean square of its coefficients, counting those that the labels determine). A block
that says nothing gets a penalty without bounds, so a useless judge costs next to nothing;
one that says much is believed. That is power tuning, block by block.

The documents of a fold are predicted from the labels of the other folds alone, penalties included.
Folds are drawn independently of each other, so that the errors of the predictions have mean 0
given the predictions, whatever those are: calibration cannot make an estimate biased.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import expit

from skfilterrank.estimation._pool import RankedPool

# A judge with more distinct labels is cut into as many classes.
_MOST_LABELS = 10
_N_STEPS = 12
# Label vectors, and coefficients, that are drawn where a measure is not linear in labels.
N_DRAWS = 32
_PENALTIES = 0.1, 1e6
_OF_INTERCEPT = 0.01


class LabelModel:
    """Predictions of labels for the documents of a pool.

    Parameters
    ----------
    pool : RankedPool
        The documents.
    worth : ndarray of shape (n_rows,)
        How much a document's label counts in the mean of the runs; a feature.
    use_runs : bool
        Whether `worth`, and the share of runs that return a document, are features.
    """

    def __init__(self, pool: RankedPool, worth: np.ndarray, use_runs: bool = True):
        blocks = [np.ones((len(pool), 1))]
        for labels in pool.machine.values():
            blocks += [_classes(labels), _standardized(labels)]
        topics = np.zeros((len(pool), len(pool.topics)))
        topics[np.arange(len(pool)), pool.codes] = 1.0
        blocks.append(topics)
        if use_runs:
            returned = np.bincount(pool.row, minlength=len(pool)) / len(pool.runs)
            root = _standardized(np.sqrt(worth))
            blocks.append(np.hstack([root, root**2 - 1, _standardized(returned)]))
        self.features = np.hstack(blocks)
        sizes = [block.shape[1] for block in blocks]
        self.blocks = np.repeat(np.arange(len(sizes)), sizes)
        self.pool = pool

    def predict(self, rows, grades, n_grades, is_certain, weights=None) -> "Prediction":
        """Probabilities of the grades of every document of the pool.

        Parameters
        ----------
        rows : ndarray of shape (n_judged,)
            Judged documents.
        grades : ndarray of shape (n_judged,), int
            Their grades, by number.
        n_grades : int
            How many grades there are.
        is_certain : ndarray of shape (n_judged,), bool
            Documents that every sample would hold: no chance decides of them, so that all folds
            may learn from them.
        """
        folds = np.where(is_certain, self.pool.n_folds, self.pool.folds[rows])
        is_learned = np.arange(self.pool.n_folds)[:, None] != folds
        if weights is not None:
            total = np.maximum(is_learned @ weights, 1e-300)
            is_learned = is_learned * weights * (is_learned.sum(axis=1) / total)[:, None]
        random_state = np.random.RandomState(0)
        reached = np.ones((N_DRAWS, len(self.pool)))
        drawn = np.empty((N_DRAWS, len(self.pool), n_grades))
        for grade in range(n_grades - 1):
            at_least = grades >= grade
            chance = self._chances(
                rows[at_least],
                (grades > grade)[at_least],
                is_learned[:, at_least],
                random_state.normal(size=(len(self.blocks), N_DRAWS // 2)),
            )
            drawn[:, :, grade] = reached * (1 - chance)
            reached *= chance
        drawn[:, :, -1] = reached
        return Prediction(self.pool, drawn.mean(axis=0), drawn)

    def _chances(self, rows, is_above, is_learned, numbers):
        """Drawn probabilities, of all documents, to be above a grade, if not below it."""
        coefficients, root = self._regression(self.features[rows], is_above, is_learned)
        chances = np.empty((2 * numbers.shape[1], len(self.pool)))
        for fold in range(self.pool.n_folds):
            mine = self.pool.folds == fold
            away = root[fold] @ numbers
            drawn = coefficients[fold][:, None] + np.hstack([away, -away])
            chances[:, mine] = expit(self.features[mine] @ drawn).T
            # Of a grade that no other fold has seen nothing is known but what those folds say.
            seen = is_above[is_learned[fold] > 0]
            if not seen.any():
                chances[:, mine] = 0.0
            elif seen.all():
                chances[:, mine] = 1.0
        return chances

    def _regression(self, features, target, is_learned):
        """Coefficients of ridge logistic regressions, one for each fold, by Newton's steps.

        Penalties go along by the evidence; with the roots of the coefficients' covariance.
        """
        n_blocks = self.blocks[-1] + 1
        members = np.eye(n_blocks)[self.blocks]
        penalty = np.full((self.pool.n_folds, n_blocks), 1.0)
        penalty[:, 0] = _OF_INTERCEPT
        coefficients = np.zeros((self.pool.n_folds, len(self.blocks)))
        diagonal = np.arange(len(self.blocks))
        for step in range(_N_STEPS):
            chance = expit(coefficients @ features.T)
            spread = is_learned * chance * (1 - chance)
            matrix = np.stack([(features.T * each) @ features for each in spread])
            matrix[:, diagonal, diagonal] += penalty[:, self.blocks]
            slope = (is_learned * (target - chance)) @ features
            slope -= penalty[:, self.blocks] * coefficients
            inverse = np.linalg.inv(matrix)
            coefficients += np.einsum("kpq,kq->kp", inverse, slope)
            if step < 2:
                continue
            # Coefficients that the labels determine, of each block.
            known = members.sum(axis=0) - penalty * (inverse[:, diagonal, diagonal] @ members)
            needed = np.maximum(known, 1e-9) / np.maximum(coefficients**2 @ members, 1e-30)
            penalty[:, 1:] = np.clip(needed[:, 1:], *_PENALTIES)
        return coefficients, _root(inverse)


@dataclass(frozen=True, eq=False)
class Prediction:
    """Probabilities of the grades of all documents, and how unsure they are.

    Attributes
    ----------
    pool : RankedPool
        The documents.
    probabilities : ndarray of shape (n_rows, n_grades)
        From 0 to 1, each row summing to 1.
    drawn : ndarray of shape (n_draws, n_rows, n_grades)
        The same by other coefficients, drawn from their distribution given the labels: what is
        wrong for one document of a topic is wrong for others, too. Their mean is `probabilities`.
    """

    pool: RankedPool
    probabilities: np.ndarray
    drawn: np.ndarray

    @classmethod
    def sure(cls, pool, probabilities) -> "Prediction":
        """Probabilities that are taken as they are."""
        drawn = np.broadcast_to(probabilities, (N_DRAWS, *probabilities.shape))
        return cls(pool, probabilities, drawn)

    def with_known(self, rows, grades) -> "Prediction":
        """The same where some labels are known."""
        known = np.eye(self.probabilities.shape[1])[grades]
        probabilities, drawn = self.probabilities.copy(), self.drawn.copy()
        probabilities[rows], drawn[:, rows] = known, known
        return Prediction(self.pool, probabilities, drawn)

    @cached_property
    def expected(self) -> np.ndarray:
        """Expected number of labels of each grade, by each draw: (n_draws, n_topics, n_grades)."""
        n_rows = len(self.pool)
        topics = sparse.csr_array(
            (np.ones(n_rows), (self.pool.codes, np.arange(n_rows))),
            shape=(len(self.pool.topics), n_rows),
        )
        return np.stack([topics @ each for each in self.drawn])

    @cached_property
    def counts(self) -> np.ndarray:
        """Number of labels of each grade where labels are drawn, too: shape as `expected`."""
        n_draws, _, n_grades = self.drawn.shape
        n_cells = len(self.pool.topics) * n_grades
        counts = np.empty((n_draws, n_cells), dtype=np.int64)
        for draw, each in enumerate(self.drawn):
            ends = np.cumsum(each, axis=1)[:, :-1]
            # The same numbers, turned round: each label is drawn as often as it is likely.
            numbers = (self.pool.luck + draw / n_draws) % 1.0
            # Sums of certain labels must not miss 1 by rounding.
            labels = (numbers[:, None] >= np.where(ends > 1 - 1e-12, 1.0, ends)).sum(axis=1)
            counts[draw] = np.bincount(self.pool.codes * n_grades + labels, minlength=n_cells)
        return counts.reshape(n_draws, -1, n_grades)


def _root(matrix):
    """Symmetric roots of matrices that have no direction of negative size but for rounding."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ np.swapaxes(vectors, 1, 2)


def _classes(labels):
    """Indicators of a judge's labels; of many different ones, of ten classes of equal size."""
    distinct = np.unique(labels[~np.isnan(labels)])
    if len(distinct) > _MOST_LABELS:
        ends = np.unique(np.nanquantile(labels, np.linspace(0, 1, _MOST_LABELS + 1)[1:-1]))
        codes = np.searchsorted(ends, labels, side="right")
        n_classes = len(ends) + 1
    else:
        codes = np.searchsorted(distinct, labels)
        n_classes = len(distinct)
    # Documents that a judge left out are a class of their own.
    codes[np.isnan(labels)] = n_classes
    return np.eye(n_classes + 1)[codes]


def _standardized(values):
    """One column of mean 0 and standard deviation 1; 0 where missing or all the same."""
    centred = values - np.nanmean(values)
    deviation = np.sqrt(np.nanmean(centred**2))
    column = np.nan_to_num(centred / deviation if deviation > 0 else 0.0 * centred)
    return column[:, None]

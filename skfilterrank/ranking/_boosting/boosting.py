"""What the boosting rankers share: held-out queries, the loop over rounds, the score."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted
from tqdm.auto import tqdm

from skfilterrank._core.measure import ParsedMeasure
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._core.queries import GroupIndex
from skfilterrank.exceptions import InputError
from skfilterrank.ranking._fitting.measured_rows import MeasuredRows
from skfilterrank.ranking._fitting.rows import QueryRows, held_out_rows, mean_measure


def rows_with_order(rows: QueryRows) -> QueryRows:
    """The rows of queries with two different gains, sorted by query and then gain."""
    order = np.lexsort((rows.gains, rows.queries))
    queries, gains = rows.queries[order], rows.gains[order]
    starts = np.flatnonzero(np.append(True, queries[1:] != queries[:-1]))
    ends = np.append(starts[1:], len(queries)) - 1
    has_two = gains[starts] != gains[ends]
    return rows.of(order[np.repeat(has_two, ends - starts + 1)])


class RoundsRanker(BaseEstimator):
    """A ranker of weighted rounds, each of one feature."""

    @property
    def _watched(self):
        """Name of the measure that rounds are chosen or stopped by."""
        return self.measure

    def score(self, X, y: ArrayLike, groups=None) -> float:
        """Mean of the measure that `fit` watches over the queries of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents.
        y : array-like of shape (n_rows,)
            Labels; rows with a NaN label count as gain 0.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`; a ranker
            that was fitted without query ids takes each row for a query of its own.

        Returns
        -------
        float
            The measure, as its function computes it; negated where lower is better, as
            scikit-learn's scorers do.

        Raises
        ------
        ValueError
            If query ids are missing, or arrays have different lengths.
        """
        check_is_fitted(self)
        return mean_measure(self, parse_measure(self._watched), X, y, self.predict(X), groups)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the sum of absolute alphas that predict, (n_features_in_,)."""
        check_is_fitted(self)
        kept = slice(self.best_iteration_)
        total = np.bincount(
            self.features_[kept], np.abs(self.alphas_[kept]), minlength=self.n_features_in_
        )
        return total / total.sum() if total.any() else total


class HeldOut:
    """A held-out set, and its measure after each round."""

    def __init__(self, rows: QueryRows, parsed: ParsedMeasure):
        self.X = rows.X
        self.curve = []
        self._scores = np.zeros(len(rows.gains))
        index = GroupIndex.from_groups(rows.queries)
        self._measure = MeasuredRows(parsed, rows.gains, index)

    def add(self, contribution) -> float:
        """Measure the set after one more round; the value, negated where lower is better."""
        self._scores += contribution
        self.curve.append(self._measure.mean(self._scores))
        return self._measure.sign * self.curve[-1]


def held_out_sets(ranker, eval_set, eval_groups, parsed, *, allow_nan=False) -> list[HeldOut]:
    """The held-out sets of `fit`, checked."""
    sets = held_out_rows(ranker, eval_set, eval_groups, allow_nan=allow_nan)
    return [HeldOut(rows, parsed) for rows in sets]


def run_rounds(learner, held_out: list[HeldOut], *, n_rounds, patience, verbose) -> int | None:
    """Add rounds until there are so many, nothing is left to learn, or the held-out sets stall.

    Rounds that the learner has already, from an earlier fit, are measured again and not learned
    again. `learner` has `n_rounds`, ``step()``, which adds a round or returns False, and
    ``contribution(number, X)``. Returns the first number of rounds whose mean over the held-out
    sets is best, and None where none are to stop by.
    """
    best, n_best = -np.inf, 0
    for number in tqdm(range(n_rounds), desc="rounds", unit="round", disable=not verbose):
        if number == learner.n_rounds and not learner.step():
            break
        values = [held.add(learner.contribution(number, held.X)) for held in held_out]
        if patience is not None:
            mean = np.mean(values)
            if mean > best:
                best, n_best = mean, number + 1
            elif number + 1 - n_best >= patience:
                break
    return None if patience is None else n_best


def check_rounds(ranker, n_done) -> None:
    """A warm start cannot take rounds away."""
    if ranker.n_estimators < n_done:
        raise InputError(
            f"n_estimators={ranker.n_estimators} must be at least {n_done}, the rounds of the "
            "earlier fit, with warm_start=True: raise it, or use warm_start=False."
        )


def first_best(values) -> int:
    """Index of the highest of some shares, the first of those that only rounding keeps apart."""
    # Shares of all pairs add up more rounding than means over queries.
    return int(np.argmax(values >= values.max() - 1e-10))

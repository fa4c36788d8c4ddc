"""Rounds of the boosting rankers: their loop, their parameters, their held-out sets."""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skfilterrank._lists.checks import check_count, check_flag
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank._lists.words import progress_bar
from skfilterrank.exceptions import InputError
from skfilterrank.ranking._feature_ranker import FeatureRanker, MeasuredRows, QueryRows


def rows_with_order(rows: QueryRows) -> QueryRows:
    """Select the queries with two different gains, sorted by query and then gain."""
    order = np.lexsort((rows.gains, rows.queries))
    queries, gains = rows.queries[order], rows.gains[order]
    starts = np.flatnonzero(np.append(True, queries[1:] != queries[:-1]))
    ends = np.append(starts[1:], len(queries)) - 1
    has_two = gains[starts] != gains[ends]
    return rows.take(order[np.repeat(has_two, ends - starts + 1)])


class BoostedRanker(FeatureRanker):
    """A sum of weighted rounds, each of one feature, that needs the order within queries."""

    needs_groups = True
    features_: np.ndarray
    alphas_: np.ndarray

    def _check_rounds(self):
        """Raise for parameters of the rounds that are out of range."""
        check_count(self.n_estimators, "n_estimators", 1)
        check_count(self.early_stopping_rounds, "early_stopping_rounds", or_none=True)
        check_flag(self.warm_start, "warm_start")
        check_count(self.verbose, "verbose", 0)

    def _check_continues(self, n_done):
        """Raise where a warm start would have to take rounds away."""
        if self.n_estimators < n_done:
            raise InputError(
                f"n_estimators={self.n_estimators} must be at least {n_done}, the rounds of the "
                "earlier fit, with warm_start=True: raise it, or use warm_start=False."
            )

    def _run_rounds(self, learner, held_out: list[QueryRows], parsed: ParsedMeasure) -> int:
        """Add rounds until there are so many, nothing is left to learn, or held-out sets stall.

        Rounds that the learner has already, from an earlier fit, are measured again and not learned
        again. `learner` has `n_rounds`, ``step()``, which adds a round or returns False, and
        ``contribution(number, X)``. Sets `evals_result_`, and returns the number of rounds that
        predict: all, or the first whose mean over the held-out sets is best.
        """
        curves = [HeldOutCurve(rows, parsed) for rows in held_out]
        patience, best, n_best = self.early_stopping_rounds, -np.inf, 0
        rounds = range(self.n_estimators)
        for number in progress_bar(rounds, desc="rounds", unit="round", disable=not self.verbose):
            if number == learner.n_rounds and not learner.step():
                break
            values = [curve.add(learner.contribution(number, curve.X)) for curve in curves]
            if patience is not None:
                mean = float(np.mean(values))
                if mean > best:
                    best, n_best = mean, number + 1
                elif number + 1 - n_best >= patience:
                    break
        self.evals_result_ = {
            f"valid_{number}": {parsed.text: curve.values} for number, curve in enumerate(curves)
        }
        return learner.n_rounds if patience is None else n_best

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the absolute alphas that predict, ``(n_features_in_,)``."""
        check_is_fitted(self)
        kept = slice(self.best_iteration_)
        total = np.bincount(
            self.features_[kept], np.abs(self.alphas_[kept]), minlength=self.n_features_in_
        )
        return total / total.sum() if total.any() else total


class HeldOutCurve:
    """A held-out set, and its measure after each round."""

    def __init__(self, rows: QueryRows, parsed: ParsedMeasure):
        self.X = rows.X
        self.values: list[float] = []
        self._scores = np.zeros(len(rows.gains))
        index = GroupIndex.from_groups(rows.queries)
        self._measure = MeasuredRows(parsed, rows.gains, index)

    def add(self, contribution) -> float:
        """Measure the set after one more round; return the value, negated where lower is better."""
        self._scores += contribution
        self.values.append(self._measure.mean(self._scores))
        return self._measure.sign * self.values[-1]


def first_best(values) -> int:
    """Find the index of the highest share, the first of several that differ by rounding alone."""
    # Shares of all pairs add up more rounding than means over queries.
    return int(np.argmax(values >= values.max() - 1e-10))

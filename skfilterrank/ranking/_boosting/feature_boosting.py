"""The rounds of AdaRank: single features, chosen and weighed by a measure of the table."""

import numpy as np
from scipy.special import softmax
from sklearn.utils.parallel import Parallel, delayed

from skfilterrank._lists.floats import ROUNDING_OF_MEANS
from skfilterrank._lists.measure import MEASURES, Measure, ParsedMeasure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._boosting.boosting import (
    first_best,
    rows_with_order,
)
from skfilterrank.ranking._feature_ranker import (
    MeasuredRows,
    QueryRows,
    column,
)

# A weight of ln(2e9 - 1) / 2, about 10.7, is the largest a round can have.
_LARGEST_WORTH = 1 - 1e-9


class FeatureBoosting:
    """The rounds of AdaRank on the training rows."""

    def __init__(self, rows: QueryRows, parsed: ParsedMeasure, *, both_directions, tol, n_jobs):
        self.features: list[int] = []
        self.alphas: list[float] = []
        self.train_scores: list[float] = []
        self._tol = tol
        rows = rows_with_order(rows)
        if len(rows.gains):
            rows = _rows_that_count(rows, parsed)
        self.X = rows.X
        self.n_queries = len(np.unique(rows.queries))
        if not self.n_queries:
            return
        self._strength = _Strength(rows, parsed)
        self._highest = self._strength(rows.gains).mean()
        self._scores = np.zeros(len(rows.gains))
        self._served = self._strength(self._scores)
        n_features = self.X.shape[1]
        signs = [1.0, -1.0] if both_directions else [1.0]
        self._signs = np.repeat(signs, n_features)
        self._numbers = np.tile(np.arange(n_features), len(signs))
        # Of each feature, and of each feature upside down: how well it ranks each query.
        self._weak = np.array(
            Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(_strength_of_feature)(self._strength, self.X, number, sign)
                for number, sign in zip(self._numbers, self._signs)
            )
        )

    @property
    def n_rounds(self):
        return len(self.alphas)

    def resume(self, features, alphas, train_scores):
        """Take up the rounds of an earlier fit."""
        self.features, self.alphas = features.tolist(), alphas.tolist()
        self.train_scores = train_scores.tolist()
        if self.n_queries and self.alphas:
            for number in range(self.n_rounds):
                self._scores += self.contribution(number, self.X)
            self._served = self._strength(self._scores)

    def step(self) -> bool:
        """Add a feature; False where none improves the measure."""
        if not self.n_queries or self._is_perfect():
            return False
        weights = (
            softmax(-self._served) if self.alphas else np.full(self.n_queries, 1 / self.n_queries)
        )
        worth = (self._weak * weights).sum(axis=1)
        for _ in range(len(worth)):
            best = first_best(worth)
            # The weights sum to 1, so that the ratio of the Notes is (1 + worth) / (1 - worth).
            alpha = np.arctanh(np.clip(worth[best], -_LARGEST_WORTH, _LARGEST_WORTH))
            if self._add(int(self._numbers[best]), float(self._signs[best] * alpha)):
                return True
            worth[best] = -np.inf
        return False

    def _add(self, feature, alpha):
        """Add a feature if that improves the measure; whether it does."""
        scores = self._scores + alpha * column(self.X, feature)
        served = self._strength(scores)
        is_better = served.mean() > self._served.mean() + self._tol
        if is_better:
            self.features.append(feature)
            self.alphas.append(alpha)
            self.train_scores.append(float(served.mean()))
            self._scores, self._served = scores, served
        return is_better

    def contribution(self, number, X):
        """Scores that a round adds to those of X."""
        return self.alphas[number] * column(X, self.features[number])

    def _is_perfect(self):
        """Whether no order serves the training queries better."""
        return self._served.mean() >= self._highest - ROUNDING_OF_MEANS


class _Strength:
    """The measure of each query as AdaRank wants it: greater is better, in [-1, 1]."""

    def __init__(self, rows: QueryRows, parsed: ParsedMeasure):
        self._measure = MeasuredRows(parsed, rows.gains, GroupIndex.from_groups(rows.queries))
        self._entry, self._text = parsed.measure, parsed.text
        self._lowest = -1.0 if self._entry.greater_is_better else 0.0

    def __call__(self, scores) -> np.ndarray:
        """One value per query, NaN where undefined."""
        values = self._measure.per_query(scores)
        outside = (values < self._lowest - 1e-9) | (values > 1 + 1e-9)
        if outside.any():
            raise InputError(
                f"measure={brief(self._text)} gives {values[outside][0]:g} on these queries, and "
                f"AdaRank needs values in [{self._lowest:g}, 1], which it has for "
                f"{self._entry.range_holds_for}. {optimizable_measures()}"
            )
        return values if self._entry.greater_is_better else 1 - values


def _rows_that_count(rows, parsed):
    """The rows of queries whose order matters to the measure."""
    strength = _Strength(rows, parsed)
    # NaN, where the measure is undefined, is not greater than anything.
    matters = strength(rows.gains) > strength(-rows.gains) + ROUNDING_OF_MEANS
    if not matters.any():
        raise InputError(
            f"measure={brief(parsed.text)} has no value, or the same for all orders, in each of "
            f"the {len(matters)} training queries of different gains: there is nothing to learn "
            f"by it. Choose another cut-off or measure. {optimizable_measures()}"
        )
    sizes = GroupIndex.from_groups(rows.queries).sizes
    return rows.take(np.repeat(matters, sizes))


def _strength_of_feature(strength, X, number, sign):
    """Measure of each query, ranked by one feature alone."""
    return strength(sign * column(X, number))


def is_optimizable(entry: Measure) -> bool:
    """Whether a measure is a mean of values that are in range and depend on the order."""
    low, high = entry.value_range
    least = -1.0 if entry.greater_is_better else 0.0
    is_mean = entry.over_queries == "mean"
    return is_mean and least <= low and high <= 1.0 and entry.order_matters != "never"


def optimizable_measures():
    """The measures that can be optimized, as text."""
    names = sorted(name for name, entry in MEASURES.items() if is_optimizable(entry))
    return f"Those that can be optimized: {', '.join(names)}."

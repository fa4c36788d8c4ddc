"""AdaRankRanker: boosting of single features for a measure."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_flag, check_number
from skfilterrank._base.rounding import ROUNDING_OF_MEANS
from skfilterrank._base.words import in_parallel
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import MEASURES, Measure, ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._feature_ranker import (
    BoostedRanker,
    MeasuredRows,
    QueryRows,
    column,
    first_best,
    rows_with_order,
)

# Limits the weight of a round to ln(2e9 - 1) / 2, about 10.7.
_LARGEST_WORTH = 1 - 1e-9


class AdaRankRanker(BoostedRanker):
    r"""AdaRank: a linear ranker boosted from single features, for any measure in [-1, 1].

    Each round adds the feature that ranks best on average. Queries for which the current ranker is
    worse have larger weights in this average.

    Parameters
    ----------
    measure : str, default="ndcg_f@10"
        Measure to optimize: a name with optional cut-off and options, such as "ap", "ndcg_f@10" or
        "rbp(persistence=0.9)"; see :func:`skfilterrank.metrics.get_measure_names`. Its values must
        lie in [-1, 1] for the given gains. If lower is better, 1 - value is maximized. Ties are
        handled by the measure's default rule.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Gains below 0
        mark forbidden documents.
    n_estimators : int, default=500
        Largest number of rounds.
    both_directions : bool, default=False
        Whether a feature may also rank its lowest values first. False is the published method,
        which expects features whose higher values indicate relevance.
    tol : float, default=1e-4
        A feature is added only if it improves the measure on the training queries by more than
        this, compared with equal scores in the first round.
    early_stopping_rounds : int or None, default=None
        Stop when the measure on `eval_set` has not improved for this many rounds; `predict` uses
        the rounds up to the best one.
    validation_fraction : float or None, default=None
        Share of the training queries that `fit` holds out for early stopping, instead of an
        `eval_set`. The content of queries decides which, and their ids do not.
    n_jobs : int or None, default=None
        Number of threads for measuring the rankings of features, the slowest part. None means 1, -1
        all processors. Results do not depend on it.
    verbose : int, default=0
        0 is silent, above 0 shows a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,), dtype float64
        The weight of each feature in the score.
    features_ : ndarray of shape (n_rounds,), dtype int64
        The feature that each round added.
    alphas_ : ndarray of shape (n_rounds,), dtype float64
        Weight of each round's feature, negative if it ranks its lowest values first.
    train_scores_ : ndarray of shape (n_rounds,), dtype float64
        Mean of the measure over the training queries that count, after each round; 1 - value
        where lower is better.
    best_iteration_ : int
        Number of rounds that `predict` uses: all, or with `early_stopping_rounds` up to the best
        one on the `eval_set`.
    evals_result_ : dict
        The measure after each round, from the first on, ``{"valid_0": {"ndcg_f@10": [...]}}``;
        empty without `eval_set`.
    n_unjudged_ : int
        Number of rows with a NaN label, which were left out of training.
    n_queries_ : int
        Number of training queries that count, see Notes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,), dtype object
        Names of the features, where X is a DataFrame.

    See Also
    --------
    RankBoostRanker : Boosts thresholds of features by pairs of documents.
    LambdaRankRanker : Boosted trees.
    RankAndFilter : Finds the threshold under which documents are hidden.

    Notes
    -----
    After [1]_. With :math:`E(q, f)` the measure of query q ranked by f, round t selects the feature
    with the greatest :math:`\sum_q P_t(q) E(q, x_j)` and adds it with weight

    .. math::

        \alpha_t = \frac{1}{2} \ln
        \frac{\sum_q P_t(q) (1 + E(q, x_j))}{\sum_q P_t(q) (1 - E(q, x_j))}, \qquad
        P_{t+1}(q) \propto \exp(-E(q, f_t)), \qquad f_t = \sum_{s \le t} \alpha_s x_{j_s} .

    Features are not scaled, so a feature with a larger range has more influence on the sum. Scale
    them first, within each query or by a scaler in a Pipeline.

    Details that [1]_ does not specify:

    * The weights of the queries differ by a factor of e at most, so one strong feature could be
      selected in every round without changing the ranking of :math:`f_t`. Therefore a feature that
      does not improve the measure of :math:`f_t` on the training queries by more than `tol` is
      removed again, and the next best feature is tried. Training ends when no feature improves the
      measure.
    * If a feature is perfect on all queries with positive weight, alpha would be infinite; it is
      limited to 10.7. Training ends if no order of the training queries can be better.
    * Among equally good features, the first is selected.

    Queries whose value is the same for every order do not count: queries with one document, with
    equal gains, without a relevant document if the measure needs one, or not longer than the
    cut-off if only the set of documents matters. They would take weight from other queries and make
    every alpha smaller. If no query has two different gains, nothing can be learned, and all scores
    are 0. Without query ids, each row is a query, and there is a warning.

    The method is deterministic: there is no `random_state`, and the same data give the same ranker.
    NaN in X is not accepted. Scores need not compare between queries;
    :func:`skfilterrank.thresholds.score_comparability` tells.

    References
    ----------
    .. [1] J. Xu, H. Li. "AdaRank: A Boosting Algorithm for Information Retrieval". SIGIR 2007.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.metrics import ndcg_f_score
    >>> from skfilterrank.ranking import AdaRankRanker
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=400, random_state=0)
    >>> ranker = AdaRankRanker(measure="ndcg_f@3", both_directions=True).fit(X, y, groups=groups)
    >>> learned = ndcg_f_score(y, ranker.predict(X), groups=groups, k=3)
    >>> best_feature = max(ndcg_f_score(y, x, groups=groups, k=3) for x in X.T)
    >>> bool(learned > best_feature)
    True
    """

    coef_: Any
    n_queries_: int

    def __init__(
        self,
        *,
        measure: str = "ndcg_f@10",
        gains: Gains = None,
        n_estimators: int = 500,
        both_directions: bool = False,
        tol: float = 1e-4,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.gains = gains
        self.n_estimators = n_estimators
        self.both_directions = both_directions
        self.tol = tol
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose

    train_scores_: np.ndarray

    @all_or_nothing
    def fit(  # type: ignore[override]  # other parameters
        self, X, y: ArrayLike, groups=None, *, eval_set=None, eval_groups=None
    ) -> AdaRankRanker:
        """Select features and their weights.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of documents, rows in any order, as in :meth:`RankerMixin.fit`.
            NaN is an error.
        y : array-like of shape (n_rows,)
            Labels; rows with a NaN label are left out, with a warning.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
            Without query ids, each row is its own query, with a warning.
        eval_set : (X, y) or list of (X, y), default=None
            Held-out queries for early stopping, as in :meth:`RankerMixin.fit`.
            Measured after each round. With several sets, their mean counts.
        eval_groups : array-like or list of array-like, default=None
            Query ids of the rows of each held-out set.

        Returns
        -------
        self : AdaRankRanker
            The fitted ranker.

        Raises
        ------
        ValueError
            If a parameter is out of range, the measure cannot be optimized or has one value for
            all orders of each query, X holds NaN or infinite values, arrays have different
            lengths, a label is not a number and has no entry in `gains`, or no row is judged.
        """
        parsed = self._check_parameters()
        rows, held_out = self._rows_and_held_out(X, y, groups, eval_set, eval_groups)
        learner = FeatureBoosting(rows, parsed, self)
        n_best = self._run_rounds(learner, held_out, parsed)
        self.features_ = np.array(learner.features, dtype=np.int64)
        self.alphas_ = np.array(learner.alphas, dtype=np.float64)
        self.train_scores_ = np.array(learner.train_scores, dtype=np.float64)
        self.n_queries_ = learner.n_queries
        self.best_iteration_ = n_best
        self.coef_ = np.zeros(self.n_features_in_)
        np.add.at(self.coef_, self.features_[:n_best], self.alphas_[:n_best])
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
            NaN is an error.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `X`.

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores, higher is better.
        """
        check_is_fitted(self)
        X = self._check_features(X, groups=groups)
        scores = np.zeros(X.shape[0])
        # No matrix product: it may round equal rows differently and break their tie.
        for feature in np.flatnonzero(self.coef_):
            scores += self.coef_[feature] * column(X, feature)
        return scores

    def _check_parameters(self) -> ParsedMeasure:
        """Check the parameters, and return the measure."""
        self._check_rounds()
        check_flag(self.both_directions, "both_directions")
        check_number(self.tol, "tol", least=0)
        parsed = parse_measure(self.measure).for_means("features are chosen")
        if not is_optimizable(parsed.measure):
            low, high = parsed.measure.value_range
            why = (
                "it does not depend on the order of what is shown"
                if parsed.measure.order_matters == "never"
                else f"its values lie in [{low:g}, {high:g}]"
            )
            raise InputError(
                f"measure={brief(self.measure)} cannot be optimized by AdaRank, which needs "
                "values in [-1, 1] (in [0, 1] where lower is better) that depend on the order: "
                f"{why}. {optimizable_measures()}"
            )
        return parsed


class FeatureBoosting:
    """State of AdaRank's rounds on the training rows."""

    def __init__(self, rows: QueryRows, parsed: ParsedMeasure, ranker: AdaRankRanker):
        self.features: list[int] = []
        self.alphas: list[float] = []
        self.train_scores: list[float] = []
        self._tol = ranker.tol
        rows = rows_with_order(rows)
        if len(rows.gains):
            strength = _Strength(rows, parsed)
            # The comparison is False for NaN, where the measure is undefined.
            matters = strength(rows.gains) > strength(-rows.gains) + ROUNDING_OF_MEANS
            if not matters.any():
                raise InputError(
                    f"measure={brief(parsed.text)} has no value, or the same for all orders, in "
                    f"each of the {len(matters)} training queries of different gains: so nothing "
                    "can be learned with it. Choose another cut-off or measure. "
                    f"{optimizable_measures()}"
                )
            rows = rows.take(np.repeat(matters, GroupIndex.from_groups(rows.queries).sizes))
        self.X = rows.X
        self.n_queries = len(np.unique(rows.queries))
        if not self.n_queries:
            return
        self._strength = _Strength(rows, parsed)
        self._highest = self._strength(rows.gains).mean()
        self._scores = np.zeros(len(rows.gains))
        self._served = self._strength(self._scores)
        n_features = self.X.shape[1]
        signs = [1.0, -1.0] if ranker.both_directions else [1.0]
        self._signs = np.repeat(signs, n_features)
        self._numbers = np.tile(np.arange(n_features), len(signs))

        def strength_of_feature(number, sign):
            return self._strength(sign * column(self.X, number))

        # Matrix of values: a row for each feature, then for each reversed feature; a column a
        # query.
        jobs = (delayed(strength_of_feature)(*each) for each in zip(self._numbers, self._signs))
        self._weak = np.array(list(in_parallel(jobs, ranker.n_jobs, Parallel, prefer="threads")))

    @property
    def n_rounds(self):
        return len(self.alphas)

    def step(self) -> bool:
        """Add a feature and return True; return False if no feature improves the measure."""
        # Training ends if no order of the training queries is better.
        if not self.n_queries or self._served.mean() >= self._highest - ROUNDING_OF_MEANS:
            return False
        weights = (
            softmax(-self._served) if self.alphas else np.full(self.n_queries, 1 / self.n_queries)
        )
        worth = (self._weak * weights).sum(axis=1)
        for _ in range(len(worth)):
            best = first_best(worth)
            # The weights sum to 1, so the ratio in the Notes is (1 + worth) / (1 - worth).
            alpha = np.arctanh(np.clip(worth[best], -_LARGEST_WORTH, _LARGEST_WORTH))
            if self._add(int(self._numbers[best]), float(self._signs[best] * alpha)):
                return True
            worth[best] = -np.inf
        return False

    def _add(self, feature, alpha):
        """Add a feature if that improves the measure, and return True if it does."""
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
        """Compute the scores that a round adds to those of X."""
        return self.alphas[number] * column(X, self.features[number])


class _Strength:
    """A measure for AdaRank: value of each query in [-1, 1], greater is better."""

    def __init__(self, rows: QueryRows, parsed: ParsedMeasure):
        self._measure = MeasuredRows(parsed, rows.gains, GroupIndex.from_groups(rows.queries))
        self._entry, self._text = parsed.measure, parsed.text
        self._lowest = -1.0 if self._entry.greater_is_better else 0.0

    def __call__(self, scores) -> np.ndarray:
        """Measure each query, NaN where undefined."""
        values = self._measure.per_query(scores)
        outside = (values < self._lowest - 1e-9) | (values > 1 + 1e-9)
        if outside.any():
            raise InputError(
                f"measure={brief(self._text)} gives {values[outside][0]:g} on these queries, and "
                f"AdaRank needs values in [{self._lowest:g}, 1], which it has for "
                f"{self._entry.range_holds_for}. {optimizable_measures()}"
            )
        return values if self._entry.greater_is_better else 1 - values


def is_optimizable(entry: Measure) -> bool:
    """Tell if a measure is a mean of values within [-1, 1] that depend on the order."""
    low, high = entry.value_range
    least = -1.0 if entry.greater_is_better else 0.0
    is_mean = entry.over_queries == "mean"
    return is_mean and least <= low and high <= 1.0 and entry.order_matters != "never"


def optimizable_measures():
    """Name the measures that can be optimized, in a sentence."""
    names = sorted(name for name, entry in MEASURES.items() if is_optimizable(entry))
    return f"Measures that can be optimized: {', '.join(names)}."

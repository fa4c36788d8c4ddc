"""CoordinateAscentRanker: a linear model that optimizes a measure directly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_choice, check_count, check_number, check_random_state
from skfilterrank._base.rounding import ROUNDING_OF_MEANS
from skfilterrank._base.words import progress_bar
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.additive import Additive, RowFacts
from skfilterrank._lists.entry_values import EntryValues
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.lists import RankedLists
from skfilterrank._lists.measure import MEASURES, ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._feature_ranker import FeatureRanker, MeasuredRows, column
from skfilterrank.ranking._line_search import CandidateSearch, LineSearch, has_many_crossings

# Index of the threshold among the coordinates.
_THRESHOLD = -1
_MOST_STEPS = 500


class CoordinateAscentRanker(FeatureRanker):
    """Linear ranker that optimizes a measure directly, one weight at a time.

    Other methods optimize a smooth approximation of the measure. Here each step increases the
    measure on the training queries itself. As a function of one weight, the measure is a step
    function whose steps can all be computed, so the best value of the weight is found exactly. With
    ``filter=True`` the threshold below which documents are hidden is optimized like a weight.

    Parameters
    ----------
    measure : str, default="ndcg_f@10"
        Measure to optimize: a name of the measure table, with a cut-off and options where wanted,
        such as "ap", "rbp(persistence=0.9)" or "ul_normalized(measure=dcg)@10"; see
        :func:`skfilterrank.metrics.get_measure_names` and the Notes. Where lower values are
        better, such as of "forbidden@3", it is minimized.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Gains below 0
        mark forbidden documents.
    filter : bool, default=False
        Whether a threshold is optimized too. Only for measures that depend on gains and places:
        "dcg", "ndcg_f" and its variants, "rbp", "r_precision", and "f", "precision" and "recall"
        with a cut-off. `predict` then returns scores of at least 0 for documents to show.
    init : {"least_squares", "uniform"}, default="least_squares"
        Initial weights: a ridge regression of the gains, or equal weights divided by the spread of
        each feature.
    init_alpha : float, default=1.0
        Ridge penalty of the initial regression, for features divided by their spread.
    penalty : float, default=0.0
        Cost of changing a weight: the measure must increase by at least this for each standard
        deviation by which the scores change (within queries, or with `filter` over all rows).
        Values such as 0.01 to 0.1 keep the weights closer to the start, which reduces overfitting
        with many features and few queries.
    max_iter : int, default=25
        Largest number of sweeps over all weights.
    tol : float, default=1e-4
        Stop after a sweep that increases the measure by no more than this.
    early_stopping_rounds : int or None, default=None
        Stop when the measure on `eval_set` has not improved for this many sweeps, and keep the best
        weights.
    validation_fraction : float or None, default=None
        Share of the training queries that `fit` holds out for early stopping, instead of an
        `eval_set`. The content of queries decides which, and their ids do not.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the weights in each sweep.
    verbose : int, default=0
        Above 0, a progress bar counts the sweeps.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,), dtype float64
        Weights of the unscaled features. Their common factor is arbitrary.
    threshold_ : float
        Documents with a weighted sum below this are hidden; 0.0 without `filter`.
    best_score_ : float
        The measure of the training queries at these weights.
    n_iter_ : int
        Number of sweeps.
    best_iteration_ : int
        The sweep whose weights are kept: the last one without early stopping; 0 is the start.
    evals_result_ : dict
        The measure at the start and after each sweep, so `best_iteration_` is an index into it:
        ``{"train": {"ndcg_f@10": [...]}, "valid_0": ...}``. On the training queries it is never
        worse than before.
    scale_ : ndarray of shape (n_features_in_,), dtype float64
        Spread of each feature: its standard deviation within queries, or with `filter` of all rows.
        0 for constant features, whose weights stay 0.
    n_unjudged_ : int
        Number of rows with a NaN label, which were left out of training.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,), dtype object
        Names of the features, where X is a DataFrame.

    See Also
    --------
    LambdaRankRanker : Trees, from the gradient of pairs.
    RankAndFilter : Finds a threshold from out-of-fold scores.

    Notes
    -----
    The method is that of [1]_, with three differences. The line search of [1]_ tries 20 steps in
    each direction; here all steps of the measure are computed (see below). The default start is a
    regression instead of equal weights, which is better on test queries of MQ2007. And weights may
    be negative: the sum of their absolute values times `scale_` is kept between 1 and 2.

    Along a weight t the score of document i is ``a_i + t * x_i``. Its place changes only where its
    score crosses another of its query, ``t = (a_i - a_l) / (x_l - x_i)``. These crossings are
    sorted for each document that adds to the measure. Running sums give the document's place, and
    the number of relevant documents above it, between neighbouring crossings. So a measure that is
    a sum over documents of terms of these numbers is known on the whole line after one more sort.
    These are dcg, ndcg, ndcg_0, ndcg_min, ndcg_f, ap, sp, induced_ap, inferred_ap, bpref, rr, rbp,
    precision, recall, f, r_precision, success, forbidden, tse, search_length, recall_error,
    lexirecall and lexiprecision with ``scale="share"``, metric_lexirecall, and ul_normalized of
    those of them that average over ties. A threshold is treated as an additional document in each
    query whose score is the threshold. Other measures, such as err, q_measure and qwa, are computed
    at 16 quantiles of the crossings, and again between the neighbours of the best one. Measures
    that are the same for every order of the documents cannot be optimized: judged, unjudged,
    rbp_residual, set_map, empty_list_rate, false_reject_rate, and without a cut-off any_forbidden,
    f, forbidden, precision, recall, relative_precision, success and udcg. stat_ap cannot be
    optimized either, because it needs an additional column.

    If several intervals are equally good, the middle of the one nearest to the current weight is
    used. Except for the start, the scale of the features has no influence.

    While training, documents of equal scores count in ascending order of gain (``ties="worst"``),
    so equal scores are never an advantage. This holds for `best_score_` and "train" of
    `evals_result_`; without ties they equal the measure's function. Values of held-out sets are
    always those of the measure's function. Queries for which the measure is undefined count as 0.
    Queries with one document, or with equal gains, only add a constant to the mean. If no query has
    two different gains and ``filter=False``, all orders are equally good, and all weights are 0.

    For one weight, all documents of the query are sorted for each document that adds to the
    measure. With q queries of n documents, m of which add to the measure, the time is ``q * m * n *
    log(n)``. If there are more than 1,000 crossings per row on average, the measure is computed at
    quantiles of a sample of the crossings, as for measures that are not sums.

    References
    ----------
    .. [1] D. Metzler and W. B. Croft. "Linear feature-based models for information retrieval".
       Information Retrieval 10(3), 2007.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.metrics import ndcg_f_score
    >>> from skfilterrank.ranking import CoordinateAscentRanker
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=200, random_state=0)
    >>> ranker = CoordinateAscentRanker(measure="ndcg_f@3", random_state=0)
    >>> ranked = ranker.fit(X, y, groups=groups).best_score_
    >>> filtering = CoordinateAscentRanker(measure="ndcg_f@3", filter=True, random_state=0)
    >>> bool(filtering.fit(X, y, groups=groups).best_score_ > ranked)
    True

    Its scores are 0 or above where a document is to be shown:

    >>> scores = filtering.predict(X)
    >>> scores[scores < 0] = float("-inf")
    >>> shown = ndcg_f_score(y, scores, groups=groups, k=3)
    >>> bool(abs(shown - filtering.best_score_) < 1e-9)
    True
    """

    coef_: Any
    threshold_: float
    best_score_: float
    n_iter_: int
    scale_: Any

    def __init__(
        self,
        *,
        measure: str = "ndcg_f@10",
        gains: Gains = None,
        filter: bool = False,
        init: str = "least_squares",
        init_alpha: float = 1.0,
        penalty: float = 0.0,
        max_iter: int = 25,
        tol: float = 1e-4,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.measure = measure
        self.gains = gains
        self.filter = filter
        self.init = init
        self.init_alpha = init_alpha
        self.penalty = penalty
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(  # type: ignore[override]  # other parameters
        self, X, y: ArrayLike, groups=None, *, eval_set=None, eval_groups=None
    ) -> CoordinateAscentRanker:
        """Optimize the weights.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of documents, rows in any order, as in :meth:`RankerMixin.fit`.
            NaN is an error.
        y : array-like of shape (n_rows,)
            Labels; rows with a NaN label are left out, with a warning.
        groups : array-like of shape (n_rows,), default=None
            Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
            Without query ids, each row is its own query, with a warning: with `filter`, only
            hiding is learned, no order; without, all scores are 0.
        eval_set : (X, y) or list of (X, y), default=None
            Held-out queries for early stopping, as in :meth:`RankerMixin.fit`.
            With several sets, the mean counts.
        eval_groups : array-like or list of array-like, default=None
            Query ids of the rows of each held-out set.

        Returns
        -------
        self : CoordinateAscentRanker
            The fitted ranker.

        Raises
        ------
        ValueError
            If a parameter is out of range, the measure cannot be optimized, X holds NaN or
            infinity (the message names the column), arrays have different lengths, a label is not
            a number and has no entry in `gains`, or no row is judged.
        """
        parsed = self._check_parameters()
        rows, held_out = self._rows_and_held_out(X, y, groups, eval_set, eval_groups)
        objective = Objective(parsed, rows.gains, GroupIndex.from_groups(rows.queries))
        if self.filter:
            objective.check_filterable()
        ascent = _Ascent(self, Columns(rows.X), objective, held_out)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        bar = {"unit": "sweep", "verbose": self.verbose, "leave": None}
        with progress_bar(total=self.max_iter, **bar) as sweeps:
            for value in ascent.sweeps(np.random.RandomState(seed)):
                sweeps.update()
                sweeps.set_postfix({parsed.text: f"{value:.4f}"})
        self.coef_, threshold = ascent.best
        self.threshold_ = 0.0 if threshold is None else float(threshold)
        self.scale_ = ascent.scale
        self.n_iter_, self.best_iteration_ = len(ascent.values) - 1, ascent.n_kept
        self.best_score_ = float(objective.sign * ascent.values[ascent.n_kept])
        curves = {"train": ascent.values}
        curves |= {f"valid_{number}": each for number, each in enumerate(ascent.of_held_out)}
        self.evals_result_ = {
            name: {parsed.text: [objective.sign * value for value in values]}
            for name, values in curves.items()
        }
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
            ``X @ coef_ - threshold_``, higher is better. With `filter`, documents with scores below
            0 should be hidden.
        """
        check_is_fitted(self)
        return Columns(self._check_features(X, groups=groups)).scores(self.coef_) - self.threshold_

    @property
    def feature_importances_(self) -> np.ndarray:
        """Relative importance of each feature, ndarray of shape (n_features_in_,).

        ``abs(coef_) * scale_``, scaled to a sum of 1; all 0 if all weights are 0.
        """
        check_is_fitted(self)
        sizes = np.abs(self.coef_) * self.scale_
        total = sizes.sum()
        return sizes / total if total > 0 else sizes

    @property
    def needs_groups(self) -> bool:  # type: ignore[override]  # depends on `filter`
        """True if nothing can be learned without query ids; hiding needs no query ids."""
        return not self.filter

    def _lost_without_groups(self) -> str:
        return (
            "it learns to hide but not to rank" if self.filter else super()._lost_without_groups()
        )

    def _without_filtered(self, scores):
        """Hide scores below 0 if a threshold was learned."""
        return np.where(scores >= 0, scores, -np.inf) if self.filter else scores

    def _check_parameters(self) -> ParsedMeasure:
        """Check the parameters, and read the measure."""
        parsed = parse_measure(self.measure).for_means("weights are chosen")
        check_optimizable(parsed)
        check_choice(self.filter, "filter", (True, False))
        check_choice(self.init, "init", INITS)
        check_count(self.max_iter, "max_iter", 0)
        check_count(self.early_stopping_rounds, "early_stopping_rounds", or_none=True)
        for name in ("init_alpha", "penalty", "tol"):
            check_number(getattr(self, name), name, least=0)
        return parsed


class _Ascent:
    """Weights on their way, with the objective at the start and after each sweep.

    Attributes
    ----------
    best : tuple of (ndarray, float or None)
        Weights that are kept, and the threshold, if one is learned.
    n_kept : int
        The sweep that they are of; 0 is the start.
    values : list of float
        Objective of the training queries.
    of_held_out : list of list of float
        Objective of each held-out set.
    scale : ndarray of shape (n_features,)
        Spread of each feature.
    """

    def __init__(self, ranker, columns, objective, held_out):
        self.ranker, self.columns, self.objective = ranker, columns, objective
        self._held_out = [
            (
                Columns(held.X),
                MeasuredRows(objective.parsed, held.gains, GroupIndex.from_groups(held.queries)),
            )
            for held in held_out
        ]
        index = objective.index
        self.queries = () if ranker.filter else (index.codes(), index.sizes)
        self.scale = np.array([spread(columns[j], *self.queries) for j in range(columns.n_columns)])
        # Without a pair of different gains all orders are equally good, and weights stay 0.
        self.spreads = self.scale if ranker.filter or objective.has_pair else 0 * self.scale
        self._search = objective.line_search(ranker.penalty)
        coef, threshold = self._start(), None
        if ranker.filter:
            threshold = objective.best_threshold(columns.scores(coef))
        self.best, self.n_kept = (coef, threshold), 0
        self.values, self.of_held_out = [], [[] for _ in held_out]

    def sweeps(self, rng) -> Iterator[float]:
        """Yield the measure of the training queries after each sweep over all weights."""
        coef, threshold = self.best[0].copy(), self.best[1]
        scores, value = self._record(coef, threshold)
        coordinates = np.flatnonzero(self.spreads)
        if threshold is not None:
            coordinates = np.append(coordinates, _THRESHOLD)
        for sweep in range(1, self.ranker.max_iter + 1):
            for j in rng.permutation(coordinates):
                if j == _THRESHOLD:
                    candidate = self.objective.best_threshold(scores)
                    reached = self.objective(scores, candidate)
                    if reached > value:
                        threshold, value = candidate, reached
                    continue
                feature = self.columns[j]
                unit = (spread(scores, *self.queries) or 1.0) / self.spreads[j]
                t = self._search.best(scores, feature, threshold, unit)
                if t == 0:
                    continue
                moved = scores + t * feature
                reached = self.objective(moved, threshold)
                # A step may be wrong by rounding of nearly equal scores: it is kept only if it is
                # an improvement.
                if reached > value:
                    coef[j] += t
                    scores, value = moved, reached
            coef, threshold = self._rescaled(coef, threshold)
            scores, value = self._record(coef, threshold)
            yield self.objective.sign * value
            patience = self.ranker.early_stopping_rounds
            if patience is None or self._is_best_on_held_out():
                self.best, self.n_kept = (coef.copy(), threshold), sweep
            elif sweep - self.n_kept >= patience:
                break
            if self.values[-1] - self.values[-2] <= self.ranker.tol:
                break

    def _start(self):
        """Make weights of shape (n_features,), 0 for features without spread."""
        columns, alpha = self.columns, self.ranker.init_alpha
        usable = self.spreads > 0
        if not usable.any():
            return np.zeros(len(usable))
        inverse = np.zeros(len(usable))
        inverse[usable] = 1.0 / self.spreads[usable]
        if self.ranker.init == "uniform":
            return inverse / np.count_nonzero(usable)
        codes, sizes = self.queries or (np.zeros(columns.n_rows, dtype=np.intp), columns.n_rows)

        def centred(values):
            return values - (np.bincount(codes, values) / sizes)[codes]

        def product(coef):
            return columns.X.T @ centred(columns.X @ (coef * inverse)) * inverse + (alpha * coef)

        # Conjugate gradients keep sparse features sparse.
        system = LinearOperator((len(usable),) * 2, matvec=product, dtype=np.float64)
        right = columns.X.T @ centred(self.objective.gains) * inverse
        scaled, _ = cg(system, right, rtol=1e-8, maxiter=_MOST_STEPS)
        return scaled * inverse

    def _record(self, coef, threshold):
        """Recompute all scores, and note the objectives; return the scores and their objective."""
        scores = self.columns.scores(coef)
        self.values.append(self.objective(scores, threshold))
        for values, (columns, objective) in zip(self.of_held_out, self._held_out):
            values.append(objective(columns.scores(coef), threshold))
        return scores, self.values[-1]

    def _is_best_on_held_out(self):
        """Tell if the latest weights are better on held-out sets than those that are kept."""
        means = np.mean(self.of_held_out, axis=0)
        return means[-1] > means[self.n_kept]

    def _rescaled(self, coef, threshold):
        """Multiply the weights by a power of 2, to a total from 1 to 2."""
        total = np.abs(coef) @ self.spreads
        if total == 0 or not np.isfinite(total):
            return coef, threshold
        factor = 2.0 ** -np.floor(np.log2(total))
        return coef * factor, None if threshold is None else threshold * factor


class Objective(MeasuredRows):
    """Mean of a measure over queries; undefined values are 0, tied documents ascend by gain.

    With this order, equal scores are never an advantage.
    """

    def __init__(self, parsed: ParsedMeasure, gains, index: GroupIndex):
        super().__init__(parsed, gains, index, ties="worst")

    def as_sum(self) -> Additive | None:
        """Return the measure as a sum over documents; None if it is not a sum."""
        return self.parsed.as_sum(RowFacts(self.parsed, self.gains, self.index))

    def line_search(self, penalty: float) -> LineSearch | CandidateSearch:
        """Return the exact line search if possible, else the search among candidates."""
        terms = self.as_sum()
        if terms is None or has_many_crossings(terms, self.index):
            return CandidateSearch(self, penalty)
        return LineSearch(terms, self.gains, self.index, self.sign, penalty)

    def check_filterable(self) -> None:
        """Raise if the line search does not support a threshold for the measure."""
        form = self.as_sum()
        # Below the threshold, a document must add nothing, whatever is above it.
        if (
            form is None
            or form.uses_levels
            or form.finish is not None
            or form.by_shown
            or form.n_items is not None
        ):
            raise InputError(
                f"filter=True cannot optimize a threshold for measure={brief(self.parsed.text)}: "
                "the measure must depend only on gains and places, such as 'ndcg_f' or 'rbp'. "
                "For others use filter=False in RankAndFilter, which finds the best threshold for "
                "the ranking."
            )

    @property
    def has_pair(self) -> bool:
        """True if some query has two different gains."""
        codes = self.index.codes()
        highest = np.full(self.index.n_queries, -np.inf)
        np.maximum.at(highest, codes, self.gains)
        return bool((self.gains != highest[codes]).any())

    def best_threshold(self, scores) -> float:
        """Find the threshold with the highest mean; it is always finite."""
        lists = RankedLists(self.gains, scores, groups=self.index)
        threshold, _ = EntryValues.of(lists, self.parsed).best()
        if np.isfinite(threshold):
            return threshold
        margin = np.ptp(scores) or 1.0
        return scores.max() + margin if threshold > 0 else scores.min() - margin


def check_optimizable(parsed: ParsedMeasure) -> None:
    """Raise for a measure that does not depend on the order of documents."""
    entry = parsed.measure
    if entry.order_matters == "never" or entry.needs_columns:
        reason = "it is the same for every order of a query's documents"
        if entry.needs_columns:
            reason = f"it needs {', '.join(entry.columns)}"
        possible = [
            name
            for name, other in sorted(MEASURES.items())
            if other.order_matters != "never"
            and other.over_queries == "mean"
            and not other.needs_columns
        ]
        raise InputError(
            f"measure={brief(entry.name)} cannot be optimized: {reason}. Those that can: "
            f"{', '.join(possible)}."
        )
    if entry.order_matters == "with k" and parsed.k is None:
        raise InputError(
            f"measure={brief(entry.name)} without a cut-off is the same for every order of a "
            f"query's documents: give one, such as '{entry.name}@10'."
        )


INITS = ("least_squares", "uniform")


def spread(values, codes=None, sizes=None) -> float:
    """Compute the standard deviation, within queries if their codes and sizes are given.

    Variation by rounding counts as 0.
    """
    # Values are scaled first, because squares of extreme values are out of range.
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
    """A checked feature matrix that returns single dense columns."""

    def __init__(self, X):
        self.is_sparse = sparse.issparse(X)
        self.n_rows, self.n_columns = X.shape
        if self.is_sparse:
            self.X = sparse.csc_array(X, dtype=np.float64)
        else:
            self.X = np.asfortranarray(X, dtype=np.float64)

    def __getitem__(self, j) -> np.ndarray:
        """Return column j, of shape (n_rows,), read only."""
        return column(self.X, j)

    def scores(self, coef) -> np.ndarray:
        """Add up features times weights, in the same order for every row.

        A matrix product of numpy may give equal rows scores that differ in the last digit.
        """
        if self.is_sparse:
            return self.X @ coef
        scores = np.zeros(self.n_rows)
        for j in np.flatnonzero(coef):
            scores += coef[j] * self.X[:, j]
        return scores

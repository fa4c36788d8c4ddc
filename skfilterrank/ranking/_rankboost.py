"""RankBoostRanker: boosting of feature thresholds by pairs of documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import logsumexp
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base.checks import check_count
from skfilterrank._base.words import in_parallel
from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.ranking._feature_ranker import (
    BoostedRanker,
    QueryRows,
    column,
    first_best,
    rows_with_order,
)

# A weight of ln(2e9 - 1) / 2, about 10.7, is the largest a round can have.
_LARGEST_R = 1 - 1e-9
_SMALLEST_R = 1e-10


class RankBoostRanker(BoostedRanker):
    r"""RankBoost: a sum of feature thresholds, boosted by pairs of documents of one query.

    Each round adds a weak ranker "the feature exceeds the threshold". Pairs of documents that the
    current ranker orders wrongly have larger weights.

    Parameters
    ----------
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Only their
        order counts; gains below 0 have no special role.
    n_estimators : int, default=300
        Largest number of rounds.
    max_bins : int, default=255
        Largest number of bins of a feature, at least 2. A feature with more distinct values is
        divided at its quantiles. Thresholds lie between bins.
    measure : str, default="ndcg_f@10"
        Measure on `eval_set` and of `score`: a name of the measure table with a cut-off
        and options where wanted; see :func:`skfilterrank.metrics.get_measure_names`.
    early_stopping_rounds : int or None, default=None
        Stop when `measure` on `eval_set` has not improved for this many rounds; `predict` uses the
        rounds up to the best one.
    validation_fraction : float or None, default=None
        Share of the training queries that `fit` holds out for early stopping, instead of an
        `eval_set`. The content of queries decides which, and their ids do not.
    n_jobs : int or None, default=None
        Number of threads that sort the features into bins before the first round; rounds use one
        thread. None means 1, -1 all processors. Results do not depend on it.
    verbose : int, default=0
        0 is silent, above 0 shows a progress bar.

    Attributes
    ----------
    features_ : ndarray of shape (n_rounds,), dtype int64
        The feature of each round's weak ranker.
    thresholds_ : ndarray of shape (n_rounds,), dtype float64
        Threshold of each round's weak ranker; every value that is not missing exceeds -inf.
    missing_above_ : ndarray of shape (n_rounds,), dtype bool
        Whether a missing value (NaN) counts as above the threshold.
    alphas_ : ndarray of shape (n_rounds,), dtype float64
        Score that each round adds for a document above the threshold; negative if low values
        indicate relevance.
    train_loss_ : ndarray of shape (n_rounds,), dtype float64
        The loss over the training pairs after each round: falls from 1 towards 0, and is never
        below the (weighted) share of pairs in the wrong order or tied.
    best_iteration_ : int
        Number of rounds that `predict` uses: all, or with `early_stopping_rounds` up to the best
        one on the `eval_set`.
    evals_result_ : dict
        The measure after each round, from the first on, ``{"valid_0": {"ndcg_f@10": [...]}}``;
        empty without `eval_set`.
    n_unjudged_ : int
        Rows with a NaN label, which were left out of the training.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,), dtype object
        Names of the features, where X is a DataFrame.

    See Also
    --------
    AdaRankRanker : Boosts whole features by a measure.
    LambdaRankRanker : Boosted trees.
    RankAndFilter : Finds the threshold under which documents are hidden.

    Notes
    -----
    After [1]_. With i the better document of a pair, :math:`D(i, k) \propto \exp(s_k - s_i)` for
    the scores s so far, and h(x) = 1 where the feature exceeds the threshold and 0 elsewhere, each
    round selects the h with the greatest :math:`|r|` and adds it with weight alpha,

    .. math::

        r = \sum_{(i, k)} D(i, k) (h(i) - h(k)), \qquad
        \alpha = \frac{1}{2} \ln \frac{1 + r}{1 - r} .

    All pairs count alike, so a query counts in proportion to its number of pairs. The loss is the
    mean of :math:`\exp(s_k - s_i)`; a round multiplies it by :math:`\sqrt{1 - r^2}` at most.

    Pairs are not enumerated: the weight of a pair is a factor of i times a factor of k. So running
    sums over the gains of a query give the total weight of each document in its pairs (section 3.2
    of [1]_ for two gains; any number here). Sums of these weights over the bins of a feature give r
    for all its thresholds.

    If an h orders all pairs, alpha would be infinite: it is set to 10.7, and training ends.
    Training also ends if r is 0 for all h. Among equally good h, the lowest threshold of the first
    feature is chosen.

    NaN in X is a missing value. As in [1]_, h has the same value for all documents without the
    feature: 0 or 1, whichever gives the greater :math:`|r|`. If some values are missing, "the value
    is not missing" is an h, too. A cell that a sparse matrix does not store is 0.

    Queries of one document or one gain have no pairs and change nothing. If no query has two
    different gains, nothing can be learned, and all scores are 0. Without query ids, each row is a
    query, and there is a warning.

    The method is deterministic: there is no `random_state`, and the same data give the same
    ranker. Scores need not compare between queries;
    :func:`skfilterrank.thresholds.score_comparability` tells.

    References
    ----------
    .. [1] Y. Freund, R. Iyer, R. E. Schapire, Y. Singer. "An Efficient Boosting Algorithm for
       Combining Preferences". Journal of Machine Learning Research 4, 2003.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.metrics import ndcg_f_score
    >>> from skfilterrank.ranking import RankBoostRanker
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=400, random_state=0)
    >>> ranker = RankBoostRanker(n_estimators=50).fit(X, y, groups=groups)
    >>> learned = ndcg_f_score(y, ranker.predict(X), groups=groups, k=3)
    >>> best_feature = max(ndcg_f_score(y, x, groups=groups, k=3) for x in X.T)
    >>> bool(learned > best_feature)
    True
    """

    thresholds_: Any
    missing_above_: Any
    train_loss_: Any

    _takes_nan = True

    def __init__(
        self,
        *,
        gains: Gains = None,
        n_estimators: int = 300,
        max_bins: int = 255,
        measure: str = "ndcg_f@10",
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.gains = gains
        self.n_estimators = n_estimators
        self.max_bins = max_bins
        self.measure = measure
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(  # type: ignore[override]  # other parameters
        self, X, y: ArrayLike, groups=None, *, eval_set=None, eval_groups=None
    ) -> RankBoostRanker:
        """Select thresholds and their weights.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Features of documents, rows in any order, as in :meth:`RankerMixin.fit`.
            NaN is a missing value.
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
        self : RankBoostRanker
            The fitted ranker.

        Raises
        ------
        ValueError
            If a parameter is out of range, X holds infinite values, arrays have different
            lengths, a label is not a number and has no entry in `gains`, or no row is judged.
        """
        parsed = self._check_parameters()
        rows, held_out = self._rows_and_held_out(X, y, groups, eval_set, eval_groups)
        learner = _ThresholdBoosting(rows, self)
        n_best = self._run_rounds(learner, held_out, parsed)
        features, thresholds, missing_above, alphas = (
            zip(*learner.rounds) if learner.rounds else [()] * 4
        )
        self.features_ = np.array(features, dtype=np.int64)
        self.thresholds_ = np.array(thresholds, dtype=np.float64)
        self.missing_above_ = np.array(missing_above, dtype=bool)
        self.alphas_ = np.array(alphas, dtype=np.float64)
        self.train_loss_ = np.array(learner.losses, dtype=np.float64)
        self.best_iteration_ = n_best
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Score the rows of X.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_rows, n_features)
            Documents, as in `fit`.
            NaN is a missing value.
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
        for round_ in self._rounds()[: self.best_iteration_]:
            scores += scores_of_round(round_, X)
        return scores

    def _rounds(self):
        """List (feature, threshold, whether missing values are above it, weight) of each round."""
        parts = (self.features_, self.thresholds_, self.missing_above_, self.alphas_)
        return list(zip(*(part.tolist() for part in parts)))

    def _check_parameters(self) -> ParsedMeasure:
        """Check the parameters, and return the measure of held-out sets."""
        self._check_rounds()
        check_count(self.max_bins, "max_bins", 2)
        return parse_measure(self.measure).for_means("the number of rounds is chosen")


class _ThresholdBoosting:
    """State of RankBoost's rounds on the training rows."""

    def __init__(self, rows: QueryRows, ranker: RankBoostRanker):
        # Each round is a feature, a threshold, whether missing values are above it, and a weight.
        self.rounds: list[tuple] = []
        self.losses: list[float] = []
        rows = rows_with_order(rows)
        self.X = rows.X
        if self._has_pairs():
            self._pairs = PairDistribution(rows.gains, rows.queries)
            self._bins = BinnedFeatures(self.X, max_bins=ranker.max_bins, n_jobs=ranker.n_jobs)
            self._scores = np.zeros(len(rows.gains))
            self._potential, _ = self._pairs.potential(self._scores)

    def _has_pairs(self):
        return self.X.shape[0] > 0

    @property
    def n_rounds(self):
        return len(self.rounds)

    def step(self) -> bool:
        """Add a weak ranker and return True; return False if none is an improvement."""
        # Training ends if the last weak ranker orders all pairs.
        if not self._has_pairs() or (
            self.rounds and abs(self.rounds[-1][3]) >= np.arctanh(_LARGEST_R)
        ):
            return False
        above, missing = self._bins.sums_above(self._potential)
        is_above = np.abs(above + missing) > np.abs(above) + _SMALLEST_R
        r = np.where(is_above, above + missing, above)
        best = first_best(np.abs(r))
        if abs(r[best]) < _SMALLEST_R:
            return False
        alpha = np.arctanh(np.clip(r[best], -_LARGEST_R, _LARGEST_R))
        feature, threshold = self._bins.features[best], self._bins.thresholds[best]
        self.rounds.append((int(feature), float(threshold), bool(is_above[best]), float(alpha)))
        self._scores += scores_of_round(self.rounds[-1], self.X)
        self._potential, loss = self._pairs.potential(self._scores)
        self.losses.append(loss)
        return True

    def contribution(self, number, X):
        """Compute the scores that a round adds to those of X."""
        return scores_of_round(self.rounds[number], X)


def scores_of_round(round_, X):
    """Compute the scores that a round adds to those of X."""
    feature, threshold, missing_above, alpha = round_
    values = column(X, feature)
    above = values > threshold
    if missing_above:
        above |= np.isnan(values)
    return alpha * above


class PairDistribution:
    """Weights ``D(i, k) ~ exp(s_k - s_i)`` of pairs in which i has the higher gain.

    The weight of a pair is a factor of i times a factor of k, so sums over all worse (better)
    documents of a query are running sums over its gains, and the time is linear in the documents.
    Sums are stored as logarithms, which do not overflow.

    Parameters
    ----------
    gains, queries : ndarray of shape (n_rows,)
        Gain and query of each row, sorted by query and then gain; every query has two different
        gains.
    """

    def __init__(self, gains, queries):
        new_query = np.append(True, queries[1:] != queries[:-1])
        new_cell = new_query | np.append(True, gains[1:] != gains[:-1])
        # A cell is the set of a query's documents with equal gain.
        self._starts = np.flatnonzero(new_cell)
        self._cell = np.cumsum(new_cell) - 1
        query = np.cumsum(new_query)[self._starts] - 1
        first = np.flatnonzero(new_query[self._starts])
        n_cells = len(self._starts)
        self._level = np.arange(n_cells) - first[query]
        n_levels = np.diff(first, append=n_cells)
        # Levels counted from the highest gain down, for the cells in reversed order.
        self._level_down = (n_levels[query] - 1 - self._level)[::-1]
        # Log of the number of pairs in which each document is the better one.
        worse, _ = self._log_sums(np.zeros(len(gains)))
        self._log_total = logsumexp(worse[self._cell])

    def potential(self, scores) -> tuple[np.ndarray, float]:
        """Compute each document's total weight in pairs, and the loss.

        The weight is that of pairs in which the document is the better one, minus that of pairs in
        which it is the worse one. The loss is the mean of ``exp(s_k - s_i)`` over pairs.
        """
        worse, better = self._log_sums(scores)
        as_better = worse[self._cell] - scores
        as_worse = better[self._cell] + scores
        highest = as_better.max()
        as_better = np.exp(as_better - highest)
        total = as_better.sum()
        as_worse = np.exp(as_worse - highest)
        return (as_better - as_worse) / total, float(
            np.exp(highest + np.log(total) - self._log_total)
        )

    def _log_sums(self, scores):
        """Compute logs of sums of exp(s) over lower cells and exp(-s) over higher ones.

        A cell is the set of a query's documents with equal gain; lower means a lower gain.
        """
        below = _sums_below(self._of_cells(scores), self._level)
        above = _sums_below(self._of_cells(-scores)[::-1], self._level_down)
        return below, above[::-1]

    def _of_cells(self, scores):
        """Compute the log of the sum of exp(scores) over the documents of each cell."""
        highest = np.maximum.reduceat(scores, self._starts)
        return highest + np.log(np.add.reduceat(np.exp(scores - highest[self._cell]), self._starts))


def _sums_below(values, level):
    """Compute log sums over lower cells."""
    below = np.append(-np.inf, _running_log_sums(values, level)[:-1])
    below[level == 0] = -np.inf
    return below


def _running_log_sums(values, level):
    """Compute the log of running sums of exp(values) over each query's levels."""
    total = values.copy()
    reach = 1
    while reach <= level.max():
        inside = np.flatnonzero(level >= reach)
        total[inside] = np.logaddexp(total[inside], total[inside - reach])
        reach *= 2
    return total


class BinnedFeatures:
    """Bin numbers of all features of X.

    The bins of all features are numbered consecutively: for each feature first the bin of missing
    values (NaN), then the bins between thresholds, ascending.

    Parameters
    ----------
    X : ndarray or csc matrix of shape (n_rows, n_features)
        NaN is a missing value.
    max_bins : int
        Largest number of bins of a feature, not counting the bin of missing values. A feature with
        more distinct values is divided at its quantiles.
    n_jobs : int or None
        Threads.

    Attributes
    ----------
    thresholds : ndarray of shape (n_bins,), dtype float64
        Upper limit of each bin, which values in higher bins exceed: -inf for the bin of missing
        values, NaN for the last bin of a feature.
    features : ndarray of shape (n_bins,), dtype int64
        The feature of each bin.
    """

    def __init__(self, X, *, max_bins, n_jobs=None):
        dtype = np.min_scalar_type(max_bins)
        jobs = (delayed(_bin)(X, number, max_bins, dtype) for number in range(X.shape[1]))
        binned = list(in_parallel(jobs, n_jobs, Parallel, prefer="threads"))
        cuts = [cut for cut, _ in binned]
        self._codes = [codes for _, codes in binned]
        n_bins = np.array([len(cut) + 2 for cut in cuts])
        self._ends = np.cumsum(n_bins)
        self._starts = self._ends - n_bins
        self.features = np.repeat(np.arange(X.shape[1]), n_bins)
        self.thresholds = np.concatenate(
            [np.concatenate([[-np.inf], cut, [np.nan]]) for cut in cuts]
        )
        self._zeros = self._rows = None
        if sparse.issparse(X):
            stored = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
            self._rows = X.indices
            self._codes = self._starts[stored] + np.concatenate(self._codes)
            # Bin of 0 in each column, for the entries that a sparse matrix does not store.
            self._zeros = self._starts + [1 + np.searchsorted(cut, 0.0) for cut in cuts]

    def sums(self, values) -> np.ndarray:
        """Add up `values` (n_rows,) over the rows of each bin."""
        sums = np.empty(self._ends[-1])
        if self._zeros is None:
            for start, end, codes in zip(self._starts, self._ends, self._codes):
                sums[start:end] = np.bincount(codes, weights=values, minlength=end - start)
            return sums
        sums = np.bincount(self._codes, weights=values[self._rows], minlength=self._ends[-1])
        sums[self._zeros] += values.sum() - np.add.reduceat(sums, self._starts)
        return sums

    def sums_above(self, values) -> tuple[np.ndarray, np.ndarray]:
        """Sum `values` over the higher bins of each bin's feature, and over missing values."""
        sums = self.sums(values)
        running = np.cumsum(sums)
        return running[self._ends - 1][self.features] - running, sums[self._starts][self.features]


def _bin(X, number, max_bins, dtype):
    """Find the thresholds of a column, and the bin of each stored cell."""
    if sparse.issparse(X):
        values = X.data[X.indptr[number] : X.indptr[number + 1]]
    else:
        values = X[:, number]
    values = values.astype(np.float64)
    present = ~np.isnan(values)
    distinct, counts = np.unique(values[present], return_counts=True)
    if n_zeros := X.shape[0] - len(values):
        place = np.searchsorted(distinct, 0.0)
        if place == len(distinct) or distinct[place] != 0.0:
            distinct, counts = np.insert(distinct, place, 0.0), np.insert(counts, place, 0)
        counts[place] += n_zeros
    cuts = find_thresholds(distinct, counts, max_bins)
    # Bin 0 is for missing values; other bins are 1 plus the number of thresholds below the value.
    return cuts, np.where(present, 1 + np.searchsorted(cuts, values), 0).astype(dtype)


def find_thresholds(distinct, counts, max_bins) -> np.ndarray:
    """Find at most ``max_bins - 1`` thresholds between distinct values, ascending.

    Thresholds are midpoints of neighbouring values: all, or those at quantiles.
    """
    lower = np.arange(len(distinct) - 1)
    if len(distinct) > max_bins:
        up_to = np.cumsum(counts)
        shares = np.arange(1, max_bins) / max_bins
        lower = np.unique(np.searchsorted(up_to, shares * up_to[-1]))
        lower = lower[lower < len(distinct) - 1]
    halfway = distinct[lower] / 2 + distinct[lower + 1] / 2
    # If no float lies between two neighbours, the lower one is the threshold.
    return np.where(
        halfway < distinct[lower + 1], np.maximum(halfway, distinct[lower]), distinct[lower]
    )

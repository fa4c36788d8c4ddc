"""RankBoostRanker: boosting of feature thresholds by pairs of documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from skfilterrank._estimators.ranker_mixin import all_or_nothing
from skfilterrank._lists.checks import check_choice, check_count
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.ranking._boosting.binning import BinnedFeatures
from skfilterrank.ranking._boosting.boosting import (
    BoostedRanker,
    HeldOutCurve,
    first_best,
    rows_with_order,
)
from skfilterrank.ranking._boosting.pair_weights import PAIR_WEIGHTS, PairDistribution
from skfilterrank.ranking._feature_ranker import (
    QueryRows,
    column,
)

# A weight of ln(2e9 - 1) / 2, about 10.7, is the largest a round can have.
_LARGEST_R = 1 - 1e-9
_SMALLEST_R = 1e-10


class RankBoostRanker(BoostedRanker):
    r"""RankBoost: a sum of feature thresholds, boosted by pairs of documents of one query.

    Each round adds a weak ranker "the feature exceeds the threshold" that puts the better document
    of a pair higher, where pairs count the more the more wrongly the ranker so far orders them.

    Parameters
    ----------
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`. Only their
        order counts, unless ``pair_weights="gain"``; gains below 0 are gains like others.
    pair_weights : {"equal", "query", "gain"}, default="equal"
        What a pair counts before the first round: "equal" takes all pairs alike, so that a query
        counts by the number of its pairs; "query" divides by that number, so that all queries
        count alike; "gain" takes the difference of the two gains.
    n_estimators : int, default=300
        Most rounds.
    max_bins : int, default=255
        A feature of more distinct values than this is cut at its quantiles into so many bins;
        thresholds lie between bins. At least 2.
    measure : str, default="ndcg_f@10"
        What is measured on `eval_set`, and by `score`: a name of the measure table with a cut-off
        and options where wanted; see :func:`skfilterrank.metrics.get_measure_names`.
    early_stopping_rounds : int or None, default=None
        Stop when `measure` on `eval_set` has not improved for this many rounds, and
        predict with the rounds up to its best.
    validation_fraction : float or None, default=None
        Share of the training queries, whole ones, that `fit` holds out to stop by instead of
        learning from them, in place of an `eval_set`; always the same ones.
    warm_start : bool, default=False
        Whether `fit` adds to the rounds of an earlier fit, of the same data, up to
        `n_estimators`.
    n_jobs : int or None, default=None
        Threads that sort the features into bins, which happens once; the rounds take one. None
        means 1, -1 all processors. Results do not depend on it.
    verbose : int, default=0
        0 is silent, above 0 shows a progress bar.

    Attributes
    ----------
    features_ : ndarray of shape (n_rounds,), dtype int64
        The feature of each round's weak ranker.
    thresholds_ : ndarray of shape (n_rounds,), dtype float64
        Its threshold; -inf is exceeded by every value that is not missing.
    missing_above_ : ndarray of shape (n_rounds,), dtype bool
        Whether a missing value (NaN) counts as above the threshold.
    alphas_ : ndarray of shape (n_rounds,), dtype float64
        What a document above the threshold gets, below 0 where low values speak for it.
    train_loss_ : ndarray of shape (n_rounds,), dtype float64
        The loss over the training pairs after each round: falls from 1 towards 0, and is never
        below the (weighted) share of pairs in the wrong order or tied.
    best_iteration_ : int
        Number of rounds that predict: all, or with `early_stopping_rounds` those up to the best
        on the `eval_set`.
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
    RankAndFilter : Finds the threshold under which documents are filtered.

    Notes
    -----
    After [1]_. With i the better document of a pair, :math:`D(i, k) \propto D_0(i, k)
    \exp(s_k - s_i)` for the scores s so far, and h(x) = 1 where the feature exceeds the threshold
    and 0 elsewhere, each round takes the h of the greatest :math:`|r|` and adds it with weight
    alpha,

    .. math::

        r = \sum_{(i, k)} D(i, k) (h(i) - h(k)), \qquad
        \alpha = \frac{1}{2} \ln \frac{1 + r}{1 - r} .

    The loss is :math:`\sum D_0(i, k) \exp(s_k - s_i)`; a round multiplies it by
    :math:`\sqrt{1 - r^2}` at most. Pairs are never written out: in each query the weight of a pair
    is a factor of i times a factor of k, so that running sums over its gains give what each
    document weighs in all its pairs together (section 3.2 of [1]_ for two gains; any number here),
    and sums of that over the bins of a feature give r for all its thresholds.

    Where an h orders all pairs, alpha would be infinite: it is 10.7, and training ends. It also
    ends where no h has an r other than 0. Of equally good h the first feature's lowest threshold
    is taken.

    NaN in X is a missing value. As in [1]_, h of it is the same for all documents that miss the
    feature, 0 or 1, whichever gives the greater :math:`|r|`; and whether a value is there is an h
    itself, where some are missing. A cell that a sparse matrix does not store is 0.

    Queries of one document or one gain have no pairs and change nothing. Where no query has two
    different gains there is nothing to learn, and all scores are 0; without query ids, when each
    row is a query, that comes with a warning.

    The method is deterministic: there is no `random_state`, and the same data give the same
    ranker. Scores do not compare across queries.

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

    _takes_nan = True

    def __init__(
        self,
        *,
        gains: Gains = None,
        pair_weights: str = "equal",
        n_estimators: int = 300,
        max_bins: int = 255,
        measure: str = "ndcg_f@10",
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.gains = gains
        self.pair_weights = pair_weights
        self.n_estimators = n_estimators
        self.max_bins = max_bins
        self.measure = measure
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self, X, y: ArrayLike, groups=None, *, eval_set=None, eval_groups=None
    ) -> RankBoostRanker:
        """Choose and weigh thresholds.

        Parameters
        ----------
        {X}
            NaN is a missing value.
        {y}
        {groups}
            Where there is none, each row is its own query, with a warning.
        {eval_set}
            Measured after each round. Of several sets the mean counts.
        {eval_groups}

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
        continued = self.warm_start and hasattr(self, "alphas_")
        rows, held_out = self._rows_and_held_out(
            X, y, groups, eval_set, eval_groups, reset=not continued
        )
        held_out = [HeldOutCurve(held, parsed) for held in held_out]
        learner = _ThresholdBoosting(rows, self)
        if continued:
            self._check_continues(len(self.alphas_))
            learner.resume(self)
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
        {X}
            NaN is a missing value.
        {groups}

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores, higher is better.
        """
        check_is_fitted(self)
        X = self._check_features(X, groups=groups)
        scores = np.zeros(X.shape[0])
        for round_ in self._rounds()[: self.best_iteration_]:
            scores += _contribution(round_, X)
        return scores

    def _rounds(self):
        """Feature, threshold, default and weight of each round."""
        parts = (self.features_, self.thresholds_, self.missing_above_, self.alphas_)
        return list(zip(*(part.tolist() for part in parts)))

    def _check_parameters(self) -> ParsedMeasure:
        """Check the parameters, and return the measure of held-out sets."""
        check_choice(self.pair_weights, "pair_weights", PAIR_WEIGHTS)
        self._check_rounds()
        check_count(self.max_bins, "max_bins", 2)
        return parse_measure(self.measure).for_means("the number of rounds is chosen")


class _ThresholdBoosting:
    """The rounds of RankBoost on the training rows."""

    def __init__(self, rows: QueryRows, ranker: RankBoostRanker):
        # Each round is a feature, a threshold, whether missing values are above it, and a weight.
        self.rounds: list[tuple] = []
        self.losses: list[float] = []
        rows = rows_with_order(rows)
        self.X = rows.X
        if self._has_pairs():
            self._pairs = PairDistribution(rows.gains, rows.queries, ranker.pair_weights)
            self._bins = BinnedFeatures(self.X, max_bins=ranker.max_bins, n_jobs=ranker.n_jobs)
            self._scores = np.zeros(len(rows.gains))
            self._potential, _ = self._pairs.potential(self._scores)

    def _has_pairs(self):
        return self.X.shape[0] > 0

    @property
    def n_rounds(self):
        return len(self.rounds)

    def resume(self, ranker):
        """Take up the rounds of an earlier fit."""
        self.rounds, self.losses = ranker._rounds(), ranker.train_loss_.tolist()
        if self._has_pairs():
            for round_ in self.rounds:
                self._scores += _contribution(round_, self.X)
            self._potential, _ = self._pairs.potential(self._scores)

    def step(self) -> bool:
        """Add a weak ranker; False where none orders pairs better than it misorders others."""
        if not self._has_pairs() or self._orders_all():
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
        self._scores += self.contribution(self.n_rounds - 1, self.X)
        self._potential, loss = self._pairs.potential(self._scores)
        self.losses.append(loss)
        return True

    def contribution(self, number, X):
        """Scores that a round adds to those of X."""
        return _contribution(self.rounds[number], X)

    def _orders_all(self):
        """Whether the weak ranker added last orders all pairs."""
        return self.n_rounds > 0 and abs(self.rounds[-1][3]) >= np.arctanh(_LARGEST_R)


def _contribution(round_, X):
    """Scores that a round adds to those of X."""
    feature, threshold, missing_above, alpha = round_
    values = column(X, feature)
    above = values > threshold
    if missing_above:
        above |= np.isnan(values)
    return alpha * above

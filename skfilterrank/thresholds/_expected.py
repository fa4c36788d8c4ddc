"""Thresholds that cut each list at the prefix with the highest expected value of a measure."""

from typing import NamedTuple, Self

import numpy as np
from scipy.special import ndtri
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from skfilterrank._base.probabilities import fit_curves, reaching
from skfilterrank._base.rounding import mean_tolerance
from skfilterrank._base.words import warn_user
from skfilterrank._files.states import array
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.prefixes import Ranking, best_prefix, places_of_ties
from skfilterrank._lists.queries import GroupIndex
from skfilterrank.exceptions import FitWarning
from skfilterrank.metrics import dcg_bounds
from skfilterrank.thresholds._cuts import Cut
from skfilterrank.thresholds._expected_values import (
    ExpectedSteps,
    best_prefix_of_steps,
    check_has_prefix_values,
    expected_steps,
    is_plain_ndcg_f,
    known_steps,
)
from skfilterrank.thresholds._judged_scores import JudgedScores, unit_of
from skfilterrank.thresholds._threshold import BaseThreshold

_MOST_CORRELATION = 0.95
# Largest number of levels; more gains are put into bins of similar numbers of rows.
_MOST_LEVELS = 10
# Words of the warning that scores do not compare between queries.
IN_EVERY_LIST = "mean the same in every list"
# Squares do not extrapolate: features are clipped to these quantiles of the training rows.
_RANGE = (0.005, 0.995)


class LearnedCut(Cut):
    """Base class of cuts that learn from all rows.

    In `fit`, each fold is cut by what was learned from the others. Keys are 1 for rows to show,
    else -1.
    """

    level = 0.0
    takes_weights = False
    # Name of the threshold in errors.
    owner = ""
    parsed: ParsedMeasure
    # Factor for scores of an extreme scale; see `unit_of`.
    unit = 1.0

    def check_measure(self, parsed):
        """Raise for a measure without an expected value of each prefix."""
        check_has_prefix_values(parsed, self.owner)

    def learn(self, judged, parsed):
        """Learn from all rows; return the keys of each query as learned from other queries."""
        gains, scores, codes = judged.gains, judged.scores, judged.codes
        self.parsed, self.unit = parsed, unit_of(scores)
        self.learn_lists(gains, scores, judged.index)
        keys = self.keys(scores, judged.more, judged.index)
        for train, test in judged.fold_rows():
            inner = type(self)()
            inner.parsed, inner.unit = parsed, self.unit
            of_train, of_test = (GroupIndex.from_groups(codes[rows]) for rows in (train, test))
            if inner.learn_lists(gains[train], scores[train], of_train):
                keys[test] = inner.keys(scores[test], judged.more[test], of_test)
        return keys

    def learn_lists(self, gains, scores, index) -> bool:
        """Learn from whole lists; return False if there is no row to learn from."""
        raise NotImplementedError


class ByExpectation(LearnedCut):
    """Rows are shown above the point where showing more would lower the expected measure."""

    owner = "ExpectedThreshold"
    gains: np.ndarray
    curves: list
    correlation: float

    def learn_lists(self, gains, scores, index):
        """Learn a curve for each level, and the correlation of gains of a query."""
        learned = ~np.isnan(gains) & (scores > -np.inf)
        gains, scores, codes = gains[learned], scores[learned] * self.unit, index.codes()[learned]
        lows, self.gains = levels_of(gains)
        reached = [gains >= low for low in lows[1:]]
        self.curves = fit_curves(scores, reached)
        self.correlation = _correlation(reached, reaching(self.curves, scores), codes)
        return bool(learned.any())

    def keys(self, scores, more, index):
        """Return 1 for rows to show, else -1."""
        scores = scores * self.unit
        chances = reaching(self.curves, scores)
        steps = expected_steps(
            self.parsed, self.gains, chances, scores, index, correlation=self.correlation
        )
        return np.where(best_prefix_of_steps(steps), 1.0, -1.0)

    def state(self):
        """Return gains, curves, correlation and unit."""
        names = ("gains", "correlation", "curves", "unit")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def restored(cls, state, parsed):
        """Make the cut from JSON."""
        found = super().restored(state, parsed)
        found.parsed, found.gains = parsed, array(found.gains)
        found.curves = [(array(nodes), array(values)) for nodes, values in found.curves]
        return found


class ExpectedThreshold(BaseThreshold):
    """A cut of each list at the point where showing more would lower the expected measure.

    The probability of each gain given the score is learned from all rows, so lists may have any
    size. The expected value of every prefix of a list follows from the probabilities of all of its
    documents, and from the correlation of documents of one query. This needs scores that compare
    between queries; `fit` warns if they do not.

    Parameters
    ----------
    measure : str or None, default=None
        Measure whose expected value is maximised: any name of the measure table with a value for
        each prefix of a list, such as "ndcg_f@10", "f", "dcg", "ap" or "rbp". None means "ndcg_f",
        and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; lists shorter than `min_shown`
        are shown whole.
    keep_if : "better" or None, default=None
        As in :class:`TunedThreshold`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    cut_ : Cut
        The fitted cut. `cut_.gains` are the distinct gains, ascending (if there are more than ten,
        the means of ten bins); `cut_.curves` are pairs (scores, probabilities) of P(gain >= level)
        for each level but the lowest, linear between and constant beyond; `cut_.correlation` is
        that of two documents of a query given their scores, from 0 to 0.95: the correlation of the
        latent normal variables of their gains.
    best_score_, held_out_, comparability_
        See :class:`TunedThreshold`.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    LearnedThreshold : Learns the probabilities from the whole list, and tunes the cut.
    PerQueryThreshold : Learns by how much documents raise the measure.

    Notes
    -----
    Sums over documents, such as DCG and RBP, have exact expected values. Other measures are
    averaged over random draws of the gains of a list; the draws are fixed. Measures that are
    computed prefix by prefix, such as ERR and lexirecall, take a pass for each prefix
    down to the cut-off, so that long lists need a cut-off such as "err@20". In lists of more than
    48 scores, tied documents count as ranked worst first where the measure is a sum.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import ExpectedThreshold
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> cut = ExpectedThreshold("ndcg_f@3").fit(scores, y, groups=groups)
    >>> cut.rank([0.8, -0.9, 0.3], groups=["a", "a", "a"])
    array([1, 0, 2])
    """

    def _cut_of(self, n_more):
        return ByExpectation()

    def fit_judged(self, judged: JudgedScores) -> Self:
        """Fit on rows that were checked already; warn if scores do not compare between queries."""
        super().fit_judged(judged)
        found = vars(self).get("comparability_")
        if found is not None and found.compares is False:
            warn_user(
                f"{found.sentence} {{ExpectedThreshold}} takes a score to {IN_EVERY_LIST}: "
                "compare its {held_out_} with those of {FirstK} and {LearnedThreshold}.",
                FitWarning,
                argument=("ExpectedThreshold", "held_out_", "FirstK", "LearnedThreshold"),
            )
        return self


def levels_of(gains) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the mean gain of each level; more than ten gains are binned."""
    levels = np.unique(gains) if len(gains) else np.zeros(1)
    lows = levels
    if len(levels) > _MOST_LEVELS:
        lows = np.unique(np.quantile(gains, np.arange(_MOST_LEVELS) / _MOST_LEVELS))
    bins = np.searchsorted(lows, gains, side="right") - 1
    count = np.maximum(np.bincount(bins, minlength=len(lows)), 1)
    return lows, np.bincount(bins, gains, len(lows)) / count


def _correlation(reached, chances, codes):
    """Estimate the correlation of the latent normal variables of two gains of a query, from 0 up.

    Each document's gain depends on a latent normal variable, a part of which is common to the
    query. To first order, the covariance of the events that two documents reach a level is the
    correlation times the normal densities at the levels. The estimate compares the variance between
    queries of the numbers of documents that reach the level with that of independent documents.
    """
    excess, most = 0.0, 0.0
    for hit, chance in zip(reached, chances):
        chance = np.clip(chance, 1e-6, 1.0 - 1e-6)
        spread = np.bincount(codes, hit - chance) ** 2 - np.bincount(codes, chance * (1 - chance))
        density = np.exp(-0.5 * ndtri(chance) ** 2) / np.sqrt(2.0 * np.pi)
        excess += spread.sum()
        most += (np.bincount(codes, density) ** 2 - np.bincount(codes, density**2)).sum()
    return float(np.clip(excess / most, 0.0, _MOST_CORRELATION)) if most > 0 else 0.0


class ByWorth(LearnedCut):
    """Rows are shown down to the prefix with the highest sum of predicted worths."""

    owner = "PerQueryThreshold"
    mean: float
    deviation: float
    range: np.ndarray
    bounds: tuple[float, float]
    regression: "WorthRegression"

    def learn_lists(self, gains, scores, index):
        """Learn scales and the regression."""
        parsed, scores = self.parsed, scores * self.unit
        finite = scores[np.isfinite(scores)]
        self.mean = float(finite.mean()) if len(finite) else 0.0
        deviation = float(finite.std()) if len(finite) else 0.0
        # Rounding can make the standard deviation of equal scores nonzero.
        self.deviation = deviation if deviation > mean_tolerance(finite) else 1.0
        features = self._features(scores, index)
        self.range = np.quantile(features, _RANGE, axis=0)
        features = np.clip(features, *self.range)
        if is_plain_ndcg_f(parsed):
            worth = normalised_gains(gains, index, parsed.k)
        else:
            worth = known_steps(parsed, gains, scores, index)
        learned = np.isfinite(scores) & ~np.isnan(gains)
        if parsed.k is not None:
            learned &= places_of_ties(scores, index) < 2 * parsed.k
        self.regression = WorthRegression.fitted(features[learned], worth[learned])
        self.bounds = -np.inf, np.inf
        if not is_plain_ndcg_f(parsed):
            # Predictions stay in this range: none is negative for a measure that never falls.
            found = worth[learned] if learned.any() else np.zeros(1)
            self.bounds = float(found.min()), float(found.max())
        return bool(learned.any())

    def keys(self, scores, more, index):
        """Return 1 for rows to show, else -1."""
        parsed = self.parsed
        scores = scores * self.unit
        features = self._features(scores, index).clip(*self.range)
        worth = self.regression.predict(features)
        if is_plain_ndcg_f(parsed):
            is_shown = best_prefix(worth, scores, index, parsed.k)
        else:
            is_counted = scores > -np.inf
            if parsed.k is not None:
                is_counted = is_counted & (places_of_ties(scores, index) < parsed.k)
            worth = np.where(is_counted, np.clip(worth, *self.bounds), 0.0)
            is_shown = best_prefix_of_steps(
                ExpectedSteps(
                    Ranking(scores, index),
                    np.zeros(index.n_queries),
                    np.maximum(worth, 0.0),
                    np.maximum(-worth, 0.0),
                )
            )
        return np.where(is_shown, 1.0, -1.0)

    def _features(self, scores, index):
        """Compute the features of each row, with its place if the measure needs it."""
        features = score_and_rest((scores - self.mean) / self.deviation, index)
        if is_plain_ndcg_f(self.parsed):
            return features
        return np.column_stack([features, np.log1p(places_of_ties(scores, index))])

    def state(self):
        """Return scales, bounds, regression and unit."""
        names = ("mean", "deviation", "bounds", "range", "unit")
        return {name: getattr(self, name) for name in names} | {"worth": self.regression._asdict()}

    @classmethod
    def restored(cls, state, parsed):
        """Make the cut from JSON."""
        worth = {name: array(each) for name, each in state["worth"].items()}
        found = super().restored({name: state[name] for name in state if name != "worth"}, parsed)
        found.parsed, found.range, found.bounds = parsed, array(found.range), array(found.bounds)
        found.regression = WorthRegression(**worth | {"constant": state["worth"]["constant"]})
        return found


class PerQueryThreshold(BaseThreshold):
    """A cut of each list by a regression of what each document adds to the measure.

    A small regression predicts by how much a document raises the measure, from its score and the
    other scores of its list. Each list is cut after the prefix with the highest sum of predictions.

    Parameters
    ----------
    measure : str or None, default=None
        Measure whose expected value is maximised: any name of the measure table with a value for
        each prefix of a list, such as "ndcg_f@10", "f", "dcg", "ap" or "rbp". None means "ndcg_f",
        and inside RankAndFilter its measure.
    max_shown, min_shown : int or None, default=None
        Largest and smallest number of shown documents of a query; lists shorter than `min_shown`
        are shown whole.
    keep_if : "better" or None, default=None
        As in :class:`TunedThreshold`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Attributes
    ----------
    cut_ : Cut
        The fitted cut. `cut_.regression` is the ridge regression on squares and products of the
        score, the mean of the other scores of the list, and the log size of the list.
    best_score_, held_out_, comparability_
        See :class:`TunedThreshold`.
    measure_ : str
        Name of the measure with its cut-off.

    See Also
    --------
    ExpectedThreshold : Learns the probabilities of gains.
    LearnedThreshold : Learns from more features of the list, and tunes the cut.

    Notes
    -----
    Given the scores, the expected nDCG_f of a list that shows its first n documents is, up to a
    constant, the sum over their places i of ``u_i / log2(i + 1)``. Here ``u`` is the expected value
    of ``gain / (I - W)``. With the exact u, no other cut of the given order is better. The
    regression has few parameters, because often only some hundred queries are available. For other
    measures it predicts the change of the measure by each document, and the log of the document's
    place is a fourth feature.

    The regression is fitted on the judged rows of the first 2 k places of each list, including all
    rows that are tied there. Rows with score -inf are ignored. The fit is deterministic.
    `predict` clips features to the range of the fit, the size of the list too, and does not warn of
    other sizes.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import PerQueryThreshold
    >>> _, y, groups, scores = make_rank_and_filter(400, random_state=0)
    >>> cut = PerQueryThreshold("ndcg_f@3").fit(scores, y, groups=groups)
    >>> cut.rank([0.8, -0.9, 0.3], groups=["a", "a", "a"])
    array([1, 0, 2])
    """

    def _cut_of(self, n_more):
        return ByWorth()


class WorthRegression(NamedTuple):
    """A ridge regression on squares and products of standardised features.

    It stores the parameters of four fitted scikit-learn estimators, whose own `predict` would take
    ten times as long for the twenty documents of a query.
    """

    mean: np.ndarray
    scale: np.ndarray
    constant: float
    linear: np.ndarray
    products: np.ndarray

    @classmethod
    def fitted(cls, features, worth):
        """Fit a ridge regression; it predicts 0 if there are no rows."""
        if not len(worth):
            features, worth = np.zeros((1, features.shape[1])), np.zeros(1)
        model = make_pipeline(
            StandardScaler(),
            PolynomialFeatures(2, include_bias=False),
            StandardScaler(),
            Ridge(10.0),
        )
        # For constant features StandardScaler may take the root of a negative number; it uses 1
        # then.
        with np.errstate(invalid="ignore"):
            model.fit(features, worth)
        first, powers, second, ridge = (step for _, step in model.steps)
        weights = ridge.coef_ / second.scale_
        constant = float(ridge.intercept_ - weights @ second.mean_)
        n = features.shape[1]
        products = np.zeros((n, n))
        for row, weight in zip(powers.powers_[n:], weights[n:]):
            products[tuple(np.repeat(np.arange(n), row))] = weight
        return cls(first.mean_, first.scale_, constant, weights[:n], products)

    def predict(self, features) -> np.ndarray:
        """Predict the expected contribution of each row."""
        z = (features - self.mean) / self.scale
        return self.constant + z @ self.linear + ((z @ self.products) * z).sum(axis=1)


def normalised_gains(gains, index, k):
    """Divide the gain of each row by I - W of its query; 0 where undefined or unjudged."""
    bounds = dcg_bounds(gains, groups=index, k=k)
    spread = (bounds["ideal_filtered"] - bounds["worst_filtered"]).to_numpy()
    scale = np.zeros(len(spread))
    np.divide(1.0, spread, out=scale, where=spread > 0)
    return np.nan_to_num(gains) * scale[index.codes()]


def score_and_rest(scores, index):
    """Compute the features of each document: its score, mean of the other scores, list size.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,), float64
        Standardised scores, -inf where hidden.
    index : GroupIndex
        The queries.

    Returns
    -------
    ndarray of shape (n_rows, 3), float64
        The score; the sum of the other scores divided by the list size (a mean shrunk towards 0);
        and the logarithm of the list size. Hidden rows are not counted, and have score 0.
    """
    codes = index.codes()
    shown = np.isfinite(scores)
    scores = np.where(shown, scores, 0.0)
    total = np.bincount(codes, weights=scores, minlength=index.n_queries)[codes]
    size = np.bincount(codes, weights=shown, minlength=index.n_queries)[codes]
    size = np.maximum(size, 1.0)
    features = np.empty((len(scores), 3))
    features[:, 0], features[:, 1], features[:, 2] = scores, (total - scores) / size, np.log(size)
    return features

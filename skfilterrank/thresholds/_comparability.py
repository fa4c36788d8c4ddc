"""Test whether equal scores mean the same in every list."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student
from sklearn.isotonic import isotonic_regression
from sklearn.linear_model import LogisticRegression

from skfilterrank._base.checks import check_level_scores
from skfilterrank._base.results import Result
from skfilterrank._base.sklearn_compat import limit_threads
from skfilterrank._base.words import counted
from skfilterrank._lists.lists import RankedLists
from skfilterrank.thresholds._judged_scores import JudgedScores, unit_of, warn_if_swapped

# Fewest queries for a standard error over queries.
_ENOUGH = 30
_CONFIDENCE = 0.9
# Below one half, scores less the mean of their list predict better than the scores themselves.
_HALF = 0.5
# Most queries that are used, as more would hardly change the interval.
_MOST = 10_000
# Quantiles of the scores that bound the bins of a curve.
_PLACES = np.arange(1, 100) / 100
# Inverse strength of a penalty that only keeps slopes finite.
_INVERSE_PENALTY = 1e4
# List means are equal within this share of the spread of the scores.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class ScoreComparability(Result):
    """Result of :func:`score_comparability`: whether scores compare between queries.

    Attributes
    ----------
    ratio : float
        How much a difference of scores counts between lists, over how much it counts within a
        list. 1: a score means the same in every list. 0: only the difference to the
        mean of its list counts. Above 1: lists differ more than their scores. NaN if it cannot be
        computed.
    lower, upper : float
        Interval of the ratio, with confidence 0.9; infinite where there is no ratio.
    spread : float
        Standard deviation of the queries' own curves around the shared one, in log odds of
        P(good). It contains all that the score does not know about a list; no decision uses it.
    compares : bool or None
        True if the interval is above one half, so that the score predicts better than the score
        less the mean of its list. False if it is below. None if it contains one half.
    sentence : str
        The finding in words.
    n_queries : int
        Number of queries with a judged and scored document, at most 10,000.
    """

    ratio: float
    lower: float
    upper: float
    spread: float
    compares: bool | None
    sentence: str
    n_queries: int

    def _summary(self):
        told = {True: "scores compare", False: "scores do not compare", None: "cannot tell"}
        return f"{told[self.compares]}, ratio {self.ratio:.2f}, {counted(self.n_queries, 'query')}"

    def _head(self):
        return self.sentence

    def _table(self):
        return None


def score_comparability(y_true, y_score, *, groups=None, gains=None) -> ScoreComparability:
    """Test whether scores compare between queries, so that one level can serve all lists.

    Lists may truly differ: a query whose documents are all good is no fault of its scores. So the
    test asks whether lists with higher scores have better documents, by as much as higher scores
    have within a list.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Label of each (query, document) row, NaN where unjudged. A document is good if its gain is
        above 0. A Series may carry the query ids in an index level named "qid".
    y_score : array-like of shape (n_rows,)
        Score of each row, higher is better, by a model that has not seen these labels; -inf where
        hidden. Only the order of all scores matters, except for the rule of equal means in Notes.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y_true`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains, as in :func:`skfilterrank.metrics.ndcg_f_score`.

    Returns
    -------
    ScoreComparability
        A result with the decision `compares` (True, False or None), `sentence`, `ratio` with
        `lower` and `upper`, and `spread`. `compares` is None with fewer than 30 queries.

    Raises
    ------
    ValueError
        If query ids are missing, arrays have different lengths, or a score is NaN or +inf.

    See Also
    --------
    ExpectedThreshold : Needs scores that compare between queries.
    LearnedThreshold : Learns from features of the list.

    Notes
    -----
    Let h be the log odds of a rising curve of the score, fitted for all queries of the other four
    of five folds. A logistic regression on the mean of h in the list, and on h less this mean, has
    the slopes b (between lists) and w (within), and `ratio` is b / w [1]_. Each list has the same
    weight. Standard errors are clustered by query, and the interval is Fieller's. If lists have
    nearly the same mean score, as after min-max scaling of each list, the interval is wide, and
    `compares` is often None, also with hundreds of queries. If they have exactly the same mean
    score, scores were normalised in each list, and do not compare. The mean of a list is that of
    all its scored rows, judged or not. All else is computed from judged rows.

    Scores of rows at -inf are not known, so means are those of the other rows. Scores that were
    normalised before rows were hidden can thus seem to compare: give the scores of all rows.

    References
    ----------
    .. [1] Mundlak, "On the Pooling of Time Series and Cross Section Data", Econometrica 46(1),
       1978, https://doi.org/10.2307/1913646.

    Examples
    --------
    >>> import numpy as np
    >>> from skfilterrank.thresholds import score_comparability
    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat(np.arange(200), 10)
    >>> log_odds = rng.normal(size=200)[groups] + rng.normal(size=2000)
    >>> y = (rng.random(2000) < 1 / (1 + np.exp(-log_odds))).astype(int)
    >>> score_comparability(y, log_odds, groups=groups)
    <ScoreComparability: scores compare, ratio ..., 200 queries>
    >>> shifted = log_odds + rng.normal(scale=3, size=200)[groups]
    >>> print(score_comparability(y, shifted, groups=groups))
    Scores do not compare between queries: a difference of scores counts ... times ...
    """
    lists = RankedLists(y_true, y_score, groups=groups, gains=gains)
    scores = check_level_scores(y_score).astype(np.float64, copy=False)
    warn_if_swapped(lists.gains, scores)
    no_columns = np.empty((len(scores), 0))
    judged = JudgedScores(
        lists.replace(scores=scores), np.arange(lists.index.n_queries), no_columns, []
    )
    return comparability_of(judged.by_content())


# For as few terms as these, threads of BLAS take far more time than they save.
@limit_threads(limits=1, user_api="blas")
def comparability_of(judged: JudgedScores) -> ScoreComparability:
    """Test the scores of lists that are numbered by content."""
    rows = (judged.scores > -np.inf) & (judged.codes < _MOST)
    known = rows & ~np.isnan(judged.gains)
    # Unjudged rows count in the means of lists with judged rows.
    rows &= (np.bincount(judged.codes, known) > 0)[judged.codes]
    good, scores = (judged.gains[rows] > 0).astype(np.float64), judged.scores[rows]
    queries, codes = np.unique(judged.codes[rows], return_inverse=True)
    known = known[rows]
    edges = scores[known]
    edges = np.unique(np.quantile(edges, _PLACES, method="lower")) if len(edges) else edges
    bins = np.searchsorted(edges, scores, side="right")
    # Sums must not depend on the order of the rows of a list.
    order = np.argsort(2 * (codes * (len(edges) + 1) + bins) + good, kind="stable")
    good, scores, codes = good[order], scores[order], codes[order]
    bins, known = bins[order], known[order]
    all_sizes, n = np.bincount(codes), len(queries)
    found = {"ratio": np.nan, "lower": -np.inf, "upper": np.inf, "spread": np.nan}

    def result(compares, why):
        return ScoreComparability(**found, compares=compares, sentence=why, n_queries=n)

    cannot = "It cannot be told whether scores compare between queries"
    units = judged.clusters[queries]
    if (n_units := len(np.unique(units))) < _ENOUGH:
        needed = "judged queries" if judged.unit is None else "clusters of judged queries"
        return result(None, f"{cannot}: that needs {_ENOUGH} {needed}, got {n_units}: judge more.")
    of_list, n_folds = judged.deal_folds()
    odds, levels = _held_out_curve(bins, good, of_list[queries][codes], n_folds, known)
    deviations = scores * unit_of(scores)
    deviations -= deviations.mean()
    means, list_odds = (np.bincount(codes, each) / all_sizes for each in (deviations, odds))
    odds, levels, good, codes = odds[known], levels[known], good[known], codes[known]
    sizes = np.bincount(codes)
    if not 0 < good.mean() < 1 or np.ptp(odds) == 0:
        return result(None, f"{cannot}: no score tells good documents from others.")
    chance = 1.0 / (1.0 + np.exp(-odds - levels))
    share, noise = np.bincount(codes, good - chance), np.bincount(codes, chance * (1 - chance))
    excess = np.sum((share**2 - noise) / sizes**2) / np.sum((noise / sizes) ** 2)
    found["spread"] = float(np.sqrt(max(excess, 0.0)))
    if np.ptp(means) <= _ROUNDING * deviations.std():
        return result(
            False,
            "Scores do not compare between queries: every list has the same mean score, as if "
            "scores were normalised within each list.",
        )
    terms = np.column_stack([odds - list_odds[codes], list_odds[codes]])
    if np.abs(terms[:, 0]).max() <= _ROUNDING * np.abs(odds).max():
        return result(None, f"{cannot}: all documents of a list have one score.")
    found["ratio"], found["lower"], found["upper"] = _ratio(
        terms, good, 1.0 / sizes[codes], units[codes]
    )
    if np.isnan(found["ratio"]):
        return result(None, f"{cannot}: scores say too little of the documents of a list.")
    compares, why = None, cannot
    if found["upper"] < _HALF:
        compares, why = False, "Scores do not compare between queries"
    elif found["lower"] > _HALF:
        compares, why = True, "Scores compare between queries"
        why += ", but lists differ more than they say" * (found["lower"] > 1)
    return result(
        compares,
        f"{why}: a difference of scores counts {found['ratio']:.2f} times as much between lists as "
        f"within a list ({100 * _CONFIDENCE:.0f} % interval {found['lower']:.2f} to "
        f"{found['upper']:.2f}, {n} queries).",
    )


def _held_out_curve(bins, good, fold, n_folds, known):
    """Return log odds of a rising curve of other folds, of mean 0, and the level of each row.

    The curve is fitted on the known rows.
    """
    n_bins = int(bins.max()) + 1
    cells, shape = (bins * n_folds + fold)[known], (n_bins, n_folds)
    count, hits = (
        np.bincount(cells, each, n_bins * n_folds).reshape(shape) for each in (None, good[known])
    )
    of_bin = count.sum(axis=1)
    count, hits = (each.sum(axis=1, keepdims=True) - each for each in (count, hits))
    rate = (hits.sum(axis=0) + 1.0) / (count.sum(axis=0) + 2.0)
    # One more row of the mean rate keeps log odds finite.
    count = count + 1.0
    share = (hits + rate) / count
    rising = [isotonic_regression(y, sample_weight=n) for y, n in zip(share.T, count.T)]
    odds = np.log(rising / (1.0 - np.array(rising))).T
    # A fold with many good documents leaves few for its curve, so that levels are equalised.
    levels = np.average(odds, axis=0, weights=of_bin)
    return (odds - levels)[bins, fold], levels[fold]


def _ratio(terms, good, weights, units):
    """Return the slope between lists over that within lists, and its interval."""
    model = LogisticRegression(C=_INVERSE_PENALTY, solver="newton-cholesky")
    model.fit(terms, good, sample_weight=weights)
    chance = model.predict_proba(terms)[:, 1]
    terms = np.column_stack([np.ones(len(terms)), terms])
    bread = np.linalg.pinv((terms * (weights * chance * (1 - chance))[:, None]).T @ terms)
    pulls = np.stack([np.bincount(units, weights * (good - chance) * each) for each in terms.T])
    n = len(np.unique(units))
    covariance = (bread @ pulls @ pulls.T @ bread)[1:, 1:] * n / (n - 3)
    within, between = model.coef_[0]
    z = student.ppf(0.5 + _CONFIDENCE / 2, n - 3)
    # Fieller's interval: ratios r at which between - r * within does not differ from 0.
    (square, product), (_, constant) = np.outer(model.coef_[0], model.coef_[0]) - z**2 * covariance
    root = product**2 - square * constant
    if square <= 0 or within <= 0 or root < 0:
        return np.nan, -np.inf, np.inf
    low, high = (product - np.sqrt(root)) / square, (product + np.sqrt(root)) / square
    if not low <= between / within <= high:  # a slope of nearly 0 within lists, rounded
        return np.nan, -np.inf, np.inf
    return float(between / within), float(low), float(high)

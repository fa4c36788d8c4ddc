"""Parameters chosen by preferences between rankings, query by query, and not by a mean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from tqdm.auto import tqdm

from skfilterrank._lists.arrays import label_array
from skfilterrank._lists.checks import (
    check_choice,
    check_count,
    check_flag,
    check_groups,
    check_random_state,
    check_share,
    count_rows,
)
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.preferences import PreferenceMatrix, preference_matrix
from skfilterrank._lists.results import Result, counted, interval_text
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._out_of_fold import (
    check_each_held_out_once,
    fit_folds,
    make_splits,
)
from skfilterrank.ranking._training_rows import learns_labels, prepare_rows

# Resamples of queries drawn at a time.
_CELLS = 2**22


@dataclass(frozen=True, eq=False, repr=False)
class PreferenceSearch(Result):
    """Candidates and how often each is preferred: the result of `search_by_preferences`.

    Attributes
    ----------
    candidates : tuple of dict
        Parameters of each candidate, in the order in which they were given.
    preferences : PreferenceMatrix
        Ranks of the candidates, named by their numbers, for each query.
    win_rate : ndarray of shape (n_candidates,), dtype float64
        Share of the comparisons with another candidate on a query that each one wins, halves for
        equal ones.
    low, high : ndarray of shape (n_candidates,), dtype float64
        Ends of the interval of the win rate over resampled queries; NaN without resamples.
    share_best : ndarray of shape (n_candidates,), dtype float64
        Share of the resamples in which the candidate has the highest win rate, the first one of
        equals. What is far from 1 at the best candidate is a choice that other queries may not
        confirm.
    best_estimator : estimator or None
        The best candidate, fitted on all rows; None with ``refit=False``.
    confidence : float
        Confidence of the intervals.
    """

    candidates: tuple[dict, ...]
    preferences: PreferenceMatrix
    win_rate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    share_best: np.ndarray
    best_estimator: object | None
    confidence: float

    @property
    def best_index(self) -> int:
        """Number of the candidate with the highest win rate, the first one of equals."""
        return int(self.win_rate.argmax())

    @property
    def best_params(self) -> dict:
        """Parameters of that candidate."""
        return self.candidates[self.best_index]

    def to_frame(self) -> pd.DataFrame:
        """A row for each candidate, the best first: its number, win rate and parameters."""
        figures = {name: getattr(self, name) for name in ("win_rate", "low", "high", "share_best")}
        index = pd.RangeIndex(len(self.candidates), name="candidate")
        table = pd.DataFrame({**figures, "params": list(self.candidates)}, index=index)
        return table.sort_values("win_rate", ascending=False, kind="stable")

    def _summary(self):
        n_queries = np.count_nonzero(self.preferences.n_relevant)
        return (
            f"{counted(len(self.candidates), 'candidate')} by lexi{self.preferences.kind} over "
            f"{counted(n_queries, 'query', 'queries')}"
        )

    def _head(self):
        return f"{self._summary()}, win rates with {interval_text(self.confidence)}s"

    def _table(self):
        return self.to_frame().rename_axis(index=None)


def search_by_preferences(
    estimator,
    candidates: Mapping | Iterable,
    X,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    kind: str = "recall",
    gains: Gains = None,
    ties: str | ArrayLike = "worst",
    cv=None,
    refit: bool = True,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state=0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> PreferenceSearch:
    """Choose parameters by exact lexicographic preferences between out-of-fold rankings.

    What a grid search does with the mean of a measure: each candidate ranks every query by a model
    that has not seen the query. The candidates' rankings of a query are then compared with each
    other, and the candidate that wins most comparisons is chosen. No query counts more than
    another because values differ more there, and no difference is lost in rounding.

    Parameters
    ----------
    estimator : estimator
        A classifier, regressor, ranker or Pipeline, as :class:`RankAndFilter` takes it.
    candidates : dict, list of dicts or ParameterSampler
        A dict {parameter: values} or a list of such dicts stands for all combinations, as in
        GridSearchCV; anything else that is iterable holds the parameters of one candidate after
        the other, such as scikit-learn's ParameterSampler.
    X : array-like of shape (n_rows, n_features)
        Features of each (query, document) row.
    y : array-like of shape (n_rows,)
        Labels, NaN where unjudged. A Series may carry the query ids in an index level named "qid".
    groups : array-like of shape (n_rows,), default=None
        Query id of each row, of any type. None looks for an index level "qid" on `y`, then `X`.
    kind : {"recall", "precision"}, default="recall"
        Whether the last relevant items decide first, or the first ones.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`skfilterrank.metrics.ndcg_f_score`.
    ties : {"worst", "best", "stable"} or array-like of shape (n_rows,), default="worst"
        Order of rows of equal scores, as in :func:`skfilterrank.metrics.preference_matrix`.
    cv : int, splitter, iterable or None, default=None
        Folds by query, as in :class:`RankAndFilter`; each row is to be held out once. None means
        five.
    refit : bool, default=True
        Whether the best candidate is fitted on all rows.
    confidence : float, default=0.95
        Confidence of the interval of each win rate.
    n_resamples : int, default=1000
        Number of times that queries are resampled for it; 0 for no intervals.
    random_state : int, RandomState or None, default=0
        Resamples.
    n_jobs : int or None, default=None
        Number of processes for the folds of a candidate; the result is the same.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    PreferenceSearch
        Win rates, what other queries might have chosen, and the best candidate.

    Raises
    ------
    ValueError
        If there are fewer than two candidates, no query has relevant documents, a row is held out
        by no fold or by several, or the data or a parameter are not as described.

    See Also
    --------
    skfilterrank.comparison.order_systems : Other orders from the same preferences, such as MC4:
        ``order_systems(SystemScores.from_preferences(found.preferences), method="mc4")``.
    skfilterrank.metrics.make_ranking_scorer : The mean of a measure in scikit-learn's searches.

    Notes
    -----
    Preferences are those of equation 11 of [1]_. Queries without relevant documents are left out.
    The intervals are those of the percentiles over queries drawn with replacement (bootstrap); the
    rankings are not made again, so that they say nothing of other training rows.

    References
    ----------
    .. [1] Diaz and Mitra, "Recall as a Measure of Ranking Robustness", 2023.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import search_by_preferences
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=60, random_state=0)
    >>> found = search_by_preferences(Ridge(), {"alpha": [1, 1e6]}, X, y, groups=groups)
    >>> found.best_params
    {'alpha': 1}
    >>> found.best_estimator.predict(X).shape == y.shape
    True
    """
    wanted = _check_candidates(candidates)
    check_flag(refit, "refit")
    confidence = check_share(confidence, "confidence")
    n_resamples = check_count(n_resamples, "n_resamples", least=0)
    check_choice(kind, "kind", ("recall", "precision"))
    index = check_groups(groups, y, X, n_rows=count_rows(X), carrier="y as a pandas Series")
    if isinstance(estimator, type) or not (
        hasattr(estimator, "fit") and hasattr(estimator, "set_params")
    ):
        raise InputError(
            f"estimator must be a scikit-learn estimator or Pipeline, got {brief(estimator)}."
        )
    try:
        models = [clone(estimator).set_params(**params) for params in wanted]
    except ValueError as error:
        raise InputError(f"candidates do not fit the estimator: {error}") from error
    splits, scores = None, {}
    for number, model in enumerate(tqdm(models, disable=not verbose, leave=False)):
        data = prepare_rows(model, X, y, index, gains=gains)
        if splits is None:
            splits = make_splits(cv, label_array(y), data.groups, single=False)
            check_each_held_out_once(cv, splits, len(data.groups))
        score_gains = gains if learns_labels(model, "auto", prefit=False) else None
        folds = fit_folds(data, model, splits, score_gains, n_jobs=n_jobs)
        scores[number] = np.empty(len(data.groups))
        for (_, test), fold in zip(splits, folds):
            scores[number][test] = fold.scores
    preferences = preference_matrix(
        y, scores, groups=index.query_ids[index.codes()], kind=kind, gains=gains, ties=ties
    )
    points = _points(preferences)
    n_comparisons = 2 * (len(models) - 1) * len(points)
    totals = _resampled_totals(points, n_resamples, random_state)
    tail = (1 - confidence) / 2
    low, high = np.quantile(totals / n_comparisons, [tail, 1 - tail], axis=0)
    win_rate = points.sum(axis=0) / n_comparisons
    best = models[int(win_rate.argmax())]
    return PreferenceSearch(
        candidates=wanted,
        preferences=preferences,
        win_rate=win_rate,
        low=low,
        high=high,
        share_best=_share_of_each(totals),
        best_estimator=prepare_rows(best, X, y, index, gains=gains).fit(best) if refit else None,
        confidence=confidence,
    )


def _check_candidates(candidates):
    """Parameters of each candidate."""
    is_grid = isinstance(candidates, Mapping)
    try:
        if is_grid or (isinstance(candidates, list) and _has_lists(candidates)):
            candidates = ParameterGrid(candidates)
        found = tuple(dict(params) for params in candidates)
    except (TypeError, ValueError) as error:
        raise InputError(
            "candidates must be a dict {parameter: list of values}, a list of such dicts, or an "
            f"iterable of dicts of parameters, got {brief(candidates)}."
        ) from error
    if len(found) < 2:
        raise InputError(
            f"candidates has {counted(len(found), 'combination')}: give two or more to choose from."
        )
    return found


def _has_lists(candidates):
    """Whether dicts hold values to combine."""
    return any(
        isinstance(values, list | tuple | np.ndarray)
        for params in candidates
        for values in dict(params).values()
    )


def _points(preferences):
    """Twice the number of candidates that each one beats, for each query with something relevant.

    These are whole numbers, whose sums are exact: equal candidates stay equal.
    """
    ranks = preferences.ranks.to_numpy()[preferences.n_relevant > 0]
    if not len(ranks):
        raise InputError("y has no query with a relevant document, which gain > 0 makes one.")
    return (2 * (ranks.shape[1] - ranks)).round()


def _resampled_totals(points, n_resamples, random_state):
    """Points of each candidate over queries drawn with replacement; one row of NaN without."""
    n_queries, n_candidates = points.shape
    if not n_resamples:
        return np.full((1, n_candidates), np.nan)
    rng = check_random_state(random_state)
    totals = np.empty((n_resamples, n_candidates))
    step = max(1, _CELLS // n_queries)
    for start in range(0, n_resamples, step):
        n_drawn = min(step, n_resamples - start)
        counts = rng.multinomial(n_queries, np.full(n_queries, 1 / n_queries), size=n_drawn)
        totals[start : start + n_drawn] = counts @ points
    return totals


def _share_of_each(totals):
    """Share of the resamples in which each candidate has the highest total."""
    if np.isnan(totals).any():
        return totals[0]
    return np.bincount(totals.argmax(axis=1), minlength=totals.shape[1]) / len(totals)

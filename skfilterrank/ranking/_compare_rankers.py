"""Comparison of several RankAndFilter models with baselines, and the baseline FilterOnly."""

import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags, indexable

from skfilterrank._estimators.ranker_mixin import RankerMixin, all_or_nothing
from skfilterrank._estimators.wrapping import WrappingRanker, takes_unjudged
from skfilterrank._lists.checks import check_flag, check_random_state, count_rows, label_array
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.measure import ParsedMeasure
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import check_groups
from skfilterrank._lists.results import Result, counted
from skfilterrank._lists.sklearn_compat import final_step, safe_indexing
from skfilterrank._lists.words import printable, progress_bar
from skfilterrank.exceptions import DataWarning, FitWarning, InputError, brief
from skfilterrank.ranking._fit_with_groups import cut_rows, fit_clone
from skfilterrank.ranking._make_ranker import share_features
from skfilterrank.ranking._out_of_fold import (
    check_each_held_out_once,
    is_prefit,
    make_splits,
)
from skfilterrank.ranking._rank_and_filter import RankAndFilter, make_threshold
from skfilterrank.ranking._training_rows import count_unjudged
from skfilterrank.thresholds import NOT_SHOWN_TO_PAY, STILL_UNJUDGED, number_clusters

_RANK_ONLY = "rank-only ({})"
_SEEDS = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False, repr=False)
class RankerComparison(Result):
    """Scores of the systems that :func:`compare_rankers` compares.

    Attributes
    ----------
    scores : dict of str to ndarray of shape (n_rows,), dtype float64
        Scores of every system for :func:`skfilterrank.metrics.rank_filter_report`, -inf where
        hidden. Keys are the names of the models, "rank-only (name)", "filter-only (name)" and
        "filter-all".
    cv_scores : dict of str to float
        Each model's cross-validated score on the training rows, higher is better. The dict is empty
        if there is only one model and its threshold is fixed.
    best : str
        The model with the highest of `cv_scores`; the first of equals.
    models : dict of str to RankAndFilter
        The models that were fitted on all training rows.
    """

    scores: dict[str, np.ndarray]
    cv_scores: dict[str, float]
    best: str
    models: dict[str, RankAndFilter]

    @property
    def own_baselines(self) -> dict[str, str]:
        """Each model's rank-only baseline, as a parameter of `rank_filter_report`."""
        own = {name: _RANK_ONLY.format(name) for name in self.scores}
        return {name: ranking for name, ranking in own.items() if ranking in self.scores}

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each model (index "model"), with columns "cv_score" and "is_best"."""
        names = pd.Index(self.cv_scores or [self.best], name="model")
        scores = [self.cv_scores.get(name, np.nan) for name in names]
        return pd.DataFrame({"cv_score": scores, "is_best": names == self.best}, index=names)

    def _summary(self):
        n_rows = len(self.scores[self.best])
        return (
            f"{self.best} is best of {counted(max(len(self.cv_scores), 1), 'model')}, scores of "
            f"{counted(n_rows, 'row')} by {counted(len(self.scores), 'system')}"
        )


def compare_rankers(
    models: Mapping[str, RankAndFilter],
    X,
    y,
    *,
    groups=None,
    cv=None,
    X_test=None,
    groups_test=None,
    refit: bool = True,
    judged_by=None,
    clusters=None,
    verbose: int = 0,
) -> RankerComparison:
    """Fit models that rank and filter, and score held-out rows with them and with baselines.

    Parameters
    ----------
    models : dict of str to RankAndFilter
        Models to compare; they are cloned. All must tune the same measure.
    X : array-like, sparse matrix, DataFrame or list of length n_rows
        Training rows, in a form that the models accept.
    y : array-like of shape (n_rows,)
        Labels. A Series may carry the query ids in an index level named "qid".
    groups : array-like of shape (n_rows,), default=None
        Query id of each row. None looks for an index level "qid" on `y`, then on `X`.
    cv : int, splitter, iterable or None, default=None
        How the rows of X are held out, each once. None: 5 folds by query. With `X_test` it is only
        used to choose among models with fixed thresholds. It is independent of the `cv` with which
        each model tunes its threshold.
    X_test : like X, default=None
        Rows to score. None scores the rows of X out of fold.
    groups_test : array-like of shape (n_test_rows,), default=None
        Query id of each test row. None looks for an index level "qid" on `X_test`.
    refit : bool, default=True
        Without `X_test`, whether to fit the best model on all rows at the end.
    judged_by : array-like of shape (n_rows,), default=None
        Source of each label, as in :meth:`RankAndFilter.fit`, for the models that are fitted on all
        rows.
    clusters : array-like of shape (n_rows,), default=None
        Cluster of each row, such as the user of the query, as in :meth:`RankAndFilter.fit`. If `cv`
        is a number, whole clusters are held out.
    verbose : int, default=0
        1 shows the progress over models and folds, 2 also over the folds inside each model.

    Returns
    -------
    RankerComparison
        The scores of the held-out rows, and the best model.

    Raises
    ------
    ValueError
        If there are no models, if one is not a RankAndFilter or tunes another measure, if the
        splits do not hold out each row once, or for the reasons of :meth:`RankAndFilter.fit`.

    See Also
    --------
    skfilterrank.metrics.rank_filter_report : The table of these scores.

    Notes
    -----
    The best model is chosen only on training rows: with `X_test` by ``best_score_``, otherwise by
    out-of-fold scores of the rows of X. Models with a fixed threshold have no ``best_score_``; they
    are cross-validated for the choice.

    The baselines are those of section 5.4 of [1]_: the model's ranking without its filter, the
    documents it shows in random order, and the empty list. With "filter-only", all shown documents
    have equal scores, so measures that average over ties give the exact mean over all random
    orders. Models share their text features.

    References
    ----------
    .. [1] Carmel et al., "IR Evaluation and Learning in the Presence of Forbidden Documents",
       SIGIR 2022.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.metrics import rank_filter_report
    >>> from skfilterrank.ranking import RankAndFilter, compare_rankers, make_ranker
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=300, random_state=0)
    >>> models = {
    ...     loss: RankAndFilter(make_ranker(loss), measure="ndcg_f@3") for loss in ("bce", "mse")
    ... }
    >>> comparison = compare_rankers(models, X, y, groups=groups, cv=2)
    >>> list(comparison.scores)
    ['bce', 'mse', 'rank-only (bce)', 'rank-only (mse)', ..., 'filter-all']
    >>> report = rank_filter_report(
    ...     y,
    ...     comparison.scores,
    ...     groups=groups,
    ...     baseline=f"rank-only ({comparison.best})",
    ...     own_baselines=comparison.own_baselines,
    ... )
    """
    _check_models(models)
    check_flag(refit, "refit")
    labels = label_array(y)
    index = check_groups(groups, y, X, n_rows=len(labels))
    codes = index.codes()
    if count_rows(X) != len(codes):
        raise InputError(f"X has {count_rows(X)} rows but y has {len(codes)} labels.")
    units = codes if clusters is None else number_clusters(clusters, index)[codes]
    # Models get the ids, not the numbers: the index of X may hold ids, too.
    ids = index.query_ids[codes]
    train, whole = (X, labels, ids, clusters), (X, labels, ids, judged_by, clusters)
    if X_test is None:
        splits = make_splits(cv, labels, units, single=False)
        check_each_held_out_once(cv, splits, len(codes))
        with _progress(len(models) * len(splits) + bool(refit), verbose) as bar:
            kept, ranked = _out_of_fold(models, train, splits, bar, verbose)
            cv_scores = {name: _value(models[name], y, kept[name], ids) for name in models}
            best = max(cv_scores, key=cv_scores.__getitem__)
            fitted = {best: _fit(models, best, whole, bar, verbose)} if refit else {}
    else:
        n_test = count_rows(X_test, "X_test")
        ids_test = check_groups(
            groups_test,
            X_test,
            n_rows=n_test,
            name="groups_test",
            names=("X_test",),
            carrier="X_test as a DataFrame",
        ).row_ids()
        fixed = {name: model for name, model in models.items() if not _is_tuned(model)}
        if len(models) == 1:
            fixed = {}
        splits = make_splits(cv, labels, units, single=False) if fixed else []
        if fixed:
            check_each_held_out_once(cv, splits, len(codes))
        with _progress(len(models) + len(fixed) * len(splits), verbose) as bar:
            fitted, kept, ranked = {}, {}, {}
            with share_features():
                for name in models:
                    fitted[name] = _fit(models, name, whole, bar, verbose)
                    kept[name], ranked[name] = _predict(fitted[name], X_test, ids_test)
            held_out, _ = _out_of_fold(fixed, train, splits, bar, verbose)
        cv_scores = {
            name: _value(model, y, held_out[name], ids) if name in held_out else model.best_score_
            for name, model in fitted.items()
            if name in held_out or _is_tuned(model)
        }
        best = max(cv_scores, key=cv_scores.__getitem__, default=next(iter(models)))
    scores = kept | _baselines(kept, ranked)
    return RankerComparison(scores, cv_scores, best, fitted)


def _is_tuned(model):
    """Tell whether fitting cross-validates the model."""
    return not make_threshold(model.threshold)._is_fixed


def _check_models(models):
    """Raise if models cannot be compared, such as with different measures."""
    if not isinstance(models, Mapping) or not models:
        raise InputError(
            f"models must be a dict {{name: RankAndFilter}} of at least one, got {brief(models)}."
        )
    for name, model in models.items():
        if not isinstance(model, RankAndFilter):
            raise InputError(
                f"models must be RankAndFilter, but {brief(name)} is a {type(model).__name__}: "
                "wrap it as RankAndFilter(estimator)."
            )
        if is_prefit(model.cv):
            raise InputError(
                f"model {brief(name)} has cv='prefit', but a comparison fits its models: pass "
                "another cv, or score the fitted models yourself."
            )
    measures = {name: _measure_name(model) for name, model in models.items()}
    if len(set(measures.values())) > 1:
        raise InputError(
            "the models must be tuned for the same measure to be compared; got "
            f"{', '.join(f'{name}: {measure}' for name, measure in measures.items())}."
        )


def _measure_name(model):
    """Return the name of a model's measure, with its cut-off."""
    return parse_measure(model.measure).text


def _progress(n_fits, verbose):
    """Make a progress bar over all fits."""
    # Terminals get a moving bar, log files an occasional line.
    interval = 0.1 if sys.stderr.isatty() else 10
    return progress_bar(total=n_fits, unit="model", disable=not verbose, mininterval=interval)


def _fit(models, name, rows, bar, verbose, part="all rows"):
    """Fit a clone of a model, and advance the bar."""
    X, y, groups, judged_by, clusters = rows
    model = clone(models[name])
    bar.set_description(f"{printable(name)}, {part}")
    if verbose > 1:
        model.set_params(verbose=1)
    model.fit(X, y, groups=groups, judged_by=judged_by, clusters=clusters)
    model.set_params(verbose=models[name].verbose)
    bar.update()
    return model


def _predict(model, X, ids):
    """Score rows with and without the filter."""
    kept = model.predict(X, groups=ids)
    return kept, model.decision_function(X, groups=ids)


def _out_of_fold(models, rows, splits, bar, verbose):
    """Compute out-of-fold scores of each row with clones of each model."""
    X, y, ids, clusters = rows
    kept = {name: np.empty(len(ids)) for name in models}
    ranked = {name: np.empty(len(ids)) for name in models}
    for number, (train, test) in enumerate(splits, 1):
        own = None if clusters is None else safe_indexing(clusters, train)
        part = (safe_indexing(X, train), safe_indexing(y, train), ids[train], None, own)
        X_test = safe_indexing(X, test)
        # A separate context for each fold, so that only one fold's features are in memory.
        with share_features():
            for name in models:
                with warnings.catch_warnings():
                    # This warning concerns a fold; the scores of all folds are compared later.
                    warnings.filterwarnings("ignore", NOT_SHOWN_TO_PAY, FitWarning)
                    # The models fitted on all rows give this warning.
                    warnings.filterwarnings("ignore", f".*{STILL_UNJUDGED}", DataWarning)
                    model = _fit(models, name, part, bar, verbose, f"fold {number}/{len(splits)}")
                kept[name][test], ranked[name][test] = _predict(model, X_test, ids[test])
    return kept, ranked


def _value(model, y, scores, ids):
    """Compute the measure of a model, negated if lower is better."""
    return parse_measure(model.measure).utility(y, scores, groups=ids, gains=model.gains)


def _baselines(kept, ranked):
    """Make the scores of the baselines: rank-only, filter-only and empty list."""
    (n_rows,) = next(iter(kept.values())).shape
    out = {_RANK_ONLY.format(name): scores for name, scores in ranked.items()}
    for name, scores in kept.items():
        out[f"filter-only ({name})"] = np.where(np.isneginf(scores), -np.inf, 0.0)
    return out | {"filter-all": np.full(n_rows, -np.inf)}


class FilterOnly(WrappingRanker, BaseEstimator):
    """A baseline that hides what a model hides, and shows the rest in random order.

    The difference to the model's value shows what its ranking contributes.

    Parameters
    ----------
    estimator : estimator
        RankAndFilter, or any estimator whose `predict` gives -inf where it hides a row. It is
        cloned and fitted; wrap it in :class:`sklearn.frozen.FrozenEstimator` to use one that is
        fitted already.
    random_state : int, RandomState instance or None, default=None
        Seed of the random order. With an int, every fit has the same order.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    seed_ : int
        Seed of the random scores, drawn from `random_state` by `fit`.
    n_unjudged_ : int
        Number of rows with a NaN label, which are not used for fitting.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, where it has some.

    See Also
    --------
    RankAndFilter : With ``threshold=None`` it ranks only.

    Notes
    -----
    The "filter-only" baseline of section 5.4 of [1]_. `predict` draws one uniform score from [0, 1)
    for each row of X, shown or hidden, with a generator seeded by `seed_`. So the same rows in the
    same order always get the same scores, and another order of the rows gives another shuffle. To
    get the mean over all shuffles without randomness, give all shown rows equal scores and use a
    measure that averages over ties.

    References
    ----------
    .. [1] D. Carmel, N. Cohen, A. Ingber, E. Kravi. "IR Evaluation and Learning in the Presence
       of Forbidden Documents". SIGIR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import FilterOnly, RankAndFilter
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=200, random_state=0)
    >>> model = RankAndFilter(LogisticRegression(), measure="ndcg_f@3")
    >>> shuffled = FilterOnly(model, random_state=0).fit(X, y, groups=groups)
    >>> kept = np.isfinite(shuffled.predict(X))
    >>> bool((kept == np.isfinite(shuffled.estimator_.predict(X))).all())
    True
    """

    seed_: int

    def __init__(self, estimator: Any, *, random_state: Any = None) -> None:
        self.estimator = estimator
        self.random_state = random_state

    @property
    def measure(self) -> str | Callable:  # type: ignore[override]  # the estimator decides
        """Measure of `score`: the estimator's measure, or nDCG_f."""
        return self._ranker_inside().measure

    @property
    def gains(self) -> Gains:  # type: ignore[override]  # the estimator decides
        """Gains of labels in `score`: the estimator's gains."""
        return self._ranker_inside().gains

    def _ranker_inside(self):
        """Return the inner ranker, or a RankerMixin with defaults."""
        inner = final_step(self.estimator)
        return inner if isinstance(inner, RankerMixin) else RankerMixin

    def _score_measure(self) -> ParsedMeasure:
        """Return the measure of the estimator, with the cut-off it was tuned for."""
        inner = final_step(self._fitted_inner())
        if isinstance(inner, RankerMixin):
            return inner._score_measure()
        return super()._score_measure()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.target_tags = inner.target_tags
        tags.no_validation = inner.no_validation
        return tags

    @all_or_nothing
    def fit(self, X, y, groups=None, **fit_params) -> Self:
        """Fit the estimator.

        Parameters
        ----------
        {X}
        y : array-like of shape (n_rows,)
            Labels in a form that the estimator accepts. Rows with a NaN label are left out, with a
            warning, unless the estimator takes them.
        {groups}
        {fit_params}

        Returns
        -------
        self : FilterOnly
            The fitted baseline.
        """
        self.seed_ = int(check_random_state(self.random_state).randint(_SEEDS))
        fit_params = self._inside_parameters(fit_params)
        queries = self._find_groups(X, y, groups)
        if queries is not None:
            check_groups(queries, n_rows=count_rows(X))
        judged = ~np.asarray(pd.isna(y))
        # Labels that are lists are refused by the estimator itself.
        self.n_unjudged_ = int(np.count_nonzero(~judged)) if judged.ndim == 1 else 0
        if self.n_unjudged_ and not takes_unjudged(self.estimator):
            count_unjudged(judged)
            (X,) = indexable(X)
            X, y, queries, fit_params = cut_rows(np.flatnonzero(judged), X, y, queries, fit_params)
        self.estimator_ = fit_clone(self.estimator, X, y, queries, fit_params)
        return self

    def predict(self, X, groups=None) -> np.ndarray:
        """Draw a random score for each row that the estimator shows.

        Parameters
        ----------
        {X}
        {groups}

        Returns
        -------
        ndarray of shape (n_rows,), dtype float64
            Scores in [0, 1), -inf where the estimator hides the row.
        """
        scores = self._scores_inside(X, groups)
        drawn = np.random.RandomState(self.seed_).uniform(size=len(scores))
        return np.where(np.isneginf(scores), -np.inf, drawn)

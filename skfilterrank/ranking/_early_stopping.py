"""Measures as early-stopping metrics for LightGBM, XGBoost and CatBoost."""

from threading import get_ident
from typing import TYPE_CHECKING

import numpy as np

from skfilterrank._lists.checks import check_count, count_rows
from skfilterrank._lists.gains import Gains, as_gains, check_gains
from skfilterrank._lists.lazy_names import import_optional
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank._lists.queries import check_groups, find_groups
from skfilterrank.exceptions import InputError

if TYPE_CHECKING:
    from xgboost.callback import EarlyStopping

# Limit on consecutive calls without the held-out set: CatBoost measures only the training rows.
_MOST_OTHERS = 1


def lightgbm_metric(measure: str, *, groups=None, gains: Gains = None) -> "LightGBMMetric":
    """Make a LightGBM metric from a measure, for early stopping and logging.

    Parameters
    ----------
    measure : str
        A name with optional cut-off and options, such as "ndcg_f@10"; see
        :func:`skfilterrank.metrics.get_measure_names`.
    groups : array-like of shape (n_rows,), default=None
        Query id of each row of the held-out set, in the order of its rows, for a classifier or a
        regressor. None uses the queries of LightGBM's data set, which rankers have.
    gains : None, "exp2", dict or callable, default=None
        Map from labels of LightGBM's data set to gains. Inside a :class:`QueryRanker` or a
        :class:`RankAndFilter`, which give a ranker grades instead of labels, None means the gains
        from which these grades were made.

    Returns
    -------
    callable
        ``eval_metric=`` of a LightGBM estimator's `fit`, and ``feval=`` of ``lightgbm.train``. It
        returns the name, the value, and whether higher is better.

    Raises
    ------
    ValueError
        For an unknown measure or gain. When called: if there are no queries, or `groups` has
        another length than the measured set.

    Notes
    -----
    The value is that of the measure's function for the labels and scores of the set. Undefined
    queries count as 0, and ties are handled by the measure's default rule. LightGBM stores labels
    as float32. With ``metric="None"`` LightGBM computes no other metric, and stops by this one.

    Examples
    --------
    >>> from lightgbm import LGBMRanker, early_stopping
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import QueryRanker, lightgbm_metric
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=200, random_state=0)
    >>> learn = groups < 150
    >>> ranker = QueryRanker(LGBMRanker(n_estimators=300, metric="None", verbose=-1)).fit(
    ...     X[learn], y[learn], groups=groups[learn],
    ...     eval_set=[(X[~learn], y[~learn])], eval_groups=[groups[~learn]],
    ...     eval_metric=lightgbm_metric("ndcg_f@10"),
    ...     callbacks=[early_stopping(10, verbose=False)],
    ... )
    >>> ranker.estimator_.best_iteration_ < 300
    True
    """
    return LightGBMMetric(measure, groups, gains)


def catboost_metric(measure: str, y, *, groups=None, gains: Gains = None) -> "CatBoostMetric":
    """Make a CatBoost metric from a measure, for early stopping and logging.

    CatBoost does not pass query ids to metrics, so they are given here.

    Parameters
    ----------
    measure : str
        A name of the measure table, such as "ndcg_f@10".
    y : array-like of shape (n_rows,)
        Labels of the held-out set, NaN where unjudged.
    groups : array-like of shape (n_rows,), default=None
        Their query ids. None looks for an index level "qid" on `y`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains.

    Returns
    -------
    object
        ``eval_metric=`` of a CatBoost estimator; the set itself is the `eval_set` of its `fit`.

    Raises
    ------
    ValueError
        For an unknown measure, query ids that are missing, or a label without a gain.

    Notes
    -----
    The held-out rows are recognised by their labels, in the given order or sorted by query, as
    :class:`QueryRanker` does; in the latter case labels may be grades of the gains. Training rows
    are not measured: their value is 0. If no held-out set is the one given here, training stops
    with an error. In CatBoost's log the measure is called "CatBoostMetric".

    Examples
    --------
    >>> from catboost import CatBoostRanker
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import QueryRanker, catboost_metric
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=200, random_state=0)
    >>> learn = groups < 150
    >>> ranker = CatBoostRanker(
    ...     n_estimators=300, early_stopping_rounds=10, verbose=0, allow_writing_files=False,
    ...     eval_metric=catboost_metric("ndcg_f@10", y[~learn], groups=groups[~learn]),
    ... )
    >>> ranker = QueryRanker(ranker).fit(
    ...     X[learn], y[learn], groups=groups[learn],
    ...     eval_set=[(X[~learn], y[~learn])], eval_groups=[groups[~learn]],
    ... )
    >>> ranker.estimator_.tree_count_ < 300
    True
    """
    return CatBoostMetric(measure, y, groups, gains)


def xgboost_early_stopping(
    measure: str, X, y, *, early_stopping_rounds: int, groups=None, gains: Gains = None
) -> "EarlyStopping":
    """Make an XGBoost callback that stops by a measure of held-out queries.

    XGBoost's ranker calls a custom metric for each query, uses 1 for queries with one document, and
    weights the mean by query size. A callback avoids this.

    Parameters
    ----------
    measure : str
        A name of the measure table, such as "ndcg_f@10".
    X : array-like, sparse matrix, DataFrame or DMatrix of shape (n_rows, n_features)
        The held-out rows, in any order, with the features that XGBoost gets: transformed by the
        earlier steps of a Pipeline.
    y : array-like of shape (n_rows,)
        Their labels, NaN where unjudged.
    early_stopping_rounds : int
        Stop when the measure has not improved for this many rounds.
    groups : array-like of shape (n_rows,), default=None
        Their query ids. None looks for an index level "qid" on `y`.
    gains : None, "exp2", dict or callable, default=None
        Map from labels to gains.

    Returns
    -------
    xgboost.callback.EarlyStopping
        For ``callbacks=`` of an XGBoost estimator or of ``xgboost.train``. It keeps the trees up to
        the best round. Its name in the evaluation results is "held_out".

    Raises
    ------
    ValueError
        For an unknown measure, query ids that are missing, arrays of different lengths, or a label
        without a gain.
    ImportError
        Without xgboost: ``pip install 'skfilterrank[xgboost]'``.

    Examples
    --------
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import QueryRanker, xgboost_early_stopping
    >>> from xgboost import XGBRanker
    >>> X, y, groups, _ = make_rank_and_filter(n_queries=200, random_state=0)
    >>> learn = groups < 150
    >>> stopping = xgboost_early_stopping(
    ...     "ndcg_f@10", X[~learn], y[~learn], groups=groups[~learn], early_stopping_rounds=10
    ... )
    >>> ranker = QueryRanker(XGBRanker(n_estimators=300, callbacks=[stopping]))
    >>> ranker = ranker.fit(X[learn], y[learn], groups=groups[learn], verbose=False)
    >>> ranker.estimator_.get_booster().num_boosted_rounds() < 300
    True
    """
    xgboost = import_optional("xgboost", "xgboost_early_stopping")
    from skfilterrank.ranking._xgboost_stopping import MeasureStopping

    rounds = check_count(early_stopping_rounds, "early_stopping_rounds")
    held_out = _HeldOut(measure, y, find_groups(groups, y, X), gains)
    n_rows = X.num_row() if isinstance(X, xgboost.DMatrix) else count_rows(X)
    if n_rows != len(held_out.y):
        raise InputError(f"y has {len(held_out.y)} labels but X has {n_rows} rows.")
    return MeasureStopping(held_out, X, rounds)


class _Metric:
    """A measure, and the gains of labels."""

    def __init__(self, measure, gains):
        self.parsed = parse_measure(measure)
        check_gains(gains)
        self.gains = gains

    @property
    def greater_is_better(self) -> bool:
        """True where higher values of the measure are better."""
        return self.parsed.measure.greater_is_better

    def value(self, y, scores, groups) -> float:
        """Compute the measure with its defaults."""
        value = self.parsed.utility(y, scores, groups=groups, gains=self.gains)
        return value if self.greater_is_better else 0.0 - value


class LightGBMMetric(_Metric):
    """Metric with LightGBM's signatures: (labels, scores, weight, group) or (scores, data set)."""

    def __init__(self, measure, groups, gains):
        super().__init__(measure, gains)
        self.groups = groups

    def of_targets(self, encoder) -> "LightGBMMetric":
        """Return the metric for gains that were encoded as targets; raise for classes."""
        if self.gains is not None or encoder.kind in ("gain", "label"):
            return self
        if encoder.kind == "grade":
            gains = dict(enumerate(encoder.levels.tolist()))
            return LightGBMMetric(self.parsed, self.groups, gains)
        if set(encoder.levels) <= {0, 1}:
            return self
        raise InputError(
            "lightgbm_metric gets LightGBM's targets, which for a classifier are 1 for a gain "
            "above 0 and 0 otherwise: pass gains=, such as gains={0: -1, 1: 1}, or use "
            "a ranker or a regressor."
        )

    def __call__(self, labels, scores, weight=None, group=None):
        """Return name, value, and whether higher is better."""
        if hasattr(scores, "get_label"):
            labels, scores, group = scores.get_label(), labels, scores.get_group()
        groups = self.groups
        if groups is None and group is not None:
            groups = np.repeat(np.arange(len(group)), group)
        if groups is None:
            raise InputError(
                "groups is missing: LightGBM's data set holds no queries. Give lightgbm_metric "
                "groups=, the query id of each row of the held-out set, or use a ranker."
            )
        return self.parsed.text, self.value(labels, scores, groups), self.greater_is_better


class _HeldOut(_Metric):
    """A measure of given rows."""

    def __init__(self, measure, y, groups, gains):
        super().__init__(measure, None)
        self.y = as_gains(y, gains, name="y")
        self.index = check_groups(
            groups, y, n_rows=len(self.y), names=("y",), carrier="y as a pandas Series"
        )
        self.labels = np.asarray(y)


class CatBoostMetric(_HeldOut):
    """A measure as a CatBoost metric object."""

    # Prevents CatBoost from compiling the methods by numba, and its warning if that fails.
    no_jit = True

    def __init__(self, measure, y, groups, gains):
        super().__init__(measure, y, groups, gains)
        # One count for each thread, since folds may be fitted in parallel.
        self._n_others = {}

    def __deepcopy__(self, memo):
        # CatBoost copies its parameters, but scikit-learn's clone requires the same objects.
        return self

    def is_max_optimal(self):
        """Tell CatBoost if higher is better."""
        return self.greater_is_better

    def get_final_error(self, error, weight):
        """Return the value itself."""
        return error

    def evaluate(self, approxes, target, weight):
        """Return the value, and the weight 1; the value of other rows is 0."""
        rows = self._find_rows(np.asarray(target, dtype=np.float32))
        thread = get_ident()
        self._n_others[thread] = 0 if rows is not None else self._n_others.get(thread, 0) + 1
        if self._n_others[thread] > _MOST_OTHERS:
            raise InputError(
                "eval_set is not the set that catboost_metric was given: expected the "
                f"{len(self.y)} rows of its y, in their order or by query."
            )
        if rows is None:
            return 0.0, 1.0
        scores = np.asarray(approxes[0], dtype=np.float64)
        return self.value(self.y[rows], scores, self.index.codes()[rows]), 1.0

    def _find_rows(self, target):
        """Find held-out rows by their labels: return their order in CatBoost's data, or None."""
        if len(target) != len(self.y):
            return None
        grades = np.searchsorted(np.unique(self.y), self.y)
        for rows in (np.arange(len(target)), self.index.row_order()):
            for known in (self.labels, self.y, grades):
                if known.dtype.kind in "biuf" and np.array_equal(
                    target, known[rows].astype(np.float32), equal_nan=True
                ):
                    return rows
        return None

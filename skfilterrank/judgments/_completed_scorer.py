"""A scorer that completes the labels of held-out rows."""

import pandas as pd
from sklearn.utils import indexable

from skfilterrank._estimators.group_request import RequestsGroups
from skfilterrank._lists.checks import find_groups
from skfilterrank._lists.gains import Gains
from skfilterrank._lists.query_weights import QueryWeight
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError
from skfilterrank.judgments._completed_labels import (
    check_predictor,
    complete_labels,
    reads_texts_alone,
)
from skfilterrank.metrics import make_ranking_scorer


class CompletedScorer(RequestsGroups):
    """A scorer ``scorer(estimator, X, y, groups=None)``; made by :func:`make_completed_scorer`."""

    def __init__(self, scorer, predictor):
        self._scorer = scorer
        self._predictor = predictor
        self._has_ap = any(
            each.measure.name == "ap" for each in getattr(scorer, "_measures", {}).values()
        )

    @property
    def __name__(self):
        """The name that scikit-learn's displays label their axes by."""
        return self._scorer.__name__

    def __repr__(self):
        return f"make_completed_scorer({self._scorer.arguments}, predictor={self._predictor!r})"

    def __call__(
        self, estimator, X, y, groups=None, *, query_weight: QueryWeight = None
    ) -> float | dict[str, float]:
        """Complete the labels of the rows, then score the estimator on them; higher is better."""
        group_ids = find_groups(groups, y, X)
        (X,) = indexable(X)
        if pd.isna(y).all():
            raise InputError(
                f"y has no judged row in the held-out fold: all {len(y)} labels are NaN, and there "
                "is nothing to predict them from. Take fewer folds, or judge more."
            )
        labels, predictor = complete_labels(self._predictor, X, y, group_ids)
        if predictor is not None and self._has_ap and reads_texts_alone(predictor, X):
            warn_user(
                "AP by labels completed from texts orders systems worse than AP without unjudged "
                "documents, where the judged ones are a random sample or few. Take "
                "make_ranking_scorer(..., unjudged='drop'), or a measure of the top such as "
                "'ndcg_f@10'.",
                DataWarning,
            )
        return self._scorer(estimator, X, labels, groups=group_ids, query_weight=query_weight)


def make_completed_scorer(
    measure, /, *, predictor=None, k: int | None = None, gains: Gains = None, **params
) -> CompletedScorer:
    """Make a scorer that completes the labels of held-out rows before it measures.

    Parameters
    ----------
    measure : str, callable or list of these
        As for :func:`skfilterrank.metrics.make_ranking_scorer`, like the following.
    predictor : LabelPredictor or None, default=None
        Predicts the labels; cloned at every call. None means ``LabelPredictor()``.
    k : int or None, default=None
        Cut-off, where the name does not give it.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain.
    **params
        Further parameters of the measure.

    Returns
    -------
    CompletedScorer
        Callable ``scorer(estimator, X, y, groups=None, *, query_weight=None)`` that returns a
        float, or a dict of floats for a list of measures.

    Raises
    ------
    ValueError
        As :func:`skfilterrank.metrics.make_ranking_scorer`. When called: if rows are unjudged and
        topics are missing, or if no row is judged.

    Warns
    -----
    DataWarning
        When called: if labels are completed from texts alone and a measure is AP, which ordered
        systems worse by such labels than by condensed lists.

    See Also
    --------
    CompletedLabels : Completes the labels of the training folds.

    Notes
    -----
    The missing labels of the held-out rows are predicted from what is judged among these rows, and
    from nothing else: neither the estimator that is scored nor any row of the training folds has
    a say, so that a model cannot be its own judge. Rows that stay without a label, in topics the
    predictor has no model for, are unjudged to the measure. Where every row is judged, the value
    is that of the plain scorer, with a warning if some labels are -1.

    When to use it: where rows were judged because they stood high in some list (pooling, MAXREP),
    and for measures of the top of the list. On 33 sets of 10 or 20 systems with 5 to 20 % pooled,
    completed labels order systems by nDCG@10 better than condensed lists (``unjudged="drop"``) in
    23 and worse in 7, by AP in 16 and 16. Where the judged rows are a random sample they are better
    by nDCG@10 in 19 and worse in 14, better by AP in 10 and worse in 23, and values of both are
    mostly further off (``benchmarks/results/completing_few_systems.md``). Compare on a collection
    of your own by :func:`skfilterrank.metaevaluation.judging_curve`. Values from completed labels
    order models; they are no values that people's labels would give.

    With the predictor's `n_per_query`, labels of held-out rows that its selector would not have
    asked for are hidden and predicted, too.

    The labels are completed anew for each candidate of a grid, in the same way.

    Examples
    --------
    >>> from skfilterrank.judgments import LabelPredictor, make_completed_scorer
    >>> make_completed_scorer("ap@10", predictor=LabelPredictor(n_terms=10_000))
    make_completed_scorer('ap@10', predictor=LabelPredictor(n_terms=10000))
    """
    scorer = make_ranking_scorer(measure, k=k, gains=gains, **params)
    check_predictor(predictor)
    return CompletedScorer(scorer, predictor)

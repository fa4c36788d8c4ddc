"""Scorers that know queries, for scikit-learn's model selection."""

import inspect
from collections.abc import Callable

from sklearn.utils.metadata_routing import MetadataRequest

from skfilterrank._core.checks import find_groups
from skfilterrank._core.gains import Gains
from skfilterrank._core.measure import Measure
from skfilterrank._core.measure_names import parse_measure
from skfilterrank._response import document_scores
from skfilterrank.exceptions import InputError, brief

# Arguments of measures that come with each call.
_NOT_FIXED = {"y_true", "y_score", "groups", "average"}


class RankingScorer:
    """A scorer ``scorer(estimator, X, y, groups=None)``; made by :func:`make_ranking_scorer`.

    With scikit-learn's metadata routing it asks for `groups` by default. Without, it finds the
    query ids in the index level "qid" of `y` (then of `X`).
    """

    def __init__(self, name: str, measure: Measure, params: dict):
        self.name = name
        self._measure = measure
        self._params = params

    @property
    def arguments(self) -> str:
        """What it was made of, as it would be written."""
        params = "".join(f", {key}={value!r}" for key, value in self._params.items() if key != "k")
        return f"{self.name!r}{params}"

    def __repr__(self):
        return f"make_ranking_scorer({self.arguments})"

    def __call__(self, estimator, X, y, groups=None) -> float:
        """Score the estimator's ranking and filtering of X; higher is better."""
        query_ids = find_groups(groups, y, X)
        scores = document_scores(estimator, X, groups=query_ids, gains=self._params.get("gains"))
        value = self._measure.function(y, scores, groups=query_ids, **self._params)
        return value if self._measure.greater_is_better else -value

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell scikit-learn that `groups` is wanted for scoring."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="groups", alias=True)
        return request


def make_ranking_scorer(
    measure: str | Callable, /, *, k: int | None = None, gains: Gains = None, **params
) -> RankingScorer:
    """Make a scorer for GridSearchCV and its kin that respects queries.

    Parameters
    ----------
    measure : str or callable
        A name of the measure table with an optional cut-off, such as "ndcg_f@3" (see
        :func:`get_measure_names`), or one of the functions of this module, such as
        :func:`ndcg_f_score`.
    k : int or None, default=None
        Cut-off, where the name does not give it.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.
    **params
        Further parameters of the measure: `ties`, `unjudged`, `undefined`, and those that only it
        has. The name may give the latter too, as in "rbp(persistence=0.95)".

    Returns
    -------
    RankingScorer
        Callable ``scorer(estimator, X, y, groups=None)`` that returns a float, higher is better:
        measures for which lower is better, such as "forbidden@3", are negated. Classifiers are
        scored by their probability that the gain is above 0, other estimators by `predict`.

    Raises
    ------
    ValueError
        For an unknown measure, a parameter it does not have, or two different cut-offs. When
        called: if query ids are missing, and as the measure.

    Notes
    -----
    Query ids reach the scorer in one of two ways. `y` is a Series whose index has a level named
    "qid": scikit-learn keeps it through every split. Or metadata routing is on and `groups` is
    passed to ``fit`` or ``cross_validate``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from skfilterrank.metrics import make_ranking_scorer
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(60, 3)), np.repeat(np.arange(20), 3)
    >>> y = pd.Series(np.sign(X[:, 0]).round(), index=pd.Index(qid, name="qid"))
    >>> search = GridSearchCV(
    ...     Ridge(), {"alpha": [0.1, 10.0]}, scoring=make_ranking_scorer("ndcg_f@3"),
    ...     cv=GroupKFold(4),
    ... ).fit(X, y, groups=qid)
    >>> bool(0 < search.best_score_ < 1)
    True
    """
    if callable(measure) and not hasattr(measure, "measure"):
        raise InputError(
            f"{brief(measure)} is not one of skfilterrank's measures: give one, its name, or use "
            "scikit-learn's make_scorer for a function of your own."
        )
    entry, cutoff, options = parse_measure(measure).with_cutoff(k)
    if cutoff is not None:
        params["k"] = cutoff
    if gains is not None:
        params["gains"] = gains
    for name, value in options.items():
        if params.setdefault(name, value) != value:
            raise InputError(
                f"{name}={brief(params[name])} contradicts {brief(measure)}: give it in one place."
            )
    known = set(inspect.signature(entry.function).parameters) - _NOT_FIXED - set(entry.columns)
    unknown = sorted(set(params) - known)
    if unknown:
        raise InputError(
            f"{brief(entry.name)} has no parameter {', '.join(unknown)}: it takes "
            f"{', '.join(sorted(known))}."
        )
    entry.check_parameters(params)
    name = entry.name if cutoff is None else f"{entry.name}@{cutoff}"
    return RankingScorer(name, entry, params)

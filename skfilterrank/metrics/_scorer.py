"""Scorers with query ids for scikit-learn's model selection."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, overload

from skfilterrank._base.sklearn_compat import RequestsGroups, fitted_end
from skfilterrank._base.words import warn_user
from skfilterrank._estimators.ranker_mixin import RankerMixin
from skfilterrank._estimators.responses import document_scores
from skfilterrank._lists.cut_queries import warn_of_cut_queries
from skfilterrank._lists.gains import Gains, as_gains, labels_in_one_column
from skfilterrank._lists.measure import Measure, ParsedMeasure, warn_of_forbidden, warn_of_unjudged
from skfilterrank._lists.measure_names import parse_measure, parse_measures
from skfilterrank._lists.queries import find_groups
from skfilterrank._lists.scoring import QueryWeight, given_weights
from skfilterrank.exceptions import DataWarning, InputError, brief, brief_list
from skfilterrank.metrics._evaluate import means_of, values_of_queries

# Arguments that are given in each call of the scorer, and not when it is made.
_NOT_FIXED = {"y_true", "y_score", "groups"}


class RankingScorer(RequestsGroups):
    """A scorer ``scorer(estimator, X, y, groups=None)``; made by :func:`make_ranking_scorer`.

    With scikit-learn's metadata routing it asks for `groups` and `query_weight` by default.
    Without, it finds the query ids in the index level "qid" of `y` (then of `X`).
    """

    def __init__(self, measures: dict[str, ParsedMeasure], params: dict):
        self._measures = measures
        self._params = params

    @property
    def arguments(self) -> str:
        """Arguments of `make_ranking_scorer`, as text."""
        names = [measure.text for measure in self._measures.values()]
        params = "".join(f", {key}={value!r}" for key, value in self._params.items())
        return f"{self._named(names)!r}{params}"

    @property
    def __name__(self):
        """Name for the axis labels of scikit-learn's displays."""
        return ", ".join(self._keys())

    def __repr__(self):
        return f"make_ranking_scorer({self.arguments})"

    def __eq__(self, other):
        if type(self) is not type(other) or self._measures != other._measures:
            return False
        try:
            return self._params == other._params
        except ValueError:  # comparing dicts of arrays raises
            return False

    def __hash__(self):
        return hash(tuple(self._measures))

    @property
    def _score_func(self):
        # scikit-learn's TunedThresholdClassifierCV reads attributes of scorers; other code uses
        # hasattr.
        raise AttributeError(
            f"{self!r} measures the ranking of whole queries by scores, and not the classes of "
            "rows that TunedThresholdClassifierCV predicts at each threshold: use "
            "RankAndFilter(classifier, measure=...), which tunes the threshold by a measure of "
            "queries."
        )

    def __call__(self, estimator, X, y, groups=None, *, query_weight: QueryWeight = None) -> float:
        """Score the estimator's ranking and filtering of X; higher is better."""
        (value,) = self._values(estimator, X, y, groups, query_weight)
        return value

    def _keys(self):
        """Return the names of the measures, with "neg_" in front where lower is better."""
        measures = self._measures.items()
        return [text if each.measure.sign > 0 else f"neg_{text}" for text, each in measures]

    @staticmethod
    def _named(names):
        """Return the measures as they were given."""
        (name,) = names
        return name

    def _values(self, estimator, X, y, groups, query_weight) -> list[float]:
        """Compute each measure of one prediction."""
        params = dict(self._params)
        fixed = params.pop("query_weight", None)
        if query_weight is None:
            query_weight = fixed
        elif fixed is not None:
            raise InputError(
                "query_weight is given to the scorer's call, and the scorer was made with one: "
                "leave one of the two out."
            )
        query_ids = find_groups(groups, y, X)
        shared = {
            "gains": params.pop("gains", None),
            "ties": params.pop("ties", None),
            "unjudged": params.pop("unjudged", "zero"),
            "undefined": params.pop("undefined", 0.0),
        }
        measures = self._measures
        if (like := params.pop("like", None)) is not None:
            measures = {text: each.like(like) for text, each in measures.items()}
        scores = document_scores(estimator, X, groups=query_ids, gains=shared["gains"])
        if isinstance(ranker := fitted_end(estimator), RankerMixin):
            scores = ranker._without_filtered(scores)
        labels, shared["gains"] = labels_in_one_column(y, shared["gains"])
        warn_of_forbidden(measures.values(), labels, shared["gains"])
        if shared["gains"] is None:
            _warn_of_lost_gains(measures.values(), labels, ranker)
        values, index, n_unjudged = values_of_queries(
            measures, labels, scores, groups=query_ids, options=params, **shared
        )
        warn_of_unjudged(measures.values(), n_unjudged, index.n_queries, shared["undefined"])
        warn_of_cut_queries(ranker, index, is_judged=True)
        means = means_of(measures.values(), values, given_weights(query_weight, index))
        return [each.higher_better(mean) for each, mean in zip(measures.values(), means)]


class RankingScorers(RankingScorer, Mapping):
    """Several measures of one prediction, as a dict; made by :func:`make_ranking_scorer`.

    It is called like a :class:`RankingScorer`, and scikit-learn accepts it where a scorer may
    return a dict. It is also a mapping: ``scorers["ap"]`` is the scorer of one measure, and
    ``{"r2": "r2", **scorers}`` is a dict of scorers for scikit-learn, in which each measure
    predicts separately.
    """

    def __call__(  # type: ignore[override]  # a dict in the place of a number
        self, estimator, X, y, groups=None, *, query_weight: QueryWeight = None
    ) -> dict[str, float]:
        """Score the estimator's ranking and filtering of X; higher is better."""
        values = self._values(estimator, X, y, groups, query_weight)
        return dict(zip(self, values, strict=True))

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the measures, with "neg_" in front where lower is better."""
        return iter(self._keys())

    def __len__(self):
        return len(self._measures)

    def __getitem__(self, name: str) -> RankingScorer:
        """Return the scorer of one measure."""
        text = dict(zip(self, self._measures, strict=True))[name]
        measure = self._measures[text]
        known = _parameters(measure.measure)
        params = {key: value for key, value in self._params.items() if key in known}
        return RankingScorer({text: measure}, params)

    @staticmethod
    def _named(names):
        return names


@overload
def make_ranking_scorer(
    measure: str | Callable,
    /,
    *,
    k: int | None = ...,
    gains: Gains = ...,
    like: str | None = ...,
    **params,
) -> RankingScorer: ...
@overload
def make_ranking_scorer(
    measure: Iterable[str | Callable],
    /,
    *,
    k: int | None = ...,
    gains: Gains = ...,
    like: str | None = ...,
    **params,
) -> RankingScorers: ...
def make_ranking_scorer(
    measure: str | Callable | Iterable[str | Callable],
    /,
    *,
    k: int | None = None,
    gains: Gains = None,
    like: str | None = None,
    **params,
) -> RankingScorer:
    """Make a scorer with query ids for GridSearchCV and similar tools.

    Parameters
    ----------
    measure : str, callable or list of these
        A name of the measure table with an optional cut-off, such as "ndcg_f@3" (see
        :func:`get_measure_names`), or one of the functions of this module, such as
        :func:`ndcg_f_score`. A list of them is measured on one prediction.
    k : int or None, default=None
        Cut-off, where the names do not give it.
    gains : None, "exp2", dict or callable, default=None
        How a label becomes a gain, as in :func:`ndcg_f_score`.
    like : None, "lightgbm", "xgboost", "catboost", "scikit-learn" or "trec_eval9", default=None
        Measure as that library does, so that the number is the one it reports: sets `gains`, `ties`
        and `undefined`, and how "ap" is normalised. LightGBM and XGBoost know "ndcg" and "ap",
        CatBoost also "recall" and "rr", scikit-learn "ndcg" and "dcg". "trec_eval9" sets the recall
        levels of "iprec" and "eleven_points", and leaves other measures as they are. See
        ``docs/other_libraries.md``.
    **params
        Further parameters of the measure: `ties`, `unjudged`, `undefined`, `query_weight` by query
        id, and options of single measures, which go to each measure in the list that has them. A
        name may set options too, as in "rbp(persistence=0.95)".

    Returns
    -------
    RankingScorer or RankingScorers
        Callable ``scorer(estimator, X, y, groups=None, *, query_weight=None)``. For one measure it
        returns a float, higher is better: measures for which lower is better, such as
        "forbidden@3", are negated. For a list it returns a dict of such floats by the names in the
        list, and a negated measure has a name such as "neg_forbidden@3". Classifiers are scored by
        their probability that the gain is above 0, other estimators by `predict`.

    Raises
    ------
    ValueError
        For an unknown measure, one that is named twice, a parameter that no measure has, or two
        different cut-offs. The scorer raises it if query ids are missing, and for the errors of the
        measures.

    Notes
    -----
    The names of a list are those that ``cross_validate`` shows, as in "test_ndcg@10", and that a
    search is told to refit by, as in ``refit="ndcg@10"``. A list predicts once for all measures. A
    dict of single scorers predicts once for each: scikit-learn shares predictions among scorers of
    its own ``make_scorer`` only.

    Query ids reach the scorer in one of two ways. `y` is a Series whose index has a level named
    "qid": scikit-learn keeps it through every split. Or metadata routing is on and `groups` is
    passed to ``fit`` or ``cross_validate``.

    `y` may have two columns, relevance and harm, as in :class:`skfilterrank.ranking.RankAndFilter`
    with a `filter_estimator`: the gain is -harm where harm is above 0, else that of the relevance.

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
    if callable(measure) and not isinstance(measure, Measure | ParsedMeasure):
        raise InputError(
            f"{brief(measure)} is not one of skfilterrank's measures: give one, or its name. "
            "register_measure makes one of a function of a single query. For a function of all "
            "rows use scikit-learn's make_scorer, and y as a Series with the query ids as its "
            "index: the function finds them by groups=y_true.index."
        )
    are_several = isinstance(measure, Iterable) and not isinstance(measure, str | ParsedMeasure)
    given: Any = measure
    wanted = parse_measures(given if are_several else [parse_measure(given).text])
    if k is not None:
        wanted = parse_measures([each.with_cutoff(k).text for each in wanted.values()])
    if gains is not None:
        params["gains"] = gains
    _check_parameters(wanted, params)
    if like is not None:
        for each in wanted.values():
            each.like(like, params)
        params["like"] = like
    return (RankingScorers if are_several else RankingScorer)(wanted, params)


def _warn_of_lost_gains(measures, labels, estimator):
    """Warn if an estimator's `gains` forbid a label, and a scorer without gains forbids none."""
    gains = getattr(estimator, "gains", None)
    names = [each.text for each in measures if each.measure.about in ("forbidden", "both")]
    if not names or not isinstance(gains, Mapping):
        return
    gained = as_gains(labels)
    forbidden = [label for label, gain in gains.items() if gain < 0 and (gained == label).any()]
    if forbidden and not (gained < 0).any():
        warn_user(
            f"the scorer has no gains, so that nothing is forbidden for {brief_list(names)}, and "
            f"{type(estimator).__name__} forbids the label {brief(forbidden[0])}: give both the "
            "same, as by make_ranking_scorer(..., gains=gains).",
            DataWarning,
        )


def _check_parameters(wanted, params):
    """Check that each parameter belongs to a measure, is valid and contradicts no name."""
    owners = {
        name: [each for each in wanted.values() if name in _parameters(each.measure)]
        for name in params
    }
    unknown = sorted(name for name in params if not owners[name])
    if unknown:
        known = sorted(set().union(*(_parameters(each.measure) for each in wanted.values())))
        names = ", ".join(brief(each.measure.name) for each in wanted.values())
        has, it_takes = ("has", "it takes") if len(wanted) == 1 else ("have", "they take")
        raise InputError(
            f"{names} {has} no parameter {', '.join(unknown)}: {it_takes} {', '.join(known)}."
        )
    for name, value in params.items():
        written = [
            each for each in owners[name] if name in each.options and each.options[name] != value
        ]
        if len(written) == len(owners[name]):
            raise InputError(
                f"{name}={brief(value)} contradicts {brief(written[0].text)}: give it in one place."
            )
    for each in wanted.values():
        each.measure.check_parameters({**params, **each.options})


def _parameters(entry):
    """List the parameters of a measure that a scorer may fix."""
    return set(inspect.signature(entry).parameters) - _NOT_FIXED - set(entry.columns)

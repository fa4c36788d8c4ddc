"""Filters of scores as JSON that a person can read."""

import math

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

import skfilterrank
from skfilterrank._files.states import gains_from_json, gains_to_json, read_state, write_state
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._filtering.abstention import Confidence
from skfilterrank.ranking._filtering.certificate import RiskCertificate, RiskPromise
from skfilterrank.ranking._filtering.parameters import CUTS, make_list_filter
from skfilterrank.ranking._filtering.rank_and_filter import RankAndFilter
from skfilterrank.ranking._filtering.segments import SegmentedFilter
from skfilterrank.ranking._fitting.score_column import PASSTHROUGH, ScoreColumn

_FORMAT = "skfilterrank filter 2"


def write_filter(path, model: RankAndFilter | SegmentedFilter) -> None:
    """Save a fitted filter of scores as JSON, with its threshold and what is promised of it.

    Parameters
    ----------
    path : str, path-like or open file
        Where to; an older file is replaced once the new one is whole.
    model : RankAndFilter or SegmentedFilter
        Fitted, around "passthrough": what learns from features is saved by
        :func:`skfilterrank.io.save_model`.

    Raises
    ------
    ValueError
        If the model is another one, its gains are a function, or a segment is named neither by
        text nor by a number.
    NotFittedError
        If the model is not fitted.
    OSError
        If the file cannot be written.

    See Also
    --------
    read_filter : Reads it.

    Examples
    --------
    >>> import os, tempfile
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.ranking import RankAndFilter, read_filter, write_filter
    >>> _, y, groups, scores = make_rank_and_filter(200, random_state=0)
    >>> model = RankAndFilter("passthrough", k=3).fit(scores, y, groups=groups)
    >>> path = os.path.join(tempfile.mkdtemp(), "filter.json")
    >>> write_filter(path, model)
    >>> bool((read_filter(path).predict(scores) == model.predict(scores)).all())
    True
    """
    if isinstance(model, SegmentedFilter):
        check_is_fitted(model)
        write_state(path, _FORMAT, _segments_to_json(model))
    else:
        write_state(path, _FORMAT, _filter_to_json(model))


def _segments_to_json(model):
    """The filters of a SegmentedFilter."""
    for name in (model._segment, *model.filters_):
        if not isinstance(name, str | bool | int | float | None):
            raise InputError(
                f"model names a segment by {brief(name)}, which JSON cannot hold: use texts."
            )
    filters = [[name, _filter_to_json(each)] for name, each in model.filters_.items()]
    return {"segment": model._segment, "min_queries": model.min_queries, "filters": filters}


def _filter_to_json(model):
    """What a filter of scores does, and what is promised of it."""
    if not isinstance(model, RankAndFilter):
        raise InputError(f"model must be a RankAndFilter around 'passthrough', got {brief(model)}.")
    check_is_fitted(model)
    if not isinstance(model.estimator_, ScoreColumn):
        raise InputError(
            f"model learned from features with {type(model.estimator_).__name__}, which JSON "
            "cannot hold: save it with skfilterrank.io.save_model, or fit "
            "RankAndFilter('passthrough') on its scores."
        )
    state = {
        "library": skfilterrank.__version__,
        "measure": model.tuned_measure_,
        "k": model._k,
        "gains": gains_to_json(model.gains, "model"),
        "threshold": _to_json(model.threshold_),
        "best_score": getattr(model, "best_score_", None),
        "held_out_score": getattr(model, "held_out_score_", None),
    }
    if hasattr(model, "query_threshold_"):
        state["lists"] = _lists_to_json(model)
    if hasattr(model, "list_sizes_"):
        state["list_sizes"] = model.list_sizes_.tolist()
    if hasattr(model, "risk_certificate_"):
        certificate = model.risk_certificate_
        state["promises"] = [
            {name: _to_json(value) for name, value in vars(promise).items()}
            for promise in certificate.promises.values()
        ]
        state["confidence"] = certificate.confidence
        state["exact"] = certificate.exact
        state["n_unjudged"] = certificate.n_unjudged
    return state


def read_filter(source) -> RankAndFilter | SegmentedFilter:
    """Read a filter of scores that :func:`write_filter` wrote.

    Parameters
    ----------
    source : str, path-like or open file
        The file.

    Returns
    -------
    RankAndFilter or SegmentedFilter
        Fitted, around "passthrough": its `predict` takes scores and gives -inf where filtered.
        `risk_certificate_` is what was promised when it was written. Curves are not kept.

    Raises
    ------
    FileFormatError
        If the file is none that :func:`write_filter` wrote, was written by another version, or
        was changed since.
    """
    state = read_state(source, _FORMAT)
    if "filters" not in state:
        return _filter_from_json(state)
    filters = {name: _filter_from_json(each) for name, each in state["filters"]}
    estimator = clone(next(iter(filters.values())))
    model = SegmentedFilter(estimator, segment=state["segment"], min_queries=state["min_queries"])
    model._segment, model.filters_ = state["segment"], filters
    return model


def _filter_from_json(state):
    """The fitted filter."""
    threshold = _from_json(state["threshold"])
    params = {"gains": gains_from_json(state["gains"]), "k": state["k"]}
    model = RankAndFilter(PASSTHROUGH, measure=state["measure"], **params)
    model.estimator_, model.threshold_ = ScoreColumn(), threshold
    model.tuned_measure_, model._k, model._score_gains = state["measure"], state["k"], None
    for name in ("best_score", "held_out_score"):
        if state[name] is not None:
            setattr(model, f"{name}_", state[name])
    if "list_sizes" in state:
        model.list_sizes_ = np.array(state["list_sizes"])
    model.set_params(threshold=threshold)
    if "lists" in state:
        _lists_from_json(state["lists"], model)
    if "promises" in state:
        promises = [
            RiskPromise(**{name: _from_json(value) for name, value in promise.items()})
            for promise in state["promises"]
        ]
        levels = {promise.risk: promise.max_risk for promise in promises}
        model.set_params(threshold="risk", risk=levels)
        if state["confidence"] is None:
            model.set_params(guarantee="expectation")
        else:
            model.set_params(confidence=state["confidence"])
        model.risk_certificate_ = RiskCertificate(
            {promise.risk: promise for promise in promises},
            state["confidence"],
            threshold,
            state["best_score"],
            exact=state["exact"],
            n_unjudged=state.get("n_unjudged", 0),
            assumes_unseen=True,
        )
    return model


_LIST_PARAMETERS = ("threshold", "abstain", "max_shown", "min_shown")


def _lists_to_json(model):
    """What is looked at of whole lists."""
    found = model.query_threshold_
    state = {name: getattr(model, name) for name in _LIST_PARAMETERS}
    if not isinstance(state["threshold"], str):
        state["threshold"] = _to_json(state["threshold"])
    state |= {"level": _to_json(found.level_), "cut": found.cut.state()}
    if found.confidence_ is not None:
        weights = found.confidence_.weights_
        state["answer_level"] = _to_json(found.answer_level_)
        state["confidence_weights"] = None if weights is None else weights.tolist()
    return state


def _lists_from_json(state, model):
    """The same of a model that is read."""
    model.set_params(**{name: state[name] for name in _LIST_PARAMETERS})
    if state["threshold"] not in CUTS:
        model.set_params(threshold=_from_json(state["threshold"]))
    found = make_list_filter(model).of_level()
    found.level_ = _from_json(state["level"])
    found.cut.restore(state["cut"])
    if "answer_level" in state:
        weights = state["confidence_weights"]
        found.confidence_ = Confidence(state["abstain"])
        found.confidence_.weights_ = None if weights is None else np.array(weights)
        found.answer_level_ = _from_json(state["answer_level"])
    model.query_threshold_ = found


def _to_json(value):
    """JSON has no infinity and no NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def _from_json(value):
    return float(value) if value in ("inf", "-inf", "nan") else value

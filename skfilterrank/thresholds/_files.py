"""Filters of scores as JSON that a person can read."""

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

import skfilterrank
from skfilterrank._core.checks import check_count, check_k, check_share, one_of
from skfilterrank._files.states import (
    checksum_of,
    count,
    gains_from_json,
    gains_to_json,
    label,
    listed,
    number,
    numbers,
    optional,
    pair,
    read_state,
    record,
    text,
    write_state,
)
from skfilterrank.exceptions import InputError, brief
from skfilterrank.ranking._filtering.parameters import (
    CUTS,
    check_lists,
    is_search,
    make_list_filter,
)
from skfilterrank.ranking._filtering.rank_and_filter import RankAndFilter
from skfilterrank.ranking._fitting.score_column import PASSTHROUGH, ScoreColumn
from skfilterrank.thresholds._abstention import CONFIDENCES, Confidence
from skfilterrank.thresholds._certificate import RiskCertificate, RiskPromise
from skfilterrank.thresholds._score_scale import LEVELS, Calibration
from skfilterrank.thresholds._segmented import SegmentedFilter
from skfilterrank.thresholds._threshold_curve import measure_and_places

_FORMAT = "skfilterrank filter 3"


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
        If the model is another one, its gains are a function, or a segment or a label of its gains
        is neither text nor a number.
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
        state = _segments_to_json(model)
    else:
        state = _filter_to_json(model)
    write_state(path, _FORMAT, state, "write_filter(path, model)")


def filter_checksum(model: RankAndFilter) -> str:
    """Return a checksum of a filter and of what it promises, whichever version wrote its file."""
    state = _filter_to_json(model)
    del state["library"]
    return checksum_of(state)


def _segments_to_json(model):
    """The filters of a SegmentedFilter."""
    for name in (model._segment, *model.filters_):
        label(name, "model names a segment by")
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
        "threshold": model.threshold_,
        "best_score": getattr(model, "best_score_", None),
        "held_out_score": getattr(model, "held_out_score_", None),
    }
    if hasattr(model, "query_threshold_"):
        state["lists"] = _lists_to_json(model)
    if hasattr(model, "list_sizes_"):
        state["list_sizes"] = model.list_sizes_.tolist()
    if getattr(model, "calibration_", None) is not None:
        found = vars(model.calibration_)
        state["calibration"] = found | {"quantiles": model.calibration_.quantiles.tolist()}
    if hasattr(model, "risk_certificate_"):
        certificate = model.risk_certificate_
        state["promises"] = [vars(promise) for promise in certificate.promises.values()]
        state["confidence"] = certificate.confidence
        state["exact"] = certificate.exact
        for name in ("n_unjudged", "n_machine", "max_shown", "shows_more"):
            state[name] = getattr(certificate, name)
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
    return read_state(source, _FORMAT, _from_json)


_THRESHOLD = number(infinite=True)
_BOUND = number(infinite=True, nan=True)
_VALUE = optional(number(nan=True))
_PROMISE = {
    "risk": text,
    "max_risk": check_share,
    "k": check_k,
    "lower": _BOUND,
    "upper": _BOUND,
    "n_queries": count(),
    "n_tried": count(),
    "observed": number(0, 1),
    "upper_bound": number(0, 1),
    "lower_bound": number(0, 1, nan=True),
}
_CUT_NAMES = one_of(*CUTS)
_LIST_PARAMETERS = {
    "threshold": optional(
        lambda value, name: (_CUT_NAMES if is_search(value) else _THRESHOLD)(value, name)
    ),
    "abstain": one_of(None, *CONFIDENCES),
    "max_shown": optional(check_count),
    "min_shown": optional(check_count),
}
_LISTS = record(
    _LIST_PARAMETERS | {"level": _THRESHOLD, "cut": lambda value, name: value},
    {"answer_level": _THRESHOLD, "confidence_weights": optional(numbers())},
)
_CALIBRATION = record(
    {
        "quantiles": numbers(len(LEVELS), len(LEVELS), infinite=True),
        "share_shown": number(0, 1),
        "n_queries": number(least=0),
    }
)
_FILTER = record(
    {
        "measure": text,
        "k": check_k,
        "gains": gains_from_json,
        "threshold": optional(_THRESHOLD),
        "best_score": _VALUE,
        "held_out_score": _VALUE,
    },
    {"lists": _LISTS},
    {"list_sizes": numbers(2, 2, nan=True)},
    # Files without it were written before scores were watched: they are read, and nothing warns.
    {"calibration": _CALIBRATION},
    {
        "promises": listed(record(_PROMISE), least=1),
        "confidence": optional(check_share),
        "exact": one_of(True, False),
        "n_unjudged": count(),
        "n_machine": count(),
        "max_shown": optional(check_count),
        "shows_more": one_of(True, False),
    },
)
_SEGMENTS = record(
    {
        "segment": label,
        "min_queries": check_count,
        "filters": listed(pair(label, lambda value, name: _filter_from_json(value, name)), least=1),
    }
)


def _from_json(state):
    """A filter, or those of segments."""
    if "filters" not in state:
        return _filter_from_json(state)
    state = _SEGMENTS(state)
    filters = dict(state["filters"])
    estimator = clone(next(iter(filters.values())))
    model = SegmentedFilter(estimator, segment=state["segment"], min_queries=state["min_queries"])
    model._segment, model.filters_ = state["segment"], filters
    return model


def _filter_from_json(state, name=""):
    """The fitted filter."""
    state = _FILTER(state, name)
    measure_and_places(state["measure"], state["k"])
    threshold = state["threshold"]
    model = RankAndFilter(PASSTHROUGH, measure=state["measure"], gains=state["gains"], k=state["k"])
    model.estimator_, model.threshold_ = ScoreColumn(), threshold
    model.tuned_measure_, model._k, model._score_gains = state["measure"], state["k"], None
    for name in ("best_score", "held_out_score"):
        if state[name] is not None:
            setattr(model, f"{name}_", state[name])
    if "list_sizes" in state:
        model.list_sizes_ = state["list_sizes"]
    if "calibration" in state:
        model.calibration_ = Calibration(**state["calibration"])
    model.set_params(threshold=threshold)
    if "lists" in state:
        _lists_from_json(state["lists"], model)
    if "promises" in state:
        promises = [RiskPromise(**promise) for promise in state["promises"]]
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
            assumes_unseen=True,
            **{
                name: state[name] for name in ("n_unjudged", "n_machine", "max_shown", "shows_more")
            },
        )
        model.set_params(show_beyond_k=state["shows_more"])
        if "lists" in state and not state["shows_more"]:
            model.query_threshold_.max_shown = state["max_shown"]
    check_lists(model)
    return model


def _lists_to_json(model):
    """What is looked at of whole lists."""
    found = model.query_threshold_
    state = {name: getattr(model, name) for name in _LIST_PARAMETERS}
    state |= {"level": found.level_, "cut": found.cut.state()}
    if found.confidence_ is not None:
        weights = found.confidence_.weights_
        state["answer_level"] = found.answer_level_
        state["confidence_weights"] = None if weights is None else weights.tolist()
    return state


def _lists_from_json(state, model):
    """The same of a model that is read."""
    model.set_params(**{name: state[name] for name in _LIST_PARAMETERS})
    found = make_list_filter(model).of_level()
    found.level_ = state["level"]
    found.cut.restore(state["cut"], "lists.cut")
    if ("answer_level" in state) != (model.abstain is not None):
        raise InputError("lists.answer_level must be there where lists.abstain is, and only there.")
    if model.abstain is not None:
        found.confidence_ = Confidence(model.abstain)
        found.confidence_.restore(state["confidence_weights"], "lists.confidence_weights")
        found.answer_level_ = state["answer_level"]
    model.query_threshold_ = found

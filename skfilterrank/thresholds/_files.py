"""Fitted thresholds as JSON files that a person can read."""

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

import skfilterrank
from skfilterrank._files import states
from skfilterrank._files.states import count, listed, number, numbers, optional, pair, record, text
from skfilterrank._lists.checks import check_count, check_k, check_share, one_of
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._certificate import (
    UNSEEN,
    Condition,
    RiskBound,
    RiskCertificate,
    certificate_to_json,
)
from skfilterrank.thresholds._cuts import Caps, known_cuts
from skfilterrank.thresholds._drift import LEVELS, Calibration
from skfilterrank.thresholds._risks import AMONG, read_risks

NOT_FITTED = "This %(name)s is not fitted. Call fit(scores, y, groups=...) first."
_FORMAT = "skfilterrank threshold 3"


class SavedAsJson:
    """Mixin of thresholds that can be saved as readable JSON."""

    def save(self, path) -> None:
        """Save the fitted threshold as JSON.

        Parameters
        ----------
        path : str, path-like or open file
            Target; an older file is replaced once the new one is whole.

        Raises
        ------
        ValueError
            If gains are a function, or a learned model cannot be written as JSON.
        NotFittedError
            If the threshold is not fitted.
        OSError
            If the file cannot be written.

        See Also
        --------
        load_threshold : Reads it.
        """
        state = {"library": skfilterrank.__version__}
        if (certificate := getattr(self, "certificate_", None)) is not None:
            state["certificate_digest"] = certificate.digest
        state |= threshold_to_json(self)
        states.write_state(path, _FORMAT, state, "threshold.save(path)")


def load_threshold(source) -> SavedAsJson:
    """Load a threshold that its method `save` wrote.

    Parameters
    ----------
    source : str, path-like or open file
        The file.

    Returns
    -------
    threshold estimator
        The fitted threshold, of the class that was saved. It predicts like the saved one.
        `certificate_` is the saved certificate, with the added condition that the scores come from
        a model that has not seen the calibration queries. Curves are not saved.

    Raises
    ------
    FileFormatError
        If the file holds no threshold, has another version, or was changed.

    See Also
    --------
    joblib.load : Loads any object from a file that you trust, also thresholds with functions.

    Examples
    --------
    >>> import os, tempfile
    >>> from skfilterrank.datasets import make_rank_and_filter
    >>> from skfilterrank.thresholds import TunedThreshold, load_threshold
    >>> _, y, groups, scores = make_rank_and_filter(200, random_state=0)
    >>> threshold = TunedThreshold("ndcg_f@3").fit(scores, y, groups=groups)
    >>> path = os.path.join(tempfile.mkdtemp(), "threshold.json")
    >>> threshold.save(path)
    >>> load_threshold(path)
    TunedThreshold(measure='ndcg_f@3')
    >>> round(load_threshold(path).threshold_ - threshold.threshold_, 12)
    0.0
    """
    return states.read_state(source, _FORMAT, threshold_from_json)


def threshold_checksum(threshold: SavedAsJson) -> str:
    """Compute a checksum of a threshold and its certificate, independent of the version."""
    return states.checksum_of(threshold_to_json(threshold))


def threshold_to_json(threshold: SavedAsJson) -> dict:
    """Convert a fitted threshold to JSON: its class, its parameters and its fitted attributes."""
    if not isinstance(threshold, SavedAsJson):
        raise InputError(f"threshold must be a threshold estimator, got {brief(threshold)}.")
    check_is_fitted(threshold, msg=NOT_FITTED)
    fitted = {name: getattr(threshold, f"{name}_", None) for name in (*_OF_ALL, *_OF_SOME)}
    fitted = {
        name: _TO_JSON.get(name, lambda value: value)(value)
        for name, value in fitted.items()
        if value is not None or name in _OF_ALL
    }
    return _unfitted_to_json(threshold) | {"fitted": states.as_json(fitted)}


def threshold_from_json(value, name: str = "") -> SavedAsJson:
    """Make a fitted threshold from JSON; errors name the field."""
    threshold = _unfitted_from_json(value)
    fitted = record({"fitted": _FITTED})(value, name)["fitted"]
    kind, state = fitted.pop("cut")
    fitted["caps"] = Caps(*fitted["caps"])
    vars(threshold).update({f"{each}_": found for each, found in fitted.items()})
    threshold.cut_ = kind.restored(state, "fitted.cut", parse_measure(fitted["measure"]))
    return threshold


def _cut_from_json(value, name):
    """Find the class of a cut by its name; return it with its state."""
    state = _object(value, name)
    found = known_cuts().get(str(state.get("name")))
    if found is None:
        raise InputError(f"{name}.name must name a cut, got {brief(state.get('name'))}.")
    return found, {each: own for each, own in state.items() if each != "name"}


def _unfitted_to_json(threshold):
    """Return the class and the parameters of a threshold; gains are those of its last fit."""
    name = type(threshold).__name__
    if _class_of(name) is not type(threshold):
        raise InputError(
            f"{name} is not a class of skfilterrank.thresholds; other classes cannot be saved as "
            "JSON. Save it with joblib.dump."
        )
    parameters = threshold.get_params(deep=False)
    if "gains" in parameters:
        parameters["gains"] = threshold.gains_of_fit()
    return {
        "class": name,
        "parameters": {
            each: _WRITE.get(each, _plain)(value, f"parameter {each} of {name}")
            for each, value in parameters.items()
        },
    }


def _unfitted_from_json(value):
    """Make an unfitted threshold from a class and parameters."""
    state = record({"class": text, "parameters": _object})(value, "")
    found = _class_of(state["class"])
    if found is None:
        raise InputError(f"class must name a threshold, got {brief(state['class'])}.")
    known = found._get_param_names()
    for each in state["parameters"]:
        if each not in known:
            raise InputError(f"parameters.{each} is not a parameter of {found.__name__}.")
    parameters = {
        each: _READ.get(each, _parameter)(value, f"parameters.{each}")
        for each, value in state["parameters"].items()
    }
    try:
        threshold = found(**parameters)
    except TypeError:
        raise InputError(f"parameters lacks a parameter that {found.__name__} needs.") from None
    threshold.check_parameters()
    return threshold


def _class_of(name):
    """Return the class of this library with a given name, or None."""
    package = sys.modules[__package__]
    found = getattr(package, name) if name in package.__all__ else None
    return found if isinstance(found, type) and issubclass(found, SavedAsJson) else None


# Parameters to JSON, and back.


def _plain(value, name):
    """Convert a parameter to JSON."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is not None and not isinstance(value, str | bool | int | float):
        raise InputError(
            f"{name} is {brief(value)}, which JSON cannot hold. Save the threshold with "
            "joblib.dump."
        )
    return value


def _measure(measure, name):
    """Return the name of a measure."""
    return parse_measure(measure).text if callable(measure) else _plain(measure, name)


def _risks(risks, name):
    """Return risks as pairs of name and level."""
    return [[risk.name, risk.max_risk] for risk in read_risks(risks)]


def _parameter(value, name):
    """Make a parameter from JSON."""
    if isinstance(value, dict | list):
        raise InputError(f"{name} must be a number, a text or None, got {brief(value)}.")
    return float(value) if value in ("inf", "-inf", "nan") else value


def _object(value, name):
    """Check that a field is an object."""
    if not isinstance(value, dict):
        raise InputError(f"{name} must be an object, got {brief(value)}.")
    return value


_WRITE = {"measure": _measure, "risks": _risks, "gains": states.gains_to_json}
_READ = {
    "gains": states.gains_from_json,
    "risks": lambda value, name: dict(listed(pair(text, check_share), least=1)(value, name)),
}


# Fitted attributes to JSON, and back.


def _calibration_from_json(value, name):
    """Make a `Calibration` from JSON."""
    return Calibration(**_CALIBRATION(value, name))


def _certificate_from_json(value, name):
    """Make a certificate that assumes unseen queries, since the source of the scores is unknown."""
    state = _CERTIFICATE(value, name)
    risks = {each["risk"]: RiskBound(**each) for each in state["risks"]}
    conditions = {each["name"]: Condition(**each) for each in state["conditions"]}
    _FACTS({each.name: each.value for each in conditions.values()}, f"{name}.conditions")
    told = tuple(conditions.values())
    return RiskCertificate(**state | {"risks": risks, "conditions": told}).with_conditions(UNSEEN)


def _held_out_from_json(value, name):
    """Make the table of answers from rows of names and numbers."""
    rows = listed(lambda row, place: _row_of_answers(row, place), least=2)(value, name)
    table = pd.DataFrame(rows, columns=["answer", "value", "difference", "error"])
    return table.set_index("answer")


def _row_of_answers(row, name):
    """Check a row of the table of answers."""
    if not isinstance(row, list) or len(row) != 4:
        raise InputError(f"{name} must hold a name and three numbers, got {brief(row)}.")
    return [text(row[0], name), *(_VALUE(each, name) for each in row[1:])]


_LEVEL = number(infinite=True)
_BOUND = number(infinite=True, nan=True)
_VALUE = number(nan=True)
_IS = one_of(True, False)
_CALIBRATION = record(
    {
        "quantiles": optional(numbers(len(LEVELS), len(LEVELS), infinite=True)),
        "share_shown": number(0, 1),
        "n_queries": number(least=1),
    }
)
_RISK = record(
    {
        "risk": text,
        "max_risk": check_share,
        "k": check_k,
        "lower": _BOUND,
        "upper": _BOUND,
        "n_queries": count(),
        "observed": number(0, 1),
        "upper_bound": number(0, 1),
        "lower_bound": number(0, 1, nan=True),
        "among": one_of(*AMONG),
        "n_left_out": count(),
    }
)
_FACTS = record(
    {
        "n_queries": count(),
        "n_units": count(),
        "n_labels": count(),
        "unit": optional(text),
        "share_answered": number(0, 1),
        "share_answered_lower": number(0, 1),
        "share_answered_upper": number(0, 1),
        "share_hidden": number(0, 1),
        "max_shown": optional(check_count),
        "rule": optional(text),
        "n_apart": count(),
        "own_bounds": text,
        "n_left_out": count(),
        "n_unjudged": count(),
        "n_machine": count(),
        "exact": _IS,
        "assumes_unseen": _IS,
    }
)
_CERTIFICATE = record(
    {
        "risks": listed(_RISK, least=1),
        "confidence_level": check_share,
        "threshold": _LEVEL,
        "value": _VALUE,
        "is_chosen": _IS,
        "conditions": listed(record({"name": text, "value": _parameter, "sentence": text})),
    }
)
# Attributes of all thresholds, and attributes of some.
_OF_ALL = {
    "measure": text,
    "level": _LEVEL,
    "threshold": optional(_LEVEL),
    "fitted_with_groups": _IS,
    "caps": pair(optional(check_count), optional(check_count)),
    "cut": _cut_from_json,
}
_OF_SOME = {
    "best_score": _VALUE,
    "held_out": _held_out_from_json,
    "n_unjudged": count(),
    "list_sizes": numbers(2, 2, nan=True),
    "calibration": _calibration_from_json,
    "certificate": _certificate_from_json,
}
_TO_JSON: dict[str, Callable] = {
    "calibration": vars,
    "cut": lambda cut: {"name": type(cut).__name__} | cut.state(),
    "held_out": lambda table: [[name, *row] for name, *row in table.itertuples()],
    "certificate": certificate_to_json,
}
_FITTED = record(
    _OF_ALL,
    *({name: check} for name, check in _OF_SOME.items()),
)

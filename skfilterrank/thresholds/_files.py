"""Fitted thresholds as JSON files that a person can read."""

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skfilterrank._base import VERSION
from skfilterrank._files import states
from skfilterrank._files.states import array
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.exceptions import InputError, brief
from skfilterrank.thresholds._answers import COLUMNS
from skfilterrank.thresholds._certificate import (
    UNSEEN,
    Condition,
    RiskBound,
    RiskCertificate,
    certificate_to_json,
)
from skfilterrank.thresholds._comparability import ScoreComparability
from skfilterrank.thresholds._cuts import Caps, known_cuts
from skfilterrank.thresholds._drift import Calibration
from skfilterrank.thresholds._risks import read_risks

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
        state = {"library": VERSION}
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


def threshold_from_json(content) -> SavedAsJson:
    """Make a fitted threshold from JSON."""
    parameters = {
        name: _READ.get(name, _number)(value) for name, value in content["parameters"].items()
    }
    threshold = _class_of(content["class"])(**parameters)
    threshold.check_parameters()
    fitted, parsed = content["fitted"], parse_measure(content["fitted"]["measure"])
    cut = fitted.pop("cut")
    found = {f"{name}_": _FITTED.get(name, _number)(value) for name, value in fitted.items()}
    vars(threshold).update(found)
    threshold.cut_ = known_cuts()[cut.pop("name")].restored(cut, parsed)
    return threshold


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


def _columns(columns, name):
    """Return names of columns as JSON holds them."""
    return columns if columns is None else [states.label(each, name) for each in columns]


def _number(value):
    """Return a field of JSON, which has texts for numbers that are not finite."""
    return float(value) if value in ("inf", "-inf", "nan") else value


def _numbers(fields):
    """Return fields of JSON by name."""
    return {name: _number(value) for name, value in fields.items()}


_WRITE = {"measure": _measure, "risks": _risks, "columns": _columns, "gains": states.gains_to_json}
_READ = {"gains": states.gains_from_json, "risks": dict}


# Fitted attributes to JSON, and back.


def _certificate_from_json(state):
    """Make a certificate that assumes unseen queries, since the source of the scores is unknown."""
    risks = {each["risk"]: RiskBound(**_numbers(each)) for each in state.pop("risks")}
    conditions = tuple(Condition(**_numbers(each)) for each in state.pop("conditions"))
    found = RiskCertificate(risks, conditions=conditions, **_numbers(state))
    return found.with_conditions(UNSEEN)


def _calibration_from_json(state):
    """Make a `Calibration` from JSON."""
    quantiles = state["quantiles"]
    return Calibration(**state | {"quantiles": None if quantiles is None else array(quantiles)})


def _held_out_from_json(rows):
    """Make the table of answers from rows of names and numbers."""
    names, *columns = zip(*rows)
    numbers = dict(zip(COLUMNS, map(array, columns)))
    return pd.DataFrame(numbers, index=pd.Index(names, name="answer"))


# Attributes that files of all thresholds hold, and that files of some do.
_OF_ALL = ("measure", "level", "threshold", "fitted_with_groups", "caps", "cut")
_OF_SOME = (
    "best_score",
    "held_out",
    "n_unjudged",
    "list_sizes",
    "calibration",
    "comparability",
    "certificate",
)
_FITTED: dict[str, Callable] = {
    "caps": lambda value: Caps(*value),
    "held_out": _held_out_from_json,
    "list_sizes": array,
    "calibration": _calibration_from_json,
    "comparability": lambda value: ScoreComparability(**_numbers(value)),
    "certificate": _certificate_from_json,
}
_TO_JSON: dict[str, Callable] = {
    "calibration": vars,
    "comparability": vars,
    "cut": lambda cut: {"name": type(cut).__name__} | cut.state(),
    "held_out": lambda table: [[name, *row] for name, *row in table.itertuples()],
    "certificate": certificate_to_json,
}

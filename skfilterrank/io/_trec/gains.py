"""Gains of labels that are texts."""

from numbers import Real

import numpy as np

from skfilterrank.exceptions import InputError, brief, brief_list

ADVICE = "Labels that are texts are read with gains=, the gain of each."


def check_gains_of_texts(gains) -> None:
    """Raise unless `gains` is a dict with numbers, finite or NaN."""
    if not isinstance(gains, dict) or not gains:
        raise InputError(f"gains must be a dict {{label: gain}} or None, got {brief(gains)}.")
    for label, gain in gains.items():
        if not isinstance(gain, Real) or np.isinf(float(gain)):
            raise InputError(
                f"the gain of the label {brief(label)} must be a finite number, or NaN for "
                f"unjudged, got {brief(gain)}."
            )


def gains_of_texts(codes, labels, gains, name) -> np.ndarray:
    """Give the gain of each row, whose label is labels[codes[i]]; code -1 is unjudged."""
    known = {_key(label): gain for label, gain in gains.items()}
    lacking = [label for label in labels if _key(label) not in known]
    if lacking:
        raise InputError(
            f"gains has no gain for labels of {name}: {brief_list(lacking)}. Add the gain of each."
        )
    values = [float(known[_key(label)]) for label in labels]
    return np.array([*values, np.nan])[codes]


def _key(label):
    """Make one key of a number and its texts, so that "1" is 1.0."""
    try:
        return float(label)
    except (TypeError, ValueError):
        return str(label).strip()

"""Gains of labels, as a command line writes them."""

import numpy as np
import pandas as pd

from skfilterrank.exceptions import InputError

_MOST, _LONGEST = 20, 40


def match_gains(gains, labels: dict[str, pd.Series]):
    """Gains with keys of the labels' type, since a command line only knows text.

    `labels` are those of each file; every one of them must have a gain.
    """
    distinct = {path: list(y.dropna().unique()) for path, y in labels.items()}
    every = [label for own in distinct.values() for label in own]
    if not isinstance(gains, dict):
        for path, own in distinct.items():
            if words := [label for label in own if not _is_number(label)]:
                example = _listed(words, "=GAIN", ",")
                raise InputError(
                    f"the labels of {path} are not numbers: give the gain of each, below 0 where "
                    f"it is forbidden, with --gains {example}."
                )
        return gains
    texts = {label: _texts(label) for label in every}
    matched = {
        label: gain for given, gain in gains.items() for label in every if given in texts[label]
    }
    for path, own in distinct.items():
        if missing := [label for label in own if label not in matched]:
            raise InputError(
                f"--gains has no gain for {_listed(missing)}, of the labels of {path}: add "
                f"{_listed(missing, '=GAIN', ',')}."
            )
    return matched


def numbered_gains(gains: dict) -> dict:
    """Gains by numbers, which the labels of a sample are."""
    try:
        numbered = {float(label): gain for label, gain in gains.items()}
    except ValueError:
        numbered = {np.nan: 0.0}
    if not np.isfinite(list(numbered)).all():
        raise InputError(
            f"--gains must name numbers here, such as 0=0,1=1, since the labels of a sample are "
            f"numbers, got {_listed(list(gains))}."
        )
    return numbered


def with_other_labels(matched, given):
    """Matched gains, and those of numbers that do not occur but might have been said."""
    return matched | numbered_gains(given) if isinstance(matched, dict) else matched


def _listed(labels, end="", comma=", "):
    """Labels as --gains takes them, the first of them where there are many."""
    text = comma.join(_texts(label)[0][:_LONGEST] + end for label in labels[:_MOST])
    return text if len(labels) <= _MOST else f"{text}{comma}... for {len(labels):,} labels"


def unknown_labels(gains, labels: dict[str, pd.Series]) -> list[str]:
    """Labels that have a gain and do not occur."""
    if not isinstance(gains, dict):
        return []
    present = {
        text for y in labels.values() for label in y.dropna().unique() for text in _texts(label)
    }
    return [label for label in gains if label not in present]


def _is_number(label):
    return not isinstance(label, str) and pd.api.types.is_number(label)


def _texts(label):
    """How a label may be written: 1.0 also as 1 and +1, True also as true."""
    if _is_number(label) and not isinstance(label, bool):
        return [f"{label:g}", str(label), f"{float(label)}", f"{label:+g}"]
    return [str(label), str(label).lower()] if not isinstance(label, str) else [label]

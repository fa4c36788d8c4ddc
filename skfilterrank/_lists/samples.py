"""Judgments that are a sample, whose labels must not pass for those of all documents."""

import numpy as np
import pandas as pd

from skfilterrank.exceptions import InputError, brief_list

PROBABILITY = "inclusion_probability"
# Measures that read no label, or only whether there is one.
_WITHOUT_LABELS = ("empty_list_rate", "judged", "num_q", "num_ret")


def is_sample(labels, probabilities) -> bool:
    """Tell whether some label was drawn with a probability below 1."""
    if probabilities is None:
        return False
    return bool((~pd.isna(labels) & (np.asarray(probabilities, dtype=float) < 1)).any())


def measures_of_all_labels(wanted) -> list[str]:
    """List the measures that a sample of labels does not give."""
    return [
        text
        for text, parsed in wanted.items()
        if PROBABILITY not in parsed.measure.columns and parsed.measure.name not in _WITHOUT_LABELS
    ]


def refuse_measures_of_sample(wanted) -> None:
    """Raise for measures that take the labels of a sample for those of all documents."""
    if wrong := measures_of_all_labels(wanted):
        raise InputError(
            "qrels is a sample with inclusion probabilities below 1, of which these measures take "
            f"no account: {brief_list(wrong)}. Estimate the values with skfilterrank.judgments, "
            f"or drop the column {PROBABILITY!r} if people judged all documents."
        )


def refuse_sample(name="qrels") -> None:
    """Raise where judgments of all documents were expected."""
    raise InputError(
        f"{name} is a sample with inclusion probabilities below 1, where judgments of all "
        f"documents were expected. Drop the column {PROBABILITY!r} if they are complete."
    )

"""Labels of judgments that mean that nobody judged."""

import numpy as np
import pandas as pd

from skfilterrank._core.checks import is_finite_number
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.io._trec.judges import check_predicted

# Where judgments keep what was said of them, so that it is asked once.
_SAID, _SAID_OF_MACHINES = "unjudged_label", "predicted"
_MOST = 5


def check_unjudged_label(label):
    """What `unjudged_label` may be."""
    if label is None or (isinstance(label, str) and label in ("warn", "trec")):
        return label
    if not is_finite_number(label):
        raise InputError(
            "unjudged_label must be the label that means unjudged, 'trec' for all labels below 0, "
            f"or None where every label is a judgment, got {brief(label)}."
        )
    return float(label)


def said_of(frame, unjudged_label):
    """The rule for the labels of a frame: None where they were asked about when it was read."""
    label = check_unjudged_label(unjudged_label)
    return None if label == "warn" and _SAID in getattr(frame, "attrs", {}) else label


def said_of_machines(frame, predicted) -> str:
    """The rule for labels of machines: "use" where they were asked about when it was read."""
    is_asked = check_predicted(predicted) == "warn"
    return "use" if is_asked and _SAID_OF_MACHINES in getattr(frame, "attrs", {}) else predicted


def mark_as_said(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame, whose labels need not be asked about again."""
    frame.attrs[_SAID] = True
    if "judged_by" in frame:
        # Not of others: who writes the column into them later is to be asked.
        frame.attrs[_SAID_OF_MACHINES] = True
    return frame


def mark_unjudged(labels: np.ndarray, unjudged_label, name: str) -> np.ndarray:
    """The labels, NaN for those that mean unjudged; warn where labels below 0 may mean both."""
    if unjudged_label is None:
        return labels
    if unjudged_label != "warn":
        is_unjudged = labels < 0 if unjudged_label == "trec" else labels == unjudged_label
        return np.where(is_unjudged, np.nan, labels)
    below, counts = np.unique(labels[labels < 0], return_counts=True)
    if len(below):
        pairs = [f"{label:g}: {count:,}" for label, count in zip(below[::-1], counts[::-1])]
        shown = ", ".join(pairs[:_MOST]) + (", ..." if len(pairs) > _MOST else "")
        warn_user(
            f"{name} holds labels below 0 ({shown}), which are taken for forbidden documents. To "
            "trec_eval they are pooled documents that nobody judged, which changes values such as "
            "bpref, infAP and nDCG. Say unjudged_label=None where they are forbidden, 'trec' where "
            "they are not judged, or the one label that means unjudged, to read_qrels or "
            "QrelsIndex, whose result every function takes.",
            DataWarning,
        )
    return labels

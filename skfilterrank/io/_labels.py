"""Labels of judgments: gains of texts, marks of what nobody judged, and who judged.

A machine's labels never count as people's in silence. A table says who judged in a column
"judged_by", a TREC file in the second one: "predicted", or "predicted:NAME", is a machine's.
Everything else there, which people number their passes by, is people's.
"""

from numbers import Real
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._lists.checks import is_finite_number
from skfilterrank._lists.judges import PEOPLE, PREDICTED
from skfilterrank._lists.results import counted
from skfilterrank._lists.user_warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief, brief_list

ADVICE = "Labels that are texts are read with gains=, the gain of each."
WAYS = ("warn", "use", "drop")
_MOST = 5
# Where judgments keep what was said of them, so that it is asked once.
_SAID, _SAID_OF_MACHINES = "unjudged_label", "predicted"


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


class Judges(NamedTuple):
    """Judges of the rows: names[codes[i]] gave the label of row i."""

    codes: np.ndarray
    names: list[str]

    @property
    def is_machine(self) -> np.ndarray:
        """True where a machine gave the label of a row."""
        return np.array([name != PEOPLE for name in self.names], dtype=bool)[self.codes]

    def counts(self, labels) -> dict[str, int]:
        """Number of labels of each machine, those of the most first."""
        kept = self.codes[self.is_machine & ~np.isnan(labels)]
        numbers = np.bincount(kept, minlength=len(self.names)).tolist()
        pairs = sorted(zip(numbers, self.names), key=lambda pair: (-pair[0], pair[1]))
        return {name: number for number, name in pairs if number}


def judges_of(content) -> Judges | None:
    """Return the judges of a table or of lines; None where they are not named."""
    if content.has("judged_by"):
        codes, words = content.words("judged_by")
        for word in words:
            if not isinstance(word, str) or not word:
                raise InputError(
                    f"column 'judged_by' of {content.name} must hold {brief(PEOPLE)}, or the name "
                    f"of the machine that gave the label, got {brief(word)}."
                )
        names = [*map(str, words), PEOPLE]
    elif content.has("iteration"):
        codes, words = content.words("iteration")
        names = [*map(_judge_of_iteration, words), PEOPLE]
        if set(names) == {PEOPLE}:
            return None
    else:
        return None
    # The last name is that of code -1.
    places, distinct = pd.factorize(np.array(names, dtype=object))
    return Judges(places[codes], distinct.tolist())


def _judge_of_iteration(iteration):
    word, _, name = str(iteration).partition(":")
    if word != PREDICTED:
        return PEOPLE
    return PREDICTED if name in ("", PEOPLE) else name


def iterations_of(judges: Judges | None, n_rows) -> np.ndarray:
    """The second column of a TREC file."""
    if judges is None:
        return np.full(n_rows, "0", dtype=object)
    known = {PEOPLE: "0", PREDICTED: PREDICTED}
    words = [known.get(name, f"{PREDICTED}:{name}") for name in judges.names]
    return np.array(words, dtype=object)[judges.codes]


def check_unjudged_label(label):
    """Check the value of `unjudged_label`."""
    if label is None or (isinstance(label, str) and label in ("warn", "trec")):
        return label
    if not is_finite_number(label):
        raise InputError(
            "unjudged_label must be the label that means unjudged, 'trec' for all labels below 0, "
            f"or None where every label is a judgment, got {brief(label)}."
        )
    return float(label)


def mark_as_said(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame, whose labels need not be asked about again."""
    frame.attrs[_SAID] = True
    if "judged_by" in frame:
        # Not of others: who writes the column into them later is to be asked.
        frame.attrs[_SAID_OF_MACHINES] = True
    return frame


def settled(rows, source, unjudged_label, predicted, name):
    """Rows of judgments whose labels mean what was said, with warnings where nothing was."""
    said = getattr(source, "attrs", {})
    if unjudged_label == "warn" and _SAID not in said:
        _warn_of_labels_below_0(rows.values, name)
    elif unjudged_label not in ("warn", None):
        labels = rows.values
        is_unjudged = labels < 0 if unjudged_label == "trec" else labels == unjudged_label
        rows = rows._replace(values=np.where(is_unjudged, np.nan, labels))
    machines = {} if rows.judges is None else rows.judges.counts(rows.values)
    if machines and predicted == "drop":
        values = np.where(rows.judges.is_machine, np.nan, rows.values)
        return rows._replace(values=values, judges=None)
    if machines and predicted == "warn" and _SAID_OF_MACHINES not in said:
        n_labels = int(np.count_nonzero(~np.isnan(rows.values)))
        warn_user(
            f"{name} holds {counted(n_labels, 'label')}, of which machines gave "
            f"{sum(machines.values()):,} ({_shown(machines)}); they count like people's, and "
            "values from them may be far off. Say predicted 'use' where this is meant, 'drop' to "
            "take them for not judged; a sample of people's labels gives values with intervals "
            "(skfilterrank.judgments).",
            DataWarning,
        )
    return rows


def _warn_of_labels_below_0(labels, name):
    """Warn where labels below 0 may mean forbidden or unjudged."""
    below, counts = np.unique(labels[labels < 0], return_counts=True)
    if len(below):
        shown = _shown({f"{label:g}": n for label, n in zip(below[::-1], counts[::-1])})
        warn_user(
            f"{name} holds labels below 0 ({shown}), which are taken for forbidden documents. To "
            "trec_eval they are pooled documents that nobody judged, which changes values such as "
            "bpref, infAP and nDCG. Say unjudged_label=None where they are forbidden, 'trec' where "
            "they are not judged, or the one label that means unjudged, to read_qrels or "
            "QrelsIndex, whose result every function takes.",
            DataWarning,
        )


def _shown(counts):
    """Return the first of some counts by name as text."""
    shown = [f"{name}: {n:,}" for name, n in counts.items()]
    return ", ".join(shown[:_MOST]) + (", ..." if len(shown) > _MOST else "")

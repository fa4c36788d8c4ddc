"""Who gave each label: people or a machine, whose labels never count as people's in silence.

A table says it in a column "judged_by", a TREC file in the second one: "predicted", or
"predicted:NAME", is a machine's. Everything else there, which people number their passes by, is
people's.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._core.checks import check_choice
from skfilterrank._core.judges import PEOPLE, PREDICTED
from skfilterrank._core.results import counted
from skfilterrank._warnings import warn_user
from skfilterrank.exceptions import DataWarning, InputError, brief

_WAYS = ("warn", "use", "drop")
_MOST = 5


class Judges(NamedTuple):
    """Who gave the label of each row: names[codes[i]]."""

    codes: np.ndarray
    names: list[str]

    @property
    def is_machine(self) -> np.ndarray:
        """Whether a machine gave it."""
        return np.array([name != PEOPLE for name in self.names], dtype=bool)[self.codes]

    def counts(self, labels) -> dict[str, int]:
        """Number of labels of each machine, those of the most first."""
        kept = self.codes[self.is_machine & ~np.isnan(labels)]
        numbers = np.bincount(kept, minlength=len(self.names)).tolist()
        pairs = sorted(zip(numbers, self.names), key=lambda pair: (-pair[0], pair[1]))
        return {name: number for number, name in pairs if number}


def judges_of_iterations(codes, iterations) -> Judges | None:
    """From the second column of TREC files; None where no machine is named."""
    names = [*map(_judge_of_iteration, iterations), PEOPLE]
    return None if set(names) == {PEOPLE} else Judges(*_merged(codes, names))


def judges_of_column(column, name) -> Judges:
    """From a column "judged_by"; where nothing stands, people judged."""
    codes, names = pd.factorize(column)
    for each in names:
        if not isinstance(each, str) or not each:
            raise InputError(
                f"column {brief(column.name)} of {name} must hold {brief(PEOPLE)}, or the name of "
                f"the machine that gave the label, got {brief(each)}."
            )
    return Judges(*_merged(codes, [*map(str, names), PEOPLE]))


def iterations_of(judges: Judges | None, n_rows) -> np.ndarray:
    """The second column of a TREC file."""
    if judges is None:
        return np.full(n_rows, "0", dtype=object)
    known = {PEOPLE: "0", PREDICTED: PREDICTED}
    words = [known.get(name, f"{PREDICTED}:{name}") for name in judges.names]
    return np.array(words, dtype=object)[judges.codes]


def check_predicted(predicted) -> str:
    """What `predicted` may be."""
    return check_choice(predicted, "predicted", _WAYS)


def settle_predicted(rows, predicted, name):
    """Rows of judgments in which a machine's labels are used, with a warning, or are NaN."""
    machines = {} if rows.judges is None else rows.judges.counts(rows.values)
    if not machines or predicted == "use":
        return rows
    if predicted == "drop":
        return rows._replace(
            values=np.where(rows.judges.is_machine, np.nan, rows.values), judges=None
        )
    shown = ", ".join(f"{judge}: {n:,}" for judge, n in list(machines.items())[:_MOST])
    shown += ", ..." if len(machines) > _MOST else ""
    n_all = int(np.count_nonzero(~np.isnan(rows.values)))
    warn_user(
        f"{name} holds {counted(n_all, 'label')}, of which machines gave "
        f"{sum(machines.values()):,} ({shown}); they count like people's, and values from them may "
        "be far off. Say predicted 'use' where this is meant, 'drop' to take them for not judged; "
        "a sample of people's labels gives values with intervals (skfilterrank.estimation).",
        DataWarning,
    )
    return rows


def _judge_of_iteration(iteration):
    word, _, name = str(iteration).partition(":")
    if word != PREDICTED:
        return PEOPLE
    return PREDICTED if name in ("", PEOPLE) else name


def _merged(codes, names):
    """Codes of distinct names; the last name is that of code -1."""
    places, distinct = pd.factorize(np.array(names, dtype=object))
    return places[codes], distinct.tolist()

"""Several systems, whose scores are columns of the same rows."""

from collections.abc import Mapping

from skfilterrank.exceptions import InputError, brief
from skfilterrank.stream._frames import Wanted
from skfilterrank.stream._rows import Rows, check_column


def columns_of_systems(rows: Rows, y_scores, others: Mapping | None = None) -> Wanted:
    """The columns to read; scores go by the name of their system."""
    if not isinstance(y_scores, Mapping) or not y_scores:
        raise InputError(
            "y_scores must be a dict {name: column of scores} of at least one system, got "
            f"{brief(y_scores)}."
        )
    scores = {
        score_key(name): check_column(column, f"y_scores[{brief(name)}]")
        for name, column in y_scores.items()
    }
    return Wanted(rows.query, rows.label, scores, others or {})


def score_key(name) -> tuple:
    """How blocks call the scores of a system."""
    return ("score", name)

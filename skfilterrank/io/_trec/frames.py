"""Rows of judgments and runs from data frames."""

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._core.arrays import as_column, as_floats, as_numbers
from skfilterrank._core.checks import check_scores
from skfilterrank._files.forms import COLUMN_NAMES, has_labels
from skfilterrank._files.named_runs import ORDER
from skfilterrank._files.tables import text_ids
from skfilterrank._files.text_columns import id_tokens
from skfilterrank.exceptions import (
    FileFormatError,
    InputError,
    SkfilterrankError,
    brief,
    brief_list,
)
from skfilterrank.io._trec.gains import ADVICE, gains_of_texts
from skfilterrank.io._trec.judges import Judges, judges_of_column, judges_of_iterations
from skfilterrank.io._trec.pairs import Rows, find_repeated, pair_keys


class Table(NamedTuple):
    """A data frame of judgments or of a run, and where its rows are from.

    `name` is the argument, or the file where `line_of` gives the line of a row.
    """

    frame: Any
    name: str
    line_of: Callable | None = None

    def fail(self, row, what, rest=""):
        """Raise an error of what a row holds."""
        if self.line_of is None:
            raise InputError(f"{self.name} holds {what} in row {row}{rest}")
        raise FileFormatError(f"the row holds {what}{rest}", self.name, self.line_of(row))


def qrels_rows_of_table(table: Table, gains=None) -> Rows:
    """Rows of a table of judgments; labels may be NaN: pooled, but not judged."""
    others = "inclusion_probability", "judged_by", "iteration"
    columns = columns_of(table, ("qid", "docno", "label"), optional=others)
    if gains is not None:
        codes, distinct = pd.factorize(columns["label"])
        labels = gains_of_texts(codes, distinct, gains, table.name)
    else:
        try:
            labels = _numbers(table, columns["label"])
        except SkfilterrankError as error:
            error.add_note(ADVICE)
            raise
    if (infinite := np.isinf(labels)).any():
        row = int(infinite.argmax())
        table.fail(
            row, f"the label {labels[row]}", "; labels must be finite, or NaN where unjudged."
        )
    if gains is None and columns["label"].name == "score" and (broken := labels % 1 > 0).any():
        row = int(broken.argmax())
        table.fail(
            row,
            f"the score {labels[row]}",
            ", where a label was expected, a whole number: this looks like a run; if it is none, "
            "call the column 'label'.",
        )
    rows = _checked_rows(table, columns, labels)._replace(judges=_judges(table, columns))
    if "inclusion_probability" not in columns:
        return rows
    probabilities = _numbers(table, columns["inclusion_probability"])
    outside = ~np.isnan(labels) & ~((probabilities > 0) & (probabilities <= 1))
    if outside.any():
        row = int(outside.argmax())
        table.fail(
            row,
            f"the inclusion probability {probabilities[row]}",
            ", which has a label; it must be above 0 and at most 1.",
        )
    return rows._replace(probabilities=probabilities)


def _judges(table, columns) -> Judges | None:
    """Who gave each label, where it is said by its own column or, as in TREC files, iterations."""
    if "judged_by" in columns:
        return judges_of_column(columns["judged_by"], table.name)
    if "iteration" in columns:
        return judges_of_iterations(*pd.factorize(columns["iteration"]))
    return None


def run_rows_of_table(table: Table) -> Rows:
    """Rows of a table of a run; the name is that of the column "run" where it holds one."""
    columns, scores = run_columns(table)
    rows = _checked_rows(table, columns, scores)
    names = columns["run"].unique() if "run" in columns else []
    return rows._replace(name=str(names[0]) if len(names) == 1 else None)


def run_columns(table: Table) -> tuple[dict, np.ndarray]:
    """Read the columns of a run by our names, and its scores.

    Scores are float64: finite, or -inf where a document is hidden. Ranks stand for scores that the
    table lacks. A column "shown" says which documents are hidden, else a rank of 0 does.
    """
    optional = "run", "rank", "shown"
    columns = columns_of(table, ("qid", "docno", "score"), optional=optional, may_be_empty=True)
    column = columns["score"]
    numbers = _numbers(table, column)
    if column.name == "rank":
        numbers = -numbers
    if "shown" in columns:
        is_hidden = ~_truth_values(table, columns["shown"])
    else:
        is_hidden = _has_rank_of_hidden(table, columns, numbers)
    if is_hidden.any():
        numbers = np.where(is_hidden, -np.inf, numbers)
    if table.line_of is not None and not (numbers < np.inf).all():
        row = int(np.argmin(numbers < np.inf))
        table.fail(row, f"the score {numbers[row]}", "; a score must be finite, or -inf.")
    return columns, check_scores(numbers, name=f"column {brief(column.name)} of {table.name}")


def _truth_values(table, column) -> np.ndarray:
    """Values of a column of True and False, which may be written as 1 and 0 or as text."""
    known = {True: True, False: False, "true": True, "false": False, "1": True, "0": False}
    codes, distinct = pd.factorize(column, use_na_sentinel=False)
    words = [value.lower() if isinstance(value, str) else value for value in distinct]
    values = pd.Series([known.get(word) for word in words], dtype=object).take(codes)
    if (unknown := values.isna().to_numpy()).any():
        row = int(unknown.argmax())
        table.fail(
            row,
            f"{brief(column.tolist()[row])} in column {brief(column.name)}",
            ", which says by True or False whether a document is shown; rename the column if it "
            "says something else.",
        )
    return values.to_numpy(dtype=bool)


def _has_rank_of_hidden(table, columns, scores) -> np.ndarray:
    """Find the rows of rank 0, which means hidden unless ranks are counted from 0."""
    ranks = (
        pd.to_numeric(columns["rank"], errors="coerce") if "rank" in columns else scores * np.nan
    )
    has_rank_0 = np.asarray(ranks == 0)
    is_0 = has_rank_0 & (scores != -np.inf)
    if not is_0.any():
        return is_0
    codes = pd.factorize(columns["qid"], use_na_sentinel=False)[0]
    n_queries = codes.max() + 1
    if len(codes) > n_queries and has_rank_0.all():
        raise InputError(
            f"{table.name} has the rank 0 in all rows, which means that all documents are hidden; "
            "leave out the column 'rank' if its scores rank the documents, or say with a column "
            "'shown' (True or False) what is hidden."
        )
    best = np.full(n_queries, -np.inf)
    np.fmax.at(best, codes, scores)
    is_first = is_0 & (scores == best[codes])
    n_of_rank_0 = np.bincount(codes, is_0)[best > -np.inf]
    counts_from_0 = (n_of_rank_0 == 1).all() and (is_first == is_0).all()
    return is_0 & (not counts_from_0)


def columns_of(table: Table, names, optional=(), *, may_be_empty=False):
    """Columns (or index levels) of a table by our names, whichever of the known ones it uses."""
    frame = table.frame
    if isinstance(frame, pd.DataFrame):
        if any(level is not None for level in frame.index.names):
            levels = [level for level in frame.index.names if level not in (None, *frame.columns)]
            frame = frame.reset_index(level=levels)
        present = [str(column) for column in frame.columns]
    else:
        present = list(frame.columns)
    if not present and not len(frame):
        raise InputError(f"{table.name} has no rows; at least one was expected.")
    columns = {}
    for name in (*names, *optional):
        known = [alias for alias in _names_of(name, present) if alias in present]
        if known:
            columns[name] = _series(frame[known[0]], known[0], table.name)
        elif name not in optional:
            raise InputError(f"{table.name} {_lack(name, present)}")
    if not may_be_empty and not all(map(len, columns.values())):
        raise InputError(f"{table.name} has no rows; at least one was expected.")
    return columns


def _names_of(name, present):
    """Names that a column may have beside those that are there."""
    if name == "label":
        return (*COLUMN_NAMES[name], "score") if has_labels(present) else COLUMN_NAMES[name]
    if name == "score":
        # BEIR writes judgments so, and no runs.
        return () if "corpus-id" in present else ("score", "rank")
    return COLUMN_NAMES[name]


def _lack(name, present):
    """What is wrong with a table that lacks a column, and what to do."""
    columns = f"its columns are {brief_list(present) or 'none'}"
    if name == "score" and "corpus-id" in present:
        return f"looks like a BEIR qrels file: judgments, where a run was expected; {columns}."
    expected = " or ".join(map(repr, COLUMN_NAMES[name][:2]))
    return f"has no column {expected}; {columns}. {_advice(name, present)}"


def _advice(name, present):
    """What to do where a column is missing."""
    if name == "score" and not {"label", "relevance"}.isdisjoint(present):
        return f"These look like judgments, where a run was expected: {ORDER}"
    if name == "label" and not {"score", "rank"}.isdisjoint(present):
        return f"This looks like a run, where judgments were expected: {ORDER}"
    return "Rename one of these."


def _series(column, name, argument):
    """A column as a pandas Series."""
    if isinstance(column, pd.DataFrame):
        raise InputError(f"{argument} has several columns {brief(name)}; keep one of them.")
    return column if isinstance(column, pd.Series) else pd.Series(column.to_list(), name=name)


def _numbers(table, column):
    """Values of a column of numbers as float64, missing ones as NaN."""
    name = f"column {brief(column.name)} of {table.name}"
    numbers = as_numbers(as_column(column, name), name)
    if numbers is None and table.line_of is not None:
        bad = (pd.to_numeric(column, errors="coerce").isna() & column.notna()).to_numpy()
        if bad.any():
            row = int(bad.argmax())
            text = f"{brief(column.iloc[row])} in column {brief(column.name)}"
            table.fail(row, text, ", where a number was expected.")
    if numbers is None:
        shown = next((value for value in column if not isinstance(value, Real)), column.dtype)
        raise InputError(
            f"{name} must hold numbers, got {brief(shown)}; convert it first, e.g. by "
            "pandas.to_numeric."
        )
    return as_floats(numbers, name)


def _checked_rows(table, columns, values):
    """Rows of the columns; a document that is twice in a topic is an error."""
    if table.line_of is not None:
        for name, what in (("qid", "query"), ("docno", "document")):
            ids = text_ids(columns[name], what, table.name, table.line_of)
            columns[name] = pd.Series(ids, name=columns[name].name)
    try:
        codes, topics = id_tokens(columns["qid"], columns["qid"].name).factorize()
        docnos = id_tokens(columns["docno"], columns["docno"].name)
    except ValueError as error:
        raise InputError(f"{table.name}: {error}") from None
    repeated = find_repeated(codes, docnos, pair_keys(codes, docnos))
    if repeated is not None:
        row, before = repeated
        shown = f"document {brief(docnos.take([row]).tolist()[0])} twice in topic "
        shown += brief(topics[codes[row]])
        if table.line_of is None:
            raise InputError(
                f"{table.name} holds {shown} (rows {before} and {row}); keep one of the two rows."
            )
        first = table.line_of(before)
        where = f" (first in line {first})" if first else ""
        raise FileFormatError(
            f"the file holds {shown}{where}; keep one of the two.", table.name, table.line_of(row)
        )
    return Rows(topics, codes, docnos, values)

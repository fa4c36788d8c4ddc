"""Judged rows from a file, whatever its format."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from skfilterrank._core.judges import JUDGED_BY, is_of_machine
from skfilterrank._core.results import counted
from skfilterrank._core.samples import PROBABILITY, is_sample
from skfilterrank._files.forms import COLUMN_NAMES
from skfilterrank._files.tables import is_table_name
from skfilterrank._warnings import warn_user
from skfilterrank.cli._columns import Columns, check_columns, choose_columns
from skfilterrank.exceptions import DataWarning, FileFormatError, InputError, brief
from skfilterrank.io import read_judged_table, read_letor

_TABLE_OPTIONS = (
    "query",
    "label",
    "document",
    "text",
    "query_text",
    "same",
    "numeric",
    "categorical",
)
_SHOWN_LABELS = 10
_LONGEST = 40
_LARGEST = 1e140
_MOST_FEATURES = 10_000_000


@dataclass
class JudgedRows:
    """Rows with everything the commands need."""

    X: Any
    y: Any  # a Series, None where labels are not read
    groups: pd.Index
    docnos: np.ndarray
    columns: Columns | None = None
    unused: tuple[str, ...] = ()
    judged_by: Any = None  # an array where labels state who gave them

    def __str__(self):
        rows, queries = len(self.groups), self.groups.nunique()
        text = f"{rows:,} documents of {queries:,} queries"
        if self.y is None:
            return text
        counts = self.y.value_counts()
        shown = [
            f"{f'{label:g}' if isinstance(label, float) else str(label)[:_LONGEST]}: {count:,}"
            for label, count in counts.iloc[:_SHOWN_LABELS].items()
        ]
        if len(counts) > len(shown):
            shown.append(f"{len(counts) - len(shown)} others")
        if unjudged := int(self.y.isna().sum()):
            shown.append(f"unjudged: {unjudged:,}")
        return f"{text}; labels {', '.join(shown)}"


def read_rows(path, arguments, *, like: dict | None = None, labelled=True) -> JudgedRows:
    """Read a LETOR file or a table; `like` holds the settings of the file a model was made on."""
    is_table = _is_table(path, arguments.input_format)
    if like is not None and is_table != (like["kind"] == "table"):
        kinds = ["LETOR text", "a table with named columns"]
        raise InputError(
            f"{path} is read as {kinds[is_table]}, but the model learns from {kinds[not is_table]}:"
            " give the same kind of file, or say with --input-format what it is."
        )
    read = _read_table if is_table else _read_letor
    return read(path, arguments, like, labelled)


def settings_of(rows: JudgedRows, arguments) -> dict:
    """What a model file has to remember to read the same kind of file again."""
    if rows.columns is None:
        is_sparse = not isinstance(rows.X, np.ndarray)
        return {"kind": "letor", "n_features": int(rows.X.shape[1]), "sparse": is_sparse}
    return {
        "kind": "table",
        "query": arguments.query,
        "label": arguments.label,
        "document": arguments.document,
        "columns": rows.columns.as_dict(),
    }


def _is_table(path, format):
    """Whether a file is a table with named columns rather than LETOR text."""
    if format is not None:
        return format != "letor"
    return is_table_name(path)


def _read_letor(path, arguments, like, labelled):
    """Rows of a LETOR file; a test file gets the width and form of the training file."""
    given = [name for name in _TABLE_OPTIONS if getattr(arguments, name, None) is not None]
    if given:
        raise InputError(
            f"--{given[0].replace('_', '-')} names a column, but {path} is read as LETOR text: "
            "leave the option out, or say with --input-format what the file is."
        )
    settings = like or {}
    try:
        data = read_letor(
            path, n_features=settings.get("n_features"), sparse=settings.get("sparse", "auto")
        )
    except FileFormatError as error:
        if arguments.input_format is None:
            error.add_note("(LETOR text was expected from the file's name; see --input-format.)")
        raise
    if not data.X.shape[1]:
        raise FileFormatError("no line has a feature to learn from, such as 1:0.5.", path)
    if data.X.shape[1] > _MOST_FEATURES:
        raise FileFormatError(
            f"the highest feature index is {data.X.shape[1]:,}, and models learn from at most "
            f"{_MOST_FEATURES:,} features: number those that occur from 1 on.",
            path,
        )
    if getattr(arguments, "learner", None) == "linear" and sp.issparse(data.X):
        raise InputError(
            f"{path}: less than a tenth of the features differ from 0, and --learner linear needs "
            "more of them: take --learner trees."
        )
    _check_size(data.X.data if sp.issparse(data.X) else data.X, "a feature", path)
    groups = pd.Index(data.groups.astype(str), name="qid")
    docnos = np.asarray(data.docnos, dtype=object)
    docnos = np.where(docnos == "", _numbered(groups), docnos)
    twice = pd.DataFrame({"qid": groups, "docno": docnos}).duplicated().to_numpy()
    if twice.any():
        row = int(twice.argmax())
        raise InputError(
            f"{path}: document {brief(docnos[row])} occurs a second time in query "
            f"{brief(groups[row])}; keep "
            "one judgment per document and query."
        )
    return JudgedRows(data.X, pd.Series(data.y, index=groups), groups, docnos)


def _read_table(path, arguments, like, labelled):
    """Rows of a table; a test file needs the columns that the training file was read by."""
    settings = like or {}
    query = arguments.query or settings.get("query") or "qid"
    label = (arguments.label or settings.get("label") or "label") if labelled else None
    read = partial(read_judged_table, path, query=query, label=label, format=arguments.input_format)
    table = read(document=arguments.document)
    if arguments.document is None:
        candidates = (settings.get("document"), *COLUMN_NAMES["docno"])
        document = next((name for name in candidates if name in table.columns), None)
        if document is not None:
            # Read again as ids, which keep their leading zeros and may occur only once.
            table = read(document=document)
    groups = pd.Index(table.index.get_level_values("qid"), name="qid")
    if table.index.nlevels > 1:
        docnos = np.asarray(table.index.get_level_values("docno"), dtype=object)
    else:
        docnos = _numbered(groups)
    table.index = groups
    y = None if label is None else table[label]
    if y is not None:
        _check_judgments(table, y, path)
    # A column "qid" that does not hold the query would be in the way, and marks are no features.
    no_features = (label, "qid", JUDGED_BY, PROBABILITY)
    X = table.drop(columns=[name for name in no_features if name in table.columns])
    if like is None:
        columns = choose_columns(X, label, arguments)
    else:
        columns = Columns.from_dict(settings["columns"])
    check_columns(columns, X, path)
    used = columns.used()
    if not used:
        raise InputError(
            f"{path} has neither a text nor a numeric column to learn from: name the columns with "
            "--text, --numeric or --categorical."
        )
    unused = tuple(name for name in table.columns if name not in used and name != label)
    numbers = {name: _numbers(X[name], path) for name in columns.numeric}
    strings = {
        name: _strings(X[name])
        for name in (columns.text, *columns.query_text, *columns.categorical)
        if name is not None
    }
    X = X[used].assign(**numbers, **strings).reset_index()
    judged_by = table[JUDGED_BY].to_numpy() if y is not None and JUDGED_BY in table else None
    return JudgedRows(X, y, groups, docnos, columns, unused, judged_by)


def _check_judgments(table, labels, path):
    """Raise for labels of a sample, and warn of those of machines."""
    if is_sample(labels, table.get(PROBABILITY)):
        raise InputError(
            f"{path} is a sample of judgments with inclusion probabilities below 1, from which "
            f"models do not learn; drop the column {PROBABILITY!r} if people judged all documents."
        )
    if JUDGED_BY not in table:
        return
    if n_machine := int((is_of_machine(table[JUDGED_BY]) & labels.notna()).sum()):
        warn_user(
            f"machines gave {n_machine:,} of {counted(int(labels.notna().sum()), 'label')} of "
            f"{path}; they count like people's, and values from them may be far off",
            DataWarning,
        )


def _numbers(values, path):
    """A column as floats, NaN where missing."""
    try:
        numbers = pd.to_numeric(values).to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{path}: column {brief(values.name)} must hold numbers ({error}): correct it, or "
            "leave it out by naming the other columns with --numeric."
        ) from None
    if np.isinf(numbers).any():
        raise InputError(
            f"{path}: column {brief(values.name)} holds infinite values: leave them empty where "
            "they are missing."
        )
    _check_size(numbers, f"column {brief(values.name)}", path)
    return numbers


def _check_size(numbers, what, path):
    """Raise for numbers whose squares are infinite, which models make NaN of."""
    largest = np.max(np.abs(numbers), initial=0, where=~np.isnan(numbers))
    if largest > _LARGEST:
        raise InputError(
            f"{path}: {what} holds numbers as large as {largest:.3g}, whose squares leave the "
            f"range of float64: scale them to {_LARGEST:g} at most."
        )


def _strings(values):
    """A column as strings, empty where missing."""
    return values.astype(object).where(values.notna(), "").astype("str")


def _numbered(groups):
    """Document names for rows that have none: query and number."""
    number = groups.to_series().groupby(groups.to_numpy()).cumcount().to_numpy() + 1
    return np.array([f"{qid}-{n}" for qid, n in zip(groups, number)], dtype=object)

"""Reading of judged rows with roles of columns, and writing of lists."""

import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from skfilterrank._base.words import JUDGED_BY, counted, is_of_machine, warn_user
from skfilterrank._files.files import open_for_writing
from skfilterrank._files.kinds import ROLES
from skfilterrank._files.tables import is_table_name
from skfilterrank._lists.gains import PROBABILITY, is_sample
from skfilterrank.cli._output import Section, data_output, text_of
from skfilterrank.exceptions import DataWarning, FileFormatError, InputError, brief, brief_list
from skfilterrank.io import read_judged_table, read_letor, write_run

_SHOWN_LABELS = 10
_LONGEST = 40
# A text has at least this many words on average; shorter strings are names or ids.
_WORDS_OF_TEXT = 3
# Two columns name the same kind of thing when they agree in at least this share of the rows.
_SHARE_EQUAL = 0.01
_QUERY_TEXT = "query_text"


@dataclass
class JudgedRows:
    """Rows of a file with all data that the commands need.

    Attributes
    ----------
    X : ndarray, sparse matrix or DataFrame
        Features.
    y : Series or None
        Labels; None if they are not read.
    groups, docnos : Index, ndarray
        Query and document of each row.
    settings : dict
        Settings for reading another file in the same way, saved with a model.
    unused : list of str
        Columns without a role.
    n_machine : int
        Number of labels that a column of the file says machines gave.
    """

    X: Any
    y: Any
    groups: pd.Index
    docnos: np.ndarray
    settings: dict[str, Any] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    n_machine: int = 0

    @property
    def columns(self) -> dict[str, Any] | None:
        """Roles of the columns of a table: text, query_text, same, numeric and categorical."""
        return self.settings.get("columns")

    def told_columns(self):
        """Yield lines that describe the roles of columns."""
        columns = self.columns or {}
        names = columns | {"same": map("=".join, columns.get("same", []))}
        names["text"] = [columns["text"]] if columns.get("text") else []
        roles = {role.replace("_", " "): ", ".join(each) for role, each in names.items()}
        if shown := "; ".join(f"{role}: {each}" for role, each in roles.items() if each):
            yield f"columns: {shown}"
        if self.unused:
            yield f"columns not used: {', '.join(self.unused)}"

    def lists(self, scores, name) -> pd.DataFrame:
        """Return lists by score; documents with score -inf are hidden and have no score."""
        return pd.DataFrame(
            {
                "qid": self.groups,
                "docno": self.docnos,
                "score": np.where(scores > -np.inf, scores, np.nan),
                "is_shown": scores > -np.inf,
                "run": name,
            }
        )

    def __str__(self):
        n_queries = counted(self.groups.nunique(), "query")
        text = f"{counted(len(self.groups), 'document')} of {n_queries}"
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


def read_rows(path, options: dict[str, Any], like: dict | None = None, labelled=True) -> JudgedRows:
    """Read a LETOR file or a table.

    `options` are the given ones: names of ids and labels, and roles. `like` holds the settings of a
    model's training file.
    """
    is_table = is_table_name(path)
    if like is not None and is_table != (like["kind"] == "table"):
        kinds = ["LETOR text", "a table with named columns"]
        raise InputError(
            f"{path} is read as {kinds[is_table]}, but the model learns from {kinds[not is_table]}."
            " Give the same kind of file; the end of its name says what it is."
        )
    if is_table:
        return _read_table(path, dict(options), like, labelled)
    if options:
        raise InputError(
            f"--{next(iter(options)).replace('_', '-')} names a column, but {path} is read as "
            "LETOR text. Leave the option out, or end the file's name in .csv, .jsonl or the like."
        )
    return _read_letor(path, like or {"n_features": None, "zero_based": "auto", "sparse": "auto"})


def _read_letor(path, like):
    """Read a LETOR file; a test file gets the settings of the training file."""
    try:
        how = {name: like[name] for name in ("n_features", "zero_based", "sparse")}
        data = read_letor(path, **how)
    except FileFormatError as error:
        error.add_note("(LETOR text was expected from the end of the file's name.)")
        raise
    n_features = data.X.shape[1]
    if not n_features:
        raise FileFormatError("no line has a feature to learn from, such as 1:0.5.", path)
    is_dense = isinstance(data.X, np.ndarray)
    _check_finite(data.X if is_dense else data.X.data, "a feature", path)
    groups = pd.Index(data.groups.astype(str), name="qid")
    docnos = np.asarray(data.docnos, dtype=object)
    docnos = np.where(docnos == "", _numbered(groups), docnos)
    twice = pd.MultiIndex.from_arrays([groups, docnos]).duplicated()
    if twice.any():
        row = int(twice.argmax())
        raise InputError(
            f"{path}: document {brief(docnos[row])} occurs a second time in query "
            f"{brief(groups[row])}. Keep one judgment per document and query."
        )
    settings = {"kind": "letor", "n_features": int(n_features), "sparse": not is_dense}
    settings["zero_based"] = data.zero_based
    return JudgedRows(data.X, pd.Series(data.y, index=groups), groups, docnos, settings)


def _read_table(path, options, like, labelled):
    """Read a table; a test file needs the columns of the training file."""
    asked = options.pop("columns", {})
    ids = (like or {}).get("ids", {}) | asked
    label = ids.get("label", "label") if labelled else None
    # A new file may lack the document ids of the training file.
    named = {role: name for role, name in ids.items() if role != "docno" or role in asked}
    if ids:
        # If one column is named, the reader does not guess that of the queries.
        named.setdefault("label", "label")
    perhaps = () if "docno" in asked else (ids.get("docno", "docno"), *ROLES["docno"].names)
    table = read_judged_table(path, columns=named, labelled=labelled, documents=perhaps)
    groups = pd.Index(table.index.get_level_values("qid"), name="qid")
    has_ids = table.index.nlevels > 1
    docnos = table.index.get_level_values("docno") if has_ids else _numbered(groups)
    docnos = np.asarray(docnos, dtype=object)
    table.index = groups
    y, n_machine = None, 0
    if label is not None:
        y = table[label]
        n_machine = _check_judgments(table, y, path)
    # A column "qid" of something else would clash with the index; the others are no features.
    X = table.drop(columns=[label, "qid", JUDGED_BY, PROBABILITY], errors="ignore")
    columns = _chosen_columns(X, options) if like is None else like["columns"]
    used = _used(columns)
    if missing := [name for name in used if name not in X]:
        raise InputError(
            f"{path} has no column {brief_list(missing)} to learn from; its columns are "
            f"{brief_list(X)}."
        )
    if not used:
        raise InputError(
            f"{path} has neither a text nor a numeric column to learn from. Name the columns with "
            "--text, --numeric or --categorical."
        )
    unused = tuple(name for name in table if name not in used and name != label)
    numbers = {name: _numbers(X[name], path) for name in columns["numeric"]}
    texts = [columns["text"]] if columns["text"] else []
    texts += [*columns["query_text"], *columns["categorical"]]
    words = {
        name: X[name].astype(object).where(X[name].notna(), "").astype("str") for name in texts
    }
    X = X[used].assign(**numbers, **words).reset_index()
    settings = {"kind": "table", "ids": ids, "columns": columns}
    return JudgedRows(X, y, groups, docnos, settings, unused, n_machine)


def _used(columns) -> list:
    """Return the distinct columns that have a role."""
    pairs = [name for pair in columns["same"] for name in pair]
    named = [columns["text"], *columns["query_text"], *columns["numeric"], *columns["categorical"]]
    return [name for name in dict.fromkeys([*named, *pairs]) if name is not None]


def _chosen_columns(table, named):
    """Return the given roles, and guess the others."""
    columns: dict[str, Any] = {"text": [None], "query_text": [], "same": [], "numeric": []}
    columns |= {"categorical": []} | named
    if len(columns["text"]) > 1:
        raise InputError(
            f"--text names {len(columns['text'])} columns, and models learn from one text."
        )
    (columns["text"],) = columns["text"]
    guessed = _guessed_columns(table[[name for name in table if name not in _used(columns)]])
    columns |= {role: names for role, names in guessed.items() if role not in named}
    if columns["text"] is None:
        if wrong := [role for role in ("query_text", "same") if role in named]:
            raise InputError(
                f"--{wrong[0].replace('_', '-')} says what belongs to a text, but no column is the "
                "text of the documents. Name it with --text."
            )
        # Without a document text, there is nothing to compare.
        columns |= {"query_text": [], "same": []}
    # In the form that a model file stores.
    return columns | {"same": [list(pair) for pair in columns["same"]]}


def _guessed_columns(table):
    """Guess columns of document texts, query texts, numbers, and comparable pairs of ids.

    A column with one value in all rows of a query belongs to the query. Of the other texts, the
    longest is the document. A column named "query_text" is always the text of the query.
    """
    groups = table.index
    of_query, of_document, numeric = {}, {}, []
    for column in table:
        if pd.api.types.is_numeric_dtype(table[column]) and column != _QUERY_TEXT:
            numeric.append(column)
            continue
        text = table[column].astype("str").fillna("")
        is_constant = bool((text == text.groupby(groups).transform("first")).all())
        is_of_query = is_constant or column == _QUERY_TEXT
        (of_query if is_of_query else of_document)[column] = text.str.count(r"\S+").mean()
    texts = {name: words for name, words in of_document.items() if words >= _WORDS_OF_TEXT}
    query = [
        name for name, words in of_query.items() if words >= _WORDS_OF_TEXT or name == _QUERY_TEXT
    ]
    same = [
        (mine, other)
        for mine in of_document
        if mine not in texts
        for other in of_query
        if other not in query and _often_equal(table[mine], table[other])
    ]
    document = max(texts, key=texts.__getitem__, default=None)
    return {"text": document, "query_text": query, "same": same, "numeric": numeric}


def _often_equal(left, right):
    """Tell whether two columns agree in some, but not in all rows."""
    known = (left.notna() & right.notna()).to_numpy()
    share = np.mean(known & (left.astype("str") == right.astype("str")).to_numpy(dtype=bool))
    return _SHARE_EQUAL <= share < 1


def _check_judgments(table, labels, path):
    """Raise for labels of a sample, and warn of those of machines; return how many these are."""
    if is_sample(labels, table.get(PROBABILITY)):
        raise InputError(
            f"{path} is a sample of judgments with inclusion probabilities below 1, from which "
            f"models do not learn. Drop the column {PROBABILITY!r} if people judged all documents."
        )
    if JUDGED_BY not in table:
        return 0
    if n_machine := int((is_of_machine(table[JUDGED_BY]) & labels.notna()).sum()):
        warn_user(
            f"machines gave {n_machine:,} of {counted(int(labels.notna().sum()), 'label')} of "
            f"{path}; they count like people's, and values from them may be far off",
            DataWarning,
        )
    return n_machine


def _numbers(values, path):
    """Return a column as floats, NaN where missing."""
    column = f"column {brief(values.name)}"
    try:
        numbers = pd.to_numeric(values).to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{path}: {column} must hold numbers ({error}). Correct it, or leave it out by naming "
            "the other columns with --numeric."
        ) from None
    _check_finite(numbers, column, path)
    return numbers


def _check_finite(numbers, what, path):
    """Raise for infinite numbers."""
    if np.isinf(numbers).any():
        raise InputError(
            f"{path}: {what} holds infinite values. Leave them empty where they are missing."
        )


def _numbered(groups):
    """Make ids of documents without id from query and number."""
    number = groups.to_series().groupby(groups.to_numpy()).cumcount().to_numpy() + 1
    return np.array([f"{qid}-{n}" for qid, n in zip(groups, number)], dtype=object)


def check_ids(rows: JudgedRows, format, instead) -> None:
    """Raise early for ids that a TREC run cannot contain."""
    if format != "trec":
        return
    nothing = np.full(len(rows.groups), -np.inf)
    try:
        write_run(io.StringIO(), rows.groups, docnos=rows.docnos, y_score=nothing)
    except InputError as error:
        error.add_note(f"({instead} takes any id.)")
        raise


def write_lists(out, lists: pd.DataFrame, format) -> str:
    """Write lists in the order of a TREC run, and describe how much is shown.

    `lists` has the columns qid, docno, score, is_shown and run.
    """
    is_shown = lists.pop("is_shown")
    target = data_output(out)
    if format == "trec":
        write_run(target, lists.assign(score=lists["score"].where(is_shown, -np.inf)))
    else:
        table = lists[["qid", "docno"]].assign(rank=0, score=lists["score"], shown=is_shown)
        table = table.sort_values(["qid", "score", "docno"], ascending=[True, False, False])
        table["rank"] = table.groupby("qid")["shown"].cumsum() * table["shown"]
        with open_for_writing(target) as write:
            records: list = table.to_dict("records")
            write(text_of(Section(table, records, []), format))
    n_shown, n_empty = int(is_shown.sum()), int((~is_shown.groupby(lists["qid"]).any()).sum())
    return (
        f"{counted(n_shown, 'document')}, {len(lists) - n_shown:,} hidden, "
        f"{counted(n_empty, 'query')} left empty"
    )

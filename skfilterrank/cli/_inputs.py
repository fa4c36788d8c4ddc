"""Reading of runs, judgments, gains, texts, clusters and pools for commands."""

import os
from collections import Counter
from pickle import PROTO

import pandas as pd

from skfilterrank._base.words import JUDGED_BY, N_ITEMS, counted, is_of_machine
from skfilterrank._files.files import read_bytes
from skfilterrank._files.forms import files_of_folders, name_of_path, text_of_path
from skfilterrank._files.kinds import LINES, ROLES, find_column, form_of, roles_of
from skfilterrank._files.tables import text_ids
from skfilterrank._files.topics import read_texts
from skfilterrank._lists.measure import counts_forbidden
from skfilterrank.cli._output import listed, progress, standard_input, tell
from skfilterrank.cli._types import LabelOptions, label_key, written
from skfilterrank.exceptions import FileFormatError, InputError, brief
from skfilterrank.io import QrelsIndex, read_qrels
from skfilterrank.io import read_run as read_any_run

STDIN = "-"
# A TREC run cannot contain an empty list, so a missing query may be an empty list or an omission.
DONE_WITH_MISSING = {
    "drop": "left out; --missing empty counts them as empty lists",
    "empty": "counted as empty lists; --missing drop leaves them out",
}
_MOST, _LONGEST, _SHOWN = 20, 40, 3
_OTHER_IDS = ("id", "_id")
DOCUMENT_NAMES = (*ROLES["docno"].sure, *_OTHER_IDS, *ROLES["docno"].doubtful)
# In files of topics, a column "query" contains texts, not ids.
TOPIC_NAMES = (*ROLES["qid"].sure, "topic", *_OTHER_IDS, "number", "num")
_TEXT_NAMES = ("title", "text", "body", "abstract", "contents", "content", "passage")
_QUERY_NAMES = ("query", "title", "text", "question", "description")


def some_runs(found, n_runs, one, many, separator=", ") -> str:
    """Say how many runs have findings, list the first of them, and add `one` or `many`.

    The text is empty where no run has any.
    """
    if not (found := {name: what for name, what in found.items() if what}):
        return ""
    which = listed([f"{name}: {what}" for name, what in found.items()], _SHOWN, separator)
    return f"{len(found)} of {counted(n_runs, 'run')} ({which}) {one if len(found) == 1 else many}"


def named_paths(paths) -> dict:
    """Return paths by file name, or by the whole path if several have the same name."""
    given, paths = paths, files_of_folders(paths)
    if given and not paths:
        raise InputError(f"{', '.join(given)}: no files in this folder. Name another one.")
    for path, count in Counter(paths).items():
        if count > 1:
            raise InputError(f"{path} is given {count} times. Give it once.")
    names = ["stdin" if path == STDIN else name_of_path(path) for path in paths]
    counts = Counter(names)
    return {
        name if counts[name] == 1 else text_of_path(path): path for name, path in zip(names, paths)
    }


def columns_of(path, columns, role):
    """Return the named columns of a table with the column `role`; None for TREC files."""
    if columns is None:
        return None
    own = {name: given for name, given in columns.items() if name in ("qid", "docno", role)}
    # If one column is named, the reader guesses no other.
    own = own or columns
    roles = roles_of(own)
    is_table = path == STDIN or form_of(read_bytes(path), [roles["qid"], roles["docno"]]) != LINES
    return own if is_table else None


def read_run(path, columns=None) -> pd.DataFrame:
    """Read a run from a path or standard input."""
    return read_any_run(source(path), columns=columns_of(path, columns, "score"))


def read_named_runs(paths, columns=None) -> dict:
    """Read runs, by their names."""
    from tqdm import tqdm

    bar = tqdm(named_paths(paths).items(), unit="run", disable=not progress(), leave=False)
    return {name: read_run(path, columns) for name, path in bar}


def check_n_items(n_items, measures) -> None:
    """Raise for --n-items if no measure depends on the size of the collection."""
    uses = any("n_items" in each.measure.options for each in measures.values())
    if n_items != N_ITEMS and not uses:
        raise InputError(f"--n-items has no effect on {', '.join(measures)}. Leave it out.")


def runs_to_measure(runs, columns) -> dict:
    """Return paths of runs by name; standard input is read, since worker processes lack it."""
    is_read = {name: path == STDIN or columns is not None for name, path in runs.items()}
    return {name: read_run(path, columns) if is_read[name] else path for name, path in runs.items()}


def check_paths(paths) -> None:
    """Raise for a missing file before thousands of other files are read."""
    for path in paths:
        if path != STDIN:
            os.stat(path)


def source(path):
    """Return a path, or the stream of standard input."""
    stdin = standard_input() if path == STDIN else None
    return path if stdin is None else getattr(stdin, "buffer", stdin)


def read_labels(path, reading: LabelOptions, measures=()):
    """Read judgments, also a sample or drawn label sets; labels that are texts become gains.

    Gains, and measures of forbidden documents, say what labels below 0 mean.
    """
    label = reading.unjudged_label
    if label == "warn" and (isinstance(reading.gains, dict) or counts_forbidden(measures)):
        label = None
    how = {"unjudged_label": label, "predicted": reading.predicted, "gains": reading.texts}
    how |= {"duplicates": reading.duplicates, "subtopic": reading.subtopic}
    how["columns"] = columns_of(path, reading.columns, "label")
    table = read_qrels(source(path), **how)
    match_gains(reading.numbers, {path: table["label"]})
    return table


def read_index(path, reading: LabelOptions, measures, may_have_draws=False) -> QrelsIndex:
    """Read judgments for measures, a dict of parsed ones."""
    labels = read_labels(path, reading, measures.values())
    own = getattr(reading, "own", "warn")
    return QrelsIndex(labels, own=own, may_have_draws=may_have_draws)


def without_machines(qrels, path):
    """Remove labels by machines from judgments, and print a message about them."""
    if JUDGED_BY not in qrels:
        return qrels
    is_machine = is_of_machine(qrels[JUDGED_BY])
    if n_labels := int(qrels["label"][is_machine].notna().sum()):
        tell(f"{path}: {counted(n_labels, 'label')} of machines, taken for not judged")
    return qrels.drop(columns=JUDGED_BY).assign(label=qrels["label"].mask(is_machine))


def holds_model(saved) -> bool:
    """Tell whether a file holds a model (not a threshold), by its first bytes."""
    begin = read_bytes(saved)[:9].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if begin not in (b"{", PROTO):
        raise FileFormatError(
            "it is neither a model of 'skfilterrank rank-filter --save' nor a threshold of "
            "'skfilterrank threshold --save'.",
            saved,
        )
    return begin == PROTO


def load_threshold_of_runs(path):
    """Load a saved threshold; raise if it hides by two scores, since a run has one."""
    from skfilterrank.thresholds import load_threshold

    if holds_model(path):
        raise InputError(
            f"{path} holds a model, and a threshold of 'skfilterrank threshold --save' is needed."
        )
    threshold = load_threshold(path)
    if threshold.cut_.n_more:
        raise InputError(
            f"{path} hides by two scores, and a run has one. Load it in Python with "
            "skfilterrank.thresholds.load_threshold."
        )
    return threshold


def match_gains(gains, labels: dict[str, pd.Series]):
    """Convert the keys of gains to the labels' type, since options are text.

    `labels` are the labels of each file; each must have a gain.
    """
    matched: dict = {}
    for path, y in labels.items():
        own = y.dropna().unique().tolist()
        if isinstance(gains, dict):
            if missing := [label for label in own if label_key(label) not in gains]:
                raise InputError(
                    f"--gains has no gain for {_listed(missing)}, of the labels of {path}. Add "
                    f"{_listed(missing, '=GAIN', ',')}."
                )
            matched |= {label: gains[label_key(label)] for label in own}
        elif words := [label for label in own if isinstance(label, bool | str)]:
            raise InputError(
                f"the labels of {path} are not numbers. Give the gain of each, below 0 where "
                f"it is forbidden, with --gains {_listed(words, '=GAIN', ',')}."
            )
    return matched if isinstance(gains, dict) else gains


def _listed(labels, end="", comma=", "):
    """Write the first labels in the form of --gains."""
    text = comma.join(written(label)[:_LONGEST] + end for label in labels[:_MOST])
    return text if len(labels) <= _MOST else f"{text}{comma}... for {len(labels):,} labels"


def read_documents(path, *, text=None) -> pd.Series:
    """Return the text of each document by id; several columns are joined."""
    return joined(read_document_texts(path, text=text))


def read_document_texts(path, *, text=None) -> pd.DataFrame:
    """Return text columns by document id: the requested ones, or else those with usual names."""
    table, line_of = _read_by_id(path, "document", DOCUMENT_NAMES)
    if text is None:
        text = [name for name in _TEXT_NAMES if name in table] or _text_columns(table)
    table = _one_row_each(table, text, "document", path, line_of)
    return _texts(table, text, path, " Name columns by --text.")


def read_topics(path) -> pd.DataFrame:
    """Return texts by query id, the query in the first column."""
    table, line_of = _read_by_id(path, "query", TOPIC_NAMES)
    columns = _text_columns(table)
    queries = [name for name in _QUERY_NAMES if name in table]
    # A log has a row for each passage of a query, and other columns are about the passages.
    is_log = bool(queries) and table.index.has_duplicates
    rest = [name for name in columns if name != "original_id" and not is_log]
    columns = [*queries[:1], *rest] or columns
    return _texts(_one_row_each(table, columns, "query", path, line_of), columns, path)


def joined(texts: pd.DataFrame) -> pd.Series:
    """Join the texts of each row; a title that the next text repeats occurs once."""
    parts = [texts[name].tolist() for name in texts.columns]
    return pd.Series(
        [" ".join(without_repetition(row)) for row in zip(*parts)], index=texts.index, dtype=object
    )


def without_repetition(texts) -> list[str]:
    """Return non-empty texts, without texts with which the following text begins."""
    given = [text for text in texts if text]
    return [
        text
        for text, following in zip(given, [*given[1:], None])
        if following is None or not following.startswith(text)
    ]


def _read_by_id(path, kind, names):
    """Return a table indexed by the first column of these names, and the lines of its rows."""
    data, name = read_bytes(path), str(path)
    if not data.strip():
        raise FileFormatError(f"the file is empty. A table with {kind} ids was expected.", path)
    table, line_of = read_texts(data, name, list(names))
    column = find_column(table, names)
    if column is None:
        raise FileFormatError(
            f"no column is called {' or '.join(names[:4])} or the like; the columns are "
            f"{', '.join(map(str, table.columns))}.",
            path,
        )
    ids = pd.Index(text_ids(table[column], name, line_of), dtype=object)
    return table.drop(columns=column).set_axis(ids, axis=0), line_of


def _one_row_each(table, columns, kind, path, line_of):
    """Return the first row of each id; raise where a later one has other values in the columns."""
    twice = table.index.duplicated()
    if not twice.any():
        return table
    values = table[[name for name in columns if name in table]].map(str)
    is_equal = values.assign(**{f"id of the {kind}": table.index}).duplicated().to_numpy()
    if (differs := twice & ~is_equal).any():
        row = int(differs.argmax())
        raise FileFormatError(
            f"the {kind} {brief(table.index[row])} occurs twice, with different values. Keep one "
            "row for each.",
            path,
            line_of(row),
        )
    return table[~twice]


def _text_columns(table):
    """Return the columns that contain text."""
    is_text = table.iloc[:100].map(lambda value: isinstance(value, str)).any()
    return list(table.columns[is_text])


def _texts(table, columns, path, advice=""):
    """Return columns as text, empty where missing."""
    absent = [name for name in columns if name not in table]
    if absent or not columns:
        what = f"no column {brief(absent[0])}" if absent else "no column that holds text"
        shown = ", ".join(map(str, table.columns)) or "none but the id"
        raise FileFormatError(f"there is {what}: the columns are {shown}.{advice}", path)
    texts = table[list(dict.fromkeys(columns))].astype(object)
    return texts.where(texts.notna(), "").map(str).astype(object)

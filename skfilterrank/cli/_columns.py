"""Which column of a judged table is what."""

from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd

from skfilterrank.exceptions import InputError, brief_list

# A text has at least this many words on average; shorter strings are names or ids.
_WORDS_OF_TEXT = 3
# Two columns name the same kind of thing when they agree in at least this share of the rows.
_SHARE_EQUAL = 0.01


_QUERY_TEXT = "query_text"


@dataclass
class Columns:
    """Roles of the columns."""

    text: str | None = None
    query_text: list[str] = field(default_factory=list)
    same: list[tuple[str, str]] = field(default_factory=list)
    numeric: list[str] = field(default_factory=list)
    categorical: list[str] = field(default_factory=list)

    def __str__(self):
        parts = [
            f"text: {self.text}" if self.text else "",
            f"query text: {', '.join(self.query_text)}" if self.query_text else "",
            f"same: {', '.join('='.join(pair) for pair in self.same)}" if self.same else "",
            f"numeric: {', '.join(self.numeric)}" if self.numeric else "",
            f"categorical: {', '.join(self.categorical)}" if self.categorical else "",
        ]
        return "; ".join(part for part in parts if part)

    def used(self) -> list[str]:
        """Every column that has a role, once."""
        named = [self.text, *self.query_text, *self.numeric, *self.categorical]
        named += [name for pair in self.same for name in pair]
        return list(dict.fromkeys(name for name in named if name is not None))

    def as_dict(self) -> dict:
        """Plain data, for a model file."""
        return asdict(self) | {"same": [list(pair) for pair in self.same]}

    @classmethod
    def from_dict(cls, data) -> "Columns":
        """Columns from plain data."""
        return cls(**data | {"same": [tuple(pair) for pair in data["same"]]})


def choose_columns(table: pd.DataFrame, label: str, arguments) -> Columns:
    """The columns that the arguments name; what they leave open is guessed."""
    named = {
        role: getattr(arguments, role)
        for role in ("text", "query_text", "same", "numeric", "categorical")
        if getattr(arguments, role) is not None
    }
    if len(named.get("text", [])) > 1:
        raise InputError(
            f"--text names {len(named['text'])} columns, and models learn from one text."
        )
    columns = Columns(**named | {"text": named["text"][0] if "text" in named else None})
    free = [name for name in table.columns if name != label and name not in columns.used()]
    guessed = _guess_columns(table[free], search_text=columns.text is None)
    for role in ("text", "query_text", "same", "numeric"):
        if role not in named:
            setattr(columns, role, getattr(guessed, role))
    if columns.text is None:
        # Nothing to compare them with.
        for role in ("query_text", "same"):
            if role in named:
                raise InputError(
                    f"--{role.replace('_', '-')} says what belongs to a text, but no column is the "
                    "text of the documents: name it with --text."
                )
            setattr(columns, role, [])
    return columns


def _guess_columns(table, search_text):
    """Tell texts of documents and queries, numbers, and pairs of ids that can be equal.

    A column that is the same in all rows of a query belongs to the query. The longest text that
    is not is the document. A column that is named "query_text" is what its name says, however
    short the queries are.
    """
    groups = table.index.get_level_values("qid")
    of_query, of_document, numeric = {}, {}, []
    for column in table.columns:
        values = table[column]
        if pd.api.types.is_numeric_dtype(values) and column != _QUERY_TEXT:
            numeric.append(column)
            continue
        text = values.astype("str").fillna("")
        is_constant = bool((text == text.groupby(groups).transform("first")).all())
        is_of_query = is_constant or column == _QUERY_TEXT
        (of_query if is_of_query else of_document)[column] = text.str.count(r"\S+").mean()
    texts = {name: words for name, words in of_document.items() if words >= _WORDS_OF_TEXT}
    document = max(texts, key=texts.get) if texts and search_text else None
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
    return Columns(document, query, same, numeric)


def _often_equal(left, right):
    """Whether two columns agree in some, but not in all rows."""
    known = (left.notna() & right.notna()).to_numpy()
    share = np.mean(known & (left.astype("str") == right.astype("str")).to_numpy(dtype=bool))
    return _SHARE_EQUAL <= share < 1


def check_columns(columns: Columns, table: pd.DataFrame, path) -> None:
    """Every column that has a role must be there."""
    missing = [name for name in columns.used() if name not in table.columns]
    if missing:
        raise InputError(
            f"{path} has no column {brief_list(missing)} to learn from; its columns are "
            f"{brief_list(table.columns)}."
        )

"""Which column of a judged table is what."""

from dataclasses import asdict, dataclass, field

import numpy as np
import pandas as pd

# A text has at least this many words on average; shorter strings are names or ids.
_WORDS_OF_TEXT = 3
# Two columns name the same kind of thing when they agree in at least this share of the rows.
_SHARE_EQUAL = 0.01


@dataclass
class Columns:
    """Roles of the columns."""

    text: str | None = None
    query_text: list[str] = field(default_factory=list)
    same: list[tuple[str, str]] = field(default_factory=list)
    numeric: list[str] = field(default_factory=list)

    def __str__(self):
        parts = [
            f"text: {self.text}" if self.text else "",
            f"query text: {', '.join(self.query_text)}" if self.query_text else "",
            f"same: {', '.join('='.join(pair) for pair in self.same)}" if self.same else "",
            f"numeric: {', '.join(self.numeric)}" if self.numeric else "",
        ]
        return "; ".join(part for part in parts if part)

    def as_dict(self) -> dict:
        """Plain data, for a model file."""
        return asdict(self) | {"same": [list(pair) for pair in self.same]}


def guess_columns(table: pd.DataFrame, label: str | None) -> Columns:
    """Tell texts of documents and queries, numbers, and pairs of ids that can be equal.

    A column that is the same in all rows of a query belongs to the query. The longest text that
    is not is the document.
    """
    groups = table.index.get_level_values("qid")
    candidates = [column for column in table.columns if column != label]
    of_query, of_document, numeric = {}, {}, []
    for column in candidates:
        values = table[column]
        if pd.api.types.is_bool_dtype(values) or pd.api.types.is_numeric_dtype(values):
            numeric.append(column)
            continue
        text = values.astype("str")
        is_constant = bool((text == text.groupby(groups).transform("first")).all())
        (of_query if is_constant else of_document)[column] = text.str.count(r"\S+").mean()
    texts = {name: words for name, words in of_document.items() if words >= _WORDS_OF_TEXT}
    document = max(texts, key=texts.get) if texts else None
    query = [name for name, words in of_query.items() if words >= _WORDS_OF_TEXT]
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
    share = np.mean(left.notna() & (left.astype("str") == right.astype("str")))
    return _SHARE_EQUAL <= share < 1


def check_columns(columns: Columns, table: pd.DataFrame) -> None:
    """Every named column must be there."""
    named = [columns.text, *columns.query_text, *columns.numeric]
    named += [name for pair in columns.same for name in pair]
    missing = [name for name in named if name is not None and name not in table.columns]
    if missing:
        raise ValueError(
            f"the table has no column {', '.join(map(repr, missing))}; its columns are "
            f"{', '.join(map(repr, table.columns))}."
        )

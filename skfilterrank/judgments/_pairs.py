"""Queries and documents of tables, in columns or index levels "qid" and "docno"."""

import pandas as pd

from skfilterrank.exceptions import InputError, brief, brief_list

KEY = ["qid", "docno"]


def key_columns(table, name: str, *others: str) -> pd.DataFrame:
    """Return a table with "qid", "docno" and others as columns, from columns or index levels.

    Parameters
    ----------
    table : DataFrame, Series or MultiIndex
        The table.
    name : str
        Name of the argument.
    *others : str
        Other required columns.

    Raises
    ------
    InputError
        If it is not a table, or lacks these columns and levels.
    """
    given = table
    if isinstance(table, pd.MultiIndex):
        table = table.to_frame(index=False)
    elif isinstance(table, pd.Series):
        table = table.to_frame()
    is_frame = isinstance(table, pd.DataFrame)
    if is_frame:
        levels = [level for level in table.index.names if level not in (None, *table.columns)]
        table = table.reset_index(level=levels) if levels else table
    wanted = [*KEY, *others]
    if not is_frame or not set(wanted) <= set(table.columns):
        got = f"columns {brief_list(table.columns)}" if is_frame else brief(given)
        raise InputError(
            f"{name} must be a DataFrame or MultiIndex with {brief_list(wanted)}, got {got}."
        )
    return table


def refuse_repeated(queries, documents, name: str) -> None:
    """Raise for the first document that occurs twice in its query; missing ids are ignored."""
    pairs = pd.DataFrame({"query": queries, "document": documents}, dtype=object)
    again = (pairs.duplicated() & pairs["document"].notna()).to_numpy()
    if again.any():
        row = int(again.argmax())
        query, document = pairs.iloc[row]
        raise InputError(
            f"{name} holds document {brief(document)} twice in query {brief(query)}, again in row "
            f"{row}: keep one row of each."
        )

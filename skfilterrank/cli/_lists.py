"""Ranked and filtered lists as commands write them: a TREC run, CSV or lines of JSON."""

import io
import json
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._files.files import open_for_writing
from skfilterrank._files.tables import csv_text
from skfilterrank.cli._streams import format_by_ending
from skfilterrank.exceptions import InputError
from skfilterrank.io import write_run


class Counts(NamedTuple):
    """Rows that are written and filtered, and queries of which no row is left."""

    written: int
    filtered: int
    empty_queries: int


def list_format(path, format=None) -> str:
    """The format that is named, else the one that a file ends in, else a TREC run."""
    return format or format_by_ending(path or "-", "trec")


def check_ids(rows, format, instead) -> None:
    """Raise for ids that a TREC run cannot carry, before any work is done."""
    if format != "trec":
        return
    nothing = np.full(len(rows.groups), -np.inf)
    try:
        write_run(io.StringIO(), rows.groups, docnos=rows.docnos, y_score=nothing)
    except InputError as error:
        error.add_note(f"({instead} takes any id.)")
        raise


def write_lists(target, rows, scores, *, name, format):
    """Write what is shown of each query, queries by id and documents as a TREC run ranks them."""
    if format == "trec":
        return write_run(target, rows.groups, docnos=rows.docnos, y_score=scores, name=name)
    lists = pd.DataFrame({"qid": rows.groups, "docno": rows.docnos, "score": scores})
    shown = lists[lists["score"] > -np.inf].sort_values(
        ["qid", "score", "docno"], ascending=[True, False, False]
    )
    shown.insert(2, "rank", shown.groupby("qid").cumcount() + 1)
    shown["run"] = name
    with open_for_writing(target) as write:
        if format == "csv":
            write(csv_text(shown, index=False))
        else:
            write("".join(json.dumps(row) + "\n" for row in shown.to_dict("records")))
    n_empty = lists["qid"].nunique() - shown["qid"].nunique()
    return Counts(len(shown), len(lists) - len(shown), n_empty)

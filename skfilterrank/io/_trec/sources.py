"""The one door for judgments and runs: lines in columns, or a table, of whatever holds them."""

from collections.abc import Mapping

import pandas as pd

from skfilterrank._files.files import is_path, read_bytes, source_name
from skfilterrank._files.forms import (
    LINES,
    form_of,
    is_empty,
    n_columns,
    read_table,
    unknown_header,
)
from skfilterrank._files.named_runs import ORDER, are_several_runs
from skfilterrank._files.objects import as_table
from skfilterrank._files.packings import unpacked_name
from skfilterrank.exceptions import FileFormatError, InputTypeError, brief
from skfilterrank.io._trec.frames import Table
from skfilterrank.io._trec.lines import MS_MARCO_RUN, PRELS, QRELS, RUN, TrecLines

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# For each layout: what it is called, the value of a row, the columns that are read, and another
# layout that is told by its number of columns.
_KINDS = {
    QRELS: ("judgments", "label", ("topic", "iteration", "docno", "label"), None),
    PRELS: (
        "judgments of a sample",
        "label",
        ("topic", "docno", "label", "inclusion_probability"),
        None,
    ),
    RUN: ("a run", "score", ("topic", "docno", "score", "run"), MS_MARCO_RUN),
}


def _of_the_other_role(source, value):
    """Name what is a run where judgments belong, or judgments where a run belongs; else None."""
    name = type(source).__name__
    if value == "score":
        is_other = name in ("Qrels", "QrelsIndex")  # the first is of ranx
        return f"judgments ({name})" if is_other else None
    if name in ("AlignedRun", "RankedPool") or (name == "Run" and hasattr(source, "to_dict")):
        return f"runs ({name})"
    return f"several runs ({name})" if are_several_runs(source) else None


def opened(source, layout, argument, *, also=()) -> TrecLines | Table:
    """What a path, an open file, a data frame or any other object holds."""
    what, value, columns, other = _KINDS[layout]
    got = _of_the_other_role(source, value)
    if got is not None:
        raise InputTypeError(f"{argument} must be {what}, got {got}: {ORDER}")
    columns = (*columns, *also)
    if not is_path(source) and not hasattr(source, "read"):
        frame = as_table(source, value)
        if frame is None:
            if isinstance(source, Mapping):
                raise InputTypeError(
                    f"{argument} must be a dict {{topic: {{document: {value}}}}}, got "
                    f"{brief(source)}" + ("." if source else ", which holds no topic.")
                )
            raise InputTypeError(
                f"{argument} must be a data frame, a path or an open file, got "
                f"{type(source).__name__}. A dict {{topic: {{document: {value}}}}}, an Arrow table "
                "and the objects of ranx, ir_measures and ir_datasets are taken too."
            )
        return Table(frame, argument)
    name = source_name(source)
    content = read_bytes(source).removeprefix(_BYTE_ORDER_MARK)
    if layout is RUN and is_empty(content):
        # A filter that hides every document writes such a run.
        return Table(pd.DataFrame({"qid": [], "docno": [], "score": []}), name, lambda row: None)
    form = form_of(content)
    if form is not LINES:
        frame, line_of = read_table(content, form, name, what)
        return Table(frame, name, line_of)
    if other is not None and n_columns(content) == len(other.names):
        return TrecLines(content, name, other, other.names)
    try:
        return TrecLines(content, name, layout, columns)
    except FileFormatError as error:
        if said := unknown_header(content):
            raise FileFormatError(said, name, 1) from error
        if not unpacked_name(str(name)).lower().endswith((".parquet", ".pq", ".feather", ".arrow")):
            raise
        raise FileFormatError(
            "its name says that it is binary, and it does not begin as such a table does: it is "
            "damaged. Write or fetch it again.",
            name,
        ) from error

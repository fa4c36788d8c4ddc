"""What holds judgments or a run in memory, as a table: told by what an object can do.

No package is imported for it: whoever passes an object of ranx, pyarrow, ir_measures or
ir_datasets has it.
"""

from collections.abc import Iterator, Mapping
from itertools import islice

import pandas as pd

from skfilterrank.exceptions import InputError


def is_frame(data):
    """Whether data is a data frame of pandas or polars."""
    return isinstance(data, pd.DataFrame) or hasattr(data, "get_column")


def is_by_topic(data):
    """Whether data is a dict {topic: {document: label or score}}."""
    return (
        isinstance(data, Mapping)
        and len(data) > 0
        and all(isinstance(documents, Mapping) for documents in data.values())
        and not any(
            isinstance(value, Mapping) or hasattr(value, "columns")
            for documents in data.values()
            for value in islice(documents.values(), 1)
        )
    )


def _has_table(data):
    # A column, which has a length and no columns, becomes a Series.
    return hasattr(data, "to_pandas") and (hasattr(data, "columns") or not hasattr(data, "__len__"))


def _is_arrow(data):
    # A column of numbers has no schema.
    return hasattr(data, "__arrow_c_stream__") and hasattr(data, "schema")


def _is_rows(data):
    return isinstance(data, list | tuple) and bool(data) and _is_row(data[0])


def _is_row(row):
    return hasattr(row, "_fields") or (isinstance(row, Mapping) and not is_by_topic(row))


def _of_arrow(data, value):
    import pyarrow as pa

    return pa.table(data).to_pandas()


def _of_topics(data, value):
    qids, docnos, values = [], [], []
    for qid, documents in data.items():
        qids += [qid] * len(documents)
        docnos += documents
        values += documents.values()
    return pd.DataFrame({"qid": qids, "docno": docnos, value: values})


def _of_rows(data, value):
    rows = list(data)
    kinds = {type(row) for row in rows}
    if rows and (len(kinds) > 1 or not _is_row(rows[0])):
        shown = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise InputError(
            f"rows of {'qrels' if value == 'label' else 'a run'} must be named tuples of one kind, "
            f"such as those of ir_measures and ir_datasets, or dicts, got {shown}."
        )
    return pd.DataFrame.from_records(rows, columns=getattr(next(iter(rows), None), "_fields", None))


# From the first to the last: what tells an object, and its table. `value` is "label" or "score".
_KINDS = (
    (lambda data: isinstance(data, pd.Series), None),
    (is_frame, lambda data, value: data),
    (lambda data: hasattr(data, "collect_schema"), lambda data, value: data.collect()),
    (_has_table, lambda data, value: data.to_pandas()),
    (_is_arrow, _of_arrow),
    (is_by_topic, _of_topics),
    # Those of ranx.
    (
        lambda data: hasattr(data, "to_dict") and hasattr(data, "get_doc_ids_and_scores"),
        lambda data, value: _of_topics(data.to_dict(), value),
    ),
    # Datasets of ir_datasets.
    (
        lambda data: hasattr(data, "qrels_iter") or hasattr(data, "scoreddocs_iter"),
        lambda data, value: _of_rows(
            data.qrels_iter() if value == "label" else data.scoreddocs_iter(), value
        ),
    ),
    (lambda data: _is_rows(data) or isinstance(data, Iterator), _of_rows),
)


def is_table(data):
    """Whether an object holds judgments or a run, by what can be told without reading them."""
    return _reader(data) is not None


def as_table(data, value):
    """The rows of an object as a data frame; None where it is none of the kinds."""
    read = _reader(data)
    return None if read is None else read(data, value)


def _reader(data):
    if hasattr(data, "read") or isinstance(data, str | bytes):
        return None
    return next((read for is_kind, read in _KINDS if is_kind(data)), None)

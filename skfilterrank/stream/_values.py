"""The values of every query, written as they come."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from skfilterrank._files.files import check_writable, is_path, open_replacing
from skfilterrank.exceptions import InputError, InputTypeError, brief
from skfilterrank.stream._frames import import_pyarrow


class ValuesFile:
    """A Parquet file with a row for each query."""

    def __init__(self, handle, measures):
        self._handle, self._measures = handle, measures
        self._writer = None

    @classmethod
    @contextmanager
    def open(cls, path, measures, rows) -> Iterator["ValuesFile"]:
        """A new file, which is there when the block has ended without an error."""
        if not is_path(path):
            raise InputTypeError(f"out must be a path, got {brief(path)}.")
        if rows.are_in(path):
            raise InputError(
                f"out is {brief(path)}, where rows are read from: name a file apart from them."
            )
        if "qid" in measures:
            raise InputError("out has a column 'qid' of query ids: no measure can have that name.")
        import_pyarrow("writing values to Parquet")
        check_writable(path)
        with open_replacing(path) as handle:
            file = cls(handle, measures)
            try:
                yield file
            finally:
                if file._writer is not None:
                    file._writer.close()

    def write(self, ids: tuple, values: tuple) -> None:
        """Add queries."""
        import pyarrow as pa
        from pyarrow import parquet

        for some, table in zip(ids, values):
            columns = {"qid": pa.array(some)}
            for name, column in zip(self._measures, table.T):
                columns[name] = pa.array(np.ascontiguousarray(column))
            batch = pa.table(columns)
            if self._writer is None:
                self._writer = parquet.ParquetWriter(self._handle, batch.schema)
            self._writer.write_table(batch)

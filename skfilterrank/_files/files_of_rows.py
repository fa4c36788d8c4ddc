"""Parquet files, divided into parts that any process can read."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from skfilterrank._files.files import check_name, reason_of
from skfilterrank._files.frames_of_rows import Wanted, block_of, check_columns
from skfilterrank._files.tables import import_pyarrow
from skfilterrank._lists.row_blocks import Block
from skfilterrank.exceptions import FileFormatError, InputError, brief, brief_list

_PARQUET = (".parquet", ".pq")


class FilePart(NamedTuple):
    """Some row groups of a Parquet file."""

    path: str
    first: int
    stop: int
    n_before: int
    wanted: Wanted
    chunk_rows: int

    def blocks(self) -> Iterator[Block]:
        """Yield the rows of the part."""
        n_before = self.n_before
        for batch in _checked(self.path, self._batches()):
            yield block_of(batch, self.wanted, f"{self.path}, rows from {n_before:,}")
            n_before += batch.num_rows

    def _batches(self):
        file = open_file(self.path)
        sizes = _sizes_of(file)
        groups = [place for place in range(self.first, self.stop) if sizes[place]]
        if groups:
            names = self.wanted.names
            yield from file.iter_batches(self.chunk_rows, row_groups=groups, columns=names)


def open_file(path):
    """Open a Parquet file."""
    from pyarrow import parquet

    with _errors_of(path):
        return parquet.ParquetFile(path, buffer_size=1 << 20)


def _sizes_of(file):
    """Return the number of rows of each row group."""
    return [file.metadata.row_group(place).num_rows for place in range(file.num_row_groups)]


@contextmanager
def _errors_of(path):
    """Name the file in errors of pyarrow, which can be of any type if the file is damaged."""
    try:
        yield
    except OSError as error:
        # pyarrow raises OSError itself, without errno.
        if error.errno is not None:
            raise
        raise _damaged(path, error) from error
    except (InputError, GeneratorExit):
        raise
    except Exception as error:
        raise _damaged(path, error) from error


def _checked(path, batches):
    """Validate and yield the batches: pyarrow can crash on inconsistent data."""
    while True:
        with _errors_of(path):
            batch = next(batches, None)
            if batch is None:
                return
            batch.validate(full=True)
        yield batch


def _damaged(path, error):
    return FileFormatError(
        "the file is not a Parquet file, or is damaged or ends early "
        f"({reason_of(error)}). For other files, pass an iterator of another library, such as "
        "Rows(lambda: pandas.read_csv(path, chunksize=10**6)).",
        path,
    )


class Files:
    """Several files with the same columns.

    Parameters
    ----------
    paths : list of path
        Files, and folders of files; the files of a folder are read in the order of their names.
    """

    is_repeatable = True

    def __init__(self, paths, chunk_rows: int):
        import_pyarrow("reading Parquet files")
        for path in paths:
            check_name(path)
        self._named = [os.path.realpath(os.fsdecode(path)) for path in paths]
        self._paths = [file for path in paths for file in _files_in(os.fspath(path))]
        self._chunk_rows = chunk_rows
        self.n_rows: int | None = None

    def holds(self, path) -> bool:
        """Tell whether a path is one of the given files, or is in one of the given folders."""
        target = os.path.realpath(os.fsdecode(path))
        return any(os.path.commonpath([each, target]) == each for each in self._named)

    def pieces(self, wanted: Wanted) -> Iterator[FilePart]:
        """Yield parts of about `chunk_rows` rows, joined from row groups."""
        types: dict = {}
        first_path = self._paths[0]
        opened = []
        for path in self._paths:
            file = open_file(path)
            schema = file.schema_arrow
            check_columns(schema.names, wanted.names, "the file", FileFormatError, path)
            own = {name: _type_of(schema.field(name).type) for name in wanted.names}
            types = types or own
            for name, kind in own.items():
                if kind != types[name]:
                    raise FileFormatError(
                        f"column {brief(name)} holds {kind}, but {types[name]} in {first_path}: "
                        "write one type in all files.",
                        path,
                    )
            with _errors_of(path):
                opened.append((path, _sizes_of(file)))
        self.n_rows = sum(sum(sizes) for _, sizes in opened) or None
        for path, sizes in opened:
            first = n_before = n_rows = 0
            for place, size in enumerate(sizes, 1):
                n_rows += size
                if n_rows >= self._chunk_rows or place == len(sizes):
                    yield FilePart(path, first, place, n_before, wanted, self._chunk_rows)
                    first, n_before, n_rows = place, n_before + n_rows, 0


def _files_in(path):
    """List a file, or all files of a folder and its subfolders."""
    if not os.path.isdir(path):
        return [path]
    found = sorted(
        str(each)
        for each in Path(path).rglob("*")
        if each.is_file() and not any(map(_is_hidden, each.relative_to(path).parts))
    )
    other = [each for each in found if not each.lower().endswith(_PARQUET)]
    if other or not found:
        held = f"it holds {brief_list(other)} too" if other else "it holds none"
        raise InputError(
            f"rows is the folder {brief(path)}, and all files of a folder are read, but {held}: "
            f"expected names that end in {' or '.join(_PARQUET)}."
        )
    return found


def _is_hidden(name):
    """Tell whether query engines ignore a file or folder, such as markers and uncommitted files.

    As in Spark, a folder ``_column=value`` is a partition, and its rows are read.
    """
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _type_of(kind):
    """Return the kind of a column type, on which files must agree; widths of numbers may differ."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_boolean(kind):
        return "whole numbers"
    if types.is_floating(kind):
        return "numbers with a fraction"
    if types.is_string(kind) or types.is_large_string(kind) or "string" in str(kind):
        return "text"
    return str(kind)

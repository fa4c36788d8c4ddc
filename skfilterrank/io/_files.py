"""Opening what a caller passes: a path, a gzip file, or an open handle."""

import gzip
import os
import zlib
from contextlib import contextmanager

from skfilterrank.exceptions import InputError, InputTypeError

_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 25


class FileFormatError(InputError):
    """A file does not hold what its format promises.

    Its text reads ``file:line: message``, where the message says what was expected, what came
    and what to do.

    Parameters
    ----------
    message : str
        What is wrong, and what to do.
    file : str, default=None
        Name of the file.
    line : int, default=None
        Number of the line in the file, from 1. None where the file as a whole is wrong.

    Attributes
    ----------
    message, file, line
        The parameters.

    Examples
    --------
    >>> from skfilterrank.io import FileFormatError
    >>> print(FileFormatError("no query id", file="train.txt", line=3))
    train.txt:3: no query id
    """

    def __init__(self, message, file=None, line=None):
        super().__init__(message, file, line)
        self.message, self.file, self.line = message, file, line

    def __str__(self):
        place = [str(part) for part in (self.file, self.line) if part is not None]
        return ": ".join([":".join(place), self.message] if place else [self.message])


def is_path(source):
    """Whether source names a file, rather than being an open one."""
    return isinstance(source, str | os.PathLike)


def source_name(source):
    """Name for messages of a path or handle."""
    if is_path(source):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


@contextmanager
def open_for_reading(source):
    """Yield a handle on a path (unzipped where it is gzip, whatever its name) or on a handle."""
    if not is_path(source):
        if not hasattr(source, "read"):
            raise InputTypeError(
                f"a path or an open file was expected, got {type(source).__name__}; "
                "pass a str, a pathlib.Path or an open handle."
            )
        yield source
        return
    with open(source, "rb") as raw:
        if raw.peek(2)[:2] != _GZIP_MAGIC:
            yield raw
            return
        with gzip.GzipFile(fileobj=raw) as unzipped:
            try:
                yield unzipped
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise _damaged(error, source_name(source)) from error


@contextmanager
def open_for_writing(target):
    """Yield a function that writes text to a path (UTF-8, zipped if it ends in .gz) or handle."""
    if not is_path(target):
        if not hasattr(target, "write"):
            raise InputTypeError(
                f"a path or an open file was expected, got {type(target).__name__}; "
                "pass a str, a pathlib.Path or a handle opened for writing."
            )
        yield _text_writer(target)
        return
    with open(target, "wb") as raw:
        if os.fspath(target).endswith(".gz"):
            # Neither name nor time of day go into the header: same rows, same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as zipped:
                yield _text_writer(zipped)
        else:
            yield _text_writer(raw)


def _text_writer(handle):
    """Function that writes text to a handle, encoding it where the handle takes bytes."""
    try:
        handle.write("")
    except TypeError:
        return lambda text: handle.write(text.encode("utf-8"))
    return handle.write


def read_bytes(source):
    """Content of a path or handle as bytes, unzipped."""
    if is_path(source):
        with open(source, "rb") as handle:
            data = handle.read()
    else:
        with open_for_reading(source) as handle:
            try:
                data = handle.read()
            except UnicodeDecodeError as error:  # a text handle decodes by itself
                raise FileFormatError(
                    f"some byte does not decode ({error}); open the file in binary mode, or "
                    "convert it to UTF-8.",
                    source_name(source),
                ) from error
    if isinstance(data, str):
        return data.encode("utf-8")
    return _unzip(data, source_name(source)) if data[:2] == _GZIP_MAGIC else data


def _unzip(data, name):
    """Content of gzip bytes, which may hold several members one after the other."""
    parts = []
    try:
        while data:
            # In one piece and with zlib's own checksum: faster than the gzip module's stream.
            member = zlib.decompressobj(wbits=31)
            parts.append(member.decompress(data))
            if not member.eof:
                raise EOFError("it ends before its end mark")
            data = member.unused_data.lstrip(b"\0")
    except (EOFError, zlib.error) as error:
        raise _damaged(error, name) from error
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _damaged(error, name):
    """What a gzip file that cannot be unzipped is worth."""
    return FileFormatError(f"the gzip file is damaged or cut short ({error}); copy it again.", name)


def decode(data, name, first_line=1):
    """UTF-8 text of bytes; the error of an undecodable byte names its line."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise FileFormatError(
            f"byte 0x{data[error.start]:02x} is not UTF-8; "
            "convert the file to UTF-8 first (for example with iconv).",
            name,
            line,
        ) from error


def iter_line_chunks(source):
    """Yield (number of the first line, list of lines as str) for blocks of some 32 MB."""
    name, first_line = source_name(source), 1
    with open_for_reading(source) as handle:
        while True:
            try:
                lines = handle.readlines(_CHUNK_BYTES)
            except UnicodeDecodeError as error:  # a text handle decodes by itself
                raise FileFormatError(
                    f"some byte from here on does not decode ({error}); open the file in binary "
                    "mode, or convert it to UTF-8.",
                    name,
                    first_line,
                ) from error
            if not lines:
                return
            n_lines = len(lines)
            if isinstance(lines[0], bytes):
                lines = decode(b"".join(lines), name, first_line).split("\n")[:n_lines]
            if first_line == 1:
                lines[0] = lines[0].removeprefix("\ufeff")
            yield first_line, lines
            first_line += n_lines

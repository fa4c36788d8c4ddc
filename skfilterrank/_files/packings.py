"""Packed files (gzip, bzip2, xz, zstd), told by their first bytes, whatever their names."""

import bz2
import importlib.util
import io
import lzma
import re
import zlib
from collections.abc import Callable
from typing import NamedTuple

from skfilterrank.exceptions import FileFormatError, MissingPackageError

# Beyond both of them a file is refused; judgments and runs unpack to some 3 to 70 times their size.
_MOST_BYTES, _MOST_TIMES = 1 << 30, 200
# What tells packings apart stands in so many bytes.
MAGIC_BYTES = 10


class _Packing(NamedTuple):
    """One kind of packed file: endings, first bytes, and what unpacks a member of it.

    `n_bytes` are unpacked at a time: few where a byte can stand for many thousands; where members
    are short, the rest of it is copied for each of them. Errors are those of damaged files.
    """

    name: str
    ending: str
    magic: re.Pattern
    unpacker: Callable
    n_bytes: int
    errors: tuple = ()


def _zstd():
    """What unpacks zstd, which Python has no package of its own for."""
    import zstandard

    return zstandard.ZstdDecompressor().decompressobj()


_PACKINGS = (
    # zlib's own checksum: faster than the gzip module's stream.
    _Packing(
        "gzip",
        ".gz",
        re.compile(rb"\x1f\x8b"),
        lambda: zlib.decompressobj(wbits=31),
        1 << 16,
        (zlib.error,),
    ),
    _Packing(
        "bzip2",
        ".bz2",
        re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
        bz2.BZ2Decompressor,
        1 << 12,
        (OSError, ValueError),
    ),
    _Packing(
        "xz",
        ".xz",
        re.compile(rb"\xfd7zXZ\0"),
        lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ),
        1 << 12,
        (lzma.LZMAError,),
    ),
    _Packing("zstd", ".zst", re.compile(rb"\x28\xb5\x2f\xfd"), _zstd, 1 << 12, (Exception,)),
)
ENDINGS = tuple(packing.ending for packing in _PACKINGS)


def packing_of(head):
    """The packing of a file that begins with these bytes; None where it is not packed."""
    return next((packing for packing in _PACKINGS if packing.magic.match(head)), None)


def unpacked_name(name):
    """A file's name without the ending of a packing."""
    for ending in ENDINGS:
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def most_bytes(n_packed):
    """How large the content of so many packed bytes may be."""
    return max(_MOST_BYTES, _MOST_TIMES * n_packed)


def unpacked(data, packing, name):
    """Content of a packed file's bytes; an error names the line that is not whole."""
    pieces = []
    step = packing.n_bytes
    chunks = (data[begin : begin + step] for begin in range(0, len(data), step))
    try:
        for piece in pieces_of(chunks, packing, name):
            pieces.append(piece)
    except _DamagedError as error:
        line = sum(piece.count(b"\n") for piece in pieces) + 1
        raise FileFormatError(error.message, name, line) from error
    return b"".join(pieces)


def unpacked_stream(raw, packing, name):
    """An open file that unpacks what another one holds."""
    chunks = iter(lambda: raw.read(packing.n_bytes), b"")
    return io.BufferedReader(_Pieces(pieces_of(chunks, packing, name)), 1 << 16)


def pieces_of(chunks, packing, name):
    """Yield what is in the chunks of a packed file, which may hold several members."""
    if packing.unpacker is _zstd and importlib.util.find_spec("zstandard") is None:
        raise MissingPackageError(
            f"reading {name} needs zstandard, which is not installed; "
            'pip install "skfilterrank[zstd]", or unpack the file first (zstd -d).'
        )
    member, n_packed, n_bytes = None, 0, 0
    try:
        for chunk in chunks:
            n_packed += len(chunk)
            while chunk:
                if member is None:
                    chunk = chunk.lstrip(b"\0")
                    member = packing.unpacker() if chunk else None
                    continue
                piece = member.decompress(chunk)
                n_bytes += len(piece)
                if n_bytes > most_bytes(n_packed):
                    raise FileFormatError(
                        f"the {packing.name} file unpacks to more than {_MOST_TIMES} times its "
                        f"size, and more than {_MOST_BYTES:,} bytes, so that it could fill the "
                        "memory; if you know where it comes from, unpack it first, or pass an "
                        "open file, such as gzip.open(path).",
                        name,
                    )
                yield piece
                chunk, member = (member.unused_data, None) if member.eof else (b"", member)
        if member is not None:
            raise EOFError("it ends before its end mark")
    except FileFormatError:
        raise
    except (EOFError, *packing.errors) as error:
        raise _DamagedError(
            f"the {packing.name} file is damaged or cut short ({error}); copy it again.", name
        ) from error


class _DamagedError(FileFormatError):
    """A packed file that ends too early, or holds what its packing does not know."""


class _Pieces(io.RawIOBase):
    """Pieces of bytes as a file to read from."""

    def __init__(self, pieces):
        self._pieces, self._rest = pieces, memoryview(b"")

    def readable(self):
        return True

    def readinto(self, buffer):
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        n_bytes = min(len(buffer), len(self._rest))
        buffer[:n_bytes] = self._rest[:n_bytes]
        self._rest = self._rest[n_bytes:]
        return n_bytes

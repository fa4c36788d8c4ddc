"""Reading of packed and plain files, writing of files that appear only when complete, and locks.

A lock belongs to an open file. The operating system releases it when the process ends.
"""

import bz2
import errno
import gzip
import itertools
import json
import lzma
import os
import re
import secrets
import shutil
import stat
import time
import zlib
from collections import Counter
from contextlib import contextmanager, nullcontext, suppress
from threading import get_ident

from skfilterrank._base.lazy_names import import_optional
from skfilterrank.exceptions import FileFormatError, InputError, InputTypeError, brief

try:
    import fcntl
except ImportError:  # Windows locks single bytes
    fcntl = None  # type: ignore[assignment]  # None is checked before use
    import msvcrt

_CHUNK_BYTES, _CHUNK_LINES = 1 << 25, 1 << 15
# Paths of open file descriptors; replacing the file would not be seen by their users.
_OPEN = "/dev/fd/", "/dev/std", "/proc/"
# Number of compressed bytes to unpack at a time: one byte can unpack to thousands.
_PACKED_BYTES = 1 << 12
# A file is refused if it exceeds both limits; judgments and runs unpack to 3 to 70 times their
# size.
_MOST_BYTES, _MOST_TIMES = 1 << 30, 200
# Time to wait for a lock, and between two attempts.
_LOCK_SECONDS, _LOCK_PAUSE = 60.0, 0.02
# Lock a byte after the content, because on Windows others cannot read locked bytes.
_LOCKED_BYTE = 1 << 30
_held: set[tuple] = set()
_LONGEST_PATH = 4096


def _zstd():
    """Return a decompressor for zstd, which is not in Python's standard library."""
    extra = '"skfilterrank[zstd]", or unpack the file first (zstd -d)'
    return import_optional("zstandard", "reading .zst", extra).ZstdDecompressor().decompressobj()


# For each compression: suffix, first bytes, and function that makes a decompressor.
_PACKINGS = {
    # zlib checks the checksum itself and is faster than the gzip module.
    "gzip": (".gz", rb"\x1f\x8b", lambda: zlib.decompressobj(wbits=31)),
    "bzip2": (".bz2", rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", bz2.BZ2Decompressor),
    "xz": (".xz", rb"\xfd7zXZ\0", lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ)),
    "zstd": (".zst", rb"\x28\xb5\x2f\xfd", _zstd),
}
ENDINGS = tuple(ending for ending, *_ in _PACKINGS.values())


def is_path(source):
    """Tell whether a source is the path of a file."""
    return isinstance(source, str | os.PathLike)


def source_name(source):
    """Return the name of a path or handle for messages."""
    if is_path(source):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


def check_name(path):
    """Raise for a path that no file can have: by its characters, or by its length."""
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise InputError(
            f"{brief(path)} is not a path: it contains characters that file names cannot have."
        )
    if len(encoded) > _LONGEST_PATH:
        raise InputError(
            f"{brief(path)} is not a path: it has {len(encoded):,} bytes, more than paths can have."
        )


def check_target(path, call):
    """Raise if `path` is not a path, as with swapped arguments; the error shows the right call."""
    if not (is_path(path) or hasattr(path, "write")):
        raise InputTypeError(
            f"path must be a path or an open file, got {type(path).__name__}: call {call}."
        )


def reason_of(error):
    """Return the message of an error on one line of at most 200 characters."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else f"{text[:197]}..."


def decode(data, name, first_line=1):
    """Decode bytes as UTF-8; an error names the line."""
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


def unpacked_name(name):
    """Return a file's name without the suffix of a compression, such as ".gz"."""
    for ending in ENDINGS:
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def check_unpacked(n_bytes, n_packed, kind, name):
    """Raise for a file whose unpacked size could fill the memory."""
    if n_bytes > max(_MOST_BYTES, _MOST_TIMES * n_packed):
        raise FileFormatError(
            f"the {kind} file unpacks to more than {_MOST_TIMES} times its size, and more than "
            f"{_MOST_BYTES:,} bytes, so that it could fill the memory; if you know where it comes "
            "from, unpack it first, or pass an open file, such as gzip.open(path), or a data frame "
            "of the columns you need.",
            name,
        )


def read_bytes(source):
    """Read and unpack a path or handle; an error names the line at which the data ends."""
    name = source_name(source)
    if is_path(source):
        check_name(source)
    elif not hasattr(source, "read"):
        raise InputTypeError(
            f"a path or an open file was expected, got {type(source).__name__}; "
            "pass a str, a pathlib.Path or an open handle."
        )
    try:
        with open(source, "rb") if is_path(source) else nullcontext(source) as handle:
            content = handle.read()
        content = content.encode() if isinstance(content, str) else content
    except UnicodeError as error:  # a text handle decodes by itself
        raise FileFormatError(
            f"some byte does not decode ({error}); open the file in binary mode, or convert it to "
            "UTF-8.",
            name,
        ) from error
    for packing, (_, head, unpacker) in _PACKINGS.items():
        if re.match(head, content):
            return _unpacked(content, packing, unpacker, name)
    return content


def _unpacked(content, packing, unpacker, name):
    """Return the content of a compressed file, which may hold several members."""
    parts, n_bytes, member = [], 0, None

    def damaged(reason):
        return FileFormatError(
            f"the {packing} file is damaged or cut short ({reason}); copy it again.",
            name,
            sum(part.count(b"\n") for part in parts) + 1,
        )

    for begin in range(0, len(content), _PACKED_BYTES):
        chunk = content[begin : begin + _PACKED_BYTES]
        # Zeros may follow the end of a member, as padding.
        while chunk := chunk if member else chunk.lstrip(b"\0"):
            member = member or unpacker()
            try:
                parts.append(member.decompress(chunk))
            except Exception as error:  # each compression raises other errors
                raise damaged(error) from error
            n_bytes += len(parts[-1])
            check_unpacked(n_bytes, len(content), packing, name)
            chunk, member = (member.unused_data, None) if member.eof else (b"", member)
    if member is not None:
        raise damaged("it is incomplete")
    return b"".join(parts)


def _unique(pairs):
    """Make a dict of (name, value) pairs; a repeated name is an error."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise InputError(
            f"the name {brief(counts.most_common(1)[0][0])} occurs twice in one object"
        )
    return found


def json_of(text, name, line=None, *, unique=False):
    """Parse a JSON text from a file; the error names the file and the line.

    With `unique`, a repeated name in an object is an error; otherwise its last value is used.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique if unique else None)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()  # raises for an unpaired surrogate
        return value
    except json.JSONDecodeError as error:
        line, why = line or error.lineno, f"{error.msg}, column {error.colno}"
    except InputError as error:
        why = str(error)
    except (ValueError, RecursionError):
        why = (
            "it is nested too deeply, or holds a number of thousands of digits or an unpaired "
            "surrogate"
        )
    raise FileFormatError(f"it is not JSON ({why}).", name, line)


def iter_line_chunks(source):
    """Yield (number of the first line, list of lines as str) for blocks of some 32 MB."""
    name, content, first_line, begin = source_name(source), read_bytes(source), 1, 0
    while begin < len(content):
        end = content.find(b"\n", begin + _CHUNK_BYTES - 1) + 1 or len(content)
        text = decode(content[begin:end], name, first_line)
        lines = (text if begin else text.removeprefix("\ufeff")).removesuffix("\n").split("\n")
        yield first_line, lines
        first_line, begin = first_line + len(lines), end


def check_packing(path):
    """Raise for the suffix of a compression that cannot be written."""
    name = os.fsdecode(path)
    if unpacked_name(name) != name and not name.endswith(".gz"):
        raise InputError(
            f"{name}: only .gz can be written compressed. End the name in .gz, or in no suffix "
            "of a compression."
        )


@contextmanager
def open_for_writing(target):
    """Yield a function that writes text to a handle or path (UTF-8; compressed if named .gz)."""
    if not is_path(target):
        yield _text_writer(target)
        return
    check_packing(target)
    with open_replacing(target) as raw:
        if os.fsdecode(target).endswith(".gz"):
            # The header gets no name and no time, so that the same rows give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as zipped:
                yield _text_writer(zipped)
        else:
            yield _text_writer(raw)


def write_lines(target, lines):
    """Write an iterable of lines to a path or handle as :func:`open_for_writing` does."""
    with open_for_writing(target) as write:
        while text := "".join(itertools.islice(lines, _CHUNK_LINES)):
            write(text)


def _text_writer(handle):
    """Return a function that writes text to a handle, encoded if the handle takes bytes."""
    try:
        handle.write("")
        takes_text = True
    except TypeError:
        takes_text = False

    def write(text):
        try:
            data = text.encode()
            return handle.write(text if takes_text else data)
        except UnicodeEncodeError:
            raise InputError(
                "a text holds an unpaired surrogate, which cannot be written to a file."
            ) from None

    return write


@contextmanager
def open_replacing(path):
    """Yield a binary handle that replaces a file when everything is written.

    Bytes are written to ``.NAME.partial-PID-...`` in the same folder and flushed to disk. This file
    replaces the target when the block ends, and is removed if the block raises. As with `open`, the
    target keeps its permissions, symbolic links stay, and devices and pipes are written to
    directly. Unlike with `open`, other hard links to the target keep the old content.
    """
    check_name(path)
    path = os.fsdecode(path)
    target = _replaced_file(path)
    if target is None:
        with _naming(path), open(path, "wb") as handle:
            yield handle
        return
    folder, name = os.path.split(target)
    # Names have a maximal length.
    new = os.path.join(folder, f".{name[:50]}.partial-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        found = os.stat(target) if os.path.exists(target) else None
        mode = 0o666 if found is None else stat.S_IMODE(found.st_mode)
        with open(new, "xb", opener=lambda path, flags: os.open(path, flags, mode)) as handle:
            if found is not None and os.name == "posix":
                # Not every user may change owners, and not every disk has them.
                with suppress(OSError):
                    os.chown(new, found.st_uid, found.st_gid)
                with suppress(OSError):
                    os.chmod(new, mode)
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        # A function call and not a nested "try": an interrupt before the first instruction of a
        # nested "try" would not be handled.
        _take_place(new, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(new)
        with _naming(path, new):
            raise


def _take_place(new, target):
    """Move a file to the place of another one."""
    try:
        os.replace(new, target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        # A mount point, such as a file that is mounted in a container, is overwritten directly.
        shutil.copyfile(new, target)
        os.unlink(new)


def check_writable(path):
    """Raise early the OSError that writing to a path would raise, as far as it is predictable."""
    check_name(path)
    path = os.fsdecode(path)
    target = _replaced_file(path)
    # The new file is made in the same folder, so the folder must be writable.
    place, rights = (
        (path, os.W_OK) if target is None else (os.path.dirname(target), os.W_OK | os.X_OK)
    )
    with _naming(path, place):
        if target is None and os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        os.stat(place)
        if not os.access(place, rights):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _replaced_file(path):
    """Return the file that will be replaced, with links resolved; None to write to it directly."""
    if not os.path.basename(path) or os.path.abspath(path).startswith(_OPEN):
        return None
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        os.close(os.open(path, os.O_WRONLY))  # raises if the file is not writable
    except FileNotFoundError:
        pass
    return os.path.realpath(path)


@contextmanager
def _naming(path, other=None):
    """Set the file name of operating system errors to `path`."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, other):
            raise
        raise OSError(error.errno, error.strerror, path) from None


def try_lock(handle: int) -> bool:
    """Lock an open file; False if another process holds it. A disk without locks is no obstacle."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(handle, 0, os.SEEK_SET)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
    return True


@contextmanager
def locked(path, seconds: float = _LOCK_SECONDS):
    """Hold a lock on a file until the block ends; other processes wait.

    The file itself may be replaced in the block, so the locked file is ``.NAME.lock`` beside it,
    which is removed at the end. A thread may lock a file again that it has locked.
    """
    path = os.fsdecode(path)
    folder, name = os.path.split(os.path.realpath(path))
    key = (get_ident(), folder, name)
    if key in _held or (os.path.exists(path) and not os.path.isfile(path)):
        yield
        return
    lock = os.path.join(folder, f".{name[:50]}.lock")
    handle = _acquired(lock, path, seconds)
    _held.add(key)
    try:
        yield
    finally:
        _held.discard(key)
        # Removed while the lock is held, so that no lock of another process is removed.
        with suppress(OSError):
            os.unlink(lock)
        os.close(handle)


def _acquired(lock, path, seconds):
    """Open and lock a lock file; try again if it was removed before the lock was taken."""
    end = time.monotonic() + seconds
    while True:
        with _naming(path, lock):
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        with suppress(OSError):
            if try_lock(handle) and os.path.samestat(os.fstat(handle), os.stat(lock)):
                return handle
        os.close(handle)
        if time.monotonic() >= end:
            reason = f"another process has kept it locked for {seconds:g} s; try again later"
            raise OSError(errno.ETIMEDOUT, reason, path)
        time.sleep(_LOCK_PAUSE)

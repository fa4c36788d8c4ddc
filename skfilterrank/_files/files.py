"""Opening what a caller passes: a path, a packed file, or an open handle."""

import errno
import gzip
import io
import os
import secrets
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress

from skfilterrank._files.locks import held_folder, remove_abandoned, try_lock
from skfilterrank._files.packings import MAGIC_BYTES, packing_of, unpacked, unpacked_stream
from skfilterrank.exceptions import FileFormatError, InputError, InputTypeError, brief

_CHUNK_BYTES = 1 << 25


def is_path(source):
    """Whether source names a file, rather than being an open one."""
    return isinstance(source, str | os.PathLike)


def source_name(source):
    """Name for messages of a path or handle."""
    if is_path(source):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


def check_name(path):
    """Raise an InputError where no file can have such a name."""
    try:
        is_possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        is_possible = False
    if not is_possible:
        raise InputError(f"{brief(path)} is no path: it holds what no name of a file can.")


def check_target(path, call, *, may_be_open=True):
    """Raise where `path` is none, as of swapped arguments; say how to call instead."""
    if is_path(path) or (may_be_open and hasattr(path, "write")):
        return
    kinds = "a path or an open file" if may_be_open else "a path"
    raise InputTypeError(f"path must be {kinds}, got {type(path).__name__}: call {call}.")


@contextmanager
def open_for_reading(source):
    """Yield a handle on a path (unpacked where it is packed, whatever its name) or on a handle."""
    if not is_path(source):
        if not hasattr(source, "read"):
            raise InputTypeError(
                f"a path or an open file was expected, got {type(source).__name__}; "
                "pass a str, a pathlib.Path or an open handle."
            )
        yield source
        return
    check_name(source)
    with open(source, "rb") as raw:
        packing = packing_of(raw.peek(MAGIC_BYTES)[:MAGIC_BYTES])
        yield raw if packing is None else unpacked_stream(raw, packing, source_name(source))


@contextmanager
def open_for_writing(target):
    """Yield a function that writes text to a path (UTF-8, zipped if it ends in .gz) or handle."""
    if not is_path(target):
        yield _text_writer(target)
        return
    with open_replacing(target) as raw:
        if os.fsdecode(target).endswith(".gz"):
            # Neither name nor time of day go into the header: same rows, same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as zipped:
                yield _text_writer(zipped)
        else:
            yield _text_writer(raw)


@contextmanager
def open_replacing(path):
    """Yield a binary handle on a path; what stood there stays whole until all is written.

    Bytes go into ``.NAME.partial-PID-...`` in the same folder, which takes the place of the file
    when the block has ended and the disk has all of them, and is removed when the block raises.
    A file that a killed process left is removed by a later one that writes into the folder. As
    with open, permissions of the file stay and a link goes on pointing to it, and what is no
    file, such as /dev/stdout or a pipe, is written to directly. Other than with open, further hard
    links to the file keep what it held.
    """
    check_name(path)
    path = os.fsdecode(path)
    target = _replaced_file(path)
    if target is None:
        with io.BufferedWriter(_NamedFile(path, "wb", asked=path)) as handle:
            yield handle
        return
    partial = _partial(target)
    try:
        with io.BufferedWriter(_NamedFile(partial, "xb", asked=path, like=target)) as handle:
            try_lock(handle.fileno())
            yield handle
            handle.flush()
            with _naming(path):
                os.fsync(handle.fileno())
        with _naming(path):
            try:
                os.replace(partial, target)
            except OSError as error:
                if error.errno != errno.EBUSY:
                    raise
                # A mount point of its own, such as a file given to a container: written over.
                shutil.copyfile(partial, target)
                os.unlink(partial)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


@contextmanager
def folder_replacing_nothing(path):
    """Yield a folder to fill, which gets its name when the block has ended, or is removed."""
    path = os.path.abspath(os.fsdecode(path))
    if os.path.lexists(path):
        raise InputError(f"{path} is there already: remove it first, or name another folder.")
    partial = _partial(path)
    os.mkdir(partial)
    try:
        with held_folder(partial):
            yield partial
        # Of what came there meanwhile, only an empty folder is taken the place of.
        os.rename(partial, path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


@contextmanager
def temporary_folder(parent: str | None):
    """Yield a new folder in another one, or where the system has such, and remove it in the end.

    A folder that a killed process left is removed by a later one.
    """
    path = _partial(os.path.join(parent or tempfile.gettempdir(), "skfilterrank"))
    os.mkdir(path, 0o700)
    try:
        with held_folder(path):
            yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _partial(path):
    """A new name beside a path, for what is not yet whole; what killed processes left is removed.

    It takes 50 characters of the name of the path, so that it is not too long.
    """
    folder, name = os.path.split(path)
    remove_abandoned(folder)
    name = f".{name[:50]}.partial-{os.getpid()}-{secrets.token_hex(4)}"
    return os.path.join(folder, name)


def check_writable(path):
    """Raise the OSError in which writing to a path would end, as far as that can be told before."""
    check_name(path)
    path = os.fsdecode(path)
    target = _replaced_file(path)
    place, rights = path, os.W_OK
    if target is not None:
        # The new file is made beside the old one.
        place, rights = os.path.dirname(target), os.W_OK | os.X_OK
    with _naming(path):
        if target is None and os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        os.stat(place)
        if not os.access(place, rights):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _replaced_file(path):
    """The file whose place a new one takes, behind all links; None where it is written itself."""
    if not os.path.basename(path):
        return None  # open tells what is wrong with it
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
    except FileNotFoundError:
        return os.path.realpath(path)
    link = os.path.abspath(path)
    while True:
        folder = os.path.realpath(os.path.dirname(link))
        if folder == "/dev/fd" or folder.startswith("/proc/"):
            return None  # an open file, whose other users would not see the new one
        if not os.path.islink(link):
            break
        link = os.path.join(folder, os.readlink(link))
    os.close(os.open(path, os.O_WRONLY))  # raises where the file is not to be written
    return os.path.realpath(path)


class _NamedFile(io.FileIO):
    """A file whose errors, as that of a full disk, name the path that was asked for."""

    def __init__(self, name, mode, *, asked, like=None):
        self._asked = asked
        with _naming(asked):
            super().__init__(name, mode, opener=lambda *found: _open_like(like, *found))

    def write(self, data):
        with _naming(self._asked):
            return super().write(data)


def _open_like(like, name, flags):
    """Open a new file with the permissions, and where allowed the owner, of another one."""
    if like is None or not os.path.exists(like):
        return os.open(name, flags, 0o666)
    found = os.stat(like)
    mode = stat.S_IMODE(found.st_mode)
    handle = os.open(name, flags, mode)
    if os.name == "posix":
        # Not every user may, and not every disk knows owners; what is open is never opened wider.
        with suppress(OSError):
            os.fchown(handle, found.st_uid, found.st_gid)
        with suppress(OSError):
            os.fchmod(handle, mode)
    return handle


@contextmanager
def _naming(path):
    """Let errors of the operating system name a path, whatever file they arose from."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _text_writer(handle):
    """Function that writes text to a handle, encoding it where the handle takes bytes."""
    try:
        handle.write("")
    except TypeError:
        return lambda text: handle.write(text.encode("utf-8"))
    return handle.write


def read_bytes(source):
    """Content of a path or handle as bytes, unpacked."""
    if is_path(source):
        check_name(source)
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
    packing = packing_of(data[:MAGIC_BYTES])
    return data if packing is None else unpacked(data, packing, source_name(source))


def reason_of(error):
    """What another library's error says, on one line of at most 200 characters."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 200 else f"{text[:197]}..."


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

"""Locks for files that several processes update.

A lock belongs to an open file. The operating system releases it when the process ends.
"""

import errno
import os
import time
from contextlib import contextmanager, suppress
from threading import get_ident

try:
    import fcntl
except ImportError:  # Windows locks single bytes
    fcntl = None  # type: ignore[assignment]  # asked for before use
    import msvcrt

_SECONDS, _PAUSE = 60.0, 0.02
# Lock a byte after the content, because on Windows others cannot read locked bytes.
_BYTE = 1 << 30
_held: set[tuple] = set()


def try_lock(handle: int) -> bool | None:
    """Lock an open file; False if another process holds it, None if the disk has no locks."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            os.lseek(handle, _BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(handle, 0, os.SEEK_SET)
    except OSError as error:
        is_held = error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
        return False if is_held else None
    return True


@contextmanager
def locked(path, seconds: float = _SECONDS):
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
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from None
        is_locked = try_lock(handle)
        with suppress(OSError):
            if is_locked is None or (
                is_locked and os.path.samestat(os.fstat(handle), os.stat(lock))
            ):
                return handle
        os.close(handle)
        if time.monotonic() >= end:
            reason = f"another process has kept it locked for {seconds:g} s; try again later"
            raise OSError(errno.ETIMEDOUT, reason, path)
        time.sleep(_PAUSE)

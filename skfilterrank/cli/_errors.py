"""Errors as users see them."""

import linecache

import skfilterrank


def is_for_users(error) -> bool:
    """Whether an error was worded for users: about a file, or raised by this package on purpose.

    A ValueError out of numpy's depths is a bug, and hiding where it came up would not help.
    """
    if isinstance(error, OSError):
        return True
    traceback = error.__traceback__
    if traceback is None:  # handed over by another process, and the place is lost
        return True
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame = traceback.tb_frame
    line = linecache.getline(frame.f_code.co_filename, traceback.tb_lineno)
    ours = frame.f_globals.get("__name__", "").partition(".")[0] == skfilterrank.__name__
    return ours and line.lstrip().startswith("raise")


def message_of(error) -> str:
    """Text of an error and its notes; that of the operating system without its number."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    notes = getattr(error, "__notes__", [])
    return " ".join([text.rstrip(".") + ".", *notes]) if notes else text

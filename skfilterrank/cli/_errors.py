"""Errors as users see them."""


def message_of(error) -> str:
    """Text of an error and its notes; that of the operating system without its number."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    notes = getattr(error, "__notes__", [])
    end = "" if text.endswith((".", "?")) else "."
    return " ".join([text + end, *notes]) if notes else text

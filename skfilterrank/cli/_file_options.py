"""Arguments that name files, and the rule that no output takes the place of another file of them.

Every argument that names a file has one of these types, so that the rule knows what it is for.
"""

import argparse
import os
import stat
from pathlib import Path


def read(text):
    """A file to read."""
    return text


def written(text):
    """A file to write, told before hours of training whether it can be."""
    from skfilterrank._files.files import check_writable

    path = Path(text)
    if not os.path.isdir(path.parent):
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}; make it first")
    if os.path.isdir(path) or text.endswith(("/", os.sep)):
        raise argparse.ArgumentTypeError(f"{text} is a folder; name a file in it")
    try:
        check_writable(path)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be written: {error.strerror}") from None
    return text


def written_or_shown(text):
    """A file to write, or standard output."""
    return text if text == "-" else written(text)


def new_folder(text):
    """A folder to make."""
    path = text.rstrip(os.sep) or text
    if os.path.isdir(path):
        raise argparse.ArgumentTypeError(
            f"{text} is a folder already; remove it first, or name another one"
        )
    return written(path)


def written_with_log(text):
    """A file to write, and beside it its log."""
    return written(text)


def page(text):
    """A web page to write, with pictures in it."""
    _check_matplotlib()
    return written(text)


def picture(text):
    """A picture to write, in a format that matplotlib draws."""
    Figure = _check_matplotlib()
    formats = Figure().canvas.get_supported_filetypes()
    if Path(text).suffix.removeprefix(".").lower() not in formats:
        raise argparse.ArgumentTypeError(
            f"{text} must end in one of {', '.join(f'.{name}' for name in sorted(formats))}"
        )
    return written(text)


def _check_matplotlib():
    """matplotlib's figure, or what to install."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise argparse.ArgumentTypeError(
            "drawing needs matplotlib: pip install 'skfilterrank[plot]'"
        ) from None
    return Figure


INPUTS = (read,)
NOTE = """\
An output file that is there already stays as it is until the new one is whole,
which then takes its place. It must be none of the files that are read, and no
other output.
"""
# What is added to the name of each file that an output stands for.
OUTPUTS = {
    written: ("",),
    written_or_shown: ("",),
    new_folder: ("",),
    written_with_log: ("", ".log"),
    page: ("",),
    picture: ("",),
}
# Which of them take the place of what is there.
REPLACING = set(OUTPUTS) - {new_folder}


def overwritten(actions, arguments) -> str | None:
    """What an output would take the place of, in words; None where there is no such output."""
    inputs, outputs = [], []
    for action in actions:
        if action.type not in (*INPUTS, *OUTPUTS):
            continue
        name = action.option_strings[-1] if action.option_strings else action.metavar
        value = getattr(arguments, action.dest)
        for text in [value] if isinstance(value, str) else value or []:
            if action.type in INPUTS:
                inputs.append((name, text))
            else:
                outputs += [(name, f"{text}{added}") for added in OUTPUTS[action.type]]
    if not any(text == "-" for _, text in outputs):
        # Every command prints, and may print into a file.
        outputs.insert(0, ("standard output", "-"))
    taken = {_identity(text, 0): (name, text) for name, text in inputs}
    for name, text in outputs:
        identity = _identity(text, 1)
        if identity is not None and identity in taken:
            other, its_text = taken[identity]
            if name == "standard output":
                return f"{name} goes into {other} {its_text}, and would spoil it; name another file"
            return (
                f"{name} {text} is the same file as {other} {its_text}, and would take its place; "
                "name another one"
            )
        taken[identity] = name, text
    return None


def is_same_file(one, other, standard_stream) -> bool:
    """Tell whether two names, of which the second may be "-", are those of one regular file."""
    identity = _identity(other, standard_stream)
    return identity is not None and identity == _identity(one, standard_stream)


def _identity(text, standard_stream):
    """What all names of one regular file have in common; None where nothing would be lost."""
    try:
        status = os.stat(standard_stream if text == "-" else text)
    except OSError:
        # Not there yet. Some disks do not tell upper from lower case.
        return os.path.realpath(text).casefold()
    # A terminal or /dev/null may be named more than once.
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None

"""Standard input, output and error: the one place through which text enters and leaves.

What people read goes through `show` and `say`, which write codes for characters that a terminal
would obey or nobody would see, and for letters that the terminal's encoding lacks. What programs
read goes through `data_output`.
"""

import contextlib
import os
import sys

from skfilterrank._printable import printable
from skfilterrank.exceptions import InputError

_FORMATS = {"csv": "csv", "json": "json", "jsonl": "json"}
_PAPERS = {"tex": "latex", "md": "markdown"}


@contextlib.contextmanager
def standard_streams():
    """Make do with streams that are closed, and write codes for letters that one cannot encode."""
    for number, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)):
        if stream is None:
            _occupy(number)
    _set(sys.stdout, errors="backslashreplace")
    stderr = sys.stderr
    sys.stderr = _Messages(stderr)
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stderr = stderr


def put(text) -> None:
    """Write to standard output as it is."""
    if not text:
        return
    with _errors_of_output():
        standard_output().write(text)


def show(text) -> None:
    """Print lines for people on standard output."""
    put(printable(text, keep="\n"))


def say(text) -> None:
    """Print a message of one line on standard error, apart from the output."""
    if "tqdm" not in sys.modules:
        print(printable(text), file=sys.stderr)
        return
    from tqdm import tqdm

    # Above the progress bars, if there are any.
    tqdm.write(printable(text), file=sys.stderr)


def tell(text) -> None:
    """Print a message that --quiet leaves out."""
    if not _Talk.is_quiet:
        say(text)


class _Talk:
    """What this process says of its work."""

    is_quiet = False


def be_quiet(is_quiet) -> None:
    """Say from now on whether `tell` is to be silent."""
    _Talk.is_quiet = is_quiet


def progress(arguments) -> int:
    """The `verbose` of what takes long: where it is asked for, or a screen shows it."""
    shows = not arguments.quiet and sys.stderr is not None and sys.stderr.isatty()
    return int(arguments.verbose or shows)


def finish() -> None:
    """Write what is still on its way to standard output."""
    if sys.stdout is not None:
        with _errors_of_output():
            sys.stdout.flush()


def output_is_terminal() -> bool:
    """Whether standard output is a screen."""
    return sys.stdout is not None and sys.stdout.isatty()


def data_output():
    """Where to write what programs read: UTF-8 whatever the locale, but to a screen as `show`."""
    if output_is_terminal():
        return _Writer(lambda text: put(printable(text, keep="\n\t")))
    _set(sys.stdout, encoding="utf-8", errors="strict", newline="\n")
    return _Writer(put)


def format_by_ending(path, otherwise) -> str:
    """The format that the name of a file ends in, where it is one of programs."""
    return _FORMATS.get(path.removesuffix(".gz").rpartition(".")[2], otherwise)


@contextlib.contextmanager
def results(arguments):
    """Yield the format of the results, of which tables are for people, and what writes them.

    The format is the one of --format, else told from the end of --out.
    """
    from skfilterrank._files.files import open_for_writing

    path = arguments.out or "-"
    told = format_by_ending(path, _PAPERS.get(path.rpartition(".")[2], "table"))
    format = arguments.format or (told if told in arguments.formats else "table")
    if path != "-":
        with open_for_writing(path) as write:
            yield format, write
        tell(f"{format}: {path}")
        return
    write = show if format == "table" else data_output().write
    yield format, lambda text: (write(text), finish())


def standard_output():
    """Standard output, where there is one."""
    if sys.stdout is None:
        raise InputError("standard output is closed: redirect it to a file or to /dev/null.")
    return sys.stdout


def standard_input():
    """Standard input, where there is one."""
    if sys.stdin is None:
        raise InputError("standard input is closed: redirect it from a file or a pipe.")
    _set(sys.stdin, errors="replace")
    return sys.stdin


class _Writer:
    """A file to write to."""

    def __init__(self, write):
        self.write = write


class _Messages:
    """Standard error; what it does not take is lost, and the work goes on."""

    def __init__(self, stream):
        if stream is None:
            stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        self._stream = stream

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, text):
        """Write, or lose the text."""
        self._attempt(self._stream.write, text)

    def flush(self):
        """Write what is on its way, or lose it."""
        self._attempt(self._stream.flush)

    def _attempt(self, do, *arguments):
        try:
            do(*arguments)
        except OSError:
            _let_go(self._stream)


@contextlib.contextmanager
def _errors_of_output():
    """Name standard output in errors of the operating system, and give up what is on its way."""
    try:
        yield
    except OSError as error:
        _let_go(sys.stdout)
        error.filename = "standard output"
        raise


def _occupy(number):
    """Open nothing in place of a closed descriptor, or the next file to be opened would get it."""
    try:
        os.fstat(number)
    except OSError:
        handle = os.open(os.devnull, os.O_RDWR)
        if handle != number:
            os.dup2(handle, number)
            os.close(handle)


def _let_go(stream):
    """Let what the stream still holds go nowhere, also when the interpreter ends."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _set(stream, **settings):
    """Change settings of a stream that has them, as one in memory has not."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(**settings)

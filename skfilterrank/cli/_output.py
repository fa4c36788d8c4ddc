"""Standard streams, and the one printer of results.

Text for people goes through `show` and `say`, which write codes for characters that a terminal
would obey or nobody would see. Text for programs goes through `data_output`.
"""

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from skfilterrank._lists.words import printable
from skfilterrank.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

_INFINITE = float("inf")
_BY_ENDING = {"csv": "csv", "json": "json", "jsonl": "json", "tex": "latex", "md": "markdown"}


class Section(NamedTuple):
    """One result in the forms that formats need.

    Attributes
    ----------
    frame : DataFrame
        All digits, for CSV; its index is written where it has a name.
    records : list of dict
        Objects for JSON.
    rows : list of list
        Cells of a table, its head first: text, or `Cell` where one is bold.
    head, foot : str
        Text for people above and below the table.
    """

    frame: "pd.DataFrame"
    records: list[dict[str, Any]]
    rows: list[list[Any]]
    head: str = ""
    foot: str = ""


def print_sections(sections: Iterable[Section], format: str, out: str | None) -> None:
    """Print results one by one, each as soon as it is there."""
    with opened(out, format) as write:
        for place, section in enumerate(sections):
            write(text_of(section, format, place))


def text_of(section: Section, format: str, place: int = 0) -> str:
    """Return one result as text, which others may stand before."""
    if format == "csv":
        from skfilterrank._files.tables import csv_text

        return csv_text(section.frame, index=section.frame.index.names != [None], header=not place)
    if format == "json":
        return "".join(map(json_line, section.records))
    if format == "trec":
        return "".join(f"{name:<22}\t{qid}\t{value}\n" for name, qid, value in section.rows)
    between = "\n" * bool(place)
    if format in ("latex", "markdown"):
        from skfilterrank._lists.results import paper_table

        return between + paper_table(section.rows[0], section.rows[1:], format)
    parts = [section.head, *align_columns(section.rows), section.foot]
    return between + "".join(f"{part}\n" for part in parts if part)


def frame_section(frame: "pd.DataFrame", head: str = "", foot: str = "") -> Section:
    """Return a frame with a named index as a section; its table shows four digits of a number."""
    rows = frame.reset_index()
    told = rows.astype(object).where(rows.notna(), None)
    records: list = told.map(finite_or_text).to_dict("records")
    shown = [list(map(_cell, row)) for row in rows.itertuples(index=False, name=None)]
    return Section(frame, records, [list(rows), *shown], head, foot)


def finite_or_text(value):
    """Return a value, infinite ones as text, which JSON has no number for and are not missing."""
    return str(value) if value in (_INFINITE, -_INFINITE) else value


def _cell(value):
    """Return a value of a table as text."""
    return f"{value:.4g}" if isinstance(value, float) else "none" if value is None else str(value)


def json_line(record: dict[str, Any]) -> str:
    """Return an object on a line of its own; a number that is not finite is null."""
    return json.dumps(_for_json(record), allow_nan=False) + "\n"


def _for_json(value):
    """Return a value as JSON can hold it."""
    if isinstance(value, dict):
        return {name: _for_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value - value != 0:
        return None
    return value


def align_columns(rows) -> list[str]:
    """Return rows of cells as lines, the first column at the left, the others at the right."""
    rows = [[printable(getattr(cell, "text", cell)) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]


def chosen_format(format: str | None, out: str | None, formats) -> str:
    """Return the format that is named, else the one that --out ends in, else the first one."""
    told = _BY_ENDING.get((out or "-").removesuffix(".gz").rpartition(".")[2].lower())
    return format or (told if told in formats else formats[0])


@contextlib.contextmanager
def opened(out, format="table"):
    """Yield a function that writes to a file, or to standard output."""
    if out not in (None, "-"):
        from skfilterrank._files.files import open_for_writing

        with open_for_writing(out) as write:
            yield write
        tell(f"{format}: {out}")
        return
    write = show if format == "table" else data_output().write
    yield lambda text: (write(text), finish())


def draw(model, path, title=None) -> None:
    """Draw a model's threshold curve into a file."""
    from matplotlib.figure import Figure

    from skfilterrank.plot import ThresholdCurveDisplay

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    display = ThresholdCurveDisplay.from_estimator(model, ax=figure.subplots())
    if title is not None:
        display.ax_.set_title(printable(title))
    save_figure(figure, path)


def save_figure(figure, path) -> None:
    """Write a figure into a file, which is replaced as a whole."""
    from skfilterrank._files.files import open_replacing

    # Into memory first: what draws some formats does not tell which file a disk had no room for.
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=150, format=Path(path).suffix.removeprefix("."))
    with open_replacing(path) as handle:
        handle.write(drawn.getvalue())


class Call:
    """The command that runs, in this process; `main` begins each one anew.

    Attributes
    ----------
    typed : list of str
        Words of the command line, without the program's name.
    is_quiet, is_verbose : bool
        Whether `tell` is silent, and whether progress is shown where no screen is.
    written : dict of str to str
        How arguments are written.
    given : set of str
        Arguments that were given, whatever their values.
    said : set of str
        Warnings that were given.
    documents : array or None
        Documents of the rows of lists, of which no user knows the numbers in messages.
    """

    def begin(self, typed):
        """Begin with the words of a command line."""
        self.typed, self.is_quiet, self.is_verbose = typed, "--quiet" in typed, "--verbose" in typed
        self.written: dict[str, str] = {}
        self.given: set[str] = set()
        self.said: set[str] = set()
        self.documents: Any = None


call = Call()
call.begin([])


def progress() -> int:
    """Return the `verbose` of long work: 1 where it is asked for, or a screen shows it."""
    shows = not call.is_quiet and sys.stderr is not None and sys.stderr.isatty()
    return int(call.is_verbose or shows)


def show(text) -> None:
    """Print lines for people on standard output."""
    put(printable(text, keep="\n"))


def put(text) -> None:
    """Write to standard output."""
    if text:
        with _errors_of_output():
            _standard("output").write(text)


def say(text) -> None:
    """Print a message of one line on standard error."""
    if sys.stderr is None:
        return
    if "tqdm" in sys.modules:
        from tqdm import tqdm

        # Above the progress bars, if there are any.
        tqdm.write(printable(text), file=sys.stderr)
    else:
        print(printable(text), file=sys.stderr)


def tell(text) -> None:
    """Print a message that --quiet leaves out."""
    if not call.is_quiet:
        say(text)


def finish() -> None:
    """Write what is still on its way to standard output."""
    if sys.stdout is not None:
        with _errors_of_output():
            sys.stdout.flush()


def output_is_terminal() -> bool:
    """Return whether standard output is a screen."""
    return sys.stdout is not None and sys.stdout.isatty()


def data_output(out=None):
    """Return where to write data: a file, or standard output, in UTF-8 whatever the locale."""
    if out not in (None, "-"):
        return out
    if output_is_terminal():
        # A screen may obey what it is sent.
        return SimpleNamespace(write=lambda text: put(printable(text, keep="\n\t")))
    _set(_standard("output"), encoding="utf-8", errors="strict", newline="\n")
    return SimpleNamespace(write=put)


def standard_input():
    """Return standard input, where there is one."""
    stream = _standard("input")
    _set(stream, errors="replace")
    return stream


def _standard(name):
    """Return standard input or output, where it is open."""
    stream = sys.stdin if name == "input" else sys.stdout
    if stream is None:
        raise InputError(f"standard {name} is closed. Name a file, or redirect it.")
    return stream


@contextlib.contextmanager
def standard_streams():
    """Write codes for letters that standard output cannot encode; keep closed streams closed."""
    # No file that is opened later may get the number of a closed stream.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    _set(sys.stdout, errors="backslashreplace")
    stderr = sys.stderr
    if stderr is not None:
        sys.stderr = _Messages(stderr)
    try:
        yield
    finally:
        sys.stderr = stderr


class _Messages:
    """Standard error; messages and bars that it does not take are lost, and the work goes on."""

    def __init__(self, stream):
        self._stream = stream

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, text):
        """Write and flush the text, or lose it."""
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            _give_up(self._stream)

    def flush(self):
        """Do nothing, since every text is flushed."""


@contextlib.contextmanager
def _errors_of_output():
    """Name standard output in errors of the operating system, and give up what it still holds."""
    try:
        yield
    except OSError as error:
        _give_up(sys.stdout)
        error.filename = "standard output"
        raise


def _give_up(stream):
    """Let a stream end nowhere, or the interpreter writes what it holds once more at the end."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _set(stream, **settings):
    """Change settings of a stream that has them, as one in memory has not."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(**settings)

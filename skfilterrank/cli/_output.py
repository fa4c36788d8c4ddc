"""Standard streams, the one printer of results, and messages in the words of the command line.

Text for people goes through `show` and `say`, which write codes for characters that a terminal
would obey or nobody would see. Text for programs goes through `data_output`. Messages speak of
options and files, not of arguments.
"""

import contextlib
import io
import json
import os
import re
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from skfilterrank._lists.words import printable
from skfilterrank.exceptions import InputError, brief

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
    return format or (str(told) if told in formats else formats[0])


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


# Arguments of functions that an option of another name stands for.
_OPTION_OF = {
    "groups": "query",
    "measures": "measure",
    "risks": "risk",
    "unjudged_label": "holes",
    "predicted": "holes",
    "missing": "holes",
    "unjudged": "holes",
    "undefined": "holes",
}
# Names of functions in messages, in words of the command line.
_PHRASES = {
    "by draw_sample(..., unit='query')": "by 'skfilterrank judge --strategy sample --unit query'",
    "draw_sample(machine_qrels, runs, measures, n_total=..., judged=qrels)": (
        "'skfilterrank judge --strategy sample --judged QRELS'"
    ),
    "draw_sample with the same random_state and a larger n_total": (
        "'skfilterrank judge --strategy sample' with the same --random-state and a larger --n-total"
    ),
    "draw again with judged=,": (
        "draw again by 'skfilterrank judge --strategy sample --judged QRELS',"
    ),
    "abstain=None to": "no --abstain to",
    ", as in evaluate_run(qrels, run, measures)": "",
    "groups holds queries that": "there are queries that",
    "gains has no gain for labels of": "--gains has no gain for labels of",
    "(skfilterrank.judgments)": "(--interval)",
    "such as read_prels reads (5": "or a file of a sample (5",
    "The names are in skfilterrank.metrics.get_measure_names() and skfilterrank help measures;": (
        "'skfilterrank help measures' prints the names;"
    ),
    "One of your own has a name in processes that imported its module; others are sent its "
    "function, measure=FUNCTION.": "--plugin imports the module of a measure of your own.",
    "Use FixedThreshold() to show": "Use --threshold none to show",
    "pass threshold=None": "give --threshold none",
    ", as by pandas.qcut": "",
    ", or functions, got": ", got",
    " or functions, got": ", got",
    "assessor_name is for tool='page' alone": "--assessor is for --page and the terminal alone",
    "(unjudged label)": "(--holes unjudged-label)",
    "pass a greater max_bytes= to load_model": "load it in Python with a greater max_bytes",
    "pass trusted=": "load it in Python with trusted=",
}
# An argument with or without its value, but no option of a measure such as "ap(rel=2)".
_ARGUMENT = re.compile(
    r"(?<!--holes )(?<![\w.(,=-])(?P<name>[a-z][a-z_]*)="
    r"(?P<value>'[^']*'|\[[^\]]*\]|\{[^}]*\}|[\w+-]+(?:\.\d+)?)?(?!=)"
)
# An argument of two words or more without a value; in quotes, it is a value or a column.
_BARE = re.compile(r"(?<![\w.,(='\"`@/-])(?P<name>[a-z]+(?:_[a-z]+)+)(?![\w=('\"`@])")
_FIRST = re.compile(r"^(?P<name>[a-z]+)(?= (must|has|names|is) |\[)")
_WORD = re.compile(r"\b(?P<name>missing|predicted|unjudged|ties) (?P<value>'\w+')")
_THRESHOLD = re.compile(r"\b(Expected|Learned|Per)(Query)?Threshold takes")
_ROW = re.compile(r"(?P<query>query ('[^']*'|[-\d.]+)) row (?P<row>\d+)")


def show_warning(message, *place, **keywords) -> None:
    """Print a line for a warning, once."""
    text = in_options(str(message))
    if text not in call.said:
        call.said.add(text)
        tell(f"skfilterrank: warning: {text}")


def in_options(text: str) -> str:
    """Replace names of arguments in a message by the options of the command."""
    if call.documents is not None:
        text = _ROW.sub(_document, text)
    for phrase, words in _PHRASES.items():
        text = text.replace(phrase, words)
    text = _THRESHOLD.sub(_threshold, text)
    for pattern in (_ARGUMENT, _WORD, _BARE, _FIRST):
        text = pattern.sub(_option, text)
    return text


def _threshold(match):
    """Return the name of a threshold's class as --threshold takes it."""
    return f"--threshold {'_'.join(filter(None, match.groups())).lower()} takes"


def _document(match):
    """Return the document of a row."""
    return f"{match['query']} document {brief(call.documents[int(match['row'])])}"


def _option(match):
    """Return an option with its value; other words stay."""
    name, value = match["name"], match.groupdict().get("value")
    known = name if name in call.written else _OPTION_OF.get(name, name)
    written = call.written.get(known)
    if written is None:
        return match[0]
    if known != name and known == "holes":
        value = f"{name}={(value or '').strip(chr(39))}".replace("_", "-")
    if value in (None, "", "True") or not written.startswith("-"):
        return written
    if value.startswith("{"):
        return f"{written}={re.sub(r': ?', '=', value[1:-1]).replace(', ', ',')}"
    return f"{written} {'none' if value == 'None' else value.strip(chr(39))}"


def message_of(error) -> str:
    """Return the text of an error and its notes, without the number of the system's errors."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    notes = getattr(error, "__notes__", [])
    end = "" if text.endswith((".", "?")) else "."
    return in_options(" ".join([text + end, *notes]) if notes else text)


def report_unforeseen(error, values) -> None:
    """Print one line for an error that nobody foresaw, with the files it concerned."""
    files = [text for value in values.values() for text in _texts(value) if os.path.isfile(text)]
    what = " ".join(f"{type(error).__name__}: {error}".split())
    where = f" (files: {', '.join(files[:3])}{', ...' * (len(files) > 3)})" if files else ""
    say(
        f"skfilterrank: error: {what[:300]}{where}. This is a fault of skfilterrank: "
        "--debug shows where it occurred."
    )


def _texts(value):
    """Return the texts of an argument."""
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, str)]


def refuse(names, why) -> None:
    """Raise for an option that is given and has no meaning beside the others."""
    for name in names:
        if name in call.given:
            raise InputError(f"--{name.replace('_', '-')} {why}")


def overwritten(options, values) -> str | None:
    """Return which file an output would take the place of, in words; None where there is none."""
    taken, outputs = {}, []
    for name, value in values.items():
        written, arg = options[name]
        for text in _texts(value) if arg.file else ():
            if arg.file == "read":
                taken[_identity(text, 0)] = written, text
                continue
            outputs += [(written, f"{text}{ending}") for ending in ("", *arg.also)]
            # Beside tasks of Label Studio stands its configuration.
            if getattr(text, "tool", "") == "label-studio":
                outputs.append((written, str(Path(text).with_suffix(".xml"))))
    if not any(text == "-" for _, text in outputs):
        # Every command prints, and may print into a file.
        outputs.insert(0, ("standard output", "-"))
    for name, text in outputs:
        identity = _identity(text, 1)
        if identity is not None and identity in taken:
            other, its_text = taken[identity]
            which = name if name == "standard output" else f"{name} {text}"
            return f"{which} is the same file as {other} {its_text}. Name another one."
        taken[identity] = name, text
    return None


def _identity(text, standard_stream):
    """Return what all names of one regular file share; None where nothing would be lost."""
    try:
        status = os.stat(standard_stream if text == "-" else text)
    except OSError:
        # Not there yet. Some disks do not tell upper from lower case.
        return os.path.realpath(text).casefold()
    # A terminal or /dev/null may be named more than once.
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None

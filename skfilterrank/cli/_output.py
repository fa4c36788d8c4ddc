"""Standard streams, printing of results, and messages in terms of options.

Text for people is printed by `show` and `say`, which replace control and invisible characters by
codes. Text for programs is written by `data_output`. Messages name options and files instead of
arguments.
"""

import contextlib
import json
import math
import os
import re
import stat
import sys
from collections.abc import Iterable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from skfilterrank._base.words import printable
from skfilterrank.exceptions import InputError, Message, brief

if TYPE_CHECKING:
    import pandas as pd

_INFINITE = float("inf")
_BY_ENDING = {"csv": "csv", "json": "json", "jsonl": "json", "tex": "latex", "md": "markdown"}


class Section(NamedTuple):
    """A result in the forms for all output formats.

    Attributes
    ----------
    frame : DataFrame or None
        Data with all digits for CSV; the index is written if it has a name.
    records : list of dict
        Objects for JSON.
    rows : list of list
        Cells of a table, header first: texts, or `Cell` for bold ones.
    head, foot : str
        Text for people above and below the table.
    """

    frame: Any
    records: list[dict[str, Any]]
    rows: list[list[Any]]
    head: str = ""
    foot: str = ""


def listed(names, most: int = 10, separator: str = ", ") -> str:
    """Return the first names, and dots if there are more."""
    shown = [str(name) for name in names[:most]]
    return separator.join(shown + ["..."] * (len(names) > most))


def print_sections(sections: Iterable[Section], format: str, out: str | None) -> None:
    """Print results one by one, as soon as each is available."""
    with opened(out, format) as write:
        for place, section in enumerate(sections):
            write(text_of(section, format, place))


def text_of(section: Section, format: str, place: int = 0) -> str:
    """Return a result as text; `place` is the number of results before it."""
    if format == "csv":
        from skfilterrank._files.tables import csv_text

        return csv_text(section.frame, index=section.frame.index.names != [None], header=not place)
    if format == "json":
        return "".join(map(json_line, section.records))
    if format == "trec":
        return "".join(f"{name:<22}\t{qid}\t{value}\n" for name, qid, value in section.rows)
    between = "\n" * bool(place)
    if format in ("latex", "markdown"):
        from skfilterrank._base.results import paper_table

        return between + paper_table(section.rows[0], section.rows[1:], format)
    parts = [section.head, *align_columns(section.rows), section.foot]
    return between + "".join(f"{part}\n" for part in parts if part)


def frame_section(frame: "pd.DataFrame", foot: str = "") -> Section:
    """Return a frame with a named index as a section; its table shows four digits of a number."""
    rows = frame.reset_index()
    told = rows.astype(object).where(rows.notna(), None)
    records: list = told.map(finite_or_text).to_dict("records")
    shown = [list(map(_cell, row)) for row in rows.itertuples(index=False, name=None)]
    return Section(frame, records, [list(rows), *shown], "", foot)


def finite_or_text(value):
    """Return a value; infinite ones become text, since JSON has no number for them."""
    return str(value) if value in (_INFINITE, -_INFINITE) else value


def _cell(value):
    """Return a value of a table as text."""
    return f"{value:.4g}" if isinstance(value, float) else "none" if value is None else str(value)


def json_line(record: dict[str, Any]) -> str:
    """Return an object as one line of JSON; numbers that are not finite become null."""
    return json.dumps(_for_json(record), allow_nan=False) + "\n"


def _for_json(value):
    """Convert a value to JSON types."""
    if isinstance(value, dict):
        return {name: _for_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_for_json(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value - value != 0:
        return None
    return value


def in_order(queries) -> list:
    """Sort queries numerically if all are whole numbers; otherwise keep their order."""
    if all(str(query).isdecimal() for query in queries):
        return sorted(queries, key=lambda query: int(str(query)))
    return list(queries)


def number(value, digits=3, sign="") -> str:
    """Write a number with few digits: fewer for large ones, leading digits for tiny ones."""
    if not math.isfinite(value):
        return "-" if value != value else f"{value:{sign}}"
    size = abs(value)
    if 0 < size < 0.5 * 10**-digits:
        return f"{value:{sign}.1e}"
    n_whole = int(math.log10(size)) if size >= 10 else 0
    return f"{value:{sign}.{max(digits - n_whole, 0)}f}"


def align_columns(rows) -> list[str]:
    """Return rows of cells as aligned lines; the first column is left-aligned."""
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
    """Return the given format, or else that of the suffix of --out, or else the first."""
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


class Call:
    """State of the running command; `main` resets it.

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
        Warnings and names of columns that were printed.
    documents : array or None
        Documents of rows, which replace row numbers in messages.
    """

    def begin(self, typed):
        """Reset the state for a new command line."""
        self.typed, self.is_quiet, self.is_verbose = typed, "--quiet" in typed, "--verbose" in typed
        self.written: dict[str, str] = {}
        self.given: set[str] = set()
        self.said: set[str] = set()
        self.documents: Any = None


call = Call()
call.begin([])


def progress() -> int:
    """Return `verbose` for long work: 1 if requested, or if standard error is a screen."""
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
    """Print a message of one line on standard error; where that is full, the work goes on."""
    if sys.stderr is None:
        return
    try:
        if "tqdm" in sys.modules:
            from tqdm import tqdm

            # Printed above progress bars, if there are any.
            tqdm.write(printable(text), file=sys.stderr)
        else:
            print(printable(text), file=sys.stderr)
        sys.stderr.flush()
    except OSError:
        _give_up(sys.stderr)


def tell(text) -> None:
    """Print a message that --quiet leaves out."""
    if not call.is_quiet:
        say(text)


def tell_queries(file, column) -> None:
    """Print once which column holds the queries, if its name may mean something else."""
    text = f"{file}: queries are the column {brief(column)}; name another by --columns qid=NAME"
    if text not in call.said:
        call.said.add(text)
        tell(text)


def finish() -> None:
    """Flush standard output."""
    if sys.stdout is not None:
        with _errors_of_output():
            sys.stdout.flush()


def output_is_terminal() -> bool:
    """Return whether standard output is a screen."""
    return sys.stdout is not None and sys.stdout.isatty()


def data_output(out=None):
    """Return the stream for data: a file or standard output, in UTF-8 for any locale."""
    if out not in (None, "-"):
        return out
    if output_is_terminal():
        # A terminal would interpret control characters.
        return SimpleNamespace(write=lambda text: put(printable(text, keep="\n\t")))
    _set(_standard("output"), encoding="utf-8", errors="strict", newline="\n")
    return SimpleNamespace(write=put)


def standard_input():
    """Return standard input; raise if it is closed."""
    stream = _standard("input")
    _set(stream, errors="replace")
    return stream


def _standard(name):
    """Return standard input or output; raise if it is closed."""
    stream = sys.stdin if name == "input" else sys.stdout
    if stream is None:
        raise InputError(f"standard {name} is closed. Name a file, or redirect it.")
    return stream


def prepare_streams():
    """Configure standard streams: escape characters that cannot be encoded."""
    # Prevents files from getting the descriptor of a closed stream.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    _set(sys.stdout, errors="backslashreplace")


@contextlib.contextmanager
def _errors_of_output():
    """Name standard output in operating system errors, and discard its buffer."""
    try:
        yield
    except OSError as error:
        _give_up(sys.stdout)
        error.filename = "standard output"
        raise


def _give_up(stream):
    """Redirect a stream to nowhere, so that the interpreter does not write its buffer at exit."""
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _set(stream, **settings):
    """Reconfigure a stream if it supports that; streams in memory do not."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(**settings)


# Estimators by name for --threshold; "better" has keep_if="better".
THRESHOLDS = {
    "tune": "TunedThreshold",
    "better": "TunedThreshold",
    "per_query": "PerQueryThreshold",
    "expected": "ExpectedThreshold",
    "learned": "LearnedThreshold",
    "first_k": "FirstK",
}
# Arguments whose option has another name.
_OPTION_OF = {
    "documents": "docs",
    "keep_if": "threshold",
    "measures": "measure",
    "risks": "risk",
}
# Functions, classes and advice of Python, with what commands write instead.
_WRITTEN = {
    "groups": "the run",
    "groups=": "the query ids",
    "held_out_": "held-out value",
    "ndcg_f_score": "ndcg_f",
    "pass document ids": "'docno'",
    "complete_qrels": "'skfilterrank complete'",
    "evaluate_runs": "'skfilterrank evaluate'",
    "score_systems": "'skfilterrank compare'",
    "register_measure": "a module of --plugin",
    "rank_systems": "judgments.rank_systems in Python",
    "draw_sample(..., unit='query')": "'skfilterrank select --strategy sample --unit query'",
    "skfilterrank.judgments.estimate": "judgments.estimate in Python",
    "read_qrels(qrels, gains=)": "--gains",
    "read_qrels(qrels, unjudged_label=)": "--unjudged-label",
    "skfilterrank.metrics.get_measure_names()": "The page 'measures' of the documentation",
    "pass its function, measure=FUNCTION": "import its module by --plugin",
    "fit a CertifiedThreshold on them, and make a RiskMonitor of it": (
        "and make a threshold of them by 'skfilterrank threshold --risk'"
    ),
    "call reset()": "remove the file of --state",
    "cv=None": "What is held out of the training rows",
    **{name: f"--threshold {how}" for how, name in reversed(THRESHOLDS.items())},
    "FixedThreshold()": "--threshold none",
    "FixedThreshold(np.inf)": "--threshold inf",
    "FixedThreshold(0.0)": "--threshold 0",
    "FirstK()": "--threshold first_k",
    "threshold=FirstK()": "--threshold first_k",
    "threshold=np.inf": "--threshold inf",
}
_TERM = re.compile(r"(\w*)(=?)(.*)", re.DOTALL)


def show_warning(message, *place, **keywords) -> None:
    """Print a warning as one line, once."""
    text = in_options(message.args[0] if message.args else str(message))
    if text not in call.said:
        call.said.add(text)
        tell(f"skfilterrank: warning: {text}")


def in_options(message) -> str:
    """Return a message of the library with options in place of the arguments that it names."""
    return message.written(option_of) if isinstance(message, Message) else str(message)


def option_of(term: str) -> str:
    """Return the words of the command line for an argument (perhaps with a value) or a function."""
    if term.startswith("row ") and call.documents is not None:
        return f"document {brief(call.documents[int(term[4:])])}"
    if term.startswith((", ", " ")):  # advice that only commands with all its options can take
        names = re.findall(r"(\w+)='", term)
        is_taken = names and all(name in call.written for name in names)
        return re.sub(r"\w+='\w+'", lambda found: option_of(found[0]), term) if is_taken else ""
    _, name, is_given, value, _ = _TERM.split(term, maxsplit=1)
    option = call.written.get(_OPTION_OF.get(name, name))
    if term in _WRITTEN and (option is None or value):
        return _WRITTEN[term]
    if option is None:
        return term
    if value.startswith("["):  # an item of a dict
        return f"{option} {value[2:-2]}"
    if not is_given or value in ("", "True"):
        return f"{option}{value}"
    if value.endswith("}"):
        before, _, pairs = value[:-1].partition("{")
        pairs = re.sub(r": ?", "=", pairs).replace(", ", ",").replace("'", "")
        return f"{option}{before or '='}{pairs}"
    return f"{option} {'none' if value == 'None' else value.strip(chr(39))}"


def message_of(error) -> str:
    """Return the text of an error with its notes, without error numbers."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
        if re.fullmatch(r"\w[\w().=]*@\d+", str(error.filename)):
            text += ". Join measures by commas, as in -m ap,ndcg@10"
    if error.args and isinstance(error.args[0], Message):
        text = text.replace(error.args[0], in_options(error.args[0]))
    notes = list(map(in_options, getattr(error, "__notes__", [])))
    end = "" if text.endswith((".", "?")) or not notes else "."
    return " ".join([text + end, *notes])


def report_unforeseen(error, values) -> None:
    """Print one line for an unexpected error, with the files of the command."""
    files = [text for value in values.values() for text in _texts(value) if os.path.isfile(text)]
    where = f" (files: {listed(files, 3)})" if files else ""
    what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(":")[:300]
    if isinstance(error, MemoryError) or _OF_MEMORY.search(what):
        say(
            f"skfilterrank: error: there is not enough memory ({what}){where}. Leave it more, or "
            "give fewer rows or runs at once, or a lower --n-jobs."
        )
    else:
        say(
            f"skfilterrank: error: {what}{where}. This is a fault of skfilterrank: "
            "--debug shows where it occurred."
        )


# Parts of the messages of libraries that get no memory.
_OF_MEMORY = re.compile("map segment|bad_alloc|[Cc]annot allocate memory|[Oo]ut of memory")


def _texts(value):
    """Return the texts of an argument."""
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, str)]


def refuse(names, why) -> None:
    """Raise for a given option that has no effect with the other options."""
    for name in names:
        if name in call.given:
            raise InputError(f"--{name.replace('_', '-')} {why}")


def clash_of_files(options, values) -> str | None:
    """Describe a file that would be overwritten, or a stream that would be read twice."""
    from skfilterrank._files.files import check_name
    from skfilterrank._files.forms import files_of_folders

    taken, outputs, n_streams = {}, [], 0
    for name, value in values.items():
        written, arg = options[name]
        for text in _texts(value) if arg.file else ():
            check_name(text)
            if arg.file == "write":
                outputs.append((written, text))
                continue
            n_streams += text == "-"
            for path in files_of_folders([text]):
                taken[_identity(path, 0)] = written, path
    if n_streams > 1:
        return "standard input (-) can be read once. Name files for the others."
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
    """Return the identity of a regular file; None if writing would lose nothing."""
    try:
        status = os.stat(standard_stream if text == "-" else text)
    except OSError:
        # The file does not exist yet: compare its name as file systems do that ignore case.
        return os.path.realpath(text).casefold()
    # Devices such as a terminal or /dev/null may be named more than once.
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None

"""Types of arguments that several commands have: how a text becomes a value, and its help."""

import argparse
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from skfilterrank._lists.words import MISSING, N_ITEMS, PRECISIONS, TIES
from skfilterrank.cli._parser import Arg, similar
from skfilterrank.exceptions import InputError, brief

_MOST_DIGITS = 100
# Defaults of judge: the measure of a sample, grades, and places of runs that make a pool.
SAMPLED_MEASURES = ("ndcg_f@10",)
GRADES = (0, 1, 2)
POOL_DEPTH = 100


def names(text):
    """Split names, as in A,B."""
    return _names_of(text.split(","))


def _names_of(parts):
    """Return the names between the commas."""
    listed = [name.strip() for name in parts if name.strip()]
    if not listed:
        raise argparse.ArgumentTypeError("expected at least one name.")
    return listed


def pairs(text):
    """Split pairs of names, as in A=B,C=D."""
    listed = [tuple(name.strip() for name in pair.split("=")) for pair in names(text)]
    if any(len(pair) != 2 or not all(pair) for pair in listed):
        raise argparse.ArgumentTypeError(f"expected A=B,..., got {brief(text)}.")
    return listed


def measures(text):
    """Split names of measures; commas in parentheses separate the options of one."""
    # Here, so that --help does not wait for numpy and pandas.
    from skfilterrank._lists.measure_names import split_at_commas

    return _names_of(split_at_commas(text))


def gains(text):
    """Read gains of labels, as in Bad=-1,Good=1, NaN where they mean unjudged; or exp2."""
    return text if text == "exp2" else _numbers_by_name(text, "LABEL=GAIN", "label", "gains")


def risks(text):
    """Read levels of risks, as in any_forbidden=0.1."""
    return _numbers_by_name(text, "RISK=LEVEL", "risk", "levels")


def weights(text):
    """Read weights of runs, as in A=1,B=2."""
    return _numbers_by_name(text, "RUN=WEIGHT", "run", "weights")


def _numbers_by_name(text, expected, one, values):
    """Read numbers by name, as in A=1,B=2."""
    number_of = {}
    for item in measures(text):
        name, equals, number = item.rpartition("=")
        name, number = name.strip(), _float(number)
        if not equals or not name or number is None or math.isinf(number):
            raise argparse.ArgumentTypeError(f"expected {expected}, got {brief(item)}.")
        if name in number_of:
            raise argparse.ArgumentTypeError(f"{one} {brief(name)} has two {values}.")
        number_of[name] = number
    return number_of


def number(text):
    """Read a finite number."""
    value = _float(text)
    if value is None or not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a number, got {brief(text)}.")
    return value


def share(text):
    """Read a number between 0 and 1."""
    value = _float(text)
    if value is None or not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, got {brief(text)}.")
    return value


def positive(text):
    """Read a whole number from 1 up."""
    return whole(text, 1, "a whole number from 1 up")


def places(text):
    """Read a number of places from 1 up, or all, which is 0."""
    return 0 if text == "all" else whole(text, 1, "a whole number from 1 up, or all")


def number_or_share(text):
    """Read a whole number from 1 up, or a number with a point above 0, up to 1."""
    if "." not in text:
        return positive(text)
    value = number(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0, up to 1, got {brief(text)}.")
    return value


def _jobs(text):
    """Read a number of processes; -1 means all processors."""
    value = whole(text.removeprefix("-"), 1, "a number of processes, or -1 for all", text)
    return -value if text.startswith("-") else value


def _seed(text):
    """Read a seed that numpy takes."""
    return whole(text, 0, "a whole number below 2**31")


def whole(text, least, expected, given=None):
    """Read a whole number below 2**31, written in digits."""
    # Python makes no number of thousands of digits.
    if not text.isdecimal() or len(text) > _MOST_DIGITS or not least <= int(text) < 2**31:
        raise argparse.ArgumentTypeError(f"expected {expected}, got {brief(given or text)}.")
    return int(text)


def _float(text):
    """Read a number; None where it is none."""
    try:
        return float(text)
    except ValueError:
        return None


# The estimators that --threshold names.
THRESHOLDS = (
    *("tune", "auto", "per_query", "expected", "learned"),
    *("first_k", "largest_gap", "surprise"),
)


def _threshold(text):
    """Read the name of a threshold, none or a number."""
    if text in (*THRESHOLDS, "none"):
        return None if text == "none" else text
    value = _float(text)
    if value is None or math.isnan(value):
        known = (*THRESHOLDS, "none")
        raise argparse.ArgumentTypeError(
            f"expected {', '.join(known)} or a number, got {brief(text)}.{similar(text, known)}"
        )
    return value


# Presets of --holes: each says what becomes of labels and lists that are not there.
_PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "trec_eval": {"unjudged_label": "trec", "missing": "drop"},
    "forbidden": {"unjudged_label": None},
    "judged": {"unjudged": "drop", "predicted": "drop"},
}
_HOLES: dict[str, tuple[str, ...]] = {
    "unjudged": ("zero", "drop"),
    "predicted": ("warn", "use", "drop"),
    "missing": MISSING,
}


def holes(text):
    """Read a preset and changes of it, as in trec_eval,missing=empty, as a dictionary."""
    settings: dict[str, Any] = {}
    preset: dict[str, Any] = {}
    is_preset_given = False
    for item in names(text):
        name, equals, value = item.partition("=")
        name, value = name.strip().replace("-", "_"), value.strip()
        of_settings = [*_HOLES, "unjudged_label", "undefined"]
        known = of_settings if equals else list(_PRESETS)
        if name not in known:
            expected = ", ".join(known)
            written = [each.replace("_", "-") for each in of_settings]
            if not equals:
                expected += f", or SETTING=VALUE of {', '.join(written)}"
            hint = similar(name, written if equals else [*known, *written])
            raise argparse.ArgumentTypeError(f"expected {expected}, got {brief(name)}.{hint}")
        if name in settings or (not equals and is_preset_given):
            what = name.replace("_", "-") if equals else "a preset"
            raise argparse.ArgumentTypeError(f"{what} is given twice, got {brief(text)}.")
        if not equals:
            preset, is_preset_given = _PRESETS[name], True
        elif name in _HOLES and value not in _HOLES[name]:
            expected = ", ".join(_HOLES[name])
            raise argparse.ArgumentTypeError(
                f"{name} must be {expected}, got {brief(value)}.{similar(value, _HOLES[name])}"
            )
        elif name == "unjudged_label":
            settings[name] = _unjudged_label(value)
        elif name in _HOLES or value == "drop":
            settings[name] = value
        elif _float(value) is None:
            raise argparse.ArgumentTypeError(
                f"undefined must be a number or drop, got {brief(value)}."
            )
        else:
            settings[name] = number(value)
    return {"preset": preset} | settings if preset else settings


def _unjudged_label(text):
    """Read the label that means unjudged, trec or none."""
    return None if text == "none" else text if text in ("trec", "warn") else number(text)


def file_to_write(text):
    """Check that a file can be written, before hours of work."""
    from skfilterrank._files.files import check_packing, check_writable

    path = Path(text)
    if not os.path.isdir(path.parent):
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}. Make it first.")
    if os.path.isdir(path) or text.endswith(("/", os.sep)):
        raise argparse.ArgumentTypeError(f"{text} is a folder. Name a file in it.")
    try:
        check_packing(path)
        check_writable(path)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text} cannot be written: {error.strerror}.") from None
    return text


def file_or_stdout(text):
    """Check a file that can be written; - is standard output."""
    return text if text == "-" else file_to_write(text)


def page(text):
    """Check a web page with pictures, which can be drawn and written."""
    import skfilterrank.cli._report_page  # noqa: F401, says what to install

    _figure()
    return file_to_write(text)


def picture(text):
    """Check a picture in a format that matplotlib draws."""
    formats = _figure()().canvas.get_supported_filetypes()
    if Path(text).suffix.removeprefix(".").lower() not in formats:
        known = ", ".join(f".{name}" for name in sorted(formats))
        raise argparse.ArgumentTypeError(f"{text} must end in one of {known}.")
    return file_to_write(text)


def _figure():
    """Return matplotlib's figure, or say what to install."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise argparse.ArgumentTypeError(
            "drawing needs matplotlib. Install it: pip install 'skfilterrank[plot]'."
        ) from None
    return Figure


def format_arg(*choices, shown="by --out, else table"):
    """Return the properties of --format with some choices."""
    return Arg(", ".join(choices), choices=choices, metavar="FORMAT", shown=shown)


def _read(help, metavar="FILE", **properties):
    """Return the properties of a file that is read."""
    return Arg(help, metavar=metavar, file="read", **properties)


Qrels = Annotated[str, _read("judgments: qid iteration docno label, or any table", "QRELS")]
Runs = Annotated[
    list[str], _read("runs: qid Q0 docno rank score name, or any table", "RUN", many="+")
]
PoolRuns = Annotated[list[str] | None, _read("runs that make the pool", "RUN", many="*")]
Docs = Annotated[str | None, _read("texts of the documents: CSV, TSV, JSONL or Parquet", "DOCS")]
Topics = Annotated[str | None, _read("texts of the topics", "TOPICS")]
MachineQrels = Annotated[
    list[str] | None, _read("labels of a machine; repeated for each machine", many="repeat")
]
Pool = Annotated[
    str | None, _read("judgments whose documents make the pool; their labels are not read")
]
Out = Annotated[
    str | None,
    Arg("file to write", file_or_stdout, metavar="FILE", file="write", shown="standard output"),
]
Save = Annotated[str | None, Arg("file to save to", file_to_write, metavar="FILE", file="write")]
Plot = Annotated[
    str | None,
    Arg(
        "draw the best model's threshold curve (.png, .pdf, .svg)",
        picture,
        metavar="FILE",
        file="write",
    ),
]
Measures = Annotated[
    list[str] | tuple[str, ...],
    Arg(
        "measures, by commas or repeated; see help measures",
        measures,
        metavar="NAME",
        short="-m",
        many="repeat",
    ),
]
Depth = Annotated[
    int | None, Arg("places of each run that count", places, metavar="N|all", shown="all")
]
Gains = Annotated[
    Any,
    Arg(
        "gain of each label, below 0 forbidden; or exp2",
        gains,
        metavar="LABEL=GAIN,...",
        shown="the label",
    ),
]
Holes = Annotated[
    dict[str, Any] | None,
    Arg(
        "treatment of labels and lists that are not there; see help holes",
        holes,
        choices=tuple(_PRESETS),
        metavar="PRESET",
    ),
]
FilterScores = Annotated[
    str | None,
    Arg("column of a second score, higher for documents to be hidden", metavar="COLUMN"),
]
Unit = Annotated[
    str, Arg("unit that was drawn: documents or whole queries", choices=("document", "query"))
]
ConfidenceLevel = Annotated[float, Arg("confidence level", share, metavar="P")]
Baseline = Annotated[str | None, Arg("system that the others are compared with", metavar="SYSTEM")]
Document = Annotated[
    str | None, Arg("column of the document id", metavar="COLUMN", shown="docno, docid, ...")
]
Text = Annotated[
    list[str] | None,
    Arg("columns with the text of the documents", names, metavar="A,B", shown="guessed"),
]
RandomState = Annotated[int, Arg("seed of everything random", _seed, metavar="N")]
NJobs = Annotated[int | None, Arg("processes; -1 for all", _jobs, metavar="N", shown=1)]
# Formats of ranked lists, and of what is one table.
LISTS = ("trec", "csv", "json")
TABLES = ("table", "csv", "json", "latex", "markdown")


@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """Options of evaluate and compare on how runs and judgments are read."""

    gains: Gains = None
    holes: Holes = None
    ties: Annotated[str, Arg("order of documents of equal score", choices=TIES)] = "docno"
    precision: Annotated[
        str, Arg("single rounds scores as trec_eval 9 does", choices=PRECISIONS)
    ] = "double"
    n_items: Annotated[int, Arg("documents in the collection", positive, metavar="N")] = N_ITEMS


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Options of evaluate and compare on values that are estimated from a sample."""

    interval: Annotated[
        bool, Arg("values with intervals; so do --prels, --machine-qrels and --pool")
    ] = False
    confidence_level: Annotated[float, Arg("confidence level of intervals", share, metavar="P")] = (
        0.95
    )
    prels: Annotated[
        str | None, _read("sample that people judged, as judge --strategy sample writes it")
    ] = None
    machine_qrels: MachineQrels = None
    pool: Pool = None
    unit: Unit = "document"
    target: Annotated[
        str | None,
        Arg(
            "queries of the intervals", choices=("these-queries", "new-queries"), metavar="QUERIES"
        ),
    ] = None

    @property
    def is_asked(self) -> bool:
        """True where values are to be estimated."""
        return bool(self.interval or self.prels or self.machine_qrels or self.pool)


@dataclass(frozen=True, kw_only=True)
class Source:
    """Options of rank-filter and apply on the kind of a file of rows, and its columns of ids."""

    input_format: Annotated[
        str | None,
        Arg(
            "letor, csv, tsv, jsonl or parquet",
            choices=("letor", "csv", "tsv", "jsonl", "parquet"),
            metavar="FORMAT",
            shown="by their names",
        ),
    ] = None
    query: Annotated[str | None, Arg("column of the query id", metavar="COLUMN", shown="qid")] = (
        None
    )
    document: Document = None

    def given(self) -> dict[str, Any]:
        """Return the options that are given."""
        return {name: value for name, value in vars(self).items() if value is not None}


_Names = Annotated[list[str] | None, Arg(convert=names, metavar="A,B")]


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(Source):
    """Options of rank-filter on the kind of a file of rows, and the roles of its columns."""

    label: Annotated[str | None, Arg(metavar="COLUMN", shown="label")] = None
    text: Annotated[list[str] | None, Arg(convert=names, metavar="A", shown="the longest")] = None
    query_text: _Names = None
    same: Annotated[list | None, Arg(convert=pairs, metavar="A=B,...")] = None
    numeric: _Names = None
    categorical: _Names = None


@dataclass(frozen=True, kw_only=True)
class Cutting:
    """Options of rank-filter and threshold on how lists are cut, and what is promised of it."""

    measure: Measures = ("ndcg_f",)
    k: Annotated[int | None, Arg("places that count", places, metavar="N|all")] = None
    threshold: Annotated[
        Any,
        Arg(
            "how lists are cut; see help thresholds",
            _threshold,
            choices=(*THRESHOLDS, "none"),
            metavar="HOW",
        ),
    ] = "tune"
    risk: Annotated[
        dict[str, float] | None,
        Arg(
            "risks to keep low, such as any_forbidden=0.1; see help thresholds",
            risks,
            metavar="RISK=LEVEL,...",
        ),
    ] = None
    among: Annotated[
        str,
        Arg(
            "queries of the risks: all, or those that are shown something",
            choices=("all", "answered"),
            metavar="QUERIES",
        ),
    ] = "all"
    confidence_level: ConfidenceLevel = 0.95
    guarantee: Annotated[
        str,
        Arg(
            "keep risks with confidence, or in expectation",
            choices=("confidence", "expectation"),
            metavar="HOW",
        ),
    ] = "confidence"
    show_beyond_k: Annotated[bool, Arg("show more documents than the cut-offs of --risk cover")] = (
        False
    )

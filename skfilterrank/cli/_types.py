"""Shared argument types: conversion from text, and help."""

import math
import os
from argparse import ArgumentTypeError
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from skfilterrank._base.words import MISSING, N_ITEMS, PRECISIONS, TIES
from skfilterrank.cli._output import THRESHOLDS
from skfilterrank.cli._parser import Arg as Arg
from skfilterrank.exceptions import InputError, brief, did_you_mean

# Defaults of select: the measure of a sample, labels, and places of runs that make a pool.
SAMPLED_MEASURES = ("ndcg_f@10",)
GRADES = (0, 1, 2)
POOL_DEPTH = 100
EXP2_OF_MEASURES = "--gains exp2 is for measures. Name the gain of each label, as in 0=0,1=1."
_MOST = 2**31
_ROLES = ("qid", "docno", "label", "score")


def names(text):
    """Split names, as in A,B."""
    return _names_of(text.split(","))


def measures(text):
    """Split names of measures; commas in parentheses separate the options of one."""
    # Imported here, so that --help does not import numpy and pandas.
    from skfilterrank._lists.measure_names import split_at_commas

    return _names_of(split_at_commas(text))


def _names_of(parts):
    """Return the names between the commas."""
    listed = [name.strip() for name in parts if name.strip()]
    if not listed:
        raise ArgumentTypeError("expected at least one name.")
    return listed


def pairs(text):
    """Split pairs of names, as in A=B,C=D."""
    listed = [tuple(name.strip() for name in pair.split("=")) for pair in names(text)]
    if any(len(pair) != 2 or not all(pair) for pair in listed):
        raise ArgumentTypeError(f"expected A=B,..., got {brief(text)}.")
    return listed


def columns(text):
    """Read names of columns by role, as in qid=question,docno=passage_id."""
    named: dict[str, str] = {}
    for role, name in pairs(text):
        if role not in _ROLES:
            raise ArgumentTypeError(
                f"expected qid, docno, label or, for runs, score, got {brief(role)}."
            )
        if role in named:
            raise ArgumentTypeError(f"{role} has two columns, {named[role]} and {name}.")
        named[role] = name
    return named


def gains(text):
    """Read gains of labels, as in Bad=-1,Good=1, NaN where they mean unjudged; or exp2."""
    return text if text == "exp2" else _numbers_by_name(text, "LABEL=GAIN", "gains", label_key)


def label_key(label):
    """Return a label as key of --gains: 1, 1.0 and +1 are equal; true becomes True."""
    value = None if isinstance(label, bool) else _as_number(label, float)
    if value is not None:
        return value
    return {"true": "True", "false": "False"}.get(label, str(label))


def written(label) -> str:
    """Return a label in the form of --gains."""
    return str(label).removesuffix(".0") if isinstance(label, float) else str(label)


def _numbers_by_name(text, expected, values, key_of=str):
    """Read numbers by name, as in A=1,B=2."""
    number_of: dict[Any, float] = {}
    for item in measures(text):
        name, _, written = map(str.strip, item.rpartition("="))
        value = _as_number(written, float)
        if not name or value is None or math.isinf(value):
            raise ArgumentTypeError(f"expected {expected}, got {brief(item)}.")
        if key_of(name) in number_of:
            one = expected.partition("=")[0].lower()
            raise ArgumentTypeError(f"{one} {brief(name)} has two {values}.")
        number_of[key_of(name)] = value
    return number_of


risks = partial(_numbers_by_name, expected="RISK=LEVEL", values="levels")


def _as_number(text, kind):
    """Parse a number; None if the text is not a number."""
    try:
        return kind(text)
    except ValueError:
        return None


def numeric(kind, expected, is_right):
    """Make a converter that checks numbers by a condition."""

    def convert(text):
        value = _as_number(text, kind)
        if value is None or not is_right(value):
            raise ArgumentTypeError(f"expected {expected}, got {brief(text)}.")
        return value

    return convert


number = numeric(float, "a number", math.isfinite)
share = numeric(float, "a number between 0 and 1", lambda value: 0 < value < 1)
recall = numeric(float, "a number above 0, at most 1", lambda value: 0 < value <= 1)
positive = numeric(int, "a whole number from 1 up", lambda value: 0 < value < _MOST)
_places = numeric(int, "a whole number from 1 up, or all", lambda value: 0 < value < _MOST)
_jobs = numeric(int, "a number of processes, or -1 for all", lambda value: 0 < abs(value) < _MOST)
_seed = numeric(int, "a whole number below 2**31", lambda value: 0 <= value < _MOST)


def places(text):
    """Read a number of places from 1 up, or all, which is 0."""
    return 0 if text == "all" else _places(text)


def sample(text):
    """Read the size of a sample: auto, a whole number, or a share with a decimal point."""
    size = text if text == "auto" else _as_number(text, int if text.isdecimal() else float)
    if size is None or not (isinstance(size, str | int) or 0 <= size <= 1):
        raise ArgumentTypeError(
            f"expected auto, a whole number or a share such as 0.2, got {brief(text)}."
        )
    return size


def _threshold(text):
    """Read the name of a threshold, none or a number."""
    known = (*THRESHOLDS, "none")
    if text in known:
        return None if text == "none" else text
    value = _as_number(text, float)
    if value is None or math.isnan(value):
        raise ArgumentTypeError(
            f"expected {', '.join(known)} or a number, got {brief(text)}."
            f"{did_you_mean(text, known, 1)}"
        )
    return value


def _unjudged_label(text):
    """Read the label that means unjudged, trec or none."""
    return None if text == "none" else text if text in ("trec", "warn") else number(text)


_number_or_drop = numeric(float, "a number or drop", math.isfinite)


def _undefined(text):
    """Read the value of a query for which a measure is undefined, or drop."""
    return text if text == "drop" else _number_or_drop(text)


def file_to_write(text):
    """Check early that a file can be written."""
    from skfilterrank._files.files import check_packing, check_writable

    path = Path(text)
    if not os.path.isdir(path.parent):
        raise ArgumentTypeError(f"there is no folder {path.parent}. Make it first.")
    if os.path.isdir(path) or text.endswith(("/", os.sep)):
        raise ArgumentTypeError(f"{text} is a folder. Name a file in it.")
    try:
        check_packing(path)
        check_writable(path)
    except InputError as error:
        raise ArgumentTypeError(str(error)) from None
    except OSError as error:
        raise ArgumentTypeError(f"{text} cannot be written: {error.strerror}.") from None
    return text


def file_or_stdout(text):
    """Check that a file can be written; - means standard output."""
    return text if text == "-" else file_to_write(text)


def page(text):
    """Check that a web page with figures can be drawn and written."""
    import skfilterrank._files.pages  # noqa: F401, raises with the command to install it

    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ArgumentTypeError(
            "drawing needs matplotlib. Install it: pip install 'skfilterrank[plot]'."
        ) from None
    return file_to_write(text)


def format_arg(*choices, shown="by --out, else table"):
    """Return the properties of --format with some choices."""
    return Arg(", ".join(choices), choices=choices, metavar="FORMAT", shown=shown)


def _read(help="", metavar="FILE", **properties):
    """Return the properties of a file that is read."""
    return Arg(help, metavar=metavar, file="read", **properties)


File = Annotated[str | None, _read()]
NewFile = Annotated[str | None, Arg(convert=file_to_write, metavar="FILE", file="write")]
Report = Annotated[str | None, Arg(convert=page, metavar="REPORT", file="write")]
Count = Annotated[int | None, Arg(convert=positive, metavar="N")]
Number = Annotated[int, Arg(convert=positive, metavar="N")]
Names = Annotated[list[str] | None, Arg(convert=names, metavar="A,B")]
Qrels = Annotated[str, _read("judgments: qid iteration docno label, or any table", "QRELS")]
Runs = Annotated[
    list[str],
    _read(
        "runs: qid Q0 docno rank score name, or any table; QRELS and RUN may be one table",
        "RUN",
        many="+",
    ),
]
PoolRuns = Annotated[list[str], _read("runs that make the pool", "RUN", many="+")]
Docs = Annotated[
    str | None, _read("texts of the documents: CSV, TSV, JSON, JSONL, Parquet or Excel", "DOCS")
]
Topics = Annotated[str | None, _read("texts of the topics", "TOPICS")]
MachineQrels = Annotated[
    list[str] | None, _read("labels of a machine; repeated for each machine", many="repeat")
]
Out = Annotated[
    str | None,
    Arg("file to write", file_or_stdout, metavar="FILE", file="write", shown="standard output"),
]
Measures = Annotated[
    list[str] | tuple[str, ...],
    Arg(
        "measures, by commas or repeated",
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
UnjudgedLabel = Annotated[
    Any,
    Arg(
        "label that means not judged, as -1; trec: all labels below 0",
        _unjudged_label,
        metavar="LABEL",
        shown="",
    ),
]
Columns = Annotated[
    dict[str, str] | None,
    Arg("names of columns in tables", columns, metavar="qid=NAME,...", shown="the usual ones"),
]
Missing = Annotated[str | None, Arg(choices=MISSING)]
Unit = Annotated[Literal["document", "query"], Arg("unit of a sample: documents or whole queries")]
ConfidenceLevel = Annotated[float, Arg("confidence level", share, metavar="P")]
Baseline = Annotated[str | None, Arg("run that the others are compared with", metavar="NAME")]
Text = Annotated[
    list[str] | None,
    Arg("columns with the text of the documents", names, metavar="A,B", shown="guessed"),
]
RandomState = Annotated[int, Arg("seed of everything random", _seed, metavar="N")]
NJobs = Annotated[int | None, Arg("processes; -1 for all", _jobs, metavar="N", shown=1)]
# Formats of ranked lists, and formats of single tables.
LISTS = ("trec", "csv", "json")
TABLES = ("table", "csv", "json", "latex", "markdown")


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """Options on what the labels of judgments mean.

    Parameters
    ----------
    unjudged_label
        label that means not judged, as -1; trec: all labels below 0 (default: none, with a warning)
    predicted
        labels of machines: they count (warn, use), or are taken for not judged (drop)
    duplicates
        label of a document that a query holds twice: an error, the highest or the first
    subtopic
        take the highest label of all subtopics (diversity judgments)
    """

    columns: Columns = None
    gains: Gains = None
    unjudged_label: UnjudgedLabel = "warn"
    predicted: Literal["warn", "use", "drop"] = "warn"
    duplicates: Literal["raise", "max", "first"] = "raise"
    subtopic: Literal["max"] | None = None

    @property
    def texts(self) -> dict | None:
        """Gains of labels that are texts, with which judgments are read; None for numbers."""
        gains = self.gains
        if not isinstance(gains, dict) or all(isinstance(label, float) for label in gains):
            return None
        if self.unjudged_label not in ("warn", None):
            raise InputError(
                "--unjudged-label is for labels that are numbers. In --gains, give nan to the text "
                "that means unjudged, as in --gains Unknown=nan."
            )
        return gains

    @property
    def numbers(self):
        """Gains of labels that are numbers, exp2 or None."""
        if self.texts or not isinstance(self.gains, dict):
            return None if self.texts else self.gains
        return {int(n) if n.is_integer() else n: gain for n, gain in self.gains.items()}


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(LabelOptions):
    """Options of evaluate and compare on how runs and judgments are read.

    Parameters
    ----------
    unjudged
        give documents without a label gain 0, or take them out
    own
        documents whose id is that of the query: keep, with a warning or not, or leave out
    missing
        queries that a run lacks (default: empty)
    undefined
        value of queries for which a measure is undefined
    ties
        order of documents of equal score
    precision
        single rounds scores as trec_eval 9 does
    n_items
        documents in the collection
    """

    unjudged: Literal["zero", "drop"] = "zero"
    own: Literal["warn", "keep", "drop"] = "warn"
    missing: Missing = None
    undefined: Annotated[Any, Arg(convert=_undefined, metavar="NUMBER|drop")] = 0.0
    ties: Annotated[str, Arg(choices=TIES)] = "docno"
    precision: Annotated[str, Arg(choices=PRECISIONS)] = "double"
    n_items: Number = N_ITEMS

    def scoring(self) -> dict[str, Any]:
        """Return parameters of the functions that measure."""
        names = ("unjudged", "undefined", "ties", "precision", "n_items")
        return {"gains": self.numbers} | {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """Options of rank-filter on the roles of the columns of a file of rows.

    Parameters
    ----------
    text
        column with the text of the document (default: the longest)
    query_text
        columns with texts of the query (default: guessed)
    same
        columns of document and query to be compared (default: guessed)
    numeric
        columns of numbers (default: all)
    categorical
        columns of categories (default: none)
    """

    columns: Columns = None
    text: Annotated[list[str] | None, Arg(convert=names, metavar="A")] = None
    query_text: Names = None
    same: Annotated[list | None, Arg(convert=pairs, metavar="A=B,...")] = None
    numeric: Names = None
    categorical: Names = None

    def given(self) -> dict[str, Any]:
        """Return the options that are given."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class Cutting:
    """Options of rank-filter and threshold on how lists are cut, and what is certified of it.

    Parameters
    ----------
    measure
        measure by which a threshold is chosen
    k
        places that count
    threshold
        how lists are cut: tune, better (tune, or what needs no threshold where that is better),
        per_query, expected, learned, first_k, a score or none
    risk
        risks to keep low, as any_forbidden=0.1: any_forbidden, forbidden, false_reject_rate,
        empty_list_rate
    among
        queries of the risks: all, or those that are shown something
    """

    measure: Measures = ("ndcg_f",)
    k: Annotated[int | None, Arg(convert=places, metavar="N|all")] = None
    threshold: Annotated[
        Any, Arg(convert=_threshold, choices=(*THRESHOLDS, "none"), metavar="HOW")
    ] = "tune"
    risk: Annotated[dict[str, float] | None, Arg(convert=risks, metavar="RISK=LEVEL,...")] = None
    among: Annotated[Literal["all", "answered"], Arg(metavar="QUERIES")] = "all"
    confidence_level: ConfidenceLevel = 0.95

"""Options that several commands have, each said once: its type, its help, its default."""

import argparse
from typing import Any

from skfilterrank._core.run_words import MISSING, N_ITEMS, PRECISIONS, TIES
from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options
from skfilterrank.cli._streams import show

_COUNT = {"type": options.positive, "metavar": "N"}
_COLUMN = {"metavar": "COLUMN"}
_NAMES = {"type": options.names, "metavar": "A,B"}
_RUNS = {"type": files.read, "nargs": "+", "metavar": "RUN"}

# What add_argument takes. `shown` is the default in words, where the value would not do; `words`
# are what choices mean, of which a command shows those it has.
_SHARED: dict[str, dict[str, Any]] = {
    "QRELS": {"type": files.read, "help": "judgments: qid iteration docno label, or any table"},
    "RUN": _RUNS | {"help": "runs: qid Q0 docno rank score name, or any table"},
    "--qrels": {"type": files.read, "metavar": "QRELS", "help": "judgments"},
    "--runs": _RUNS | {"default": [], "help": "runs that make the pool"},
    "--docs": {
        "type": files.read,
        "metavar": "DOCS",
        "required": True,
        "help": "texts of the documents: CSV, TSV, JSONL or Parquet",
    },
    "--measure": {
        "flags": ("-m", "--measure"),
        "dest": "measures",
        "type": options.measures,
        "action": "extend",
        "metavar": "NAME",
        "help": "a measure; repeat, or separate by commas",
    },
    "--k": {"type": options.places, "metavar": "N|all", "help": "places that count"},
    "--gains": {
        "type": options.gains,
        "metavar": "LABEL=GAIN,...",
        "help": "gain of each label, below 0 for forbidden: --gains=-2=-1,0=0,1=1; or exp2, "
        "2^label - 1 from 0 up",
        "shown": "the label is the gain",
    },
    "--unjudged-label": {
        "type": options.unjudged_label,
        "default": "warn",
        "metavar": "LABEL|trec|none",
        "help": "the label that means pooled but not judged, such as -1; or all below 0, as for "
        "trec_eval; or none, so that labels below 0 are forbidden",
        "shown": "none, with a warning",
    },
    "--predicted": {
        "choices": ("warn", "use", "drop"),
        "default": "warn",
        "help": "labels that QRELS says are a machine's (second column: predicted or "
        "predicted:NAME) count like people's, with a warning or without; or are taken for not "
        "judged",
    },
    "--unjudged": {
        "choices": ("zero", "drop"),
        "default": "zero",
        "help": "unjudged documents have gain 0, or are taken out of the lists",
    },
    "--ties": {
        "choices": TIES,
        "default": "docno",
        "help": "order of documents of equal score",
        "words": {
            "docno": "by id, descending, as in trec_eval",
            "average": "mean over all orders",
            "worst": "lowest gain first",
            "best": "highest gain first",
            "stable": "as they come",
            "random": "by chance",
        },
    },
    "--precision": {
        "choices": PRECISIONS,
        "default": "double",
        "help": "single rounds scores as trec_eval 9 does, to which scores that differ by less are "
        "equal; trec_eval 10 keeps doubles",
    },
    "--missing": {
        "choices": MISSING,
        "help": "what becomes of a topic that a run lacks: stop; leave it out, for all runs where "
        "they are compared; take it for an empty list, as a filter leaves it and trec_eval -c "
        "does",
    },
    "--undefined": {
        "type": options.number_or_drop,
        "default": 0.0,
        "metavar": "NUMBER|drop",
        "help": "value of a topic for which a measure is undefined, or leave it out of the mean",
        "shown": 0,
    },
    "--n-items": _COUNT
    | {
        "default": N_ITEMS,
        "help": "documents in the collection, for measures that give documents which are not "
        "retrieved a place behind the list; values with different N are not comparable, so it "
        "does not depend on the run",
    },
    "--depth": {
        "type": options.places,
        "metavar": "N|all",
        "help": "places of each run that count",
    },
    "--threshold": {
        "type": options.threshold,
        "default": "tune",
        "metavar": "HOW",
        "help": f"where lists are cut: {', '.join(options.THRESHOLDS)}, none or a number",
    },
    "--filter-scores": _COLUMN
    | {"help": "column of RUN, a table, with a second score, higher for what is to be hidden"},
    "--risk": {
        "type": options.levels,
        "metavar": "RATE=LEVEL,...",
        "help": "rates of new queries to keep low, such as any_forbidden=0.1; all at once",
    },
    "--confidence": {
        "type": options.share,
        "default": 0.95,
        "metavar": "P",
        "help": "confidence level of all promised rates together",
    },
    "--guarantee": {
        "choices": ("confidence", "expectation"),
        "default": "confidence",
        "help": "keep the rates of --risk with --confidence, or on average",
    },
    "--show-beyond-k": {
        "action": "store_true",
        "help": "show more documents of a query than the cut-offs of --risk cover; they are not "
        "covered by what is promised",
    },
    "--interval": {
        "action": "store_true",
        "help": "values with intervals, from a sample of people's labels (--prels), or, where "
        "people judged all of QRELS, of the topics",
    },
    "--machine-qrels": {
        "type": files.read,
        "nargs": "+",
        "action": "extend",
        "default": [],
        "metavar": "FILE",
        "help": "labels of machines, a file for each, of all documents that count",
    },
    "--prels": {
        "type": files.read,
        "metavar": "FILE",
        "help": "the sample that people judged, with its probabilities, as judge --strategy "
        "sample writes it; labels that it lacks are those of QRELS",
    },
    "--pool": {
        "type": files.read,
        "metavar": "FILE",
        "help": "judgments whose documents count, labels unread: all others have gain 0",
        "shown": "those of --machine-qrels, else of QRELS",
    },
    "--unit": {
        "choices": ("document", "query"),
        "default": "document",
        "help": "what was drawn: documents, or whole topics, which all measures can be had from",
    },
    "--target": {
        "choices": ("these-topics", "new-topics"),
        "help": "what intervals are of: the values that these topics would have, were all of the "
        "pool judged by people; or the mean of all topics that these were drawn from",
        "shown": "these-topics with a sample",
    },
    "--baseline": {"metavar": "SYSTEM", "help": "the system that the others are compared with"},
    "--n-resamples": _COUNT | {"default": 10_000, "help": "resamples of tests that resample"},
    "--input-format": {
        "choices": ("letor", "csv", "tsv", "jsonl", "parquet"),
        "help": "format of the tables that are read",
        "shown": "by their names",
    },
    "--query": _COLUMN | {"help": "column of the query id", "shown": "qid"},
    "--document": _COLUMN | {"help": "column of the document id", "shown": "docno, docid, ..."},
    "--text": _NAMES | {"help": "columns with the text of the documents", "shown": "guessed"},
    "--format": {"help": "for people (table) or for programs", "shown": "by --out, else table"},
    "--topics": {"type": files.read, "metavar": "TOPICS", "help": "texts of the topics"},
    "--out": {
        "type": files.written_or_shown,
        "metavar": "FILE",
        "help": "file for what the command makes",
    },
    "--plot": {
        "type": files.picture,
        "metavar": "FILE",
        "help": "draw the best model's threshold curve (.png, .pdf, .svg)",
    },
    "--seed": {
        "type": options.seed,
        "default": 0,
        "metavar": "N",
        "help": "seed of everything random",
    },
    "--jobs": {
        "type": options.jobs,
        "metavar": "N",
        "help": "processes; -1 for all",
        "shown": 1,
    },
}
_POSITIONAL = {"QRELS": "qrels", "RUN": "runs"}
_SAMPLE = ("--interval", "--machine-qrels", "--prels", "--pool", "--unit", "--target")
_READING = ("--gains", "--unjudged-label", "--predicted", "--unjudged", "--ties", "--precision")


def add(parser, *names, **changes) -> None:
    """Add shared options; `changes` are what they are in this command alone, as a default is."""
    for name in names:
        keywords = _SHARED[name] | changes
        shown = keywords.pop("shown", keywords.get("default"))
        if words := keywords.pop("words", None):
            meanings = (f"{choice} ({words[choice]})" for choice in keywords["choices"])
            keywords["help"] += f": {', '.join(meanings)}"
        if shown not in (None, []):
            keywords["help"] += f" (default: {shown})"
        flags = keywords.pop("flags", (name,))
        if not name.startswith("-"):
            flags, keywords["metavar"] = (_POSITIONAL[name],), name
        parser.add_argument(*flags, **keywords)


def add_measures(parser, default) -> None:
    """Which measures."""
    add(parser, "--measure", shown=default)
    parser.add_argument(
        "--list-measures",
        action=_ListMeasures,
        help="print every measure with its options, and exit",
    )


def add_reading(parser, *, missing, shown=None) -> None:
    """Add how lists are read; `missing` is the default for topics that a run lacks."""
    reading = parser.add_argument_group("how lists are read")
    add(reading, *_READING)
    add(reading, "--missing", default=missing, shown=shown or missing)
    add(reading, "--undefined", "--n-items")


def add_sample(parser):
    """How values are estimated where people judged a sample; the group of these options."""
    sample = parser.add_argument_group("values where people judged a sample")
    add(sample, *_SAMPLE)
    return sample


def wants_sample(arguments) -> bool:
    """Whether values are to be estimated."""
    given = arguments.interval, arguments.machine_qrels, arguments.prels, arguments.pool
    return any(given)


def add_output(parser, *formats) -> None:
    """Where results go, and how they are written."""
    add(parser, "--format", choices=formats)
    add(parser, "--out", shown="standard output")
    parser.set_defaults(formats=formats)


def add_talk(parser) -> None:
    """What every command says of its work."""
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("--quiet", action="store_true", help="only the output and errors")
    talk.add_argument("--verbose", action="store_true", help="progress even if no screen shows it")


class _ListMeasures(argparse.Action):
    """Prints and exits, as --help does."""

    def __init__(self, option_strings, dest, help=None):
        super().__init__(option_strings, dest=argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        from skfilterrank.cli._list_measures import describe_measures

        show(describe_measures(n_items=N_ITEMS))
        parser.exit()

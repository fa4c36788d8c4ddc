"""``skfilterrank complete``: predict the labels that nobody made."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options

_EPILOG = """\
what is completed:
  documents of QRELS with the label of --unjudged-label, and documents of the
  --runs that QRELS does not hold, in topics that it does. Each topic has a model
  of its own, a linear support vector machine on tf-idf, which learns from the
  topic's judged documents. Labels that are there stay as they are.

what is left:
  Documents without text, and documents of topics without a judged one. They are
  counted and listed, and written with the label of --unjudged-label, or not at
  all without that option.

examples:
  skfilterrank complete qrels.txt --docs docs.jsonl.gz --runs runs/* --depth 100 \\
      --out completed.txt
  skfilterrank complete qrels.txt --docs docs.csv --text title,body \\
      --unjudged-label=-1 --output soft --out expected.txt
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Predict labels for the documents that nobody judged, from the text of those\n"
        "somebody did. Messages go to standard error. Files may be gzipped."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "qrels", type=files.read, metavar="QRELS", help="judgments: qid iteration docno label"
    )
    parser.add_argument(
        "--docs",
        type=files.read,
        metavar="DOCS",
        required=True,
        help="texts: CSV, TSV, JSONL or Parquet",
    )
    parser.add_argument(
        "--out",
        metavar="QRELS2",
        required=True,
        type=files.written_or_shown,
        help="file for the completed judgments; - is standard output",
    )
    pool = parser.add_argument_group("what to complete")
    pool.add_argument(
        "--runs", type=files.read, metavar="RUN", nargs="+", help="runs that make the pool"
    )
    pool.add_argument(
        "--depth",
        type=options.positive,
        metavar="K",
        help="the first K documents of each run and topic (default: all)",
    )
    pool.add_argument(
        "--unjudged-label",
        type=options.number,
        metavar="LABEL",
        help="the label that means pooled but not judged, such as -1 (default: none; labels below "
        "0 mean forbidden)",
    )
    texts = parser.add_argument_group("columns of DOCS")
    texts.add_argument(
        "--document", metavar="COLUMN", help="the document's id (default: docno, docid, ...)"
    )
    texts.add_argument(
        "--text", type=options.names, metavar="A,B", help="the text (default: title, text, ...)"
    )
    texts.add_argument(
        "--format",
        choices=("csv", "tsv", "jsonl", "parquet"),
        help="format of DOCS (default: told from its name)",
    )
    how = parser.add_argument_group("how labels are predicted")
    how.add_argument(
        "--output",
        choices=("hard", "soft"),
        default="hard",
        help="one of the topic's labels, or the expected label with four digits, which trec_eval "
        "does not read (default: hard)",
    )
    how.add_argument(
        "--one-class",
        choices=("copy", "pool", "leave"),
        default="copy",
        help="topics whose judged labels are all the same: copy it, ask a model of all topics, or "
        "leave their documents unjudged (default: copy)",
    )
    how.add_argument(
        "--unjudged-topics",
        choices=("leave", "pool"),
        default="leave",
        help="topics without a judged document: leave them unjudged, or ask a model of all topics "
        "(default: leave)",
    )
    parser.add_argument(
        "--list-missing",
        metavar="FILE",
        type=files.written,
        help="file for topic and id of each document without text",
    )
    parser.add_argument(
        "--jobs", type=options.jobs, metavar="N", help="processes; -1 for all (default: 1)"
    )
    parser.add_argument("--quiet", action="store_true", help="only errors")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Run the command."""
    # Here, so that --help does not wait for numpy and pandas.
    from skfilterrank.cli._completion import complete

    return complete(arguments)

"""``skfilterrank complete``: predict the labels that nobody made."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _shared_options as shared

_EPILOG = """\
what is completed:
  documents of QRELS with the label of --unjudged-label, and documents of the
  --runs that QRELS does not hold, in topics that it does (with --unjudged-topic
  pool, in all). Each topic has a model of its own, a linear support vector machine
  on tf-idf, which learns from the topic's judged documents. Labels that people gave
  stay as they are; those of machines are predicted anew.

what it is worth:
  The second column of the output says "predicted" where people did not judge, and
  the other commands tell of such labels. How many documents predicted relevant are
  expected to be is printed: judged documents are predicted as if they were not, and
  with --runs their ranks are compared with those of the others. After few judgments
  a topic it may be a few in a hundred.

what is left:
  Documents without text, and documents of topics without a judged one, or whose
  judged ones all have one label (--one-class). They are counted and listed, and
  written with the label of --unjudged-label (-1 for trec), or not at all without
  that option.

examples:
  skfilterrank complete qrels.txt --docs docs.jsonl.gz --runs runs/* --depth 100 \\
      --out completed.txt
  skfilterrank complete qrels.txt --docs docs.csv --text title,body \\
      --unjudged-label=-1 --labels soft --out expected.txt
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Predict labels for the documents that nobody judged, from the text of those\n"
        "somebody did. Messages go to standard error. Files may be packed."
    )
    parser.epilog = _EPILOG
    shared.add(parser, "QRELS", "--docs")
    shared.add(parser, "--out", required=True)
    pool = parser.add_argument_group("what to complete")
    shared.add(pool, "--runs", "--unjudged-label")
    shared.add(pool, "--depth", shown="all")
    texts = parser.add_argument_group("columns of DOCS")
    shared.add(texts, "--document", "--text")
    shared.add(texts, "--input-format", choices=("csv", "tsv", "jsonl", "parquet"))
    how = parser.add_argument_group("how labels are predicted")
    how.add_argument(
        "--labels",
        choices=("hard", "soft"),
        default="hard",
        help="one of the topic's labels, or the expected label with four digits, which trec_eval "
        "does not read (default: hard)",
    )
    how.add_argument(
        "--one-class",
        choices=("leave", "copy", "pool"),
        default="leave",
        help="topics whose judged labels are all the same: leave their other documents unjudged, "
        "copy the label, or ask a model of all topics (default: leave)",
    )
    how.add_argument(
        "--unjudged-topic",
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
    shared.add(parser, "--jobs")

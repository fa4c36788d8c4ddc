"""``skfilterrank filter``: leave out of a run what a saved filter leaves out."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _shared_options as shared

_EPILOG = """\
formats:
  trec  what is shown, as a TREC run
  csv   qid,docno,rank,score,shown with a line for each document; ranks of shown
        documents count from 1, and a hidden document has the rank 0
  json  the same, a JSON object for each document on a line of its own
  All commands that read runs take hidden documents for not retrieved.

example:
  skfilterrank threshold qrels.txt run.txt --k 10 --save filter.json
  skfilterrank filter new.txt --with filter.json --out shown.txt
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Filter the lists of a reranker by a filter saved by 'skfilterrank threshold\n"
        "--save'. With a threshold for each query, the run must hold whole lists."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "run", type=files.read, metavar="RUN", help="run with the reranker's scores"
    )
    parser.add_argument(
        "--with",
        dest="filter",
        type=files.read,
        required=True,
        metavar="FILTER",
        help="file written by --save",
    )
    shared.add(parser, "--filter-scores")
    shared.add(parser, "--format", choices=("trec", "csv", "json"), shown="by --out, else trec")
    shared.add(parser, "--out", shown="standard output")

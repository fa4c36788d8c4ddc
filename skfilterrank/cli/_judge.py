"""``skfilterrank judge``: grade documents at the terminal."""

import argparse
import math

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options
from skfilterrank.exceptions import brief

STRATEGIES = ("pooling", "maxrep", "mtf", "mtc", "prior", "random")
GRADES = "0,1,2"
DEPTH = 100

_EPILOG = """\
strategies:
  pooling  by the best rank in any run (default with runs)
  prior    by the ranks in all runs: high in many of them first
  mtf      move to front: stay with a run as long as it returns relevant documents
  mtc      minimal test collections: what decides most which run is better
  maxrep   what represents most of the pool (default without runs)
  random   in random order
  All but maxrep and random look at runs: --runs, or POOL if it is a run.

files:
  POOL   topics and documents: judgments (qid 0 docno label; the labels are not used), a
         run, or a table with columns qid and docno; left out, it is the first --depth
         documents of each of --runs
  DOCS   CSV, TSV, JSON lines or Parquet with a column docno (or docid, doc_id, id) and
         texts: title, text, body, abstract or contents, or those that --text names
  TOPICS a table with a column qid (or query_id, topic) and texts; the words of the first
         one called query, title, text or question are marked in the documents
  QRELS  qid 0 docno label; written at the end. Every answer is in QRELS.log before the
         next question: after an interruption or a crash, give the same command again. A
         file QRELS without such a log is another one's, and is not replaced.

keys:
  a digit, or the key shown, for a grade; s asks again later, u takes the last answer
  back, q saves and ends, ? helps; space and b turn pages. From a pipe, a line for each.

exit code:
  0; 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP, with everything saved; 2 after
  an error.

examples:
  skfilterrank judge --runs runs/*.gz --docs docs.jsonl --topics topics.jsonl --out qrels.txt
  skfilterrank judge pool.csv --docs docs.csv --out qrels.txt --grades=-1=spam,0=no,1=yes
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Show one document after the other, and save a grade for each. Files may be gzipped."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "pool", type=files.read, metavar="POOL", nargs="?", help="topics and documents to judge"
    )
    parser.add_argument(
        "--docs", required=True, type=files.read, metavar="DOCS", help="texts of the documents"
    )
    parser.add_argument(
        "--out",
        required=True,
        type=files.written_with_log,
        metavar="QRELS",
        help="judgments to write",
    )
    parser.add_argument("--topics", type=files.read, metavar="TOPICS", help="texts of the topics")
    parser.add_argument(
        "--text", type=options.names, metavar="A,B", help="columns of DOCS to show (guessed)"
    )
    parser.add_argument(
        "--grades",
        type=grades,
        default=GRADES,
        metavar="LABEL[=NAME],...",
        help=f"labels to choose from, below 0 for forbidden (default: {GRADES})",
    )
    choice = parser.add_argument_group("which documents")
    choice.add_argument(
        "--strategy", choices=STRATEGIES, metavar="NAME", help="what to judge first; see below"
    )
    choice.add_argument(
        "--runs",
        nargs="+",
        default=[],
        type=files.read,
        metavar="RUN",
        help="runs: qid Q0 docno rank score name",
    )
    choice.add_argument(
        "--depth",
        type=options.places,
        default=0,  # not given; None is all
        metavar="N|all",
        help=f"places of each run that count (default: {DEPTH}, or all with POOL)",
    )
    budget = choice.add_mutually_exclusive_group()
    budget.add_argument(
        "--n", type=options.positive, metavar="N", help="documents of each topic (default: all)"
    )
    budget.add_argument(
        "--share", type=share, metavar="S", help="share of each topic's documents, up to 1"
    )
    choice.add_argument(
        "--only", type=options.names, metavar="QID,...", help="topics to judge, in this order"
    )
    choice.add_argument(
        "--seed",
        type=options.seed,
        default=0,
        metavar="N",
        help="for --strategy random (0)",
    )
    parser.set_defaults(run=run, depth_of_pool=DEPTH)


def run(arguments) -> int:
    """Run the command."""
    # Here, so that --help does not wait for numpy and pandas.
    from skfilterrank.cli._assessing import assess

    return assess(arguments)


def grades(text):
    """Labels and perhaps their names, as in 0=no,1=yes."""
    found = {}
    for item in options.names(text):
        label, _, name = item.partition("=")
        label = options.number(label.strip())
        if label in found:
            raise argparse.ArgumentTypeError(f"label {label:g} is there twice")
        found[label] = name.strip()
    return found


def share(text):
    """A number above 0, up to 1."""
    number = options.number(text)
    if not 0 < number <= 1 or math.isnan(number):
        raise argparse.ArgumentTypeError(f"expected a number above 0, up to 1, got {brief(text)}")
    return number

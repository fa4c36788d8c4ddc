"""``skfilterrank monitor``: does a filter still keep its promises, and are scores as they were."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options
from skfilterrank.cli import _shared_options as shared

_EPILOG = """\
without judgments:
  Compares the scores of the run, and the share of it that is shown, with those of the
  queries that the filter was made of. Nothing is counted, and there is no state.

state:
  What was counted is kept in --state, by default beside the filter with the ending
  .monitor.json, and is taken up again by the next call. A topic counts once: a call
  with a topic that was counted already is an error. Gains are those of the filter;
  --gains is for labels that are texts.

exit code:
  0; 1 after an alarm, or without --qrels if scores are clearly on another scale, of
  30 queries or more (a message says if there are too few); 2 after an error.

example:
  skfilterrank threshold qrels.txt run.txt --k 10 --risk any_forbidden=0.1 --save filter.json
  skfilterrank monitor filter.json --qrels monday.qrels --run monday.run
  skfilterrank monitor filter.json --qrels tuesday.qrels --run tuesday.run
  skfilterrank monitor filter.json --run today.run
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Test with each new judged topic whether the promises of a filter still hold. The chance\n"
        "that an alarm is ever raised while they do is at most --alpha, however often you look."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "filter",
        type=files.read,
        metavar="FILTER",
        help="file written by 'skfilterrank threshold --risk ... --save'",
    )
    shared.add(parser, "--qrels")
    parser.add_argument(
        "--run",
        type=files.read,
        required=True,
        metavar="RUN",
        help="the reranker's scores for these topics, filtered or not",
    )
    shared.add(parser, "--filter-scores")
    parser.add_argument("--state", type=files.written, metavar="FILE", help="what was counted")
    parser.add_argument(
        "--alpha",
        type=options.share,
        metavar="P",
        help="chance of a false alarm (default: 0.05, or that of the state)",
    )
    parser.add_argument(
        "--allow-repeats",
        action="store_true",
        help="a topic that was counted may come again, as another asking of it",
    )
    shared.add(parser, "--gains", shown="those of the filter")
    shared.add(parser, "--unjudged-label", "--predicted")
    shared.add(parser, "--missing", default="drop")
    shared.add_output(parser, "table", "csv", "json")

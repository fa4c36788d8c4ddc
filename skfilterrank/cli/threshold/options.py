"""``skfilterrank threshold``: from which score on a reranker's documents are shown."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options
from skfilterrank.cli import _shared_options as shared

MEASURE = "ndcg_f"

_EPILOG = """\
rates of --risk:
  any_forbidden      share of queries with a forbidden document in the shown top k
  forbidden          forbidden share of the shown top k
  false_reject_rate  share of a query's good documents that is filtered
  empty_list_rate    share of queries that are shown nothing
  Lists end at the smallest cut-off of these rates (--k, or that of any_forbidden@3),
  which cover no document behind it, unless --show-beyond-k is given.
  A document is forbidden where its gain is below 0, good where it is above 0. Judged
  documents that the run lacks count as filtered. Topics without judgments are left
  out; so are topics that the run lacks, unless --missing says otherwise.

examples:
  skfilterrank threshold qrels.txt run.txt --k 10 --gains=0=-1,1=1,2=2 --save filter.json
  skfilterrank threshold qrels.txt run.txt --k 10 --risk any_forbidden=0.1 --save filter.json
  skfilterrank threshold qrels.txt run.txt --risk any_forbidden=0.1,false_reject_rate=0.3
  skfilterrank threshold qrels.txt runs/*.gz -m ap
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Find from which score on documents should be shown, and what can be promised of it,\n"
        "from judgments and the scores of a reranker. Several runs are compared, each with a\n"
        "threshold of its own. The result goes to standard output, messages to standard error."
    )
    parser.epilog = _EPILOG
    shared.add(parser, "QRELS", "RUN")
    shared.add_measures(parser, MEASURE)
    shared.add(parser, "--k", shown="that of the measure, else all")
    shared.add(parser, "--gains", "--unjudged-label", "--predicted")
    shared.add(parser, "--missing", default="drop")
    shared.add(parser, "--threshold")
    parser.add_argument(
        "--abstain",
        choices=options.CONFIDENCES,
        help="show nothing for queries in whose list this confidence is low",
    )
    parser.add_argument(
        "--max-shown", type=options.positive, metavar="N", help="documents of a query at most"
    )
    parser.add_argument(
        "--min-shown", type=options.positive, metavar="N", help="documents of a query at least"
    )
    shared.add(parser, "--filter-scores")
    parser.add_argument(
        "--rule",
        choices=options.RULES,
        help="how to hide by --filter-scores: where the gain per harm, the gain less the price of "
        "harm, or the harm alone is too low or high; or the best subset (default: ratio)",
    )
    shared.add(parser, "--risk", "--confidence", "--guarantee", "--show-beyond-k")
    shared.add_output(parser, "table", "csv", "json")
    parser.add_argument(
        "--save",
        type=files.written,
        metavar="FILE",
        help="save the filter of the run as JSON, for 'skfilterrank filter' and 'monitor'",
    )

"""``skfilterrank forecast``: systems in the order that judgments are expected to put them in."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options
from skfilterrank.cli import _shared_options as shared

MEASURE = "ap"
METHODS = ("nruns", "sakai", "condorcet", "bias+condorcet", "soboroff", "aslam", "spoerri")

_EPILOG = """\
methods:
  Documents of a topic's pool that pass for relevant, against which runs are measured:
  nruns           those that most runs return (default)
  sakai           the same, ties to the smaller sum of ranks
  condorcet       those with the most wins over other documents of the pool
  bias+condorcet  the same with the half of the runs alone that is least like the rest
  soboroff        drawn at random, a document as likely as runs return it; the mean of
                  some trials
  Without judgments:
  aslam           how much of what a run returns each other run returns too
  spoerri         how little of it none of four others does; at least five runs, best
                  with --teams
  All of them follow the majority: a system that alone finds what is relevant comes out
  badly.

files:
  TEAMS holds a line for each run, "run team" or "run,team"; or it is CSV whose first line
  names the columns run and team among others. Runs are named after their files, without
  .gz and .txt; where several files have one name, by their paths.

exit code:
  0; 2 after an error.

examples:
  skfilterrank forecast runs/*.gz
  skfilterrank forecast runs/*.gz --teams teams.csv -m ndcg@10,ap --format csv
  skfilterrank forecast runs/*.gz --out-qrels pseudo.txt
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Predict which TREC runs are the best before anything is judged. The order goes to\n"
        "standard output, messages to standard error. Files may be packed."
    )
    parser.epilog = _EPILOG
    shared.add(parser, "RUN")
    parser.add_argument(
        "--teams",
        type=files.read,
        metavar="FILE",
        help="team of each run: only its first run by name is ranked",
    )
    parser.add_argument(
        "--method",
        choices=METHODS,
        default="nruns",
        metavar="NAME",
        help="the method, see below",
    )
    shared.add_measures(parser, f"{MEASURE}; of several the first orders the runs")
    shared.add(parser, "--depth", default=30)
    parser.add_argument(
        "--share",
        type=options.number,
        metavar="NUMBER",
        help="share of the pool that is relevant (default: 0.3; soboroff 0.1)",
    )
    parser.add_argument(
        "--n-relevant",
        type=options.positive,
        metavar="N",
        help="number of relevant documents of each topic, in place of --share",
    )
    shared.add(parser, "--ties", choices=("docno", "random"))
    parser.add_argument(
        "--n-trials",
        type=options.positive,
        default=10,
        metavar="N",
        help="drawings of soboroff (default: 10)",
    )
    shared.add(parser, "--seed")
    shared.add_output(parser, "table", "csv", "json")
    parser.add_argument(
        "--out-qrels",
        type=files.written,
        metavar="FILE",
        help="write the judgments, 1 for relevant and 0 for the rest of the pool",
    )

"""``skfilterrank forecast``: systems in the order that judgments are expected to put them in."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options

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
        "standard output, messages to standard error. Files may be gzipped."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "runs", type=files.read, metavar="RUN", nargs="+", help="runs: qid Q0 docno rank score name"
    )
    parser.add_argument(
        "--teams",
        type=files.read,
        metavar="FILE",
        help="team of each run: only its first run by name is ranked",
    )
    parser.add_argument(
        "--method", choices=METHODS, default="nruns", metavar="NAME", help="see below"
    )
    parser.add_argument(
        "-m",
        "--measure",
        dest="measures",
        type=options.measures,
        action="extend",
        metavar="NAME",
        help="a measure, of several the first orders the runs; names are those of skfilterrank "
        f"evaluate --list-measures (default: {MEASURE})",
    )
    parser.add_argument(
        "--depth",
        type=options.places,
        default=30,
        metavar="N|all",
        help="places of each run that are compared, or go into the pool (default: 30)",
    )
    parser.add_argument(
        "--share",
        type=options.number,
        metavar="NUMBER",
        help="share of the pool that is relevant (default: 0.3; soboroff 0.1)",
    )
    parser.add_argument(
        "--ties",
        choices=("docno", "random"),
        default="docno",
        help="which of the documents that are left equal is relevant (default: docno)",
    )
    parser.add_argument(
        "--trials",
        type=options.positive,
        default=10,
        metavar="N",
        help="drawings of soboroff (default: 10)",
    )
    parser.add_argument(
        "--seed", type=options.seed, default=0, metavar="N", help="for what is random (default: 0)"
    )
    parser.add_argument(
        "--out-qrels",
        type=files.written,
        metavar="FILE",
        help="write the judgments, 1 for relevant and 0 for the rest of the pool",
    )
    parser.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help="for people, four digits; or for programs, all digits, json with an object on a "
        "line of its own for each run (default: table)",
    )
    parser.add_argument("--quiet", action="store_true", help="only the order and errors")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Run the command."""
    # Here, so that --help does not wait for numpy and pandas.
    from skfilterrank.cli._prediction import predict

    arguments.measures = arguments.measures or [MEASURE]
    return predict(arguments)

"""Options of the commands that measure runs: which measures, and how lists are read."""

import argparse

from skfilterrank.cli import _options as options
from skfilterrank.cli._streams import show

TIES = ("docno", "average", "worst", "best")
N_ITEMS = 1_000_000


def add_measures(parser, default) -> None:
    """Which measures."""
    parser.add_argument(
        "-m",
        "--measure",
        dest="measures",
        type=options.measures,
        action="extend",
        metavar="NAME",
        help=f"a measure; repeat, or separate by commas (default: {default})",
    )
    parser.add_argument(
        "--list-measures",
        action=_ListMeasures,
        help="print every measure with its options, and exit",
    )


def add_reading(parser, *, missing, missing_help):
    """How lists are read; the choices for topics that a run lacks, the default first."""
    reading = parser.add_argument_group("how lists are read")
    reading.add_argument(
        "--gains",
        type=options.gains,
        metavar="LABEL=GAIN,...",
        help="gain of each label, below 0 for forbidden: --gains=-2=-1,0=0,1=1; or exp2, "
        "2^label - 1 from 0 up (default: the label is the gain)",
    )
    reading.add_argument(
        "--unjudged-label",
        type=options.number,
        metavar="LABEL",
        help="the label that means pooled but not judged, such as -1 for infAP (default: none)",
    )
    reading.add_argument(
        "--unjudged",
        choices=("zero", "drop"),
        default="zero",
        help="unjudged documents have gain 0, or are taken out of the lists (default: zero)",
    )
    reading.add_argument(
        "--ties",
        choices=TIES,
        default="docno",
        help="order of documents with equal scores: by id, descending, as in trec_eval; the mean "
        "over all orders; the worst; the best (default: docno)",
    )
    reading.add_argument(
        "--precision",
        choices=("double", "single"),
        default="double",
        help="single rounds scores as trec_eval does, to which scores that differ by less are "
        "equal (default: double)",
    )
    reading.add_argument(
        "--missing",
        choices=missing,
        default=missing[0],
        help=f"{missing_help} (default: {missing[0]})",
    )
    reading.add_argument(
        "--undefined",
        type=options.number_or_drop,
        default=0.0,
        metavar="NUMBER|drop",
        help="value of a topic for which a measure is undefined, or leave it out of the mean "
        "(default: 0)",
    )
    reading.add_argument(
        "--n-items",
        type=options.positive,
        default=N_ITEMS,
        metavar="N",
        help="documents in the collection, for measures that give documents which are not "
        "retrieved a place behind the list; values with different N are not comparable, so it "
        f"does not depend on the run (default: {N_ITEMS})",
    )


def add_running(parser, quiet: str) -> None:
    """How the command runs; what it says when it is quiet."""
    parser.add_argument(
        "--jobs", type=options.jobs, metavar="N", help="processes; -1 for all (default: 1)"
    )
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("--quiet", action="store_true", help=quiet)
    talk.add_argument("--verbose", action="store_true", help="progress even if no screen shows it")


class _ListMeasures(argparse.Action):
    """Prints and exits, as --help does."""

    def __init__(self, option_strings, dest, help=None):
        super().__init__(option_strings, dest=argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        from skfilterrank.cli._measure_names import describe_measures

        show(describe_measures(n_items=N_ITEMS))
        parser.exit()

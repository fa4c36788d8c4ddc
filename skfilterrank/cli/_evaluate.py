"""``skfilterrank evaluate``: measure runs against judgments."""

import argparse

from skfilterrank.cli import _options as options

# Ranking and filtering, the first relevant document, all of them, the last one, and how much of
# what is seen was judged at all. lexirecall's share is far too small to compare runs by its mean.
MEASURES = ("ndcg_f@10", "rr", "ap", "recall@1000", "lexirecall(scale=log)", "judged@10")
TIES = ("docno", "average", "worst", "best")
N_ITEMS = 1_000_000

_EPILOG = """\
measures:
  A name of --list-measures, a cut-off after @, and options in parentheses, which
  shells want quoted: -m ndcg_f@20 -m 'rbp(persistence=0.95)@100'. Names of
  trec_eval are understood too: map, ndcg_cut_10, P_10, recall_100, Rprec,
  recip_rank, infAP. Columns are named as you write them. A document is relevant
  where its gain is above 0, and forbidden where it is below 0.

formats:
  table  for people, four digits: a line for each run; with --per-query a table
         for each run, with a line for each topic and "all", the mean
  csv    run,MEASURE,... with a line for each run; with --per-query
         run,qid,MEASURE,... with a line for each topic, and no means; all
         digits; undefined is empty
  json   a JSON object for each run, on a line of its own: "run", "n_topics",
         "missing_topics", "unjudged_topics", "mean": {MEASURE: value}, with
         --per-query "topics": {qid: {MEASURE: value}}; all digits; undefined
         is null
  trec   as trec_eval -m runid (-q with --per-query): measure, topic or "all",
         and value with four digits; the line "runid" stands between the topics
         of a run and its means
  A run is written as soon as it is finished, except into the table of means and
  with --sort. Runs are named after their files, without .gz and .txt; where
  several files have one name, by their paths.

exit code:
  0; 1 if --keep-going went on without a run; 2 after an error.

examples:
  skfilterrank evaluate qrels.txt run.txt
  skfilterrank evaluate qrels.txt runs/*.gz -m ndcg_f@20,lexirecall,ap --sort ap
  skfilterrank evaluate qrels.txt runs/* -m ap --per-query --format csv > ap.csv
  skfilterrank evaluate qrels.txt run.txt --gains=-2=-1,0=0,1=1,2=3
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Measure TREC runs against judgments. Values go to standard output, messages to\n"
        "standard error. Files may be gzipped; - reads standard input."
    )
    parser.epilog = _EPILOG
    parser.add_argument("qrels", metavar="QRELS", help="judgments: qid iteration docno label")
    parser.add_argument("runs", metavar="RUN", nargs="+", help="runs: qid Q0 docno rank score name")
    parser.add_argument(
        "-m",
        "--measure",
        dest="measures",
        type=options.measures,
        action="extend",
        metavar="NAME",
        help=f"a measure; repeat, or separate by commas (default: {', '.join(MEASURES)})",
    )
    parser.add_argument(
        "--list-measures",
        action=_ListMeasures,
        help="print every measure with its options, and exit",
    )
    parser.add_argument(
        "--per-query", action="store_true", help="the values of every topic, not only the means"
    )
    parser.add_argument(
        "--format",
        choices=("table", "csv", "json", "trec"),
        default="table",
        help="see below (default: table)",
    )
    parser.add_argument(
        "--sort", metavar="NAME", help="best runs by this measure first (default: as given)"
    )
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
        choices=("empty", "skip"),
        default="empty",
        help="topics of QRELS that are not in a run are empty lists, as in trec_eval -c, or left "
        "out (default: empty)",
    )
    reading.add_argument(
        "--undefined",
        type=options.number_or_skip,
        default=0.0,
        metavar="NUMBER|skip",
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
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="go on after a run that cannot be read (default: stop)",
    )
    parser.add_argument(
        "--jobs", type=options.jobs, metavar="N", help="processes; -1 for all (default: 1)"
    )
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("--quiet", action="store_true", help="only values and errors")
    talk.add_argument("--verbose", action="store_true", help="progress even if no screen shows it")
    parser.set_defaults(run=run)


def run(arguments) -> int:
    """Run the command."""
    # Here, so that --help does not wait for numpy and pandas.
    from skfilterrank.cli._evaluation import evaluate

    arguments.measures = arguments.measures or list(MEASURES)
    return evaluate(arguments)


class _ListMeasures(argparse.Action):
    """Prints and exits, as --help does."""

    def __init__(self, option_strings, dest, help=None):
        super().__init__(option_strings, dest=argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        from skfilterrank.cli._measure_names import describe_measures

        print(describe_measures(n_items=N_ITEMS), end="")
        parser.exit()

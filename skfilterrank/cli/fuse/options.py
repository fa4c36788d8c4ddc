"""``skfilterrank fuse``: one run of several."""

import argparse

from skfilterrank.cli import _options as options
from skfilterrank.cli import _shared_options as shared

BY_RANKS = ("rrf", "isr", "log_isr", "rbc", "borda", "condorcet")
BY_SCORES = ("combsum", "combmnz", "combanz", "combmed", "combmax", "combmin")
NORMALIZATIONS = ("minmax", "zscore", "max", "sum", "rank", "borda", "none")
MEASURE = "ndcg_f@10"

_EPILOG = """\
methods:
  By ranks:
  rrf        reciprocal rank fusion, 1 / (--rrf-k + rank) summed (default)
  isr        1 / rank^2 summed, times the number of runs that return the document
  log_isr    the same, times the logarithm of this number
  rbc        rank-biased centroid, --persistence to the power of rank - 1 summed
  borda      Borda points
  condorcet  by how many other documents a majority of runs puts behind
  By scores, which --normalize brings to one scale:
  combsum, combmnz, combanz  their sum; times, or divided by, the number of runs
  combmed, combmax, combmin  their median, highest, lowest

learning (--learn, with --qrels):
  method    the method, constants and normalisation that are best by --measure; condorcet
            and max are not among them
  weights   a weighted sum of the normalised scores, the weights found by coordinate
            ascent on --measure, which may take minutes
  logistic  the same, the weights found by logistic regression
  Judged topics are fused by what was learned from others, in five folds, so that the
  run can be measured by the same judgments. Topics without judgments are fused by
  what was learned from all.

examples:
  skfilterrank fuse runs/*.gz --out fused.txt
  skfilterrank fuse bm25.txt dense.txt --method combsum --weights bm25=1,dense=2 > fused.txt
  skfilterrank fuse runs/* --qrels qrels.txt --learn method -m ap --out fused.txt.gz
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Fuse TREC runs into one. The run goes to standard output or --out, messages to\n"
        "standard error. Files may be gzipped."
    )
    parser.epilog = _EPILOG
    shared.add(parser, "RUN")
    how = parser.add_argument_group("how runs are fused")
    how.add_argument(
        "--method", choices=BY_RANKS + BY_SCORES, metavar="NAME", help="the method, see below"
    )
    how.add_argument(
        "--normalize",
        choices=NORMALIZATIONS,
        help="how scores of a run for a topic are brought to one scale (default: minmax)",
    )
    how.add_argument(
        "--rrf-k", type=options.number, metavar="NUMBER", help="constant of rrf (default: 60)"
    )
    how.add_argument(
        "--persistence", type=options.share, metavar="P", help="constant of rbc (default: 0.8)"
    )
    how.add_argument(
        "--weights",
        type=weights,
        metavar="RUN=NUMBER,...",
        help="weight of each run, by the name of its file without .gz and .txt (default: 1)",
    )
    how.add_argument(
        "--filtered",
        choices=("all", "majority", "any"),
        default="all",
        help="a document is left out if all runs leave it out, more than half, or any "
        "(default: all)",
    )
    learning = parser.add_argument_group("how it is learned")
    shared.add(learning, "--qrels")
    learning.add_argument(
        "--learn",
        choices=("method", "weights", "logistic"),
        help="what is learned from them (default: method)",
    )
    shared.add_measures(learning, MEASURE)
    shared.add(learning, "--gains", "--unjudged-label", "--predicted", "--unjudged")
    shared.add(learning, "--seed", "--jobs")
    out = parser.add_argument_group("the fused run")
    shared.add(out, "--depth", shown="all")
    out.add_argument(
        "--name", default="fused", metavar="NAME", help="name of the run (default: fused)"
    )
    shared.add(out, "--out", shown="standard output")


def weights(text):
    """Weights of runs, as in A=1,B=0.5."""
    found = {}
    for item in options.names(text):
        name, _, weight = item.rpartition("=")
        name = name.strip()
        if not name or name in found:
            raise argparse.ArgumentTypeError(f"expected RUN=NUMBER,..., each run once, got {text}")
        found[name] = options.number(weight)
    return found

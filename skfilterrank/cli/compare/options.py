"""``skfilterrank compare``: which of several systems is better, and how sure that is."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options
from skfilterrank.cli import _shared_options as shared

MEASURES = ("ndcg_f@10", "lexirecall(scale=preference)")
TESTS = ("t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", "randomized_tukey")
CORRECTIONS = ("holm", "bonferroni", "fdr_bh", "none")

_USAGE = """%(prog)s [options] QRELS RUN RUN...
       %(prog)s [options] --scores FILE..."""

_EPILOG = """\
tests (--test), all over the same topics:
  t                 paired t test; the default
  wilcoxon          signed ranks of the differences
  sign              which system is ahead on more topics; the default for
                    "lexirecall(scale=preference)", which only orders runs
  randomization     paired permutation test
  bootstrap         studentized bootstrap test
  tukey             Tukey's HSD, topics as blocks: all pairs at once
  randomized_tukey  the same without assuming normal values
  The two last ones keep the chance of any false claim at alpha by themselves;
  p values of the others are corrected for the number of pairs (--correction).

output:
  table  for people, for each measure: the systems, the best mean first, with a
         95 % interval of the mean and how many others each beats and is beaten
         by; then the pairs, the better system first, as the test has it, * where
         significant
  csv    a line for each pair: measure, first, second, mean_first, mean_second,
         difference, low, high, effect_size, p_value, p_adjusted, significant
  json   an object for each measure, on a line of its own, with all of this
  latex, markdown
         for papers: a row for each system, a column for each measure, the best
         mean bold, and marks of significance, which the last line explains
  --html writes one file to open in a browser: figures, and for pairs of systems
  the topics that decide between them and the documents that moved there; and
  what it was made from. It needs matplotlib: pip install 'skfilterrank[plot]'.

samples:
  With --prels, the sample of people's labels, or --interval, values,
  differences and ranks are estimated, with intervals; a machine's labels of all
  documents (--machine-qrels) make them narrower, as far as they deserve. All
  differences come from one sample, and are surer than values. p values are
  corrected by --correction; intervals cover 1 - alpha by themselves, those of
  ranks together. Measures are those of evaluate --interval; formats are table,
  csv, with a line for each pair, and json. --html adds what the machine is
  worth.

exit code:
  0; 2 after an error.

examples:
  skfilterrank compare qrels.txt runs/*.gz -m ndcg_f@20,lexirecall --test tukey
  skfilterrank compare qrels.txt old.txt new.txt -m ap --html report.html
  skfilterrank compare qrels.txt runs/* --baseline bm25 --correction fdr_bh
  skfilterrank evaluate qrels.txt runs/* -m ap --per-query --format csv > ap.csv
  skfilterrank compare --scores ap.csv
  skfilterrank compare qrels.txt runs/* -m ndcg@10 --prels sample.prels \\
      --machine-qrels llm.txt --html report.html
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.usage = _USAGE
    parser.description = (
        "Compare TREC runs, pair by pair, with a test of significance. The outcome goes\n"
        "to standard output, messages to standard error. Files may be packed; - reads\n"
        "standard input."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "files",
        type=files.read,
        metavar="QRELS RUN",
        nargs="*",
        help="judgments (qid iteration docno label), then runs (qid Q0 docno rank score name)",
    )
    parser.add_argument(
        "--scores",
        nargs="+",
        type=files.read,
        metavar="FILE",
        help="instead of QRELS and runs: what evaluate --per-query wrote as csv, json or trec, or "
        "trec_eval -q",
    )
    shared.add_measures(parser, ", ".join(MEASURES) + "; with --scores all there are")
    testing = parser.add_argument_group("how systems are compared")
    testing.add_argument("--test", choices=TESTS, help="test of significance, see below")
    testing.add_argument(
        "--correction",
        choices=CORRECTIONS,
        help="of p values for the number of pairs (default: holm)",
    )
    shared.add(testing, "--baseline", shown="each with each")
    testing.add_argument(
        "--alpha",
        type=options.share,
        default=0.05,
        metavar="P",
        help="a difference is significant if its p value is at most this; intervals cover "
        "1 - alpha (default: 0.05)",
    )
    shared.add(testing, "--n-resamples", "--seed")
    shared.add_output(parser, "table", "csv", "json", "latex", "markdown")
    page = parser.add_argument_group("a report to open in a browser")
    page.add_argument(
        "--html", type=files.page, metavar="REPORT", help="also write a report to this file"
    )
    page.add_argument(
        "--before",
        type=files.read,
        metavar="REPORT",
        help="an earlier report: what is different now is told in the new one",
    )
    page.add_argument(
        "--open",
        type=options.pairs,
        metavar="RUN=RUN,...",
        help="pairs whose documents are shown (default: those of the five best runs)",
    )
    shared.add(page, "--topics")
    shared.add(page, "--docs", required=False)
    shared.add(page, "--text")
    shared.add_sample(parser)
    shared.add_reading(parser, missing=None, shown="empty; with --scores raise")
    shared.add(parser, "--jobs")
    parser.set_defaults(get_default=parser.get_default)

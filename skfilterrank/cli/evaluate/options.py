"""``skfilterrank evaluate``: measure runs against judgments."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _shared_options as shared

# Ranking and filtering, the first relevant document, all of them, the last one, and how much of
# what is seen was judged at all.
MEASURES = ("ndcg_f@10", "rr", "ap", "recall@1000", "lexirecall", "judged@10")

_EPILOG = """\
measures:
  A name of --list-measures, a cut-off after @, and options in parentheses, which
  shells want quoted: -m ndcg_f@20 -m 'rbp(persistence=0.95)@100'. Names of
  trec_eval and ir_measures are understood too, in any case: map, ndcg_cut_10,
  P_10, P@10, recall_100, Rprec, MRR@10, infAP, RBP(p=0.9). Columns are named as
  you write them. A document is relevant where its gain is above 0, and forbidden
  where it is below 0; for ap, rr, recall and lexirecall of TREC Deep Learning,
  which counts labels 2 and 3, say rel=2. A measure may have a relevance level or
  gains of its own, or look at judged documents alone:
  -m 'AP(rel=2)' -m 'ndcg(gains=exp2)@10' -m 'nDCG(judged_only=true)@10'.
  The number that LightGBM, XGBoost, CatBoost or scikit-learn would report is
  -m 'ndcg(like=lightgbm)@10'.

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
  trec   as trec_eval 9 and 10 -m runid (-q with --per-query): measure, topic or
         "all", and value with four digits, counts with none; the line "runid"
         stands between the topics of a run and its means
  latex, markdown
         the table for papers, the best means of several runs bold
  A run is written as soon as it is finished, except into a table of means and
  with --sort. Runs are named after their files, without .gz and .txt; where
  several files have one name, by their paths.

slices:
  FILE is a table (CSV, TSV, JSONL) with a column of topics and others, such as
  language and source, each of which is a way to slice them. Of each slice: its
  mean with a 95 % interval, how far it is from the mean of all topics, and the p
  value of a randomization test of its topics against all others, corrected for
  the number of slices (Holm). Topics in no slice have an empty field.

intervals:
  --interval prints the value of each run and its interval. People's labels of a
  sample (--prels) make it, and a machine's labels of all documents narrower, as
  far as these deserve (--machine-qrels). Measures: sums over documents such as
  dcg@10, precision@10 and rbp, and ndcg, ndcg_f, ap and recall; others with
  --unit query. Formats: table; csv: run,measure,value,low,high,standard_error;
  json: an object for each run. Without a sample, where people judged all of
  QRELS, intervals are those of the mean over topics like these.

exit code:
  0; 1 if --keep-going went on without a run; 2 after an error.

examples:
  skfilterrank evaluate qrels.txt run.txt
  skfilterrank evaluate qrels.txt runs/*.gz -m ndcg_f@20,lexirecall,ap --sort ap
  skfilterrank evaluate qrels.txt runs/* -m ap --per-query --format csv > ap.csv
  skfilterrank evaluate qrels.txt run.txt -m ndcg_f@10 --slices languages.csv
  skfilterrank evaluate qrels.txt runs/* -m ndcg@10 --interval \\
      --prels sample.prels --machine-qrels llm.txt
  skfilterrank evaluate qrels.txt run.txt --gains=-2=-1,0=0,1=1,2=3
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Measure TREC runs against judgments. Values go to standard output, messages to\n"
        "standard error. Files may be packed; - reads standard input."
    )
    parser.epilog = _EPILOG
    shared.add(parser, "QRELS", "RUN")
    shared.add_measures(parser, ", ".join(MEASURES))
    parser.add_argument(
        "--per-query", action="store_true", help="the values of every topic, not only the means"
    )
    parser.add_argument(
        "--slices",
        type=files.read,
        metavar="FILE",
        help="means of slices of the topics, and how they differ (table, csv, json)",
    )
    shared.add_output(parser, "table", "csv", "json", "trec", "latex", "markdown")
    parser.add_argument(
        "--sort", metavar="NAME", help="best runs by this measure first (default: as given)"
    )
    sample = shared.add_sample(parser)
    shared.add(sample, "--confidence", help="confidence level of each interval")
    shared.add_reading(parser, missing="empty")
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="go on after a run that cannot be read (default: stop)",
    )
    shared.add(parser, "--jobs")

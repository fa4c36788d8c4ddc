"""``skfilterrank judge``: grade documents at the terminal."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options
from skfilterrank.cli import _shared_options as shared
from skfilterrank.exceptions import brief

STRATEGIES = ("pooling", "maxrep", "mtf", "mtc", "prior", "random", "statap", "sample")
GRADES = "0,1,2"
DEPTH = 100
MEASURES = ("ndcg_f@10",)

_EPILOG = """\
strategies:
  pooling  by the best rank in any run (default with runs)
  prior    by the ranks in all runs: high in many of them first
  mtf      move to front: stay with a run as long as it returns relevant documents
  mtc      minimal test collections: what decides most which run is better
  maxrep   what represents most of the pool (default without runs)
  random   in random order; with --unjudged-label, infap can be estimated from any number
  statap   a random sample of --n-per-query, high in many runs more often; QRELS then holds
           its probabilities (qid docno label 1 probability), for stat_ap, and only topics
           of which the whole sample is judged
  sample   a random sample of --n-total documents over all topics, those more often that
           decide between --runs and of which the machine (--machine-qrels) is unsure.
           QRELS then holds its probabilities, for evaluate --interval and compare --prels. A
           larger --n-total, with the same --seed, goes on with the same sample. Documents
           come in the order of the sample, of all topics in turn: what is judged so far is a
           smaller sample, and is written as such (with --only, topic by topic)
  All but maxrep and random look at runs: --runs, or POOL if it is a run.

judgments that are there (--judged):
  Of one file, its documents are not asked about: the holes of the pool are. Of several
  files, by assessors of the same documents, those on which they agree are not asked
  about, and those on which they differ are, with their labels beside. Labels of machines
  (second column: predicted) are taken for not judged. QRELS holds all of it in the end,
  so their labels must be among --grades. --second-look N asks again about the N labels
  that a model and the most similar documents contradict the most.

files:
  POOL   topics and documents: judgments (qid 0 docno label; the labels are not used), a
         run, or a table with columns qid and docno; left out, it is the first --depth
         documents of each of --runs, or else those of --judged
  DOCS   CSV, TSV, JSON lines or Parquet with a column docno (or docid, doc_id, id) and
         texts: title, text, body, abstract or contents, or those that --text names
  TOPICS TREC topics (<top>), lines of id, tab and text, or a table with a column qid (or
         query_id, topic) and texts; the words of the first one called query, title, text
         or question are marked in the documents
  QRELS  qid 0 docno label; written at the end. Every answer is in QRELS.log before the
         next question: after an interruption or a crash, give the same command again. A
         file QRELS without such a log is another one's, and is not replaced. The log keeps
         the grades, too, and does not go on with others.

keys:
  a digit, or the key shown, for a grade; s asks again later, u takes the last answer
  back, q saves and ends, ? helps; space and b turn pages, / goes to the next one with a
  word of the query. From a pipe, a line for each.

exit code:
  0; 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP, with everything saved; 2 after
  an error.

examples:
  skfilterrank judge --runs runs/*.gz --docs docs.jsonl --topics topics.jsonl --out qrels.txt
  skfilterrank judge --runs runs/* --judged qrels.txt --docs docs.jsonl --out holes.txt
  skfilterrank judge --judged anna.txt bob.txt --docs docs.jsonl --out settled.txt
  skfilterrank judge --runs runs/* --docs docs.jsonl --strategy statap --n-per-query 50 --out prels
  skfilterrank judge --runs runs/* --machine-qrels llm.txt -m ndcg@10 --docs docs.jsonl \\
      --strategy sample --n-total 200 --out sample.prels
  skfilterrank judge pool.csv --docs docs.csv --out qrels.txt --grades=-1=spam,0=no,1=yes
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Show one document after the other, and save a grade for each. Files may be packed."
    )
    parser.epilog = _EPILOG
    parser.add_argument(
        "pool", type=files.read, metavar="POOL", nargs="?", help="topics and documents to judge"
    )
    shared.add(parser, "--docs")
    shared.add(parser, "--out", type=files.written_with_log, required=True)
    shared.add(parser, "--topics", "--text")
    parser.add_argument(
        "--grades",
        type=grades,
        metavar="LABEL[=NAME],...",
        help="labels to choose from, below 0 for forbidden (default: those of --gains, or of "
        f"--machine-qrels, or {GRADES})",
    )
    parser.add_argument(
        "--assessor", metavar="NAME", help="who judges; the log keeps it with each answer"
    )
    shared.add(
        parser,
        "--unjudged-label",
        type=options.number,
        default=None,
        metavar="LABEL",
        help="the label that means pooled but not judged, such as -1: in --judged, and of what is "
        "written for the rest of the pool",
        shown=None,
    )
    choice = parser.add_argument_group("which documents")
    choice.add_argument(
        "--strategy", choices=STRATEGIES, metavar="NAME", help="what to judge first; see below"
    )
    shared.add(choice, "--runs")
    choice.add_argument(
        "--judged",
        type=files.read,
        nargs="+",
        default=[],
        metavar="QRELS",
        help="judgments that are there, of one or of several assessors",
    )
    choice.add_argument(
        "--second-look",
        type=options.positive,
        metavar="N",
        help="ask again about the most doubtful labels of --judged",
    )
    # 0 is not given; None is all.
    shared.add(choice, "--depth", default=0, shown=f"{DEPTH}, or all with POOL")
    choice.add_argument(
        "--n-per-query",
        type=number_or_share,
        metavar="N|SHARE",
        help="documents of each topic, or their share, as in 0.2 or 1.0 (default: all)",
    )
    choice.add_argument(
        "--n-total",
        type=number_or_share,
        metavar="N|SHARE",
        help="documents over all topics, or their share; topics with --unit query; for sample only",
    )
    choice.add_argument(
        "--only", type=options.names, metavar="QID,...", help="topics to judge, in this order"
    )
    shared.add(choice, "--seed")
    drawing = parser.add_argument_group("what a sample is for")
    shared.add(drawing, "--measure", shown=MEASURES[0])
    shared.add(drawing, "--machine-qrels", "--gains", "--unit")


def grades(text):
    """Labels and perhaps their names, as in 0=no,1=yes."""
    name_of = {}
    for item in options.names(text):
        label, _, name = item.partition("=")
        label = options.number(label.strip())
        if label in name_of:
            raise argparse.ArgumentTypeError(f"label {label:g} is there twice")
        name_of[label] = name.strip()
    return name_of


def number_or_share(text):
    """A whole number from 1 up, or a number with a point above 0, up to 1."""
    if "." not in text:
        return options.positive(text)
    number = options.number(text)
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0, up to 1, got {brief(text)}")
    return number

"""``skfilterrank rank-filter``: train, tune, compare."""

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _options as options
from skfilterrank.cli import _shared_options as shared
from skfilterrank.ranking import get_ranker_names

MEASURE, K, FOLDS = "ndcg_f", 3, 5


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.description = (
        "Train models that rank each query's documents and filter the forbidden "
        "ones, choose each threshold by query-grouped cross-validation, and compare them all "
        "with ranking only and filtering only. The table goes to standard output, messages to "
        "standard error. With texts --jobs 1 may be the fastest, since models then share features."
    )
    parser.add_argument(
        "train", type=files.read, metavar="TRAIN", help="LETOR text, CSV, TSV, JSONL or Parquet"
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--test-data", type=files.read, metavar="FILE", help="judged rows to compare the models on"
    )
    where.add_argument(
        "--cv",
        type=options.folds,
        metavar="N",
        help=f"compare by N folds of TRAIN (default without --test-data: {FOLDS})",
    )
    shared.add(parser, "--input-format")
    table = parser.add_argument_group("columns of tables")
    shared.add(table, "--query", "--document")
    table.add_argument("--label", metavar="COLUMN", help="the label (default: label)")
    shared.add(table, "--text", shown="the longest text")
    table.add_argument(
        "--query-text", type=options.names, metavar="A,B", help="texts of the query (guessed)"
    )
    table.add_argument(
        "--same",
        type=options.pairs,
        metavar="A=B,...",
        help="columns of document and query whose equality matters (guessed)",
    )
    table.add_argument(
        "--numeric", type=options.names, metavar="A,B", help="numbers (default: all)"
    )
    table.add_argument(
        "--categorical", type=options.names, metavar="A,B", help="categories (default: none)"
    )
    parser.add_argument(
        "--models",
        type=options.rankers,
        metavar="A,B",
        help=f"losses, any of {','.join(get_ranker_names('loss'))} (default: all), and ranking "
        f"methods, any of {','.join(get_ranker_names('method'))}",
    )
    parser.add_argument(
        "--learner",
        choices=("auto", "linear", "trees", "blend"),
        default="auto",
        help="of losses; auto: a blend of linear models and trees for texts, trees for features",
    )
    shared.add_measures(parser, f"{MEASURE}, one for all thresholds")
    shared.add(parser, "--k", shown=f"that of the measure, else {K}", default=0)
    shared.add(parser, "--gains")
    shared.add(parser, "--threshold", "--risk", "--confidence", "--guarantee", "--show-beyond-k")
    shared.add(parser, "--baseline", shown="the best model's ranking without filtering")
    shared.add_output(parser, "table", "csv", "json")
    parser.add_argument(
        "--out-run",
        type=files.written,
        metavar="FILE",
        help="write the best model's lists of --test-data, or of the held-out folds: a TREC run, "
        "or CSV or lines of JSON if the name ends so",
    )
    shared.add(parser, "--plot")
    parser.add_argument(
        "--save",
        type=files.written,
        metavar="FILE",
        help="save the best model, fitted on all of TRAIN, for 'skfilterrank apply'",
    )
    shared.add(parser, "--seed", "--jobs")

"""``skfilterrank apply``: use a saved model."""

from skfilterrank.cli import _file_options as files
from skfilterrank.cli._data import read_rows
from skfilterrank.cli._rank_filter import add_table_arguments, describe
from skfilterrank.cli._streams import data_output, say, say_nothing
from skfilterrank.exceptions import FileFormatError
from skfilterrank.io import load_model, write_run


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.description = (
        "Rank and filter documents with a model saved by 'skfilterrank rank-filter "
        "--save'. A table needs no labels; in LETOR text any number stands for them."
    )
    parser.add_argument("model", type=files.read, metavar="MODEL", help="file written by --save")
    parser.add_argument(
        "data", type=files.read, metavar="DATA", help="rows like those of the training file"
    )
    add_table_arguments(parser)
    parser.add_argument(
        "--run",
        dest="run_file",
        type=files.written,
        metavar="FILE",
        help="write a TREC run (default: to the screen)",
    )
    parser.add_argument("--quiet", action="store_true", help="only the run")
    parser.set_defaults(run=run, label=None)


def run(arguments) -> None:
    """Run the command."""
    saved = load_model(arguments.model)
    if not isinstance(saved, dict) or not {"model", "name", "table"} <= set(saved):
        raise FileFormatError(
            "holds a model that was not saved by 'skfilterrank rank-filter --save': load it in "
            "Python with skfilterrank.io.load_model",
            arguments.model,
        )
    rows = read_rows(arguments.data, arguments, like=saved["table"], labelled=False)
    scores = saved["model"].predict(rows.X, groups=rows.groups)
    target = arguments.run_file or data_output()
    counts = write_run(target, rows.groups, docnos=rows.docnos, y_score=scores, name=saved["name"])
    (say_nothing if arguments.quiet else say)(describe(counts))

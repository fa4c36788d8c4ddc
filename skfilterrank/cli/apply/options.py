"""``skfilterrank apply``: use a saved model."""

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _shared_options as shared


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.description = (
        "Rank and filter documents with a model saved by 'skfilterrank rank-filter "
        "--save'. A table needs no labels; in LETOR text any number stands for them. The lists "
        "are a TREC run, CSV or lines of JSON."
    )
    parser.add_argument("model", type=files.read, metavar="MODEL", help="file written by --save")
    parser.add_argument(
        "data", type=files.read, metavar="DATA", help="rows like those of the training file"
    )
    shared.add(parser, "--input-format", "--query", "--document")
    shared.add(parser, "--out", shown="standard output")
    shared.add(parser, "--format", choices=("trec", "csv", "json"), shown="by --out, else trec")
    parser.set_defaults(label=None)

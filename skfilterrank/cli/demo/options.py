"""``skfilterrank demo``: the main job on built-in data."""

from skfilterrank.cli import _options as options
from skfilterrank.cli import _shared_options as shared

PICTURE = "skfilterrank-demo.png"


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.description = (
        "Train the six losses on generated answers to questions, a quarter of them "
        "forbidden, compare them on held-out questions and draw the threshold curve."
    )
    parser.add_argument(
        "--n-queries", type=options.positive, default=3000, help="questions (default: 3000)"
    )
    shared.add(parser, "--plot", shown=PICTURE)
    shared.add(parser, "--seed")

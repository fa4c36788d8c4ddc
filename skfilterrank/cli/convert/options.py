"""``skfilterrank convert``: write runs into a folder that is read fast."""

import argparse

from skfilterrank.cli import _file_options as files
from skfilterrank.cli import _shared_options as shared

_EPILOG = """\
The folder is given to other commands in place of the runs that it holds. They print
the same values, digit for digit, and read some ten times as fast. It holds two
Parquet files: runs.parquet, with run, qid, document and score of each row, and
documents.parquet, with the id of each document by its number. Names of runs, the
order of rows and, where it is the same in all rows, the tag of each run are kept;
ranks and the second column of TREC's format are left out.

examples:
  skfilterrank convert runs/*.gz --out runs.parquet
  skfilterrank evaluate qrels.txt runs.parquet -m ndcg_f@10,ap --jobs 4
"""


def add_arguments(parser) -> None:
    """Say what the command takes."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = (
        "Write runs into a folder of Parquet files, documents by number, for many evaluations to\n"
        "come. Files may be packed. Needs pyarrow."
    )
    parser.epilog = _EPILOG
    shared.add(parser, "RUN")
    shared.add(
        parser,
        "--out",
        type=files.new_folder,
        metavar="FOLDER",
        required=True,
        help="the folder to make; there must be nothing of this name yet",
        shown=None,
    )

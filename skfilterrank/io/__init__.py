"""Reading judged documents, writing filtered runs, keeping models."""

from ._files import FileFormatError
from ._letor import LetorData, dump_letor, load_letor
from ._tables import read_judged_table
from ._trec import RunCounts, write_run

__all__ = [
    "FileFormatError",
    "LetorData",
    "RunCounts",
    "dump_letor",
    "load_letor",
    "read_judged_table",
    "write_run",
]

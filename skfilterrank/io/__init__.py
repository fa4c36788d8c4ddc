"""Reading and writing of judgments and runs."""

from typing import TYPE_CHECKING

from skfilterrank._base.lazy_names import names_of
from skfilterrank._files.rows import Rows
from skfilterrank.io._align import AlignedRun as AlignedRun
from skfilterrank.io._align import QrelsIndex, align
from skfilterrank.io._align import index_of_qrels as index_of_qrels
from skfilterrank.io._read import mark_as_said as mark_as_said
from skfilterrank.io._read import qrels_frame as qrels_frame
from skfilterrank.io._read import read_judged_table as read_judged_table
from skfilterrank.io._read import read_qrels, read_run, read_runs
from skfilterrank.io._write import write_qrels, write_run

__all__ = [
    "QrelsIndex",
    "Rows",
    "align",
    "read_letor",
    "read_qrels",
    "read_run",
    "read_runs",
    "write_letor",
    "write_qrels",
    "write_run",
]

if TYPE_CHECKING:
    from skfilterrank.io._letor import read_letor, write_letor
else:  # without this check, type checkers accept any name
    __getattr__ = names_of(__name__, {"_letor": ("read_letor", "write_letor")})

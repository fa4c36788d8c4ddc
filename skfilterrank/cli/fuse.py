"""``skfilterrank fuse``: make one run of several."""

from typing import Literal

from skfilterrank._base.words import counted
from skfilterrank.cli import _types as t
from skfilterrank.cli._output import data_output, tell
from skfilterrank.exceptions import InputError


def fuse(
    runs: t.Runs,
    *,
    method: Literal["rrf", "borda", "condorcet", "combsum", "combmnz"] = "rrf",
    columns: t.Columns = None,
    depth: t.Depth = None,
    name: str = "fused",
    out: t.Out = None,
) -> None:
    """Make one TREC run of several.

    Parameters
    ----------
    method
        method of fusion
    depth
        documents of each query in the fused run
    name
        name of the run

    Examples
    --------
    skfilterrank fuse runs/*.gz --out fused.txt
    skfilterrank fuse bm25.txt dense.txt --method combsum > fused.txt
    """
    from skfilterrank.cli._inputs import read_named_runs
    from skfilterrank.io import write_run
    from skfilterrank.ranking import fuse_runs

    if out is not None and out.endswith((".csv", ".tsv", ".json", ".jsonl", ".parquet")):
        raise InputError(f"--out {out}: fuse writes a TREC run. Name a file such as fused.txt.")
    table = read_named_runs(runs, columns)
    fused = fuse_runs(table, method=method, depth=depth or None)
    counts = write_run(data_output(out), fused, name=name)
    tell(
        f"{counted(counts.written, 'document')} of "
        f"{counted(fused['qid'].nunique(), 'query')} out of {counted(len(table), 'run')}"
    )

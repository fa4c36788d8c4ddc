"""``skfilterrank fuse``: make one run of several."""

from typing import Annotated, Literal

from skfilterrank.cli import _types as t
from skfilterrank.cli._output import data_output, refuse, tell
from skfilterrank.exceptions import InputError

BY_RANKS = ("rrf", "borda", "condorcet")
BY_SCORES = ("combsum", "combmnz")
NORMALIZATIONS = ("minmax", "zscore", "sum", "rank", "none")


def fuse(
    runs: t.Runs,
    *,
    method: Annotated[str | None, t.Arg(choices=BY_RANKS + BY_SCORES, shown="rrf")] = None,
    normalize: Annotated[str | None, t.Arg(choices=NORMALIZATIONS, shown="minmax")] = None,
    rrf_k: Annotated[float | None, t.Arg(convert=t.number, metavar="NUMBER")] = None,
    weights: Annotated[
        dict[str, float] | None, t.Arg(convert=t.weights, metavar="RUN=WEIGHT,...")
    ] = None,
    filtered: Literal["all", "majority", "any"] = "all",
    depth: t.Depth = None,
    name: str = "fused",
    out: t.Out = None,
) -> None:
    """Make one TREC run of several.

    Parameters
    ----------
    method
        method of fusion
    normalize
        scale that scores of a run for a query are brought to
    rrf_k
        constant of rrf (default: 60)
    weights
        weight of each run, by the name of its file without .gz and .txt (default: 1 for all)
    filtered
        runs that must hide a document for the fused run to hide it
    depth
        documents of each query in the fused run
    name
        name of the run

    Examples
    --------
    skfilterrank fuse runs/*.gz --out fused.txt
    skfilterrank fuse bm25.txt dense.txt --method combsum --weights bm25=1,dense=2 > fused.txt
    """
    from skfilterrank._lists.results import counted
    from skfilterrank.cli._inputs import read_named_runs
    from skfilterrank.io import write_run
    from skfilterrank.ranking import fuse_runs

    names = ("method", "normalize", "rrf_k", "weights")
    settings = {key: value for key, value in locals().items() if key in names and value is not None}
    used = method or "rrf"
    of_method = {"rrf_k": used == "rrf", "normalize": used in BY_SCORES}
    wrong = [key for key, is_used in of_method.items() if not is_used]
    refuse(wrong, f"has no effect on --method {used}. Leave it out.")
    if out is not None and out.endswith((".csv", ".tsv", ".json", ".jsonl", ".parquet")):
        raise InputError(f"--out {out}: fuse writes a TREC run. Name a file such as fused.txt.")
    if normalize == "none":
        settings["normalize"] = None
    table = read_named_runs(runs)
    fused = fuse_runs(table, filtered=filtered, depth=depth or None, **settings)
    counts = write_run(data_output(out), fused, name=name)
    tell(
        f"{counted(counts.written, 'document')} of "
        f"{counted(fused['qid'].nunique(), 'query', 'queries')} out of {counted(len(table), 'run')}"
    )

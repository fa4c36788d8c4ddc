"""What ``skfilterrank convert`` does."""

from skfilterrank._core.results import counted
from skfilterrank.cli._run_files import check_paths, named_runs, source
from skfilterrank.cli._streams import progress, tell
from skfilterrank.io import write_runs


def run(arguments) -> int:
    """Write the runs."""
    runs = named_runs(None, arguments.runs)
    check_paths(runs.values())
    runs = {name: source(path) for name, path in runs.items()}
    written = write_runs(arguments.out, runs, verbose=progress(arguments))
    tell(
        f"{counted(written.runs, 'run')}, {counted(written.rows, 'row')} and "
        f"{counted(written.documents, 'document')}: {arguments.out}; ranks are left out"
    )
    return 0

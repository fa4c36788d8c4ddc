"""One pass over rows: whole queries, block by block, in one process or several."""

import sys
from collections.abc import Generator
from contextlib import closing
from typing import Any

from skfilterrank._files.closed_queries import ClosedQueries
from skfilterrank._files.partitions_of_rows import ClusterPass
from skfilterrank._lists.row_blocks import merged
from skfilterrank.exceptions import InputError

# Called with a block of whole queries, returns a state with ``merge(other)``. Mostly a named tuple,
# which mypy takes for no callable.
Work = Any


class Reading:
    """Rows that are being read: whole queries stand together, in parts.

    Parameters
    ----------
    source : object
        Its ``pieces(wanted)`` are parts of the rows, each with ``blocks()``, which yields its rows
        as :class:`Block`; a query may go on in the next part.
    wanted : Wanted
        The columns to read.
    n_jobs, verbose
        As in :class:`Rows`.
    """

    def __init__(self, source, wanted, n_jobs: int | None, verbose: int):
        self._source, self._wanted = source, wanted
        self._n_jobs, self._verbose = n_jobs, verbose

    @property
    def looks_for_queries(self) -> bool:
        """Tell whether the first pass finds queries whose rows do not stand together."""
        return getattr(self._source, "looks_for_queries", True)

    def total(self, work: Work, **parameters) -> Any:
        """Merge what one pass yields."""
        with closing(self.states(work, **parameters)) as states:
            return merged(states)

    def states(
        self,
        work: Work,
        *,
        closed: ClosedQueries | None = None,
        what: str = "",
        merges: bool = True,
    ) -> Generator[Any]:
        """Yield what `work` makes of blocks of whole queries, in the order of the rows.

        Parameters
        ----------
        work : callable
            Called with blocks of whole queries, in other processes where `n_jobs` says so.
        closed : ClosedQueries or None
            Where to note the queries; None in a pass over rows that another pass has checked.
        what : str
            Name of the pass, for the progress bar.
        merges : bool
            Whether results on a cluster are merged there.
        """
        pieces = self._source.pieces(self._wanted)
        if isinstance(pieces, ClusterPass):
            yield from [pieces.fold(work, closed)] if merges else pieces.each(work)
            return
        # Imported late: who only reads files waits for neither.
        import joblib
        from tqdm.auto import tqdm

        # A log file wants a line now and then, a terminal a bar that moves.
        interval = 0.1 if sys.stderr.isatty() else 10
        n_seen = 0
        with tqdm(
            total=self._source.n_rows,
            unit="row",
            unit_scale=True,
            desc=what or None,
            disable=not self._verbose,
            mininterval=interval,
        ) as bar:
            several = joblib.effective_n_jobs(self._n_jobs) > 1
            for n_of_part, ids, state in (
                _in_processes(pieces, work, self._n_jobs) if several else _here(pieces, work)
            ):
                if closed is not None:
                    for some in ids:
                        closed.add(some)
                n_seen += n_of_part
                bar.update(n_of_part)
                if state is not None:
                    yield state
        if not n_seen:
            raise InputError("rows holds no rows: expected at least one.")


def _here(pieces, work):
    """Take blocks one after the other; the last query of each goes on to the next."""
    rows = None
    for piece in pieces:
        for block in piece.blocks():
            if not len(block.ids):
                continue
            rows = block if rows is None else rows.join(block)
            whole, rows = rows.split(len(rows.ids) - 1)
            if len(whole.ids):
                yield whole.n_rows, [whole.ids], work(whole)
    if rows is not None:
        yield rows.n_rows, [rows.ids], work(rows)


def _in_processes(pieces, work, n_jobs):
    """Take pieces in several processes; the first and last query of each is joined here."""
    import joblib

    folded = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
        joblib.delayed(_fold)(piece, work) for piece in pieces
    )
    last = None
    for head, n_rows, ids, state, tail in folded:
        if head is None:
            continue
        first = head if last is None else last.join(head)
        # Of one or two queries, the last of which may go on.
        done, last = first.split(len(first.ids) - (tail is None))
        if len(done.ids):
            yield done.n_rows, [done.ids], work(done)
        if tail is not None:
            yield n_rows, ids, state
            last = tail
    if last is not None:
        yield last.n_rows, [last.ids], work(last)


def _fold(piece, work):
    """Return rows of the first query, what is made of those between, and rows of the last."""
    head = rows = state = None
    n_rows, ids = 0, []
    for block in piece.blocks():
        if not len(block.ids):
            continue
        rows = block if rows is None else rows.join(block)
        if head is None and len(rows.ids) > 1:
            head, rows = rows.split(1)
        if head is not None and len(rows.ids) > 1:
            whole, rows = rows.split(len(rows.ids) - 1)
            made = work(whole)
            state = made if state is None else state.merge(made)
            n_rows += whole.n_rows
            ids.append(whole.ids)
    if head is None:
        return rows, 0, [], None, None
    return head, n_rows, ids, state, rows

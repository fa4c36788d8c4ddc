"""RankedPool: the documents of a pool, their machine labels, and their places in runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import NamedTuple

import numpy as np
import pandas as pd

from skfilterrank._base.checks import cached_property
from skfilterrank._base.words import JUDGED_BY, counted, is_of_machine, warn_user
from skfilterrank._files.forms import errors_of, is_by_query, named_runs
from skfilterrank._files.kinds import has_labels
from skfilterrank._lists.gains import as_gains
from skfilterrank.exceptions import DataWarning, InputError, SkfilterrankError, brief, brief_list
from skfilterrank.io import QrelsIndex

# Number of folds by size of the pool: every fold should contain some sampled documents.
_FOLDS = ((300, 10), (60, 5), (0, 2))
# Depth of the check for documents outside the pool if a measure has no cut-off.
_FIRST_PAGE = 10
_SHOWN = 3


@dataclass(frozen=True, eq=False)
class RankedPool:
    """Documents of a pool with machine labels and their places in runs.

    Make it by :meth:`read` for repeated calls of :func:`draw_sample` and :func:`estimate`, which
    accept it in place of runs.

    Attributes
    ----------
    index : MultiIndex of length n_rows
        Query ("qid") and document ("docno"), sorted.
    machine : dict of str to ndarray of shape (n_rows,)
        Labels of each judge, NaN where missing.
    runs : tuple of str
        Names of the runs.
    run, row, place : ndarray of shape (n_entries,), int
        Entries of the lists that are in the pool: number of the run, row of the pool, place from 1;
        sorted by run, query and place. Documents outside the pool take a place, but have no entry.
    lengths : ndarray of shape (n_runs, n_queries), int
        Number of documents of each list, inside and outside the pool.
    """

    index: pd.MultiIndex
    machine: dict
    runs: tuple
    run: np.ndarray
    row: np.ndarray
    place: np.ndarray
    lengths: np.ndarray

    @classmethod
    def read(cls, machine_qrels, runs, *, pool=None) -> RankedPool:
        """Read judges and runs.

        Parameters
        ----------
        machine_qrels : qrels, dict of name to qrels, or None
            Labels of one judge or several judges.
        runs : path, list of paths, or dict of name to run
            In a form that :func:`skfilterrank.metrics.evaluate_runs` accepts.
        pool : qrels or data frame, default=None
            Queries and documents; labels are ignored. None means the documents with machine labels.

        Returns
        -------
        RankedPool

        Raises
        ------
        InputError
            If a run returns documents, but none of the pool; for the reasons of
            :func:`skfilterrank.metrics.evaluate_runs`.
        """
        judges = judges_of(machine_qrels)
        if pool is not None:
            index = as_table(pool, "pool").index
        elif judges:
            index = next(iter(judges.values())).index
            for labels in judges.values():
                index = index.union(labels.index)
        else:
            raise InputError(
                "machine_qrels and pool are both missing: without machine labels pass pool=, a "
                "table with the columns 'qid' and 'docno' of all documents that can be judged."
            )
        index = index.sort_values()
        machine = {name: labels.reindex(index).to_numpy() for name, labels in judges.items()}
        for name, labels in machine.items():
            if np.isnan(labels).all():
                raise InputError(
                    f"{{machine_qrels}} has no label of {brief(name)} for any document of the "
                    "pool: bring queries and documents to one form first.",
                    argument="machine_qrels",
                )
        return cls(index, machine, *_places(runs, index))

    def __len__(self):
        return len(self.index)

    def __repr__(self):
        judges = counted(len(self.machine), "judge")
        return (
            f"<RankedPool: {len(self):,} documents of {len(self.queries)} queries, "
            f"{len(self.runs)} runs, {judges}>"
        )

    @cached_property
    def codes(self) -> np.ndarray:
        """Number of the query of each row."""
        return pd.factorize(self.index.get_level_values("qid"))[0]

    @cached_property
    def queries(self) -> pd.Index:
        """Query ids, sorted."""
        return self.index.get_level_values("qid").unique()

    @cached_property
    def segment(self) -> np.ndarray:
        """Number of the list (run by run, query by query) of each entry."""
        return self.run * len(self.queries) + self.codes[self.row]

    @property
    def n_folds(self) -> int:
        """Number of folds; documents of a fold are predicted from labels of other folds."""
        return next(n_folds for least, n_folds in _FOLDS if len(self) >= least)

    @cached_property
    def folding(self) -> Folding:
        """Folds and random numbers, independent of judgments."""
        return fold_documents(self)

    def machine_gains(self, gains) -> dict:
        """Return gains of machine labels by the same map as for people's labels.

        A machine's label may lie between two of them, such as an expected label of 1.5: its gain is
        interpolated linearly.

        Parameters
        ----------
        gains : None, "exp2", dict or callable
            How a label becomes a gain.

        Returns
        -------
        dict of str to ndarray of shape (n_rows,)
            Gains by each judge, NaN where a label is missing.

        Raises
        ------
        InputError
            If a label lies outside the range of a dict's keys.
        """
        return {name: _gains_of(labels, gains) for name, labels in self.machine.items()}

    def rows_of(self, index, what) -> np.ndarray:
        """Return rows of some documents, all of which must be in the pool."""
        rows = self.index.get_indexer(index)
        if (rows < 0).any():
            lost = index[rows < 0]
            raise InputError(
                f"{what} holds {len(lost):,} of {len(index):,} documents outside the pool of the "
                f"machine labels, such as document {brief(lost[0][1])} of query "
                f"{brief(lost[0][0])}: a sample holds documents of the pool alone. Give machine "
                "labels of them, or pass pool=, a table of all documents that could have been "
                "drawn."
            )
        return rows


def _gains_of(labels, gains):
    """Return gains of a machine's labels; with a dict, interpolated between its keys."""
    known = [key for key in gains if isinstance(key, Real)] if isinstance(gains, Mapping) else []
    known = np.unique(known)
    if not len(known):
        return as_gains(labels, gains, name="machine_qrels")
    outside = np.unique(labels[(labels < known[0]) | (labels > known[-1])])
    if len(outside):
        raise InputError(
            f"{{machine_qrels}} has labels outside the range of gains, {known[0]:g} to "
            f"{known[-1]:g}: {brief_list(outside.tolist())}. Add their gains to {{gains}}.",
            argument=("machine_qrels", "gains"),
        )
    return np.interp(labels, known, as_gains(known, gains, name="gains"))


def ranked_pool(machine_qrels, runs, pool=None) -> RankedPool:
    """Return a RankedPool from arguments, or the given one."""
    if not isinstance(runs, RankedPool):
        return RankedPool.read(machine_qrels, runs, pool=pool)
    if machine_qrels is not None or pool is not None:
        raise InputError(
            "runs is a RankedPool, which holds its machine labels and documents: pass "
            "machine_qrels=None and pool=None."
        )
    return runs


def warn_of_outside(pool: RankedPool, parsed) -> None:
    """Warn if runs return documents outside the pool above the measures' cut-offs."""
    k = max(each.k or _FIRST_PAGE for each in parsed.values())
    n_shown = np.minimum(pool.lengths, k).sum(axis=1)
    n_outside = n_shown - np.bincount(pool.run[pool.place <= k], minlength=len(pool.runs))
    most = np.argsort(-n_outside, kind="stable")[: np.count_nonzero(n_outside)]
    if not len(most):
        return
    shown = [
        f"{n_outside[run]:,} of {n_shown[run]:,} of {brief(pool.runs[run])}"
        for run in most[:_SHOWN].tolist()
    ]
    shown += ["..."] * (len(most) > _SHOWN)
    whose = counted(len(most), "run")
    warn_user(
        f"documents in the first {k} of {whose} are outside the pool ({', '.join(shown)}): they "
        "count as gain 0, whatever their true label. Pass machine labels of them{, or a "
        "pool= that has them}, and draw again with {judged=}, which keeps existing labels.",
        DataWarning,
        argument=(", or a pool= that has them", "judged="),
    )


def rows_to_judge(pool: RankedPool, parsed) -> np.ndarray:
    """Return a mask of the documents to judge if a query is drawn whole.

    If all measures are risks with a cut-off, only documents above the largest cut-off matter.
    """
    depths = [
        each.k
        for each in parsed.values()
        if each.k is not None and each.measure.takes_k and each.measure.is_rate
    ]
    if len(depths) < len(parsed):
        return np.ones(len(pool), dtype=bool)
    return np.bincount(pool.row[pool.place <= max(depths)], minlength=len(pool)) > 0


def judges_of(machine_qrels) -> dict:
    """Return the labels of each judge as Series."""
    if machine_qrels is None:
        return {}
    if isinstance(machine_qrels, list | tuple):
        raise InputError(
            "machine_qrels must be judgments, or a dict of several judges by name, such as "
            f"{{'large': ..., 'small': ...}}, got a {type(machine_qrels).__name__} of "
            f"{counted(len(machine_qrels), 'element')}."
        )
    if not isinstance(machine_qrels, Mapping) or is_by_query(machine_qrels):
        table = as_table(machine_qrels, "machine_qrels")
        return {"machine": _of_machine(table, "machine")}
    if not machine_qrels:
        raise InputError("machine_qrels is empty: give at least one judge, or None.")
    tables = {
        str(name): as_table(qrels, f"machine_qrels[{brief(name)}]")
        for name, qrels in machine_qrels.items()
    }
    return {name: _of_machine(table, name) for name, table in tables.items()}


def _of_machine(table, name):
    """Return labels of a judge without people's labels, which would hide the machine's errors."""
    labels = table["label"].dropna()
    if JUDGED_BY not in table:
        return labels
    by_people = ~is_of_machine(table[JUDGED_BY]).loc[labels.index]
    if by_people.all() or not by_people.any():
        return labels
    warn_user(
        f"{{machine_qrels}}, judge {brief(name)}, holds {int(by_people.sum()):,} labels of people "
        f"among {len(labels):,}: they are left out, and the machine's labels of these documents "
        "are unknown. Pass the machine's own labels of all documents.",
        DataWarning,
        argument="machine_qrels",
    )
    return labels.mask(by_people)


def as_table(qrels, name):
    """Read judgments, or a pool without labels, as a table."""
    if isinstance(qrels, pd.DataFrame) and not has_labels(list(qrels.columns)):
        qrels = qrels.assign(label=0)
    try:
        is_index = isinstance(qrels, QrelsIndex)
        index = qrels if is_index else QrelsIndex(qrels, predicted="use")
    except (SkfilterrankError, ValueError, OSError) as error:
        text = str(error)
        if isinstance(error, SkfilterrankError) and text.startswith("qrels "):
            # QrelsIndex calls its argument qrels; the message names the caller's argument.
            error.args = (name + text.removeprefix("qrels"),)
        else:
            error.add_note(f"The error concerns {name}.")
        raise
    return index.to_frame()


def judged_table(qrels, name="qrels") -> pd.DataFrame:
    """Read people's labels, with inclusion probabilities if they have them."""
    table = as_table(qrels, name).dropna(subset="label")
    if JUDGED_BY in table and (is_machine := is_of_machine(table[JUDGED_BY])).any():
        raise InputError(
            f"{name} holds {int(is_machine.sum()):,} labels of machines among {len(table):,}, such "
            f"as of {brief(table[JUDGED_BY][is_machine].iloc[0])}, but people's labels are "
            "expected: read it by read_qrels(path, predicted='drop'), which treats them as "
            "unjudged, and pass a machine's labels as machine_qrels."
        )
    return table


class _Rows(QrelsIndex):
    """Index of the documents of a pool."""

    def _warn_of_other_documents(self, aligned, query, own, theirs):
        raise InputError(
            f"none of the {counted(aligned.n_retrieved, 'document')} that the run returns is in "
            f"the pool: of query {brief(query)} it holds {brief(own)}, and the pool {brief(theirs)}"
            ". Bring them to one form, give machine labels or a pool= of what the run returns, or "
            "leave it out."
        )


def _places(runs, index):
    """Return run names; run, pool row and place of entries; list lengths."""
    frame = index.to_frame(index=False).assign(label=np.arange(float(len(index))))
    # Row numbers are passed as labels, to find each document's row.
    rows_of = _Rows(frame)
    names, entries, lengths = [], [], []
    for number, (name, run) in enumerate(named_runs(runs).items()):
        with errors_of(name, run, run):
            aligned = rows_of.align(run)
            retrieved = aligned.y_score > -np.inf
            lengths.append(np.add.reduceat(retrieved, aligned.index.starts, dtype=np.int64))
            retrieved &= aligned.pooled
        places = np.arange(1, len(aligned.y_true) + 1)
        places -= np.repeat(aligned.index.starts, aligned.index.sizes)
        names.append(str(name))
        row = aligned.y_true[retrieved].astype(np.int64)
        entries.append((np.full(len(row), number), row, places[retrieved]))
    if len(set(names)) < len(names):
        raise InputError(f"runs holds names twice: {brief_list(names)}.")
    columns = (np.concatenate(column) for column in zip(*entries))
    return tuple(names), *columns, np.stack(lengths)


class Folding(NamedTuple):
    """Folds and permanent random numbers of a pool's documents.

    Attributes
    ----------
    order : ndarray of shape (n_rows,), int
        Documents in the order by which folds are assigned.
    folds : ndarray of shape (n_rows,), int
        Fold of each document.
    random_number : ndarray of shape (n_rows,)
        A number in [0, 1) for each document, evenly spread, with which labels are drawn.
    queries : ndarray of shape (n_queries,), int
        Position of each query in the order.
    """

    order: np.ndarray
    folds: np.ndarray
    random_number: np.ndarray
    queries: np.ndarray


def fold_documents(pool) -> Folding:
    """Assign a pool's documents to folds in turn, in an order that does not depend on names.

    The order depends on places in the runs and on machine labels; ties are broken by ids. It does
    not depend on people's labels: if folds depended on the sample, estimates would be biased.
    """
    order, queries = _ordered(pool)
    folds, random_number = np.empty(len(pool), dtype=np.int64), np.empty(len(pool))
    folds[order] = np.arange(len(pool)) % pool.n_folds
    random_number[order] = (np.random.RandomState(0).permutation(len(pool)) + 0.5) / len(pool)
    return Folding(order, folds, random_number, queries)


def _ordered(pool):
    """Return rows in order, query by query, and the position of each query."""
    places = np.zeros((len(pool), len(pool.runs)), dtype=np.int64)
    places[pool.row, pool.run] = pool.place
    machine = [np.unique(labels, return_inverse=True)[1] for labels in pool.machine.values()]
    # Places are sorted, so that the order of the runs has no effect.
    keys = np.column_stack([np.sort(places, axis=1), *machine, places])
    rows = np.ascontiguousarray(keys, dtype=">i8").view(f"V{8 * keys.shape[1]}").ravel()
    kinds = np.unique(rows, return_inverse=True)[1].ravel()
    # Order queries by properties of their documents.
    by_query = np.lexsort((kinds, pool.codes))
    ends = np.cumsum(np.bincount(pool.codes, minlength=len(pool.queries)))[:-1]
    contents = [part.tobytes() for part in np.split(kinds[by_query].astype(">i8"), ends)]
    queries = np.empty(len(contents), dtype=np.int64)
    queries[sorted(range(len(contents)), key=contents.__getitem__)] = np.arange(len(contents))
    return np.lexsort((kinds, queries[pool.codes])), queries

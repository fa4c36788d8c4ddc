"""Judged documents with their ranks in runs, to measure the runs again with fewer labels."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from skfilterrank._base.words import warn_user
from skfilterrank._files.forms import errors_of
from skfilterrank._lists.gains import refuse_sample
from skfilterrank._lists.queries import check_groups
from skfilterrank._lists.scoring import OVER_QUERIES
from skfilterrank.exceptions import DataWarning, InputError, brief
from skfilterrank.io import AlignedRun, QrelsIndex, index_of_qrels, read_runs
from skfilterrank.judgments import columns_by_id, rank_table, statap_prior
from skfilterrank.metrics import values_of_run

TEXT = "text"


@dataclass(frozen=True, eq=False)
class JudgedPool:
    """The judged documents of some queries, and the ranked lists of all runs.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,), dtype float64
        Label of each judged document; documents are sorted by query and id.
    ranks : DataFrame of shape (n_rows, n_runs)
        Rank of each judged document in each run, NaN if it is not among the first ones of the run;
        index levels "qid" and "docno".
    documents : DataFrame of n_rows rows, or None
        Text of each judged document, in the column "text", or columns of numbers.
    lists : AlignedRun
        Ranked lists of all runs as one run: run by run, and query by query in each run.
    rows : ndarray, dtype int64
        Row in `labels` of each document of the lists; n_rows if the document is not judged.
    dropped_queries : tuple of str
        Queries that are left out because some run lacks them.
    """

    labels: np.ndarray
    ranks: pd.DataFrame
    documents: pd.DataFrame | None
    lists: AlignedRun
    rows: np.ndarray
    dropped_queries: tuple

    @classmethod
    def read(cls, qrels, runs, *, documents, depth, missing):
        """Read runs, judgments and documents; raise if they do not fit together."""
        index = index_of_qrels(qrels)
        if index.is_sample:
            refuse_sample()
        frames = read_runs(runs)
        if len(frames) < 2:
            raise InputError(f"runs must hold at least 2 runs, got {len(frames)}: pass more runs.")
        # Sorted as in rank_table, because strategies break ties by the order of rows.
        judged = index.to_frame()["label"].dropna().sort_index()
        queries = judged.index.unique("qid")
        absent = {
            name: queries.difference(frame["qid"].astype(str).unique())
            for name, frame in frames.items()
        }
        lacking = sorted(lacking_queries(absent, missing))
        judged = judged[~judged.index.get_level_values("qid").isin(lacking)]
        if judged.empty:
            raise InputError(
                "runs and qrels must share at least one query, but no judged query is in all runs. "
                "Compare the query ids of runs and qrels, or pass missing='empty'."
            )
        ranks = rank_table(frames, depth=depth)
        ranks.index = ranks.index.set_levels([level.astype(str) for level in ranks.index.levels])
        ranks = ranks.reindex(judged.index)
        if ranks.isna().all(axis=None):
            raise InputError(
                f"runs must return judged documents, but no run has one among its first {depth}: "
                "compare the document ids of runs and qrels."
            )
        lists, rows = _stacked(frames, judged)
        return cls(
            labels=judged.to_numpy(dtype=np.float64),
            ranks=ranks,
            documents=_documents(documents, judged.index),
            lists=lists,
            rows=rows,
            dropped_queries=tuple(lacking),
        )

    @property
    def systems(self) -> list:
        """Names of the runs."""
        return list(self.ranks)

    @property
    def queries(self) -> list:
        """Ids of the queries with judged documents."""
        return self.ranks.index.unique("qid").tolist()

    @property
    def groups(self) -> np.ndarray:
        """Query id of each judged document, shape (n_rows,)."""
        return self.ranks.index.get_level_values("qid").to_numpy()

    def without(self, systems) -> tuple[np.ndarray, pd.DataFrame]:
        """Return the rows of documents in the pool of the other runs, and their ranks there.

        `systems` are the names of the runs to leave out. Without any, all rows are returned.
        """
        ranks = self.ranks.drop(columns=list(systems))
        rows = np.arange(len(ranks))
        if len(systems):
            rows = np.flatnonzero(ranks.notna().any(axis=1).to_numpy())
        return rows, ranks.iloc[rows]

    def table(self, rows, ranks) -> pd.DataFrame:
        """Return texts, numbers and statAP's prior of documents, for selections and predictors.

        `ranks` are the ranks of the documents in the runs that count for the prior.
        """
        columns = {"prior": statap_prior(ranks).to_numpy()}
        table = pd.DataFrame(columns, index=ranks.index)
        if self.documents is not None:
            table = pd.concat([self.documents.iloc[rows].set_axis(table.index), table], axis=1)
        return table

    def on_lists(self, values) -> np.ndarray:
        """Spread values of judged documents over the rows of the lists; others get NaN."""
        return np.append(values, np.nan)[self.rows]

    def means(self, labels, wanted, *, inclusion=None) -> np.ndarray:
        """Measure the runs with other labels, shape (n_rows,); NaN is unjudged.

        Returns the mean of each run by each measure, shape (n_measures, n_runs).
        """
        lists = replace(self.lists, y_true=self.on_lists(labels))
        if inclusion is not None:
            # A document that cannot be drawn has probability 0; NaN avoids a division by 0.
            chances = np.where(inclusion > 0, inclusion, np.nan)
            lists = replace(lists, inclusion_probability=self.on_lists(chances))
        values = values_of_run(None, lists, wanted).to_numpy().T
        return np.stack(
            [
                over_runs(own, parsed.measure, len(self.systems))
                for own, parsed in zip(values, wanted.values(), strict=True)
            ]
        )


def over_runs(values, measure, n_runs) -> np.ndarray:
    """Combine the values of each run's lists, sorted by run: for most measures by the mean."""
    mean = OVER_QUERIES[measure.over_queries]
    return np.array([mean(own) for own in values.reshape(n_runs, -1)])


def lacking_queries(absent, missing) -> set:
    """Return the queries to leave out, by the parameter `missing`.

    `absent` maps the name of each run to the queries that it lacks; "raise" raises if there are
    any.
    """
    if missing == "empty":
        return set()
    for name, queries in absent.items():
        if len(queries) and missing == "raise":
            raise InputError(
                f"query {brief(queries[0])} is not in the run {brief(name)}. Runs are compared on "
                "the same queries: give missing='drop' to leave out such queries for all runs, or "
                "missing='empty' to count them as empty lists."
            )
    return set().union(*absent.values())


def _stacked(frames, judged):
    """Join all runs into one AlignedRun.

    Returns it with the row in `judged` of each of its documents; len(judged) if not judged.
    """
    # Row numbers serve as labels here, so that the aligned labels are the rows of the documents.
    numbered = judged.index.to_frame(index=False).assign(label=np.arange(float(len(judged))))
    index = QrelsIndex(numbered)
    aligned = []
    for name, frame in frames.items():
        with errors_of(name, None):
            aligned.append(index.align(frame))
    n_queries = aligned[0].index.n_queries
    codes = [number * n_queries + each.index.codes() for number, each in enumerate(aligned)]
    lists = np.concatenate(codes)
    found = np.concatenate([each.y_true for each in aligned])
    stacked = replace(
        aligned[0],
        y_true=found,
        y_score=np.concatenate([each.y_score for each in aligned]),
        pooled=np.concatenate([each.pooled for each in aligned]),
        index=check_groups(lists, n_rows=len(lists)),
        name=None,
        missing_queries=(),
        _documents=(),
    )
    return stacked, np.where(np.isnan(found), len(judged), found).astype(np.int64)


def _documents(documents, index):
    """Return the texts or numbers of the judged documents, in the order of `index`."""
    if documents is None:
        return None
    ids = index.get_level_values("docno")
    table, lacks = columns_by_id(documents, ids, "documents", "docno")
    if lacks.any():
        warn_user(
            f"documents lacks {lacks.sum():,} of {len(ids):,} judged documents, such as "
            f"{brief(ids[lacks][0])}: their texts count as empty and their numbers as 0.",
            DataWarning,
        )
    return table.fillna("" if TEXT in table else 0.0)

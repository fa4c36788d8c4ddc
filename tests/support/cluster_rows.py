"""Rows in the hands of Dask, and a ranker that notes what it learns from."""

import dask
import dask.dataframe as dd
import numpy as np
from xgboost import dask as xgboost_dask

FEATURES = [f"f{i}" for i in range(6)]


def partitions(table, cuts):
    """A Dask DataFrame that is cut at the given row numbers."""
    parts = [table.iloc[a:b] for a, b in zip([0, *cuts], [*cuts, len(table)])]
    return dd.from_map(lambda part: part, parts, meta=table.iloc[:0])


def whole(table, n):
    """A Dask DataFrame in n partitions that cut no query of sorted rows."""
    queries = table["query"].to_numpy()
    cuts = np.linspace(0, len(table), n + 1).astype(int)[1:-1]
    return partitions(table, np.searchsorted(queries, queries[cuts]))


def columns(frame):
    return frame[FEATURES], frame["label"], frame["query"]


def fit(model, frame):
    X, y, groups = columns(frame)
    return model.fit(X, y, groups=groups)


class Recorded(xgboost_dask.DaskXGBRanker):
    """Notes the partitions that it learns from."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y, *, qid, **params):
        came = zip(*dask.compute(*(each.to_delayed() for each in (X, y, qid))))
        parts = [x.assign(target=t.to_numpy(), number=q.to_numpy()) for x, t, q in came]
        self.seen.append(parts)
        return super().fit(X, y, qid=qid, **params)

"""XGBoost's external memory for ranking: is the model that of memory, whatever batches cut?

    python benchmarks/external_memory.py [--queries 20000] [--trees 8]

Writes results/external_memory.md.
"""

import os
import tempfile

import numpy as np
import xgboost
from _common import arguments, write_report

from skfilterrank.datasets import make_rank_and_filter

LOSSES = [
    {"objective": "rank:ndcg"},
    {"objective": "rank:ndcg", "lambdarank_pair_method": "mean"},
    {"objective": "reg:squarederror"},
]


class Batches(xgboost.DataIter):
    """Rows that are cut at some places."""

    def __init__(self, X, y, groups, ends, folder):
        self.rows, self.ends, self.at = (X, y, groups), ends, 0
        super().__init__(cache_prefix=os.path.join(folder, "cache"))

    def reset(self):
        self.at = 0

    def next(self, input_data):
        if self.at == len(self.ends) - 1:
            return False
        part = slice(self.ends[self.at], self.ends[self.at + 1])
        X, y, groups = (each[part] for each in self.rows)
        input_data(data=X, label=y, qid=groups)
        self.at += 1
        return True


def report(options):
    X, y, groups, _ = make_rank_and_filter(n_queries=options.queries, random_state=0)
    X, y = X.astype(np.float32), np.unique(y, return_inverse=True)[1]
    between = np.searchsorted(groups, np.linspace(0, options.queries, 5).astype(int))
    again = np.flatnonzero(groups[1:] == groups[:-1]) + 1
    within = between.copy()
    within[1:-1] = [again[np.searchsorted(again, place)] for place in between[1:-1]]
    rows = xgboost.DMatrix(X)
    lines = ["| | batches of whole queries | batches that cut 3 queries | sd of scores |"]
    lines.append("| --- | --- | --- | --- |")
    for loss in LOSSES:
        settings = {"tree_method": "hist", "nthread": 2, **loss}
        known = xgboost.QuantileDMatrix(X, y, qid=groups)
        memory = xgboost.train(settings, known, options.trees).predict(rows)
        differences = []
        for ends in (between, within):
            with tempfile.TemporaryDirectory() as folder:
                data = xgboost.ExtMemQuantileDMatrix(Batches(X, y, groups, ends, folder))
                found = xgboost.train(settings, data, options.trees).predict(rows)
                del data
            differences.append(np.abs(found - memory).max())
        name = ", ".join(loss.values())
        lines.append(
            f"| {name} | {differences[0]:.2g} | {differences[1]:.2g} | {memory.std():.2g} |"
        )
    text = f"""
Largest difference of a score between XGBoost {xgboost.__version__} on `ExtMemQuantileDMatrix` in
four batches and on `QuantileDMatrix` in memory: {len(y):,} rows of {options.queries:,} queries,
{options.trees} trees.

{chr(10).join(lines)}
"""
    write_report("external_memory", "XGBoost's external memory for ranking", text)


if __name__ == "__main__":
    report(arguments(__doc__, queries=20_000, trees=8))

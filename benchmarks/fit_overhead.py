"""What RankAndFilter.fit costs beyond the fits it makes, on a million rows."""

import time

import numpy as np
from _common import arguments, write_report
from lightgbm import LGBMRegressor
from sklearn.linear_model import SGDRegressor

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankAndFilter


class Clocked:
    """Adds up the processor time that `fit` and `predict` of an estimator take."""

    seconds = 0.0

    def fit(self, X, y):
        begin = time.process_time()
        super().fit(X, y)
        Clocked.seconds += time.process_time() - begin
        return self

    def predict(self, X):
        begin = time.process_time()
        result = super().predict(X)
        Clocked.seconds += time.process_time() - begin
        return result


class ClockedTrees(Clocked, LGBMRegressor):
    """LightGBM with a clock."""


class ClockedSGD(Clocked, SGDRegressor):
    """A fast linear model with a clock."""


def measure(name, estimator, X, y, groups, repeats=3):
    """Of several fits the one with the least overhead; one row of the table."""
    found = []
    for _ in range(repeats):
        Clocked.seconds = 0.0
        begin = time.process_time()
        RankAndFilter(estimator, measure="ndcg_f@3").fit(X, y, groups=groups)
        total = time.process_time() - begin
        found.append((total - Clocked.seconds, Clocked.seconds))
    more, inner = min(found)
    return f"| {name} | {inner + more:.1f} s | {inner:.1f} s | {more:.1f} s | {more / inner:.0%} |"


def main():
    options = arguments(__doc__, rows=1_000_000)
    X, y, groups, _ = make_rank_and_filter(
        options.rows // 2,
        documents_per_query={1: 0.5, 2: 0.25, 3: 0.15, 5: 0.1},
        bayes=False,
        random_state=0,
    )
    X = np.ascontiguousarray(X)
    trees = ClockedTrees(n_estimators=100, n_jobs=2, verbose=-1)
    linear = ClockedSGD(random_state=0)
    texts = np.char.add("query ", groups.astype(str)).astype(object)
    lines = [
        measure("LGBMRegressor, 100 trees", trees, X, y, groups),
        measure("SGDRegressor (linear)", linear, X, y, groups),
        measure("SGDRegressor, query ids that are texts", linear, X, y, texts),
    ]
    text = f"""
{len(y):,} rows of {X.shape[1]} features, {len(np.unique(groups)):,} queries; 5 folds and the final
fit, so 6 fits and 5 predictions. Processor time, best of 3. *Inside* is the time in the estimator's
own `fit` and `predict`; the rest is cutting the folds, the exact threshold, its comparison with
answers that need no model, and the results of each fold.

| estimator | RankAndFilter.fit | inside | rest | rest / inside |
| --- | --- | --- | --- | --- |
{chr(10).join(lines)}
"""
    write_report("fit_overhead", "What RankAndFilter.fit costs beyond the fits it makes", text)


if __name__ == "__main__":
    main()

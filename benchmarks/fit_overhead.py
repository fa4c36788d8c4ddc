"""What RankAndFilter.fit costs beyond the fits it makes, on a million rows."""

import time

import numpy as np
from _common import arguments, write_report
from lightgbm import LGBMRegressor
from sklearn.linear_model import SGDRegressor

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankAndFilter


class Clocked:
    """Adds up the time that `fit` and `predict` of an estimator take."""

    seconds = 0.0

    def fit(self, X, y):
        begin = time.perf_counter()
        super().fit(X, y)
        Clocked.seconds += time.perf_counter() - begin
        return self

    def predict(self, X):
        begin = time.perf_counter()
        result = super().predict(X)
        Clocked.seconds += time.perf_counter() - begin
        return result


class ClockedTrees(Clocked, LGBMRegressor):
    """LightGBM with a clock."""


class ClockedSGD(Clocked, SGDRegressor):
    """A fast linear model with a clock."""


def measure(name, estimator, X, y, groups, repeats=3):
    """Best of several fits; one row of the table."""
    best = None
    for _ in range(repeats):
        Clocked.seconds = 0.0
        begin = time.perf_counter()
        RankAndFilter(estimator, measure="ndcg_f@3").fit(X, y, groups=groups)
        total = time.perf_counter() - begin
        if best is None or total < best[0]:
            best = total, Clocked.seconds
    total, inner = best
    return f"| {name} | {total:.1f} s | {inner:.1f} s | {100 * (total / inner - 1):.1f} % |"


def main():
    options = arguments(__doc__, rows=1_000_000)
    X, y, groups, _ = make_rank_and_filter(
        options.rows // 2,
        documents_per_query={1: 0.5, 2: 0.25, 3: 0.15, 5: 0.1},
        bayes=False,
        random_state=0,
    )
    X = np.ascontiguousarray(X)
    lines = [
        measure(
            "LGBMRegressor, 100 trees",
            ClockedTrees(n_estimators=100, n_jobs=2, verbose=-1),
            X,
            y,
            groups,
        ),
        measure("SGDRegressor (linear)", ClockedSGD(random_state=0), X, y, groups),
    ]
    text = f"""
{len(y):,} rows of {X.shape[1]} features, {len(np.unique(groups)):,} queries; 5 folds and the final
fit, so 6 fits and 5 predictions. Best of 3. *Inside* is the time in the estimator's own `fit` and
`predict`; the rest is cutting the folds, the exact threshold and the results of each fold.

| estimator | RankAndFilter.fit | inside | overhead |
| --- | --- | --- | --- |
{chr(10).join(lines)}
"""
    write_report("fit_overhead", "What RankAndFilter.fit costs beyond the fits it makes", text)


if __name__ == "__main__":
    main()

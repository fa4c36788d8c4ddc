"""Five ratios that matter, against the committed ones: for a release, in less than a minute.

Each is CPU time of the library over CPU time of what anybody would compare it with, on the same
machine and data, so that no absolute time is kept. A ratio may grow to `--allowed` times the one in
results/quick.json; `--update` writes those of today.
"""

import json
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(1, str(Path(__file__).parents[1]))  # for _common

import numpy as np
import pandas as pd
from _common import RESULTS, arguments, best_time, provenance
from lightgbm import LGBMRanker
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import read_run
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import LambdaRankRanker, RankAndFilter
from skfilterrank.thresholds import threshold_curve

FILE = RESULTS / "quick.json"
SIZE = 20  # documents of a query


class Inside(RegressorMixin, BaseEstimator):
    """A regression that adds up the time of its own methods."""

    seconds = 0.0

    def fit(self, X, y):
        time, self.model_ = best_time(lambda: Ridge().fit(X, y), repeats=1)
        Inside.seconds += time
        return self

    def predict(self, X):
        time, found = best_time(lambda: self.model_.predict(X), repeats=1)
        Inside.seconds += time
        return found


def measures():
    """nDCG_f over sorting the same scores, and all thresholds over one nDCG_f."""
    rng = np.random.default_rng(0)
    n_queries = 50_000
    groups = np.repeat(np.arange(n_queries), SIZE)
    y_score = rng.normal(size=len(groups))
    y_true = rng.choice([-1.0, 0.0, 1.0, 2.0], size=len(groups))
    sort, _ = best_time(lambda: np.argsort(y_score.reshape(n_queries, SIZE), axis=1))
    ndcg_f, _ = best_time(lambda: ndcg_f_score(y_true, y_score, groups=groups, k=10))
    curve, _ = best_time(
        lambda: threshold_curve(y_true, y_score, groups=groups, measure="ndcg_f@10")
    )
    return {
        "ndcg_f_score / argsort": ndcg_f / sort,
        "threshold_curve / ndcg_f_score": curve / ndcg_f,
    }


def overhead():
    """RankAndFilter's fit over the fits and predictions inside it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400_000, 20))
    y = rng.choice([-1.0, 1.0, 2.0], size=len(X))
    groups = np.repeat(np.arange(len(X) // SIZE), SIZE)
    ratios = []
    for _ in range(3):
        Inside.seconds = 0.0
        whole, _ = best_time(lambda: RankAndFilter(Inside()).fit(X, y, groups), repeats=1)
        ratios.append(whole / Inside.seconds)
    return {"RankAndFilter.fit / what it fits": min(ratios)}


def reading():
    """A run read and checked over the same file read by pandas."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.txt"
        with open(path, "w") as file:
            for query in range(300):
                file.writelines(
                    f"{query} Q0 doc{query * 7 + rank} {rank} {2000 - rank} tag\n"
                    for rank in range(1000)
                )
        theirs, _ = best_time(lambda: pd.read_csv(path, sep=" ", header=None))
        ours, _ = best_time(lambda: read_run(path))
    return {"read_run / pandas.read_csv": ours / theirs}


def boosting():
    """LambdaRankRanker, whose objective is Python, over LightGBM's own lambdarank."""
    X, y, groups, _ = make_rank_and_filter(n_queries=3000, random_state=0)
    params = {"n_estimators": 20, "n_jobs": 1, "verbose": -1}
    sizes = np.unique(groups, return_counts=True)[1]
    by_query = np.argsort(groups, kind="stable")
    grades = np.clip(y, 0, None).astype(int)[by_query]
    theirs, _ = best_time(lambda: LGBMRanker(**params).fit(X[by_query], grades, group=sizes))
    params.pop("verbose")
    ours, _ = best_time(lambda: LambdaRankRanker(**params).fit(X, y, groups))
    return {"LambdaRankRanker.fit / LGBMRanker.fit": ours / theirs}


def main():
    options = arguments(__doc__, allowed=1.6, update=False)
    warnings.simplefilter("ignore")
    found = {**measures(), **overhead(), **reading(), **boosting()}
    if options.update:
        rounded = {name: round(ratio, 2) for name, ratio in found.items()}
        FILE.write_text(json.dumps({"made": provenance(), "ratios": rounded}, indent=2) + "\n")
    known = json.loads(FILE.read_text())["ratios"]
    assert found.keys() == known.keys(), "another five: run with --update"
    worse = 0
    for name, ratio in found.items():
        is_worse = ratio > options.allowed * known[name]
        worse += is_worse
        print(f"{name:40} {ratio:6.2f}  committed {known[name]:6.2f}{'  WORSE' * is_worse}")
    return f"{worse} of {len(found)} ratios are worse" if worse else 0


if __name__ == "__main__":
    sys.exit(main())

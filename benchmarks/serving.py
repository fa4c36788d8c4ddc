"""How long does a page take, by a model with a threshold and by the model alone?

    python benchmarks/serving.py

One thread, a minute. Writes results/serving.md.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from functools import partial

import numpy as np
from _common import arguments, write_report
from lightgbm import LGBMRanker
from sklearn.linear_model import LogisticRegression

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import CertifiedThreshold, PerQueryThreshold, TunedThreshold

N_DOCUMENTS, REPEATS, ROUNDS = 100, 300, 7


def milliseconds(functions):
    """Best mean of several rounds for each function, which take turns."""
    best = dict.fromkeys(functions, np.inf)
    for _ in range(ROUNDS):
        for name, function in functions.items():
            begin = time.process_time()
            for _ in range(REPEATS):
                function()
            best[name] = min(best[name], 1000 * (time.process_time() - begin) / REPEATS)
    return best


def models(X, y, groups):
    """Time a page of documents by the two kinds of models, with and without a threshold."""
    page, rows = X[:N_DOCUMENTS], []
    estimators = {
        "LGBMRanker, 100 trees": LGBMRanker(n_jobs=1, verbose=-1),
        "LogisticRegression": LogisticRegression(),
    }
    for name, estimator in estimators.items():
        model = RankAndFilter(estimator, measure="ndcg_f@3").fit(X, y, groups=groups)
        inner = model.estimator_
        alone = inner.predict if name.startswith("LGBM") else inner.predict_proba
        times = milliseconds({"alone": partial(alone, page), "whole": partial(model.predict, page)})
        rows.append([name, times["alone"], times["whole"]])
    return rows


def thresholds(y, groups, scores):
    """Time a page whose scores are known."""
    new, rows = np.random.default_rng(0).permutation(scores)[:N_DOCUMENTS], []
    for threshold in (
        TunedThreshold("ndcg_f@3"),
        CertifiedThreshold({"any_forbidden@3": 0.1}, measure="ndcg_f@3"),
        PerQueryThreshold("ndcg_f@3"),
    ):
        fitted = threshold.fit(scores, y, groups=groups)
        query = np.zeros(N_DOCUMENTS)
        times = milliseconds({"predict": partial(fitted.predict, new, groups=query)})
        rows.append([type(threshold).__name__, times["predict"]])
    return rows


def main():
    arguments(__doc__)
    X, y, groups, scores = make_rank_and_filter(n_queries=2000, random_state=0)
    text = [
        f"A page is one query with {N_DOCUMENTS} documents of {X.shape[1]} features. CPU time, the "
        f"best of {ROUNDS} means over {REPEATS} calls, in turns.",
        table(["model", "alone, ms", "RankAndFilter.predict, ms"], models(X, y, groups)),
        f"Scores that are known, {N_DOCUMENTS} of one query:",
        table(["threshold", "predict, ms"], thresholds(y, groups, scores)),
    ]
    write_report("serving", "Time to serve a page", "\n\n".join(text))


def table(head, rows):
    """Write a Markdown table; numbers have two places."""
    cells = [[f"{x:.2f}" if isinstance(x, float) else x for x in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *cells])


if __name__ == "__main__":
    main()

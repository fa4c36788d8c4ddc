"""What measures and wrappers add to scikit-learn's searches, and to scoring a single query.

    python benchmarks/search_overhead.py [--data DIR] [--trees 100] [--search-trees 20] [--turns 2]

Writes results/search_overhead.md.
"""

import time
import warnings
from functools import partial

import numpy as np
import pandas as pd
from _common import arguments, write_report
from _letor_methods import load_parts
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate

from skfilterrank.exceptions import DataWarning
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import QueryRanker, RankAndFilter

EIGHT = ["ndcg@10", "ap", "rr", "err@10", "precision@5", "recall@10", "rbp@10", "r_precision"]
THREE = ["ndcg@10", "ap", "rr"]
GRID = {"estimator__num_leaves": [7, 15, 31, 63], "estimator__learning_rate": [0.05, 0.1]}
GAINS = {0: -1, 1: 1, 2: 2}
# Every way in which scores alone are cut.
CUTS = {name: {"threshold": name} for name in ("tune", "per_query", "expected", "first_k")}
CUTS |= {name: {"threshold": name} for name in ("largest_gap", "surprise")}
CUTS["tune, abstain, at most 5"] = {"abstain": "score_regression", "max_shown": 5}
N_SERVED = 20


def predicts_only(estimator, X, y, groups=None):
    """What is left of a scorer without its measures."""
    estimator.predict(X)
    return 0.0


def alternating(functions, repeats):
    """CPU seconds of each function, the best of several turns: all of them in each turn."""
    best = [np.inf] * len(functions)
    for _ in range(repeats):
        for number, function in enumerate(functions):
            begin = time.process_time()
            function()
            best[number] = min(best[number], time.process_time() - begin)
    return best


def milliseconds(functions, repeats=60, turns=25):
    """CPU time of one call of each, the best of several turns: all of them in each turn."""
    best = dict.fromkeys(functions, np.inf)
    for _ in range(turns):
        for name, function in functions.items():
            begin = time.process_time()
            for _ in range(repeats):
                function()
            best[name] = min(best[name], 1000 * (time.process_time() - begin) / repeats)
    return best


def main():
    options = arguments(__doc__.splitlines()[0], trees=100, search_trees=20, turns=2)
    parts = load_parts(options.data / "mq2007", n_features=46)
    X, y, groups = (np.concatenate(column) for column in zip(*parts))
    labels = pd.Series(y, index=pd.Index(groups, name="qid"))
    ranker = LGBMRanker(n_estimators=options.trees, n_jobs=1, verbose=-1)
    quick = clone(ranker).set_params(n_estimators=options.search_trees)
    how = {"groups": groups, "cv": GroupKFold(5)}

    fitted = QueryRanker(ranker).fit(X, labels)
    scorers = make_ranking_scorer(EIGHT[:1]), make_ranking_scorer(EIGHT)
    one, eight = alternating([partial(scorer, fitted, X, labels) for scorer in scorers], 7)
    singles = [make_ranking_scorer(name) for name in EIGHT]
    apart = sum(alternating([partial(scorer, fitted, X, labels) for scorer in singles], 3))
    validate = partial(cross_validate, QueryRanker(quick), X, labels, **how)
    cv_one, cv_eight = alternating(
        [partial(validate, scoring=each) for each in scorers], options.turns
    )

    def search(scoring, refit):
        model = QueryRanker(quick)
        grid = GridSearchCV(model, GRID, scoring=scoring, refit=refit, cv=GroupKFold(5))
        grid.fit(X, labels, groups=groups)

    without, with_three = alternating(
        [
            lambda: search(predicts_only, True),
            lambda: search(make_ranking_scorer(THREE), "ndcg@10"),
        ],
        options.turns,
    )

    order = np.argsort(groups, kind="stable")
    sizes = np.unique(groups, return_counts=True)[1]
    bare = ranker.fit(X[order], y[order].astype(int), group=sizes)
    models = {"QueryRanker": fitted}
    for threshold in ("tune", "per_query"):
        model = RankAndFilter(ranker, k=10, gains=GAINS, threshold=threshold, cv=2)
        models[f'RankAndFilter, threshold="{threshold}"'] = model.fit(X, y, groups=groups)
    query = np.flatnonzero(groups == groups[0])[:N_SERVED]
    rows, ids = X[query], groups[query]
    # These lists are shorter than those of training, which each model says once.
    warnings.simplefilter("ignore", DataWarning)
    calls = {"LGBMRanker alone": lambda: bare.predict(rows)}
    for name, model in models.items():
        calls[name] = partial(model.predict, rows, groups=ids)
    scores = bare.predict(X)
    for name, params in CUTS.items():
        model = RankAndFilter("passthrough", k=10, gains=GAINS, **params)
        model.fit(scores, y, groups=groups)
        calls[f"scores alone, {name}"] = partial(model.predict, scores[query], groups=ids)
    times = milliseconds(calls)
    fastest = times["LGBMRanker alone"]
    serving = "\n".join(
        f"| {name} | {each:.2f} ms | {each / fastest:.2f} |" for name, each in times.items()
    )
    n_candidates = np.prod([len(values) for values in GRID.values()])
    text = f"""
MQ2007: {len(y):,} rows of {len(sizes):,} queries, `LGBMRanker` with {options.trees} trees, in
searches {options.search_trees}, and one thread. CPU seconds, best of 7 turns, of
{options.turns} for searches.

| | one measure | eight measures | ratio |
| --- | --- | --- | --- |
| scoring a fitted model on all rows | {one:.3f} s | {eight:.3f} s | {eight / one:.2f} |
| `cross_validate`, five folds | {cv_one:.2f} s | {cv_eight:.2f} s | {cv_eight / cv_one:.3f} |

Eight single scorers, of which each predicts anew, take {apart:.3f} s for the first line. The
measures are {", ".join(EIGHT)}; the one is the first.

`GridSearchCV` of {n_candidates} candidates, five folds: {with_three:.1f} s with three measures,
{without:.1f} s with a scorer that predicts and measures nothing, {with_three / without:.3f}
times as long.

Scores of a single query of {len(query)} documents, CPU time, the best of 25 turns of 60 calls:

| | time | times the bare model |
| --- | --- | --- |
{serving}
"""
    write_report("search_overhead", "What measures and wrappers cost in searches and serving", text)


if __name__ == "__main__":
    main()

"""The eight methods over LETOR's five folds: settings, training, and a cache of predictions."""

import time
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from skfilterrank.io import read_letor
from skfilterrank.ranking import METHODS, make_ranker

# Names of the methods in the paper's tables.
ACRONYMS = {
    "adarank": "ARank",
    "listnet": "LNet",
    "rankboost": "RBoost",
    "random_forest": "RF",
    "ranknet": "RNet",
    "coordinate_ascent": "CA",
    "logistic": "L2LR",
    "lambdamart": "LMART",
}
# Fixed beforehand; nothing was tried on test queries. Where rounds end by the validation part,
# `early_stopping_rounds` says so.
SETTINGS = {
    "adarank": {"measure": "ndcg_f@10", "gains": "exp2", "early_stopping_rounds": 50},
    "listnet": {"n_estimators": 100, "learning_rate": 0.1},
    "rankboost": {
        "gains": "exp2",
        "n_estimators": 300,
        "measure": "ndcg_f@10",
        "early_stopping_rounds": 50,
    },
    "random_forest": {"n_estimators": 100, "min_samples_leaf": 5},
    "ranknet": {"n_estimators": 100, "learning_rate": 0.1},
    "coordinate_ascent": {"measure": "ndcg_f@10", "gains": "exp2", "early_stopping_rounds": 5},
    "logistic": {},
    "lambdamart": {"n_estimators": 100, "learning_rate": 0.1},
}
N_PARTS = 5


class FoldPredictions(NamedTuple):
    """Test rows of all five folds, scores by method, and CPU seconds of training per fold."""

    y: np.ndarray
    groups: np.ndarray
    scores: dict
    seconds: dict


def load_parts(folder, *, n_features, scale_within_queries=False):
    """The five parts, each (X, y, groups)."""
    parts = []
    for number in range(1, N_PARTS + 1):
        X, y, groups = read_letor(
            folder / f"S{number}.txt.gz", n_features=n_features, sparse=False
        )[:3]
        parts.append((_scaled(X, groups) if scale_within_queries else X, y, groups))
    return parts


def _scaled(X, groups):
    """Each feature from 0 to 1 within each query, as LETOR does it."""
    by_query = pd.DataFrame(X).groupby(groups)
    low, high = by_query.transform("min").to_numpy(), by_query.transform("max").to_numpy()
    spread = high - low
    return np.divide(X - low, spread, out=np.zeros_like(X), where=spread > 0)


def fold_of(parts, fold):
    """Training, validation and test rows of a fold, counted from 0."""
    chosen = [[parts[(fold + i) % N_PARTS] for i in numbers] for numbers in ((0, 1, 2), (3,), (4,))]
    return [tuple(np.concatenate(column) for column in zip(*some)) for some in chosen]


def predictions(name, parts, cache, *, n_jobs=2) -> FoldPredictions:
    """Test scores of every method and fold, trained where the cache does not hold them."""
    cache.mkdir(parents=True, exist_ok=True)
    jobs = [(method, fold) for method in METHODS for fold in range(N_PARTS)]
    found = Parallel(n_jobs=n_jobs, batch_size=1)(
        delayed(_one)(name, method, fold, parts, cache) for method, fold in jobs
    )
    results = dict(zip(jobs, found))
    tests = [fold_of(parts, fold)[2] for fold in range(N_PARTS)]
    return FoldPredictions(
        y=np.concatenate([y for _, y, _ in tests]),
        groups=np.concatenate([groups for _, _, groups in tests]),
        scores={
            ACRONYMS[method]: np.concatenate([results[method, f][0] for f in range(N_PARTS)])
            for method in METHODS
        },
        seconds={
            ACRONYMS[method]: [results[method, f][1] for f in range(N_PARTS)] for method in METHODS
        },
    )


def _one(name, method, fold, parts, cache):
    """Test scores of one method in one fold, and the CPU seconds its training took."""
    settings = SETTINGS[method]
    file = cache / f"{name}-{method}-{fold + 1}.npz"
    if file.exists():
        kept = np.load(file)
        if str(kept["settings"]) == repr(settings):
            return kept["scores"], float(kept["seconds"])
    (X, y, groups), (X_valid, y_valid, groups_valid), (X_test, _, _) = fold_of(parts, fold)
    held_out = {}
    if "early_stopping_rounds" in settings:
        held_out = {"eval_set": [(X_valid, y_valid)], "eval_groups": [groups_valid]}
    # On a busy machine the clock on the wall says more about others. One thread each.
    begin = time.process_time()
    ranker = make_ranker(method, random_state=0, n_jobs=1, **settings)
    ranker.fit(X, y, groups=groups, **held_out)
    seconds = time.process_time() - begin
    scores = ranker.predict(X_test)
    np.savez(file, scores=scores, seconds=seconds, settings=repr(settings))
    print(f"{name} {method} fold {fold + 1}: {seconds:.1f} s", flush=True)
    return scores, seconds

"""XGBoost's metrics of given scores: a booster without trees that starts at them."""

import numpy as np
import xgboost

from .rows import NoSuchThing, columns, only

PACKAGES = ("xgboost-cpu", "xgboost")
NAMES = {"ndcg": "ndcg", "ap": "map", "precision": "pre"}


def ways(measure, asked, sets):
    if measure not in NAMES:
        raise NoSuchThing(measure)
    only(asked, "k", "weights")
    name, cut = NAMES[measure], f"@{asked['k']}" if asked.get("k") else ""
    yield "", lambda rows: evaluate(name + cut, asked, rows, {})
    if (sets.get("gains") == "label" or sets.get("grades") == "any") and measure == "ndcg":
        linear = {"ndcg_exp_gain": False}
        yield "ndcg_exp_gain=False", lambda rows: evaluate(name + cut, asked, rows, linear)
    if sets.get("undefined") == 0 and measure != "precision":
        minus = name + (cut or "@32") + "-"
        yield f"{name}@k-", lambda rows: evaluate(minus, asked, rows, {})


def evaluate(metric, asked, rows, params):
    labels, scores, queries = columns(rows)
    told = asked.get("weights")
    params = {"objective": "rank:ndcg", "eval_metric": metric, "nthread": 1, **params}
    data = xgboost.DMatrix(np.zeros((len(rows), 1)), labels, qid=queries, base_margin=scores)
    if told is not None:
        data.set_weight([told[query] for query in sorted({row["query"] for row in rows})])
    learn = xgboost.DMatrix(np.zeros((2, 1)), [0, 1], qid=[0, 0])
    booster = xgboost.train(params, learn, num_boost_round=0)
    return float(booster.eval_set([(data, "rows")]).rpartition(":")[2])

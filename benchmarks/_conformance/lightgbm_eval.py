"""LightGBM's metrics of given scores: a booster without trees that starts at them."""

import lightgbm
import numpy as np

from .rows import NoSuchThing, columns, only

PACKAGES = ("lightgbm",)
# It takes the length of each query, so that rows cannot stand apart.
NOT_ASKED = {"row_order"}
NAMES = {"ndcg": "ndcg", "ap": "map"}


def ways(measure, asked, sets):
    if measure not in NAMES:
        raise NoSuchThing(measure)
    only(asked, "k", "weights")
    yield "", lambda rows: evaluate(NAMES[measure], asked, rows, {})
    if (sets.get("gains") == "label" or sets.get("grades") == "any") and measure == "ndcg":
        gains = {"label_gain": list(range(40))}
        yield "label_gain=0,1,2,...", lambda rows: evaluate("ndcg", asked, rows, gains)


def evaluate(metric, asked, rows, params):
    labels, scores, queries = columns(rows)
    params = {
        "objective": "lambdarank",
        "metric": metric,
        "eval_at": [asked.get("k") or 1000],
        "verbose": -1,
        "num_threads": 1,
        **params,
    }
    told = asked.get("weights")
    weight = None if told is None else [told[row["query"]] for row in rows]
    features = np.zeros((len(rows), 1))
    how = {"params": params, "free_raw_data": False}
    learn = lightgbm.Dataset(np.zeros((2, 1)), [0, 1], group=[2], **how)
    data = lightgbm.Dataset(
        features,
        labels,
        group=np.bincount(queries),
        init_score=scores,
        weight=weight,
        reference=learn,
        **how,
    )
    booster = lightgbm.Booster(params, learn)
    booster.add_valid(data, "rows")
    ((_, _, value, _),) = booster.eval_valid()
    return value

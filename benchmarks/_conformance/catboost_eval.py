"""CatBoost's metrics of given scores."""

from catboost.utils import eval_metric

from .rows import NoSuchThing, columns, only

PACKAGES = ("catboost",)
NAMES = {
    "dcg": "DCG",
    "ndcg": "NDCG",
    "ap": "MAP",
    "precision": "PrecisionAt",
    "recall": "RecallAt",
    "rr": "MRR",
}


def ways(measure, asked, sets):
    if measure not in NAMES:
        raise NoSuchThing(measure)
    only(asked, "k", "weights")
    yield "", lambda rows: evaluate(measure, asked, rows)
    gains = measure.endswith("dcg")
    if gains and sets.get("gains") == "2^label - 1":
        yield "type=Exp", lambda rows: evaluate(measure, asked, rows, "type=Exp")
    if gains and sets.get("discount") == "place":
        option = "denominator=Position"
        yield option, lambda rows: evaluate(measure, asked, rows, option)
    borders = {0: 0.0, 2: 1.5, 1: 0.9, "1/2": 0.4}
    if not gains and "relevant_from" in sets:
        option = f"border={borders[sets['relevant_from']]}"
        yield option, lambda rows: evaluate(measure, asked, rows, option)


def evaluate(measure, asked, rows, option=None):
    labels, scores, queries = columns(rows)
    told = asked.get("weights")
    options = [option] if option else []
    if asked.get("k"):
        options.append(f"top={asked['k']}")
    name = f"{NAMES[measure]}:{';'.join(options)}" if options else NAMES[measure]
    weights = None if told is None else [told[row["query"]] for row in rows]
    (value,) = eval_metric(labels, scores, name, group_id=queries, group_weight=weights)
    return value

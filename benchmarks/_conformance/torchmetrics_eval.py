"""torchmetrics: a metric object takes scores, labels and the query of each row."""

import torch
from torchmetrics import retrieval

from .rows import NoSuchThing, columns, only

PACKAGES = ("torchmetrics",)
WITH = ("torch",)
NAMES = {
    "ndcg": "RetrievalNormalizedDCG",
    "ap": "RetrievalMAP",
    "rr": "RetrievalMRR",
    "precision": "RetrievalPrecision",
    "recall": "RetrievalRecall",
    "r_precision": "RetrievalRPrecision",
    "success": "RetrievalHitRate",
}
EMPTY = {0: "neg", 1: "pos", "skip": "skip"}


def ways(measure, asked, sets):
    if measure not in NAMES:
        raise NoSuchThing(measure)
    only(asked, "k")
    yield "", lambda rows: evaluate(measure, asked, rows, {})
    if "undefined" in sets:
        empty = EMPTY[sets["undefined"]]
        how = {"empty_target_action": empty}
        yield f'empty_target_action="{empty}"', lambda rows: evaluate(measure, asked, rows, how)
    if "precision_divisor" in sets:
        how = {"adaptive_k": True}
        yield "adaptive_k=True", lambda rows: evaluate(measure, asked, rows, how)


def evaluate(measure, asked, rows, how):
    labels, scores, queries = columns(rows)
    if asked.get("k"):
        how = {**how, "top_k": asked["k"]}
    metric = getattr(retrieval, NAMES[measure])(**how)
    whole = all(label == label and label == int(label) for label in labels)
    target = torch.tensor([int(label) for label in labels] if whole else labels)
    score = torch.tensor(scores, dtype=torch.float64)
    return float(metric(score, target, indexes=torch.tensor(queries)))

"""LensKit: lists in order of score, and the relevant items of each user with their ratings."""

from lenskit.data import ItemList, ItemListCollection, UserIDKey
from lenskit.metrics import DCG, NDCG, RBP, Hit, Precision, Recall, RecipRank, RunAnalysis
from lenskit.metrics.ranking import AveragePrecision

from .rows import NoSuchThing, only, qrels_of, run_of

PACKAGES = ("lenskit",)
NAMES = {
    "dcg": DCG,
    "ndcg": NDCG,
    "ap": AveragePrecision,
    "precision": Precision,
    "recall": Recall,
    "rr": RecipRank,
    "success": Hit,
    "rbp": RBP,
}


def ways(measure, asked, sets):
    if measure not in NAMES:
        raise NoSuchThing(measure)
    how = {"gain": "rating"} if measure in ("dcg", "ndcg") else {}
    if measure == "rbp":
        only(asked, "k", "present", "persistence")
        how = {"patience": 0.5 if asked.get("persistence") == "1/2" else 0.8}
    else:
        only(asked, "k", "present")
    yield "", lambda rows: value(NAMES[measure](asked.get("k"), **how), asked, rows)


def value(metric, asked, rows):
    """The test data are the items of a label other than 0: what it is given is relevant."""
    truth, outputs = ItemListCollection(UserIDKey), ItemListCollection(UserIDKey)
    for query, labels in qrels_of(rows).items():
        known = {item: label for item, label in labels.items() if label != 0}
        ratings = [float(label) for label in known.values()]
        truth.add(ItemList(item_ids=[*known], rating=ratings), user_id=query)
    for query, scores in run_of(rows, asked).items():
        items = ItemList(item_ids=[*scores], scores=[*scores.values()]).top_n()
        outputs.add(items, user_id=query)
    analysis = RunAnalysis(metric)
    return float(analysis.measure(outputs, truth).list_summary()["mean"].iloc[0])

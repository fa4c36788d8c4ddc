"""ranx: judgments and runs as dictionaries."""

from ranx import Qrels, Run, evaluate

from .rows import NoSuchThing, only, qrels_of, run_of

PACKAGES = ("ranx",)
NAMES = {
    "dcg": "dcg",
    "ndcg": "ndcg",
    "ap": "map",
    "rr": "mrr",
    "precision": "precision",
    "recall": "recall",
    "f1": "f1",
    "r_precision": "r-precision",
    "success": "hit_rate",
    "bpref": "bpref",
    "rbp": "rbp",
}


def ways(measure, asked, sets):
    if measure not in NAMES:
        raise NoSuchThing(measure)
    name = NAMES[measure]
    if measure == "rbp":
        only(asked, "persistence", "present")
        name += {"1/2": ".50"}.get(asked.get("persistence"), ".80")
    else:
        only(asked, "k", "present")
        if asked.get("k"):
            if measure in ("r_precision", "bpref"):
                raise NoSuchThing("no cut-off")
            name += f"@{asked['k']}"
    yield "", lambda rows: value(name, asked, rows)
    if sets.get("gains") == "2^label - 1":
        burges = name.replace("dcg", "dcg_burges")
        yield "_burges", lambda rows: value(burges, asked, rows)
    if "missing" in sets or "unjudged_query" in sets or "empty" in sets:
        told = {"make_comparable": True}
        yield "make_comparable=True", lambda rows: value(name, asked, rows, told)
    if sets.get("relevant_from") == 2:
        yield "-l2", lambda rows: value(f"{name}-l2", asked, rows)


def value(name, asked, rows, how=None):
    run = Run(run_of(rows, asked))
    return float(evaluate(Qrels(qrels_of(rows)), run, name, **(how or {})))

"""ir_measures, with the providers that its installation brings."""

import ir_measures
from ir_measures import (  # fmt: skip  # fmt: skip
    AP,
    ERR,
    RBP,
    RR,
    Bpref,
    IPrec,
    Judged,
    P,
    R,
    Rprec,
    SetAP,
    SetF,
    SetP,
    SetR,
    Success,
    infAP,
    nDCG,
)

from .rows import NoSuchThing, only, qrels_of, run_of

# gdeval prints five decimal places.
TOLERANCE = 1e-5
PACKAGES = ("ir_measures", "ir-measures")
WHOLE = {
    "ndcg": nDCG,
    "ap": AP,
    "rr": RR,
    "r_precision": Rprec,
    "precision": SetP,
    "recall": SetR,
    "f1": SetF,
    "set_map": SetAP,
    "bpref": Bpref,
    "infap": infAP,
    "iprec": IPrec @ 0.5,
    "rbp": RBP,
    "err": ERR,
    "judged": Judged,
}
CUT = {
    "ndcg": nDCG,
    "ap": AP,
    "rr": RR,
    "precision": P,
    "recall": R,
    "success": Success,
    "judged": Judged,
    "rbp": RBP,
    "err": ERR,
}


def ways(measure, asked, sets):
    only(asked, "k", "present", "recall", "persistence", "err_greatest")
    k = asked.get("k")
    if measure not in (CUT if k else WHOLE):
        raise NoSuchThing(measure)
    if asked.get("err_greatest", 4) != 4:
        raise NoSuchThing("the highest grade is 4")
    expression = (CUT if k else WHOLE)[measure]
    if measure == "rbp":
        expression = expression(p=0.5 if asked.get("persistence") == "1/2" else 0.8)
    if k:
        expression = expression @ k
    if measure == "judged" and not k:
        raise NoSuchThing("no cut-off")
    yield "", lambda rows: value(expression, asked, rows)
    if sets.get("gains") == "2^label - 1":
        told = expression(dcg="exp-log2")
        yield 'dcg="exp-log2"', lambda rows: value(told, asked, rows)
    if sets.get("unjudged") == "drop" and "judged_only" in expression.SUPPORTED_PARAMS:
        only_judged = expression(judged_only=True)
        yield "judged_only=True", lambda rows: value(only_judged, asked, rows)
    if sets.get("relevant_from") == 2 and "rel" in expression.SUPPORTED_PARAMS:
        from_2 = expression(rel=2)
        yield "rel=2", lambda rows: value(from_2, asked, rows)
    if sets.get("rbp_gain") == "binary":
        binary = expression(rel=1)
        yield "rel=1", lambda rows: value(binary, asked, rows)
    if sets.get("unjudged_pooled"):
        yield "label -1", lambda rows: value(expression, asked, rows, unjudged=-1)


def value(expression, asked, rows, unjudged=None):
    # gdeval, one of its providers, reads whole numbers alone.
    qrels = {query[1:]: labels for query, labels in qrels_of(rows, unjudged).items()}
    run = {query[1:]: scores for query, scores in run_of(rows, asked).items()}
    try:
        values = ir_measures.calc_aggregate([expression], qrels, run)
    except (ValueError, RuntimeError) as error:
        if "unsupported" in str(error).lower() or "available" in str(error).lower():
            raise NoSuchThing(str(error)) from error
        raise
    return values[expression]

"""pytrec_eval: trec_eval 9 on dictionaries; the mean is over the queries that it returns."""

import pytrec_eval

from .rows import NoSuchThing, mean, only, qrels_of, run_of

PACKAGES = ("pytrec_eval-terrier", "pytrec-eval-terrier", "pytrec_eval")
WHOLE = {
    "ndcg": "ndcg",
    "ap": "map",
    "rr": "recip_rank",
    "r_precision": "Rprec",
    "precision": "set_P",
    "recall": "set_recall",
    "f1": "set_F",
    "set_map": "set_map",
    "bpref": "bpref",
    "infap": "infAP",
    "eleven_points": "11pt_avg",
    "iprec": "iprec_at_recall_0.50",
}
CUT = {
    "ndcg": "ndcg_cut",
    "ap": "map_cut",
    "precision": "P",
    "recall": "recall",
    "success": "success",
}


def ways(measure, asked, sets):
    only(asked, "k", "present", "recall")
    k = asked.get("k")
    if measure not in (CUT if k else WHOLE):
        raise NoSuchThing(measure)
    name = f"{CUT[measure]}_{k}" if k else WHOLE[measure]
    yield "", lambda rows: value(name, asked, rows)
    if sets.get("unjudged") == "drop":
        told = {"judged_docs_only_flag": True}
        yield "judged_docs_only_flag=True", lambda rows: value(name, asked, rows, told)
    if sets.get("relevant_from") == 2:
        told = {"relevance_level": 2}
        yield "relevance_level=2", lambda rows: value(name, asked, rows, told)
    if sets.get("unjudged_pooled"):
        yield "label -1", lambda rows: value(name, asked, rows, unjudged=-1)


def value(name, asked, rows, how=None, unjudged=None):
    qrels, run = qrels_of(rows, unjudged), run_of(rows, asked)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {name}, **(how or {}))
    values = [each[name] for each in evaluator.evaluate(run).values()]
    return mean(values) if values else None

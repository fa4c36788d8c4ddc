"""What skfilterrank says of a vector."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd

from skfilterrank.metrics import get_measure, values_of_run

# Rules that the library does not follow, and why; it follows all others.
NOT_OURS = {
    "ties.one_step": "ties are averaged, or broken by a rule",
    "nan_scores.last": "a diverged model must not pass for a decision",
    "nan_scores.first": "a diverged model must not pass for a decision",
    "infinite_scores.first": "a diverged model must not pass for a decision",
    "minus_infinity.last": "it means filtered",
    "minus_infinity.refused": "it means filtered",
    "large_grades.refused": "any grade that a float holds",
    "discount.log2_of_place": "one discount",
    "discount.place": "one discount",
    "ideal.retrieved": "the pool is known",
    "ideal_cut.none": "the ideal ends where the list does",
    "unjudged.refused": "NaN says unjudged",
    "below_zero.refused": "it says forbidden",
    "precision_divisor.shown": "a short list would gain",
    "ap_divisor.found": "what is missed would cost nothing",
    "recall_divisor.least": "it would not be recall",
    "empty_lists.skipped": "an empty list is a list",
    "empty_lists.refused": "an empty list is a list",
    "unjudged_queries.refused": "they are left out, or undefined",
    "one_document.refused": "it is measured like any other",
    "row_order.together": "rows come in any order",
    "relevant_fractions.refused": "labels are numbers",
    "rbp_gain.label": "labels above 1 would leave the range",
    "err_greatest.of_the_query": "it would change with every query",
}

NAMES = {
    "sum_precision": "sp",
    "infap": "inferred_ap",
    "eleven_points": "eleven_points",
    "f1": "f",
    "total_search_efficiency": "tse",
    "lexirecall_share": "lexirecall",
    "dcg_v1": "ul_normalized",
    "dcg_v2": "ul_normalized",
}
DIVISORS = {"relevant": "R", "min(relevant, k)": "min", "k": "k"}
BPREF = {"min(n, R) / min(R, N)": "trec_eval", "min(n, R) / R": "buckley2004", "n / R": "printed"}
LEVELS = {"exact": "up", "nearest": "nearest", "double": "trec_eval9"}
RBP = {"binary": "binary", "label": "graded", "label / greatest": "scaled"}
TIES = {"input order": "stable", "document descending": "docno"}
OF_A_RUN = ("missing_queries", "near_scores", "unjudged_queries.skipped")


def our_value(vector, parameters):
    """The mean over queries, None where no query is left; errors are the library's."""
    name = NAMES.get(vector["measure"], vector["measure"])
    options = _options(vector["measure"], parameters)
    if parameters.get("relevant_from"):
        options["rel"] = float(Fraction(parameters["relevant_from"]))
    text = ",".join(f"{key}={value}" for key, value in options.items())
    cut = f"@{parameters['k']}" if parameters.get("k") else ""
    name = f"{name}({text}){cut}" if text else f"{name}{cut}"
    how = {
        "gains": _gains(parameters),
        "ties": TIES.get(parameters.get("ties"), parameters.get("ties")),
        "unjudged": parameters.get("unjudged", "zero"),
        "undefined": parameters.get("undefined", 0.0),
    }
    if parameters.get("unjudged_query") == 1:
        how["undefined"] = 1.0
    if how["undefined"] == "skip":
        how["undefined"] = "drop"
    if parameters.get("below_zero") == "removed":
        how["unjudged"] = "drop"
    if vector["rule"].startswith(OF_A_RUN):
        value = _of_run(vector, name, parameters, how)
    else:
        value = _of_rows(vector, name, parameters, how)
    return None if math.isnan(value) else float(value)


def _of_rows(vector, name, parameters, how):
    rows = {key: [row[key] for row in vector["rows"]] for key in ("query", "document")}
    labels = np.array([row["label"] for row in vector["rows"]], dtype=float)
    scores = [-np.inf if row["score"] is None else row["score"] for row in vector["rows"]]
    scores = np.array(scores, dtype=object).astype(float)
    if how["ties"] is None:
        del how["ties"]
    elif how["ties"] == "docno":
        how["ties"] = rows["document"]
    if vector["measure"] == "infap":
        how["pooled"] = np.isfinite(labels) | parameters.get("unjudged_pooled", True)
    weights = parameters.get("weights")
    return get_measure(name)(labels, scores, groups=rows["query"], **how, query_weight=weights)


def _of_run(vector, name, parameters, how):
    rows = pd.DataFrame(vector["rows"]).rename(columns={"query": "qid", "document": "docno"})
    missing = {0: "empty", "skip": "drop", "refused": "raise"}[parameters.get("missing", 0)]
    values = values_of_run(
        rows.loc[rows["label"].notna(), ["qid", "docno", "label"]],
        rows.loc[rows["score"].notna(), ["qid", "docno", "score"]],
        [name],
        **{**how, "ties": how["ties"] or "docno"},
        missing=missing,
        precision=parameters.get("precision", "double"),
        unjudged_label=None,
    )
    return values[name].mean()


def _options(measure, parameters):
    options = {}
    if "ap_divisor" in parameters:
        options["normalize"] = DIVISORS[parameters["ap_divisor"]]
    if measure == "rbp":
        options["persistence"] = {"1/2": 0.5}.get(parameters.get("persistence"), 0.8)
        options["relevance"] = RBP[parameters.get("rbp_gain", "binary")]
    if measure == "err":
        options["max_grade"] = parameters.get("err_greatest", 4)
    if "bpref" in parameters:
        options["variant"] = BPREF[parameters["bpref"]]
    if measure == "iprec":
        options["recall"] = 0.5
    if "recall_levels" in parameters:
        options["rounding"] = LEVELS[parameters["recall_levels"]]
    if "n_items" in parameters:
        options["n_items"] = parameters["n_items"]
    if measure == "lexirecall_share":
        options["scale"] = "share"
    if measure.startswith("dcg_v"):
        options["variant"] = measure.removeprefix("dcg_")
    return options


def _gains(parameters):
    if parameters.get("gains") == "2^label - 1":
        return "exp2"
    below = {"zero": 0.0, "removed": math.nan, "unjudged": math.nan}
    fate = parameters.get("below_zero")
    return (lambda label: below[fate] if label < 0 else label) if fate in below else None

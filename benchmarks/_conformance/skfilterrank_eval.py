"""The library itself."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "conformance"))
from our_values import NOT_OURS, our_value

PACKAGES = ("skfilterrank",)
# What each rule is called in its arguments, where it is not what happens anyway.
TOLD = {
    "ties.input_order": 'ties="stable"',
    "ties.document_descending": "ties=ids",
    "ties.worst": 'ties="worst"',
    "ties.best": 'ties="best"',
    "near_scores.single_by_document": 'precision="single"',
    "near_scores.single_by_input": 'precision="single", ties="stable"',
    "near_scores.single_average": 'precision="single", ties="average"',
    "gains.exponential": 'gains="exp2"',
    "undefined.one": "undefined=1.0",
    "undefined.skipped": 'undefined="drop"',
    "unjudged.removed": 'unjudged="drop"',
    "below_zero.zero": "gains={-1: 0, ...}",
    "below_zero.removed": 'gains={-1: nan, ...}, unjudged="drop"',
    "below_zero_judged.no": "gains={-1: nan, ...}",
    "ap_divisor.least": 'normalize="min"',
    "ap_divisor.k": 'normalize="k"',
    "unjudged_queries.one": "undefined=1.0",
    "missing_queries.skipped": 'missing="drop"',
    "missing_queries.refused": 'missing="raise"',
    "relevant_grades.from_2": "ap(rel=2)",
    "relevant_fractions.above_half": "ap(rel=0.5)",
    "relevant_fractions.from_1": "ap(rel=1)",
    "rbp_gain.share": 'relevance="scaled"',
    "bpref.relevant": 'variant="buckley2004"',
    "bpref.uncapped": 'variant="printed"',
    "infap.not_pooled": "pooled=",
}


def of_vector(vector, asked, sets):
    if vector["rule"] in TOLD:
        yield "", lambda rows: our_value(vector, asked)
        yield TOLD[vector["rule"]], lambda rows: our_value(vector, vector["parameters"])
    elif vector["rule"] in NOT_OURS:
        yield "", lambda rows: our_value(vector, asked)
    else:
        yield "", lambda rows: our_value(vector, vector["parameters"])

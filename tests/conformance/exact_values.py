"""The value of a vector: its rows are read as its parameters say, each query is measured in every
order that they allow, and the mean is taken."""

import struct
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import groupby, pairwise, permutations, product

from exact_measures import MEASURES, WITH_LOGARITHMS, List

# What holds where a vector does not say; README.md explains each.
DEFAULTS = {
    "k": None,
    # Rows
    "rows": "any order",
    "nan": "refused",
    "infinity": "refused",
    "minus_infinity": "not in the list",
    "precision": "double",
    "ties": "average",
    # Labels
    "gains": "label",
    "grades": "any",
    "fractions": "any",
    "relevant_from": 0,
    "below_zero": "gain",
    "unjudged": "zero",
    "unjudged_pooled": True,
    # Queries
    "undefined": 0,
    "missing": 0,
    "empty": 0,
    "present": (),
    "unjudged_query": "skip",
    "one_document": "counted",
    "weights": None,
    # One measure or few
    "discount": "log2(place + 1)",
    "ideal": "judged",
    "ideal_cut": "k",
    "ap_divisor": "relevant",
    "precision_divisor": "k",
    "recall_divisor": "relevant",
    "persistence": "8/10",
    "rbp_gain": "binary",
    "err_greatest": 4,
    "bpref": "min(n, R) / min(R, N)",
    "recall": "1/2",
    "recall_levels": "exact",
    "n_items": None,
}


class Refused(Exception):
    """What the rule says is an error."""


def value_of(measure, rows, parameters):
    """A fraction, or None where no query counts."""
    settings = {**DEFAULTS, **parameters}
    queries = {}
    for row in rows:
        queries.setdefault(row["query"], []).append(row)
    changes = sum(a["query"] != b["query"] for a, b in pairwise(rows))
    if settings["rows"] == "query by query" and changes >= len(queries):
        raise Refused("rows of a query are apart")
    values = {}
    for query in sorted(queries):
        value = _of_query(measure, query, queries[query], settings)
        if value != "skip":
            values[query] = Fraction(value)
    told = settings["weights"] or dict.fromkeys(values, 1)
    weights = {query: Fraction(told[query]) for query in values}
    n = sum(weights.values())
    return sum((values[query] * weights[query] for query in values), Fraction(0)) / n if n else None


def written(measure, value):
    """A fraction as "3/4"; 39 decimal places where logarithms were rounded."""
    if measure not in WITH_LOGARITHMS or value.limit_denominator(1000) == value:
        return str(value)
    with localcontext(Context(prec=60)):
        digits = Decimal(value.numerator) / Decimal(value.denominator)
        # What logarithms leave of a whole number or of none.
        return format(digits.quantize(Decimal(10) ** -39).normalize() + 0, "f")


def _of_query(measure, query, rows, settings):
    rows = [_read(row, settings) for row in rows]
    shown = [row for row in rows if row["score"] is not None]
    if not shown:
        fate = settings["empty" if query in settings["present"] else "missing"]
        if fate == "refused":
            raise Refused("a query without a document")
        if fate == "skip":
            return "skip"
    pool = [row["gain"] for row in rows if row["gain"] is not None]
    if not pool:
        if settings["unjudged_query"] == "refused":
            raise Refused("a query without a judgment")
        return settings["unjudged_query"]
    if len(rows) == 1 and settings["one_document"] == "refused":
        raise Refused("a query of one document")
    if settings["unjudged"] == "drop":
        shown = [row for row in shown if row["gain"] is not None]
    if settings["ties"] == "one step":
        return _by_steps(shown, pool, settings)
    values = [
        MEASURES[measure](List([row["gain"] for row in order], pool, settings))
        for order in _orders(shown, settings["ties"])
    ]
    if None in values:
        return settings["undefined"]
    return sum(values, Fraction(0)) / len(values)


def _read(row, settings):
    """A row with its gain and its score, None where unjudged and where not in the list."""
    label, score = row["label"], row["score"]
    gain = None if label is None else Fraction(label)
    if label is None and settings["unjudged"] == "refused":
        raise Refused("an unjudged document")
    if gain is not None and gain < 0:
        fate = settings["below_zero"]
        if fate == "refused":
            raise Refused("a label below 0")
        if fate == "removed":
            gain, score = None, None
        elif fate != "gain":
            gain = None if fate == "unjudged" else Fraction(0)
    elif gain is not None and settings["gains"] == "2^label - 1":
        gain = Fraction(2) ** gain.numerator - 1
    if label is not None and settings["grades"] == "below 32" and label > 31:
        raise Refused("a grade above 31")
    if label is not None and settings["fractions"] == "refused" and label != int(label):
        raise Refused("a label that is no whole number")
    if score == "NaN":
        if settings["nan"] == "refused":
            raise Refused("a score that is no number")
        score = float("-inf") if settings["nan"] == "last" else float("inf")
    elif score == "Infinity":
        if settings["infinity"] == "refused":
            raise Refused("an infinite score")
        score = float("inf")
    elif score == "-Infinity":
        score = {"not in the list": None, "last": float("-inf")}.get(settings["minus_infinity"], "")
        if score == "":
            raise Refused("an infinite score")
    elif score is not None and settings["precision"] == "single":
        (score,) = struct.unpack("f", struct.pack("f", score))
    return {**row, "gain": gain, "score": score}


def _orders(rows, ties):
    """Every order of the list that the rule for ties allows."""
    rows = sorted(rows, key=lambda row: -row["score"])
    if ties == "document descending":
        rows.sort(key=lambda row: row["document"], reverse=True)
    elif ties == "worst":
        rows.sort(key=lambda row: row["gain"] or 0)
    elif ties == "best":
        rows.sort(key=lambda row: row["gain"] or 0, reverse=True)
    rows.sort(key=lambda row: -row["score"])
    if ties != "average":
        yield rows
        return
    tied = [list(group) for _, group in groupby(rows, key=lambda row: row["score"])]
    for parts in product(*map(permutations, tied)):
        yield [row for part in parts for row in part]


def _by_steps(rows, pool, settings):
    """Average precision where each distinct score is one step of the curve."""
    n = sum(gain > 0 for gain in pool)
    if not n:
        return settings["undefined"]
    value = Fraction(0)
    for row in rows:
        if (row["gain"] or 0) > 0:
            at_least = [other for other in rows if other["score"] >= row["score"]]
            value += Fraction(sum((each["gain"] or 0) > 0 for each in at_least), len(at_least))
    return value / n

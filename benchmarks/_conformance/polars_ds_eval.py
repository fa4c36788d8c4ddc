"""polars_ds: expressions, one value for each group of rows; 0.13.0 does not run with polars 2."""

import polars
import polars_ds

from .rows import NoSuchThing, columns, only

PACKAGES = ("polars-ds", "polars_ds")
WITH = ("polars",)
NAMES = {"dcg": "query_dcg_score", "ndcg": "query_ndcg_score"}


def ways(measure, asked, sets):
    if measure not in NAMES:
        raise NoSuchThing(measure)
    only(asked, "k")
    yield "", lambda rows: evaluate(measure, asked, rows, False)
    if "ties" in sets:
        yield "ignore_ties=True", lambda rows: evaluate(measure, asked, rows, True)


def evaluate(measure, asked, rows, ignore_ties):
    labels, scores, queries = columns(rows)
    labels = [None if label != label else float(label) for label in labels]
    frame = polars.DataFrame({"query": queries, "label": labels, "score": scores})
    score = getattr(polars_ds, NAMES[measure])
    value = score("label", "score", k=asked.get("k"), ignore_ties=ignore_ties)
    return frame.group_by("query").agg(value=value)["value"].mean()

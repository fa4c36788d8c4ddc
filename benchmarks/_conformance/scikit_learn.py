"""scikit-learn measures arrays of lists of one length: it is called once for each query."""

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    dcg_score,
    label_ranking_average_precision_score,
    ndcg_score,
)

from .rows import NoSuchThing, by_query, mean, only

PACKAGES = ("scikit-learn",)
# It knows nothing of queries; the mean over them is the caller's.
NOT_ASKED = {"row_order", "mean", "weighted_mean", "unjudged_queries"}


def ways(measure, asked, sets):
    if measure in ("dcg", "ndcg"):
        only(asked, "k")
        score, k = {"dcg": dcg_score, "ndcg": ndcg_score}[measure], asked.get("k")
        yield "", each(lambda y, s: score([y], [s], k=k))
        if sets.get("ties", "average") != "average":
            yield "ignore_ties=True", each(lambda y, s: score([y], [s], k=k, ignore_ties=True))
    elif measure == "ap":
        only(asked)
        yield "", each(lambda y, s: average_precision_score(np.array(y), np.array(s)))
        name = label_ranking_average_precision_score.__name__
        yield name, each(lambda y, s: label_ranking_average_precision_score(np.array([y]), [s]))
    else:
        raise NoSuchThing(measure)


def each(score):
    return lambda rows: mean(score(labels, scores) for labels, scores in by_query(rows))

"""Rankers that learn from features, small ones."""

import numpy as np
import pytest

from skfilterrank.ranking import AdaRankRanker, CoordinateAscentRanker, RankBoostRanker


def coordinate_ascent(measure="ndcg_f@3", n=4, **settings):
    return CoordinateAscentRanker(
        measure=measure, max_iter=n, tol=0.0, random_state=0, init="uniform", **settings
    )


def adarank(measure="ndcg_f@3", n=40, **settings):
    return AdaRankRanker(measure=measure, n_estimators=n, tol=0.0, both_directions=True, **settings)


def rankboost(measure="ndcg_f@3", n=60, **settings):
    return RankBoostRanker(measure=measure, n_estimators=n, **settings)


def history(ranker):
    """The measure of the training queries at the start and after each sweep."""
    (values,) = ranker.evals_result_["train"].values()
    return np.array(values)


RANKERS = pytest.mark.parametrize("make", [coordinate_ascent, adarank, rankboost])

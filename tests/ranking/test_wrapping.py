"""What rankers around other estimators ask of the estimator inside."""

import numpy as np
import pytest
from lightgbm import LGBMRanker
from sklearn.ensemble import VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from skfilterrank.exceptions import InputError
from skfilterrank.ranking import (
    CalibratedRanker,
    FilterOnly,
    LambdaRankRanker,
    OrdinalRanker,
    QueryRanker,
    RankAndFilter,
    make_ranker,
)
from skfilterrank.ranking._out_of_fold import has_fixed_scale


@pytest.mark.parametrize(
    ("inside", "needs"),
    [
        (Ridge(), False),
        (LGBMRanker(), True),
        (LambdaRankRanker(), True),
        (LambdaRankRanker(gamma=1.0), False),
        (make_pipeline(StandardScaler(), LGBMRanker()), True),
        (QueryRanker(LGBMRanker()), True),
        (GridSearchCV(Ridge(), {}), False),
    ],
)
def test_queries_are_needed_where_the_estimator_inside_needs_them(inside, needs):
    for around in (QueryRanker, RankAndFilter, CalibratedRanker):
        assert around(inside).needs_groups == needs
    if needs:
        X, y = np.arange(12.0)[:, None], np.tile([0, 1], 6)
        with pytest.raises(InputError, match="needs queries"):
            RankAndFilter(inside).fit(X, y)


@pytest.mark.parametrize("around", [QueryRanker, RankAndFilter, CalibratedRanker, FilterOnly])
@pytest.mark.parametrize(
    "inside",
    [None, StandardScaler(), Ridge, "passtrough", make_pipeline(StandardScaler(), "passthrough")],
    ids=repr,
)
def test_what_is_no_estimator(inside, around):
    X, y, groups = np.arange(12.0)[:, None], np.tile([0, 1], 6), np.repeat(range(6), 2)
    with pytest.raises(InputError, match="estimator must be a classifier, a regressor"):
        around(inside).fit(X, y, groups=groups)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inside", "is_fixed"),
    [
        (LogisticRegression(), True),
        (make_pipeline(StandardScaler(), LogisticRegression()), True),
        (OrdinalRanker(), True),
        (CalibratedRanker(LambdaRankRanker(), cv=2), True),
        (LambdaRankRanker(), False),
        (LGBMRanker(verbose=-1), False),
        (make_ranker("random_forest", n_jobs=1, random_state=0), True),
        (VotingRegressor([("one", Ridge())]), True),
    ],
    ids=lambda value: type(value).__name__,
)
def test_probabilities_and_expected_gains_have_a_fixed_scale(inside, is_fixed):
    assert has_fixed_scale(inside) == is_fixed


def test_measure_and_gains_of_filter_only_are_those_of_the_ranker_inside():
    ranker = FilterOnly(RankAndFilter(Ridge(), measure="ap", gains={0: 0, 1: 2}))
    assert (ranker.measure, ranker.gains) == ("ap", {0: 0, 1: 2})
    assert (FilterOnly(Ridge()).measure, FilterOnly(Ridge()).gains) == ("ndcg_f", None)


def test_tags_are_those_of_the_estimator_inside():
    for inside in (Ridge(), LGBMRanker()):
        tags = get_tags(QueryRanker(inside)).input_tags
        assert tags.allow_nan == get_tags(inside).input_tags.allow_nan
        assert tags.sparse == get_tags(inside).input_tags.sparse

"""Where means over queries are taken, a measure that is none is refused, not renamed."""

import numpy as np
import pytest

from measure_table import MEASURES
from skfilterrank import comparison, metrics, ranking, thresholds
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError

X, y, groups, _ = make_rank_and_filter(30, n_features=3, n_informative=3, random_state=0)
scores = X[:, 0]
BY_MEAN = {
    "threshold_curve": lambda name: thresholds.threshold_curve(
        y, scores, groups=groups, measure=name
    ),
    "CertifiedThreshold": lambda name: thresholds.CertifiedThreshold(
        {"any_forbidden": 0.9}, measure=name
    ).fit(scores, y, groups=groups),
    "TunedThreshold": lambda name: thresholds.TunedThreshold(name).fit(scores, y, groups=groups),
    "AdaRankRanker": lambda name: ranking.AdaRankRanker(measure=name).fit(X, y, groups=groups),
    "RankBoostRanker": lambda name: ranking.RankBoostRanker(measure=name).fit(X, y, groups=groups),
    "CoordinateAscentRanker": lambda name: ranking.CoordinateAscentRanker(measure=name).fit(
        X, y, groups=groups
    ),
    "random_ranking_bound": lambda name: metrics.random_ranking_bound(y, name, groups=groups),
    "score_predictions": lambda name: comparison.score_predictions(
        y, {"a": scores}, name, groups=groups
    ),
}

OTHERS = sorted(name for name, entry in MEASURES.items() if entry.over_queries != "mean")


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("caller", BY_MEAN)
def test_what_is_no_mean_is_refused(caller, name):
    if caller == "score_predictions" and MEASURES[name].over_queries == "sum":
        pytest.skip("sums compare as means do")
    message = (
        f"'{name}' is the {MEASURES[name].over_queries} over queries, and .* by the mean: name"
    )
    with pytest.raises(InputError, match=message):
        BY_MEAN[caller](name)


def test_sums_compare_as_means_do():
    found = comparison.score_predictions(y, {"a": scores}, "num_rel", groups=groups)["num_rel"]
    assert found.means["a"] * 30 == metrics.get_measure("num_rel")(y, scores, groups=groups)


def test_each_query_alone_is_given():
    each = metrics.random_ranking_bound(
        y, "gm_map", groups=groups, average=None, random_state=0
    ).value
    np.testing.assert_array_equal(
        each,
        metrics.random_ranking_bound(y, "ap", groups=groups, average=None, random_state=0).value,
    )


@pytest.mark.parametrize("name", ["gm_map", "num_rel", "ap"])
def test_scores_of_rankers_are_the_measures_own(name):
    ranker = ranking.QueryRanker(ranking.OrdinalRanker(), measure=name).fit(X, y, groups=groups)
    expected = metrics.evaluate(y, ranker.predict(X), name, groups=groups).means
    assert ranker.score(X, y, groups=groups) == pytest.approx(expected)

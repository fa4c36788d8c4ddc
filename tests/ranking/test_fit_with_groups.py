"""The forms that rankers of other libraries learn from: grades from 0 up."""

import numpy as np
import pytest
from lightgbm import LGBMRanker
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.ranking import RankAndFilter

LIGHTGBM = {
    "n_estimators": 5,
    "min_child_samples": 5,
    "n_jobs": 1,
    "verbose": -1,
    "deterministic": True,
    "force_row_wise": True,
}


@pytest.fixture(scope="module")
def data():
    return make_rank_and_filter(n_queries=120, n_features=6, bayes=False, random_state=0)


class TestNegativeLabels:
    """LightGBM's ranker must get grades from 0 up."""

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "wrap",
        [lambda ranker: ranker, lambda ranker: make_pipeline(StandardScaler(), ranker)],
        ids=["alone", "pipeline"],
    )
    @pytest.mark.parametrize("gains", [None, {-1: -10, 1: 1, 2: 2}])
    def test_the_ranker_learns(self, data, wrap, gains):
        model = RankAndFilter(
            wrap(LGBMRanker(**LIGHTGBM)), threshold=None, measure="ndcg_f@3", gains=gains
        )
        model.fit(data.X, data.y, groups=data.groups)
        scores = model.predict(data.X)
        assert len(np.unique(scores)) > 100
        assert np.corrcoef(scores, data.y)[0, 1] > 0.3

    @pytest.mark.parametrize("target", ["gain", "label"])
    def test_asking_for_negative_targets_is_an_error(self, data, target):
        with pytest.raises(ValueError, match="takes grades from 0 up, got -1: use target='grade'"):
            RankAndFilter(LGBMRanker(**LIGHTGBM), target=target).fit(
                data.X, data.y, groups=data.groups
            )

    @pytest.mark.parametrize("wrap", [lambda r: r, lambda r: make_pipeline(StandardScaler(), r)])
    def test_a_negative_label_gain_is_an_error(self, data, wrap):
        ranker = LGBMRanker(**LIGHTGBM, label_gain=[-10, 1, 2])
        with pytest.raises(ValueError, match=r"may silently learn nothing.*LambdaRankRanker"):
            RankAndFilter(wrap(ranker)).fit(data.X, data.y, groups=data.groups)

    def test_too_many_grades(self, data):
        y = np.arange(len(data.y))
        with pytest.raises(ValueError, match="LGBMRanker takes at most 31 grades but y has"):
            RankAndFilter(LGBMRanker(**LIGHTGBM)).fit(data.X, y, groups=data.groups)

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore:no label has a gain below 0")
    def test_label_gain_lifts_the_limit_of_grades(self, data):
        y = np.arange(len(data.y)) % 40
        ranker = LGBMRanker(**LIGHTGBM, label_gain=list(range(40)))
        RankAndFilter(ranker).fit(data.X, y, groups=data.groups)


def test_a_pipeline_with_a_cache_scores_as_one_without(data, tmp_path):
    steps = StandardScaler(), StandardScaler(), LGBMRanker(**LIGHTGBM)
    scores = [
        RankAndFilter(make_pipeline(*map(clone, steps), memory=memory), threshold=None)
        .fit(data.X, data.y, groups=data.groups)
        .predict(data.X)
        for memory in (None, str(tmp_path))
    ]
    np.testing.assert_array_equal(*scores)

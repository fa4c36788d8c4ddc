"""Rankers for Dask of LightGBM and XGBoost with thresholds on Rows, as in docs/large_data.md."""

import numpy as np
import pandas as pd
import pytest

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import Rows
from skfilterrank.thresholds import CertifiedThreshold, TunedThreshold

lightgbm = pytest.importorskip("lightgbm")
pytest.importorskip("xgboost", reason="xgboost is not installed")

pytestmark = [pytest.mark.nightly, pytest.mark.filterwarnings("ignore::UserWarning")]
FEATURES = [f"f{i}" for i in range(6)]


def by_lightgbm(train):
    ranker = lightgbm.DaskLGBMRanker(n_estimators=10, verbose=-1)
    sizes = train["label"].map_partitions(
        lambda part: part.groupby(level="qid").size(), meta=("size", int)
    )
    return ranker.fit(train[FEATURES], train["label"] + 1, group=sizes).to_local().predict


def by_xgboost(train):
    import xgboost
    from xgboost.dask import DaskXGBRanker

    ranker = DaskXGBRanker(n_estimators=10, allow_group_split=True)
    ranker.fit(train[FEATURES], train["label"] + 1, qid=train.index.to_series())
    booster = ranker.get_booster()
    return lambda X: booster.predict(xgboost.DMatrix(X))


def filtered(part, threshold, predict):
    return part.assign(score=threshold.predict(predict(part[FEATURES]), groups=part.index))


@pytest.mark.parametrize("fit", [by_lightgbm, by_xgboost])
def test_two_workers_show_the_documents_that_one_process_shows(client, fit):
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    X, y, groups, _ = make_rank_and_filter(n_queries=300, n_features=6, random_state=0)
    data = pd.DataFrame(X, columns=FEATURES).assign(label=y, qid=groups)
    frame = dd.from_pandas(data.sample(frac=1, random_state=0), npartitions=4, sort=False)
    whole = frame.set_index("qid").persist()
    train = whole.map_partitions(lambda part: part[part.index % 3 > 0])
    held_out = whole.map_partitions(lambda part: part[part.index % 3 == 0])
    predict = fit(train)
    scored = held_out.map_partitions(
        lambda part: part[["label"]].assign(score=predict(part[FEATURES])),
        meta={"label": int, "score": float},
    )
    in_memory = data.set_index("qid")
    known = in_memory[in_memory.index % 3 == 0]
    for threshold in (
        TunedThreshold("ndcg_f@3"),
        CertifiedThreshold({"any_forbidden@3": 0.4}, measure="ndcg_f@3"),
    ):
        level = threshold.fit(Rows(scored)).threshold_
        shown = whole.map_partitions(
            filtered, threshold, predict, meta=whole._meta.assign(score=0.0)
        ).compute()
        threshold.fit(predict(known[FEATURES]), known["label"].to_numpy(), groups=known.index)
        assert threshold.threshold_ == level
        expected = filtered(in_memory, threshold, predict)
        by = ["qid", *FEATURES]
        pd.testing.assert_frame_equal(
            shown.reset_index().sort_values(by, ignore_index=True)[[*by, "score"]],
            expected.reset_index().sort_values(by, ignore_index=True)[[*by, "score"]],
            check_dtype=False,
        )
        assert 0 < np.isneginf(expected["score"]).mean() < 1

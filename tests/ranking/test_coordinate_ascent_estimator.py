"""CoordinateAscentRanker: what it learns, and what does not change it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.io import read_letor
from skfilterrank.metrics import (
    err_score,
    ndcg_score,
)
from skfilterrank.ranking import CoordinateAscentRanker, RankAndFilter

FAST = {"measure": "ndcg_f@3", "max_iter": 3, "random_state": 0}


@pytest.fixture(scope="module")
def judged():
    X, y, groups, _ = make_rank_and_filter(n_queries=80, random_state=0)
    return X, y.astype(float), groups


@pytest.fixture(scope="module")
def separable():
    """30 queries of 6 documents; the second of three features orders the gains -1, 1, 2."""
    rng = np.random.default_rng(0)
    y = np.tile([-1.0, -1.0, 1.0, 1.0, 2.0, 2.0], 30)
    X = np.column_stack([rng.normal(size=180), y + rng.uniform(-0.2, 0.2, 180), np.ones(180)])
    return X, y, np.repeat(np.arange(30), 6)


def history(ranker):
    """The measure of the training queries at the start and after each sweep."""
    (values,) = ranker.evals_result_["train"].values()
    return np.array(values)


def shown(scores):
    return np.where(scores >= 0, scores, -np.inf)


# --- what is learned ---------------------------------------------------------------------------


@pytest.mark.parametrize("init", ["least_squares", "uniform"])
def test_learns_what_can_be_learned(separable, init):
    X, y, groups = separable
    ranker = CoordinateAscentRanker(**FAST, init=init).fit(X, y, groups)
    assert ndcg_score(y, ranker.predict(X), groups=groups) == pytest.approx(1.0)
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)
    assert ranker.feature_importances_.argmax() == 1
    assert ranker.coef_[2] == ranker.scale_[2] == 0
    np.testing.assert_allclose(ranker.predict(X), X @ ranker.coef_)


@pytest.mark.parametrize("init", ["least_squares", "uniform"])
def test_zero_is_the_threshold(separable, init):
    X, y, groups = separable
    settings = FAST | {"measure": "ndcg_f", "filter": True, "init": init}
    ranker = CoordinateAscentRanker(**settings).fit(X, y, groups)
    np.testing.assert_array_equal(ranker.predict(X) >= 0, y > 0)
    np.testing.assert_allclose(ranker.predict(X), X @ ranker.coef_ - ranker.threshold_)
    assert ranker.best_score_ == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1 / 64, 1.0, 64.0])
def test_weights_and_threshold_are_rescaled_together(judged, unit):
    X, y, groups = judged
    # nDCG_f does not change with the unit of the gains; the regression's weights do.
    ranker = CoordinateAscentRanker(**FAST, filter=True, gains=lambda label: unit * label)
    ranker.fit(X, y, groups)
    assert (np.diff(history(ranker)) >= -1e-9).all()
    assert history(ranker)[-1] > history(ranker)[0]
    assert 1 <= np.abs(ranker.coef_) @ ranker.scale_ < 2


SAME_FOR_EVERY_ORDER = {"judged", "empty_list_rate", "false_reject_rate", "set_map"}

SAME_FOR_EVERY_ORDER |= {"num_q", "num_ret", "num_rel", "num_rel_ret"}


@pytest.mark.slow
def test_candidates_where_no_sum(judged):
    X, y, groups = judged
    ranker = CoordinateAscentRanker(measure="err@3", max_iter=1, random_state=0, init="uniform")
    ranker.fit(X, y, groups)
    assert ranker.best_score_ == pytest.approx(err_score(y, ranker.predict(X), groups=groups, k=3))
    assert history(ranker)[-1] > history(ranker)[0]


@pytest.mark.slow
@pytest.mark.parametrize("filtering", [False, True])
def test_order_of_rows_and_names_of_queries_do_not_matter(judged, filtering):
    X, y, groups = judged
    expected = CoordinateAscentRanker(**FAST, filter=filtering).fit(X, y, groups).coef_
    mixed = np.random.default_rng(5).permutation(len(y))
    ranker = CoordinateAscentRanker(**FAST, filter=filtering)
    ranker.fit(X[mixed], y[mixed], groups[mixed])
    np.testing.assert_allclose(ranker.coef_, expected, rtol=1e-6)
    names = np.array([f"q{(37 * int(q)) % 1009}" for q in groups])
    ranker = CoordinateAscentRanker(**FAST, filter=filtering).fit(X, y, names)
    np.testing.assert_allclose(ranker.coef_, expected, rtol=1e-6)


@pytest.mark.slow
def test_queries_that_teach_nothing_are_harmless(judged):
    X, y, groups = judged
    expected = CoordinateAscentRanker(**FAST, init="uniform").fit(X, y, groups)
    # Of one document, and of one label. The uniform start hangs on the spread of features alone.
    more = np.vstack([X, X[:5]])
    labels = np.append(y, [1.0, 2.0, 1.0, 1.0, 1.0])
    ids = np.append(groups, [9001, 9002, 9003, 9003, 9003])
    ranker = CoordinateAscentRanker(**FAST, init="uniform").fit(more, labels, ids)
    n = len(np.unique(groups))
    assert ranker.best_score_ == pytest.approx((expected.best_score_ * n + 3) / (n + 3), abs=0.01)


# --- nothing to learn --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("gain", [0.0, 1.0, -1.0])
def test_all_gains_equal(separable, gain):
    X, y, groups = separable
    ranker = CoordinateAscentRanker(**FAST).fit(X, np.full(len(y), gain), groups)
    np.testing.assert_array_equal(ranker.predict(X), 0.0)
    np.testing.assert_array_equal(ranker.feature_importances_, 0.0)
    ranker = CoordinateAscentRanker(**FAST, filter=True).fit(X, np.full(len(y), gain), groups)
    assert np.isfinite(ranker.predict(X)).all()
    if gain:
        np.testing.assert_array_equal(ranker.predict(X) >= 0, gain > 0)


def test_one_document_per_query(separable):
    X, y, _ = separable
    alone = np.arange(len(y))
    np.testing.assert_array_equal(CoordinateAscentRanker(**FAST).fit(X, y, alone).coef_, 0.0)
    ranker = CoordinateAscentRanker(**FAST, filter=True).fit(X, y, alone)
    np.testing.assert_array_equal(ranker.predict(X) >= 0, y > 0)
    with pytest.warns(UserWarning, match="each row is its own query"):
        unnamed = CoordinateAscentRanker(**FAST, filter=True).fit(X, y)
    np.testing.assert_array_equal(unnamed.coef_, ranker.coef_)


# --- starts, stopping, going on ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("filtering", [False, True])
def test_warm_start_goes_on(judged, filtering):
    X, y, groups = judged
    settings = FAST | {"max_iter": 1, "init": "uniform", "filter": filtering}
    ranker = CoordinateAscentRanker(**settings, warm_start=True).fit(X, y, groups)
    before = ranker.best_score_
    ranker.fit(X, y, groups)
    assert history(ranker)[0] >= before - 1e-12
    assert history(ranker)[0] == pytest.approx(before, abs=1e-3)
    cold = CoordinateAscentRanker(**settings).fit(X, y, groups)
    assert history(cold.fit(X, y, groups))[0] < before
    with pytest.raises(ValueError, match=r"goes on with the weights of \d+ features"):
        ranker.fit(X[:, 1:], y, groups)


# --- with the rest of the library and scikit-learn ---------------------------------------------


@pytest.mark.slow
def test_rank_and_filter_takes_zero_for_the_threshold(judged):
    X, y, groups = judged
    own = CoordinateAscentRanker(**FAST, filter=True)
    model = RankAndFilter(own, threshold=0.0, measure="ndcg_f@3", cv=3).fit(X, y, groups=groups)
    scores = own.fit(X, y, groups).predict(X)
    np.testing.assert_allclose(model.predict(X), shown(scores))
    tuned = RankAndFilter(CoordinateAscentRanker(**FAST), measure="ndcg_f@3", cv=3).fit(
        X, y, groups=groups
    )
    assert np.isfinite(tuned.threshold_)


def test_silent_unless_verbose(separable, capfd):
    X, y, groups = separable
    CoordinateAscentRanker(**FAST).fit(X, y, groups)
    assert capfd.readouterr() == ("", "")
    CoordinateAscentRanker(**FAST, verbose=1).fit(X, y, groups)
    assert "ndcg_f@3" in capfd.readouterr().err


# --- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_feature_is_named(separable, bad):
    X, y, groups = separable
    frame = pd.DataFrame(X.copy(), columns=["bm25", "age", "length"])
    frame.loc[3, "age"] = bad
    with pytest.raises(ValueError, match="'age'"):
        CoordinateAscentRanker().fit(frame, y, groups)
    ranker = CoordinateAscentRanker(**FAST).fit(X, y, groups)
    with pytest.raises(ValueError, match="column 1"):
        ranker.predict(frame.to_numpy())
    with pytest.raises(ValueError, match="column 1"):
        ranker.predict(sparse.csr_matrix(frame.to_numpy()))


# --- real data ---------------------------------------------------------------------------------


@pytest.mark.nightly
def test_mq2007(data_dir):
    X, y, groups, *_ = read_letor(data_dir / "mq2007" / "S1.txt.gz", sparse=False)
    test = groups >= np.quantile(groups, 0.6)
    ranker = CoordinateAscentRanker(
        measure="ndcg@10", gains="exp2", init="uniform", max_iter=1, random_state=0
    ).fit(X[~test], y[~test], groups[~test])
    reached = ndcg_score(y[test], ranker.predict(X[test]), groups=groups[test], k=10, gains="exp2")
    by_chance = ndcg_score(y[test], np.zeros(test.sum()), groups=groups[test], k=10, gains="exp2")
    assert reached > by_chance + 0.1

"""CoordinateAscentRanker: what it learns, and what does not change it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from feature_rankers import history
from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import (
    err_score,
    forbidden_at_k,
    get_measure_names,
    ndcg_f_score,
    ndcg_score,
    search_length,
)
from skfilterrank.ranking import CoordinateAscentRanker, RankAndFilter
from thinned import thinned

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


def shown(scores):
    return np.where(scores >= 0, scores, -np.inf)


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
@pytest.mark.parametrize("unit", [1 / 64, 64.0])
def test_weights_and_threshold_are_rescaled_together(judged, unit):
    X, y, groups = judged
    # nDCG_f does not change with the unit of the gains; the regression's weights do.
    ranker = CoordinateAscentRanker(**FAST, filter=True, gains=lambda label: unit * label)
    ranker.fit(X, y, groups)
    assert (np.diff(history(ranker)) >= -1e-9).all()
    assert history(ranker)[-1] > history(ranker)[0]
    assert 1 <= np.abs(ranker.coef_) @ ranker.scale_ < 2


@pytest.mark.slow
def test_candidates_where_no_sum(judged):
    X, y, groups = judged
    ranker = CoordinateAscentRanker(measure="err@3", max_iter=1, random_state=0, init="uniform")
    ranker.fit(X, y, groups)
    assert ranker.best_score_ == pytest.approx(err_score(y, ranker.predict(X), groups=groups, k=3))
    assert history(ranker)[-1] > history(ranker)[0]


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


@pytest.mark.filterwarnings("ignore:.* and no query has two")
@pytest.mark.slow
@pytest.mark.parametrize("gain", [0.0, -1.0])
def test_all_gains_equal(separable, gain):
    X, y, groups = separable
    ranker = CoordinateAscentRanker(**FAST).fit(X, np.full(len(y), gain), groups)
    np.testing.assert_array_equal(ranker.predict(X), 0.0)
    np.testing.assert_array_equal(ranker.feature_importances_, 0.0)
    ranker = CoordinateAscentRanker(**FAST, filter=True).fit(X, np.full(len(y), gain), groups)
    assert np.isfinite(ranker.predict(X)).all()
    if gain:
        np.testing.assert_array_equal(ranker.predict(X) >= 0, gain > 0)


@pytest.mark.filterwarnings("ignore:.* and no query has two")
def test_one_document_per_query(separable):
    X, y, _ = separable
    alone = np.arange(len(y))
    np.testing.assert_array_equal(CoordinateAscentRanker(**FAST).fit(X, y, alone).coef_, 0.0)
    ranker = CoordinateAscentRanker(**FAST, filter=True).fit(X, y, alone)
    np.testing.assert_array_equal(ranker.predict(X) >= 0, y > 0)
    with pytest.warns(UserWarning, match="each row is its own query"):
        unnamed = CoordinateAscentRanker(**FAST, filter=True).fit(X, y)
    np.testing.assert_array_equal(unnamed.coef_, ranker.coef_)


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


@pytest.mark.slow
@pytest.mark.parametrize("filtering", [False, True])
def test_history_is_the_measure_and_never_falls(judged, filtering):
    X, y, groups = judged
    ranker = CoordinateAscentRanker(**FAST, filter=filtering, init="uniform").fit(X, y, groups)
    scores = ranker.predict(X)
    scores = shown(scores) if filtering else scores
    assert ranker.best_score_ == pytest.approx(ndcg_f_score(y, scores, groups=groups, k=3))
    assert (np.diff(history(ranker)) >= 0).all()
    assert history(ranker)[-1] > history(ranker)[0]
    assert len(history(ranker)) == ranker.n_iter_ + 1
    assert ranker.best_score_ == history(ranker)[ranker.best_iteration_]


@pytest.mark.slow
def test_penalties_keep_to_the_start(judged):
    X, y, groups = judged
    settings = FAST | {"init": "uniform"}
    start = CoordinateAscentRanker(**settings | {"max_iter": 0}).fit(X, y, groups)
    scores = []
    for penalty in (0.0, 0.05, 1000.0):
        ranker = CoordinateAscentRanker(**settings, penalty=penalty).fit(X, y, groups)
        assert (np.diff(history(ranker)) >= 0).all()
        scores.append(ranker.best_score_)
    assert scores[0] > scores[1] > scores[2] >= start.best_score_
    start = CoordinateAscentRanker(**FAST | {"max_iter": 0}).fit(X, y, groups)
    shrunk = CoordinateAscentRanker(**FAST | {"max_iter": 0}, init_alpha=1e6).fit(X, y, groups)
    assert np.abs(shrunk.coef_).sum() < np.abs(start.coef_).sum() / 100


@pytest.mark.slow
def test_the_penalty_is_in_units_of_what_orders_documents(judged):
    X, y, groups = judged
    # Multiples of 1/64, so that shifts by whole numbers round nothing.
    X = (X * 64).round() / 64
    shift = np.random.default_rng(0).integers(-9, 10, (groups.max() + 1, X.shape[1]))[groups]
    settings = FAST | {"penalty": 0.02, "init": "uniform", "max_iter": 1}
    plain, shifted = (
        CoordinateAscentRanker(**settings).fit(features, y, groups)
        for features in (X, X + 100.0 * shift)
    )
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=1e-6)
    free = CoordinateAscentRanker(**settings | {"penalty": 0.0}).fit(X, y, groups)
    assert np.abs(free.coef_ - plain.coef_).max() > 1e-3
    # With a threshold the level of a query counts, and the unit is that of all rows.
    wide = CoordinateAscentRanker(**settings | {"filter": True}).fit(X + shift, y, groups)
    assert wide.scale_ == pytest.approx((X + shift).std(axis=0))


@pytest.mark.slow
def test_random_state(judged):
    X, y, groups = judged
    first, again, other = (
        CoordinateAscentRanker(**FAST | {"random_state": seed}).fit(X, y, groups).coef_
        for seed in (3, 3, 4)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


@pytest.mark.slow
def test_early_stopping(judged):
    X, y, groups = judged
    held = groups % 3 == 0
    data = X[~held], y[~held], groups[~held]
    evaluation = {"eval_set": [(X[held], y[held])], "eval_groups": [groups[held]]}
    settings = {"measure": "ndcg_f@3", "random_state": 0, "filter": True, "tol": 0.0}
    ranker = CoordinateAscentRanker(**settings, early_stopping_rounds=1).fit(*data, **evaluation)
    values = ranker.evals_result_["valid_0"]["ndcg_f@3"]
    assert len(values) == ranker.n_iter_ + 1
    assert ranker.best_iteration_ == np.argmax(values)
    reached = ndcg_f_score(y[held], shown(ranker.predict(X[held])), groups=groups[held], k=3)
    assert reached == pytest.approx(max(values))
    assert ranker.best_score_ == history(ranker)[ranker.best_iteration_]
    # Without, the sets are only watched.
    watched = CoordinateAscentRanker(**settings).fit(*data, **evaluation)
    plain = CoordinateAscentRanker(**settings).fit(*data)
    np.testing.assert_array_equal(watched.coef_, plain.coef_)
    assert list(plain.evals_result_) == ["train"]


@pytest.mark.slow
@pytest.mark.parametrize("patience", [1, 3])
def test_stops_after_so_many_sweeps_without_a_gain(judged, patience):
    X, y, groups = judged
    held = groups % 2 == 0
    settings = {"measure": "ndcg_f", "random_state": 0, "tol": 0.0, "init": "uniform"}
    data = X[~held], y[~held], groups[~held]
    evaluation = {"eval_set": (X[held], y[held]), "eval_groups": groups[held]}
    ranker = CoordinateAscentRanker(**settings, early_stopping_rounds=patience)
    ranker.fit(*data, **evaluation)
    assert CoordinateAscentRanker(**settings).fit(*data).n_iter_ > ranker.n_iter_
    assert ranker.n_iter_ == ranker.best_iteration_ + patience


def test_starts_by_hand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2)) @ np.array([[1, 0.5], [0, 3]])
    y, groups = np.tile([-1, 1, 2], 4), np.repeat([0, 1, 2], 4)
    in_query = [groups == query for query in range(3)]
    Z = X - np.array([X[mine].mean(axis=0) for mine in in_query])[groups]
    gains = y - np.array([y[mine].mean() for mine in in_query])[groups]
    spread = Z.std(axis=0)

    def start(**params):
        return CoordinateAscentRanker(max_iter=0, **params).fit(X, y, groups=groups).coef_

    # Ridge regression of the differences within queries, on features of deviation 1.
    for alpha in (1.0, 20.0):
        ridge = Ridge(alpha=alpha, fit_intercept=False).fit(Z / spread, gains).coef_ / spread
        np.testing.assert_allclose(start(init_alpha=alpha), ridge, rtol=1e-6)
    assert start().tolist() == start(init_alpha=1.0).tolist()
    # Equal weights of such features, which sum to 1.
    np.testing.assert_allclose(start(init="uniform") * spread, [0.5, 0.5])


pytestmark = pytest.mark.slow

SAME_FOR_EVERY_ORDER = {"judged", "empty_list_rate", "false_reject_rate", "set_map"}
SAME_FOR_EVERY_ORDER |= {"udcg", "num_q", "num_ret", "num_rel", "num_rel_ret"}
SAME_FOR_EVERY_ORDER |= {"num_nonrel_judged_ret", "rbp_residual", "unjudged", "relative_precision"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure",
    thinned(sorted(set(get_measure_names()) - SAME_FOR_EVERY_ORDER - {"stat_ap", "gm_map"})),
)
def test_any_measure_of_the_table(separable, measure):
    X, y, groups = separable
    y = np.maximum(y, 0) if measure == "ul_normalized" else y
    if measure in ("any_forbidden", "f", "forbidden", "precision", "recall", "success"):
        measure += "@2"
    X = X + np.random.default_rng(1).normal(size=X.shape)
    ranker = CoordinateAscentRanker(measure=measure, max_iter=2, random_state=0)
    ranker.fit(X[:60], y[:60], groups[:60])
    falls = not parse_measure(measure).measure.greater_is_better
    change = np.diff(history(ranker)) * (-1 if falls else 1)
    assert (change >= 0).all()


def test_lower_is_better(judged):
    X, y, groups = judged
    for measure, function in (
        ("forbidden@3", lambda s: forbidden_at_k(y, s, groups=groups, k=3)),
        ("search_length", lambda s: search_length(y, s, groups=groups)),
    ):
        ranker = CoordinateAscentRanker(measure=measure, max_iter=2, random_state=0, init="uniform")
        ranker.fit(X, y, groups)
        assert ranker.best_score_ == pytest.approx(function(ranker.predict(X)))
        assert history(ranker)[-1] < history(ranker)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("filtering", "init"), [(False, "uniform"), (True, "least_squares"), (True, "uniform")]
)
def test_scale_of_features_does_not_matter(judged, filtering, init):
    X, y, groups = judged
    settings = FAST | {"filter": filtering, "init": init}
    expected = CoordinateAscentRanker(**settings).fit(X, y, groups)
    # Powers of two change no digit.
    factors = 2.0 ** np.arange(-3, X.shape[1] - 3)
    ranker = CoordinateAscentRanker(**settings).fit(X * factors, y, groups)
    np.testing.assert_allclose(ranker.coef_ * factors, expected.coef_, rtol=1e-6)
    np.testing.assert_allclose(
        ranker.feature_importances_, expected.feature_importances_, rtol=1e-6
    )

"""The rows that rankers of features learn from and predict, the same for each of them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from feature_rankers import RANKERS, adarank, coordinate_ascent, rankboost
from skfilterrank.exceptions import FitWarning, InputError
from skfilterrank.metrics import ndcg_f_score
from skfilterrank.ranking import (
    AdaRankRanker,
    CoordinateAscentRanker,
    LambdaRankRanker,
    OrdinalRanker,
    QueryRanker,
    QueryScaler,
    RankAndFilter,
    RankBoostRanker,
    make_ranker,
)


@RANKERS
def test_no_query_ids(judged, make):
    X, y, _ = judged
    message = "given no query ids: .*, so that there is no order to learn and all scores are 0"
    with pytest.warns(UserWarning, match=message) as caught:
        ranker = make().fit(X, y)
    assert caught[0].filename == __file__
    np.testing.assert_array_equal(ranker.predict(X), 0.0)
    # Each row is its own query here too.
    alone = np.arange(len(y))
    with pytest.warns(FitWarning, match="score was given no query ids"):
        assert ranker.score(X, y) == ndcg_f_score(y, np.zeros(len(y)), groups=alone, k=3)


@pytest.mark.slow
@pytest.mark.parametrize("make", [coordinate_ascent, adarank, rankboost, QueryScaler])
@pytest.mark.parametrize("dtype", [object, "category"])
def test_columns_of_text_are_named(separable, make, dtype):
    X, y, groups = separable
    given = {} if make is QueryScaler else {"y": y, "groups": groups}
    words = pd.Series(["a", "b"] * len(y))[: len(y)].astype(dtype)
    table = pd.DataFrame(X).rename(columns="f{}".format)
    with pytest.raises(InputError, match=r"X has 1 column that .*, such as 'words' of dtype "):
        make().fit(table.assign(words=words), **given)
    fitted = make().fit(table, **given)
    serve = fitted.transform if make is QueryScaler else fitted.predict
    with pytest.raises(InputError, match=r"such as 'f0' of dtype "):
        serve(table.assign(f0=words), groups=groups)


# Parameters out of range, of all of them and of each.
OF_ALL = [
    ({"early_stopping_rounds": 0}, "early_stopping_rounds must be"),
    ({"early_stopping_rounds": 3}, "needs eval_set"),
    ({"gains": "exp3"}, "gains must be None"),
    ({"gains": {-1: -1, 1: 1}}, "no entry in gains"),
]
OUT_OF_RANGE = {
    LambdaRankRanker: [
        ({"k": 0}, "k must be None"),
        ({"k": 2.0}, "k must be None"),
        ({"gamma": -1}, "gamma must be a finite number from 0 up, got -1"),
        ({"gamma": float("nan")}, "gamma must be"),
        ({"loss": "lambda"}, "loss must be one of"),
        ({"n_estimators": 0}, "n_estimators must be a whole number from 1"),
        ({"eta": 0.3}, "'eta' is another name of learning_rate=: set learning_rate="),
        ({"max_bim": 3}, "'max_bim' is no parameter of LambdaRankRanker. Did you mean"),
        # Of several wrong names the first is named.
        ({f"no_{n}": n for n in range(9)}, "'no_0' is no parameter of LambdaRankRanker"),
        ({"test": "x"}, "'test' does not change how LightGBM learns"),
        ({"max_bin": 3, "max_bins": 3}, "'max_bin' and 'max_bins' are the same"),
        ({"objective": "binary"}, "'objective' is another name of loss="),
    ],
    RankBoostRanker: [
        ({"n_estimators": 0}, "n_estimators must be a whole number from 1"),
        ({"max_bins": 1}, "max_bins must be a whole number from 2"),
        ({"measure": "ndgc"}, "'ndgc' is not a measure"),
        ({"verbose": -1}, "verbose must be"),
    ],
    AdaRankRanker: [
        (
            {"measure": "dcg@10"},
            r"cannot be optimized.*\[-inf, inf\].*Measures that can.*: .*ap, bpref",
        ),
        ({"measure": "search_length"}, "cannot be optimized.*ndcg_f"),
        ({"measure": "judged@3"}, "cannot be optimized.*does not depend on the order"),
        ({"measure": "ndgc"}, "'ndgc' is not a measure"),
        # Range and order of these depend on the gains and the queries.
        (
            {"measure": "ndcg", "gains": {-1: -4, 1: 1, 2: 2}},
            "gives -.* on these queries.*nonnegative gains.*ndcg_f",
        ),
        ({"measure": "recall"}, "the same for all orders.*another cut-off or measure"),
        ({"n_estimators": 0}, "n_estimators must be a whole number from 1"),
        ({"both_directions": "yes"}, "both_directions must be True or False"),
        ({"tol": -1}, "tol must be a finite number from 0 up"),
        ({"verbose": -1}, "verbose must be"),
    ],
    CoordinateAscentRanker: [
        ({"measure": "ndgc"}, "not a measure"),
        ({"measure": "judged"}, r"it is the same.*Those that can: .* ap, bpref"),
        ({"measure": "stat_ap"}, r"needs inclusion_probability.*Those that can: .* ap,"),
        ({"measure": "empty_list_rate"}, "Those that can"),
        ({"measure": "recall"}, r"without a cut-off.*'recall@10'"),
        ({"measure": "ap", "filter": True}, r"cannot optimize a thresh.*must depend only on gains"),
        ({"measure": "ap(normalize=k)"}, "normalize='k'"),
        ({"measure": "ul_normalized"}, "gains from 0 up"),
        ({"measure": "err(max_grade=1)"}, "max_grade"),
        ({"filter": "yes"}, "filter must be"),
        ({"init": "zero"}, "init must be one of 'least_squares', 'uniform'"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"init_alpha": -1.0}, "init_alpha must be a finite number from 0 up"),
        ({"penalty": "l2"}, "penalty must be a finite number from 0 up"),
        ({"tol": -1}, "tol must be a finite number from 0 up"),
        ({"tol": float("nan")}, "tol must be"),
        ({"verbose": -1}, "verbose must be"),
    ],
}


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [(kind, *case) for kind, own in OUT_OF_RANGE.items() for case in OF_ALL + own],
)
def test_parameters_out_of_range(separable, kind, settings, message):
    with pytest.raises(ValueError, match=message):
        kind(**settings).fit(*separable)


@pytest.mark.parametrize(
    ("make", "value", "kind"),
    [(adarank, np.nan, "NaN"), (adarank, np.inf, "infinity"), (rankboost, np.inf, "infinity")],
)
def test_values_that_are_no_numbers_name_the_column(separable, make, value, kind):
    X, y, groups = separable
    table = pd.DataFrame(X).rename(columns={1: "pagerank"}).rename(columns=str)
    fitted = make(n=1).fit(X, y, groups)
    table.iloc[3, 1] = value
    with pytest.raises(ValueError, match=rf"{kind} in column 1 \('pagerank'\)"):
        make().fit(table, y, groups)
    with pytest.raises(ValueError, match=f"{kind} in column 1 "):
        fitted.predict(sparse.csr_matrix(table.to_numpy()))


def ranknet(**params):
    return make_ranker("ranknet", n_estimators=2, **params)


@pytest.mark.parametrize("make", [coordinate_ascent, adarank, rankboost, ranknet])
def test_no_query_has_an_order_to_learn(judged, make):
    X, y, groups = judged
    lists = (y, np.arange(len(y))), (np.unique(groups, return_inverse=True)[1] % 3.0, groups)
    for labels, ids in lists:
        with pytest.warns(
            FitWarning, match="no query has two, so that .*scores .*Check y and groups="
        ):
            ranker = make().fit(X, labels, groups=ids)
        assert len(np.unique(ranker.predict(X))) == 1


def test_all_gains_are_equal():
    X, y = np.eye(4), np.ones(4)
    for ranker in (OrdinalRanker(), QueryRanker(Ridge()), make_ranker("mse")):
        with pytest.warns(FitWarning, match="all 4 judged rows have the gain 1: .* no order to le"):
            assert np.ptp(ranker.fit(X, y, groups=[0, 0, 1, 1]).predict(X)) < 1e-12


@pytest.mark.slow
def test_filtering_needs_no_queries_in_rank_and_filter(judged):
    X, y, _ = judged
    with pytest.warns(UserWarning, match="fitted without query ids"):
        model = RankAndFilter(coordinate_ascent(n=1, filter=True), measure="ndcg_f@3", cv=3).fit(
            X, y
        )
    assert np.isneginf(model.predict(X)).any()
    assert model.score(X, y) > 0
    with pytest.raises(ValueError, match="CoordinateAscentRanker needs queries"):
        RankAndFilter(coordinate_ascent(n=1), measure="ndcg_f@3", cv=3).fit(X, y)


@pytest.mark.slow
def test_score_of_a_threshold_filters(judged):
    X, y, groups = judged
    ranker = coordinate_ascent(n=2, filter=True).fit(X, y, groups)
    scores = ranker.predict(X)
    shown = np.where(scores >= 0, scores, -np.inf)
    assert ranker.score(X, y, groups) == ndcg_f_score(y, shown, groups=groups, k=3)
    assert ranker.score(X, y, groups) == pytest.approx(ranker.best_score_)
    ranker = CoordinateAscentRanker(measure="rbp(persistence=0.5)@3", max_iter=1)
    ranker.fit(X, y, groups)
    assert ranker.score(X, y, groups) == pytest.approx(ranker.best_score_)


@RANKERS
def test_cells_stored_in_parts_stay_as_they_are(make):
    X = sparse.csc_array((np.ones(6), [0, 0, 1, 2, 1, 3], [0, 4, 6]), shape=(4, 2))
    ranker = make(n=1).fit(X, [2, 1, 0, 0], [0, 0, 1, 1])
    np.testing.assert_array_equal(X.data, np.ones(6))
    np.testing.assert_array_equal(ranker.predict(X), ranker.predict(X.toarray()))
    assert X.nnz == 6

"""Queries that rankers hold out of their training rows to stop early by."""

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostRanker
from lightgbm import LGBMRanker, early_stopping
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from xgboost import XGBRanker
from xgboost.callback import EarlyStopping

from dealt import numbers_of_queries
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import FitWarning
from skfilterrank.ranking import (
    AdaRankRanker,
    CoordinateAscentRanker,
    LambdaRankRanker,
    QueryRanker,
    RankAndFilter,
    RankBoostRanker,
)
from skfilterrank.ranking._held_out_sets import held_out_rows
from thinned import thinned

CAT = {"thread_count": 1, "verbose": 0, "allow_writing_files": False, "random_seed": 0}
LIGHT = LGBMRanker(n_estimators=60, early_stopping_round=4, verbose=-1, n_jobs=1)
RANKERS = {
    "LambdaRankRanker": LambdaRankRanker(n_estimators=60, early_stopping_rounds=4, n_jobs=1),
    "AdaRankRanker": AdaRankRanker(measure="ap", early_stopping_rounds=4, both_directions=True),
    "RankBoostRanker": RankBoostRanker(early_stopping_rounds=4),
    "CoordinateAscentRanker": CoordinateAscentRanker(early_stopping_rounds=2, random_state=0),
    "LGBMRanker": QueryRanker(LIGHT),
    "XGBRanker": QueryRanker(XGBRanker(n_estimators=60, early_stopping_rounds=4, n_jobs=1)),
    "CatBoostRanker": QueryRanker(CatBoostRanker(n_estimators=60, early_stopping_rounds=4, **CAT)),
    "Pipeline": QueryRanker(make_pipeline(StandardScaler(), LIGHT)),
}


@pytest.fixture(scope="module")
def data():
    """Rows in no order, ids that are names, and one grade that a single query has."""
    X, y, groups, _ = make_rank_and_filter(
        60, n_features=5, n_informative=3, documents_per_query=8, random_state=0
    )
    order = np.random.default_rng(0).permutation(len(y))
    y = y.astype(float)
    return X[order], y[order], np.array([f"q{number}" for number in groups])[order]


def n_rounds(ranker):
    """How many rounds predict."""
    if not isinstance(ranker, QueryRanker):
        return ranker.best_iteration_
    inner = ranker.estimator_
    inner = inner[-1] if hasattr(inner, "steps") else inner
    has_name = hasattr(inner, "best_iteration")
    return inner.best_iteration if has_name else inner.best_iteration_


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(RANKERS, turn=1, parts=2))
def test_the_same_as_an_eval_set_of_these_queries(data, name):
    X, y, groups = data
    held = held_out_rows(0.25, numbers_of_queries(X, y, groups))
    assert len(set(groups[held])) == 15
    assert not set(groups[held]) & set(groups[~held])
    inner = clone(RANKERS[name]).set_params(validation_fraction=0.25)
    inner.fit(X, y, groups=groups)
    explicit = clone(RANKERS[name]).fit(
        X[~held],
        y[~held],
        groups=groups[~held],
        eval_set=[(X[held], y[held])],
        eval_groups=[groups[held]],
    )
    np.testing.assert_array_equal(inner.predict(X), explicit.predict(X))
    if name != "CoordinateAscentRanker":
        assert n_rounds(inner) == n_rounds(explicit)
    whole = clone(RANKERS[name]).fit(X, y, groups=groups, eval_set=[(X, y)], eval_groups=[groups])
    assert not np.array_equal(whole.predict(X), inner.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["LambdaRankRanker"])
def test_any_kind_of_input(data, name):
    X, y, groups = data
    ranker = clone(RANKERS[name]).set_params(validation_fraction=0.25)
    expected = ranker.fit(X, y, groups=groups).predict(X)
    labels = pd.Series(y, index=pd.Index(groups, name="qid"))
    np.testing.assert_array_equal(clone(ranker).fit(X, labels).predict(X), expected)
    np.testing.assert_allclose(
        clone(ranker).fit(sparse.coo_array(X), y, groups=groups).predict(X), expected, rtol=1e-12
    )
    listed = clone(ranker).fit(X.tolist(), y.tolist(), groups=groups.tolist())
    np.testing.assert_array_equal(listed.predict(X), expected)
    order = np.argsort(groups, kind="stable")
    ordered = clone(ranker).fit(X[order], y[order], groups=groups[order])
    assert ordered.best_iteration_ == clone(ranker).fit(X, y, groups=groups).best_iteration_


def test_held_out_rows_are_of_judged_queries():
    codes = np.repeat(np.arange(10), 2)
    judged = codes < 5
    judged[0] = False
    held = held_out_rows(0.4, codes, judged)
    # Two of the five judged queries, drawn as if there were no others.
    assert len(np.unique(codes[held])) == 2
    assert np.array_equal(held[judged], held_out_rows(0.4, codes[judged]))
    assert not held[~judged].any()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["RankBoostRanker", "LGBMRanker"])
def test_unjudged_rows_are_neither_learned_from_nor_measured(data, name):
    X, y, groups = data
    y = y.copy()
    y[::3] = np.nan
    judged = ~np.isnan(y)
    ranker = clone(RANKERS[name]).set_params(validation_fraction=0.25)
    with pytest.warns(UserWarning, match=r"160 of \d+ rows are unjudged"):
        ranker.fit(X, y, groups=groups)
    assert ranker.n_unjudged_ == 160
    expected = clone(ranker).fit(X[judged], y[judged], groups=groups[judged])
    np.testing.assert_array_equal(ranker.predict(X), expected.predict(X))


def test_a_grade_that_only_held_out_queries_have(data):
    X, y, groups = data
    held = held_out_rows(0.25, numbers_of_queries(X, y, groups))
    y = y.copy()
    y[np.flatnonzero(held)[0]] = 3
    QueryRanker(LIGHT, validation_fraction=0.25).fit(X, y, groups=groups)


def test_rows_without_query_ids_are_queries(data):
    X, y, _ = data
    ranker = LambdaRankRanker(
        n_estimators=60, early_stopping_rounds=4, gamma=1.0, validation_fraction=0.25, n_jobs=1
    )
    with pytest.warns(UserWarning, match="each row is its own query"):
        ranker.fit(X, y)
    assert ranker.best_iteration_ < 60


@pytest.mark.slow
@pytest.mark.parametrize("name", ["RankBoostRanker", "LGBMRanker"])
def test_what_is_refused(data, name):
    X, y, groups = data
    ranker = clone(RANKERS[name])
    for bad in (0, 1, 1.5, "half", True):
        with pytest.raises(ValueError, match="validation_fraction must be a number between 0 and"):
            ranker.set_params(validation_fraction=bad).fit(X, y, groups=groups)
    ranker.set_params(validation_fraction=0.25)
    with pytest.raises(ValueError, match="but eval_set was given, too: use one of the two"):
        ranker.fit(X, y, groups=groups, eval_set=[(X, y)], eval_groups=[groups])
    with pytest.raises(ValueError, match="holds out 1 of 1 judged queries and leaves none"):
        ranker.fit(X, y, groups=np.zeros(len(y)))
    with pytest.raises(ValueError, match=f"y has {len(y) - 1} labels but X has {len(y)} rows"):
        ranker.fit(X, y[1:], groups=groups)


def test_estimators_that_do_not_stop_early(data):
    X, y, groups = data
    with pytest.raises(ValueError, match="fit of Ridge takes no held-out queries"):
        QueryRanker(Ridge(), validation_fraction=0.25).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match=r"rounds needs eval_set.* or validation_fraction"):
        RankBoostRanker(early_stopping_rounds=3).fit(X, y, groups=groups)


SAID = r"validation_fraction=0.25 holds out queries, but {} did not use them to stop"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    thinned(["RankBoostRanker", "LGBMRanker", "XGBRanker", "CatBoostRanker", "Pipeline"], parts=2),
)
def test_rankers_that_stop_by_nothing_say_so(data, name):
    X, y, groups = data
    stopping = clone(RANKERS[name]).set_params(validation_fraction=0.25)
    stopping.fit(X, y, groups=groups)
    if name == "CatBoostRanker":
        # CatBoost keeps the trees up to the best round unless told otherwise.
        never = QueryRanker(CatBoostRanker(n_estimators=60, **CAT), validation_fraction=0.25)
        never.fit(X, y, groups=groups)
        never.set_params(estimator__use_best_model=False)
    else:
        names = [each for each in stopping.get_params() if "early_stopping_round" in each]
        never = stopping.set_params(**dict.fromkeys(names))
    owner = name if name != "Pipeline" else "LGBMRanker"
    with pytest.warns(FitWarning, match=SAID.format(owner)):
        never.fit(X, y, groups=groups)


@pytest.mark.slow
def test_any_way_of_stopping_counts(data):
    X, y, groups = data
    for inner, how in [
        (LGBMRanker(n_estimators=9, verbose=-1), {"callbacks": [early_stopping(2, verbose=False)]}),
        (XGBRanker(n_estimators=9, callbacks=[EarlyStopping(rounds=2)]), {}),
        (CatBoostRanker(n_estimators=9, use_best_model=False, od_type="Iter", **CAT), {}),
        (LambdaRankRanker(n_estimators=9, early_stopping_rounds=2), {}),
    ]:
        QueryRanker(inner, validation_fraction=0.25).fit(X, y, groups=groups, **how)
    nested = RankAndFilter(LambdaRankRanker(n_estimators=9), measure="ndcg_f@3", cv=2)
    with pytest.warns(FitWarning, match=SAID.format("LambdaRankRanker")):
        QueryRanker(nested, validation_fraction=0.25).fit(X, y, groups=groups)


GROUPS = np.repeat(np.arange(8), 5)
Y = np.tile([0, 0, 1, 1, 2], 8)
X = Y[:, None] + np.random.default_rng(0).normal(size=(40, 2))

# What LightGBM says of the names of its version.
OLD_NAMES = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
RANKER = LGBMRanker(n_estimators=3, min_child_samples=1, early_stopping_rounds=2, verbose=-1)


class Noted(LGBMRanker):
    """Notes the rows that it learns from and those that it stops by."""

    def fit(self, X, y, group=None, eval_set=None, eval_group=None, **params):
        """Note how many documents the queries have."""
        self.noted_ = list(group), [list(sizes) for sizes in eval_group]
        return super().fit(X, y, group=group, eval_set=eval_set, eval_group=eval_group, **params)


def sizes(fraction, y=Y, groups=GROUPS):
    ranker = Noted(**RANKER.get_params())
    fitted = QueryRanker(ranker, validation_fraction=fraction).fit(X, y, groups=groups)
    return fitted.estimator_.noted_


@OLD_NAMES
def test_a_share_of_the_queries_is_held_out_whole():
    assert sizes(0.25) == ([5] * 6, [[5] * 2])
    assert sizes(0.3) == ([5] * 6, [[5] * 2])  # 2.4 of 8
    assert sizes(0.01) == ([5] * 7, [[5]])  # at least one

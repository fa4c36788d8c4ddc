"""What coordinate ascent optimizes: any measure that an order of documents improves."""

import numpy as np
import pytest

from skfilterrank._lists.measure_names import parse_measure
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.metrics import (
    average_precision_score,
    forbidden_at_k,
    get_measure_names,
    search_length,
)
from skfilterrank.ranking import CoordinateAscentRanker

pytestmark = pytest.mark.slow


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


SAME_FOR_EVERY_ORDER = {"judged", "empty_list_rate", "false_reject_rate", "set_map"}

SAME_FOR_EVERY_ORDER |= {"num_q", "num_ret", "num_rel", "num_rel_ret"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "measure", sorted(set(get_measure_names()) - SAME_FOR_EVERY_ORDER - {"stat_ap", "gm_map"})
)
def test_any_measure_of_the_table(separable, measure):
    X, y, groups = separable
    y = np.maximum(y, 0) if measure == "ul_normalized" else y
    if measure in ("any_forbidden", "f", "forbidden", "precision", "recall", "success"):
        measure += "@2"
    X = X + np.random.default_rng(1).normal(size=X.shape)
    ranker = CoordinateAscentRanker(measure=measure, max_iter=2, n_candidates=4, random_state=0)
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


def test_the_name_gives_the_cut_off(separable):
    X, y, groups = separable
    named = CoordinateAscentRanker(measure="ap@2", random_state=0).fit(X, y, groups)
    assert named.best_score_ == pytest.approx(
        average_precision_score(y, named.predict(X), groups=groups, k=2)
    )


# --- invariances -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"measure": "ndgc"}, "not a measure"),
        (
            {"measure": "judged"},
            r"it is the same.*Those that can: .* ap, bpref",
        ),
        ({"measure": "stat_ap"}, r"needs a column.*Those that can: .* ap,"),
        ({"measure": "empty_list_rate"}, "Those that can"),
        ({"measure": "recall"}, r"without a cut-off.*'recall@10'"),
        ({"measure": "ap", "filter": True}, r"cannot optimize a thresh.*only gains and places"),
        ({"measure": "ap(normalize=k)"}, "normalize='k'"),
        ({"measure": "ul_normalized"}, "gains from 0 up"),
        ({"measure": "err(max_grade=1)"}, "max_grade"),
        ({"filter": "yes"}, "filter must be"),
        ({"init": "zero"}, "init must be one of 'least_squares', 'uniform'"),
        ({"n_restarts": -1}, "n_restarts must be a whole number from 0"),
        ({"max_iter": 1.5}, "max_iter must be a whole number"),
        ({"n_candidates": 1}, "n_candidates must be"),
        ({"init_alpha": -1.0}, "init_alpha must be a finite number from 0 up"),
        ({"penalty": "l2"}, "penalty must be a finite number from 0 up"),
        ({"tol": -1}, "tol must be a finite number from 0 up"),
        ({"tol": float("nan")}, "tol must be"),
        ({"verbose": -1}, "verbose must be"),
        ({"early_stopping_rounds": 0}, "early_stopping_rounds must be"),
        ({"early_stopping_rounds": 3}, "needs eval_set"),
        ({"gains": "exp3"}, "gains must be None"),
        ({"gains": {-1: -1, 1: 1}}, "no entry in gains"),
    ],
)
def test_parameters_out_of_range(separable, settings, message):
    X, y, groups = separable
    with pytest.raises(ValueError, match=message):
        CoordinateAscentRanker(**settings).fit(X, y, groups)

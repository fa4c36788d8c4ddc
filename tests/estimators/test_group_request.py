"""What scorers ask of scikit-learn's metadata routing."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneGroupOut, cross_validate

from skfilterrank.exceptions import InputError
from skfilterrank.metrics import make_ranking_scorer
from skfilterrank.ranking import QueryRanker

X = np.arange(16.0).reshape(8, 2) % 5
Y = np.array([0, 1, 1, 0, 1, 0, 0, 1])
QUERIES = np.repeat(["a", "b", "c", "d"], 2)
SEGMENTS = np.repeat([1, 2], 4)


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def scorer():
    return make_ranking_scorer("ap")


def asked(scorer):
    return dict(scorer.get_metadata_routing().score.requests)


def test_by_their_own_names_at_first(scorer):
    assert asked(scorer) == {"groups": True, "query_weight": True}


def test_a_name_stays_until_another_is_given(scorer, routing):
    assert scorer.set_score_request(groups="qid") is scorer
    assert asked(scorer) == {"groups": "qid", "query_weight": True}
    scorer.set_score_request(query_weight=False)
    assert asked(scorer) == {"groups": "qid", "query_weight": False}
    scorer.set_score_request(groups=None)
    assert asked(scorer) == {"groups": None, "query_weight": False}
    # Of another scorer nothing is changed.
    assert asked(make_ranking_scorer("ap")) == {"groups": True, "query_weight": True}


def test_a_request_that_is_no_name_changes_nothing(scorer, routing):
    with pytest.raises(ValueError, match="alias"):
        scorer.set_score_request(groups=3, query_weight="w")
    assert asked(scorer) == {"groups": True, "query_weight": True}


def test_without_routing_there_is_nothing_to_ask_for(scorer):
    with pytest.raises(InputError, match=r"switch it on by sklearn.set_config\(enable_metadata"):
        scorer.set_score_request(groups="qid")


def test_the_scorer_gets_the_queries_and_the_splitter_the_segments(scorer, routing):
    ranker = QueryRanker(Ridge()).set_fit_request(groups="qid").set_predict_request(groups="qid")
    found = cross_validate(
        ranker,
        X,
        Y,
        cv=LeaveOneGroupOut(),
        scoring=scorer.set_score_request(groups="qid"),
        params={"groups": SEGMENTS, "qid": QUERIES},
        return_estimator=True,
        error_score="raise",
    )
    for segment, model, value in zip((1, 2), found["estimator"], found["test_score"], strict=True):
        held_out = segment == SEGMENTS
        scores = model.predict(X[held_out])
        # Of two documents the relevant one is first or second: 1 or a half.
        pairs = zip(scores.reshape(2, 2), Y[held_out].reshape(2, 2))
        expected = [1.0 if pair[labels == 1] > pair[labels == 0] else 0.5 for pair, labels in pairs]
        assert value == pytest.approx(np.mean(expected))

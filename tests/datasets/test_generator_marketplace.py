"""The marketplace: its shape, what labels mean, and how easy spam is to tell."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from skfilterrank.datasets import make_marketplace


def test_each_session_has_distinct_items_and_all_labels_occur():
    log = make_marketplace(400, 10, random_state=0)
    assert len(log) == 4000
    assert (log.groupby("session").size() == 10).all()
    assert not log.duplicated(["session", "price"]).any()
    assert set(log["label"]) == {-1.0, 0.0, 1.0, 3.0}


def test_only_spam_is_reported_and_none_is_bought():
    log = make_marketplace(400, random_state=0)
    assert log.loc[log["label"] < 0, "spam"].all()
    assert not log.loc[log["label"] == 3, "spam"].any()
    # P(reported) of spam lies between 0.25 and 0.75.
    assert 0.25 < (log.loc[log["spam"], "label"] < 0).mean() < 0.75


def test_random_state_decides_all():
    first, second = (make_marketplace(50, random_state=1) for _ in range(2))
    assert first.equals(second)
    assert not first.equals(make_marketplace(50, random_state=2))


@pytest.mark.parametrize(
    ("signal", "least", "most"), [(0, 0.45, 0.55), (1, 0.7, 0.8), (3, 0.95, 1)]
)
def test_signal_says_how_easily_spam_is_told(signal, least, most):
    log = make_marketplace(500, spam_signal=signal, random_state=0)
    auc = roc_auc_score(log["spam"], 0.6 * log["flag"] + np.log(1 + 3 * log["reports"]) / 2)
    assert least < auc < most


def test_appeal_raises_the_relevance_features_of_spam_alone():
    plain, appealing = (make_marketplace(100, spam_appeal=x, random_state=0) for x in (0, 2.0))
    features = ["match", "quality"]
    raised = appealing[features] - plain[features]
    expected = 2 * np.sqrt(1.25) * plain["spam"].to_numpy(float)[:, None]
    np.testing.assert_allclose(raised, expected + np.zeros((1, 2)), atol=1e-12)
    same = plain.columns.drop(features)
    assert appealing[same].equals(plain[same])


def test_spam_share_is_that_of_the_catalog():
    log = make_marketplace(200, spam_share=0, random_state=0)
    assert not log["spam"].any()
    assert (log["label"] >= 0).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_items": 5000}, "n_items must be a whole number from 1 to 4000, got 5000"),
        ({"spam_share": 1.5}, "spam_share must be a finite number from 0 .* to 1, got 1.5"),
        ({"spam_signal": -1}, "spam_signal"),
        ({"spam_appeal": -1}, "spam_appeal"),
        ({"n_sessions": 0}, "n_sessions"),
    ],
)
def test_numbers_out_of_range_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        make_marketplace(**parameters)

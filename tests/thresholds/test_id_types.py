"""Integers as query ids, and the same integers as texts: nothing depends on it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import InputError
from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    RiskMonitor,
    TunedThreshold,
    risk_certificate,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning"),
]
RISKS = {"forbidden@3": 0.5}


@pytest.fixture(scope="module")
def data():
    """Labels, scores and queries 0 to 119, in mixed order; the text order is another."""
    _, y, groups, scores = make_rank_and_filter(120, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    return y[order], scores[order], groups[order]


def fitted(threshold, data, convert, **given):
    y, scores, groups = data
    return clone(threshold).fit(scores, y, groups=convert(groups), **given)


def facts(threshold):
    """The numbers that were found, and the figures of the certificate."""
    names = ("threshold_", "level_", "held_out_", "best_score_")
    found = {name: getattr(threshold, name, None) for name in names}
    if hasattr(threshold, "certificate_"):
        found["certificate"] = threshold.certificate_.to_frame().to_dict()
    return repr(found)


@pytest.mark.parametrize(
    "threshold",
    [
        CertifiedThreshold(RISKS, confidence_level=0.5),
        TunedThreshold("ndcg_f@3", max_shown=2),
        ExpectedThreshold("ndcg_f@3"),
    ],
)
def test_thresholds(data, threshold):
    by_int = fitted(threshold, data, np.asarray)
    by_text = fitted(threshold, data, lambda ids: ids.astype(str))
    padded = fitted(threshold, data, lambda ids: np.char.zfill(ids.astype(str), 3))
    assert facts(by_text) == facts(padded) == facts(by_int)


def test_queries_that_a_certificate_learns_from(data):
    y, scores, groups = data
    threshold = CertifiedThreshold(RISKS)
    given = {"clusters": None, "query_weight": None}
    learned = [
        threshold._read_judged(scores, y, groups.astype(kind), **given).by_content()
        for kind in (int, str)
    ]
    by_int, by_text = (groups[judged.split()[0]] for judged in learned)
    np.testing.assert_array_equal(by_text, by_int)


def test_clusters(data):
    threshold = TunedThreshold("ndcg_f@3", max_shown=2)
    by_int = fitted(threshold, data, np.asarray, clusters=data[2] // 3)
    by_text = fitted(threshold, data, np.asarray, clusters=(data[2] // 3).astype(str))
    assert facts(by_text) == facts(by_int)


def test_weights_by_id(data):
    weights = np.random.default_rng(1).random(120)
    threshold = TunedThreshold("ndcg_f@3")
    by_int = fitted(threshold, data, np.asarray, query_weight=dict(enumerate(weights)))
    of_texts = {str(each): weight for each, weight in enumerate(weights)}
    by_text = fitted(threshold, data, lambda ids: ids.astype(str), query_weight=of_texts)
    assert facts(by_text) == facts(by_int)
    by_row = fitted(threshold, data, lambda ids: ids.astype(str), query_weight=weights[data[2]])
    assert facts(by_row) == facts(by_int)


@pytest.mark.filterwarnings("ignore:.*are unjudged", "ignore:.* left out of")
def test_documents_to_judge_have_the_ids_that_were_given(data):
    y, scores, groups = data
    y = np.where(np.arange(len(y)) % 7 == 0, np.nan, y)
    threshold = CertifiedThreshold({"any_forbidden@3": 0.7}, confidence_level=0.5)
    given = {"risks": {"any_forbidden@3": 0.7}}
    for make in (
        lambda ids: clone(threshold).fit(scores, y, groups=ids).certificate_,
        lambda ids: risk_certificate(y, scores, 0.3, groups=ids, **given),
    ):
        by_int, by_text = make(groups).to_judge, make(groups.astype(str)).to_judge
        assert by_text["query"].tolist() == by_int["query"].astype(str).tolist()
        assert by_text["query"].tolist() == groups[by_text["row"]].astype(str).tolist()
        assert by_text["row"].tolist() == by_int["row"].tolist()


@pytest.mark.parametrize("clusters", [None, 3])
def test_certificates_of_given_thresholds(data, clusters):
    y, scores, groups = data
    if clusters is not None:
        clusters = pd.Series((groups // clusters).astype(str), name="user")
    given = {"risks": {"forbidden@3": 0.2}, "clusters": clusters}
    by_int = risk_certificate(y, scores, 0.3, groups=groups, **given)
    by_text = risk_certificate(y, scores, 0.3, groups=groups.astype(str), **given)
    assert repr(by_text.to_frame().to_dict()) == repr(by_int.to_frame().to_dict())


@pytest.mark.filterwarnings("ignore:.* left out of")
@pytest.mark.parametrize("clusters", [["1", "2", "10"], ["01", "2", "010"], [1, 2, 10]])
def test_a_monitor_remembers_the_clusters_that_it_counted(clusters):
    """A cluster without a judged document was not counted, and may come again."""
    first, second, third = clusters
    monitor = RiskMonitor({"any_forbidden": 0.5})
    monitor.update([1, np.nan, 1], [0.9] * 3, groups=[1, 2, 3], clusters=clusters)
    monitor.update([1], [0.9], groups=[4], clusters=[second])
    for number, counted in ((5, first), (6, third)):
        with pytest.raises(InputError, match=f"counted already: '{counted}'"):
            monitor.update([1], [0.9], groups=[number], clusters=[counted])
    assert monitor.status.rates["n_queries"].tolist() == [3]

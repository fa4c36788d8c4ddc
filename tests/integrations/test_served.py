"""The list of a query behind a threshold, whichever framework asks for it."""

import logging
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from served_passages import PASSAGES, QUERIES, TfidfScorer, expected, fit
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.integrations import FilteredCrossEncoder
from skfilterrank.integrations._served import check_threshold, serve
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    FixedThreshold,
    PerQueryThreshold,
    SegmentedThreshold,
    TunedThreshold,
)


@pytest.fixture(scope="module")
def model():
    return TfidfScorer()


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("kind", [TunedThreshold, PerQueryThreshold])
def test_cross_encoder_shows_what_the_threshold_shows(model, kind, query):
    cut, kept = fit(kind(), model), {}
    ranker = FilteredCrossEncoder(model, cut, on_hidden=kept.__setitem__)
    rows, scores = expected(model, cut, query)
    assert 0 < len(rows) < len(PASSAGES)
    found = ranker.rank(query, PASSAGES)
    assert [each["corpus_id"] for each in found] == rows
    assert [each["score"] for each in found] == scores[rows].tolist()
    assert ranker.rank(query, PASSAGES, top_k=1) == found[:1]
    assert ranker.rank(query, []) == []
    hidden = kept[query]
    assert sorted([each["row"] for each in hidden] + rows) == list(range(len(PASSAGES)))
    assert [each["score"] for each in hidden] == scores[[each["row"] for each in hidden]].tolist()
    assert all(each["margin"] < 0 and each["reason"] for each in hidden)


def test_what_is_hidden_is_counted_in_the_log(model, caplog):
    nothing = FilteredCrossEncoder(model, FixedThreshold(2.0).fit())
    with caplog.at_level(logging.INFO, logger="skfilterrank.integrations"):
        assert nothing.rank("grey clouds", PASSAGES) == []
    assert caplog.messages == ["5 of 5 documents are hidden"]


def test_a_certificate_of_the_top_shows_no_more():
    _, labels, queries, scores = make_rank_and_filter(n_queries=300, random_state=0)
    cut = CertifiedThreshold({"any_forbidden@3": 0.2}, measure="ndcg_f@3")
    cut.fit(scores, labels, groups=queries)
    many = cut.threshold_ + np.arange(1.0, 9.0)
    shown, served, hidden = serve(cut, many, query="q", ids=list("abcdefgh"), on_hidden=None)
    assert shown == [7, 6, 5]
    assert served.tolist() == many.tolist()
    assert [each["id"] for each in hidden] == list("abcde")
    assert {each["reason"] for each in hidden} == {
        "not among the documents that CertifiedThreshold shows"
    }
    (below,) = serve(cut, many[:1] - 9, query="q", ids=["a"], on_hidden=None)[2]
    assert below["reason"] == f"score below the threshold {cut.threshold_:.6g}"


def test_threads_share_an_object(model):
    kept = {}
    cut = fit(PerQueryThreshold(max_shown=2), model)
    ranker = FilteredCrossEncoder(model, cut, on_hidden=kept.__setitem__)
    queries = [f"{word} {i}" for i in range(50) for word in ("apples", "oil", "clouds")]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: ranker.rank(query, PASSAGES), queries))
    assert found == [ranker.rank(query, PASSAGES) for query in queries]
    assert {len(each) for each in found} == {2}
    for query, shown in zip(queries, found):
        rows = [each["corpus_id"] for each in shown] + [each["row"] for each in kept[query]]
        assert sorted(rows) == list(range(len(PASSAGES)))


def test_a_threshold_from_its_file(tmp_path, model):
    path = tmp_path / "cut.json"
    fit(TunedThreshold(), model).save(path)
    for given in (path, str(path)):
        ranker = FilteredCrossEncoder(model, given)
        assert ranker.rank("price of oil", PASSAGES) == FilteredCrossEncoder(
            model, fit(TunedThreshold(), model)
        ).rank("price of oil", PASSAGES)


def test_features_of_a_ranker():
    X, y, groups, _ = make_rank_and_filter(n_queries=60, random_state=0)
    ranker = RankAndFilter(LinearRegression(), measure="ndcg_f@3", cv=3).fit(X, y, groups=groups)
    rows = X[groups == 3]
    shown, served, hidden = serve(
        ranker, rows, query="q", ids=range(len(rows)), on_hidden=lambda *_: None
    )
    places = ranker.rank(rows, groups=np.zeros(len(rows)))
    assert shown == np.argsort(places, kind="stable")[(places == 0).sum() :].tolist() != []
    assert served[shown].tolist() == ranker.predict(rows, groups=[0] * len(rows))[shown].tolist()
    assert [each["row"] for each in hidden] == np.flatnonzero(places == 0).tolist()
    assert all(each["score"] is None and each["margin"] < 0 for each in hidden)


def test_a_table_with_the_segment_of_each_row():
    table = pd.DataFrame({"score": [0.5, 0.8, 0.6], "language": ["fr"] * 3})
    labels, groups = [1, -1, 1, -1], [0, 0, 1, 1]
    model = SegmentedThreshold(TunedThreshold(), segment="language", min_queries=1).fit(
        pd.DataFrame({"score": [0.6, 0.4, 0.8, 0.6], "language": ["en", "en", "fr", "fr"]}),
        labels,
        groups=groups,
    )
    shown, _, hidden = serve(model, table, query="q", ids=list("abc"), on_hidden=None)
    assert shown == [1]
    assert [each["score"] for each in hidden] == [0.5, 0.6]
    table["language"] = "en"
    assert serve(model, table, query="q", ids=list("abc"), on_hidden=None)[0] == [1, 2, 0]


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        (0.5, "threshold must be a fitted threshold of skfilterrank.thresholds, the path"),
        (TunedThreshold, "threshold must be a fitted threshold"),
        (TunedThreshold(), "not fitted"),
    ],
)
def test_what_is_no_fitted_threshold(threshold, message):
    with pytest.raises(ValueError, match=message):
        check_threshold(threshold)


def test_bad_scorers(model):
    cut = FixedThreshold(0.5).fit()
    with pytest.raises(ValueError, match="scorer gave 2 scores for 3 documents"):
        serve(cut, [1, 2], query="q", ids="abc", on_hidden=None)
    with pytest.raises(ValueError, match="model must be a CrossEncoder, its name, or have predict"):
        FilteredCrossEncoder(object(), cut)
    with pytest.raises(ValueError, match="on_hidden must be a function or None, got 3"):
        FilteredCrossEncoder(model, cut, on_hidden=3)

"""The list of a query behind a threshold, whichever framework asks for it."""

import logging

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from skfilterrank import integrations
from skfilterrank.datasets import make_rank_and_filter
from skfilterrank.exceptions import MissingPackageError
from skfilterrank.integrations._served import check_threshold, serve
from skfilterrank.ranking import RankAndFilter
from skfilterrank.thresholds import (
    CertifiedThreshold,
    ExpectedThreshold,
    FirstK,
    FixedThreshold,
    TunedThreshold,
)


def test_a_certificate_of_the_top_shows_no_more():
    _, labels, queries, scores = make_rank_and_filter(n_queries=300, random_state=0)
    cut = CertifiedThreshold({"any_forbidden@3": 0.2}, measure="ndcg_f@3")
    cut.fit(scores, labels, groups=queries)
    many = cut.threshold_ + np.arange(1.0, 9.0)
    shown, served, hidden = serve(cut, many, query="q", ids=list("abcdefgh"), on_hidden=None)
    assert shown == [7, 6, 5]
    assert served[shown].tolist() == many[shown].tolist()
    assert [each["score"] for each in hidden] == many[:5].tolist()
    assert [each["id"] for each in hidden] == list("abcde")
    assert {each["reason"] for each in hidden} == {"beyond the first 3"}
    (below,) = serve(cut, many[:1] - 9, query="q", ids=["a"], on_hidden=None)[2]
    assert below["reason"] == f"score below the threshold {cut.threshold_:.6g}"


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
    assert all(each["score"] < 0 for each in hidden)


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


def test_what_is_hidden_is_counted_in_the_log(caplog):
    cut = FixedThreshold(2.0).fit()
    with caplog.at_level(logging.INFO, logger="skfilterrank.integrations"):
        assert serve(cut, [0.2, 0.9], query="q", ids="ab", on_hidden=None)[0] == []
    assert caplog.messages == ["2 of 2 documents are hidden"]


def test_as_many_scores_as_documents():
    with pytest.raises(ValueError, match="one score per document, got 2 scores for 3 documents"):
        serve(FixedThreshold(0.5).fit(), [1, 2], query="q", ids="abc", on_hidden=None)
    with pytest.raises(ValueError, match=r"one score per document, got 0\.2 for 3 documents"):
        serve(FixedThreshold(0.5).fit(), 0.2, query="q", ids="abc", on_hidden=None)


def test_scores_in_one_column_are_those_of_the_documents():
    cut = FixedThreshold(0.5).fit()
    flat = serve(cut, [0.2, 0.9, 0.6], query="q", ids="abc", on_hidden=None)
    column = serve(cut, np.array([[0.2], [0.9], [0.6]]), query="q", ids="abc", on_hidden=None)
    assert flat[0] == column[0] == [1, 2]
    assert flat[2] == column[2] != []


def _lists(n_queries=400):
    """Labels, scores and queries; in some all documents are bad, and scores hardly differ."""
    rng = np.random.default_rng(0)
    scores = np.array([1.0, 0.5, 0.2, 0.1]) + rng.uniform(0, 0.09, (n_queries, 4))
    y = np.where(scores < 0.15, -1, 1)
    unsure = np.arange(n_queries) % 17 == 0
    scores[unsure], y[unsure] = 0.3 + 0.01 * rng.random((unsure.sum(), 4)), -1
    return y.ravel(), scores.ravel(), np.repeat(np.arange(n_queries), 4)


@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
@pytest.mark.parametrize(
    ("threshold", "scores", "reasons"),
    [
        (FixedThreshold(0.5, max_shown=1), [0.9, 0.8, 0.1, -np.inf],
         ["beyond the first 1", "score below the threshold 0.5", "score of -inf"]),
        (FirstK(max_shown=3), [0.9, 0.8, 0.7, 0.6], ["beyond the first 3"]),
        (ExpectedThreshold(), [0.9, 0.8, 0.1], ["hidden by ExpectedThreshold"]),
    ],
)  # fmt: skip
def test_reasons(threshold, scores, reasons):
    y, fitted_on, groups = _lists()
    threshold.fit(fitted_on, y, groups=groups)
    hidden = serve(threshold, scores, query="q", ids=range(len(scores)), on_hidden=None)[2]
    assert len(hidden) == len(reasons)
    for each, reason in zip(hidden, reasons):
        assert each["reason"].startswith(reason), each


@pytest.mark.filterwarnings("ignore::skfilterrank.exceptions.FitWarning")
@pytest.mark.parametrize("rule", ["ratio", "harm"])
def test_reasons_of_two_scores(rule):
    y, scores, groups = _lists()
    second = np.random.default_rng(1).normal(-2.0 * y)
    cut = TunedThreshold("ndcg_f@2", rule=rule, max_shown=2)
    cut.fit(np.column_stack([scores, second]), y, groups=groups)
    table = pd.DataFrame({"score": [1.0, 0.9, 0.8, 0.7], "filter_score": [-4.0, -4.0, -4.0, 6.0]})
    hidden = serve(cut, table, query="q", ids=list("abcd"), on_hidden=None)[2]
    found = {each["id"]: each["reason"] for each in hidden}
    assert found == {"c": "beyond the first 2", "d": f"hidden by the rule {rule!r}"}
    assert [each["score"] for each in hidden] == [0.8, 0.7]
    renamed = table.rename(columns={"score": "Score"})
    for scores in (table.to_numpy(), table.to_numpy().tolist(), renamed[["filter_score", "Score"]]):
        assert serve(cut, scores, query="q", ids=list("abcd"), on_hidden=None)[2] == hidden


def test_reasons_of_models():
    X, y, groups, _ = make_rank_and_filter(n_queries=200, bayes=False, random_state=0)
    cut = CertifiedThreshold({"any_forbidden@2": 0.2}, measure="ndcg_f@2")
    ranker = RankAndFilter(LinearRegression(), cut, cv=0.5).fit(X, y, groups=groups)
    rows = X[np.argsort(-ranker.estimator_.predict(X))[[0, 1, 2, -1]]]
    hidden = serve(ranker, rows, query="q", ids=range(4), on_hidden=None)[2]
    assert [each["reason"] for each in hidden] == [
        "beyond the first 2", f"score below the threshold {ranker.threshold_:.6g}"
    ]  # fmt: skip


@pytest.mark.nightly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("package", "name", "project"),
    [
        ("haystack", "HaystackRanker", "haystack-ai"),
        ("langchain_core", "LangChainCompressor", "langchain-core"),
        ("llama_index", "LlamaIndexPostprocessor", "llama-index-core"),
    ],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    without, package, name, project
):
    text = rf"{name} needs [\w.]+, which is not installed: pip install {project}"
    with without(package, name), pytest.raises(MissingPackageError, match=text):
        getattr(integrations, name)

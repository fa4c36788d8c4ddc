"""Arguments and methods that people guess are answered with the name of the right one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skfilterrank.comparison import compare_systems
from skfilterrank.exceptions import InputError
from skfilterrank.io import Rows
from skfilterrank.judgments import (
    LabelPredictor,
    MaxRepSelector,
    PoolingSelector,
    draw_sample,
    estimate,
)
from skfilterrank.metrics import evaluate, ndcg_score, register_measure
from skfilterrank.ranking import make_ranker
from skfilterrank.thresholds import CertifiedThreshold, FirstK, TunedThreshold

TEXTS = ["wing flutter", "flutter of a wing", "cold soup", "hot soup recipe"]
QRELS = {"1": {"a": 1, "b": 0}}
RUNS = {"x": {"1": {"a": 0.9}}, "y": {"1": {"b": 0.9}}}


def selector():
    return MaxRepSelector(threshold=0.2).fit(TEXTS, groups=["1"] * 4)


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        (lambda: selector().select(n=2), r"no parameter n\. Pass n_total="),
        (lambda: selector().select(budget=2), r"no parameter budget\. Pass n_total="),
        (lambda: selector().select(2), "Name the budget: n_total="),
        (lambda: PoolingSelector().fit(RUNS).select(n=2), r"no parameter n\. Pass n_total="),
        (lambda: LabelPredictor().select(TEXTS, n=2), "Pass n_total="),
        (lambda: draw_sample(QRELS, RUNS, "ap", n=2), r"Pass n_total=\."),
        (lambda: draw_sample(QRELS, RUNS, "ap", 2), "and the rest by name"),
        (lambda: draw_sample(runs=RUNS, machine=QRELS), "Pass machine_qrels="),
        (lambda: estimate(QRELS, RUNS, "ap", machine=QRELS), "Pass machine_qrels="),
        (
            lambda: compare_systems(QRELS, RUNS),
            r"positional arguments\. Pass values .*evaluate_runs\(qrels",
        ),
        (
            lambda: compare_systems(qrels=QRELS, runs=RUNS),
            r"Pass values .*evaluate_runs\(qrels",
        ),
        (lambda: compare_systems([[1, 2]], metric="ap"), "no parameter metric. Pass measure="),
        (lambda: register_measure("mine", np.mean), r"is a function \(y_true, y_score, k\) of one"),
        (lambda: make_ranker("ordinal", LogisticRegression()), r"OrdinalRanker\(estimator\)"),
        (lambda: make_ranker("bce", estimator=LogisticRegression()), r"QueryRanker\(estimator\)"),
        (lambda: make_ranker(loss="ordinal"), r"make_ranker\('ordinal'\)"),
        (
            lambda: CertifiedThreshold({}, confidence=0.9),
            r"parameter confidence\. Pass confidence_l",
        ),
        (lambda: evaluate("rows.parquet", ["ap"]), r"the path 'rows.parquet'\. Write evaluate\(R"),
        (lambda: CertifiedThreshold({}, alpha=0.1), "Pass confidence_level=, which is 1 - alpha"),
        (lambda: FirstK(k=3), r"Pass the cut-off in measure=, .* or max_shown="),
        (lambda: Rows({"q": ["1"]}, qid="q"), "Rows has no parameter qid. Pass query="),
    ],
)
def test_arguments_that_are_called_something_else(call, instead):
    with pytest.raises(TypeError, match=instead):
        call()


def test_a_threshold_is_loaded_by_a_function():
    assert not hasattr(CertifiedThreshold, "load")
    with pytest.raises(AttributeError, match=r"Use skfilterrank.thresholds.load_threshold\(path"):
        CertifiedThreshold.load("cut.json")


def test_an_index_of_another_name():
    y = pd.Series([1, 0], index=pd.Index(["1", "1"], name="query"))
    with pytest.raises(InputError, match=r"If its index 'query' holds them, rename it"):
        ndcg_score(y, [2, 1])


@pytest.mark.parametrize("cut", [TunedThreshold(), CertifiedThreshold({"empty": 0.5}), FirstK()])
def test_thresholds_are_no_transformers(cut):
    assert not hasattr(cut, "transform")
    with pytest.raises(AttributeError, match=r"has no transform\. Use predict\(scores"):
        cut.transform([1.0])
    with pytest.raises(AttributeError, match=rf"^{type(cut).__name__} has no fit_transform"):
        cut.fit_transform([1.0])


@pytest.mark.parametrize("wrong", ["svm", LogisticRegression, 3, TfidfVectorizer()])
def test_label_predictor_wants_a_classifier(wrong):
    with pytest.raises(InputError, match="estimator must be a classifier, not fitted, such as"):
        LabelPredictor(wrong).fit(TEXTS, [1, 0, np.nan, 1], groups=["1"] * 4)


def test_label_predictor_makes_vectors_of_texts_itself():
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    with pytest.raises(InputError, match="pass its first step as vectorizer=, and its last one"):
        LabelPredictor(pipeline).fit(TEXTS, [1, 0, np.nan, 1], groups=["1"] * 4)
    as_said = LabelPredictor(LogisticRegression(), vectorizer=TfidfVectorizer())
    assert np.isfinite(as_said.fit_transform(TEXTS, [1, 0, np.nan, 1], groups=["1"] * 4)).all()

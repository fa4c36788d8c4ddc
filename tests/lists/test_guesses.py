"""Arguments and methods that people guess are answered with the name of the right one."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from skfilterrank.exceptions import InputError
from skfilterrank.judgments import LabelPredictor
from skfilterrank.metrics import evaluate, ndcg_score, register_measure

TEXTS = ["wing flutter", "flutter of a wing", "cold soup", "hot soup recipe"]


def test_what_a_measure_is_made_of_and_measured_on():
    with pytest.raises(TypeError, match=r"is a function \(y_true, y_score, k\) of one"):
        register_measure("mine", np.mean)
    with pytest.raises(TypeError, match=r"path 'rows.parquet'\..* write evaluate\(Rows"):
        evaluate("rows.parquet", ["ap"])


def test_an_index_of_another_name():
    y = pd.Series([1, 0], index=pd.Index(["1", "1"], name="query"))
    with pytest.raises(InputError, match=r"If its index 'query' holds them, rename it"):
        ndcg_score(y, [2, 1])


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

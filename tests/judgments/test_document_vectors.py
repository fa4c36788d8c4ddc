"""Vectors of documents: terms, scales, and texts without any."""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from selections import mask
from skfilterrank.judgments import (
    LabelPredictor,
)


def test_a_document_counts_once_however_many_topics_it_is_in(T):
    again = pd.concat([T, T.assign(qid=T["qid"] + "2"), T.assign(qid=T["qid"] + "3")])
    first, second = LabelPredictor().fit(T), LabelPredictor().fit(again)
    np.testing.assert_array_equal(first.vectorizer_.idf_, second.vectorizer_.idf_)


def test_empty_texts(T):
    T = T.copy()
    unjudged = T.index[T["label"].isna() & (T["qid"] == "heat")]
    T["text"] = T["text"].astype(object)
    T.loc[unjudged[:3], "text"] = ["", None, "a ."]
    judged = T.index[T["label"].notna() & (T["qid"] == "wings")][0]
    T.loc[judged, "text"] = " "
    predictor = LabelPredictor()
    empty = sorted([*unjudged[:3], judged])
    rows = ", ".join(map(str, empty))
    message = rf"no known term in 4 of 48 rows \(1 of them judged\), such as {rows} "
    with pytest.warns(UserWarning, match=message) as caught:
        found = predictor.fit_transform(T)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert predictor.empty_texts_.tolist() == empty
    assert predictor.n_empty_texts_ == 4
    intercept = predictor.models_["heat"].classifiers[0].intercept_[0]
    assert (found["label"][unjudged[:3]] == (intercept > 0)).all()
    with pytest.raises(ValueError, match=r"give no terms to learn from.*all empty or stop words"):
        LabelPredictor(vectorizer=TfidfVectorizer(stop_words=["the"])).fit(T.assign(text="the"))


def test_features_are_selected_by_in_any_unit(T):
    rng = np.random.RandomState(0)
    T = T.assign(f0=rng.rand(len(T)), f1=rng.rand(len(T)))
    predictor = LabelPredictor(text=None, features=["f0", "f1"])
    expected = mask(predictor, T, 5)
    np.testing.assert_array_equal(mask(predictor, T.assign(f0=1 + 1000 * T["f0"]), 5), expected)

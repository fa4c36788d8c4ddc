"""Weights of terms by hand, as gains of MAXREP show them."""

import numpy as np
import pandas as pd

from skfilterrank.judgments import MaxRepSelector


def test_frequencies_are_of_all_topics():
    # "rain" is in every document of topic 1, but not in all documents.
    texts = ["rain bread", "rain wine", "cheese wine", "cheese bread"]
    selector = MaxRepSelector(0.3).fit(texts, groups=[1, 1, 2, 2])
    # All four terms are in half of the documents: each pair shares one of two equal weights.
    np.testing.assert_allclose(selector.gains_, [1.5, 0.5, 1.5, 0.5])


def test_terms_of_all_documents_do_not_count():
    texts = ["rain bread", "rain wine", "rain cheese"]
    selector = MaxRepSelector(0.01).fit(texts, groups=[1, 1, 1])
    assert selector.gains_.tolist() == [1, 1, 1]
    # One document alone: log(1 / 1) = 0.
    selector.fit(["rain bread"], groups=[1], prior=[0.4])
    assert selector.ranking_.tolist() == [1]
    assert selector.gains_.tolist() == [0.4]


def test_a_document_of_several_topics_is_counted_once():
    texts = ["rain bread", "wine rain", "cheese wine"]
    once = MaxRepSelector(0.1).fit(texts, groups=[1, 1, 1])
    twice = MaxRepSelector(0.1).fit([*texts, texts[0], texts[0]], groups=[1, 1, 1, 2, 3])
    np.testing.assert_array_equal(twice.gains_[:3], once.gains_)
    # With ids, two documents of one text are two: four in all, of which three have rain.
    index = pd.MultiIndex.from_arrays(
        [[1, 1, 1, 2, 3], ["a", "b", "c", "d", "a"]], names=["qid", "docno"]
    )
    by_id = MaxRepSelector(0.1).fit(pd.Series([*texts, texts[0], texts[0]], index=index))
    n = 4
    rain, wine, bread, cheese = (np.log(n / df) for df in (3, 2, 2, 1))
    first = rain * rain / np.hypot(rain, bread) / np.hypot(rain, wine)
    second = wine * wine / np.hypot(rain, wine) / np.hypot(cheese, wine)
    expected = 1 + (first if first >= 0.1 else 0) + (second if second >= 0.1 else 0)
    np.testing.assert_allclose(by_id.gains_[1], expected)

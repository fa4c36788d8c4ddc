"""Passages, judged queries and a scorer without a model, for components that serve."""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

PASSAGES = [
    "red apples grow on trees",
    "a tree of green apples",
    "the price of oil rose",
    "apples and oil for salads",
    "grey clouds",
]
QUERIES = {"apples on trees": [2, 2, -1, 0, -1], "price of oil": [-1, -1, 2, 1, -1]}


class TfidfScorer:
    """A scorer (query, texts), and what a CrossEncoder has: the cosine of tf-idf vectors."""

    def __init__(self):
        self.vectors = TfidfVectorizer().fit(PASSAGES)

    def predict(self, sentences):
        queries, texts = zip(*sentences)
        left, right = map(self.vectors.transform, (queries, texts))
        return np.asarray(left.multiply(right).sum(axis=1), dtype=np.float32).ravel()

    def __call__(self, query, texts):
        return self.predict([(query, text) for text in texts])


def tfidf(query, texts):
    """A scorer that a saved pipeline finds by its name."""
    return TfidfScorer()(query, texts)


def fit(threshold, scorer):
    """Fit a threshold on the judged queries."""
    scores = np.concatenate([scorer(query, PASSAGES) for query in QUERIES])
    groups = np.repeat(list(QUERIES), len(PASSAGES))
    return threshold.fit(scores, np.concatenate(list(QUERIES.values())), groups=groups)


def expected(scorer, cut, query):
    """Rows that are shown, the best first, and all scores."""
    scores = scorer(query, PASSAGES)
    shown = cut.predict(scores, groups=[query] * len(PASSAGES))
    order = np.argsort(-shown, kind="stable")
    return order[shown[order] > -np.inf].tolist(), scores

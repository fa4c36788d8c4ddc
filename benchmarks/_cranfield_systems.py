"""Retrieval systems over Cranfield 1400: seven families, with variants and damaged copies."""

import re
from pathlib import Path

import bm25s
import numpy as np
import pandas as pd
import Stemmer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer
from sklearn.preprocessing import normalize

from skfilterrank.io import read_qrels

DEPTH = 20
_TOKEN = re.compile(r"[a-z0-9]+")
_STEMMER = Stemmer.Stemmer("english")


def read_collection(folder: Path):
    """Documents (docno, title, text), queries (qid, text), and the relevant pairs."""
    documents, queries = (
        pd.read_json(folder / name, lines=True, dtype=str).fillna("")
        for name in ("docs.jsonl.gz", "queries.jsonl")
    )
    documents = documents.rename(columns={"docid": "docno"})[["docno", "title", "text"]]
    qrels = read_qrels(folder / "qrels.txt", unjudged_label=None)
    relevant = qrels[qrels["label"] > 0]
    return documents, queries[["qid", "text"]], set(zip(relevant["qid"], relevant["docno"]))


def add_near_duplicates(documents, relevant, *, share, n_copies, random_state):
    """Copies of a share of the documents, in each 5 to 10 % of the tokens replaced.

    A token is replaced by one drawn from all tokens of the collection. A copy is relevant where its
    original is. Returns documents, relevant pairs, and the original of each copy.
    """
    rng = np.random.default_rng(random_state)
    tokens = [text.split() for text in documents["text"]]
    every = np.concatenate([np.array(own, dtype=object) for own in tokens if own])
    long_enough = np.flatnonzero([len(own) >= 20 for own in tokens])
    chosen = rng.choice(long_enough, size=round(share * len(documents)), replace=False)
    rows, original = [], {}
    for place in np.sort(chosen).tolist():
        for copy in range(n_copies):
            edited = np.array(tokens[place], dtype=object)
            n_edits = max(1, round(rng.uniform(0.05, 0.10) * len(edited)))
            places = rng.choice(len(edited), size=n_edits, replace=False)
            edited[places] = rng.choice(every, size=n_edits)
            title_length = len(documents["title"].iloc[place].split())
            source = documents["docno"].iloc[place]
            name = f"{source}-{copy + 1}"
            rows.append((name, " ".join(edited[:title_length]), " ".join(edited)))
            original[name] = source
    copies = pd.DataFrame(rows, columns=["docno", "title", "text"])
    of_source = copies["docno"].groupby(copies["docno"].map(original)).agg(list)
    also = {(qid, name) for qid, docno in relevant for name in of_source.get(docno, ())}
    return pd.concat([documents, copies], ignore_index=True), relevant | also, original


class Field:
    """Tokens and counts of one field of documents and queries, in one way to make tokens."""

    def __init__(self, texts, queries, *, stem, stop=True, n_frequent=None, n_query_terms=None):
        self.documents = [_tokens(text, stem, stop) for text in texts]
        self.queries = [_tokens(text, stem, stop)[:n_query_terms] for text in queries]
        counter = CountVectorizer(analyzer=lambda own: own, max_features=n_frequent)
        self.counts = counter.fit_transform(self.documents).astype(np.float64).tocsr()
        self.query_counts = counter.transform(self.queries).astype(np.float64).tocsr()
        self.lengths = np.asarray(self.counts.sum(axis=1)).ravel()
        self.df = np.asarray((self.counts > 0).sum(axis=0)).ravel()
        self.n = self.counts.shape[0]

    def idf(self):
        """log(n / df)."""
        return np.log(self.n / self.df)

    def tf_idf(self, *, log_tf=True, idf=True, norm="l2", counts=None):
        """Weights of documents (or other counts)."""
        weights = (self.counts if counts is None else counts).copy()
        if log_tf:
            weights.data = 1 + np.log(weights.data)
        if idf:
            weights = weights.multiply(self.idf()).tocsr()
        return normalize(weights, norm=norm) if norm else weights


def _tokens(text, stem, stop):
    tokens = _TOKEN.findall(text.lower())
    if stop:
        tokens = [token for token in tokens if token not in ENGLISH_STOP_WORDS]
    return _STEMMER.stemWords(tokens) if stem else tokens


def bm25(field, method="lucene", k1=1.5, b=0.75):
    """BM25 by bm25s."""
    model = bm25s.BM25(method=method, k1=k1, b=b)
    model.index(field.documents, show_progress=False)
    known = model.vocab_dict
    return np.array(
        [
            model.get_scores([token for token in query if token in known])
            if any(token in known for token in query)
            else np.zeros(field.n)
            for query in field.queries
        ]
    )


def cosine(field, **weights):
    """Inner product of weighted queries and documents."""
    query = field.tf_idf(counts=field.query_counts, log_tf=weights.get("log_tf", True))
    return (query @ field.tf_idf(**weights).T).toarray()


def pivoted(field, slope=0.2):
    """Pivoted length normalisation."""
    pivot = 1 - slope + slope * field.lengths / field.lengths.mean()
    weights = field.tf_idf(norm=None)
    return (field.query_counts @ weights.T).toarray() / np.maximum(pivot, 1e-9)


def language_model(field, *, mu=None, jm=None):
    """Query likelihood relative to the empty document, by Dirichlet or Jelinek-Mercer smoothing."""
    collection = np.asarray(field.counts.sum(axis=0)).ravel() / field.counts.sum()
    weights = field.counts.tocoo(copy=True)
    if mu is not None:
        weights.data = np.log1p(weights.data / (mu * collection[weights.col]))
        scores = (field.query_counts @ weights.tocsr().T).toarray()
        query_lengths = np.asarray(field.query_counts.sum(axis=1)).ravel()
        scores = scores + query_lengths[:, None] * np.log(mu / (field.lengths + mu))
        return scores - scores.min(axis=1, keepdims=True)
    share = weights.data / field.lengths[weights.row]
    weights.data = np.log1p((1 - jm) / jm * share / collection[weights.col])
    return (field.query_counts @ weights.tocsr().T).toarray()


def lsi(field, rank):
    """Cosine in the space of the first singular vectors."""
    weights = field.tf_idf()
    svd = TruncatedSVD(rank, random_state=0).fit(weights)
    documents = normalize(svd.transform(weights))
    queries = normalize(svd.transform(field.tf_idf(counts=field.query_counts)))
    return queries @ documents.T


def rocchio(field, scores, *, n_documents, n_terms, beta=0.75):
    """A second search with the terms of the first documents added to the query."""
    weights = field.tf_idf()
    first = np.argsort(-scores, axis=1, kind="stable")[:, :n_documents]
    queries = field.tf_idf(counts=field.query_counts).toarray()
    expanded = np.array([np.asarray(weights[rows].mean(axis=0)).ravel() for rows in first])
    cut = -np.sort(-expanded, axis=1)[:, [n_terms - 1]]
    expanded = np.where(expanded >= cut, expanded, 0.0)
    return (weights @ (queries + beta * normalize(expanded)).T).T


def fused(*scores):
    """Reciprocal rank fusion."""
    return sum(1 / (60 + _ranks(own)) for own in scores)


def _ranks(scores):
    return np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) + 1


def noisy(scores, scale, rng):
    """Normal noise, in units of each query's standard deviation."""
    return scores + scale * scores.std(axis=1, keepdims=True) * rng.normal(size=scores.shape)


def shuffled(scores, after, rng):
    """The first documents stay; from there to the pool's depth the order is random."""
    ranks = _ranks(scores)
    random = rng.uniform(size=scores.shape)
    # Values above 1 for the head, in (0, 1) for the tail, 0 below the pool.
    return np.where(ranks <= after, 1 + 1 / ranks, np.where(ranks <= DEPTH + 10, random, 0.0))


def systems(documents, queries, random_state=0) -> dict[str, np.ndarray]:
    """Name of each system and its scores, (n_queries, n_documents)."""
    rng = np.random.default_rng(random_state)
    texts, titles, questions = documents["text"], documents["title"], queries["text"]
    bodies = [text[len(title) :] for text, title in zip(texts, titles)]
    stem, word = Field(texts, questions, stem=True), Field(texts, questions, stem=False)
    every = Field(texts, questions, stem=False, stop=False)
    title, body = Field(titles, questions, stem=True), Field(bodies, questions, stem=True)
    small = {n: Field(texts, questions, stem=True, n_frequent=n) for n in (200, 500, 1000)}
    short = {n: Field(texts, questions, stem=True, n_query_terms=n) for n in (2, 3, 5)}
    found = {}
    for name, field in (("stem", stem), ("word", word)):
        for method in ("lucene", "robertson", "atire", "bm25l"):
            found[f"bm25-{method}-{name}"] = bm25(field, method)
        for k1, b in ((0.9, 0.4), (0.5, 0.3), (2.5, 0.9), (1.2, 0.0)):
            found[f"bm25-{k1}-{b}-{name}"] = bm25(field, k1=k1, b=b)
        for mu in (100, 500, 2500):
            found[f"dirichlet-{mu}-{name}"] = language_model(field, mu=mu)
        for jm in (0.1, 0.5, 0.9):
            found[f"jm-{jm}-{name}"] = language_model(field, jm=jm)
        found[f"cosine-ltc-{name}"] = cosine(field)
        found[f"pivoted-{name}"] = pivoted(field)
    found["bm25-every-word"] = bm25(every)
    for rank in (20, 50, 100, 200, 400):
        found[f"lsi-{rank}-stem"] = lsi(stem, rank)
    found["lsi-100-word"] = lsi(word, 100)
    found["lsi-50-title"] = lsi(title, 50)
    found["cosine-ntc"] = cosine(stem, log_tf=False)
    found["cosine-lnc"] = cosine(stem, idf=False)
    found["inner-ltn"] = cosine(stem, norm=None)
    found["inner-ntn"] = cosine(stem, log_tf=False, norm=None)
    found["overlap"] = (stem.query_counts.sign() @ stem.counts.sign().T).toarray()
    base = found["bm25-lucene-stem"]
    for n_documents, n_terms in ((3, 20), (5, 50), (10, 100), (20, 20)):
        found[f"rocchio-{n_documents}-{n_terms}"] = rocchio(
            stem, base, n_documents=n_documents, n_terms=n_terms
        )
    found["rocchio-word"] = rocchio(word, found["bm25-lucene-word"], n_documents=5, n_terms=30)
    for name, field in (("title", title), ("body", body)):
        found[f"bm25-{name}"] = bm25(field)
        found[f"cosine-{name}"] = cosine(field)
        found[f"dirichlet-{name}"] = language_model(field, mu=100 if name == "title" else 500)
    found["fused-3"] = fused(base, found["dirichlet-500-stem"], found["lsi-100-stem"])
    found["fused-title"] = fused(found["bm25-title"], found["bm25-body"])
    for n, field in small.items():
        found[f"vocabulary-{n}"] = cosine(field)
    for n, field in short.items():
        found[f"query-{n}"] = bm25(field)
    for scale in (0.25, 0.5, 1.0, 2.0):
        found[f"noise-{scale}"] = noisy(base, scale, rng)
    found["noise-lsi"] = noisy(found["lsi-100-stem"], 0.5, rng)
    for after in (0, 1, 3, 5, 10):
        found[f"shuffled-{after}"] = shuffled(base, after, rng)
    return found


def runs_of(scores, queries, documents) -> dict[str, pd.DataFrame]:
    """The first documents of each system; what scores no more than 0 is not returned."""
    docnos, qids = documents["docno"].to_numpy(), queries["qid"].to_numpy()
    # Ties by document id, descending.
    by_id = np.argsort(docnos)[::-1]
    runs = {}
    for name, own in scores.items():
        first = by_id[np.argsort(-own[:, by_id], axis=1, kind="stable")[:, :DEPTH]]
        values = np.take_along_axis(own, first, axis=1)
        run = pd.DataFrame(
            {
                "qid": np.repeat(qids, first.shape[1]),
                "docno": docnos[first.ravel()],
                "score": values.ravel(),
            }
        )
        runs[name] = run[run["score"] > 0]
    return runs

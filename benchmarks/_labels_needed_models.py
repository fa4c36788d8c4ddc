"""A model of relevance that all topics share, and selection that asks it what to judge next."""

import numpy as np
from _labels_needed_pool import PLACES
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from skfilterrank.judgments import LabelPredictor


class SharedModel:
    """Logistic regression over all topics: ranks in the runs and likeness to judged documents.

    `features` "prior" is the logarithm of the prior; "ranks" adds the best rank and how many runs
    return it how high; "runs" takes one over the rank in each run, and the prior. Likeness
    is the cosine to judged documents of the topic, a document itself left out, so that judged and
    unjudged rows have the same kind of feature.
    """

    def __init__(self, pool):
        self.pool = pool
        vectors = TfidfVectorizer(sublinear_tf=True, stop_words="english").fit_transform(pool.texts)
        self.rows = np.split(np.arange(pool.n_rows), np.cumsum(pool.sizes)[:-1])
        self.likeness = []
        for rows in self.rows:
            own = (vectors[rows] @ vectors[rows].T).toarray()
            np.fill_diagonal(own, 0)
            self.likeness.append(own)
        ranks = pool.table.to_numpy()
        inverse = np.nan_to_num(1 / ranks)
        log_prior = np.log(pool.prior)[:, None]
        self.features = {
            "prior": log_prior,
            "ranks": np.column_stack(
                [
                    log_prior,
                    1 / np.nanmin(ranks, axis=1),
                    (~np.isnan(ranks)).mean(axis=1),
                    inverse.mean(axis=1),
                ]
            ),
            "runs": np.column_stack([inverse, log_prior]),
        }

    def judged_likeness(self, labels):
        """Sum and maximum of the likeness to relevant and other documents, and their difference."""
        found = np.zeros((self.pool.n_rows, 6))
        for rows, own in zip(self.rows, self.likeness):
            yes, no = (labels[rows] == 1).astype(float), (labels[rows] == 0).astype(float)
            # A judged document does not count itself.
            n_yes, n_no = yes.sum() - yes, no.sum() - no
            to_yes, to_no = own @ yes, own @ no
            found[rows] = np.column_stack(
                [
                    to_yes,
                    (own * yes).max(axis=1),
                    to_no,
                    (own * no).max(axis=1),
                    to_yes / np.maximum(n_yes, 1) - to_no / np.maximum(n_no, 1),
                    n_yes / np.maximum(n_yes + n_no, 1),
                ]
            )
        return found

    def chances(self, labels, known, features="runs", likeness=True):
        """Chance of relevance of each row, judged rows by their label; learns from rows `known`."""
        columns = self.features[features]
        if likeness:
            columns = np.column_stack([columns, self.judged_likeness(labels)])
        judged = known & ~np.isnan(labels)
        if len(np.unique(labels[judged])) < 2:
            chances = np.full(self.pool.n_rows, np.nanmean(labels[judged]))
        else:
            columns = StandardScaler().fit(columns[known]).transform(columns)
            model = LogisticRegression(max_iter=2000).fit(columns[judged], labels[judged])
            chances = model.predict_proba(columns)[:, 1]
        return np.where(np.isnan(labels), chances, labels)

    def effects(self, chances):
        """How differently a relevant document counts for the systems: spread of what it adds."""
        pool = self.pool
        own = pool._cells(chances)
        adds = (1 + np.cumsum(own, axis=0) - own) / PLACES
        table = np.zeros((pool.n_rows + 1, len(pool.names)))
        system = np.broadcast_to(np.repeat(np.arange(len(pool.names)), pool.n_topics), adds.shape)
        table[pool.cells, system] = adds
        return table[:-1].std(axis=1) / np.maximum(pool._counts(chances)[pool.topics], 0.5)

    def ask(self, rule, shares, known, features="runs", across=False):
        """Judge by the model, batch after batch; labels after each share of the pool.

        The first batch goes by the prior. `across` compares documents of different topics, so that
        topics get different shares.
        """
        pool, score, found = self.pool, self.pool.prior, {}
        labels = np.full(pool.n_rows, np.nan)
        for share in shares:
            score = np.where(known, np.where(np.isnan(labels), score, np.inf), -np.inf)
            if across:
                order = np.argsort(-score, kind="stable")
                chosen = order[: round(share * np.count_nonzero(known))]
            else:
                order = np.lexsort((-score, pool.topics))
                place = np.arange(pool.n_rows) - (np.cumsum(pool.sizes) - pool.sizes)[pool.topics]
                budget = np.maximum(1, (share * pool.sizes + 0.5).astype(int))
                chosen = order[place < budget[pool.topics]]
                chosen = chosen[known[chosen]]
            labels[chosen] = pool.truth[chosen]
            found[share] = labels.copy()
            chances = self.chances(labels, known, features)
            if rule == "likely":
                score = chances
            elif rule == "unsure":
                score = chances * (1 - chances)
            else:
                score = np.sqrt(chances * (1 - chances)) * self.effects(chances)
        return found


def unsure_of_predictor(pool, shares):
    """LabelPredictor.query: after a first batch by the prior, what it is least sure of."""
    found, labels = {}, np.full(pool.n_rows, np.nan)
    order = np.lexsort((-pool.prior, pool.topics))
    place = np.arange(pool.n_rows) - (np.cumsum(pool.sizes) - pool.sizes)[pool.topics]
    first = np.maximum(1, (shares[0] * pool.sizes + 0.5).astype(int))
    chosen = order[place < first[pool.topics]]
    labels[chosen] = pool.truth[chosen]
    found[shares[0]] = labels.copy()
    for share in shares[1:]:
        predictor = LabelPredictor().fit(pool.table_of(labels))
        # What `query` would choose, whose n is the same for all topics.
        confidence = np.where(np.isnan(predictor.confidence_), 2.0, predictor.confidence_)
        key = np.where(np.isnan(labels), confidence, -1.0)
        ranked = np.lexsort((-pool.prior, key, pool.topics))
        budget = np.maximum(1, (share * pool.sizes + 0.5).astype(int))
        chosen = ranked[place < budget[pool.topics]]
        labels[chosen] = pool.truth[chosen]
        found[share] = labels.copy()
    return found

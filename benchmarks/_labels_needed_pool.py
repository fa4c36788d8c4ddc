"""All systems of a pool measured at once, from incomplete labels; what labels_needed.py shares."""

import numpy as np
import pandas as pd
from _cranfield_systems import DEPTH, runs_of, systems
from scipy.stats import kendalltau

from skfilterrank.judgments import rank_table, statap_prior
from skfilterrank.metrics import (
    average_precision_score,
    bpref_score,
    induced_ap_score,
    inferred_ap_score,
    stat_ap_score,
)

EPSILON = 1e-5
PLACES = np.arange(1, DEPTH + 1, dtype=np.float64)[:, None]


class Pool:
    """Ranks, texts, true labels and prior of the pooled documents, and AP of all systems.

    The measures are those of `skfilterrank.metrics`, which `check` compares them with, on a layout
    that a fixed depth allows: one (place, system and topic) array for all.
    """

    def __init__(self, documents, queries, relevant):
        scores = systems(documents, queries)
        self.table = rank_table(runs_of(scores, queries, documents), depth=DEPTH)
        index = self.table.index
        self.qids = index.get_level_values("qid").to_numpy()
        self.docnos = index.get_level_values("docno").to_numpy()
        self.topic_ids, self.topics = np.unique(self.qids, return_inverse=True)
        self.truth = np.array([pair in relevant for pair in index], dtype=np.float64)
        texts = documents.set_index("docno")["text"]
        self.texts = texts.loc[self.docnos].to_numpy(dtype=object)
        self.prior = statap_prior(self.table).to_numpy()
        self.n_topics, self.n_rows = len(self.topic_ids), len(index)
        self.sizes = np.bincount(self.topics)
        ranks = self.table.to_numpy()
        self.cells = np.full((DEPTH, ranks.shape[1], self.n_topics), self.n_rows)
        rows, columns = np.nonzero(~np.isnan(ranks))
        places = ranks[rows, columns].astype(int) - 1
        self.cells[places, columns, self.topics[rows]] = rows
        self.cells = self.cells.reshape(DEPTH, -1)
        self.names = list(self.table)
        # What a model may know of a pair besides the text: the score of each kind of system.
        docs = {docno: place for place, docno in enumerate(documents["docno"])}
        asked = {qid: place for place, qid in enumerate(queries["qid"])}
        self.document_places = np.array([docs[docno] for docno in self.docnos])
        self.query_places = np.array([asked[qid] for qid in self.qids])
        self.truth_ap = self.trec(self.truth)

    def _sum(self, per_place, divisor):
        """Sum over places by the divisor of the topic, (n_systems, n_topics); 0 where it is 0."""
        total = per_place.sum(axis=0).reshape(-1, self.n_topics)
        return np.divide(total, divisor, out=np.zeros_like(total), where=divisor > 0)

    def _cells(self, values):
        return np.append(values, 0.0)[self.cells]

    def _counts(self, values):
        return np.bincount(self.topics, weights=values, minlength=self.n_topics)

    def trec(self, labels, inclusion=None):
        """AP, unjudged as not relevant."""
        relevant = np.nan_to_num(labels)
        own = self._cells(relevant)
        return self._sum(own * np.cumsum(own, axis=0) / PLACES, self._counts(relevant))

    def expected(self, chances):
        """Expected sum of precisions over the expected number of relevant documents."""
        own = self._cells(chances)
        above = np.cumsum(own, axis=0) - own
        return self._sum(own * (1 + above) / PLACES, self._counts(chances))

    def induced(self, labels, inclusion=None):
        """AP of the condensed list."""
        relevant = np.nan_to_num(labels)
        own = self._cells(relevant)
        places = np.maximum(np.cumsum(self._cells(~np.isnan(labels)), axis=0), 1)
        return self._sum(own * np.cumsum(own, axis=0) / places, self._counts(relevant))

    def bpref(self, labels, inclusion=None):
        """trec_eval's bpref."""
        n_relevant, n_not = self._counts(labels == 1), self._counts(labels == 0)
        systems = self.cells.shape[1] // self.n_topics
        most = np.tile(n_relevant, systems)
        least = np.tile(np.maximum(np.minimum(n_relevant, n_not), 1), systems)
        above = np.minimum(np.cumsum(self._cells(labels == 0), axis=0), most)
        return self._sum(self._cells(labels == 1) * (1 - above / least), n_relevant)

    def inferred(self, labels, inclusion=None):
        """infAP: all returned documents are pooled."""
        own, judged = self._cells(labels == 1), self._cells(~np.isnan(labels))
        relevant_above = np.cumsum(own, axis=0) - own
        judged_above = np.cumsum(judged, axis=0) - judged
        above = (relevant_above + EPSILON) / (judged_above + 2 * EPSILON)
        return self._sum(own * (1 + (PLACES - 1) * above) / PLACES, self._counts(labels == 1))

    def stat(self, labels, inclusion):
        """statAP."""
        weights = np.where(labels == 1, 1 / inclusion, 0.0)
        own = self._cells(weights)
        above = np.cumsum(own, axis=0) - own
        return self._sum(own * (1 + above) / PLACES, self._counts(weights))

    def compare(self, ap, topics=slice(None)):
        """Kendall's tau of the systems' means, and their RMSE, against the truth."""
        true, estimated = self.truth_ap[:, topics].mean(axis=1), ap[:, topics].mean(axis=1)
        tau = kendalltau(true, estimated).statistic if np.ptp(estimated) > 0 else 0.0
        return tau, np.sqrt(np.mean((true - estimated) ** 2))

    def table_of(self, labels):
        """The judgment table that LabelPredictor takes."""
        return pd.DataFrame({"qid": self.qids, "text": self.texts, "label": labels})

    def check(self, mask, inclusion, n_systems=3):
        """Largest difference between these measures and the library's."""
        labels = np.where(mask, self.truth, np.nan)
        largest = 0.0
        for ours, theirs, options in (
            (self.trec, average_precision_score, {}),
            (self.induced, induced_ap_score, {}),
            (self.bpref, bpref_score, {}),
            (self.inferred, inferred_ap_score, {"pooled": np.ones(self.n_rows, dtype=bool)}),
            (self.stat, stat_ap_score, {"inclusion_probability": inclusion}),
        ):
            found = ours(labels, inclusion)
            for system in np.linspace(0, len(self.names) - 1, n_systems).astype(int):
                score = -self.table.iloc[:, system].fillna(np.inf)
                expected = theirs(labels, score, groups=self.qids, average=None, **options)
                largest = max(largest, np.abs(found[system] - np.asarray(expected)).max())
        return largest

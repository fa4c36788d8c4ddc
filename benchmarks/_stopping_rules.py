"""Documents that are judged until relevance feedback may stop, by several rules over samples."""

import time
from math import ceil
from typing import NamedTuple

import numpy as np
import pandas as pd
from _common import write_report
from scipy.stats import binom, binomtest, hypergeom
from sklearn.feature_extraction.text import TfidfVectorizer

from skfilterrank.io import read_qrels
from skfilterrank.judgments import FeedbackSelector
from skfilterrank.judgments._feedback_selector import batch_ends, chance_of_miss, size_when_dry

TARGET, CONFIDENCE, DRAWS = 0.8, 0.95, 500
IN_A_ROW = 50
# Queries of each class.
MOST = 10


class Review(NamedTuple):
    """A query: number of documents, and places of the relevant ones in three orders."""

    collection: str
    size: int
    places: np.ndarray
    by_prior: np.ndarray
    at_random: np.ndarray


def reviews(name, data, relevant_from, edges, most):
    """Review all documents of a collection for the first queries of each class."""
    folder = data / name
    documents = pd.read_json(folder / "docs.jsonl.gz", lines=True, dtype=str).fillna("")
    documents = documents.set_axis(documents.get("docno", documents.get("docid")))["text"]
    path = folder / "queries.jsonl" if name != "trec-dl2019-llm" else folder / "topics.jsonl"
    queries = pd.read_json(path, lines=True, dtype=str).set_index("qid").iloc[:, -1]
    qrels = next(folder.glob("qrels.txt*"))
    qrels = read_qrels(qrels, unjudged_label=None).astype({"qid": str, "docno": str})
    qrels = qrels[(qrels["label"] >= relevant_from) & qrels["docno"].isin(documents.index)]
    n_relevant = qrels.groupby("qid").size()
    classes = np.searchsorted(edges, n_relevant, side="right")
    chosen = n_relevant[classes > 0].groupby(classes[classes > 0]).head(most)
    queries = queries[queries.index.isin(chosen.index)]
    tfidf = TfidfVectorizer(sublinear_tf=True).fit(documents)
    prior = tfidf.transform(queries) @ tfidf.transform(documents).T
    rng = np.random.default_rng(0)
    for query, row in zip(queries.index, prior.toarray()):
        is_relevant = documents.index.isin(qrels.loc[qrels["qid"] == query, "docno"])
        groups = np.zeros(len(documents))
        selector = FeedbackSelector().fit(list(documents), is_relevant, groups=groups, prior=row)
        by_prior = np.argsort(np.argsort(-row, kind="stable")) + 1
        orders = selector.ranking_, by_prior, rng.permutation(len(documents)) + 1
        yield Review(name, len(documents), *(np.sort(each[is_relevant]) for each in orders))


class Draws:
    """Samples of a review, and the states of the query after each batch."""

    def __init__(self, size, places, n_sample, rng):
        self.size, self.places, self.n_sample = size, places, n_sample
        self.ends = np.array(batch_ends(size))
        self.sampled = np.zeros((DRAWS, size + 1), dtype=bool)
        for each in self.sampled:
            each[1 + rng.permutation(size)[: self.n_sample]] = True
        n_reached = np.cumsum(self.sampled, axis=1)[:, self.ends]
        self.judged = self.ends + self.n_sample - n_reached
        of_relevant = self.sampled[:, places]
        reached = np.searchsorted(places, self.ends, side="right")
        counts = np.pad(np.cumsum(of_relevant, axis=1), ((0, 0), (1, 0)))
        self.n_sampled = counts[:, -1]
        self.ahead = self.n_sampled[:, None] - counts[:, reached]
        self.found = reached + self.ahead

    def stopped(self, may_stop):
        """Recall and share of judged documents at the first batch after which a rule stops."""
        may_stop[:, -1] = True
        at = np.arange(DRAWS), may_stop.argmax(axis=1)
        return self.found[at] / len(self.places), self.judged[at] / self.size

    def feedback(self):
        """Stop as FeedbackSelector does."""
        states = np.stack([self.judged, self.found, self.ahead], axis=-1).reshape(-1, 3)
        states, back = np.unique(states, axis=0, return_inverse=True)
        judged, found, ahead = states.T
        chance = chance_of_miss(self.size, self.n_sample, judged, found, ahead, 0, TARGET)
        return self.stopped((chance <= 1 - CONFIDENCE)[back].reshape(self.judged.shape))

    def qbcb(self):
        """Stop when enough of the sample's relevant documents are reached (Lewis et al., 2021)."""
        counts = np.arange(self.n_sampled.max() + 1)
        enough = [
            next(
                (j for j in counts if binom.sf(j - 1, r, TARGET) <= 1 - CONFIDENCE and j <= r), 1e9
            )
            for r in counts
        ]
        reached = self.n_sampled[:, None] - self.ahead
        return self.stopped(reached >= np.array(enough)[self.n_sampled][:, None])


def stop_in_a_row(review):
    """Place of the last of the first 50 documents in a row that are not relevant."""
    gaps = np.diff(review.places, prepend=0, append=review.size + 1) - 1
    first = np.append(0, review.places)[gaps >= IN_A_ROW]
    return min(review.size, int(first[0]) + IN_A_ROW) if len(first) else review.size


def repeated_test(review, rng):
    """Go on with random documents, and test after each one (Callaghan and Müller-Hansen, 2020)."""
    begin = stop_in_a_row(review)
    n_before, n_rest = np.searchsorted(review.places, begin, side="right"), review.size - begin
    n_left, steps = len(review.places) - n_before, np.arange(n_rest + 1)
    least = np.full(n_left + 1, n_rest)
    for found in range(n_left + 1):
        missing = int((n_before + found) / TARGET - n_before + 1 + 1e-9)
        if missing <= n_rest:
            passes = hypergeom.cdf(found, n_rest, missing, steps) <= 1 - CONFIDENCE
            least[found] = passes.argmax() if passes.any() else n_rest
        else:
            least[found] = 0
    recall, judged = np.empty(DRAWS), np.empty(DRAWS)
    for draw in range(DRAWS):
        at = np.sort(rng.permutation(n_rest)[:n_left]) + 1
        from_, until = np.append(0, at), np.append(at, n_rest + 1)
        stops = np.maximum(from_, least)
        found = int((stops < until).argmax())
        recall[draw] = (n_before + found) / len(review.places)
        judged[draw] = (begin + stops[found]) / review.size
    return recall, judged


def rules_of(review, rng):
    """Recall and share of judged documents of each rule, one for each draw."""
    alpha = 1 - CONFIDENCE
    size = size_when_dry(review.size, review.places, review.size, TARGET, alpha)
    draws = Draws(review.size, review.places, size, rng)
    found = {"FeedbackSelector": draws.feedback()}
    for share in (0.1, 0.2, 0.4):
        draws = Draws(review.size, review.places, round(share * review.size), rng)
        found[f"FeedbackSelector, sample of {share:.0%}"] = draws.feedback()
        found[f"QBCB, sample of {share:.0%}"] = draws.qbcb()
    draws = Draws(review.size, review.at_random, round(0.2 * review.size), rng)
    found["random order, sample of 20%"] = draws.feedback()
    found["50 in a row, then a repeated test"] = repeated_test(review, rng)
    stop = stop_in_a_row(review)
    n_found = np.searchsorted(review.places, stop, side="right")
    found["50 in a row"] = np.array([n_found / len(review.places)]), np.array([stop / review.size])
    last = ceil(TARGET * len(review.places) - 1e-9) - 1
    orders = {"this order": review.places, "the prior": review.by_prior}
    for name, places in (orders | {"a random order": review.at_random}).items():
        recall = np.array([(last + 1) / len(places)])
        found[f"oracle, {name}"] = recall, np.array([places[last] / review.size])
    return found


def finding_table(found):
    """A table of some queries: coverage, its lowest value, recall and price of each rule."""
    lines = [
        "| rule | recall >= 0.8, % | queries below 95 % | lowest query, % | recall | judged, % | "
        "stops early, % |",
        "| --- |" + " ---: |" * 6,
    ]
    for name in found[0]:
        recall, judged = zip(*(each[name] for each in found))
        right = np.array([np.mean(each >= TARGET - 1e-9) for each in recall])
        ends = [
            binomtest(round(share * len(each)), len(each)).proportion_ci(0.95)
            for share, each in zip(right, recall)
        ]
        lowest = int(right.argmin())
        draws = f"{100 * right[lowest]:.1f}"
        below = str(sum(end.high < CONFIDENCE for end in ends))
        if len(recall[0]) > 1:
            draws += f" [{100 * ends[lowest].low:.1f}, {100 * ends[lowest].high:.1f}]"
        else:
            below = str(np.count_nonzero(right < 1))
        early = np.mean([np.mean(each < 1) for each in judged])
        cells = [f"{100 * right.mean():.1f}", below, draws]
        cells += [f"{np.mean([each.mean() for each in recall]):.3f}"]
        cells += [f"{100 * np.mean([each.mean() for each in judged]):.1f}", f"{100 * early:.0f}"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def finding(options):
    begin, parts, most = time.process_time(), [], min(MOST, options.queries)
    for name, relevant_from, edges in COLLECTIONS:
        every = list(reviews(name, options.data, relevant_from, edges, most))
        print(f"{name}: {len(every)} orders after {time.process_time() - begin:.0f} s", flush=True)
        for low, high in zip(edges, [*edges[1:], np.inf]):
            chosen = [each for each in every if low <= len(each.places) < high]
            rng = np.random.default_rng(0)
            table = finding_table([rules_of(each, rng) for each in chosen])
            counts = [len(each.places) for each in chosen]
            parts.append(
                f"## {name}: {min(counts)} to {max(counts)} relevant of {every[0].size:,}\n\n"
                f"{len(chosen)} queries.\n\n{table}"
            )
        text = f"{FOUND.strip()}\n\n" + "\n\n".join(parts)
        text += f"\n\nTook {time.process_time() - begin:.0f} seconds of processor time."
        write_report("labels_needed_finding", "Labels needed to find what is relevant", text)


# Name, least label that is relevant, and least numbers of relevant documents of classes of queries.
COLLECTIONS = (
    ("cacm", 1, (1, 10, 30)),
    ("cranfield", 1, (10,)),
    ("trec-dl2019-llm", 2, (30, 100)),
)

FOUND = """
For each query, all documents of the collection are the pool; of each class at most 10 queries.
`FeedbackSelector` orders them, with the cosine of tf-idf vectors of query and document as prior;
only judged documents count as relevant (TREC: labels 2 and 3). The target is a recall of 0.8 with
confidence 0.95. Rules with a sample are drawn 500 times for each query, and look after each batch.
What the sample finds counts as found.

* **recall >= 0.8**: share of draws, mean over the queries. For each query it should be 95 %.
  **queries below 95 %**: so many whose 95 % interval of this share (Clopper and Pearson) lies below
  0.95; of rules without draws, queries that miss the target. **lowest query**: its share, with the
  interval. **judged**: share of the documents that are judged, with the sample.
* **QBCB** (Lewis, Yang and Frieder 2021) stops when so many of the sample's relevant documents are
  reached that fewer would have a probability of at least 0.95 at a recall below 0.8.
* **50 in a row** stops after 50 documents that are not relevant. **Then a repeated test**: it goes
  on with random documents, and stops when the hypergeometric test of Callaghan and Müller-Hansen
  (2020) has p <= 0.05, looking after each document.
* **oracle** stops at the target, which nobody can; judging everything is 100 %.
"""
